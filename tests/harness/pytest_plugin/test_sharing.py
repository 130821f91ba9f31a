"""Under pytest-xdist: the same summary to the last byte, each text executed once, and nothing lost."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.engines import kind_of
from harness.pytest_plugin.items import AnswerPublisher, ItemAnswer, ItemEntry, ItemPart, PublishedAnswers
from loaders.server import Server
from tests import forked
from tests.harness.pytest_plugin.running import counts, name, outcomes, score, summary

pytestmark = [pytest.mark.slow, pytest.mark.thorough]


def _evaluated(cwd: Path, *args: str) -> str:
    forked.run("harness", "eval", "--no-cache", *args, cwd=cwd).check_returncode()
    return summary(cwd / "results")


def test_eval_pytest_and_xdist_give_the_same_summary_to_the_last_byte(tmp_path: Path) -> None:
    for driver in ("pytest", "direct"):
        (tmp_path / driver).mkdir()
        expected = _evaluated(tmp_path / driver, "--dialect", "sqlite", "--driver", driver)
    assert summary(tmp_path / "pytest" / "results") == expected
    for out, options in (
        ("plain", []),
        ("xdist", ["-n", "2"]),
        ("stealing", ["-n", "2", "--dist", "worksteal"]),
    ):
        done = score("--bird-no-cache", "--bird-out", out, *options, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert counts(done) == {"match": 88, "mismatch": 27, "prediction_error": 17}
        assert summary(tmp_path / out) == expected


@pytest.mark.engine
def test_the_same_on_all_engines(
    mysql_server: Server, postgresql_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for server in (mysql_server, postgresql_server):
        name(server, monkeypatch)
    expected = _evaluated(tmp_path, "--dialect", "all", "--limit", "12")
    options = ["--bird-no-cache", "--bird-limit", "12", "--bird-out", "xdist", "-n", "2"]
    done = score(*options, cwd=tmp_path, dialect="all")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(json.loads(summary(tmp_path / "xdist"))["scores"]) == 2 * sum(
        kind_of(each).by_default for each in Dialect
    )
    assert summary(tmp_path / "xdist") == expected


def test_a_worker_process_that_dies_loses_one_item_and_the_run_can_be_completed(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import os, signal\nimport pytest\n\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_runtest_logreport(report):\n"
        "    if os.environ.get('PYTEST_XDIST_WORKER') == 'gw0' and report.when == 'call':\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = score("--bird-limit", "6", "-n", "2", cwd=tmp_path)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert "worker 'gw0' crashed while running" in done.stdout
    assert "to complete it, repeat the command with --bird-resume" in done.stdout
    (folder,) = (path for path in (tmp_path / "results").iterdir() if path.is_dir())
    (tmp_path / "conftest.py").unlink()
    again = score("--bird-limit", "6", "-n", "2", "--bird-resume", str(folder), cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert len(outcomes(tmp_path / "results")) == 12


def test_an_engine_that_breaks_is_an_error_with_its_letter(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "def pytest_collection_finish(session):\n"
        "    plan = session.config.pluginmanager.get_plugin('bird-driver')._plan\n"
        "    plan.questions.database('city_library').sqlite_path.unlink()\n"
    )
    kept = tmp_path / "cache"
    done = score(
        "--bird-limit", "2", "-k", "careless", "--bird-no-cache", "-p", "no:cacheprovider", cwd=tmp_path,
        BIRD_CACHE=str(kept),
    )  # fmt: skip
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert counts(done) == {"errors": 2, "deselected": 2}
    assert "careless_sqlite.json HH" in done.stdout
    assert "ERROR at call of sqlite/careless::1" in done.stdout


class Asked:
    """A source whose answers somebody else tells."""

    is_quick = True

    def __init__(self) -> None:
        entries = tuple(
            ItemEntry(place, str(place), (("n", str(place)),), "why", strict=False) for place in (0, 1)
        )
        self.parts: Sequence[ItemPart] = [
            ItemPart(Path("file.json"), "sqlite/x", entries, (("dialect", "sqlite"),))
        ]

    def begin(self, places: object, tell: object) -> None: ...

    def answer(self, place: int) -> ItemAnswer:
        raise NotImplementedError(place)


def test_every_worker_is_told_every_answer_those_who_come_late_too() -> None:
    asked = Asked()
    announcer = AnswerPublisher()
    try:
        invitation = announcer.invitation(asked)
        first = PublishedAnswers(invitation)
        assert (first.parts, first.is_quick) == (asked.parts, True)
        announcer.publish(1, ItemAnswer("match"))
        assert first.answer(1) == ItemAnswer("match")
        announcer.publish(0, ItemAnswer("mismatch", "because"))
        late = PublishedAnswers(invitation)
        assert [late.answer(place) for place in (0, 1)] == [
            ItemAnswer("mismatch", "because"),
            ItemAnswer("match"),
        ]
        assert first.answer(0) == ItemAnswer("mismatch", "because")
    finally:
        announcer.close()


def test_a_worker_whose_controller_is_gone_stops() -> None:
    script = (
        "from harness.pytest_plugin.items import AnswerPublisher\n"
        "import json, types, time\n"
        "announcer = AnswerPublisher()\n"
        "source = types.SimpleNamespace(parts=(), is_quick=True)\n"
        "print(json.dumps(announcer.invitation(source)), flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as controller:
        assert controller.stdout is not None
        published = PublishedAnswers(json.loads(controller.stdout.readline()))
        os.kill(controller.pid, signal.SIGKILL)
        with pytest.raises(pytest.exit.Exception, match="controller is gone"):
            published.answer(0)

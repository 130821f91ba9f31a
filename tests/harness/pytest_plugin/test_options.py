"""The plugin's options are those of `bird-harness eval`, and cost a run nothing that has no use for them."""

import inspect
import re
from pathlib import Path

import pytest

from harness.cli.evaluate import evaluate
from tests.harness.pytest_plugin.running import item, predictions, run, score, start

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

DOCS = Path(__file__).parents[3] / "docs"

_NOT_OF_PYTEST = {"driver", "junit", "as_json", "plans"}
"""What pytest has by itself, or `bird-harness lab explain RUN --keep` does afterwards."""
_NEGATED = {"cache": "no-cache", "report": "no-report"}


def _options(cwd: Path) -> set[str]:
    return set(re.findall(r"--bird-([a-z-]+)", run("--help", cwd=cwd).stdout))


def test_every_option_of_eval_has_one_of_the_same_name(tmp_path: Path) -> None:
    declared = set(inspect.signature(evaluate).parameters)
    names = {_NEGATED.get(name, name.replace("_", "-")) for name in declared - _NOT_OF_PYTEST}
    own = {"coverage", "fail-on"}
    assert _options(tmp_path) == names | own


def test_every_option_is_documented(tmp_path: Path) -> None:
    text = (DOCS / "how-to" / "pytest.md").read_text(encoding="utf-8")
    assert set(re.findall(r"--bird-([a-z-]+)", text)) == _options(tmp_path)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ["--bird-fail-under", "50"],
            "--bird-fail-under: has no effect without an evaluation; add --bird-predictions",
        ),
        (["--bird-resume", "x"], "--bird-resume: has no effect without an evaluation"),
        (["--bird-predictions", "answers", "--bird-coverage"], "leave one out"),
        (["--bird-predictions", "answers", "--bird-fail-on", "wrong"], "'wrong' is not an outcome"),
        (["--bird-predictions", "answers", "--bird-fail-under", "r_ves=1"], "add it to --bird-metrics"),
        (
            ["--bird-predictions", "answers", "--bird-timeout", "0"],
            "--bird-timeout 0.0: must be between 0.001 and 86,400 seconds",
        ),
        (["--bird-predictions", "answers", "--bird-workers", "0"], "--bird-workers 0: must be between"),
        (["--bird-predictions", "answers", "--bird-limit", "0"], "--bird-limit 0: must be between"),
        (["--bird-predictions", "answers", "--bird-metrics", "bleu"], "--bird-metrics bleu: 'bleu' is not"),
        (["--bird-predictions", "answers", "--bird-metrics", "ts"], "--bird-variants with a folder"),
        (["--bird-predictions", "answers", "--bird-variants", "2"], "add ts to --bird-metrics"),
        (["--bird-predictions", "answers", "--bird-dialect", "oracle"], "--bird-dialect oracle: 'oracle'"),
        (["--bird-predictions", "answers", "--bird-dialect", "sqlite", "--bird-resume", "no"], "no"),
        (["--bird-predictions", "nowhere.json"], "nowhere.json"),
        (
            [
                "--bird-predictions",
                "answers",
                "--bird-dialect",
                "sqlite",
                "--bird-metrics",
                "r_ves_stable",
                "-n",
                "2",
            ],
            "leave out pytest's -n",
        ),
    ],
)
def test_wrong_options_stop_pytest_with_one_line(options: list[str], says: str, tmp_path: Path) -> None:
    predictions(tmp_path)
    done = run(*options, cwd=tmp_path)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout + done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("results/*/results.jsonl"))


def test_predictor_timeout_and_limit_mean_what_they_mean_to_eval(tmp_path: Path) -> None:
    folder = predictions(tmp_path)
    file = folder / "predict_sample_careless_sqlite.json"
    options = ["--bird-predictions", str(file), "--bird-dialect", "sqlite", "--bird-predictor", "mine"]
    done = run(*options, "--bird-timeout", "7.5", "--bird-limit", "2", "-v", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{item('2').replace('sqlite/careless', 'sqlite/mine')} MISMATCH" in done.stdout
    manifest = (tmp_path / "results" / "latest" / "manifest.json").read_text(encoding="utf-8")
    assert '"seconds": 7.5' in manifest


def test_the_plugin_imports_nothing_of_the_harness_unless_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "test_imports.py").write_text(
        "import sys\n\ndef test_imports():\n"
        "    assert sorted(m for m in sys.modules if m.startswith('harness.')) == [\n"
        "        'harness.pytest_plugin', 'harness.session', 'harness.session.options']\n"
        "    assert not {'numpy', 'scipy', 'sqlglot', 'rich', 'pymysql', 'psycopg'} & sys.modules.keys()\n"
    )
    for parallel in ([], ["-n", "1"]):
        done = start(*parallel, "test_imports.py", cwd=tmp_path)
        assert done.returncode == 0, done.stdout


def test_the_plugin_changes_nothing_of_a_run_that_does_not_use_it(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(
        "import pytest\n\ndef test_passes():\n    pass\n\ndef test_fails():\n    assert [1] == [2]\n\n"
        "@pytest.mark.parametrize('value', [1, 2])\ndef test_each(value, tmp_path):\n    pytest.skip('why')\n"
    )
    said = []
    for options in ([], ["-p", "no:bird-harness"]):
        done = run("-v", "-ra", "-p", "no:cacheprovider", *options, cwd=tmp_path)
        assert done.returncode == pytest.ExitCode.TESTS_FAILED
        lines = [line for line in done.stdout.splitlines() if not line.startswith("plugins: ")]
        said.append(re.sub(r"in [\d.]+s", "", "\n".join(lines)))
    assert said[0] == said[1]
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".pyc") in (
        ["__pycache__", "test_own.py"], ["test_own.py"],
    )  # fmt: skip


def test_a_worker_of_xdist_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    (tmp_path / "test_imports.py").write_text(
        "import sys\n\ndef test_imports():\n"
        "    assert not {'numpy', 'scipy', 'sqlglot', 'rich', 'pymysql', 'psycopg'} & sys.modules.keys()\n"
    )
    done = score("-n", "1", "--bird-limit", "1", "test_imports.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from harness.cli.commands import LAB, RENAMED, Group, MainGroup, grouped
from loaders.base.errors import command
from loaders.sample import PREDICTIONS
from tests import forked
from tests.docs.parsing import fault
from tests.harness.arrangements import Case
from tests.harness.bad_inputs import CASES
from tests.harness.conftest import Call

ROOT = Path(__file__).parents[2]
MYSQL_ALONE = str(PREDICTIONS / "predict_sample_careless_mysql.json")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The command in a process of its own, in an empty folder, with no server to be found."""

    def call(*args: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        clean = forked.environment_without("BIRD_", "PYTEST_")
        env = {**clean, "BIRD_STATE": str(tmp_path / "state"), **environment}
        return forked.run("harness", *args, cwd=tmp_path, env=env)

    return call


def test_the_version_is_the_installed_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harness", "--version"], check=True, capture_output=True, text=True
    )
    assert done.stdout == f"bird-harness {version('bird-harness')}\n"


LISTED = {name: each for group in Group for name, each in grouped(group).items()}


@pytest.mark.parametrize("name", LISTED)
def test_every_command_has_help_with_an_example_that_can_be_typed(call: Call, name: str) -> None:
    words = (LAB, name) if LISTED[name].group is Group.LAB else (name,)
    code, output, _ = call(*words, "--help")
    assert code == 0
    assert f"Usage: bird-harness {' '.join(words)}" in output
    example = f"bird-harness {LISTED[name].example}"
    assert f"Example: {example}" in " ".join(output.split())
    assert example.split()[1:][: len(words)] == list(words) or LISTED[name].hidden
    assert fault(example) is None


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_command_is_found_by_its_old_name(call: Call, old: str, new: tuple[str, ...]) -> None:
    code, output, said = call(old, "--help")
    assert code == 0
    assert all(word in output for word in new)
    assert said == f"bird-harness {old}: now `bird-harness {' '.join(new)}`\n"


def test_the_group_of_labs_is_found_by_its_old_name(call: Call) -> None:
    code, output, said = call("analyze", "gap", "--help")
    assert (code, said) == (0, "bird-harness analyze gap: now `bird-harness lab gap`\n")
    assert "Usage: bird-harness lab gap" in output


def test_at_most_fourteen_commands_are_listed_at_the_top(call: Call) -> None:
    _, output, _ = call("--help")
    listed = [line for line in output.splitlines() if re.match(r"  [a-z]+  ", line)]
    assert len(listed) <= 14
    code, _, said = call("lab")
    assert code == 2
    assert "  gap  " in said


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_help_takes_the_width_of_the_terminal_and_cuts_nothing(
    call: Call, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    _, commands, _ = call("--help")
    _, options, _ = call("lab", "predict", "--help")
    heads = [f"\n{group}:\n" for group in MainGroup.groups]
    assert "..." not in commands.partition(heads[0])[2]
    assert [commands.count(head) for head in heads] == [1] * len(heads)
    described = "Compare runs, predictors or engines, question by question; exits 1 on a"
    assert described in " ".join(commands.split())
    widest = max(len(line) for line in options.splitlines())
    assert columns - 20 < widest <= columns


def test_shell_completion_is_offered(run: Run) -> None:
    script = run(_BIRD_HARNESS_COMPLETE="source_bash")
    assert "complete" in script.stdout
    for typed, offered in (
        ("bird-harness com", "compare"),
        ("bird-harness eval --metr", "--metrics"),
        ("bird-harness eval --profile f", "faithful"),
    ):
        words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
        found = run(_BIRD_HARNESS_COMPLETE="complete_bash", **words)
        assert found.stdout.split() == [offered]


def test_the_console_command_is_the_module() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"] == {"bird-harness": "harness.cli:main"}


@pytest.mark.parametrize(
    ("args", "fragment"),
    [
        (["eval", "--nonsense"], "eval: No such option: --nonsense"),
        (["eval", "--nonsense"], "`bird-harness eval --help`"),
        (["eval", "--out", "a", "b\nc\x1b[31m"], r"b\x0ac\x1b[31m"),
        (["eval", "--limit", "9" * 5000], "'--limit'"),
        (["eval", "--timeout", "soon"], "'--timeout'"),
        (["compare", "a"], "'B'"),
        (["load", "--workers", "1000000"], "--workers 1000000: must be between 1 and 64 tables"),
        (["coverage", "--workers", "0"], "--workers 0: must be between 1 and 64 threads"),
        (["coverage", "--timeout", "nan"], "--timeout nan: must be between 0.001 and 86,400 seconds"),
        (["eval", "--timeout", "inf"], "--timeout inf: must be between 0.001 and 86,400 seconds"),
        (["eval", "--timeout", "nan"], "--timeout nan: must be between 0.001 and 86,400 seconds"),
        (["eval", "--timeout", "1e300"], "--timeout 1e+300: must be between 0.001 and 86,400 seconds"),
        (["eval", "--timeout", "-1"], "--timeout -1.0: must be between 0.001 and 86,400 seconds"),
        (["eval", "--timeout", "1e-9"], "--timeout 1e-09: must be between 0.001 and 86,400 seconds"),
        (["eval", "--limit", f"1{'0' * 20}"], "must be between 1 and 1,000,000 questions"),
        (["eval", "--workers", "100000"], "--workers 100000: must be between 1 and 64 processes"),
        (["lab", "predict", "offline", "--eval", "--timeout", "inf"], "--timeout inf: must be between"),
        (
            ["lab", "predict", "offline", "--answer-timeout", "inf"],
            "timeout inf: must be between 0.001 and 86,400 seconds",
        ),
        (["lab", "predict", "offline", "--start-timeout", "nan"], "start timeout nan: must be between"),
        (["lab", "predict", "offline", "--concurrency", "1000000"], "concurrency 1000000: must be between"),
        (["nonsense"], "nonsense"),
        (["eval", "--dialect", "oracle"], "'oracle' is not a dialect"),
        (["eval", "--metrics", "bleu"], "not a metric"),
        (["eval", "--metrics", ""], "not a metric"),
        (["eval", "--metrics", "ex,soft_f2"], "'soft_f2' is not a metric; choose from ex, ex_strict"),
        (["eval", "--metrics", "ts"], "--variants with a folder or a number"),
        (["eval", "--variants", "nowhere"], "--variants nowhere: test-suite accuracy uses them; add ts"),
        (["eval", "--metrics", "ts", "--variants", "nowhere"], "nowhere"),
        (["eval", "--metrics", "ex,em", "--predictions", MYSQL_ALONE], "predictions in SQLite's dialect"),
        (["eval", "--workers", "0"], "--workers 0"),
        (["eval", "--limit", "0"], "--limit 0"),
        (["eval", "--timeout", "0"], "--timeout 0"),
        (["eval", "--profile", "other"], "eval: --profile 'other': choose from official, faithful; `bird-"),
        (
            ["eval", "--tables", "x is not one of 'y'"],
            "of 'y'\": choose from totals, all; `bird-harness eval",
        ),
        (["eval", "--set", "spider"], "spider"),
        (["eval", "--set", "mini_dev", "--predictions", "x.json"], "BIRD_HOME"),
        (["eval", "--predictions", "nowhere.json"], "nowhere.json"),
    ],
)
def test_bad_usage_exits_with_2_and_says_what_is_wrong(call: Call, args: list[str], fragment: str) -> None:
    code, _, errors = call(*args)
    assert code == 2, errors
    assert fragment in errors
    assert len(errors.splitlines()) == 1, errors
    assert errors.removesuffix("\n").isprintable()


@pytest.mark.parametrize("option", ["--questions", "--schema"])
def test_twins_never_wait_for_a_pipe(call: Call, tmp_path: Path, option: str) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "other.json").write_text("[]", encoding="utf-8")
    files = {"--questions": "other.json", "--schema": "other.json", option: "pipe.json"}
    code, _, errors = call(
        "lab", "twins", "--out", "twins", *(part for pair in files.items() for part in pair)
    )
    assert code == 2
    assert "pipe.json: is a pipe, not a file" in errors
    assert len(errors.splitlines()) == 1


@pytest.mark.slow
def test_what_predict_writes_can_be_given_to_eval(call: Call) -> None:
    asked = ["--dialect", "sqlite", "--no-cache"]
    code, _, errors = call("lab", "predict", "offline", "--limit", "66", "--out", "asked", *asked)
    assert code == 0, errors
    assert {"answers.jsonl", "journal.jsonl", "manifest.json"} < {
        path.name for path in Path("asked").iterdir()
    }
    code, output, errors = call("eval", "--predictions", "asked", "--no-report", *asked, "--driver", "direct")
    assert code == 0, errors
    assert "offline" in output


def test_an_engine_that_is_asked_for_and_not_up_exits_with_3(run: Run) -> None:
    done = run("eval", "--dialect", "mysql", BIRD_MYSQL_DSN="mysql://nobody:nothing@127.0.0.1:1")
    assert done.returncode == 3
    assert "127.0.0.1:1" in done.stderr
    assert "nothing" not in done.stderr, "a password is never printed"


@pytest.mark.parametrize("name", ["load", "coverage"])
def test_no_server_exits_with_3(run: Run, name: str) -> None:
    done = run(name, "--dialect", "mysql")
    assert done.returncode == 3
    assert "`bird-harness up`" in done.stderr
    assert run(name, "--dialect", "sqlite").returncode == 0, "SQLite needs no server"


def test_nothing_to_score_on_what_is_up_exits_with_3_and_says_what_to_do(run: Run) -> None:
    predictions = PREDICTIONS / "predict_sample_careless_mysql.json"
    done = run("eval", "--predictions", str(predictions))
    assert done.returncode == 3
    assert "`bird-harness up`, or without Docker with `bird-harness up --native`" in done.stderr


def test_messages_name_make_in_a_checkout_and_the_command_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert command("up") == "make up"
    assert command("images", "loaded", set="dev") == "make images LOADED=1 SET=dev"
    monkeypatch.chdir(tmp_path)
    assert command("images", "loaded", set="dev") == "bird-harness up --build --no-start --loaded --set dev"
    Path("Makefile").write_text("up:\n", encoding="utf-8")
    assert command("up", "native") == "bird-harness up --native", "another project's Makefile"


@pytest.mark.slow
def test_a_dialect_without_predictions_is_left_out_aloud(run: Run) -> None:
    predictions = PREDICTIONS / "predict_sample_careless_sqlite.json"
    done = run("eval", "--predictions", str(predictions), "--dialect", "sqlite,postgresql", "--limit", "2")
    assert done.returncode == 0, done.stderr
    assert "postgresql: no predictions for it" in done.stderr


@pytest.mark.parametrize("driver", ["pytest", "direct"])
def test_a_folder_that_cannot_hold_results_exits_with_2(call: Call, tmp_path: Path, driver: str) -> None:
    (tmp_path / "file").write_text("")
    code, _, errors = call("eval", "--dialect", "sqlite", "--out", "file", "--driver", driver)
    assert code == 2
    assert "--out file" in errors


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_files_exit_with_2_and_one_line_that_names_file_entry_and_remedy(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    arranged = case.arrange(tmp_path)
    monkeypatch.setenv("BIRD_HOME", str(tmp_path))
    code, _, errors = call("eval", *arranged, "--out", str(tmp_path))
    assert code == 2
    assert len(errors.strip().splitlines()) == 1, errors
    assert [part for part in case.says if part not in errors] == [], errors


def test_status_names_what_starts_an_engine(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    code, printed, _ = call("status", "--json")
    assert code == 0
    advice = {name: one["to_do"] for name, one in json.loads(printed)["engines"].items()}
    assert "up --native" in advice["mysql"]
    assert (
        "--dialect mariadb (without Docker: bird-harness up --native --dialect mariadb)" in advice["mariadb"]
    )

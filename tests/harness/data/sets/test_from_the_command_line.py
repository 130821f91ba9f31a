"""Sets of one's own as a user gives them: by a path on the command line, outside of a checkout."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.sets.loader import load_set
from harness.provision.dsn import variable
from harness.runs.reader import LATEST, MANIFEST
from loaders.base.errors import command
from tests.harness import own_sets as sets
from tests.harness.conftest import Call
from tests.harness.data.sets.bad_own_sets import CASES, Case, typed
from tests.harness.pytest_plugin.running import run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
ONE_LINE = ("not_toml", "file_cut_off", "databases_not_there", "gold_is_blank", "keys_are_no_table")


def answers(folder: Path) -> Path:
    return sets.write(folder / "answers.txt", "".join(f"{sql}\n" for _, sql in sets.ASKED))


def scored(call: Call, at: str, *options: str) -> tuple[int, str, str]:
    """An evaluation of right answers on SQLite; the run is `results/latest`."""
    file = str(answers(Path()))
    return call(
        "eval", "--set", at, "--predictions", file, "--predictor", "p", "--dialect", "sqlite",
        "--workers", "1", "--no-cache", *options,
    )  # fmt: skip


def latest() -> Path:
    return Path("results", LATEST).resolve()


def asks_otherwise(folder: Path) -> Path:
    """A set of the name of `sets.own`, with as many questions about other things."""
    sets.own(folder)
    content = json.loads((folder / "first.json").read_text())
    content[0]["text"] = "How many things are there?"
    sets.write(folder / "first.json", content)
    return folder


def test_sets_of_the_same_name_are_not_compared(call: Call, tmp_path: Path) -> None:
    runs = []
    for folder in (
        sets.own(tmp_path / "one"),
        asks_otherwise(tmp_path / "two"),
        sets.own(tmp_path / "moved"),
    ):
        code, _, errors = scored(call, str(folder))
        assert code == 0, errors
        runs.append(latest())
    code, _, errors = call("compare", str(runs[0]), str(runs[1]))
    assert (code, errors.count("\n")) == (2, 1)
    assert "both are called Shop-Bench, but have different questions: shop_bench_" in errors
    assert call("compare", str(runs[0]), str(runs[2]))[0] == 0, "where the files are does not count"

    code, _, errors = scored(call, "two", "--resume", str(runs[0]))
    assert (code, errors.count("\n")) == (2, 1)
    assert "describes another run" in errors


def test_gold_by_another_key_of_the_same_file_is_another_run(call: Call, tmp_path: Path) -> None:
    folder = sets.own(tmp_path / "own")
    assert scored(call, "own")[0] == 0
    manifest = folder / "benchmark.toml"
    manifest.write_text(manifest.read_text().replace('sqlite = "gold"', 'sqlite = "gold_pg"'))
    code, _, errors = scored(call, "own", "--resume", str(latest()))
    assert code == 2
    assert "set_files.benchmark.toml" in errors


def test_types_of_the_sets_own_count_instead_of_the_rules(call: Call, tmp_path: Path) -> None:
    folder = sets.own(tmp_path / "own")
    typed("ranking", ["match", "riddle"], of=("riddle", "match", "ranking"))(folder)
    assert scored(call, "own")[0] == 0
    whole = latest()
    described = call("describe", "--set", "own", "--format", "markdown")[1]
    assert scored(call, "own", "--type", "ranking", "--type", "riddle")[0] == 0
    assert json.loads((latest() / MANIFEST).read_text())["questions"] == 2
    assert (
        "--type 'counting': not in Shop-Bench; choose from riddle, match, ranking"
        in scored(call, "own", "--type", "counting")[2]
    )
    shutil.rmtree(folder)
    rows = call("report", str(whole), "--by", "type", "--format", "markdown")[1]
    assert [line.split(" | ")[1:5:3] for line in rows.splitlines() if line.startswith("| p |")][:4] == [
        ["riddle", "1"], ["match", "1"], ["ranking", "1"], ["none", "2"]
    ]  # fmt: skip
    content = json.loads(call("compare", str(whole), str(whole), "--by", "type", "--json")[1])
    assert list(content["comparisons"][0]["groups"]) == ["riddle", "match", "ranking", "none"]
    shares = described.partition("by type")[2].partition("##")[0]
    assert "| riddle | 1 | 25.00 |" in shares
    assert "paper" not in shares


def test_a_run_of_other_questions_is_not_resumed(call: Call, tmp_path: Path) -> None:
    sets.own(tmp_path / "own")
    first = "--sample 2 --seed 1"
    assert scored(call, "own", *first.split())[0] == 0
    folder = str(latest())
    for then in ("--sample 2 --seed 2", "--difficulty warm-up", "--question Q/1", "--db shop", "--limit 3"):
        code, _, errors = scored(call, "own", *then.split(), "--resume", folder)
        assert (code, errors.count("\n")) == (2, 1)
        assert "describes another run: " in errors
        assert f'choice is "{first}" there and "' in errors
        assert then in errors
    assert scored(call, "own", *first.split(), "--resume", folder)[0] == 0


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name in ONE_LINE], ids=lambda case: case.name
)
@pytest.mark.parametrize("asked", ["eval", "load", "lab predict offline", "describe --columns", "status"])
def test_what_is_wrong_is_one_line_and_exit_code_2(
    call: Call, tmp_path: Path, asked: str, case: Case
) -> None:
    case.spoil(case.make(tmp_path / "mine"))
    code, output, errors = call(*asked.split(), "--set", "mine")
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert [part for part in case.says if part not in errors] == [], errors


def test_a_folder_of_predictions_says_what_it_does_not_read(call: Call, tmp_path: Path) -> None:
    sets.own(tmp_path / "own")
    texts = answers(tmp_path).read_text()
    folder = tmp_path / "predicted"
    for name in ("predict_Shop-Bench_a_sqlite.sql", "gold.sql", "scores.csv", "b.TXT"):
        sets.write(folder / name, texts)
    options = ("--predictions", "predicted", "--dialect", "sqlite", "--workers", "1", "--no-cache")
    code, output, errors = call("eval", "--set", "own", *options)
    assert code == 0, errors
    assert "4 match" in output
    assert "predicted: files with incomplete names were not read: b.TXT, gold.sql, scores.csv; name" in errors
    (folder / "predict_Shop-Bench_a_sqlite.sql").unlink()
    code, _, errors = call("eval", "--set", "own", *options)
    assert (code, errors.count("\n")) == (2, 1)
    assert "no *.json or *.jsonl, and its file names are incomplete: b.TXT, gold.sql, scores.csv" in errors


def test_the_cases_are_there() -> None:
    assert {case.name for case in CASES} >= set(ONE_LINE)


def test_pytest_takes_a_path_and_shows_the_name(tmp_path: Path) -> None:
    sets.own(tmp_path / "my own")
    done = run(
        "--bird-set", "my own", "--bird-predictions", str(answers(tmp_path)), "--bird-predictor", "p",
        "--bird-dialect", "sqlite", "--bird-workers", "1", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 match" in done.stdout
    manifest = json.loads((tmp_path / "results" / LATEST / MANIFEST).read_text())
    assert manifest["set"] == "Shop-Bench"
    assert manifest["collection"] == load_set(str(tmp_path / "my own")).collection


def test_make_takes_a_path_with_blanks(tmp_path: Path) -> None:
    folder = sets.own(tmp_path / "my own")
    done = subprocess.run(
        ["make", "--dry-run", "eval", f"SET={folder}", f"PREDICTIONS={answers(tmp_path)}"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f'--set "{folder}"' in done.stdout


def test_commands_in_messages_can_be_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("load", set="my own") == "bird-harness load --set 'my own'"
    monkeypatch.chdir(ROOT)
    assert command("load", set="my own") == "make load SET='my own'"


def test_the_matrix_names_the_set_and_not_its_path(call: Call, tmp_path: Path) -> None:
    sets.own(tmp_path / "own")
    env = {"BIRD_PROVISION": "dsn", variable(Dialect.MYSQL): "", variable(Dialect.POSTGRESQL): ""}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        _, output, _ = call("lab", "matrix", "--set", "own")
    rows = [line for line in output.splitlines() if "not run" in line and "Shop-Bench" in line]
    assert rows
    assert not any(" own " in line for line in output.splitlines())

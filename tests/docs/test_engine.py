"""The engine that docs/how-to/engine.md brings in a package goes everywhere that the project's own go."""

import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialects.errors import BadInput
from harness.engines import kinds_by_name
from tests.docs.blocks import ROOT, blocks, commands
from tests.forked import environment_without

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

PAGE = ROOT / "docs" / "how-to" / "engine.md"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def installed(folder: Path) -> Path:
    """The package of the page as an installer leaves it; nothing of the project is changed."""
    for block in blocks(PAGE):
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text, encoding="utf-8")
    site = folder / "site"
    how = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(site))
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    command = [uv, "pip", "install", "--python", sys.executable, *how, str(folder / "lite4")]
    subprocess.run(command, check=True)
    shutil.rmtree(folder / "lite4")
    return site


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to work in, beside the sample's predictions."""
    folder = tmp_path_factory.mktemp("fourth")
    installed(folder)
    (folder / "loaders").symlink_to(ROOT / "loaders")
    return folder


@pytest.fixture(scope="module")
def run(place: Path) -> Run:
    """Runs a command of the page where the package is installed."""
    environment = environment_without("PYTEST_") | {
        "PYTHONPATH": str(place / "site"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "BIRD_STORE": str(place / "store.sqlite"),
    }

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True, check=False)

    return command


@pytest.fixture(scope="module")
def printed(run: Run) -> dict[str, str]:
    """What the commands of the page print, by the command; none fails."""
    [console] = [block for block in blocks(PAGE) if block.language == "console"]
    found = {}
    for command in commands(console):
        if not command.startswith("pip "):
            done = run(*command.split())
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            name = command.split()[1] if command.startswith("bird-harness ") else command.split()[0]
            found[name] = done.stdout + done.stderr
    return found


def by_engine(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """The results of predictor `careless` by engine and question, without what a clock says."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines():
        result = json.loads(line)
        timed = {"dialect", "prediction_seconds", "gold_seconds"}
        if result["predictor"] == "careless":
            kept = {name: value for name, value in result.items() if name not in timed}
            found.setdefault(result["dialect"], {})[result["question"]] = kept
    return found


def core_of(page: Path) -> dict[str, Any]:
    """The data of a report's first view."""
    packed = re.search(
        r'<script[^>]* id="core"[^>]*>(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL
    )
    assert packed
    content: dict[str, Any] = json.loads(gzip.decompress(b64decode(packed[1])))
    return content


def test_status_has_it_with_the_version_that_it_says(printed: dict[str, str]) -> None:
    rows = {line.split()[0]: line.split()[1:] for line in printed["status"].splitlines() if line.strip()}
    version = rows["sqlite"][0]
    assert rows["lite4"] == ["4.0", "(SQLite", f"{version})", *rows["sqlite"][1:]]


def test_its_results_are_those_of_sqlite(printed: dict[str, str], place: Path) -> None:
    assert "run folder:" in printed["eval"]
    latest = place / "results" / "latest"
    found = by_engine(latest)
    assert list(found) == ["sqlite", "lite4"]
    assert len(found["lite4"]) == 66
    assert found["lite4"] == found["sqlite"]
    manifest = json.loads((latest / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["engines"]["lite4"]["version"].startswith("4.0 (SQLite ")
    summary = json.loads((latest / "summary.json").read_text(encoding="utf-8"))
    ours, other = (
        {name: value for name, value in score.items() if name != "dialect"}
        for score in summary["scores"]
        if score["predictor"] == "careless"
    )
    assert ours == other


def test_every_report_has_it_beside_sqlite(printed: dict[str, str], place: Path) -> None:
    latest = place / "results" / "latest"
    assert re.search(r"^ +SQLite +Lite 4$", printed["eval"], re.MULTILINE)
    assert "| predictor | SQLite simple |" in printed["report"]
    for name in ("tables.md", "tables.tex"):
        assert "Lite 4" in (latest / name).read_text(encoding="utf-8"), name
    with (latest / "tables.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert json.loads((latest / "tables.json").read_text(encoding="utf-8"))
    figures = {
        engine: {
            (row["metric"], row["by"], row["level"]): (row["value"], row["low"], row["high"])
            for row in cells
            if (row["predictor"], row["engine"]) == ("careless", engine)
        }
        for engine in ("sqlite", "lite4")
    }
    assert figures["lite4"] == figures["sqlite"] != {}
    core = core_of(latest / "report.html")
    assert core["titles"]["lite4"] == "Lite 4"
    assert {score["dialect"] for score in core["scores"]} == {0, core["dialects"].index("lite4")}


def test_runs_and_comparisons_know_it(printed: dict[str, str]) -> None:
    assert "SQLite, Lite 4" in printed["runs"]
    assert "A: careless on SQLite" in printed["compare"]
    assert "B: careless on Lite 4" in printed["compare"]
    assert "right in A, wrong in B: none" in printed["compare"]


def test_every_metric_of_sqlites_dialect_is_its_own_too(
    run: Run, printed: dict[str, str], place: Path
) -> None:
    assert printed
    done = run(
        *("bird-harness", "eval", "--dialect", "sqlite,lite4", "--limit", "20", "--workers", "2"),
        *("--metrics", "ex,ex_strict,soft_f1_aligned,em,ts", "--variants", "1", "--out", "other"),
        *("--predictions", "loaders/sample/predictions/predict_sample_careless_sqlite.json"),
        *("--predictions", "predict_sample_careless_lite4.json"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = by_engine(place / "other" / "latest")
    assert found["lite4"] == found["sqlite"]
    assert {name for result in found["lite4"].values() for name in result["scores"]} == {
        "ex", "ex_strict", "soft_f1_aligned", "em", "ts"
    }  # fmt: skip


def test_it_is_predicted_for(run: Run, place: Path) -> None:
    done = run(
        *("bird-harness", "lab", "predict", "offline", "--dialect", "sqlite,lite4", "--limit", "20"),
        *("--out", "answers", "--results", "predicted", "--eval"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    files = {
        path.name: path.read_text(encoding="utf-8") for path in (place / "answers/predictions").iterdir()
    }
    assert files.keys() == {f"predict_sample_offline_{name}.jsonl" for name in ("sqlite", "lite4")}
    assert [json.loads(line)["sql"] for line in files["predict_sample_offline_lite4.jsonl"].splitlines()] == [
        json.loads(line)["sql"] for line in files["predict_sample_offline_sqlite.jsonl"].splitlines()
    ]


KEYS = """
import sys
from harness.data.sets.loader import load_set
from harness.scoring.cache import CacheKeys, is_code_unchanged
from harness.scoring.golds import Golds
from harness.scoring.tasks import Setup
questions = load_set("sample")
setup = Setup(questions, {"sqlite": (), "lite4": ()})
engines = {name: setup.engine(name) for name in setup.servers}
keys = CacheKeys(setup, Golds(questions, tuple(engines), setup.limits), engines)
for name in engines:
    print(keys.execution(questions.questions[0], name, "SELECT 1", "2026-01-01").hex())
assert is_code_unchanged()
with open(sys.argv[1], "a") as file:
    file.write("# changed\\n")
print(is_code_unchanged())
"""


def test_the_code_of_the_package_is_in_its_cache_keys_and_in_no_others(run: Run, place: Path) -> None:
    def keys() -> list[str]:
        return run(sys.executable, "-c", KEYS, str(place / "site/lite4/engine.py")).stdout.split()

    sqlite, lite4, is_same = keys()
    assert is_same == "False"
    again = keys()
    assert again[0] == sqlite != lite4
    assert again[1] not in {sqlite, lite4}


def bring(folder: Path, record: str) -> None:
    """A package whose record is something else, as an installer leaves it."""
    about = folder / "bad-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[bird_harness.engines]\nbad = bad:KIND\n", encoding="utf-8")
    start = "from dataclasses import replace\nfrom harness.engines.sqlite import KIND as SQLITE\n"
    (folder / "bad.py").write_text(f"{start}{record}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ("no record", "cannot be imported (SyntaxError"),
        ("KIND = 4", "not an EngineKind"),
        ("KIND = replace(SQLITE, title='another')", "engine 'sqlite' already exists"),
        ("KIND = replace(SQLITE, name='lite_4')", "'lite_4' cannot be an engine's name"),
        ("KIND = replace(SQLITE, name='auto')", "'auto' cannot be an engine's name"),
        ("KIND = replace(SQLITE, name='lite5', has_server=True)", "has servers"),
    ],
)
def test_a_package_that_cannot_be_used_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: str, says: str
) -> None:
    bring(tmp_path, record)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "bad", raising=False)
    with pytest.raises(BadInput, match=f"^engine bad:KIND of package bad: .*{re.escape(says)}"):
        kinds_by_name.__wrapped__()
    sys.modules.pop("bad", None)


def test_a_command_says_it_in_a_line(tmp_path: Path) -> None:
    bring(tmp_path, "KIND = 4")
    done = subprocess.run(
        [sys.executable, "-m", "harness", "status"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("bird-harness: engine bad:KIND of package bad: not an EngineKind")
    assert len(done.stderr.splitlines()) == 1

"""A run that was broken off goes on in its folder: what was done is kept, the rest is run again."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.outcomes import Outcome, PairResult
from harness.runs.folder import RunFolder
from harness.runs.reader import LATEST, MANIFEST, RESULTS, SUMMARY, read_results, read_run
from tests.harness.run_folders import pair, right_on

METRICS = ["ex", "soft_f1"]
ASKED: Mapping[str, Any] = {
    "set": "sample",
    "questions": 30,
    "planned": {
        "pairs": 30,
        "questions": 30,
        "set_questions": 30,
        "scores": [{"predictor": "p", "dialect": Dialect.SQLITE, "questions": 30}],
    },
    "set_files": {"questions.json": "ab12"},
    "profile": "official",
    "metrics": METRICS,
    "variants": None,
    "limits": {"seconds": 30.0, "rows": 1_000_000, "bytes": 2**28},
    "workers": 2,
    "extract": "none",
    "allow_missing": False,
    "predictions": [
        {"file": "p.json", "sha256": "cd34", "predictor": "p", "dialect": Dialect.MYSQL, "format": "json"}
    ],
    "engines": {"mysql": {"version": "9.7.0", "settings": {"sql_mode": ""}}},
    "left_out": [],
}


def lost(result: PairResult) -> PairResult:
    zero = dict.fromkeys(METRICS, 0.0)
    return replace(result, outcome=Outcome.HARNESS_ERROR, scores=zero, error="the server was gone")


def broken_off(parent: Path, done: Sequence[PairResult], unfinished: Sequence[PairResult] = ()) -> Path:
    folder = RunFolder(parent, ASKED, METRICS)
    for result in done:
        folder.add(result)
    folder.abort(lost(result) for result in unfinished)
    return folder.path


def content(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_what_was_done_is_kept_and_harness_errors_are_run_again(tmp_path: Path) -> None:
    results = right_on(range(0, 30, 2))
    path = broken_off(tmp_path, results[:20], results[20:25])
    assert len(read_results(path)) == 25
    with RunFolder.resume(path, ASKED, METRICS) as folder:
        assert list(folder.done.values()) == results[:20]
        assert (Dialect.SQLITE, "p", "19") in folder.done
        assert (Dialect.SQLITE, "p", "20") not in folder.done
        assert folder.count == 20
        assert read_results(path) == results[:20], "the file has what is kept before anything new is done"
        for result in results[20:]:
            folder.add(result)
        folder.finish()
    assert read_run(path).results == results
    assert (tmp_path / LATEST).resolve() == path


@pytest.mark.parametrize("order", [1, -1])
def test_the_summary_is_that_of_a_run_that_was_not_disturbed(tmp_path: Path, order: int) -> None:
    results = right_on([3, 4, 5])
    results[7] = replace(results[7], outcome=Outcome.GOLD_ERROR, error="first")
    results[2] = replace(results[2], outcome=Outcome.GOLD_ERROR, error="second")
    with RunFolder(tmp_path / "undisturbed", ASKED, METRICS) as undisturbed:
        for result in results:
            undisturbed.add(result)
        undisturbed.finish()
    path = broken_off(tmp_path / "disturbed", results[5:15], results[:5])
    with RunFolder.resume(path, ASKED, METRICS) as resumed:
        for result in [*results[:5], *results[15:]][::order]:
            resumed.add(result)
        resumed.finish()
    texts = [
        (folder.path / SUMMARY).read_text(encoding="utf-8").replace(folder.run_id, "")
        for folder in (undisturbed, resumed)
    ]
    assert texts[0] == texts[1]


def test_a_complete_run_is_resumed_with_nothing_left_to_do(tmp_path: Path) -> None:
    path = broken_off(tmp_path, right_on([1]))
    for times in (1, 2):
        folder = RunFolder.resume(path, ASKED, METRICS)
        assert folder.count == 30
        (score,) = folder.finish()
        assert score.questions == 30
        manifest = content(path / MANIFEST)
        assert len(manifest["resumed"]) == times
        assert manifest["run_id"] == path.name
        assert manifest["started"] < manifest["resumed"][0] < manifest["finished"]


@pytest.mark.parametrize(
    "cut",
    [
        b"",
        b'{"dialect": "sqlite", "predictor": "p", "quest',
        '{"error": "é'.encode()[:-1],
        json.dumps(pair(29, ex=1.0).to_json()).encode(),
    ],
)
def test_a_last_line_that_was_cut_off_is_dropped(tmp_path: Path, cut: bytes) -> None:
    results = right_on([1])[:9]
    path = broken_off(tmp_path, results)
    with (path / RESULTS).open("ab") as lines:
        lines.write(cut)
    with RunFolder.resume(path, ASKED, METRICS) as folder:
        assert list(folder.done.values()) == results
    assert read_results(path) == results


def test_a_run_that_was_killed_before_its_first_result_is_resumed(tmp_path: Path) -> None:
    path = broken_off(tmp_path, [])
    with RunFolder.resume(path, ASKED, METRICS) as folder:
        assert not folder.done
    (path / RESULTS).unlink()
    with RunFolder.resume(path, ASKED, METRICS) as folder:
        assert not folder.done


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b'{"dialect": "sql\n', "line 3: not a result of this version"),
        (b"\xff\xfe\n", "is not UTF-8"),
        (json.dumps(pair(0, ex=1.0).to_json()).encode() + b"\n", "a second result of a pair"),
    ],
)
def test_a_damaged_line_elsewhere_is_refused(tmp_path: Path, line: bytes, fault: str) -> None:
    path = broken_off(tmp_path, right_on([1])[:2])
    with (path / RESULTS).open("ab") as lines:
        lines.write(line)
    before = (path / RESULTS).read_bytes()
    with pytest.raises(BadInput, match=fault):
        RunFolder.resume(path, ASKED, METRICS)
    assert (path / RESULTS).read_bytes() == before


CHANGED_PREDICTION = {**ASKED["predictions"][0], "sha256": "ef56"}
OTHERS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "set": ({"set": "mini_dev"}, 'set is "sample" there and "mini_dev" now'),
    "fewer questions": ({"questions": 3}, "questions is 30 there and 3 now"),
    "set files": ({"set_files": {"questions.json": "00"}}, "set_files.questions.json is"),
    "profile": ({"profile": "faithful"}, "profile is"),
    "metrics": ({"metrics": ["ex"]}, "metrics is"),
    "limit": (
        {"limits": {**ASKED["limits"], "seconds": 1.0}},
        "limits.seconds is 30.0 there and 1.0 now",
    ),
    "variants": ({"variants": "77"}, 'variants is nothing there and "77" now'),
    "extract": ({"extract": "fences"}, "extract is"),
    "missing": ({"allow_missing": True}, "allow_missing is false there and true now"),
    "predictions": ({"predictions": [CHANGED_PREDICTION]}, r"predictions\.mysql/p\.sha256 is"),
    "one predictor less": ({"predictions": []}, r"predictions\.mysql/p is .* and nothing now"),
    "engine": (
        {"engines": {"mysql": {"version": "9.8.0", "settings": {"sql_mode": ""}}}},
        r"engines\.mysql\.version is",
    ),
    "setting": (
        {"engines": {"mysql": {"version": "9.7.0", "settings": {"sql_mode": "ANSI"}}}},
        r"engines\.mysql\.settings\.sql_mode is",
    ),
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_run_is_refused_with_what_differs(tmp_path: Path, other: str) -> None:
    change, fault = OTHERS[other]
    path = broken_off(tmp_path, right_on([1]))
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    with pytest.raises(BadInput, match=fault) as refused:
        RunFolder.resume(path, {**ASKED, **change}, METRICS)
    assert str(refused.value).startswith(str(path / MANIFEST))
    assert "--resume" in str(refused.value)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_moved_files_and_other_workers_make_no_other_run(tmp_path: Path) -> None:
    path = broken_off(tmp_path, right_on([1]))
    moved = [{**ASKED["predictions"][0], "file": "moved.json"}]
    with RunFolder.resume(path, {**ASKED, "workers": 1, "predictions": moved}, METRICS) as folder:
        assert folder.count == 30
    assert content(path / MANIFEST)["workers"] == 1


def test_what_is_no_run_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"has no {MANIFEST}"):
        RunFolder.resume(tmp_path, ASKED, METRICS)


def test_a_folder_is_written_by_one_process_at_a_time(tmp_path: Path) -> None:
    path = broken_off(tmp_path, right_on([1]))
    first = RunFolder.resume(path, ASKED, METRICS)
    with pytest.raises(BadInput, match="another process is writing it"):
        RunFolder.resume(path, ASKED, METRICS)
    first.close()
    RunFolder.resume(path, ASKED, METRICS).close()


_KILLED = """
import os, signal, sys
from pathlib import Path
from harness.runs.folder import RunFolder
from tests.harness.run_folders import right_on
from tests.harness.runs.test_resume import ASKED, METRICS
folder = RunFolder(Path(sys.argv[1]), ASKED, METRICS)
for result in right_on([1])[:7]:
    folder.add(result)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_a_harness_that_is_killed_loses_no_result(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, tmp_path],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    (path,) = tmp_path.iterdir()
    with RunFolder.resume(path, ASKED, METRICS) as folder:
        assert list(folder.done.values()) == right_on([1])[:7]

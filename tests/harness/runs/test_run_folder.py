"""What a run folder has beside the scores: questions, the texts that were run, and some of the rows."""

import errno
import json
import os
import shutil
import sqlite3
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.outcomes import Outcome, PairResult, Preview, Side
from harness.data.questions import Difficulty, Question
from harness.data.sets.loader import load_set
from harness.runs.folder import RunFolder
from harness.runs.reader import (
    LATEST,
    MANIFEST,
    PREVIEWS,
    QUESTIONS,
    RESULTS,
    key_of,
    read_previews,
    read_questions,
    read_results,
    read_run,
)
from harness.session.evaluation import score
from harness.session.plan import prepare
from harness.session.request import Request
from tests.harness.run_folders import pair

_PREVIEW = Preview(Side(2, 1, 1, 1, ((1,), (("Decimal", "2.5"),))), Side(1, 1, 0, 0, ((None,),)), "SELECT 1")
_MANIFEST = {"set": "sample", "metrics": ["ex"]}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's predictions on SQLite."""
    out = tmp_path_factory.mktemp("run")
    request = Request(dialects=[Dialect.SQLITE], out=out, cache=False)
    with prepare(request, say=print) as plan:
        score(plan)
    return out / LATEST


def written(parent: Path, results: Sequence[PairResult], questions: Sequence[Question] = ()) -> Path:
    folder = RunFolder(parent, _MANIFEST, ["ex"], questions)
    for result in results:
        folder.add(result)
    folder.finish()
    return folder.path


def test_the_manifest_has_the_version_of_sqlite(run: Path) -> None:
    assert json.loads((run / "manifest.json").read_text())["packages"]["sqlite"] == sqlite3.sqlite_version


def test_every_question_is_there_with_its_gold(run: Path) -> None:
    questions = load_set("sample").questions
    assert list(read_questions(run).values()) == list(questions)


def test_every_pair_has_the_text_that_was_run(run: Path) -> None:
    results = read_run(run).results
    assert all(result.sql for result in results)
    gold = {key: question.gold[Dialect.SQLITE] for key, question in read_questions(run).items()}
    assert all(result.outcome is Outcome.MATCH for result in results if result.sql == gold[result.question])


def test_previews_agree_with_outcomes(run: Path) -> None:
    previews = read_previews(run)
    results = {key_of(result): result for result in read_results(run)}
    assert previews.keys() == results.keys()
    for key, preview in previews.items():
        ran = results[key].outcome in (Outcome.MATCH, Outcome.MISMATCH)
        assert (preview.predicted is not None) == ran
        if preview.predicted is not None:
            differs = preview.gold.only or preview.predicted.only
            assert (results[key].outcome is Outcome.MISMATCH) == bool(differs)


def test_rows_are_not_in_the_results(run: Path) -> None:
    lines = (run / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert all("preview" not in json.loads(line) for line in lines)


def test_a_preview_and_a_text_come_back_as_they_were(tmp_path: Path) -> None:
    result = replace(
        pair(1, ex=0.0), sql="SELECT '\N{BLACK HEART SUIT}\ud800\x00\u2028'", preview=_PREVIEW.to_text()
    )
    question = Question("1", 1, "d", "How\nmany?", "\ud800", Difficulty.SIMPLE, {Dialect.SQLITE: "SELECT 1"})
    folder = written(tmp_path, [result], [question])
    assert read_questions(folder) == {"1": question}
    assert read_results(folder) == [replace(result, preview=None)]
    assert read_previews(folder) == {key_of(result): _PREVIEW}


def test_a_resumed_run_keeps_the_previews_of_what_it_keeps(tmp_path: Path) -> None:
    done = [replace(pair(number, ex=0.0), preview=_PREVIEW.to_text()) for number in (1, 2)]
    broken = replace(pair(3), outcome=Outcome.HARNESS_ERROR, preview=_PREVIEW.to_text())
    folder = RunFolder(tmp_path, _MANIFEST, ["ex"], [])
    for result in (*done, broken):
        folder.add(result)
    folder.abort()
    # As a kill leaves it: a line that is not whole.
    with (folder.path / PREVIEWS).open("a") as file:
        file.write('{"dialect": "sqlite", "predictor')
    resumed = RunFolder.resume(folder.path, _MANIFEST, ["ex"])
    again = replace(pair(3, ex=1.0), preview=replace(_PREVIEW, gold_sql=None).to_text())
    resumed.add(again)
    resumed.finish()
    assert read_previews(folder.path) == {
        key_of(each): Preview.from_text(each.preview) for each in (*done, again) if each.preview is not None
    }


def test_reading_back_takes_little_more_room_than_what_is_read(tmp_path: Path) -> None:
    # One wide character, and Python has four bytes for each of the text that it stands in.
    wide = replace(pair(0, ex=0.0), sql="SELECT '\N{GRINNING FACE}'")
    long = [replace(pair(number, ex=0.0), sql="SELECT '" + "x" * 1_000_000 + "'") for number in range(1, 21)]
    folder = written(tmp_path, [wide, *long])
    tracemalloc.start()
    try:
        results = read_run(folder).results
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(results) == len(long) + 1
    assert peak - held < 5_000_000


@pytest.mark.parametrize("name", [QUESTIONS, PREVIEWS])
def test_a_damaged_file_is_named_with_its_line(tmp_path: Path, name: str) -> None:
    folder = written(tmp_path, [pair(1, ex=0.0)])
    (folder / name).write_text('\n{"key": 1}\n', encoding="utf-8")
    read = read_questions if name == QUESTIONS else read_previews
    with pytest.raises(BadInput, match=rf"{name}: line 2: .*run it again"):
        read(folder)


def _edited(name: str, edit: Callable[[str], str]) -> Callable[[Path], None]:
    """Changes a file of a run folder."""

    def change(folder: Path) -> None:
        path = folder / name
        path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")

    return change


def _changed(name: str, **values: object) -> Callable[[Path], None]:
    """Changes members of a JSON file of a run folder."""
    return _edited(name, lambda text: json.dumps(json.loads(text) | values))


_LAST = '"predictor": "careless", "question": "66"'
DAMAGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a result is lost": (
        _edited(RESULTS, lambda text: text[text.index("\n") + 1 :]),
        "results.jsonl: has 131 results, summary.json 132",
    ),
    "a line is cut off": (_edited(RESULTS, lambda text: text[:-40]), "line 132: not a result"),
    "a pair is there twice": (
        _edited(RESULTS, lambda text: text + text.splitlines()[0] + "\n"),
        "a second result of a pair",
    ),
    "an unknown predictor": (
        _edited(RESULTS, lambda text: text.replace('"predictor": "careless"', '"predictor": "someone"')),
        "sqlite/someone: of a predictor and an engine that manifest.json does not plan",
    ),
    "an unknown engine": (
        _edited(RESULTS, lambda text: text.replace('"dialect": "sqlite"', '"dialect": "mysql"')),
        "of a predictor and an engine that manifest.json does not plan",
    ),
    "an unknown question": (
        _edited(RESULTS, lambda text: text.replace(_LAST, _LAST.replace("66", "99"))),
        "sqlite/careless::99: of a question that questions.jsonl has not",
    ),
    "one result is of another predictor": (
        _edited(RESULTS, lambda text: text.replace(_LAST, _LAST.replace("less", "free"))),
        "sqlite/careless: 65: not as many as summary.json counts",
    ),
    "fewer were planned": (
        _edited(MANIFEST, lambda text: text.replace('"questions": 66', '"questions": 60')),
        "more than manifest.json plans",
    ),
    "the plan is of another shape": (_changed(MANIFEST, planned=[1]), "lacks the planned pairs"),
    "no questions": (lambda folder: (folder / QUESTIONS).unlink(), "questions.jsonl: cannot be read"),
}


@pytest.mark.parametrize("how", DAMAGED)
def test_results_that_are_not_those_that_were_planned_are_refused(
    run: Path, tmp_path: Path, how: str
) -> None:
    damage, fault = DAMAGED[how]
    folder = tmp_path / "run"
    shutil.copytree(run.resolve(), folder)
    read_run(folder)
    damage(folder)
    with pytest.raises(BadInput, match=fault) as refused:
        read_run(folder)
    assert "\n" not in str(refused.value)


def test_a_full_disk_is_one_line_where_the_choice_of_pairs_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with RunFolder(tmp_path, {}, ["ex"]) as folder:
        monkeypatch.setattr("harness.runs.folder.write_json", write)
        with pytest.raises(BadInput, match=r"cannot be written \(No space left on device\); make room there"):
            folder.choose(["-k 'simple'"])

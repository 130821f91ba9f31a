"""What answers took, as prediction files and the folder of `predict` tell it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.outcomes import AnswerUsage
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.sets.loading import load_set

SAMPLE = load_set("sample")
KEYS = [question.key for question in SAMPLE.questions[:3]]


def lines(path: Path, records: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def read(path: Path) -> PredictionFile:
    (found,) = read_predictions([path], SAMPLE, allow_missing=True, dialects=[Dialect.SQLITE])
    return found


def own(folder: Path, *usages: Mapping[str, Any]) -> Path:
    records = [
        {"question_id": int(key), "sql": "SELECT 1", **usage}
        for key, usage in zip(KEYS, usages, strict=False)
    ]
    return lines(folder / "predict_sample_mine_sqlite.jsonl", records)


def predicted(folder: Path, answers: Sequence[Mapping[str, Any]], samples: Sequence[str] = ("",)) -> Path:
    """A folder as `predict` lays it out."""
    lines(folder / "manifest.json", [{"set": "sample", "name": "m@2"}])
    lines(folder / "journal.jsonl", [])
    lines(folder / "answers.jsonl", answers)
    for sample in samples:
        lines(
            folder / "predictions" / f"predict_sample_m@2{sample}_sqlite.jsonl",
            [{"question_id": int(key), "sql": "SELECT 1"} for key in KEYS],
        )
    return folder


def answer(key: str, sample: int = 0, **usage: float | None) -> dict[str, Any]:
    return {"question": key, "dialect": "sqlite", "sample": sample, "sql": "SELECT 1", **usage}


def test_lines_say_what_their_answers_took(tmp_path: Path) -> None:
    full = {"prompt_tokens": 10, "completion_tokens": 0, "seconds": 1, "cost": 0.5}
    found = read(own(tmp_path, full, {"seconds": None, "cost": 0}, {}))
    assert found.usage == {KEYS[0]: AnswerUsage(10, 0, 1, 0.5), KEYS[1]: AnswerUsage(cost=0)}
    assert found.usage[KEYS[0]].tokens == 10
    assert found.usage[KEYS[1]].tokens is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"prompt_tokens": -1},
        {"prompt_tokens": 1.5},
        {"completion_tokens": "12"},
        {"completion_tokens": True},
        {"seconds": "1 s"},
        {"seconds": 10**400},
        {"cost": []},
        {"cost": -0.1},
    ],
)
def test_a_figure_that_is_none_is_refused_by_its_place(tmp_path: Path, wrong: Mapping[str, Any]) -> None:
    path = own(tmp_path, {}, wrong)
    with pytest.raises(BadInput) as refused:
        read(path)
    (name,) = wrong
    for part in (str(path), "line 2", f"question {KEYS[1]}", name):
        assert part in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_folder_of_predict_tells_it_of_its_files(tmp_path: Path) -> None:
    answers = [answer(KEYS[0], prompt_tokens=5, completion_tokens=6, seconds=0.5, cost=None), answer(KEYS[1])]
    folder = predicted(tmp_path / "p", [*answers, {**answer(KEYS[2], seconds=9), "dialect": "mysql"}])
    assert read(folder).usage == {KEYS[0]: AnswerUsage(5, 6, 0.5)}
    # The same file elsewhere is nobody's.
    moved = (folder / "predictions" / "predict_sample_m@2_sqlite.jsonl").rename(
        tmp_path / "predict_sample_m_sqlite.jsonl"
    )
    assert read(moved).usage == {}


def test_what_a_line_says_goes_before(tmp_path: Path) -> None:
    folder = predicted(tmp_path / "p", [answer(KEYS[0], seconds=1), answer(KEYS[1], seconds=2)])
    lines(
        folder / "predictions" / "predict_sample_m@2_sqlite.jsonl",
        [
            {"question_id": int(KEYS[0]), "sql": "SELECT 1", "seconds": 7},
            {"question_id": int(KEYS[1]), "sql": "SELECT 1"},
        ],
    )
    assert read(folder).usage == {KEYS[0]: AnswerUsage(seconds=7), KEYS[1]: AnswerUsage(seconds=2)}


def test_samples_are_told_apart_and_the_majority_took_all(tmp_path: Path) -> None:
    answers = [answer(key, sample, seconds=10**sample) for sample in (0, 1) for key in KEYS[:2]]
    answers[-1]["seconds"] = None
    folder = predicted(tmp_path / "p", answers, ["@1", "@2", "@majority"])
    files = read_predictions([folder], SAMPLE, allow_missing=True, dialects=[Dialect.SQLITE])
    assert {file.predictor: dict(file.usage) for file in files} == {
        "m@2@1": {KEYS[0]: AnswerUsage(seconds=1), KEYS[1]: AnswerUsage(seconds=1)},
        "m@2@2": {KEYS[0]: AnswerUsage(seconds=10)},
        "m@2@majority": {KEYS[0]: AnswerUsage(seconds=11)},
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("answers.jsonl", "{}\n"),
        ("answers.jsonl", "[\n"),
        ("answers.jsonl", json.dumps(answer(KEYS[0]) | {"cost": "much"}) + "\n"),
        ("manifest.json", "[]"),
    ],
)
def test_a_damaged_folder_is_one_clear_error(tmp_path: Path, name: str, text: str) -> None:
    folder = predicted(tmp_path / "p", [answer(KEYS[0])])
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        read(folder)
    assert str(folder / name) in str(refused.value)
    assert "\n" not in str(refused.value)

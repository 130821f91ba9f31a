"""Runs that the tests make up: of every outcome, of any size, and with texts that mean harm.

Their manifests are a real run's.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from dialects.enums import Dialect
from harness.data.outcomes import GoldOrigin, Outcome, PairResult, Preview, preview
from harness.data.questions import Difficulty, Question
from harness.data.set_manifest import PUBLISHED
from harness.engines.errors import ErrorClass
from harness.runs.reader import Run, key_of
from harness.runs.summary import Key
from tests.harness.real_runs import recorded

HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<!--<script>",
    "NUL \0, bell \7, delete \x7f",
    "right to left \u202etxet\u202c and \u2066isolated\u2069, nothing\u200bhere",
    "half a character \ud83d, and a line\u2028end",
    "{{ 7 * 7 }} {% raw %} ${7*7} %s \\u003c \\",
    "javascript:document.title='owned'",
    "a & b &lt; c \" ' ` #/pairs?q=%",
    "\n\n  \t",
)
"""What may stand anywhere in a question, a prediction, a row or the words of an engine."""

OUTCOMES = (Outcome.MATCH, Outcome.MATCH, Outcome.MISMATCH, *Outcome)
_CLASSES = {
    Outcome.MISMATCH: (ErrorClass.WRONG_TABLES, ErrorClass.WRONG_LITERAL, ErrorClass.WRONG_CONDITION),
    Outcome.PREDICTION_ERROR: (ErrorClass.SYNTAX, ErrorClass.UNKNOWN_COLUMN),
}


class Made(NamedTuple):
    """What `write_html` takes, but for the file."""

    run: Run
    questions: Mapping[str, Question]
    previews: Mapping[Key, Preview]


def question(number: int, text: str = "How many are there?", databases: int = 3) -> Question:
    rest = f"t.number > {number}"
    return Question(
        key=str(number),
        question_id=number,
        db_id=f"db_{number % databases}",
        text=f"{text} ({number})",
        evidence="there refers to place = 'there'" if number % 2 else "",
        difficulty=list(Difficulty)[number % 3],
        gold={
            Dialect.SQLITE: f"SELECT COUNT(*) FROM things AS t WHERE t.place = 'there' AND {rest}",
            Dialect.MYSQL: f"SELECT COUNT(*) FROM `things` AS t WHERE t.`place` = 'there' AND {rest}",
        },
    )


def result(
    asked: Question, predictor: str, dialect: Dialect, outcome: Outcome, sql: str | None
) -> PairResult:
    classes = _CLASSES.get(outcome)
    return PairResult(
        dialect=dialect,
        predictor=predictor,
        question=asked.key,
        question_id=asked.question_id,
        db_id=asked.db_id,
        difficulty=asked.difficulty,
        outcome=outcome,
        scores={"ex": float(outcome is Outcome.MATCH), "soft_f1": 1.0 if outcome is Outcome.MATCH else 0.25},
        gold_origin=GoldOrigin.DATASET,
        error=f"no such column: t.{asked.key}" if "error" in outcome else None,
        code="42703" if outcome is Outcome.PREDICTION_ERROR else None,
        prediction_seconds=0.002 * (1 + int(asked.question_id) % 7),
        gold_seconds=0.004,
        error_class=classes[int(asked.question_id) % len(classes)] if classes else None,
        sql=sql,
    )


def made(predictors: int = 3, questions: int = 12, seed: int = 1, noise: int = 0) -> Made:
    """A run on three engines with every outcome; the same seed gives the same run.

    `noise` bytes at random, in hexadecimal, make every prediction another text.
    """
    chance = random.Random(seed)  # noqa: S311 - nothing is secret
    asked = [question(number) for number in range(1, questions + 1)]
    results: list[PairResult] = []
    previews: dict[Key, Preview] = {}
    for one in asked:
        for number in range(predictors):
            for dialect in PUBLISHED:
                outcome = chance.choice(OUTCOMES)
                above = int(one.question_id) + number % 2
                sql = f"SELECT COUNT(t.id) FROM things AS t WHERE t.number > {above}"
                sql += f" AND t.name <> '{chance.randbytes(noise).hex()}'" if noise else ""
                found = result(one, f"predictor-{number}", dialect, outcome, sql)
                if outcome is Outcome.MISSING:
                    found = replace(found, sql=None, prediction_seconds=None, gold_seconds=None)
                results.append(found)
                previews[key_of(found)] = _preview(outcome, int(one.question_id), chance)
    there = recorded()
    manifest = {
        **there,
        "run_id": "20260102T030405Z-abcdef",
        "started": "2026-01-02T03:04:05+00:00",
        "metrics": ["ex", "soft_f1"],
        "engines": dict.fromkeys(Dialect, there["engines"]["sqlite"]),
        "left_out": [],
    }
    return Made(Run(Path("run"), manifest, results), {one.key: one for one in asked}, previews)


def _preview(outcome: Outcome, number: int, chance: random.Random) -> Preview:
    gold = [(place, f"name {place}", number / 8, None) for place in range(number % 12 + 1)]
    if outcome is Outcome.MATCH:
        return preview(gold, list(gold))
    if outcome is Outcome.MISMATCH:
        return preview(gold, [(row[0], "other", row[2], b"\0\1") for row in gold][: chance.randint(0, 9)])
    return preview(gold, None, "SELECT 'translated'")


def hostile() -> Made:
    """A run whose every text is hostile, one after the other."""
    texts = iter(HOSTILE * 99)
    results: list[PairResult] = []
    questions: dict[str, Question] = {}
    previews: dict[Key, Preview] = {}
    for number, key in enumerate(HOSTILE, start=1):
        asked = replace(
            question(number), key=f"{number}{key}", db_id=key, text=next(texts), evidence=next(texts),
            gold=dict.fromkeys(Dialect, next(texts)),
        )  # fmt: skip
        questions[asked.key] = asked
        for dialect in PUBLISHED:
            for predictor in HOSTILE[:3]:
                found = result(asked, predictor, dialect, Outcome.MISMATCH, next(texts))
                found = replace(found, error=next(texts), code=next(texts))
                results.append(found)
                previews[key_of(found)] = preview(list(_rows(texts)), list(_rows(texts)))
    manifest = {
        **_spoilt(recorded(), texts),
        "run_id": HOSTILE[0],
        "set": HOSTILE[1],
        "metrics": ["ex"],
    }
    return Made(Run(Path("run"), manifest, results), questions, previews)


def _spoilt(value: Any, texts: Iterator[str]) -> Any:
    """The same shape with another text wherever there was one."""
    if isinstance(value, dict):
        return {name: _spoilt(part, texts) for name, part in value.items()}
    if isinstance(value, list):
        return [_spoilt(part, texts) for part in value]
    return next(texts) if isinstance(value, str) else value


def _rows(texts: Iterator[str]) -> Iterator[tuple[object, ...]]:
    for _ in range(3):
        yield next(texts), 1.5, None, float("inf"), b"<b>"

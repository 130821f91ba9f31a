"""Bundles: a finished run in one file that anyone can execute again.

A bundle is a JSON document of three members. `statement` is an in-toto statement about the other two, with
the digests of question set, golds and databases, the versions and the settings; its digest is the bundle's.
`predictions` is the text of a prediction file, `outcomes` that of a file with the outcome, the scores and the
error class of each pair. Neither questions nor golds are in it, nor anything about the machine: a set's
licence applies to its texts. The same run gives the same bytes.
https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace
from pathlib import Path
from typing import Any, Self

from dialects.errors import BadInput
from harness.data.outcomes import Outcome, PairResult
from harness.engines import EngineName
from harness.engines.errors import ErrorClass
from harness.metrics import METRICS
from harness.runs.reader import Run
from harness.runs.summary import Key, Score, completed, summarize
from loaders.base.files import as_json, parse_json, refuse, replace
from loaders.base.records import read_record, to_plain, to_record

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:bird-harness:evaluation:v1"
SUFFIX = ".bundle.json"

_WRONG = "get it again from whoever submitted it"


@dataclass(frozen=True)
class PairOutcome:
    """The outcome of one pair, without times."""

    dialect: EngineName
    predictor: str
    question: str
    outcome: Outcome
    scores: Mapping[str, float]
    error_class: ErrorClass | None = None

    @classmethod
    def of(cls, result: PairResult) -> Self:
        """Return the outcome of a result, with the scores that do not depend on time."""
        scores = {name: score for name, score in result.scores.items() if METRICS[name].of_timing is None}
        whose = result.dialect, result.predictor, result.question
        return cls(*whose, result.outcome, scores, result.error_class)

    @property
    def key(self) -> Key:
        """The key of the pair within its run."""
        return self.dialect, self.predictor, self.question


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """The predicate of a bundle's statement.

    `questions` of `set_questions` were asked, of every predictor and engine; `is_complete`: of the whole set.
    `set_files` and `databases` have sha256 digests by name, `scores` the means in percent by predictor,
    engine, metric and level.
    """

    set_name: str
    is_complete: bool
    questions: int
    set_questions: int
    profile: str
    metrics: Sequence[str]
    limits: Mapping[str, float]
    engines: Mapping[str, Mapping[str, Any]]
    packages: Mapping[str, str]
    set_files: Mapping[str, str]
    databases: Mapping[str, str | None]
    scores: Sequence[Mapping[str, Any]]
    reference: str | None = None
    gold: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class _File:
    """The document, as it is in the file."""

    statement: Mapping[str, Any]
    predictions: str
    outcomes: str

    @property
    def subject(self) -> list[dict[str, Any]]:
        """The names and digests of the two members that the statement is about."""
        return [
            {"name": f"{name}.jsonl", "digest": {"sha256": _digest(getattr(self, name))}}
            for name in ("predictions", "outcomes")
        ]


@dataclass(frozen=True)
class Bundle:
    """A bundle as read; `digest` is the sha256 of its statement in hexadecimal.

    `predictions` is the text of a prediction file in JSON lines.
    """

    digest: str
    evaluated: Evaluated
    predictions: str
    outcomes: Mapping[Key, PairOutcome]


def pack(run: Run, path: Path) -> str:
    """Write a run as a bundle, and return its digest.

    Raises:
        BadInput: the run has pairs that were not judged, or was tested on variants; or the file cannot be
            written.
    """
    scores = summarize(run.results, run.manifest.get("metrics", ()), run.extent)
    broken = any(result.outcome is Outcome.HARNESS_ERROR for result in run.results)
    if broken or not run.extent.is_complete(completed(scores)):
        refuse(run.folder, "some of its pairs were not judged", "complete it: bird-harness eval --resume")
    if run.manifest.get("variants") is not None:
        refuse(run.folder, "its variants of databases are not in the run", "run it without --variants")
    outcomes = sorted(map(PairOutcome.of, run.results), key=lambda each: each.key)
    predictions = sorted(run.results, key=lambda each: (each.dialect, each.predictor, each.question))
    bundle = _File({}, _lines(map(_prediction, predictions)), _lines(map(to_plain, outcomes)))
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": bundle.subject,
        "predicateType": PREDICATE_TYPE,
        "predicate": to_plain(_evaluated(run, scores)),
    }
    try:
        replace(path, as_json(to_plain(dataclass_replace(bundle, statement=statement)), indent=1) + "\n")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}); choose another --out") from error
    return _digest(as_json(statement))


def read_bundle(path: Path) -> Bundle:
    """Read a bundle, and check that its statement is about what it holds.

    Raises:
        BadInput: it is not a bundle, or was changed.
    """
    held = read_record(path, lambda record: to_record(_File, record), _WRONG)
    kinds = held.statement.get("_type"), held.statement.get("predicateType")
    if kinds != (STATEMENT_TYPE, PREDICATE_TYPE):
        refuse(path, f"its statement is not of an evaluation: {kinds[1]}", "name a file of `submit`")
    if held.statement.get("subject") != held.subject:
        refuse(path, "its predictions or outcomes are not those of its statement", _WRONG)
    try:
        evaluated = to_record(Evaluated, held.statement.get("predicate"))
        outcomes = [to_record(PairOutcome, parse_json(line)) for line in held.outcomes.splitlines()]
    except ValueError as fault:
        refuse(path, f"its statement or an outcome is damaged: {fault}", _WRONG)
    found = {each.key: each for each in outcomes}
    planned = sum(score["questions"] for score in evaluated.scores)
    if len(found) != len(outcomes) or len(found) != planned or planned != held.predictions.count("\n"):
        refuse(path, f"it has {len(found)} outcomes of {planned} pairs", _WRONG)
    return Bundle(_digest(as_json(held.statement)), evaluated, held.predictions, found)


def _evaluated(run: Run, scores: Sequence[Score]) -> Evaluated:
    manifest, extent = run.manifest, run.extent
    settings: dict[str, Any] = {name: manifest.get(name) for name in _OF_MANIFEST}
    return Evaluated(
        set_name=manifest["set"],
        is_complete=extent.questions == extent.set_questions,
        questions=extent.questions,
        set_questions=extent.set_questions,
        scores=[
            {name: value for name, value in score.to_json().items() if name in _OF_SCORE} for score in scores
        ],
        **settings,
    )


_OF_SCORE = ("predictor", "dialect", "questions", "metrics", "intervals", "outcomes")
_OF_MANIFEST = (
    "profile", "metrics", "limits", "engines", "packages", "set_files", "databases", "reference", "gold",
)  # fmt: skip


def _prediction(result: PairResult) -> dict[str, Any]:
    """Return a line of a prediction file."""
    line = {"question_id": result.question, "predictor": result.predictor, "dialect": result.dialect}
    if result.sql is None:
        return {**line, "sql": None, "reason": result.error or "no answer"}
    return {**line, "sql": result.sql}


def _lines(records: Iterable[Any]) -> str:
    return "".join(f"{as_json(record)}\n" for record in records)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

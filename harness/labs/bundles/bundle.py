"""Bundles: a finished run in one file that anyone can execute again.

A bundle is a JSON document. `predictions` is the text of a prediction file, `outcomes` that of a file with
the outcome, the scores and the error class of each pair. `statement` is an in-toto statement about the two,
with the digests of question set, golds and databases, the versions and the settings. `digest` is that of the
statement, and so of the bundle. Neither questions nor golds are in it, nor anything about the machine: a
set's licence applies to its texts. The same run gives the same bytes, and other bytes are no bundle.

A receipt is an in-toto statement about a bundle: what executing it again has shown.
https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from dialects.enums import Profile
from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.outcomes import GoldOrigin, Outcome, PairResult
from harness.data.published_sets import provenances, sets_by_name, title_in
from harness.data.questions import PackUse, level
from harness.engines import EngineName, kind_of
from harness.engines.errors import ErrorClass
from harness.lab import at, lab_judging
from harness.metrics import METRICS
from harness.metrics.statistics import Interval
from harness.runs.reader import Run, extraction_note, golds_note, key_of, levels_in, require_questions
from harness.runs.summary import Extent, Figures, Key, Score, completed, summarize
from loaders.base.files import as_json, parse_json, read_json, read_text, refuse
from loaders.base.files import replace as write_whole
from loaders.base.records import RecordFault, read_record, to_object, to_plain, to_record

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:bird-harness:evaluation:v1"
RECEIPT_TYPE = "urn:bird-harness:verification:v1"
SUFFIX = ".bundle.json"
RECEIPT_SUFFIX = ".receipt.json"

_WRONG = "get it again from whoever submitted it"


@dataclass(frozen=True)
class PairOutcome:
    """The outcome of one pair, without times."""

    dialect: EngineName
    predictor: str
    question: str
    difficulty: str
    outcome: Outcome
    scores: Mapping[str, float]
    error_class: ErrorClass | None = None

    @classmethod
    def of(cls, result: PairResult) -> Self:
        """Return the outcome of a result, with the scores that do not depend on time."""
        scores = {name: result.scores[name] for name in untimed(result.scores)}
        pair = result.dialect, result.predictor, result.question, str(result.difficulty)
        return cls(*pair, result.outcome, scores, result.error_class)

    @property
    def key(self) -> Key:
        """The key of the pair within its run."""
        return self.dialect, self.predictor, self.question


@dataclass(frozen=True)
class ClaimedScore:
    """The scores of a predictor on an engine, as the submitter's `summary.json` has them."""

    predictor: str
    dialect: EngineName
    questions: int
    metrics: Figures
    intervals: Mapping[str, Interval | None]
    outcomes: Mapping[Outcome, int]


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """The predicate of a bundle's statement.

    `started` is when the run started, in ISO format. `questions` of `set_questions` were asked, of every
    predictor and engine; `is_complete`: of the whole set, whose levels of difficulty are `levels`.
    `set_files` and `databases` have sha256 digests by name, `scores` the means in percent by predictor,
    engine, metric and level. `notes` are what a reader of the scores has to know. `extract` is the policy
    that took the SQL out of the answers. `title` is that of the set, if it has one beside its name. `facts`
    are what a lab has to know to judge by verdicts of its own, and such a run has no profile.
    """

    set_name: str
    started: str
    is_complete: bool
    questions: int
    set_questions: int
    levels: Sequence[str]
    profile: str | None
    metrics: Sequence[str]
    limits: Mapping[str, float]
    engines: Mapping[str, Mapping[str, Any]]
    packages: Mapping[str, str]
    set_files: Mapping[str, str]
    databases: Mapping[str, str | None]
    scores: Sequence[ClaimedScore]
    reference: str | None = None
    now: str | None = None
    gold: PackUse | None = None
    notes: Sequence[str] = ()
    extract: str = Extract.NONE.value
    title: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _File:
    """The document, as it is in the file."""

    digest: str
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

    @property
    def text(self) -> str:
        """The content of the file."""
        return as_json(to_plain(self), indent=1) + "\n"


@dataclass(frozen=True)
class Bundle:
    """A bundle as read; `digest` is the sha256 of its statement in hexadecimal.

    `predictions` is the text of a prediction file in JSON lines, `text` all of the bundle's file.
    """

    digest: str
    evaluated: Evaluated
    predictions: str
    outcomes: Mapping[Key, PairOutcome]
    text: str

    def scores(self) -> list[Score]:
        """Compute the scores by metrics that do not depend on time from the outcomes."""
        return summarize(map(self._result, self.outcomes.values()), untimed(self.evaluated.metrics))

    def run(self, folder: Path) -> Run:
        """Return the run as far as a bundle has it: without questions, golds, rows and times.

        Args:
            folder: where its report will be.

        Raises:
            BadInput: its predictions are not those of its outcomes.
        """
        one = self.evaluated
        manifest = {
            "run_id": self.digest[:16],
            "set": one.set_name,
            "provenance": provenances(one.set_name, one.databases),
            **({"title": one.title} if one.title else {}),
            **{name: to_plain(getattr(one, name)) for name in _OF_MANIFEST},
        }
        lines = self._lines()
        results = [replace(self._result(each), sql=lines[key].sql) for key, each in self.outcomes.items()]
        planned = Counter((each.predictor, each.dialect) for each in results)
        return Run(folder, manifest, results, Extent(planned, one.questions, one.set_questions))

    def statements(self) -> dict[Key, Sequence[str] | None]:
        """Return the statements of each answer that a lab judges, None for one that is missing.

        Raises:
            BadInput: its predictions are not those of its outcomes.
        """
        return {key: line.statements for key, line in self._lines().items()}

    def _lines(self) -> "dict[Key, _Prediction]":
        try:
            lines = [
                to_record(_Prediction, parse_json(line)) for line in self.predictions.split("\n") if line
            ]
        except ValueError as fault:
            raise BadInput(f"a prediction is damaged: {fault}; {_WRONG}") from None
        found = {(one.dialect, one.predictor, one.question_id): one for one in lines}
        if found.keys() != self.outcomes.keys():
            raise BadInput(f"its predictions are not those of its outcomes; {_WRONG}")
        return found

    def _result(self, one: PairOutcome) -> PairResult:
        return PairResult(
            dialect=one.dialect,
            predictor=one.predictor,
            question=one.question,
            question_id=one.question,
            db_id="",
            difficulty=level(one.difficulty, self.evaluated.levels),
            outcome=one.outcome,
            scores=one.scores,
            error_class=one.error_class,
            gold_origin=GoldOrigin.DATASET,
        )


@dataclass(frozen=True)
class _Prediction:
    """A line of `predictions`; `statements` are those of an answer that a lab judges."""

    question_id: str
    predictor: str
    dialect: EngineName
    sql: str | None
    reason: str = ""
    statements: Sequence[str] | None = None


@dataclass(frozen=True)
class Receipt:
    """What executing a bundle again has shown; `digest` is the bundle's, `verified` the time in ISO format.

    `differences` has a line for each pair whose outcome is another, `claims` for each claim that does not
    hold, `notes` what else to know. `engines` and `packages` have the versions that it was executed with.
    """

    digest: str
    verified: str
    confirmed: bool
    pairs: int
    differences: Sequence[Mapping[str, str]]
    claims: Sequence[str]
    notes: Sequence[str]
    engines: Mapping[str, str]
    packages: Mapping[str, str | None]


def untimed(metrics: Iterable[str]) -> list[str]:
    """Select the metrics whose scores do not depend on time."""
    return [name for name in metrics if not METRICS[name].is_timed]


def pack(run: Run, path: Path) -> str:
    """Write a run as a bundle, and return its digest.

    Raises:
        BadInput: the run has pairs that were not judged, was tested on variants, or is of a lab that cannot
            judge it again; or the file cannot be written.
    """
    scores = summarize(run.results, run.manifest.get("metrics", ()), run.extent)
    broken = any(result.outcome is Outcome.HARNESS_ERROR for result in run.results)
    if broken or not run.extent.is_complete(completed(scores)):
        refuse(run.folder, "some of its pairs were not judged", "complete it: bird-harness eval --resume")
    if run.manifest.get("variants") is not None:
        refuse(run.folder, "its variants of databases are not in the run", "run it without --variants")
    outcomes = sorted(map(PairOutcome.of, run.results), key=lambda each: each.key)
    lab = lab_judging(run.manifest.get("metrics") or ())
    if lab is None:
        require_questions(run)
    answers = None if lab is None else at(str(lab.answers))(run)
    predictions = sorted(run.results, key=lambda each: (each.dialect, each.predictor, each.question))
    lines = [_prediction(each, answers) for each in predictions]
    bundle = _File("", {}, _lines(lines), _lines(map(to_plain, outcomes)))
    facts = {name: run.manifest.get(name) for name in (() if lab is None else lab.facts)}
    evaluated = replace(_evaluated(run, scores), facts=facts)
    statement = _statement(bundle.subject, PREDICATE_TYPE, to_plain(evaluated))
    digest = _digest(as_json(statement))
    _write(path, replace(bundle, digest=digest, statement=statement).text)
    return digest


def write_receipt(receipt: Receipt, path: Path, name: str) -> None:
    """Write a receipt about a bundle of that name.

    Raises:
        BadInput: the file cannot be written.
    """
    predicate = to_plain(receipt)
    subject = [{"name": name, "digest": {"sha256": predicate.pop("digest")}}]
    _write(path, as_json(_statement(subject, RECEIPT_TYPE, predicate), indent=1) + "\n")


def read_receipt(path: Path) -> Receipt:
    """Read a receipt.

    Raises:
        BadInput: it is not a receipt.
    """

    def read(record: Any) -> Receipt:
        statement = to_object(record)
        if _kinds(statement) != (STATEMENT_TYPE, RECEIPT_TYPE):
            raise RecordFault(f"its statement is not of a verification: {statement.get('predicateType')}")
        [subject] = to_record(list[_Subject], statement.get("subject"))
        receipt = to_record(
            Receipt, {"digest": subject.digest.get("sha256"), **to_object(statement.get("predicate"))}
        )
        if datetime.fromisoformat(receipt.verified).tzinfo is None:
            raise RecordFault("its time has no time zone")
        return receipt

    return read_record(path, read, "write it again: bird-harness lab verify BUNDLE --out RECEIPT")


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}); choose another --out") from error


@dataclass(frozen=True)
class _Subject:
    name: str
    digest: Mapping[str, str]


def _kinds(statement: Mapping[str, Any]) -> tuple[Any, Any]:
    return statement.get("_type"), statement.get("predicateType")


def _statement(subject: Sequence[Mapping[str, Any]], kind: str, predicate: Any) -> dict[str, Any]:
    return {"_type": STATEMENT_TYPE, "subject": subject, "predicateType": kind, "predicate": predicate}


def read_bundle(path: Path, digest: str | None = None) -> Bundle:
    """Read a bundle, and check that its statement is about what it holds.

    Args:
        path: the file.
        digest: what its digest has to be, if that is known.

    Raises:
        BadInput: it is not a bundle, was changed, or has another digest.
    """
    file = read_text(path, remedy=_WRONG)
    try:
        held = to_record(_File, read_json(file, _WRONG))
    except ValueError as fault:
        refuse(path, str(fault), _WRONG)
    kinds = _kinds(held.statement)
    if kinds != (STATEMENT_TYPE, PREDICATE_TYPE):
        refuse(path, f"its statement is not of an evaluation: {kinds[1]}", "name a file of `submit`")
    if held.digest != _digest(as_json(held.statement)) or file.encoded != held.text.encode():
        refuse(path, "it is not as `submit` wrote it", _WRONG)
    if digest is not None and digest != held.digest:
        refuse(path, f"its digest is sha256:{held.digest}", _WRONG)
    if held.statement.get("subject") != held.subject:
        refuse(path, "its predictions or outcomes are not those of its statement", _WRONG)
    try:
        evaluated = to_record(Evaluated, held.statement.get("predicate"))
        outcomes = [to_record(PairOutcome, parse_json(line)) for line in held.outcomes.splitlines()]
        _check(evaluated, outcomes)
    except (ValueError, BadInput) as fault:
        refuse(path, f"its statement or an outcome is damaged: {fault}", _WRONG)
    found = {each.key: each for each in outcomes}
    planned = sum(score.questions for score in evaluated.scores)
    if len(found) != len(outcomes) or len(found) != planned or planned != held.predictions.count("\n"):
        refuse(path, f"it has {len(found)} outcomes of {planned} pairs", _WRONG)
    return Bundle(held.digest, evaluated, held.predictions, found, held.text)


_SKEW = timedelta(days=1)
"""How far the clocks of two machines may be apart."""


def impossible_date(evaluated: Evaluated, seen: datetime) -> str | None:
    """Say why a run cannot have started when its bundle says; None if it can.

    A date that can be is no proof either: it is the submitter's own.

    Args:
        evaluated: what the bundle says.
        seen: a moment when the bundle was there.
    """
    started = datetime.fromisoformat(evaluated.started)
    says = f"it says that its run started on {started:%Y-%m-%d}"
    if started > seen + _SKEW:
        return f"{says}, and it was there on {seen:%Y-%m-%d}"
    entry = sets_by_name().get(evaluated.set_name)
    if entry is not None and f"{started:%Y-%m-%d}" < entry.released:
        return f"{says}, and {evaluated.set_name} was not published before {entry.released}"
    return None


def is_whole(extent: Extent, gold: PackUse | None) -> bool:
    """Return True if a run is of all questions of its set that its gold pack does not leave out."""
    left_out = 0 if gold is None else gold.excluded + gold.ambiguous
    return extent.questions == extent.set_questions - left_out


def _check(evaluated: Evaluated, outcomes: Sequence[PairOutcome]) -> None:
    """Check the vocabulary of a bundle.

    Raises:
        BadInput, ValueError: it has a word of its own, or lacks a limit.
    """
    known = {*evaluated.metrics} & METRICS.keys()
    strange = [f"{name} is no metric" for name in evaluated.metrics if name not in known]
    strange += [f"{name} is none of its metrics" for one in outcomes for name in one.scores.keys() - known]
    strange += ["it has no limit of seconds"] * ("seconds" not in evaluated.limits)
    if strange:
        raise RecordFault(strange[0])
    if lab_judging(evaluated.metrics) is None:
        Profile(str(evaluated.profile))
        Extract(evaluated.extract)
    if datetime.fromisoformat(evaluated.started).tzinfo is None:
        raise RecordFault("its start has no time zone")
    for one in outcomes:
        kind_of(one.dialect)
        level(one.difficulty, evaluated.levels)


def _evaluated(run: Run, scores: Sequence[Score]) -> Evaluated:
    manifest, extent = run.manifest, run.extent
    settings: dict[str, Any] = {name: manifest.get(name) for name in _OF_MANIFEST}
    return Evaluated(
        set_name=manifest["set"],
        title=title if (title := title_in(manifest)) != manifest["set"] else "",
        levels=levels_in(manifest),
        notes=[*golds_note(manifest), *extraction_note(manifest)],
        extract=manifest.get("extract") or Extract.NONE.value,
        gold=PackUse.of(manifest),
        is_complete=is_whole(extent, PackUse.of(manifest)),
        questions=extent.questions,
        set_questions=extent.set_questions,
        scores=[to_record(ClaimedScore, score.to_json(), others=True) for score in scores],
        **settings,
    )


_OF_MANIFEST = (
    "started", "profile", "metrics", "limits", "engines", "packages", "set_files", "databases", "reference",
    "now",
)  # fmt: skip


def _prediction(result: PairResult, answers: Mapping[Key, Any] | None) -> dict[str, Any]:
    """Return a line of a prediction file, with the statements of an answer that a lab judges."""
    line: dict[str, Any] = {
        "question_id": result.question,
        "predictor": result.predictor,
        "dialect": result.dialect,
    }
    if answers is not None:
        line["statements"] = answers[key_of(result)]
    if result.sql is None:
        return {**line, "sql": None, "reason": result.error or "no answer"}
    return {**line, "sql": result.sql}


def _lines(records: Iterable[Any]) -> str:
    return "".join(f"{as_json(record)}\n" for record in records)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

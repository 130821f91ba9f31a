"""Verify a bundle: execute its predictions again, and compare every pair's outcome and scores."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from dialects.enums import Profile
from dialects.errors import BadInput
from harness.data.outcomes import Outcome, PairResult
from harness.data.published_sets import sets_by_name, title_in
from harness.data.questions import PackUse
from harness.data.set_manifest import LAYOUTS
from harness.engines import EngineName, in_order
from harness.lab import at, lab_judging, lab_of_set
from harness.labs.bundles.bundle import (
    Bundle,
    ClaimedScore,
    PairOutcome,
    Receipt,
    impossible_date,
    is_whole,
    untimed,
)
from harness.runs.folder import here
from harness.runs.reader import levels_in
from harness.runs.summary import Extent, Key
from harness.session.evaluation import Evaluation
from harness.session.plan import prepare
from harness.session.request import Request
from loaders.base.errors import brief
from loaders.base.files import one_line
from loaders.base.records import to_record
from loaders.bulk_load import Progress


class Reason(StrEnum):
    """Why an outcome may differ from the submitted one."""

    TIME = "time"
    """One of the two executions ran into the limit of time, and the submitted one scored nothing."""
    UNPROVEN = "unproven"
    """The submitted one scored, and this one ran into the limit of time."""
    RESULT = "result"
    """The rows, the error or the scores are others."""


@dataclass(frozen=True)
class PairDifference:
    """One pair whose outcome is not the submitted one."""

    submitted: PairOutcome
    executed: PairOutcome
    reason: Reason

    @property
    def line(self) -> str:
        """One line for the user."""
        one, other = self.submitted, self.executed
        name = f"{one.dialect}/{one.predictor}::{one.question}"
        if one.outcome is not other.outcome:
            return f"{name}: {one.outcome} was submitted, {other.outcome} is what executing gives"
        said = [
            f"{metric} {_spelled(one, metric)} was submitted,"
            f" {_spelled(other, metric)} is what executing gives"
            for metric in {**one.scores, **other.scores}
            if one.scores.get(metric) != other.scores.get(metric)
        ]
        return f"{name}: {'; '.join(said) or 'another error class'}"


def _spelled(outcome: PairOutcome, metric: str) -> str:
    return f"{outcome.scores[metric]:g}" if metric in outcome.scores else "undecided"


@dataclass(frozen=True)
class Verification:
    """The result of executing a bundle again.

    `claims` are the statements of the bundle that do not hold, one line each; `notes` has other versions.
    `engines` has the versions that it was executed with.
    """

    digest: str
    pairs: int
    differences: Sequence[PairDifference]
    claims: Sequence[str]
    notes: Sequence[str]
    engines: Mapping[EngineName, str]

    @property
    def is_confirmed(self) -> bool:
        """True if the bundle's claims hold, and no pair differs but by time."""
        return not self.claims and all(each.reason is Reason.TIME for each in self.differences)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "digest": self.digest,
            "confirmed": self.is_confirmed,
            "pairs": self.pairs,
            "differences": [{"reason": each.reason, "says": each.line} for each in self.differences],
            "claims": list(self.claims),
            "notes": list(self.notes),
            "engines": dict(self.engines),
        }

    def receipt(self) -> Receipt:
        """Return the receipt of this verification, with the present time."""
        found = {**self.to_json(), "packages": here()["packages"]}
        return to_record(Receipt, {**found, "verified": datetime.now(UTC).isoformat(timespec="seconds")})


def published_name(bundle: Bundle) -> str:
    """Return the name of a bundle's question set, which is never read as a path.

    Raises:
        BadInput: no set of that name comes with bird-harness or is published.
    """
    name = bundle.evaluated.set_name
    if name not in {*LAYOUTS, *sets_by_name()} and lab_of_set(name) is None:
        raise BadInput(
            one_line(
                f"the bundle is of question set {brief(repr(name))}, which is not a published one; name the"
                " folder or the file of tasks that you have of it with --set"
            )
        )
    return name


def verify(
    bundle: Bundle,
    request: Request,
    *,
    say: Callable[[str], None],
    progress: Progress | None = None,
    databases: Path | None = None,
) -> Verification:
    """Execute every prediction of a bundle again, without the cache; a lab judges its own.

    Args:
        bundle: as read.
        request: the set, its gold pack and the workers; settings of the run are those of the bundle.
        say: called with one line at a time about what is being done.
        progress: called with the rows loaded.
        databases: the folder of the databases, for a file of tasks.

    Raises:
        BadInput: the set, its golds or its databases are not those of the bundle.
        EngineUnavailable: an engine of the bundle is not up.
    """
    evaluated = bundle.evaluated
    if (lab := lab_judging(evaluated.metrics)) is not None:
        answers, is_whole = bundle.statements(), evaluated.is_complete
        judged = at(str(lab.again))(request, databases, evaluated.facts, answers, is_whole=is_whole)
        require_same(bundle, judged[0])
        return compared(bundle, *judged)
    if databases is not None:
        raise BadInput("--databases: belongs to a file of tasks; leave it out")
    with tempfile.TemporaryDirectory() as folder:
        predictions = Path(folder, "predictions.jsonl")
        predictions.write_text(bundle.predictions, encoding="utf-8")
        plan = prepare(_request(bundle, request, predictions), say=say, progress=progress)
    with plan, closing(Evaluation(plan)) as evaluation:
        manifest = plan.manifest()
        require_same(bundle, manifest)
        return compared(bundle, manifest, list(evaluation.results()))


def compared(bundle: Bundle, manifest: Mapping[str, Any], results: Sequence[PairResult]) -> Verification:
    """Compare the outcomes and claims of a bundle with the results of executing it, and their manifest."""
    pairs = [(bundle.outcomes.get(found.key), found) for found in map(PairOutcome.of, results)]
    differences = [
        PairDifference(submitted, found, reason_of(submitted, found))
        for submitted, found in pairs
        if submitted not in (None, found)
    ]
    engines = {name: engine["version"] for name, engine in manifest["engines"].items()}
    date = impossible_date(bundle.evaluated, datetime.now(UTC))
    claims = [*_false_claims(bundle, manifest, {found.key for _, found in pairs}), *([date] if date else [])]
    return Verification(bundle.digest, len(results), differences, claims, [*_notes(bundle, engines)], engines)


def _request(bundle: Bundle, request: Request, predictions: Path) -> Request:
    submitted = bundle.evaluated
    return replace(
        request,
        predictions=[predictions],
        dialects=in_order({outcome.dialect for outcome in bundle.outcomes.values()}),
        metrics=untimed(submitted.metrics),
        profile=Profile(str(submitted.profile)),
        reference=submitted.reference or request.reference,
        now=submitted.now and submitted.now.removesuffix("+00:00"),
        keys=() if submitted.is_complete else sorted({each.question for each in bundle.outcomes.values()}),
        seconds=submitted.limits["seconds"],
        allow_missing=True,
        cache=False,
        report=False,
    )


def require_same(bundle: Bundle, manifest: Mapping[str, Any]) -> None:
    """Refuse to compare what was executed on other golds or databases.

    Raises:
        BadInput: a file of the set, a database or the gold pack has another digest.
    """
    submitted = bundle.evaluated
    for noun, of_bundle, found in (
        ("file", submitted.set_files, manifest["set_files"]),
        ("database", submitted.databases, manifest["databases"]),
        ("gold pack", {"": submitted.gold}, {"": PackUse.of(manifest)}),
    ):
        names = [name for name, digest in of_bundle.items() if digest != found.get(name)]
        if names:
            which = f"the {noun} {brief(', '.join(names))}".strip()
            raise BadInput(
                f"{submitted.set_name}: {which} is not the one that was submitted; name the set of the bundle"
                " with --set, and its gold pack with --gold"
            )


_OF_TIME = {Outcome.PREDICTION_TIMEOUT, Outcome.GOLD_TIMEOUT}


def reason_of(submitted: PairOutcome, executed: PairOutcome) -> Reason:
    """Say why an outcome differs from the submitted one."""
    if not {submitted.outcome, executed.outcome} & _OF_TIME:
        return Reason.RESULT
    if any(submitted.scores.values()):
        return Reason.UNPROVEN if executed.outcome in _OF_TIME else Reason.RESULT
    return Reason.TIME


def _notes(bundle: Bundle, engines: Mapping[EngineName, str]) -> Iterator[str]:
    for name, version in engines.items():
        submitted = bundle.evaluated.engines.get(name, {}).get("version")
        if submitted != version:
            yield f"{name}: submitted with {submitted}, executed with {version}"


def _false_claims(bundle: Bundle, manifest: Mapping[str, Any], executed: AbstractSet[Key]) -> Iterator[str]:
    """Yield a line for each claim of the statement about its outcomes that does not hold.

    The outcomes themselves are compared one by one.
    """
    claimed, extent, engines = bundle.evaluated, Extent.from_manifest(manifest), manifest["engines"]
    for name, said, found in (
        ("questions", claimed.questions, extent.questions),
        ("questions of the set", claimed.set_questions, extent.set_questions),
        ("completeness", claimed.is_complete, is_whole(extent, PackUse.of(manifest))),
        ("levels", list(claimed.levels), list(levels_in(manifest))),
        ("engines", sorted(claimed.engines.keys() & engines), sorted(engines)),
        ("limits", claimed.limits, manifest["limits"]),
        ("title", claimed.title, title_in(manifest) if claimed.title else ""),
    ):
        if said != found:
            yield f"its {name}: {said} was submitted, {found} is right"
    if left := len(executed - bundle.outcomes.keys()):
        yield f"it says that it is of the whole set, and has no outcome for {left:,} of its pairs"
    if more := len(bundle.outcomes.keys() - executed):
        yield f"{more:,} of its outcomes are of no prediction of it"
    scores = {(one.predictor, one.dialect): one for one in claimed.scores}
    for score in bundle.scores():
        whose = f"{score.dialect}/{score.predictor}"
        one = scores.pop((score.predictor, score.dialect), None)
        if one is None:
            yield f"{whose}: it has no scores"
            continue
        right = to_record(ClaimedScore, score.to_json(), others=True)
        if (one.questions, one.outcomes) != (right.questions, right.outcomes):
            yield f"{whose}: its numbers of questions and outcomes are not those of its outcomes"
        if any(one.metrics.get(name) != means for name, means in right.metrics.items()):
            yield f"{whose}: its means are not those of its outcomes"
        if any(one.intervals.get(name) != interval for name, interval in right.intervals.items()):
            yield f"{whose}: its intervals are not those of its outcomes"
    yield from (f"{dialect}/{predictor}: it has no outcomes" for predictor, dialect in scores)

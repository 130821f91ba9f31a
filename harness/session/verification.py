"""Verify a bundle: execute its predictions again, and compare every pair's outcome and scores."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from dialects.enums import Profile
from dialects.errors import BadInput
from harness.data.outcomes import Outcome, PairResult
from harness.engines import in_order
from harness.metrics import METRICS
from harness.runs.bundle import Bundle, PairOutcome
from harness.runs.summary import summarize
from harness.session.plan import Plan, prepare
from harness.session.request import Request
from loaders.base.errors import brief
from loaders.load import Progress


class Reason(StrEnum):
    """Why an outcome may differ from the submitted one."""

    TIME = "time"
    """One of the two executions ran into the limit of time: another machine may take longer."""
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
            f"{metric} {score:g} was submitted, {other.scores.get(metric)} is what executing gives"
            for metric, score in one.scores.items()
            if score != other.scores.get(metric)
        ]
        return f"{name}: {'; '.join(said) or 'another error class'}"


@dataclass(frozen=True)
class Verification:
    """The result of executing a bundle again.

    `claims` are the statements of the bundle that do not hold, one line each; `notes` has other versions.
    """

    digest: str
    pairs: int
    differences: Sequence[PairDifference]
    claims: Sequence[str]
    notes: Sequence[str]

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
        }


def verify(
    bundle: Bundle,
    request: Request,
    *,
    say: Callable[[str], None],
    progress: Progress | None = None,
) -> Verification:
    """Execute every prediction of a bundle again, without the cache.

    Args:
        bundle: as read.
        request: the set, its gold pack and the workers; settings of the run are those of the bundle.
        say: called with one line at a time about what is being done.
        progress: called with the rows loaded.

    Raises:
        BadInput: the set, its golds or its databases are not those of the bundle.
        EngineUnavailable: an engine of the bundle is not up.
    """
    with tempfile.TemporaryDirectory() as folder:
        predictions = Path(folder, "predictions.jsonl")
        predictions.write_text(bundle.predictions, encoding="utf-8")
        plan = prepare(_request(bundle, request, predictions), say=say, progress=progress)
    with plan:
        manifest = plan.manifest()
        _require_same(bundle, manifest)
        results = list(plan.evaluation.run())
    pairs = [(bundle.outcomes.get(found.key), found) for found in map(PairOutcome.of, results)]
    differences = [
        PairDifference(submitted, found, _reason(submitted, found))
        for submitted, found in pairs
        if submitted is not None and not _same(submitted, found)
    ]
    return Verification(
        bundle.digest, len(results), differences, _false_claims(bundle, results), _notes(bundle, plan)
    )


def _request(bundle: Bundle, request: Request, predictions: Path) -> Request:
    submitted = bundle.evaluated
    return replace(
        request,
        predictions=[predictions],
        dialects=in_order({outcome.dialect for outcome in bundle.outcomes.values()}),
        metrics=[name for name in submitted.metrics if METRICS[name].of_timing is None],
        profile=Profile(submitted.profile),
        reference=submitted.reference or request.reference,
        keys=() if submitted.is_complete else sorted({each.question for each in bundle.outcomes.values()}),
        seconds=submitted.limits["seconds"],
        allow_missing=True,
        cache=False,
        report=False,
    )


def _require_same(bundle: Bundle, manifest: Mapping[str, Any]) -> None:
    """Refuse to compare what was executed on other golds or databases.

    Raises:
        BadInput: a file of the set, a database or the gold pack has another digest.
    """
    submitted = bundle.evaluated
    for noun, of_bundle, here in (
        ("file", submitted.set_files, manifest["set_files"]),
        ("database", submitted.databases, manifest["databases"]),
        ("gold pack", {"": submitted.gold}, {"": manifest.get("gold")}),
    ):
        names = [name for name, digest in of_bundle.items() if digest != here.get(name)]
        if names:
            which = f"the {noun} {brief(', '.join(names))}".strip()
            raise BadInput(
                f"{submitted.set_name}: {which} is not the one that was submitted; name the set of the bundle"
                " with --set, and its gold pack with --gold"
            )


def _same(submitted: PairOutcome, executed: PairOutcome) -> bool:
    return (submitted.outcome, submitted.scores, submitted.error_class) == (
        executed.outcome, executed.scores, executed.error_class,
    )  # fmt: skip


_OF_TIME = (Outcome.PREDICTION_TIMEOUT, Outcome.GOLD_TIMEOUT)


def _reason(submitted: PairOutcome, executed: PairOutcome) -> Reason:
    return Reason.TIME if {submitted.outcome, executed.outcome} & set(_OF_TIME) else Reason.RESULT


def _notes(bundle: Bundle, plan: Plan) -> list[str]:
    submitted = bundle.evaluated.engines
    return [
        f"{name}: submitted with {submitted[name]['version']}, executed with {engine.version()}"
        for name, engine in plan.engines.items()
        if submitted[name]["version"] != engine.version()
    ]


def _false_claims(bundle: Bundle, results: Sequence[PairResult]) -> list[str]:
    """Return a line for each predictor whose pairs or means are not those that the statement names.

    The means are those of the submitted outcomes, which are compared one by one.
    """
    submitted = [
        replace(result, outcome=found.outcome, scores=found.scores)
        for result in results
        if (found := bundle.outcomes.get(PairOutcome.of(result).key)) is not None
    ]
    claimed = {(one["predictor"], one["dialect"]): one for one in bundle.evaluated.scores}
    lines = []
    if len(submitted) < len(results):
        left = len(results) - len(submitted)
        lines.append(f"it says that it is of the whole set, and has no outcome for {left:,} of its pairs")
    metrics = [name for name in bundle.evaluated.metrics if METRICS[name].of_timing is None]
    for score in summarize(submitted, metrics):
        one = claimed.pop((score.predictor, score.dialect), {})
        said = {name: one.get("metrics", {}).get(name) for name in score.metrics}
        if one.get("questions") != score.questions or said != score.metrics:
            lines.append(f"{score.dialect}/{score.predictor}: its means are not those of its outcomes")
    lines += [f"{dialect}/{predictor}: it has no outcomes" for predictor, dialect in claimed]
    return lines

"""E6: whether work is counted the same again, and how it goes together with time.

Each text of the right pairs is counted twice, in new sessions. The counts are in the study's folder, too, a
file an engine: its digest is in the table, so that studies on two machines are compared by their digests.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from math import log
from typing import Any

from harness.engines import TITLES, EngineName
from harness.labs.study.base import Analysis, BarChart, ChartBar, Output, RightPair, StudyContext
from harness.labs.study.measures import (
    CountedText,
    PairMeasures,
    counted_for_tau,
    rank_correlation,
    texts_of,
    work_of,
)
from harness.metrics.efficiency import Clock, Timing, reward, tolerant
from harness.report.files import write
from harness.report.table_model import Cell, CellKind, TableModel, columns, row, table
from harness.scoring.tasks import TimingMethod
from loaders.base.files import as_json

_COUNTS = 2
_MOST_SHOWN = 12
"""How many texts of an engine are listed on which work and time disagree."""


@dataclass(frozen=True)
class TimedMatch:
    """A right prediction with the ratio of gold's work to its own (`tau`), and its time next to gold's."""

    pair: RightPair
    tau: float
    timing: Timing

    @property
    def is_apart(self) -> bool:
        """True if the interval of the times excludes 1: one of both is surely faster."""
        low, high = self.timing.low, self.timing.high
        return low is not None and high is not None and not low <= 1 <= high

    @property
    def is_same_reward(self) -> bool:
        """True if both score the same."""
        return reward(tolerant(self.tau)) == self.timing.reward

    @property
    def distance(self) -> float:
        """By which factor the taus differ, as a logarithm."""
        return abs(log(self.tau / self.timing.tau))


def run(context: StudyContext) -> Iterator[Output]:
    """Count every text of the right pairs twice; with `--times`, time the pairs."""
    with closing(PairMeasures(context)) as measures:
        pairs = measures.pairs
        texts = list(dict.fromkeys(text for pair in pairs for text in texts_of(pair)))
        context.expect(_COUNTS * len(texts))
        counts = {text: [measures.counters(text, count) for count in range(_COUNTS)] for text in texts}
        yield _spread(context, counts)
        if not context.with_times:
            return
        context.expect(counted_for_tau(pairs) + len(pairs))
        matches = []
        for pair in pairs:
            tau, timing = measures.tau(pair), measures.timing(pair, TimingMethod.STABLE)
            if tau is not None and timing.error is None and timing.clock is not Clock.IDENTICAL:
                matches.append(TimedMatch(pair, tau, timing))
    engines = list(context.engines)
    yield from correlations(engines, matches)
    if matches:
        yield disagreements(engines, matches)


def _spread(context: StudyContext, counts: Mapping[CountedText, Sequence[Mapping[str, Any]]]) -> TableModel:
    heads = columns(
        "engine",
        ("texts", "texts", CellKind.COUNT),
        ("not counted", "not_counted", CellKind.COUNT),
        ("other counts", "other_counts", CellKind.COUNT),
        ("other work", "other_work", CellKind.COUNT),
        ("largest spread %", "largest_spread"),
    )
    rows = []
    for engine in context.engines:
        some = {text: found for text, found in counts.items() if text.dialect == engine}
        if not some:
            continue
        spreads = [spread for found in some.values() if (spread := spread_of(engine, found)) is not None]
        values = (
            len(some),
            len(some) - len(spreads),
            sum(found[0] != found[1] for found in map(_outcomes, some.values())),
            sum(spread > 0 for spread in spreads),
            Cell(100 * max(spreads) if spreads else None, questions=len(spreads)),
        )
        rows.append(
            row([TITLES[engine], _write_counts(context, engine, some)], values, engine, dialect=engine)
        )
    return table(
        "Work counted twice",
        ["engine", "digest of counts"],
        heads,
        rows,
        "Distinct texts of right predictions and their golds, counted twice, in new sessions.",
        "not counted: one of the two counts at least did not come to its end.",
        "other counts: any counter, or the ending, is another one. other work: so is their weighed sum.",
        "largest spread: the larger work less the smaller one, in % of the smaller one.",
        "digest: of `work-ENGINE.jsonl` of the study's folder, the first counts: equal on two machines",
        "  with the same data, texts and engine versions.",
    )


def spread_of(engine: EngineName, found: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the larger work less the smaller one, as a share of it; None unless each count finished."""
    works = [work for each in found if (work := work_of(engine, each)) is not None]
    if len(works) < len(found):
        return None
    return (max(works) - min(works)) / min(works) if max(works) > min(works) > 0 else 0.0


def _outcomes(found: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the counters or the ending of each count; what an engine says of an ending may vary."""
    return [each.get("counters") or each.get("ending") for each in found]


def _write_counts(
    context: StudyContext, engine: EngineName, counts: Mapping[CountedText, Sequence[Mapping[str, Any]]]
) -> str:
    """Write a line for each text, in order; return the digest of the file."""
    lines = sorted(
        as_json({"database": text.db_id, "text": text.key[-1], "work": _outcomes(found)[0]}) + "\n"
        for text, found in counts.items()
    )
    content = "".join(lines)
    write(context.folder / f"work-{engine}.jsonl", content)
    return sha256(content.encode()).hexdigest()[:16]


def correlations(engines: Sequence[EngineName], matches: Sequence[TimedMatch]) -> Iterator[Output]:
    """Correlate tau by work with tau by time, over pairs of different texts and programs."""
    heads = columns(
        "which",
        ("pairs", "pairs", CellKind.COUNT),
        ("rank correlation", "work_time", CellKind.DIFFERENCE),
        ("same reward %", "same_reward"),
    )
    rows, bars = [], []
    for engine in engines:
        of_engine = [one for one in matches if one.pair.dialect == engine]
        for which, some in (
            ("all", of_engine),
            ("decided", [one for one in of_engine if one.timing.decided]),
            ("apart from 1", [one for one in of_engine if one.is_apart]),
        ):
            found = rank_correlation([one.tau for one in some], [one.timing.tau for one in some])
            same = 100 * sum(one.is_same_reward for one in some) / len(some) if some else None
            values = (len(some), Cell(found, questions=len(some)), Cell(same, questions=len(some)))
            rows.append(row([TITLES[engine], which], values, which, dialect=engine))
            if found is not None:
                bars.append(ChartBar(f"{TITLES[engine]}, {which}", max(0.0, found), f"{found:.2f}"))
    yield table(
        "Work beside time",
        ["engine", "pairs"],
        heads,
        rows,
        "Right predictions that are not gold's text or program, with times as in R-VES stable.",
        "rank correlation: Spearman's, of tau by work with tau by time.",
        "decided: the interval of the times has one reward. apart from 1: the interval leaves 1 out.",
    )
    if bars:
        yield BarChart("Rank correlation of tau by work with tau by time", tuple(bars), 1.0)


def disagreements(engines: Sequence[EngineName], matches: Sequence[TimedMatch]) -> TableModel:
    """List the texts on which work and time disagree most, by engine; equal texts share a row."""
    taus = (("tau by work", "tau_work"), ("by time", "tau_time"), ("low", "tau_low"), ("high", "tau_high"))
    rows = []
    for engine in engines:
        same: dict[tuple[str, str], list[TimedMatch]] = {}
        for one in matches:
            if one.pair.dialect == engine:
                same.setdefault((one.pair.question.key, one.pair.sql), []).append(one)
        for ones in sorted(same.values(), key=lambda ones: -ones[0].distance)[:_MOST_SHOWN]:
            first = ones[0]
            who = ", ".join(one.pair.predictor for one in ones)
            timing, key = first.timing, first.pair.question.key
            values = (first.tau, timing.tau, timing.low, timing.high)
            rows.append(row([TITLES[engine], key, who], values, key, dialect=engine, predictor=who))
    return table(
        "Where work and time disagree most",
        ["engine", "question", "predictors"],
        columns("question", *taus),
        rows,
        f"By the factor between the two taus, {_MOST_SHOWN} texts an engine. low, high: of tau by time.",
    )


PART = Analysis("e6", "Counted work", run, needs_predictions=True)

"""E4: BIRD's two stages: the right answers of every predictor, before and after they are rewritten.

The rules are applied together, without a look at what they save; an answer stays as it is where its rewritten
text is not proven to return the same rows. The best of all texts, chosen by the measurement, is next to it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean
from typing import Any

from harness.engines import TITLES, EngineName
from harness.labs.study.base import Analysis, Output, RightPair, StudyContext
from harness.labs.study.measures import Rewriting, RewrittenForms
from harness.metrics.work import r_ves_work
from harness.report.table_model import Cell, CellKind, TableModel, columns, row, table


@dataclass
class _Scores:
    """The scores of a predictor's right answers on one engine: before, after, and at best."""

    right: int = 0
    rewritten: int = 0
    better: int = 0
    worse: int = 0
    uncounted: int = 0
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    timed_before: list[float] = field(default_factory=list)
    timed_after: list[float] = field(default_factory=list)


def run(context: StudyContext) -> Iterator[Output]:
    """Rewrite every right answer."""
    pairs = context.right_pairs()
    rewriting = Rewriting(context)
    context.expect(len(pairs))
    found = [(pair, rewriting.variants(pair.dialect, pair.question.db_id, pair.sql)) for pair in pairs]
    context.expect(sum(2 + sum(one.holds for one in variants.made) for _, variants in found))
    if context.with_times:
        context.expect(sum(1 + (variants.together is not None) for _, variants in found))
    by_predictor: dict[tuple[EngineName, str], _Scores] = defaultdict(_Scores)
    for pair, variants in found:
        scores = by_predictor[pair.dialect, pair.predictor]
        _add_work(rewriting, pair, variants, scores)
        if context.with_times:
            _add_times(rewriting, pair, variants, scores)
    planned: dict[tuple[EngineName, str], int] = defaultdict(int)
    for result in context.results():
        planned[result.dialect, result.predictor] += 1
    yield _table(context, by_predictor, planned)


def _add_work(rewriting: Rewriting, pair: RightPair, variants: RewrittenForms, scores: _Scores) -> None:
    engine, db_id = pair.dialect, pair.question.db_id
    gold = rewriting.work(engine, db_id, pair.gold)
    own = rewriting.work(engine, db_id, pair.sql)
    works = {one.sql: rewriting.work(engine, db_id, one.sql) for one in variants.made if one.holds}
    scores.right += 1
    scores.rewritten += variants.together is not None
    if not gold or not own:
        scores.uncounted += 1
        return
    after = works.get(variants.together.sql) if variants.together is not None else None
    after = after or own
    before_score, after_score = r_ves_work(gold / own), r_ves_work(gold / after)
    best = min([own, *(work for work in works.values() if work)])
    scores.before.append(before_score)
    scores.after.append(after_score)
    scores.best.append(r_ves_work(gold / best))
    scores.better += after_score > before_score
    scores.worse += after_score < before_score


def _add_times(rewriting: Rewriting, pair: RightPair, variants: RewrittenForms, scores: _Scores) -> None:
    engine, db_id = pair.dialect, pair.question.db_id
    before = _reward(rewriting.timing(engine, db_id, pair.gold, pair.sql))
    after = before
    if variants.together is not None:
        after = _reward(rewriting.timing(engine, db_id, pair.gold, variants.together.sql))
    scores.timed_before.append(before)
    scores.timed_after.append(after)


def _reward(timing: Mapping[str, Any]) -> float:
    return sqrt(timing["reward"])


def _table(
    context: StudyContext,
    by_predictor: Mapping[tuple[EngineName, str], _Scores],
    planned: Mapping[tuple[EngineName, str], int],
) -> TableModel:
    heads = columns(
        "stage",
        ("right", "right", CellKind.COUNT),
        ("rewritten", "rewritten", CellKind.COUNT),
        ("better", "better", CellKind.COUNT),
        ("worse", "worse", CellKind.COUNT),
        ("R-VES by work", "r_ves_work_before"),
        ("after", "r_ves_work_after"),
        ("change", "r_ves_work_change", CellKind.DIFFERENCE),
        ("best of all", "r_ves_work_best"),
    )
    if context.with_times:
        heads += columns(
            "stage",
            ("R-VES stable", "r_ves_stable_before"),
            ("after", "r_ves_stable_after"),
            ("change", "r_ves_stable_change", CellKind.DIFFERENCE),
        )
    rows, uncounted = [], 0
    for (engine, predictor), asked in planned.items():
        scores = by_predictor.get((engine, predictor), _Scores())
        uncounted += scores.uncounted
        counted = asked - scores.uncounted
        before, after, best = (_mean(some, counted) for some in (scores.before, scores.after, scores.best))
        values: list[Cell | float | None] = [scores.right, scores.rewritten, scores.better, scores.worse]
        values += (Cell(one, questions=counted) for one in (before, after, _less(after, before), best))
        if context.with_times:
            timed = [_mean(some, asked) for some in (scores.timed_before, scores.timed_after)]
            values += [*timed, _less(timed[1], timed[0])]
        labels = (predictor, TITLES[engine])
        rows.append(row(labels, values, predictor, dialect=engine, predictor=predictor))
    notes = [
        "R-VES is of all answers, in percent; wrong ones score 0.",
        "after: rewritten by all rules together, without a look at work, where the rows are proven the same.",
        "best of all: of each answer the text that does the least work, chosen by the measurement.",
    ]
    if uncounted:
        notes.append(f"{uncounted} right answers whose work cannot be counted are left out.")
    return table("Right answers before and after rewriting", ["predictor", "engine"], heads, rows, *notes)


def _mean(scores: list[float], asked: int) -> float | None:
    """Return the percentage over all questions; those without a score count 0."""
    return 100 * fmean([*scores, *[0.0] * (asked - len(scores))]) if asked else None


def _less(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


PART = Analysis("e4", "Two stages", run, needs_predictions=True)

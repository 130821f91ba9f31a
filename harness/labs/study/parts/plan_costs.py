"""E5: what plans consist of, how good their estimates are, and whether a plan's cost is a fair score."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.engines import TITLES, EngineName
from harness.engines.plans import Operator, QueryPlan, compare_plans
from harness.labs.study.base import Analysis, BarChart, ChartBar, Output, RightPair, StudyContext
from harness.labs.study.measures import CountedText, q_error, quantile, rank_correlation
from harness.metrics.efficiency import same_text
from harness.metrics.work import ratio
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    TableColumn,
    TableModel,
    TableRow,
    columns,
    row,
    table,
)
from harness.scoring.tasks import ExplainTask, TimeTask, TimingMethod
from harness.scoring.workers import LocalWorkers

_READING = frozenset({
    Operator.SCAN, Operator.INDEX_SCAN, Operator.INDEX_SEARCH, Operator.COVERING_SCAN,
    Operator.COVERING_SEARCH, Operator.BITMAP_SCAN,
})  # fmt: skip
_JOINING = frozenset({Operator.NESTED_LOOP, Operator.HASH_JOIN, Operator.MERGE_JOIN})
_QUANTILES = (0.5, 0.9, 0.99, 1.0)
_CLEAR = 2.0
"""A prediction is clearly faster than gold, or slower, by this factor: the outer rewards of R-VES."""


_NOTES = (
    "Right predictions of another text than gold's, each once a question; ratios are gold over prediction.",
    "cost, work and time: Spearman's rank correlation of the ratios of costs, of units of work, and tau.",
    "Clear pairs: tau is at least 2 or at most 0.5; right: how often the ratio says which of the two.",
)


@dataclass(frozen=True)
class _Held:
    """A right prediction of another text: costs, work and time of gold over the prediction's."""

    dialect: EngineName
    is_same_plan: bool
    tau: float
    cost: float | None
    work: float | None


def run(context: StudyContext) -> Iterator[Output]:
    """Explain every gold and every prediction, and time right predictions next to their golds."""
    golds = {
        CountedText(name, question.db_id, text): None
        for name in context.engines
        for question in context.questions.questions
        if (text := context.gold(question, name)) is not None
    }
    right = [] if not context.files else _distinct(context.right_pairs())
    predicted = dict.fromkeys(
        CountedText(file.dialect, question.db_id, sql)
        for file in context.files
        for question in context.questions.questions
        if (sql := file.predictions.get(question.key)) is not None
    )
    texts = list(dict.fromkeys([*golds, *predicted]))
    context.expect(len(texts) + len(right))
    workers = LocalWorkers(context.setup, 1)
    try:
        plans = {text: _plan(context, workers, text) for text in texts}
        yield _operators(list(context.engines), plans, {"golds": list(golds), "predictions": list(predicted)})
        estimates = list(_estimates(context, plans))
        yield from estimates
        held = [_held(context, workers, plans, pair) for pair in right]
    finally:
        workers.close()
    yield from _costs([one for one in held if one is not None])


def _distinct(pairs: Iterable[RightPair]) -> list[RightPair]:
    """Right predictions whose text is not gold's; each text once for a question."""
    found: dict[tuple[str, str, str], RightPair] = {}
    for pair in pairs:
        if not same_text(pair.sql, pair.gold):
            found.setdefault((pair.dialect, pair.question.key, pair.sql), pair)
    return list(found.values())


def _plan(context: StudyContext, workers: LocalWorkers, text: CountedText) -> QueryPlan:
    def ask() -> dict[str, Any]:
        task = ExplainTask(text.dialect, text.db_id, text.sql, counts=True)
        future: Future[QueryPlan] = workers.submit(task)
        return future.result().to_json()

    return QueryPlan.from_json(context.unit(("plan", *text.key), ask))


def _held(
    context: StudyContext, workers: LocalWorkers, plans: Mapping[CountedText, QueryPlan], pair: RightPair
) -> _Held | None:
    """Return the pair with its time; None if a text could not be timed, or has no plan."""
    gold, prediction = (
        plans.get(CountedText(pair.dialect, pair.question.db_id, sql)) for sql in (pair.gold, pair.sql)
    )
    sql = CountedText(pair.dialect, pair.question.db_id, pair.sql)
    tau = context.unit(("tau", pair.question.key, *sql.key), partial(_tau, workers, pair))
    if tau is None or gold is None or prediction is None or gold.root is None or prediction.root is None:
        return None
    cost = gold.cost / prediction.cost if gold.cost and prediction.cost else None
    work = _work_ratio(pair.dialect, gold, prediction)
    is_same = compare_plans(gold.root, prediction.root).is_same
    return _Held(pair.dialect, is_same, float(tau), cost, work)


def _work_ratio(engine: EngineName, gold: QueryPlan, prediction: QueryPlan) -> float | None:
    """Gold's counted work over the prediction's; None where it is not counted, or has no weights."""
    if gold.counters is None or prediction.counters is None:
        return None
    try:
        return ratio(engine, prediction.counters, gold.counters).tau
    except LookupError:
        return None


def _tau(workers: LocalWorkers, pair: RightPair) -> float | None:
    task = TimeTask(pair.dialect, pair.question.db_id, pair.sql, pair.gold, TimingMethod.STABLE)
    timing = workers.submit(task).result()
    return None if timing.error is not None or timing.tau <= 0 else timing.tau


def _operators(
    engines: Sequence[EngineName],
    plans: Mapping[CountedText, QueryPlan],
    sides: Mapping[str, Sequence[CountedText]],
) -> TableModel:
    """Tabulate the operators in plans of golds and predictions: the share of plans with at least one."""
    found: dict[tuple[EngineName, str], list[frozenset[Operator]]] = {}
    for side, texts in sides.items():
        for text in texts:
            root = plans[text].root
            if root is not None:
                there = frozenset(node.operator for node in root.walk())
                found.setdefault((text.dialect, side), []).append(there)
    groups = tuple(
        ColumnGroup(
            TITLES[engine],
            tuple(TableColumn(f"{side} %", f"plans_of_{side}", "operator") for side in sides),
            engine,
        )
        for engine in engines
    )
    used = [
        operator
        for operator in Operator
        if any(operator in there for some in found.values() for there in some)
    ]
    rows = []
    for operator in used:
        cells = []
        for engine in engines:
            for side in sides:
                some = found.get((engine, side), [])
                count = sum(operator in there for there in some)
                cells.append(Cell(100 * count / len(some), questions=len(some)) if some else None)
        rows.append(TableRow((operator.value,), tuple(cells), "", level=operator.value))
    counted = ", ".join(f"{TITLES[name]} {len(some):,} {side}" for (name, side), some in found.items())
    return TableModel(
        "Operators in plans", ("operator",), groups, tuple(rows), (f"Distinct texts with a plan: {counted}.",)
    )


def _estimates(context: StudyContext, plans: Mapping[CountedText, QueryPlan]) -> Iterator[Output]:
    """By which factor the optimizers' estimates of rows are wrong, step by step."""
    found: dict[tuple[EngineName, str], list[float]] = {}
    for text, plan in plans.items():
        if plan.root is None:
            continue
        for node in plan.root.walk():
            if node.estimated_rows is None or node.real_rows is None or not node.loops:
                continue
            wrong_by = q_error(node.estimated_rows * node.loops, node.real_rows * node.loops)
            kinds = ["all steps"]
            kinds += ["whole query"] if node is plan.root else []
            kinds += ["reading a table"] if node.operator in _READING and node.table else []
            kinds += ["joins"] if node.operator in _JOINING else []
            for kind in kinds:
                found.setdefault((text.dialect, kind), []).append(wrong_by)
    shown = {0.5: "median", 0.9: "90 %", 0.99: "99 %", 1.0: "worst"}
    shares = ((shown[share], f"q_error_{share:g}", CellKind.MEAN) for share in _QUANTILES)
    heads = columns("kind", ("steps", "steps", CellKind.COUNT), *shares)
    rows = [
        row(
            [TITLES[engine], kind],
            [len(values), *(Cell(quantile(values, share), questions=len(values)) for share in _QUANTILES)],
            kind,
            dialect=engine,
        )
        for engine in context.engines
        for kind in ("whole query", "joins", "reading a table", "all steps")
        if (values := found.get((engine, kind)))
    ]
    silent = [TITLES[engine] for engine in context.engines if (engine, "all steps") not in found]
    notes = [
        "q-error: the larger of estimated and real rows over the smaller, at least 1 row each; 1 is right."
    ]
    notes += [f"{', '.join(silent)}: tells no estimates."] if silent else []
    yield table("Estimated against real rows: q-error", ["engine", "of"], heads, rows, *notes)


def _costs(held: Sequence[_Held]) -> Iterator[Output]:
    """Compare the cost of plans with the time of their texts."""
    engines = list(dict.fromkeys(one.dialect for one in held))
    heads = columns(
        "engine",
        ("pairs", "pairs", CellKind.COUNT),
        ("same plan %", "same_plan"),
        ("cost and time", "cost_tau", CellKind.DIFFERENCE),
        ("cost and work", "cost_work", CellKind.DIFFERENCE),
        ("work and time", "work_tau", CellKind.DIFFERENCE),
        ("clear pairs", "clear_pairs", CellKind.COUNT),
        ("cost right %", "cost_right"),
        ("work right %", "work_right"),
    )
    rows, bars = [], []
    for engine in engines:
        of_engine = [one for one in held if one.dialect == engine]
        clear = [one for one in of_engine if one.tau >= _CLEAR or one.tau <= 1 / _CLEAR]
        by_cost = _correlation([(one.cost, one.tau) for one in of_engine])
        by_work = _correlation([(one.work, one.tau) for one in of_engine])
        values = (
            len(of_engine),
            100 * sum(one.is_same_plan for one in of_engine) / len(of_engine),
            by_cost,
            _correlation([(one.cost, one.work) for one in of_engine]),
            by_work,
            len(clear),
            _right([(one.cost, one.tau) for one in clear]),
            _right([(one.work, one.tau) for one in clear]),
        )
        rows.append(row([TITLES[engine]], values, engine, dialect=engine))
        for name, cell in (("cost", by_cost), ("work", by_work)):
            if cell.value is not None:
                bars.append(ChartBar(f"{TITLES[engine]}, {name}", max(0.0, cell.value), f"{cell.value:.2f}"))
    yield table("Is a plan's cost a fair score?", ["engine"], heads, rows, *_NOTES)
    if bars:
        yield BarChart("Rank correlation with measured tau", tuple(bars), 1.0)


def _correlation(pairs: Sequence[tuple[float | None, float | None]]) -> Cell:
    known = [(one, other) for one, other in pairs if one is not None and other is not None]
    return Cell(
        rank_correlation([one for one, _ in known], [other for _, other in known]), questions=len(known)
    )


def _right(pairs: Sequence[tuple[float | None, float]]) -> Cell:
    """Return how often a ratio predicts which is faster; None if it is known of no pair."""
    known = [(ratio, tau) for ratio, tau in pairs if ratio is not None]
    right = sum((ratio > 1) == (tau > 1) and ratio != 1 for ratio, tau in known)
    return Cell(100 * right / len(known) if known else None, questions=len(known))


PART = Analysis("e5", "Plans", run, needs_quiet=True)

"""Tables of task results: rates of the verdicts by category, difficulty and database, and gold's own."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from harness.labs.tasks.judging import GOLD, TaskResult
from harness.metrics.statistics import wilson
from harness.report.table_model import Cell, CellKind, TableModel, TableRow, columns, listed, row, table

_ALL = "all"

_NOTE = (
    "Official: as the scripts count, every task in the denominator. Strict and state: of the tasks that they"
    " decide."
)

_GROUPS: dict[str, Callable[[TaskResult], str | None]] = {
    "": lambda _result: _ALL,
    "category": lambda result: result.category,
    "difficulty": lambda result: result.difficulty,
    "database": lambda result: result.database,
}


def task_tables(results: Sequence[TaskResult], family: str) -> list[TableModel]:
    """Return a table of rates for each grouping, and one of what gold cannot pass.

    Official rates keep every task in the denominator, as the scripts do. The others are of the tasks that
    the verdict decides.
    """
    judged = [result for result in results if result.predictor != GOLD]
    return [
        *(_rates(judged or results, family, by) for by in _GROUPS if _is_known(results, by)),
        _gold_table([result for result in results if result.predictor == GOLD]),
    ]


def _is_known(results: Sequence[TaskResult], by: str) -> bool:
    return any(_GROUPS[by](result) is not None for result in results)


def _rates(results: Sequence[TaskResult], family: str, by: str) -> TableModel:
    heads = columns(
        by or "total",
        ("tasks", "tasks", CellKind.COUNT),
        ("official", "official"),
        ("strict", "strict"),
        ("decided", "strict_decided", CellKind.COUNT),
        ("state", "state"),
        ("decided", "state_decided", CellKind.COUNT),
    )
    title = f"Tasks passed, by the scripts of {family}" + (f", by {by}" if by else "")
    labels = ("predictor", by) if by else ("predictor",)
    notes = () if by else (_NOTE,)
    return table(title, labels, heads, _rows(results, by), *notes)


def _rows(results: Sequence[TaskResult], by: str) -> Iterator[TableRow]:
    group = _GROUPS[by]
    for predictor in dict.fromkeys(result.predictor for result in results):
        own = [result for result in results if result.predictor == predictor]
        for name in sorted({found for result in own if (found := group(result)) is not None}):
            some = [result for result in own if group(result) == name]
            strict = [decided for result in some if (decided := result.strict.passes) is not None]
            state = [result.state for result in some if result.state is not None]
            cells = (
                len(some),
                _share([result.official.passes for result in some]),
                _share(strict),
                len(strict),
                _share(state),
                len(state),
            )
            yield row((predictor, name) if by else (predictor,), cells, name, predictor=predictor, by=by)


def _share(verdicts: Sequence[bool]) -> Cell | None:
    """Return a percentage with its interval; None without verdicts."""
    if not verdicts:
        return None
    low, high = wilson(sum(verdicts), len(verdicts)) or (0.0, 1.0)
    return Cell(100 * sum(verdicts) / len(verdicts), (100 * low, 100 * high))


def _gold_table(golds: Sequence[TaskResult]) -> TableModel:
    """Return how many golds pass as answers, and name those that do not."""
    lines = (
        ("official", [result.task for result in golds if not result.official.passes]),
        ("strict", [result.task for result in golds if result.strict.passes is False]),
        ("state", [result.task for result in golds if result.state is False]),
    )
    heads = columns(
        "verdict", ("tasks", "tasks", CellKind.COUNT), ("gold fails", "gold_fails", CellKind.COUNT)
    )
    rows = [row((name,), (len(golds), len(failing)), name) for name, failing in lines]
    notes = [f"{name}: {listed(failing)}" for name, failing in lines if failing]
    return table("Golds as answers: what nobody can pass", ("verdict",), heads, rows, *notes)


def as_record(result: TaskResult) -> dict[str, Any]:
    """Return the line of a result in `results.jsonl`."""
    found = asdict(result)
    found["official"]["passes"], found["strict"]["passes"] = result.official.passes, result.strict.passes
    return found

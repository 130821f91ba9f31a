"""Spider's measures of a predictor as tables: Exact Matching by hardness, partial matching by component."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from harness.data.outcomes import PairResult
from harness.report.table_model import Cell, CellKind, ColumnGroup, TableColumn, TableModel, TableRow
from harness.runs.summary import ALL, HARDNESS, PARTIAL_FIGURES, by_hardness, em, ex, percent, structures
from harness.sqltree.spider import SpiderPart, totals

_PRINTED = {"accuracy": "accuracy", "recall": "recall", "f1": "F1"}
"""What Spider prints; precision is the same as what it calls accuracy."""


def hardness_grid(rows: Iterable[Sequence[PairResult]]) -> TableModel | None:
    """Exact Matching by hardness, and EX where every result has it; None without a structure.

    Args:
        rows: the results of one predictor on one engine each.
    """
    counted = [(results[0], levels) for results in rows if (levels := by_hardness(results))[ALL]]
    if not counted:
        return None
    has_ex = all(ex(levels[ALL]) is not None for _, levels in counted)
    titles = [title for title in _BY_HARDNESS if title == "EM" or has_ex]
    unread = TableColumn("unread", "pairs", "hardness", "unread", CellKind.COUNT)
    groups = tuple(
        ColumnGroup(title, (*_levels(title.lower(), "hardness"), *([unread] if title == "EM" else [])))
        for title in titles
    )
    _, some = counted[0]
    sizes = ", ".join(f"{level} {len(some[level])}" for level in HARDNESS)
    return TableModel(
        f"{' and '.join(titles)} by Spider's hardness (%)",
        ("predictor",),
        groups,
        tuple(
            TableRow((first.predictor,), tuple(_cells(levels, titles)), first.predictor, first.dialect)
            for first, levels in counted
        ),
        (f"questions: {sizes}",),
    )


def partial_grids(rows: Iterable[Sequence[PairResult]]) -> Iterator[TableModel]:
    """Partial matching, a table a predictor; none for one without a structure.

    Args:
        rows: the results of one predictor on one engine each.
    """
    for results in rows:
        levels = by_hardness(results)
        if levels[ALL]:
            yield _partial_grid(results[0], levels)


def _cells(levels: Mapping[str, list[PairResult]], titles: Sequence[str]) -> Iterator[Cell]:
    for title in titles:
        for level in HARDNESS:
            yield Cell(_BY_HARDNESS[title](levels[level]), questions=len(levels[level]))
        if title == "EM":
            yield Cell(sum(not structure.parsed for structure in structures(levels[ALL])))


def _partial_grid(first: PairResult, levels: Mapping[str, list[PairResult]]) -> TableModel:
    found = {level: totals(structures(results)) for level, results in levels.items()}
    groups = tuple(
        ColumnGroup(title, tuple(_levels(f"partial_{name}", "component and hardness")))
        for name, title in _PRINTED.items()
    )
    return TableModel(
        f"Partial matching (%): {first.predictor}",
        ("component",),
        groups,
        tuple(
            TableRow(
                (part.replace("_", " "),),
                tuple(
                    Cell(percent(PARTIAL_FIGURES[name](found[level][part])))
                    for name in _PRINTED
                    for level in HARDNESS
                ),
                first.predictor,
                first.dialect,
                part,
            )
            for part in SpiderPart
        ),
    )


def _levels(metric: str, by: str) -> Iterator[TableColumn]:
    for level in HARDNESS:
        yield TableColumn(level, metric, by, level, is_total=level == ALL)


_BY_HARDNESS: Mapping[str, Callable[[Sequence[PairResult]], float | None]] = {"EM": em, "EX": ex}
"""What stands beside hardness, by its title."""

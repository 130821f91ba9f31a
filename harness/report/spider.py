"""Spider's measures of a predictor: Exact Matching by hardness, and partial matching by component.

A result counts where it has a `structure`: a prediction for SQLite whose gold could be read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.metrics.spider import Hardness, Part, Structure, Total, totals
from harness.outcomes import PairResult
from harness.report.tables import figure, new_table, table_of_predictors, wide

ALL = "all"
LEVELS = (*Hardness, ALL)
"""The sub-columns of every table here; `all` is every question."""

_FIGURES: Mapping[str, Callable[[Total], float | None]] = {
    "accuracy": lambda total: total.accuracy,
    "recall": lambda total: total.recall,
    "precision": lambda total: total.precision,
    "f1": lambda total: total.f1,
}

_PRINTED = {"accuracy": "accuracy", "recall": "recall", "f1": "F1"}
"""What Spider prints; precision is the same as what it calls accuracy."""

_ANY_WIDTH = 10_000


def summary(results: Iterable[PairResult]) -> Mapping[str, Any]:
    """What `summary.json` says of one predictor; every figure in percent, None where there is none.

    Returns:
        `hardness`: level to `questions`, `unread` (predictions that count as empty), `em`, and `ex`, None
        unless every result has it. `partial`: component to level to `accuracy`, `recall`, `precision` and
        `f1`. Levels are those of `LEVELS`. Empty where no result has a structure.
    """
    levels = _levels(results)
    if not levels[ALL]:
        return {}
    by_level = {level: totals(_structures(found)) for level, found in levels.items()}
    return {
        "hardness": {
            level: {
                "questions": len(found),
                "unread": sum(not structure.parsed for structure in _structures(found)),
                "em": _em(found),
                "ex": _ex(found),
            }
            for level, found in levels.items()
        },
        "partial": {
            part.value: {
                level: {name: _percent(read(parts[part])) for name, read in _FIGURES.items()}
                for level, parts in by_level.items()
            }
            for part in Part
        },
    }


def print_hardness(rows: Iterable[Sequence[PairResult]], console: Console | None = None) -> None:
    """Print Exact Matching by hardness, and EX where every result has it; nothing without a structure.

    Args:
        rows: the results of one predictor on one engine each.
        console: where to print; a new one if None.
    """
    counted = [(results[0].predictor, levels) for results in rows if (levels := _levels(results))[ALL]]
    has_ex = all(_ex(levels[ALL]) is not None for _, levels in counted)
    if counted:
        titles = [title for title in _BY_HARDNESS if title == "EM" or has_ex]
        _print_fitting(lambda shown: _hardness_table(counted, shown), titles, wide(console))


def print_partial(rows: Iterable[Sequence[PairResult]], console: Console | None = None) -> None:
    """Print partial matching, a table a predictor; nothing for one without a structure.

    Args:
        rows: the results of one predictor on one engine each.
        console: where to print; a new one if None.
    """
    for results in rows:
        levels = _levels(results)
        if levels[ALL]:
            by_level = {level: totals(_structures(found)) for level, found in levels.items()}
            make = partial(_partial_table, results[0].predictor, by_level)
            _print_fitting(make, list(_PRINTED), wide(console))


def _print_fitting(make: Callable[[Sequence[str]], Table], names: Sequence[str], console: Console) -> None:
    """Print one table of all figures, or one of each where the terminal is too narrow for that."""
    table = make(names)
    if console.measure(table, options=console.options.update(width=_ANY_WIDTH)).maximum <= console.width:
        console.print(table)
        return
    for name in names:
        console.print(make([name]))


def _hardness_table(
    counted: Sequence[tuple[str, Mapping[str, list[PairResult]]]], titles: Sequence[str]
) -> Table:
    table = table_of_predictors(f"{' and '.join(titles)} by Spider's hardness (%)")
    for title in titles:
        for level in LEVELS:
            _add_column(table, title if level == LEVELS[0] else "", level)
    table.add_column("\nunread", justify="right", no_wrap=True)
    for predictor, levels in counted:
        figures = [figure(_BY_HARDNESS[title](levels[level])) for title in titles for level in LEVELS]
        unread = sum(not structure.parsed for structure in _structures(levels[ALL]))
        table.add_row(Text(predictor), *figures, str(unread))
    _, levels = counted[0]
    table.caption = "questions: " + ", ".join(f"{level} {len(levels[level])}" for level in LEVELS)
    table.caption_justify = "left"
    return table


def _partial_table(
    predictor: str, by_level: Mapping[str, Mapping[Part, Total]], names: Sequence[str]
) -> Table:
    table = new_table("")
    table.title = Text(f"Partial matching (%): {predictor}", style="italic")
    table.add_column("component", no_wrap=True)
    for name in names:
        for level in LEVELS:
            _add_column(table, _PRINTED[name] if level == LEVELS[0] else "", level)
    for part in Part:
        figures = (_percent(_FIGURES[name](by_level[level][part])) for name in names for level in LEVELS)
        table.add_row(part.replace("_", " "), *map(figure, figures))
    return table


def _add_column(table: Table, title: str, level: str) -> None:
    style = "bold" if level == ALL else ""
    table.add_column(f"{title}\n{level}", justify="right", no_wrap=True, style=style)


def _levels(results: Iterable[PairResult]) -> Mapping[str, list[PairResult]]:
    found = [result for result in results if result.structure is not None]
    return {
        str(level): [
            result
            for result in found
            if level == ALL or (result.structure is not None and result.structure.hardness is level)
        ]
        for level in LEVELS
    }


def _structures(results: Iterable[PairResult]) -> list[Structure]:
    return [result.structure for result in results if result.structure is not None]


def _em(results: Sequence[PairResult]) -> float | None:
    exact = [structure.exact for structure in _structures(results)]
    return 100 * sum(exact) / len(exact) if exact else None


def _ex(results: Sequence[PairResult]) -> float | None:
    scores = [result.scores["ex"] for result in results if "ex" in result.scores]
    return 100 * sum(scores) / len(scores) if results and len(scores) == len(results) else None


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


_BY_HARDNESS: Mapping[str, Callable[[Sequence[PairResult]], float | None]] = {"EM": _em, "EX": _ex}
"""What stands beside hardness, by its title."""

"""A comparison on a terminal: a row per metric, then the questions that flipped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from harness.engines import EngineName
from harness.metrics import METRICS
from harness.outcomes import Outcome
from harness.report.differences import Change, Differences, Flip
from harness.report.tables import NAMES, figure, new_table, print_line, print_table, wide
from harness.runs.summary import TOTAL

_HEADS = ("A", "B", "B\N{MINUS SIGN}A", "95 %", "p", "only A\nright", "only B\nright")


@dataclass(frozen=True)
class Side:
    """One predictor on one engine in one run."""

    folder: str
    run_id: str
    predictor: str
    dialect: EngineName

    def __str__(self) -> str:
        return f"{self.predictor} on {NAMES[self.dialect]}"

    def to_json(self) -> dict[str, Any]:
        """`a` or `b` of one entry of `comparisons`."""
        return {
            "folder": self.folder,
            "run_id": self.run_id,
            "predictor": self.predictor,
            "dialect": self.dialect,
        }


@dataclass(frozen=True)
class Comparison:
    """Two sides and what differs."""

    a: Side
    b: Side
    differences: Differences

    @property
    def name(self) -> str:
        """What is compared, in a line."""
        return str(self.b) if str(self.a) == str(self.b) else f"{self.a} and {self.b}"

    def to_json(self) -> dict[str, Any]:
        """One entry of `comparisons`."""
        return {"a": self.a.to_json(), "b": self.b.to_json(), **self.differences.to_json()}


def print_comparisons(
    comparisons: Sequence[Comparison],
    notes: Sequence[str],
    *,
    flips: int | None = None,
    console: Console | None = None,
) -> None:
    """Print the notes, then each comparison.

    Args:
        comparisons: in the order of the output.
        notes: what a reader has to know beforehand, a line each.
        flips: how many questions to list for each direction; None for all.
        console: where to print.
    """
    console = wide(console)
    for note in notes:
        print_line(console, f"note: {note}")
    for comparison in comparisons:
        for line in _head(comparison):
            print_line(console, line)
        print_table(console, _table(comparison.differences.changes))
        for line in _flips(comparison.differences.flips, flips):
            print_line(console, line)
    tests = sum(len(comparison.differences.changes) for comparison in comparisons)
    if tests > 1:
        print_line(
            console, f"{tests} tests: where nothing differs, 1 in 20 has p below 0.05 by chance alone."
        )


def _head(comparison: Comparison) -> Iterator[str]:
    sides = ("A", comparison.a), ("B", comparison.b)
    yield ""
    for letter, side in sides:
        yield f"{letter}: {side}, {side.folder} ({side.run_id})"
    found = comparison.differences
    only = {"A": found.only_a, "B": found.only_b}
    without = "".join(f"; {count} more only in {letter}" for letter, count in only.items() if count)
    yield f"{found.questions} questions in both{without}"
    counts = (
        f"{outcome} {found.outcomes_a.get(outcome, 0)} -> {found.outcomes_b.get(outcome, 0)}"
        for outcome in Outcome
        if outcome in found.outcomes_a or outcome in found.outcomes_b
    )
    yield f"outcomes: {', '.join(counts)}"


def _table(changes: Sequence[Change]) -> Table:
    table = new_table("")
    table.add_column("%", no_wrap=True)
    for head in _HEADS:
        table.add_column(head, justify="right", no_wrap=True)
    for level in dict.fromkeys(level for change in changes for level in levels(change)):
        table.add_column(f"{_HEADS[2]}\n{level}", justify="right", no_wrap=True, style="dim")
    for change in changes:
        test, shown = change.mcnemar, printed(change)
        table.add_row(
            METRICS[change.metric].title,
            *(shown[name] for name in ("a", "b", "total", "interval", "p")),
            *((str(test.only_first), str(test.only_second)) if test else ("", "")),
            *shown["levels"].values(),
            style="bold" if change.is_proven else "",
        )
    return table


def levels(change: Change) -> list[str]:
    """The levels of difficulty that a change has figures of."""
    return [level for level in change.differences if level != TOTAL]


def printed(change: Change) -> dict[str, Any]:
    """The figures of one metric as they are read, on a terminal and in a page: rounded once."""
    return {
        "a": figure(change.a[TOTAL]),
        "b": figure(change.b[TOTAL]),
        "total": _signed(change.total),
        "interval": f"{change.interval[0]:+.1f} to {change.interval[1]:+.1f}" if change.interval else "-",
        "p": _probability(change.p),
        "levels": {level: _signed(change.differences[level]) for level in levels(change)},
    }


def _flips(flips: Sequence[Flip], most: int | None) -> Iterator[str]:
    lost = [(flip, flip.lost) for flip in flips if flip.lost]
    won = [(flip, flip.won) for flip in flips if flip.won]
    for head, listed in (("right in A, wrong in B", lost), ("wrong in A, right in B", won)):
        yield f"{head}: {len(listed) or 'none'}"
        for flip, metrics in listed[:most]:
            titles = ", ".join(METRICS[name].title for name in metrics)
            where = f"{flip.question} ({flip.db_id}, {flip.difficulty})"
            yield f"  {where}: {flip.a} -> {flip.b}; {titles}"
        if most is not None and len(listed) > most:
            yield f"  and {len(listed) - most} more: leave out --flips, or see --json"


def _signed(percent: float | None) -> str:
    if percent is None:
        return "-"
    text = f"{percent:+.2f}"
    return "0.00" if float(text) == 0 else text


def _probability(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"  # noqa: PLR2004 - the last digit that is shown

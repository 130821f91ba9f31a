"""Tables on a terminal: side by side, a row per predictor and a column group per engine."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from harness.outcomes import Outcome
from harness.report.summary import LEVELS, TOTAL, Score
from harness.words import Dialect

_SHORT = {"simple": "simp", "moderate": "mod", "challenging": "chall", "total": "total"}
NAMES = {Dialect.SQLITE: "SQLite", Dialect.MYSQL: "MySQL", Dialect.POSTGRESQL: "PostgreSQL"}
_METRICS = {"ex": "EX"}


_WIDTH_OF_A_FILE = 160
"""Columns to use where the output is no terminal, so that a log keeps every figure."""

_ANY_WIDTH = 10_000


def print_tables(scores: Sequence[Score], metrics: Sequence[str], console: Console | None = None) -> None:
    """Print one table per metric, the counts of outcomes, and the golds that failed.

    The engines stand side by side where the terminal is wide enough, else one below the other.
    """
    console = wide(console)
    dialects = [dialect for dialect in Dialect if any(score.dialect is dialect for score in scores)]
    for metric in metrics:
        table = _metric_table(scores, metric, dialects)
        if console.measure(table, options=console.options.update(width=_ANY_WIDTH)).maximum <= console.width:
            console.print(table)
            continue
        for dialect in dialects:
            console.print(_metric_table(scores, metric, [dialect]))
    console.print(_outcome_table(scores, metrics))
    for dialect in dialects:
        _print_gold_failures(console, dialect, [score for score in scores if score.dialect is dialect])


def wide(console: Console | None = None) -> Console:
    """The console to print tables on: as wide as the terminal, or wide enough for a file."""
    console = console or Console()
    return console if console.is_terminal else Console(width=_WIDTH_OF_A_FILE, file=console.file)


def _metric_table(scores: Sequence[Score], metric: str, dialects: Sequence[Dialect]) -> Table:
    table = Table(title=f"{_METRICS[metric]} (%)", box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    table.add_column("predictor", overflow="fold")
    for dialect in dialects:
        for level in LEVELS:
            first = level == LEVELS[0]
            head = f"{NAMES[dialect] if first else ''}\n{_SHORT[level]}"
            table.add_column(head, justify="right", no_wrap=True, style="bold" if level == "total" else "")
    by_key = {(score.predictor, score.dialect): score for score in scores}
    for predictor in dict.fromkeys(score.predictor for score in scores):
        cells = [predictor]
        for dialect in dialects:
            score = by_key.get((predictor, dialect))
            cells += [_figure(score.metrics[metric][level]) if score else "" for level in LEVELS]
        table.add_row(*cells)
    return table


def _outcome_table(scores: Sequence[Score], metrics: Sequence[str]) -> Table:
    """Counts of outcomes; where some pairs have no score, also the figures without them."""
    seen = [outcome for outcome in Outcome if any(score.outcomes.get(outcome) for score in scores)]
    without = metrics if any(score.scored_questions < score.questions for score in scores) else ()
    table = Table(title="Outcomes (pairs)", box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    table.add_column("predictor", overflow="fold")
    table.add_column("engine")
    for outcome in seen:
        table.add_column(outcome.replace("_", "\n"), justify="right")
    for metric in without:
        table.add_column(f"{_METRICS[metric]} of\nscored", justify="right")
    for score in scores:
        counts = (str(score.outcomes.get(outcome, 0)) for outcome in seen)
        figures = (_figure(score.scored_metrics[metric][TOTAL]) for metric in without)
        table.add_row(score.predictor, NAMES[score.dialect], *counts, *figures)
    return table


def _print_gold_failures(console: Console, dialect: Dialect, scores: Sequence[Score]) -> None:
    failures = {question: error for score in scores for question, error in score.gold_failures.items()}
    if failures:
        text = f"Gold that failed on {NAMES[dialect]}; it counts 0 for everybody, as in the official script:"
        console.print(text, markup=False)
    for question, error in failures.items():
        console.print(f"  {question}: {error}", markup=False, highlight=False)


def _figure(percent: float | None) -> str:
    return "-" if percent is None else f"{percent:.2f}"

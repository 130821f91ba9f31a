"""Tables on a terminal: side by side, a row per predictor and a column group per engine."""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.metrics import METRICS
from harness.outcomes import Outcome
from harness.report.diagnosis import diagnosis_table
from harness.report.spider import print_hardness, print_partial
from harness.report.summary import LEVELS, TOTAL, Score
from harness.report.tables import NAMES, figure, table_of_predictors, wide
from harness.report.timings import timing_table
from harness.statistics import Interval
from harness.words import Dialect

_SHORT = {"simple": "simp", "moderate": "mod", "challenging": "chall", "total": "total"}

_MEASURES: Sequence[Callable[[Sequence[Score]], Table | None]] = (
    lambda scores: diagnosis_table([score.results for score in scores]),
    timing_table,
)
"""Tables of what was found beside the scores, in this order; each None where there is nothing to show."""

_ANY_WIDTH = 10_000
_LISTED = 10
"""How many questions a line names before it only counts."""


def print_tables(scores: Sequence[Score], metrics: Sequence[str], console: Console | None = None) -> None:
    """Print one table per metric, the counts of outcomes, the tables of measures, and the golds that failed.

    The engines stand side by side where the terminal is wide enough, else one below the other.
    """
    console = wide(console)
    for metric in metrics:
        if METRICS[metric].has_score:
            _print_metric(console, scores, metric)
        if metric == "ex_strict" and "ex" in metrics:
            _print_right_by_strict_alone(console, scores)
        if metric == "ts":
            _print_untested(console, scores)
    console.print(_outcome_table(scores, [metric for metric in metrics if METRICS[metric].has_score]))
    for measure in _MEASURES:
        table = measure(scores)
        if table is not None:
            console.print(table)
    rows = [score.results for score in scores]
    if "em" in metrics:
        print_hardness(rows, console)
    if "partial" in metrics:
        print_partial(rows, console)
    for dialect in _dialects(scores):
        _print_gold_failures(console, dialect, [score for score in scores if score.dialect is dialect])


def _dialects(scores: Sequence[Score]) -> list[Dialect]:
    return [dialect for dialect in Dialect if any(score.dialect is dialect for score in scores)]


def _print_metric(console: Console, scores: Sequence[Score], metric: str) -> None:
    scores = [score for score in scores if score.metrics[metric][TOTAL] is not None]
    dialects = _dialects(scores)
    if not dialects:
        return
    table = _metric_table(scores, metric, dialects)
    if console.measure(table, options=console.options.update(width=_ANY_WIDTH)).maximum <= console.width:
        console.print(table)
    else:
        for dialect in dialects:
            console.print(_metric_table(scores, metric, [dialect]))
    _print_without_score(console, scores, metric)


def _print_without_score(console: Console, scores: Sequence[Score], metric: str) -> None:
    """Say what is not in the means: results too large to be aligned, golds that cannot be read."""
    for score in scores:
        without = [result.question for result in score.results if metric not in result.scores]
        if without:
            console.print(
                f"Not in the mean of {score.predictor} on {NAMES[score.dialect]}, too large or unreadable:"
                f" {_listed(without)}",
                markup=False,
                highlight=False,
            )


def _print_untested(console: Console, scores: Sequence[Score]) -> None:
    """Say where TS is no more than EX: pairs that no variant was there for."""
    for score in scores:
        untested = sum(result.compared_variants == 0 for result in score.results)
        if untested:
            console.print(
                f"{score.predictor}: {untested} pairs that EX has right count as right without a variant:"
                " they have the text of gold, or their database has no variant",
                markup=False,
                highlight=False,
            )


def _listed(questions: Sequence[str]) -> str:
    rest = ["..."] if len(questions) > _LISTED else []
    return f"{len(questions)} ({', '.join([*questions[:_LISTED], *rest])})"


def _metric_table(scores: Sequence[Score], metric: str, dialects: Sequence[Dialect]) -> Table:
    table = table_of_predictors(f"{METRICS[metric].title} (%)")
    for dialect in dialects:
        for level in LEVELS:
            first = level == LEVELS[0]
            head = f"{NAMES[dialect] if first else ''}\n{_SHORT[level]}"
            table.add_column(head, justify="right", no_wrap=True, style="bold" if level == "total" else "")
        table.add_column("\n95 %", justify="right", no_wrap=True, style="dim")
    by_key = {(score.predictor, score.dialect): score for score in scores}
    for predictor in dict.fromkeys(score.predictor for score in scores):
        cells: list[str | Text] = [Text(predictor)]
        for dialect in dialects:
            score = by_key.get((predictor, dialect))
            if score is None:
                cells += [""] * (len(LEVELS) + 1)
                continue
            cells += [figure(score.metrics[metric][level]) for level in LEVELS]
            cells.append(_range(score.intervals[metric]))
        table.add_row(*cells)
    return table


def _print_right_by_strict_alone(console: Console, scores: Sequence[Score]) -> None:
    """Name the questions that EX strict has right and EX has wrong."""
    lines = []
    for dialect in _dialects(scores):
        for score in scores:
            alone = [
                result.question
                for result in score.results
                if result.scores.get("ex_strict") == 1.0 and result.scores.get("ex") == 0.0
            ]
            if score.dialect is dialect and alone:
                lines.append(f"  {NAMES[dialect]}, {score.predictor}: {_listed(alone)}")
    if lines:
        head = "Right by EX strict alone: the same by value, or another answer that gold allows:"
        console.print("\n".join((head, *lines)), markup=False, highlight=False)


def _outcome_table(scores: Sequence[Score], metrics: Sequence[str]) -> Table:
    """Counts of outcomes; where some pairs have no score, also the figures without them."""
    seen = [outcome for outcome in Outcome if any(score.outcomes.get(outcome) for score in scores)]
    without = metrics if any(score.scored_questions < score.questions for score in scores) else ()
    table = table_of_predictors("Outcomes (pairs)")
    table.add_column("engine")
    for outcome in seen:
        table.add_column(outcome.replace("_", "\n"), justify="right")
    for metric in without:
        table.add_column(f"{METRICS[metric].title} of scored".replace(" ", "\n"), justify="right")
    for score in scores:
        counts = (str(score.outcomes.get(outcome, 0)) for outcome in seen)
        figures = (figure(score.scored_metrics[metric][TOTAL]) for metric in without)
        table.add_row(Text(score.predictor), NAMES[score.dialect], *counts, *figures)
    return table


def _print_gold_failures(console: Console, dialect: Dialect, scores: Sequence[Score]) -> None:
    failures = {question: error for score in scores for question, error in score.gold_failures.items()}
    if failures:
        text = f"Gold that failed on {NAMES[dialect]}; it counts 0 for everybody, as in the official script:"
        console.print(text, markup=False)
    for question, error in failures.items():
        console.print(f"  {question}: {error}", markup=False, highlight=False)


def _range(interval: Interval | None) -> str:
    return "-" if interval is None else f"{interval[0]:.1f}\N{EN DASH}{interval[1]:.1f}"

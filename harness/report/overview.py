"""The tables of a run: one per metric, engines side by side; then outcomes, error classes and measures."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console

from harness.data.outcomes import Outcome, PairResult, Verdict
from harness.engines import TITLES, EngineName, in_order, kind_of, kinds
from harness.metrics import METRICS, OUTCOME_METRIC, Basis, of_basis
from harness.report.console import print_grids, wide
from harness.report.measures import (
    diagnosis_grid,
    hardness_grid,
    partial_grids,
    repeated_grid,
    timing_grid,
    usage_grid,
    with_usage,
)
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    Mark,
    TableColumn,
    TableModel,
    TableRow,
    listed,
    spelled,
)
from harness.runs.summary import TOTAL, Extent, Score, completed

_SPIDERS_RULE = (
    "As Spider's script does: in an answer a column called value is read as 1, and IS DISTINCT FROM loses a"
    " word, so such answers lose points."
)
_SHORT = {"simple": "simp", "moderate": "mod", "challenging": "chall"}


def overview(
    scores: Sequence[Score], metrics: Sequence[str], extent: Extent | None = None
) -> list[TableModel]:
    """Return every table of a run, in reading order.

    Args:
        scores: the scores of every predictor on every engine.
        metrics: the names of the metrics to show.
        extent: what the run covers; if it is not the whole set, every table says so.
    """
    return marked(_grids(scores, metrics), extent_lines(scores, extent))


def totals(
    scores: Sequence[Score], metrics: Sequence[str], extent: Extent | None = None, notes: Sequence[str] = ()
) -> TableModel:
    """Return the table of the totals of each predictor on each engine, best first.

    Rows are sorted by the first column, then by the next; the notes are whatever a reader of the figures
    needs.

    Args:
        scores: the scores of every predictor on every engine.
        metrics: the names of the metrics to show.
        extent: what the run covers.
        notes: notes about the run as a whole, shown first.
    """
    shown = [
        name
        for name in metrics
        if METRICS[name].has_score and any(score.metrics[name][TOTAL] is not None for score in scores)
    ]
    columns = tuple(
        TableColumn(
            METRICS[name].title,
            name,
            "difficulty",
            TOTAL,
            short=METRICS[name].title.replace(" ", "\n"),
        )
        for name in shown
    )
    dialects = dialects_of(scores)
    figures = {
        (score.predictor, score.dialect, name): score.metrics[name][TOTAL]
        for score in scores
        for name in shown
    }
    rows = []
    for predictor in dict.fromkeys(score.predictor for score in scores):
        whose = [(predictor, dialect, name) for dialect in dialects for name in shown]
        cells = tuple(Cell(figures[each]) if each in figures else None for each in whose)
        rows.append(TableRow((predictor,), cells, predictor))
    rows = _marking_best(sorted(rows, key=_best_first))
    groups = tuple(ColumnGroup(TITLES[dialect], columns, dialect) for dialect in dialects)
    below = (*notes, *extent_lines(scores, extent), *hint_lines(scores))
    return with_usage(TableModel("Totals (%)", ("predictor",), groups, tuple(rows), below), scores)


def _best_first(row: TableRow) -> list[tuple[bool, float]]:
    values = [None if cell is None else cell.value for cell in row.cells]
    return [(value is None, -(value or 0.0)) for value in values]


def _marking_best(rows: Sequence[TableRow]) -> list[TableRow]:
    """Mark the highest figures of each column; figures that print the same share the mark."""
    if len(rows) == 1:
        return list(rows)
    printed = [[_printed(cell) for cell in row.cells] for row in rows]
    highest = [max(filter(None, column), key=float, default="") for column in zip(*printed, strict=True)]
    return [
        replace(
            row,
            cells=tuple(
                replace(cell, mark=Mark.BEST) if cell is not None and text and text == most else cell
                for cell, text, most in zip(row.cells, texts, highest, strict=True)
            ),
        )
        for row, texts in zip(rows, printed, strict=True)
    ]


def _printed(cell: Cell | None) -> str:
    return "" if cell is None or cell.value is None else spelled(cell.value, CellKind.PERCENT)


_WORTH_A_LINE = 0.01
"""Minimum share of answers in fences that is shown on a screen; the tables show all."""


def hint_lines(scores: Sequence[Score]) -> list[str]:
    """Return lines that explain low figures: missing answers, fences, failing golds, pairs not run."""
    lines = [*missing_lines(scores), *fenced_lines(scores, _WORTH_A_LINE), *foreign_lines(scores)]
    for dialect in dialects_of(scores):
        of_engine = [score for score in scores if score.dialect == dialect]
        failing = dict.fromkeys(question for score in of_engine for question in score.gold_failures)
        if failing:
            lines.append(
                f"Gold failed on {TITLES[dialect]} and counts 0 for everybody: {listed(list(failing))}"
            )
        broken = sum(score.outcomes.get(Outcome.HARNESS_ERROR, 0) for score in of_engine)
        if broken:
            lines.append(
                f"{broken:,} of the pairs on {TITLES[dialect]} could not be run and count 0:"
                " --resume runs them again"
            )
    return lines


def noted(grids: Sequence[TableModel], notes: Sequence[str]) -> list[TableModel]:
    """Put notes below the first table."""
    return [
        replace(grid, notes=(*notes, *grid.notes)) if place == 0 else grid for place, grid in enumerate(grids)
    ]


def extent_lines(scores: Sequence[Score], extent: Extent | None) -> list[str]:
    """Return the notes that these scores need if they are not of the whole set."""
    return [] if extent is None else extent.lines(completed(scores), TITLES)


def versions(manifest: Mapping[str, Any], dialects: Iterable[EngineName]) -> list[str]:
    """Return the engines of a run with their short versions."""
    engines = manifest.get("engines")
    found = engines if isinstance(engines, Mapping) else {}
    return [f"{TITLES[dialect]} {_version(found.get(dialect))}".strip() for dialect in dialects]


def _version(engine: Any) -> str:
    return str(engine.get("version", "")).split(" ", 1)[0] if isinstance(engine, Mapping) else ""


def missing_lines(scores: Sequence[Score]) -> list[str]:
    """Return a line for each predictor that did not answer some questions, which count as wrong."""
    lines = []
    for score in scores:
        missing, right = (score.outcomes.get(each, 0) for each in (Outcome.MISSING, Outcome.MATCH))
        if missing:
            lines.append(
                f"{missing:,} of {score.questions:,} answers of {score.predictor} on {TITLES[score.dialect]}"
                f" are missing and count as wrong; {right:,} of the other {score.questions - missing:,} match"
            )
    return lines


def fenced_lines(scores: Sequence[Score], least: float = 0.0) -> list[str]:
    """Return a line for each predictor whose answers fail because of Markdown fences, or prose around them.

    Args:
        scores: of a run.
        least: the minimum share of such answers.
    """
    return [
        f"{score.fenced:,} of {score.questions:,} answers of {score.predictor} on {TITLES[score.dialect]}"
        " are in Markdown fences and fail as they are; to score what is in them: --extract fences"
        for score in scores
        if score.fenced > least * score.questions
    ] + [
        f"{score.raw:,} of {score.questions:,} answers of {score.predictor} on {TITLES[score.dialect]}"
        " look like prose with a query in it and fail as they are; to score the query: --extract answer-1"
        for score in scores
        if score.raw > least * score.questions
    ]


_FOREIGN = 0.1
"""Minimum share of failing answers in another engine's SQL that suggests a mistaken file name."""


def foreign_lines(scores: Sequence[Score]) -> list[str]:
    """Return a line for each predictor whose answers fail in another engine's SQL: a misnamed file."""
    lines = []
    for score in scores:
        found = [idioms for result in score.results if (idioms := _foreign(result))]
        if len(found) < max(2, _FOREIGN * score.questions):
            continue
        whose: Counter[EngineName] = Counter()
        for idioms in found:
            whose.update(idioms)
        most = max(whose.values())
        engines = " or ".join(TITLES[engine] for engine in in_order(whose) if whose[engine] == most)
        lines.append(
            f"{len(found):,} of {score.questions:,} answers of {score.predictor} on {TITLES[score.dialect]}"
            f" fail and are written as for {engines}: is the file named for the right engine?"
        )
    return lines


def _foreign(result: PairResult) -> dict[EngineName, int]:
    """Count other engines' SQL in a failed text, by engine; empty if it has any of its own engine's."""
    if result.outcome is not Outcome.PREDICTION_ERROR or result.sql is None:
        return {}
    text = result.sql.replace("```", "").lower()
    own = kind_of(result.dialect).idioms
    if any(idiom in text for idiom in own):
        return {}
    found = {kind.name: sum(idiom in text for idiom in kind.idioms) for kind in kinds()}
    return {engine: count for engine, count in found.items() if count}


def marked(grids: Iterable[TableModel], lines: Sequence[str]) -> list[TableModel]:
    """Add these lines as first notes to each table, so that each is complete in itself."""
    return [replace(grid, notes=(*lines, *grid.notes)) for grid in grids]


def _grids(scores: Sequence[Score], metrics: Sequence[str]) -> list[TableModel]:
    rows = [score.results for score in scores]
    usage = usage_grid(scores, metrics)
    measures = [diagnosis_grid(rows), timing_grid(scores), repeated_grid(scores, metrics)]
    if of_basis(metrics, Basis.STRUCTURE):
        measures.append(hardness_grid(rows))
    return [
        *_metric_grids(scores, metrics),
        *([usage] if usage else ()),
        _outcome_grid(scores, [metric for metric in metrics if METRICS[metric].has_score]),
        *(grid for grid in measures if grid is not None),
        *(() if all(METRICS[metric].has_score for metric in metrics) else partial_grids(rows)),
    ]


def dialects_of(scores: Sequence[Score]) -> list[EngineName]:
    """Return the engines of these scores, in the order of the tables."""
    return in_order(score.dialect for score in scores)


def _metric_grids(scores: Sequence[Score], metrics: Sequence[str]) -> Iterator[TableModel]:
    for metric in metrics:
        if not METRICS[metric].has_score:
            continue
        having = [score for score in scores if score.metrics[metric][TOTAL] is not None]
        if not having:
            continue
        # A verdict may be undecided, which its number of pairs shows.
        is_verdict = METRICS[metric].basis is Basis.VERDICT
        notes = [] if is_verdict else list(_without_score(having, metric))
        if METRICS[metric].basis is Basis.ANSWERS and OUTCOME_METRIC in metrics:
            notes += _right_alone(scores, metric)
        if METRICS[metric].basis is Basis.VARIANTS:
            notes += _untested(scores)
        if METRICS[metric].basis is Basis.SUITE:
            notes.append(_SPIDERS_RULE)
        if METRICS[metric].basis is Basis.WITNESSES:
            notes += _refuted(having)
        yield _metric_grid(having, metric, notes)


def level_columns(levels: Iterable[str], metric: str, by: str = "difficulty") -> tuple[TableColumn, ...]:
    """Return a column of percentages for each level of difficulty, or the total."""
    return tuple(
        TableColumn(level, metric, by, level, short=_SHORT.get(level, level), is_total=level == TOTAL)
        for level in levels
    )


def _metric_grid(scores: Sequence[Score], metric: str, notes: Sequence[str]) -> TableModel:
    levels = list(scores[0].metrics[metric])
    columns = level_columns(levels, metric)
    total = replace(columns[-1], has_interval=True, has_questions=is_partial(scores, metric))
    columns = (*columns[:-1], total)
    dialects = dialects_of(scores)
    by_key = {(score.predictor, score.dialect): score for score in scores}
    rows = []
    for predictor in dict.fromkeys(score.predictor for score in scores):
        found = [by_key.get((predictor, dialect)) for dialect in dialects]
        cells = (cell for score in found for cell in _cells(score, metric, levels))
        rows.append(TableRow((predictor,), tuple(cells), predictor))
    groups = tuple(ColumnGroup(TITLES[dialect], columns, dialect) for dialect in dialects)
    return TableModel(f"{METRICS[metric].title} (%)", ("predictor",), groups, tuple(rows), tuple(notes))


def _cells(score: Score | None, metric: str, levels: Sequence[str]) -> Iterator[Cell | None]:
    if score is None:
        yield from [None] * len(levels)
        return
    counts = Counter(str(result.difficulty) for result in score.results if metric in result.scores)
    counts[TOTAL] = counts.total()
    for level in levels:
        interval = score.intervals[metric] if level == TOTAL else None
        yield Cell(score.metrics[metric][level], interval, counts[level])


def scored(score: Score, metric: str) -> int:
    """Return the number of pairs in the mean of a metric."""
    return sum(metric in result.scores for result in score.results)


def is_partial(scores: Sequence[Score], metric: str) -> bool:
    """Return True if a mean of the metric excludes pairs; then every mean is shown with its count."""
    return any(0 < scored(score, metric) < len(score.results) for score in scores)


def _without_score(scores: Sequence[Score], metric: str) -> Iterator[str]:
    """Yield notes about pairs outside of the means: too large results, unreadable golds, uncounted work."""
    why = _WITHOUT_SCORE.get(METRICS[metric].basis, "too large or unreadable")
    for score in scores:
        without = [result.question for result in score.results if metric not in result.scores]
        if without:
            whose = f"{score.predictor} on {TITLES[score.dialect]}"
            yield f"Not in the mean of {whose}, {why}: {listed(without)}"


_WITHOUT_SCORE = {
    Basis.WORK: "whose work was not counted",
    Basis.WITNESSES: "whose witnesses could not be executed",
}


def _refuted(scores: Sequence[Score]) -> Iterator[str]:
    """Yield the verdicts on right answers."""
    for score in scores:
        tested = [result.tested for result in score.results if result.tested is not None]
        counts = Counter(one.verdict for one in tested)
        plausible = sum(bool(one.plausible) for one in tested)
        yield (
            f"{score.predictor} on {TITLES[score.dialect]}: of {len(tested)} right answers, witnesses refute"
            f" {counts[Verdict.REFUTED]}, {plausible} of them plausibly; {counts[Verdict.EQUAL]} are equal to"
            f" gold by proof, {counts[Verdict.UNDECIDED]} undecided"
        )
    yield "Plausibly: nothing in the witness contradicts the NULLs, numbers and values of the real database"


def _untested(scores: Sequence[Score]) -> Iterator[str]:
    """Yield notes about scores on variants that equal EX because no variant applied."""
    for score in scores:
        untested = sum(result.compared_variants == 0 for result in score.results)
        if untested:
            yield (
                f"{score.predictor}: {untested} pairs that EX has right count as right without a variant:"
                " they have the text of gold, or their database has no variant"
            )


def _right_alone(scores: Sequence[Score], metric: str) -> list[str]:
    """List the questions that are right by a metric that accepts other answers, but wrong by EX."""
    lines = []
    for dialect in dialects_of(scores):
        for score in scores:
            alone = [
                result.question
                for result in score.results
                if result.scores.get(metric) == 1.0 and result.scores.get(OUTCOME_METRIC) == 0.0
            ]
            if score.dialect == dialect and alone:
                lines.append(f"  {TITLES[dialect]}, {score.predictor}: {listed(alone)}")
    head = f"Right by {METRICS[metric].title} alone: the same by value, or another answer that gold allows:"
    return [head, *lines] if lines else []


_EXTENT = [TableColumn(name, "pairs", "extent", name, CellKind.COUNT) for name in ("planned", "completed")]
"""Columns of a run that lacks planned pairs."""


def _outcome_grid(scores: Sequence[Score], metrics: Sequence[str]) -> TableModel:
    """Return a table of outcomes; if some pairs have no score, with the figures without them."""
    seen = [outcome for outcome in Outcome if any(score.outcomes.get(outcome) for score in scores)]
    without = metrics if any(score.scored_questions < score.questions for score in scores) else ()
    is_part = any(score.questions < score.planned for score in scores)
    columns = _EXTENT if is_part else []
    columns = [
        *columns,
        *(
            TableColumn(outcome.replace("_", " "), "pairs", "outcome", outcome, CellKind.COUNT)
            for outcome in seen
        ),
    ]
    columns += [
        TableColumn(f"{METRICS[metric].title} of scored", metric, "scored questions", TOTAL)
        for metric in without
    ]
    rows = []
    for score in scores:
        cells = [Cell(score.planned), Cell(score.questions)] if is_part else []
        cells += [Cell(score.outcomes.get(outcome, 0)) for outcome in seen]
        cells += [
            Cell(score.scored_metrics[metric][TOTAL], questions=score.scored_questions) for metric in without
        ]
        labels = score.predictor, TITLES[score.dialect]
        rows.append(TableRow(labels, tuple(cells), score.predictor, score.dialect))
    return TableModel(
        "Outcomes (pairs)",
        ("predictor", "engine"),
        (ColumnGroup("", tuple(columns)),),
        tuple(rows),
        (*fenced_lines(scores), *foreign_lines(scores), *_gold_failures(scores)),
    )


def _gold_failures(scores: Sequence[Score]) -> Iterator[str]:
    for dialect in dialects_of(scores):
        found = [score.gold_failures for score in scores if score.dialect == dialect]
        failures = {question: error for each in found for question, error in each.items()}
        if failures:
            where = TITLES[dialect]
            yield f"Gold that failed on {where}; it counts 0 for everybody, as in the official script:"
        for question, error in failures.items():
            yield f"  {question}: {' '.join(error.split())}"


def print_tables(
    scores: Sequence[Score],
    metrics: Sequence[str],
    console: Console | None = None,
    extent: Extent | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Print every table of a run, with notes on its extent if it is not the whole set."""
    print_grids(noted(overview(scores, metrics, extent), notes), console)


def print_scores(  # noqa: PLR0913 - what to print, and how much of it
    scores: Sequence[Score],
    metrics: Sequence[str],
    *,
    everything: bool | None = None,
    console: Console | None = None,
    extent: Extent | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Print the scores of a run: every table or the totals; by default totals on a terminal, else all.

    A log keeps everything; whatever scrolls off a screen is in the run folder.
    """
    console = wide(console)
    if not console.is_terminal if everything is None else everything:
        print_tables(scores, metrics, console, extent, notes)
    else:
        print_grids([totals(scores, metrics, extent, notes)], console, is_narrow=True)

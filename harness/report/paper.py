"""One table for a paper: predictors in rows, metrics by engine in columns, with published figures.

Its caption has what a reader needs: question set, engines, versions, the meaning of the marks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dialects.errors import BadInput
from harness.data.published_scores import PublishedTotals
from harness.data.published_sets import title_in
from harness.engines import TITLES, EngineName, in_order
from harness.metrics import METRICS
from harness.metrics.statistics import SIGNIFICANT
from harness.report.comparison import differences
from harness.report.documents import extents, run_id_of, scores_of
from harness.report.measures import USAGE_COLUMNS, is_known, with_usage
from harness.report.overview import extent_lines, versions
from harness.report.table_model import (
    DAGGER,
    Cell,
    CellKind,
    ColumnGroup,
    Document,
    Mark,
    TableColumn,
    TableModel,
    TableRow,
    spelled,
)
from harness.runs.reader import Run, databases_note, golds_note
from harness.runs.summary import TOTAL, Score

INTERVAL, COUNT = "interval", "n"
"""Optional columns next to a total: its 95 % interval, and the number of questions in the mean."""

ANCHOR = "tab:text-to-sql"
"""The LaTeX label of the table."""

OTHER_DATABASES = "\N{DOUBLE DAGGER}"
"""Mark of own predictors if the databases are not the published ones."""

_SIDE_BY_SIDE = 12
"""Maximum number of columns of figures with engines side by side."""


@dataclass(frozen=True)
class PaperRequest:
    """The contents of the table; an empty field means everything.

    `predictors` keeps its order; by default the best comes first. `columns` are levels of difficulty,
    `total`, `interval` and `n`; `tokens`, `seconds` and `cost` if the run has them.
    """

    metrics: Sequence[str] = ()
    engines: Sequence[str] = ()
    predictors: Sequence[str] = ()
    columns: Sequence[str] = (TOTAL,)


@dataclass(frozen=True)
class Line:
    """A row of the table: an own predictor's scores by engine, or published figures.

    In a table of several sets, the keys are the names of the sets instead of engines.
    """

    name: str
    predictor: str
    scores: Mapping[EngineName, Score]
    published: Mapping[tuple[str, EngineName], float]

    @property
    def is_own(self) -> bool:
        """True for an own predictor."""
        return bool(self.scores)

    def total(self, metric: str, dialect: EngineName) -> float | None:
        """Return the total in percent, or None."""
        if self.is_own:
            score = self.scores.get(dialect)
            return score.metrics[metric][TOTAL] if score else None
        return self.published.get((METRICS[metric].published_as or "", dialect))


Place = tuple[int, str, EngineName]
"""The key of a figure: index of its line, metric, engine."""


def paper(run: Run, asked: PaperRequest, published: Sequence[PublishedTotals] = ()) -> Document:
    """Return the table of a run.

    Args:
        run: the run.
        asked: what to show.
        published: published figures to show next to those of the run.

    Raises:
        BadInput: something requested does not exist.
    """
    scores = [score for score in scores_of(run) if score.questions]
    there = [
        name
        for name in METRICS
        if any(score.metrics.get(name, {}).get(TOTAL) is not None for score in scores)
    ]
    if not there:
        raise BadInput(f"{run.folder}: the run has no score for a table")
    metrics = chosen("--metrics", asked.metrics, there)
    dialects = in_order(chosen("--engines", asked.engines, in_order(score.dialect for score in scores)))
    taken = USAGE_COLUMNS if is_known(scores) else ()
    columns = chosen("--columns", asked.columns, [*scores[0].metrics[there[0]], INTERVAL, COUNT, *taken])
    columns = [name for name in columns if name not in taken or name in asked.columns]
    usage = [name for name in columns if name in taken]
    columns = [name for name in columns if name not in taken]
    lines = _lines(scores, published, dialects, metrics)
    if asked.predictors:
        names = chosen("--predictors", asked.predictors, [line.name for line in lines])
        lines = [line for name in names for line in lines if line.name == name]
    marks, said = marks_of(lines, dialects, metrics)
    caution = databases_note(run.manifest, are_named=False)
    head = " and ".join(
        filter(None, [", ".join(METRICS[name].title for name in metrics[:-1]), METRICS[metrics[-1]].title])
    )
    table = (
        _stacked if len(dialects) * (len(metrics) * len(columns) + len(usage)) > _SIDE_BY_SIDE else _beside
    )
    grid = table(lines, dialects, [MetricColumns(name, tuple(columns)) for name in metrics], marks)
    grid = with_usage(grid, scores, usage)
    if caution:
        grid = replace(grid, rows=tuple(map(_with_caution, grid.rows)))
    notes = (
        *extent_lines(scores, run.extent),
        *_about(run, dialects),
        *golds_note(run.manifest),
        *said,
        *grid.notes,
        *(f"{OTHER_DATABASES} {line}" for line in caution),
        *_of_others(lines),
    )
    grid = replace(grid, title=f"{head} (%) on {title_in(run.manifest)}", notes=notes, anchor=ANCHOR)
    return Document(run_id_of(run), (), (grid,), extent=extents(scores))


def chosen(option: str, asked: Sequence[str], there: Sequence[str]) -> list[str]:
    """Return the requested values, each once; all values if none is requested.

    Raises:
        BadInput: a requested value does not exist.
    """
    known = list(dict.fromkeys(there))
    for name in asked:
        if name not in known:
            raise BadInput(f"{option} {name}: not in this run; choose from {', '.join(known)}")
    return list(dict.fromkeys(asked)) or known


def _lines(
    scores: Sequence[Score],
    published: Sequence[PublishedTotals],
    dialects: Sequence[EngineName],
    metrics: Sequence[str],
) -> list[Line]:
    """Return a line for each predictor, preceded by its published figures; the best first."""
    names = {one.file_stem: one.predictor for one in published}
    shown = {METRICS[metric].published_as for metric in metrics}
    lines = []
    for predictor in dict.fromkeys([*names, *(score.predictor for score in scores)]):
        totals: dict[tuple[str, EngineName], float] = {
            (one.metric, dialect): total
            for one in published
            if one.file_stem == predictor and one.metric in shown
            for dialect, total in one.totals.items()
            if dialect in dialects
        }
        own = {
            score.dialect: score
            for score in scores
            if score.predictor == predictor and score.dialect in dialects
        }
        name = names.get(predictor, predictor)
        lines += [Line(name, predictor, {}, totals)] if totals else []
        lines += [Line(name, predictor, own, {})] if own else []

    def rank(line: Line) -> tuple[list[float], str]:
        mine = next((one for one in lines if one.is_own and one.predictor == line.predictor), line)
        totals = (mine.total(metric, dialect) for metric in metrics for dialect in dialects)
        return [1.0 if total is None else -total for total in totals], line.predictor

    return sorted(lines, key=rank)


def marks_of(
    lines: Sequence[Line], dialects: Sequence[EngineName], metrics: Sequence[str]
) -> tuple[dict[Place, Mark], list[str]]:
    """Mark the best figures of each column and those not distinguishable from them; explain the marks."""
    marks: dict[Place, Mark] = {}
    paired = by_interval = 0
    for metric in metrics:
        for dialect in dialects:
            found = [(number, line.total(metric, dialect)) for number, line in enumerate(lines)]
            totals = {number: total for number, total in found if total is not None}
            if len(totals) < 2:  # noqa: PLR2004 - nothing to compare one with
                continue
            best = _best(totals)
            own = next((lines[number].scores[dialect] for number in best if lines[number].is_own), None)
            for number in totals:
                if number in best:
                    marks[number, metric, dialect] = Mark.BEST
                elif lines[number].is_own:
                    score = lines[number].scores[dialect]
                    paired, by_interval = paired + (own is not None), by_interval + (own is None)
                    apart = (
                        differ(own, score, metric) if own else _excludes(score, metric, max(totals.values()))
                    )
                    if not apart:
                        marks[number, metric, dialect] = Mark.NOT_DISTINGUISHABLE
    return marks, list(_meaning(set(marks.values()), paired, by_interval))


def _best(totals: Mapping[int, float]) -> list[int]:
    """Return the indices of the best printed figures, ties included."""
    most = spelled(max(totals.values()), CellKind.PERCENT)
    return [number for number, total in totals.items() if spelled(total, CellKind.PERCENT) == most]


def differ(best: Score, other: Score, metric: str) -> bool:
    """Return True if two scores differ significantly on the questions that both have."""
    of_best, of_other = ([one for one in score.results if metric in one.scores] for score in (best, other))
    found = differences(of_best, of_other, [metric])
    return found is not None and found.changes[0].is_proven


def _excludes(score: Score, metric: str, total: float) -> bool:
    """Return True if a published total is outside of a score's interval."""
    interval = score.intervals[metric]
    return interval is None or not interval[0] <= total <= interval[1]


def _meaning(marks: set[Mark], paired: int, by_interval: int) -> Iterator[str]:
    if Mark.BEST in marks:
        yield "Bold: the best of its column."
    if Mark.NOT_DISTINGUISHABLE in marks:
        ways = []
        if paired:
            ways.append(
                f"p \N{GREATER-THAN OR EQUAL TO} {SIGNIFICANT} in a paired test on the same questions,"
                f" {paired} tests without correction"
            )
        if by_interval:
            ways.append("a published best within the 95 % interval")
        how = "; ".join(ways)
        yield f"{DAGGER} Not distinguishable from the best of its column ({how})."


def _about(run: Run, dialects: Sequence[EngineName]) -> Iterator[str]:
    """Yield the facts of the run: question file, engines, versions."""
    manifest = run.manifest
    seconds = (manifest.get("limits") or {}).get("seconds")
    files = [f"{name} {str(digest)[:8]}" for name, digest in (manifest.get("set_files") or {}).items()]
    facts = [
        f"{manifest.get('questions')} questions",
        *files[:1],
        f"profile {profile}" if (profile := manifest.get("profile")) else "",
        f"limit {seconds:g} s" if isinstance(seconds, int | float) else "",
    ]
    yield f"{', '.join(filter(None, facts))}."
    harness = (manifest.get("packages") or {}).get("bird-harness")
    revision = str(manifest.get("revision") or "")[:8]
    own = f"bird-harness {harness}" + (f" ({revision})" if revision else "") if harness else ""
    yield f"{', '.join(filter(None, [*versions(run.manifest, dialects), own]))}."


def _of_others(lines: Sequence[Line]) -> Iterator[str]:
    shown = {metric for line in lines for metric, _ in line.published}
    if shown:
        times = "; its times were measured on another machine" if "r_ves" in shown else ""
        yield f"Source published: as its authors report it{times}. A dash: nothing is published."


@dataclass(frozen=True)
class MetricColumns:
    """The columns of a metric on one engine."""

    name: str
    columns: tuple[str, ...]

    def heads(self, *, is_named: bool) -> tuple[TableColumn, ...]:
        """Return its columns; `is_named`: with the metric's name in the heads."""
        return tuple(self._column(level, is_named=is_named) for level in self._levels)

    @property
    def _levels(self) -> list[str]:
        """Return the levels of difficulty, and the total if it or a column next to it is requested."""
        beside = {INTERVAL, COUNT, TOTAL}
        levels = [column for column in self.columns if column not in beside]
        return [*levels, TOTAL] if beside & {*self.columns} else levels

    def _column(self, level: str, *, is_named: bool) -> TableColumn:
        title = METRICS[self.name].title
        head = title if level == TOTAL and is_named else f"{title} {level}" if is_named else level
        is_total = level == TOTAL
        return TableColumn(
            head,
            self.name,
            "difficulty",
            level,
            has_interval=is_total and INTERVAL in self.columns,
            has_questions=is_total and COUNT in self.columns,
        )

    def cells(self, line: Line, dialect: EngineName, mark: Mark | None) -> Iterator[Cell | None]:
        """Yield the figures of a line, None for each that it lacks; the total has the mark."""
        score = line.scores.get(dialect)
        for level in self._levels:
            if not line.is_own:
                yield Cell(line.total(self.name, dialect), mark=mark) if level == TOTAL else Cell(None)
            elif score is None:
                yield None
            elif level == TOTAL:
                count = sum(self.name in result.scores for result in score.results)
                yield Cell(score.metrics[self.name][TOTAL], score.intervals[self.name], count, mark)
            else:
                yield Cell(score.metrics[self.name][level])


def _beside(
    lines: Sequence[Line],
    dialects: Sequence[EngineName],
    metrics: Sequence[MetricColumns],
    marks: Mapping[Place, Mark],
) -> TableModel:
    """Engines side by side."""
    heads = tuple(column for metric in metrics for column in metric.heads(is_named=True))
    rows = []
    for number, line in enumerate(lines):
        cells = tuple(
            cell
            for dialect in dialects
            for metric in metrics
            for cell in metric.cells(line, dialect, marks.get((number, metric.name, dialect)))
        )
        rows.append(TableRow(_labels(line, lines), cells, line.predictor, by=_by(line)))
    groups = tuple(ColumnGroup(TITLES[dialect], heads, dialect) for dialect in dialects)
    return TableModel("", _label_heads(lines), groups, tuple(rows))


def _stacked(
    lines: Sequence[Line],
    dialects: Sequence[EngineName],
    metrics: Sequence[MetricColumns],
    marks: Mapping[Place, Mark],
) -> TableModel:
    """Engines one below the other."""
    groups = tuple(
        ColumnGroup(METRICS[metric.name].title, metric.heads(is_named=False)) for metric in metrics
    )
    rows = []
    for dialect in dialects:
        for number, line in enumerate(lines):
            if dialect not in line.scores and all(engine != dialect for _, engine in line.published):
                continue
            cells = tuple(
                cell
                for metric in metrics
                for cell in metric.cells(line, dialect, marks.get((number, metric.name, dialect)))
            )
            labels = (TITLES[dialect], *_labels(line, lines))
            rows.append(TableRow(labels, cells, line.predictor, dialect, by=_by(line)))
    return TableModel("", ("engine", *_label_heads(lines)), groups, tuple(rows))


def _has_sources(lines: Sequence[Line]) -> bool:
    return any(not line.is_own for line in lines)


def _label_heads(lines: Sequence[Line]) -> tuple[str, ...]:
    return ("predictor", "source") if _has_sources(lines) else ("predictor",)


def _labels(line: Line, lines: Sequence[Line]) -> tuple[str, ...]:
    if not _has_sources(lines):
        return (line.name,)
    return line.name, "own" if line.is_own else "published"


def _by(line: Line) -> str:
    """Return the `by` of a row's figures, for programs; empty for that of the column."""
    return "" if line.is_own else "published"


def _with_caution(row: TableRow) -> TableRow:
    *labels, last = row.labels
    return row if row.by else replace(row, labels=(*labels, f"{last}{OTHER_DATABASES}"))

"""Several question sets in one table, as papers on robustness print them, and the changes from the first set.

Columns are sets, each with its own levels of difficulty; rows are predictors. A set may have several runs, of
other predictors each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.published_sets import page_in, title_in
from harness.data.questions import SPIDER_LEVELS, Question
from harness.engines import TITLES, EngineName, in_order
from harness.metrics import METRICS
from harness.metrics.statistics import independent_difference
from harness.report.compare import unlike_settings
from harness.report.comparison import differences
from harness.report.documents import extents, run_id_of, scores_of
from harness.report.overview import extent_lines, versions
from harness.report.paper import COUNT, INTERVAL, Line, MetricColumns, PaperRequest, chosen, marks_of
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    Document,
    TableColumn,
    TableModel,
    TableRow,
)
from harness.runs.reader import Run, notes_of, read_questions
from harness.runs.summary import TOTAL, Score, Whose

_SETTINGS = ("profile", "now", "limits", "metrics", "extract", "allow_missing")
"""Settings of a run that change scores; whatever else differs belongs to the sets."""
_SHARED = 0.9
"""Minimum share of the smaller set's questions that must be in both for a paired interval."""
_CANDIDATES = 20
"""Maximum number of questions of the same gold whose words are compared."""


@dataclass(frozen=True)
class _Set:
    """A set with the scores and questions of its runs, whose manifests are by name, and notes on them.

    `shared` maps keys of its questions to those of the first set. `is_paired`: they are nearly all questions
    of the smaller of the two.
    """

    title: str
    manifests: Mapping[str, Mapping[str, object]]
    scores: Mapping[Whose, Score]
    questions: Mapping[str, Question]
    notes: Sequence[str]
    shared: Mapping[str, str]
    is_paired: bool

    @property
    def levels(self) -> list[str]:
        """The levels of difficulty, and the total."""
        return list(next(by_level for one in self.scores.values() for by_level in one.metrics.values()))


def sets_table(runs: Sequence[Run], asked: PaperRequest) -> Document:
    """Return for each metric and engine a table of scores, and one of changes from the first set, if any.

    Args:
        runs: of two sets or more.
        asked: what to show; no columns mean all levels and the total.

    Raises:
        BadInput: they are of one set, have no metric in common, have a predictor twice on a set, or lack
            something requested.
    """
    sets = _sets(runs)
    scores = [score for one in sets for score in one.scores.values()]
    common = [name for name in METRICS if all(name in score.metrics for score in scores)]
    if not common:
        raise BadInput("--table sets: the runs have no metric in common; score them with the same --metrics")
    metrics = chosen("--metrics", asked.metrics, common)
    dialects = in_order(chosen("--engines", asked.engines, in_order(score.dialect for score in scores)))
    predictors = chosen("--predictors", asked.predictors, [score.predictor for score in scores])
    levels = [*dict.fromkeys(level for one in sets for level in one.levels if level != TOTAL), TOTAL]
    columns = chosen("--columns", asked.columns or levels, [*levels, INTERVAL, COUNT])
    grids = []
    for dialect in dialects:
        for metric in metrics:
            lines = _lines(sets, predictors, dialect, metric, is_sorted=not asked.predictors)
            grids.append(_scores_grid(sets, lines, dialect, metric, columns))
            if any(sets[0].title in line.scores and len(line.scores) > 1 for line in lines):
                grids.append(_changes_grid(sets, lines, dialect, metric))
    extent = {
        (*whose, one.title): counts
        for one in sets
        for whose, counts in extents([*one.scores.values()]).items()
    }
    return Document(" and ".join(map(run_id_of, runs)), (), tuple(grids), extent)


def _sets(runs: Sequence[Run]) -> list[_Set]:
    """Return the sets in the order of their first runs, the runs of each together."""
    by_set: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        by_set.setdefault((str(run.manifest.get("set")), str(run.manifest.get("collection"))), []).append(run)
    titles = [title_in(some[0].manifest) for some in by_set.values()]
    if len(titles) < 2:  # noqa: PLR2004 - a single one has nothing to stand next to
        raise BadInput(f"--table sets: the runs are all of {titles[0]}; name runs of two sets or more")
    sets: list[_Set] = []
    for title, some in zip(titles, by_set.values(), strict=True):
        name = title if titles.count(title) == 1 else f"{title} ({run_id_of(some[0])})"
        manifests, scores, notes = {}, dict[Whose, Score](), []
        for run in some:
            called = name if len(some) == 1 else f"{name} ({run_id_of(run)})"
            manifests[called] = run.manifest
            found = [score for score in scores_of(run) if score.questions]
            notes += [
                f"{called}: {line}" for line in (*extent_lines(found, run.extent), *notes_of(run.manifest))
            ]
            for score in found:
                if (score.predictor, score.dialect) in scores:
                    raise BadInput(
                        f"{run.folder}: an earlier run of {title} has {score.predictor} on"
                        f" {TITLES[score.dialect]}, too; leave out one of the two"
                    )
                scores[score.predictor, score.dialect] = score
        questions = {key: one for run in some for key, one in read_questions(run.folder).items()}
        base = sets[0].questions if sets else questions
        shared = _shared(base, questions)
        is_paired = len(shared) >= _SHARED * min(len(base), len(questions))
        sets.append(_Set(name, manifests, scores, questions, notes, shared, is_paired))
    return sets


def _lines(
    sets: Sequence[_Set], predictors: Sequence[str], dialect: EngineName, metric: str, *, is_sorted: bool
) -> list[Line]:
    """Return the scores of each predictor by set; if sorted, the best on the first set comes first."""
    lines = []
    for name in predictors:
        scores = {one.title: one.scores[name, dialect] for one in sets if (name, dialect) in one.scores}
        lines += [Line(name, name, scores, {})] if scores else []
    if is_sorted:
        totals = {line.name: [line.total(metric, one.title) for one in sets] for line in lines}
        lines.sort(key=lambda line: [1.0 if total is None else -total for total in totals[line.name]])
    return lines


def _scores_grid(
    sets: Sequence[_Set], lines: Sequence[Line], dialect: EngineName, metric: str, columns: Sequence[str]
) -> TableModel:
    marks, said = marks_of(lines, [one.title for one in sets], [metric])
    cells: list[list[Cell | None]] = [[] for _ in lines]
    groups = []
    for one in sets:
        own = [name for name in columns if name in {*one.levels, INTERVAL, COUNT}] or [TOTAL]
        of_metric = MetricColumns(metric, tuple(own))
        heads = of_metric.heads(is_named=False)
        if {*one.levels} == {*SPIDER_LEVELS, TOTAL}:
            # Its papers call it so.
            heads = tuple(replace(head, head="all") if head.level == TOTAL else head for head in heads)
        groups.append(ColumnGroup(one.title, heads, set=one.title))
        for number, line in enumerate(lines):
            cells[number] += of_metric.cells(line, one.title, marks.get((number, metric, one.title)))
    title = f"{METRICS[metric].title} (%) on {TITLES[dialect]}"
    anchor = f"tab:sets-{metric}-{dialect}"
    return _grid(title, groups, lines, cells, dialect, (*_about(sets, dialect), *said), anchor)


def _grid(  # noqa: PLR0913, PLR0917 - what a table is made of
    title: str,
    groups: Sequence[ColumnGroup],
    lines: Sequence[Line],
    cells: Sequence[Sequence[Cell | None]],
    dialect: EngineName,
    notes: Sequence[str],
    anchor: str,
) -> TableModel:
    rows = tuple(
        TableRow((line.name,), tuple(row), line.predictor, dialect)
        for line, row in zip(lines, cells, strict=True)
    )
    return TableModel(title, ("predictor",), tuple(groups), rows, tuple(notes), anchor)


def _about(sets: Sequence[_Set], dialect: EngineName) -> Iterator[str]:
    """Yield the facts of the sets and their runs, and how the runs differ."""
    manifests = {name: manifest for one in sets for name, manifest in one.manifests.items()}
    (first, base), *others = manifests.items()
    for one in sets:
        page = page_in(next(iter(one.manifests.values())))
        yield f"{one.title}: {len(one.questions):,} questions{f' ({page})' if page else ''}."
        yield from one.notes
    yield f"{', '.join(versions(base, [dialect]))}."
    for name, manifest in others:
        for line in unlike_settings({first: base, name: manifest}, _SETTINGS, [dialect]):
            yield f"{line}."


def _changes_grid(
    sets: Sequence[_Set], lines: Sequence[Line], dialect: EngineName, metric: str
) -> TableModel:
    """Return a table with the total of the first set and the change from it, for each other set."""
    base, *others = sets
    columns = (
        TableColumn("from", metric, "base", TOTAL),
        TableColumn("change", metric, "change", TOTAL, CellKind.DIFFERENCE, has_interval=True),
    )
    cells = [[cell for one in others for cell in _change(line, base, one, metric)] for line in lines]
    groups = [ColumnGroup(one.title, columns, set=one.title) for one in others]
    title = f"{METRICS[metric].title} on {TITLES[dialect]}, change from {base.title} (points)"
    notes = [_how(base, one) for one in others]
    return _grid(title, groups, lines, cells, dialect, notes, f"tab:sets-change-{metric}-{dialect}")


def _change(line: Line, base: _Set, other: _Set, metric: str) -> tuple[Cell | None, Cell | None]:
    """Return the base's total, and the change from it with its 95 % interval, in percentage points."""
    before, after = line.scores.get(base.title), line.scores.get(other.title)
    if before is None or after is None:
        return None, None
    if other.is_paired:
        renamed = [
            replace(result, question=other.shared[result.question])
            for result in after.results
            if result.question in other.shared
        ]
        a, b = ([one for one in some if metric in one.scores] for some in (before.results, renamed))
        found = differences(a, b, [metric])
        if found is None:
            return Cell(None), Cell(None)
        change, count = found.changes[0], found.questions
        return Cell(change.a[TOTAL], questions=count), Cell(change.total, change.interval, count)
    one, two = before.metrics[metric][TOTAL], after.metrics[metric][TOTAL]
    if one is None or two is None:
        return Cell(one), Cell(None)
    of_one, of_two = before.intervals[metric], after.intervals[metric]
    interval = independent_difference(one, of_one, two, of_two) if of_one and of_two else None
    return Cell(one, questions=before.questions), Cell(two - one, interval, after.questions)


def _how(base: _Set, other: _Set) -> str:
    """Return the note on the interval of a set."""
    shared, count = len(other.shared), len(other.questions)
    if other.is_paired:
        where = f"the {shared:,} questions that it shares with {base.title}"
        return f"{other.title}: paired bootstrap on {where}; the figures are of these alone."
    also = f"; the interval ignores that {base.title} has {shared:,} of its {count:,}" if shared else ""
    how = "unpaired, from the intervals of both totals"
    return f"{other.title}: {how}, because it has other questions than {base.title}{also}."


def _shared(base: Mapping[str, Question], other: Mapping[str, Question]) -> dict[str, str]:
    """Return which questions of a set are questions of the base, whatever their words: key by key.

    They are about the same database and have the same gold. In a set with the base's keys these decide, and a
    corrected gold may differ; in others, of several questions, the one with the most words in common.
    """
    same = [key for key, question in other.items() if key in base and _is_same(question, base[key])]
    is_aligned = len(same) >= _SHARED * len(other)
    keys = {key: key for key in same if is_aligned or other[key].text == base[key].text}
    free: dict[tuple[str, str], list[tuple[str, frozenset[str]]]] = {}
    for key in reversed(list(base)):
        question = base[key]
        if key not in keys:
            free.setdefault(_content(question), []).append((key, _words(question)))
    for key, question in other.items():
        left = free.get(_content(question))
        if key not in keys and left:
            words, last = _words(question), len(left) - 1
            places = range(last, max(-1, last - _CANDIDATES), -1)
            keys[key], _ = left.pop(max(places, key=lambda place: len(left[place][1] & words)))
    return keys


def _is_same(one: Question, other: Question) -> bool:
    return _content(one) == _content(other) or (one.db_id, one.text) == (other.db_id, other.text)


def _content(question: Question) -> tuple[str, str]:
    """Return the database and the gold, whatever its white space."""
    dialect = Dialect.SQLITE if Dialect.SQLITE in question.gold else next(iter(question.gold))
    return question.db_id, " ".join(question.gold[dialect].split())


def _words(question: Question) -> frozenset[str]:
    return frozenset(question.text.casefold().split())

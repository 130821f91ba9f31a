"""The tables of a gap: the waterfall, the causes with counts and intervals, and what the score would be if.

Points are of EX over all questions, in percent. Steps of the waterfall are differences of running totals that
are rounded as they are printed, so that what is printed adds up to the last digit.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from harness.analyses.bench import synthetic_databases
from harness.data.outcomes import Outcome
from harness.data.published_sets import is_unproven, provenance_counts
from harness.engines import TITLES, EngineName, in_order
from harness.labs.gap.cause_rules import ABOUT, Cause, Direction
from harness.labs.gap.experiments import TranslatedAnswers
from harness.labs.gap.explanations import Explained, Gap, PredictorGap
from harness.metrics import METRICS, OUTCOME_METRIC
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    Document,
    TableColumn,
    TableModel,
    TableRow,
    row,
    share_cell,
    spelled,
    table,
)
from harness.runs.summary import By, groups_of

SYNTHETIC = "on synthetic databases"
"""The remark on figures from rows other than the published ones."""

_EX = METRICS[OUTCOME_METRIC].title


def documented(gap: Gap) -> Document:
    """Return every table of a gap."""
    facts = [f"question set: {gap.set_name}, profile {gap.profile}", *gap.left_out, *synthetic_lines(gap)]
    groups = (_grouped(gap, by) for by in (By.DIFFICULTY, By.TYPE))
    tables = (waterfall(gap), _causes(gap), *groups, each_predictor(gap), _what_if(gap), _translated(gap))
    return Document(gap.run_id, tuple(facts), tuple(table for table in tables if table.rows))


def synthetic_lines(gap: Gap) -> list[str]:
    """Return the remarks on databases other than the published ones."""
    if not is_unproven(gap.provenance):
        return []
    said = f"{provenance_counts(gap.provenance)}."
    return [f"Figures are {SYNTHETIC}: {said}" if synthetic_databases(gap.provenance) else said]


def steps(gap: PredictorGap) -> list[tuple[Cause, Fraction]]:
    """Tabulate what each cause adds to SQLite's score up to the target's, in points: 0 for most."""
    return [(cause, _points(gap.step(cause), gap.questions)) for cause in Cause]


def printed_steps(gap: PredictorGap) -> list[tuple[Cause, float]]:
    """Return the printed steps: they add up to the difference of the printed scores."""
    total = _points(gap.on_sqlite, gap.questions)
    found, before = [], _printed(total)
    for cause, step in steps(gap):
        total += step
        after = _printed(total)
        found.append((cause, float(after - before)))
        before = after
    return found


def _printed(points: Fraction) -> Fraction:
    """Return a score as every table spells it."""
    return Fraction(spelled(float(points), CellKind.PERCENT))


def _points(count: int, questions: int) -> Fraction:
    return Fraction(100 * count, questions) if questions else Fraction(0)


def _column(
    head: str, metric: str, kind: CellKind = CellKind.PERCENT, *, interval: bool = False
) -> TableColumn:
    return TableColumn(head, metric, "cause", kind=kind, has_interval=interval)


def _there(gaps: Sequence[PredictorGap]) -> list[Cause]:
    """Return the causes that anything has, in their order."""
    found = {one.decision.cause for gap in gaps for one in gap.explained}
    return [cause for cause in Cause if cause in found]


_WHO = ("predictor", "engine")


def _row(
    one: PredictorGap | TranslatedAnswers,
    cells: Sequence[Cell | float | None],
    *more: str,
    level: str = "",
    by: str = "cause",
) -> TableRow:
    labels = (one.predictor, TITLES[one.target], *more)
    return row(labels, cells, level, dialect=one.target, predictor=one.predictor, by=by)


def waterfall(gap: Gap) -> TableModel:
    """From SQLite's score to the target's, a step a cause."""
    causes = _there(gap.gaps)
    columns = (
        _column(f"{_EX} on SQLite", "sqlite"),
        *(_column(ABOUT[cause].title, f"step_{cause}", CellKind.DIFFERENCE) for cause in causes),
        _column(f"{_EX} there", "target"),
    )
    rows = []
    for one in gap.gaps:
        by_cause = dict(printed_steps(one))
        ends = (share_cell(count, one.questions) for count in (one.on_sqlite, one.on_target))
        steps_between = (Cell(by_cause[cause], questions=one.questions) for cause in causes)
        rows.append(_row(one, [next(ends), *steps_between, next(ends)]))
    notes = (
        "Each step is what the predictor wins there by the cause less what it loses, in points.",
        "SQLite's score and all steps add up to the score there.",
    )
    return table("From SQLite to the other engine", _WHO, columns, rows, *notes)


def _causes(gap: Gap) -> TableModel:
    """Return all predictors together: how often each cause decides, by engine."""
    columns = (
        _column("lost", "lost", CellKind.COUNT),
        _column("won", "won", CellKind.COUNT),
        _column("% of both", "share", interval=True),
    )
    targets = in_order(one.target for one in gap.gaps)
    groups = tuple(ColumnGroup(TITLES[target], columns, target) for target in targets)
    rows = []
    for cause in _there(gap.gaps):
        cells: list[Cell | None] = []
        for target in targets:
            cells += _counts([one for one in gap.explained if one.target == target], cause)
        rows.append(row((ABOUT[cause].title,), cells, cause, by="cause"))
    return TableModel("Causes, all predictors", ("cause",), groups, tuple(rows), tuple(_meanings(gap)))


def _grouped(gap: Gap, by: By) -> TableModel:
    """Return all predictors together: EX on SQLite and on each engine by group of questions."""
    members: dict[str, dict[EngineName, list[tuple[bool, bool]]]] = {}
    for one in gap.gaps:
        for sqlite, native in one.pairs:
            right = sqlite.outcome is Outcome.MATCH, native.outcome is Outcome.MATCH
            for group in groups_of(sqlite, by, gap.types):
                members.setdefault(group, {}).setdefault(one.target, []).append(right)
    columns = tuple(
        TableColumn(head, metric, by, kind=kind)
        for head, metric, kind in (
            ("pairs", "pairs", CellKind.COUNT),
            (f"{_EX} on SQLite", "sqlite", CellKind.PERCENT),
            (f"{_EX} there", "target", CellKind.PERCENT),
            ("lost", "lost", CellKind.COUNT),
            ("won", "won", CellKind.COUNT),
            ("points", "points", CellKind.DIFFERENCE),
        )
    )
    targets = in_order(one.target for one in gap.gaps)
    groups = tuple(ColumnGroup(TITLES[target], columns, target) for target in targets)
    rows = []
    for group in by.order(members):
        cells = [cell for target in targets for cell in _rights(members[group].get(target, ()))]
        rows.append(row((group.replace("_", " "),), cells, group, by=by))
    notes = ("A question may be of several types.",) if by is By.TYPE else ()
    return TableModel(f"{_EX} by {by}, all predictors", (by,), groups, tuple(rows), notes)


def _rights(pairs: Sequence[tuple[bool, bool]]) -> Iterator[Cell]:
    """Yield the cells of a group from what is right on SQLite and there; dashes without a pair."""
    sqlite, there = (sum(pair[side] for pair in pairs) for side in (0, 1))
    shares = [
        float(_points(right, len(pairs))) if pairs else None for right in (sqlite, there, there - sqlite)
    ]
    for value in (len(pairs), *shares[:2], pairs.count((True, False)), pairs.count((False, True)), shares[2]):
        yield Cell(value, questions=len(pairs))


def _counts(explained: Sequence[Explained], cause: Cause) -> Iterator[Cell]:
    of_cause = [one.direction for one in explained if one.decision.cause is cause]
    yield Cell(of_cause.count(Direction.LOSS))
    yield Cell(of_cause.count(Direction.GAIN))
    yield share_cell(len(of_cause), len(explained))


def _meanings(gap: Gap) -> Iterator[str]:
    for cause in _there(gap.gaps):
        about = ABOUT[cause]
        yield f"{about.title}: {about.meaning}."


def each_predictor(gap: Gap) -> TableModel:
    """Return each predictor on each engine: how often each cause decides."""
    columns = (
        _column("lost", "lost", CellKind.COUNT),
        _column("won", "won", CellKind.COUNT),
        _column("points", "points", CellKind.DIFFERENCE),
        _column("% of both", "share", interval=True),
    )
    rows = []
    for one in gap.gaps:
        by_cause = dict(printed_steps(one))
        for cause in _there([one]):
            lost, won, share = _counts(one.explained, cause)
            cells = (lost, won, Cell(by_cause[cause], questions=one.questions), share)
            rows.append(_row(one, cells, ABOUT[cause].title, level=cause))
    notes = ("lost: right on SQLite alone; won: right there alone. %: of the questions that differ.",)
    return table("Causes by predictor", (*_WHO, "cause"), columns, rows, *notes)


_IF: Sequence[tuple[str, str, Callable[[PredictorGap], int]]] = (
    ("on SQLite", "sqlite", lambda one: one.on_sqlite),
    ("there", "target", lambda one: one.on_target),
    ("answers repaired", "repaired", lambda one: one.what_if.repaired),
    ("translated gold", "translated", lambda one: one.what_if.translated),
    ("profile faithful", "faithful", lambda one: one.what_if.faithful),
)


def _what_if(gap: Gap) -> TableModel:
    """Tabulate the score under other conditions."""
    columns = tuple(_column(head, metric, interval=True) for head, metric, _ in _IF)
    rows = [_row(one, [share_cell(of(one), one.questions) for _, _, of in _IF]) for one in gap.gaps]
    notes = (
        "answers repaired: what three small edits or fewer make right counts, too.",
        "  Edits are looked for where the engine refuses an answer, and where SQLite's is right.",
        "translated gold: held, by value, against the rows that SQLite's gold, exactly translated, returns.",
        "profile faithful: the same where columns are as SQLite stores them.",
    )
    return table(f"{_EX} if (%)", _WHO, columns, rows, *notes)


def _translated(gap: Gap) -> TableModel:
    """Tabulate the translations of right answers for SQLite."""
    columns = (
        _column("right on SQLite", "right", CellKind.COUNT),
        _column("translatable", "translatable", CellKind.COUNT),
        _column("match", "matching", CellKind.COUNT),
        _column("% of translatable", "share", interval=True),
    )
    rows = [
        _row(
            one,
            [one.right, one.translatable, one.matching, share_cell(one.matching, one.translatable)],
            by="translated",
        )
        for one in gap.translated
    ]
    notes = (
        "Answers for SQLite that are right there, translated exactly, against the rows of SQLite's gold.",
        "  They are run where columns are as SQLite stores them.",
        *(
            f"{each.predictor} on {TITLES[each.target]}, question {one.question}: {one.why}."
            for each in gap.translated
            for one in each.exceptions
        ),
    )
    return table("SQLite's answers, translated", _WHO, columns, rows, *notes)

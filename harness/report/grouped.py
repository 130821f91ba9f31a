"""A metric by what questions have in common, and shares of pairs by what became of them, as tables."""

from collections.abc import Mapping, Sequence

from harness.metrics import METRICS
from harness.report.overview import dialects_of
from harness.report.table_model import Cell, Column, Group, Kind, Row, TableModel
from harness.report.tables import NAMES
from harness.runs.groups import By, Share, pairs, shares
from harness.runs.summary import Score

_NOTES = {
    By.OUTCOME: ("In percent of all pairs of the predictor on the engine.",),
    By.ERROR_CLASS: (
        "In percent of all pairs of the predictor on the engine.",
        "none: pairs that match, or whose outcome is not the predictor's.",
    ),
    By.CONSTRUCT: (
        "What the gold for SQLite uses, on every engine. Groups overlap: a gold may use several.",
        "plain: none of the others; unreadable: the gold cannot be read here.",
    ),
}


def grouped_grid(
    scores: Sequence[Score], metric: str, by: By, constructs: Mapping[str, Sequence[str]]
) -> TableModel | None:
    """A row per predictor and group, engines side by side; None where nothing has the metric.

    Args:
        scores: of a run.
        metric: whose mean is shown.
        by: what makes the groups.
        constructs: what each question's gold uses, by the question's key; used by `By.CONSTRUCT` alone.
    """
    found = {
        (score.predictor, score.dialect): shares(score.results, metric, by, constructs) for score in scores
    }
    having = [score for score in scores if found[score.predictor, score.dialect]]
    if not having:
        return None
    dialects = dialects_of(having)
    name = by.replace("-", " ")
    title = METRICS[metric].title
    column = Column(title, metric, by.replace("-", "_"), has_interval=True, has_questions=True)
    rows = []
    for predictor in dict.fromkeys(score.predictor for score in having):
        each = [found.get((predictor, dialect), {}) for dialect in dialects]
        for group in by.order(group for one in each for group in one):
            cells = tuple(_cell(one.get(group)) for one in each)
            shown = group if by is By.DATABASE else group.replace("_", " ")
            rows.append(Row((predictor, shown), cells, predictor, level=group))
    groups = tuple(Group(NAMES[dialect], (column,), dialect) for dialect in dialects)
    return TableModel(f"{title} by {name} (%)", ("predictor", name), groups, tuple(rows), _NOTES.get(by, ()))


def shares_grid(scores: Sequence[Score], by: By) -> TableModel:
    """How many pairs each group has, and what share of all: outcomes and error classes decide EX themselves.

    Args:
        scores: of a run.
        by: what makes the groups.
    """
    dialects = dialects_of(scores)
    counted = {(score.predictor, score.dialect): pairs(score.results, by) for score in scores}
    totals = {whose: sum(found.values()) for whose, found in counted.items()}
    name = by.replace("-", " ")
    columns = (
        Column("pairs", "pairs", by.replace("-", "_"), kind=Kind.COUNT),
        Column("% of pairs", "pairs_percent", by.replace("-", "_")),
    )
    rows = []
    for predictor in dict.fromkeys(score.predictor for score in scores):
        own = [counted.get((predictor, dialect)) for dialect in dialects]
        for group in by.order(group for found in own for group in found or ()):
            cells: list[Cell | None] = []
            for dialect, found in zip(dialects, own, strict=True):
                if found is None:
                    cells += [None, None]
                    continue
                count, total = found.get(group, 0), totals[predictor, dialect]
                cells += [Cell(count), Cell(100 * count / total if total else None, questions=total)]
            rows.append(Row((predictor, group.replace("_", " ")), tuple(cells), predictor, level=group))
    groups = tuple(Group(NAMES[dialect], columns, dialect) for dialect in dialects)
    return TableModel(f"Pairs by {name}", ("predictor", name), groups, tuple(rows), _NOTES[by])


def _cell(share: Share | None) -> Cell | None:
    return None if share is None else Cell(share.percent, share.interval, share.questions)

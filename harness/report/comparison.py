"""Compute the differences between two scores, with intervals and tests.

Only questions that both sides have are compared, in a fixed order, so that equal results give equal figures,
and swapping the sides changes only signs. On a terminal a comparison is a row per metric, then a table of
each metric by groups of questions, if requested, then the questions that flipped.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rich.table import Table

from harness.data.outcomes import Outcome, PairResult
from harness.data.questions import levels_of
from harness.engines import TITLES, EngineName
from harness.metrics import METRICS, OUTCOME_METRIC, Basis
from harness.metrics.statistics import SIGNIFICANT, Interval, McNemar, mcnemar, paired_difference
from harness.report.console import figure, new_table, print_grids, print_line, print_table, wide
from harness.report.documents import NOTES
from harness.report.table_model import (
    Cell,
    CellKind,
    Mark,
    TableColumn,
    TableModel,
    TableRow,
    spelled,
    spelled_range,
    table,
)
from harness.runs.summary import TOTAL, By, by_level
from loaders.base.records import to_plain


@dataclass(frozen=True)
class Change:
    """One metric of two sides: means and differences (B minus A) in percent, by level."""

    metric: str
    a: Mapping[str, float | None]
    b: Mapping[str, float | None]
    interval: Interval | None
    """95 % interval of the difference of the totals; None if every question changed alike."""
    mcnemar: McNemar | None
    """For metrics that score 0 or 1; A comes first."""
    p: float
    """McNemar's if there is one, else the paired bootstrap's."""

    @property
    def differences(self) -> Mapping[str, float | None]:
        """B minus A, by level."""
        return {level: _minus(self.b[level], self.a[level]) for level in self.a}

    @property
    def total(self) -> float:
        """B minus A, over all questions."""
        return self.differences[TOTAL] or 0.0

    @property
    def is_proven(self) -> bool:
        """True if p is below 0.05."""
        return self.p < SIGNIFICANT

    def to_json(self) -> dict[str, Any]:
        """Return the entry of `metrics` of a comparison."""
        test = self.mcnemar and {"only_a": self.mcnemar.only_first, "only_b": self.mcnemar.only_second}
        return {
            "a": self.a,
            "b": self.b,
            "difference": self.differences,
            "interval": self.interval and list(self.interval),
            "mcnemar": test,
            "p": self.p,
        }


@dataclass(frozen=True)
class Flip:
    """A question that one side has right and the other wrong, by at least one metric that scores 0 or 1."""

    question: str
    db_id: str
    difficulty: str
    a: Outcome
    b: Outcome
    lost: tuple[str, ...]
    """The metrics by which A is right and B wrong."""
    won: tuple[str, ...]
    """The metrics by which B is right and A wrong."""


@dataclass(frozen=True)
class Differences:
    """All differences of two sides on the questions that both have."""

    questions: int
    only_a: int
    only_b: int
    """Questions that the other side lacks."""
    outcomes_a: Mapping[Outcome, int]
    outcomes_b: Mapping[Outcome, int]
    changes: Sequence[Change]
    flips: Sequence[Flip]

    def to_json(self) -> dict[str, Any]:
        """Return the figures of an entry of `comparisons`."""
        return {
            "questions": self.questions,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "outcomes": {
                side: {outcome: counts.get(outcome, 0) for outcome in Outcome}
                for side, counts in (("a", self.outcomes_a), ("b", self.outcomes_b))
            },
            "metrics": {change.metric: change.to_json() for change in self.changes},
            "flips": to_plain(self.flips),
        }


def common_metrics(a: Sequence[PairResult], b: Sequence[PairResult]) -> list[str]:
    """Return the metrics by which every result of both sides has a score, in the order of the tables.

    A verdict may leave questions undecided: it takes one that both sides have a verdict on.
    """
    results = (*a, *b)
    decided = {name: {each.question for each in a if name in each.scores} for name in METRICS}
    return [
        name
        for name, metric in METRICS.items()
        if all(name in result.scores for result in results)
        or (
            metric.basis is Basis.VERDICT
            and any(name in each.scores and each.question in decided[name] for each in b)
        )
    ]


def differences(
    a: Sequence[PairResult], b: Sequence[PairResult], metrics: Sequence[str]
) -> Differences | None:
    """Return the differences between two predictors, or one on two engines; None without a common question.

    Args:
        a: the results of one predictor on one engine, each question once.
        b: the same, for the other side.
        metrics: some of `common_metrics`.
    """
    of_a = {result.question: result for result in a}
    of_b = {result.question: result for result in b}
    common = sorted(of_a.keys() & of_b.keys())
    if not common:
        return None
    left, right = [of_a[key] for key in common], [of_b[key] for key in common]
    shares = [name for name in metrics if METRICS[name].is_share] or [OUTCOME_METRIC]
    flips = [_flipped(of_a[key], of_b[key], shares) for key in of_a if key in of_b]
    return Differences(
        questions=len(common),
        only_a=len(of_a) - len(common),
        only_b=len(of_b) - len(common),
        outcomes_a=Counter(result.outcome for result in left),
        outcomes_b=Counter(result.outcome for result in right),
        changes=[_change(left, right, name) for name in metrics],
        flips=[flip for flip in flips if flip.lost or flip.won],
    )


def _change(a: Sequence[PairResult], b: Sequence[PairResult], metric: str) -> Change:
    if METRICS[metric].basis is Basis.VERDICT:
        decided = [pair for pair in zip(a, b, strict=True) if all(metric in one.scores for one in pair)]
        if not decided:
            scale = levels_of(one.difficulty for one in a)
            return Change(metric, by_level((), metric, scale), by_level((), metric, scale), None, None, 1.0)
        a, b = [one for one, _ in decided], [other for _, other in decided]
    of_a, of_b = ([result.scores[metric] for result in side] for side in (a, b))
    paired = paired_difference(of_a, of_b)
    test = None
    if METRICS[metric].is_share:
        test = mcnemar(
            [_is_right(result, metric) for result in a], [_is_right(result, metric) for result in b]
        )
    return Change(
        metric,
        by_level(a, metric),
        by_level(b, metric),
        paired.interval and (100 * paired.interval[0], 100 * paired.interval[1]),
        test,
        test.p if test else paired.p,
    )


def _flipped(a: PairResult, b: PairResult, metrics: Sequence[str]) -> Flip:
    decided = [name for name in metrics if name == OUTCOME_METRIC or (name in a.scores and name in b.scores)]
    rights = [(name, _is_right(a, name), _is_right(b, name)) for name in decided]
    return Flip(
        a.question,
        a.db_id,
        a.difficulty,
        a.outcome,
        b.outcome,
        lost=tuple(name for name, of_a, of_b in rights if of_a and not of_b),
        won=tuple(name for name, of_a, of_b in rights if of_b and not of_a),
    )


def _is_right(result: PairResult, metric: str) -> bool:
    """Return True if a score of 0 or 1 is 1; for EX, the outcome decides even if EX was not requested."""
    return result.outcome is Outcome.MATCH if metric == OUTCOME_METRIC else result.scores[metric] == 1.0


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _heads(letter: str) -> tuple[str, ...]:
    return ("A", letter, f"{letter}\N{MINUS SIGN}A", "95 %", "p", "only A\nright", f"only {letter}\nright")


@dataclass(frozen=True)
class RunSide:
    """One predictor on one engine in one run."""

    folder: str
    run_id: str
    predictor: str
    dialect: EngineName

    def __str__(self) -> str:
        return f"{self.predictor} on {TITLES[self.dialect]}"


@dataclass(frozen=True)
class SideComparison:
    """Two sides and their differences; `letter` names B if several sides are compared with A."""

    a: RunSide
    b: RunSide
    differences: Differences
    letter: str = "B"
    groups: Mapping[str, Differences] = field(default_factory=dict)
    """The differences by group of questions, if requested."""

    @property
    def name(self) -> str:
        """The comparison in a line."""
        return str(self.b) if str(self.a) == str(self.b) else f"{self.a} and {self.b}"

    def to_json(self) -> dict[str, Any]:
        """Return the entry of `comparisons`."""
        groups = {
            name: {
                "questions": found.questions,
                "metrics": {change.metric: change.to_json() for change in found.changes},
            }
            for name, found in self.groups.items()
        }
        own = {"a": to_plain(self.a), "b": to_plain(self.b), **self.differences.to_json()}
        return {**own, "groups": groups} if groups else own


def print_comparisons(
    comparisons: Sequence[SideComparison],
    notes: Sequence[str],
    *,
    by: By | None = None,
    flips: int | None = None,
) -> None:
    """Print the notes, then each comparison.

    Args:
        comparisons: in the order of the output.
        notes: the notes to read first, a line each.
        by: what makes the groups of questions, if they are compared, too.
        flips: the number of questions to list for each direction; None for all.
    """
    console = wide()
    for note in notes:
        print_line(console, f"note: {note}")
    for comparison in comparisons:
        for line in _head(comparison):
            print_line(console, line)
        print_table(console, _table(comparison.differences.changes, comparison.letter))
        if by is not None:
            print_grids(list(group_grids(comparison, by)), console)
        for line in _flips(comparison.differences.flips, flips, comparison.letter):
            print_line(console, line)
    for note in tests_note(comparisons):
        print_line(console, note)


def tests_note(comparisons: Sequence[SideComparison]) -> list[str]:
    """Return the note that several tests need."""
    tests = sum(
        len(found.changes)
        for comparison in comparisons
        for found in (comparison.differences, *comparison.groups.values())
    )
    return [f"{tests} tests: without any real difference, 1 in 20 has p below 0.05 by chance."][: tests > 1]


def _head(comparison: SideComparison) -> Iterator[str]:
    sides = ("A", comparison.a), (comparison.letter, comparison.b)
    yield ""
    for letter, side in sides:
        yield f"{letter}: {side}, {side.folder} ({side.run_id})"
    found = comparison.differences
    only = {"A": found.only_a, comparison.letter: found.only_b}
    without = "".join(f"; {count} more only in {letter}" for letter, count in only.items() if count)
    yield f"{found.questions} questions in both{without}"
    counts = (
        f"{outcome} {found.outcomes_a.get(outcome, 0)} -> {found.outcomes_b.get(outcome, 0)}"
        for outcome in Outcome
        if outcome in found.outcomes_a or outcome in found.outcomes_b
    )
    yield f"outcomes: {', '.join(counts)}"


def _table(changes: Sequence[Change], letter: str) -> Table:
    table = new_table("")
    table.add_column("%", no_wrap=True)
    heads = _heads(letter)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for level in dict.fromkeys(level for change in changes for level in levels(change)):
        table.add_column(f"{heads[2]}\n{level}", justify="right", no_wrap=True, style="dim")
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


def group_grids(comparison: SideComparison, by: By) -> Iterator[TableModel]:
    """Yield a table for each metric: a row of all questions, then one of each group of questions.

    Differences at each level of difficulty stand beside, unless the levels are the groups.
    """
    name = by.replace("-", " ")
    both = {TOTAL: comparison.differences, **comparison.groups}
    for place, change in enumerate(comparison.differences.changes):
        metric, minus = change.metric, _heads(comparison.letter)[2]
        beside = () if by is By.DIFFICULTY else levels(change)
        difference = TableColumn(minus, metric, "difference", kind=CellKind.DIFFERENCE)
        columns = (
            TableColumn(str(comparison.a), metric, "a", short="A", has_questions=True),
            TableColumn(str(comparison.b), metric, "b", short=comparison.letter),
            replace(difference, is_total=True, has_interval=True),
            TableColumn("p", f"{metric}_p", "difference", kind=CellKind.P),
            *(replace(difference, head=f"{minus} {level}", level=level) for level in beside),
        )
        rows = []
        for group, found in both.items():
            one = found.changes[place]
            mark = Mark.SIGNIFICANT if one.is_proven else None
            cells = (
                Cell(one.a[TOTAL], questions=found.questions),
                Cell(one.b[TOTAL], questions=found.questions),
                Cell(one.total, one.interval, found.questions, mark),
                Cell(one.p),
                *(Cell(one.differences[level]) for level in beside),
            )
            shown = group if by is By.DATABASE else group.replace("_", " ")
            rows.append(TableRow((shown,), cells, comparison.b.predictor, comparison.b.dialect, group))
        sides = f"A: {comparison.a}; {comparison.letter}: {comparison.b}"
        title = f"{METRICS[metric].title} by {name} (%)"
        notes = (f"{sides}. p and 95 %: paired, on the same questions.", *NOTES.get(by, ()))
        yield table(title, (name,), columns, rows, *notes)


def levels(change: Change) -> list[str]:
    """Return the levels of difficulty that a change has figures of."""
    return [level for level in change.differences if level != TOTAL]


def printed(change: Change) -> dict[str, Any]:
    """Return the figures of one metric as printed on a terminal and in a page, rounded once."""
    kind = CellKind.DIFFERENCE
    return {
        "a": figure(change.a[TOTAL]),
        "b": figure(change.b[TOTAL]),
        "total": spelled(change.total, kind),
        "interval": spelled_range(change.interval, kind),
        "p": spelled(change.p, CellKind.P),
        "levels": {level: spelled(change.differences[level], kind) for level in levels(change)},
    }


def _flips(flips: Sequence[Flip], most: int | None, letter: str) -> Iterator[str]:
    lost = [(flip, flip.lost) for flip in flips if flip.lost]
    won = [(flip, flip.won) for flip in flips if flip.won]
    for head, listed in (
        (f"right in A, wrong in {letter}", lost),
        (f"wrong in A, right in {letter}", won),
    ):
        yield f"{head}: {len(listed) or 'none'}"
        for flip, metrics in listed[:most]:
            titles = ", ".join(METRICS[name].title for name in metrics)
            where = f"{flip.question} ({flip.db_id}, {flip.difficulty})"
            yield f"  {where}: {flip.a} -> {flip.b}; {titles}"
        if most is not None and len(listed) > most:
            yield f"  and {len(listed) - most} more: leave out --flips, or see --json"

"""pass@k of predictors with several samples, as a table."""

from collections.abc import Mapping, Sequence
from math import comb
from statistics import fmean

from harness.data.outcomes import Outcome, PairResult
from harness.data.questions import levels_of
from harness.engines import EngineName, in_order
from harness.report.table_model import Cell, ColumnGroup, TableColumn, TableModel, TableRow
from harness.report.tables import NAMES
from harness.runs.summary import TOTAL


def pass_at(k: int, matches: int, samples: int) -> float:
    """The unbiased estimate for one question: of n samples of which c match, 1 - C(n - c, k) / C(n, k).

    Chen et al. 2021, "Evaluating Large Language Models Trained on Code", section 2.1,
    https://arxiv.org/abs/2107.03374.

    Args:
        k: how many samples are looked at, 1 to `samples`.
        matches: how many of all samples match.
        samples: how many there are.

    Raises:
        ValueError: the numbers do not fit each other.
    """
    if not (1 <= k <= samples and 0 <= matches <= samples):
        raise ValueError(f"pass@{k} of {matches} in {samples}")
    return 1.0 - comb(samples - matches, k) / comb(samples, k)


def ks(samples: int) -> Sequence[int]:
    """The k that tables show: 1, 2, 5, 10, 20, 50, 100 as far as there are samples, and all samples."""
    usual = [k for k in (1, 2, 5, 10, 20, 50, 100) if k < samples]
    return [*usual, samples]


Counts = Mapping[str, tuple[str, int, int]]
"""By question: its difficulty, how many samples match, how many there are."""


def passes_grid(name: str, results: Sequence[PairResult], samples: Sequence[str]) -> TableModel:
    """A row per k, engines side by side.

    Args:
        name: of the predictor.
        results: of a run.
        samples: the predictors in it that its samples are.
    """
    dialects = in_order(result.dialect for result in results)
    levels = (*levels_of(result.difficulty for result in results), TOTAL)
    counts = {dialect: _counts(results, dialect, samples) for dialect in dialects}
    rows = tuple(
        TableRow(
            (f"pass@{k}",),
            tuple(_cell(counts[dialect], k, level) for dialect in dialects for level in levels),
            name,
            level=f"pass@{k}",
        )
        for k in ks(len(samples))
    )
    columns = tuple(
        TableColumn(
            level, "pass_at_k", "difficulty", level, short=_SHORT.get(level, ""), is_total=level == TOTAL
        )
        for level in levels
    )
    groups = tuple(ColumnGroup(NAMES[dialect], columns, dialect) for dialect in dialects)
    note = f"How likely one of k samples matches (EX), estimated from {len(samples)} samples a question."
    return TableModel(f"pass@k (%): {name}", ("k",), groups, rows, (note,))


_SHORT = {"simple": "simp", "moderate": "mod", "challenging": "chall"}


def _counts(results: Sequence[PairResult], dialect: EngineName, samples: Sequence[str]) -> Counts:
    of = set(samples)
    counts: dict[str, tuple[str, int, int]] = {}
    for result in results:
        if result.dialect == dialect and result.predictor in of:
            _, matches, seen = counts.get(result.question, ("", 0, 0))
            matched = result.outcome is Outcome.MATCH
            counts[result.question] = result.difficulty, matches + matched, seen + 1
    return counts


def _cell(counts: Counts, k: int, level: str) -> Cell:
    values = [
        pass_at(k, matches, samples)
        for difficulty, matches, samples in counts.values()
        if level in (TOTAL, difficulty)
    ]
    return Cell(100 * fmean(values) if values else None, questions=len(values))

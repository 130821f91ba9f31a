"""pass@k of predictors with several samples, as a table."""

from collections.abc import Mapping, Sequence
from math import comb
from statistics import fmean

from harness.data.outcomes import Outcome, PairResult
from harness.data.questions import levels_of
from harness.engines import TITLES, EngineName, in_order
from harness.report.overview import level_columns
from harness.report.table_model import Cell, ColumnGroup, TableModel, TableRow
from harness.runs.summary import TOTAL


def pass_at(k: int, matches: int, samples: int) -> float:
    """Return the unbiased estimate of pass@k for one question: 1 - C(n - c, k) / C(n, k) if c of n match.

    Chen et al. 2021, "Evaluating Large Language Models Trained on Code", section 2.1,
    https://arxiv.org/abs/2107.03374.

    Args:
        k: the number of samples to draw, 1 to `samples`.
        matches: the number of samples that match.
        samples: the number of samples.

    Raises:
        ValueError: the numbers contradict each other.
    """
    if not (1 <= k <= samples and 0 <= matches <= samples):
        raise ValueError(f"pass@{k} of {matches} in {samples}")
    return 1.0 - comb(samples - matches, k) / comb(samples, k)


def ks(samples: int) -> Sequence[int]:
    """Return the k of tables: 1, 2, 5, 10, 20, 50, 100 up to the number of samples, and that number."""
    usual = [k for k in (1, 2, 5, 10, 20, 50, 100) if k < samples]
    return [*usual, samples]


Counts = Mapping[str, tuple[str, int, int]]
"""By question: its difficulty, the number of matching samples, the number of samples."""


def passes_grid(name: str, results: Sequence[PairResult], samples: Sequence[str]) -> TableModel:
    """Return a table with a row per k, engines side by side.

    Args:
        name: the name of the predictor.
        results: the results of a run.
        samples: the predictors in the run that are its samples.
    """
    dialects = in_order(result.dialect for result in results)
    levels = (*levels_of(result.difficulty for result in results), TOTAL)
    counts = {dialect: _passed(results, dialect, samples) for dialect in dialects}
    rows = tuple(
        TableRow(
            (f"pass@{k}",),
            tuple(_cell(counts[dialect], k, level) for dialect in dialects for level in levels),
            name,
            level=f"pass@{k}",
        )
        for k in ks(len(samples))
    )
    columns = level_columns(levels, "pass_at_k")
    groups = tuple(ColumnGroup(TITLES[dialect], columns, dialect) for dialect in dialects)
    note = f"How likely one of k samples matches (EX), estimated from {len(samples)} samples a question."
    return TableModel(f"pass@k (%): {name}", ("k",), groups, rows, (note,))


def _passed(results: Sequence[PairResult], dialect: EngineName, samples: Sequence[str]) -> Counts:
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

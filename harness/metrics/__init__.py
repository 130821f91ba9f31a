"""Score results, times, work and SQL texts by pure functions: no I/O, no engine, no dialect.

`METRICS` lists them all. The variants that the documentation calls `official`, which compute what the
published scripts compute, have the plain names (`ex`, `soft_f1`, `r_ves`); every other variant has its
difference in its name and title.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from math import sqrt

from harness.lab import metrics_of_labs
from harness.metrics.accuracy import (
    Answers,
    ex,
    ex_bag,
    ex_columns,
    ex_ordered,
    ex_rounded,
    ex_strict_of,
    ex_subset,
)
from harness.metrics.distinct import Row
from harness.metrics.efficiency import Timing
from harness.metrics.soft_f1 import soft_f1, soft_f1_aligned, soft_f1_documented
from harness.metrics.work import r_ves_work, ves_work

RowScore = Callable[[Sequence[Row], Sequence[Row]], float]
"""Maps predicted rows and gold rows to a score in [0, 1]."""
AnswersScore = Callable[[Sequence[Row], Sequence[Row], Callable[[], Answers]], float]
"""The same, with a function that finds the other answers gold allows, called only if they matter."""


class Basis(StrEnum):
    """What a metric is computed from, and so what must be executed for it."""

    ROWS = "rows"
    """The rows of prediction and gold."""
    ANSWERS = "answers"
    """The rows of both, and the other answers gold allows."""
    TIMES = "times"
    """Both run 100 times, as the published script does."""
    STABLE_TIMES = "stable_times"
    """Both run as often as it takes to decide."""
    WORK = "work"
    """The work each makes the engine do, counted in one execution."""
    WITNESSES = "witnesses"
    """The rows of both on a small database that is searched to refute an answer that EX calls right."""
    STRUCTURE = "structure"
    """The two texts."""
    VARIANTS = "variants"
    """The rows of both on variants of the database, if they match on the database itself."""
    SUITE = "suite"
    """The rows of both on the database and its variants, changed and compared as Spider's script does."""
    VERDICT = "verdict"
    """What a lab decides by itself, on a set of its own: nothing of it can be asked for a question."""

    @property
    def needs_variants(self) -> bool:
        """True if variants of the databases must be given."""
        return self in {Basis.VARIANTS, Basis.SUITE}


@dataclass(frozen=True)
class Metric:
    """One metric, with everything the rest of the project needs, so that no other code depends on its name.

    `title` heads its table. `is_share`: each pair scores 0 or 1, so the total is a share. `of_rows`,
    `of_answers` and `of_timing` compute the score of a pair if `basis` is ROWS, ANSWERS or a measurement
    of times; `of_work` scores a matching pair from gold's work divided by the prediction's. `is_searched`:
    the score is searched for among many orders, under its own time limit; a pair beyond it has no score.
    `has_score`: whether it gives a pair one score; partial matching has its own table.
    `published_as`: the metric of published tables that its totals are compared with.
    """

    name: str
    title: str
    basis: Basis
    is_share: bool = False
    of_rows: RowScore | None = None
    of_answers: AnswersScore | None = None
    of_timing: Callable[[Timing], float] | None = None
    of_work: Callable[[float], float] | None = None
    is_searched: bool = False
    has_score: bool = True
    published_as: str | None = None

    @property
    def is_of_sqlite(self) -> bool:
        """True if it is defined for predictions on SQLite only."""
        return self.basis is Basis.STRUCTURE

    @property
    def is_timed(self) -> bool:
        """True if pairs must run again for it, with nothing else running."""
        return self.of_timing is not None


_ALL = (
    Metric("ex", "EX", Basis.ROWS, is_share=True, of_rows=ex, published_as="ex"),
    Metric("ex_strict", "EX strict", Basis.ANSWERS, is_share=True, of_answers=ex_strict_of),
    Metric("ex_ordered", "EX ordered", Basis.ANSWERS, is_share=True, of_answers=ex_ordered),
    Metric("ex_bag", "EX bag", Basis.ROWS, is_share=True, of_rows=ex_bag),
    Metric("ex_rounded", "EX rounded", Basis.ROWS, is_share=True, of_rows=ex_rounded),
    Metric("ex_columns", "EX columns", Basis.ROWS, is_share=True, of_rows=ex_columns, is_searched=True),
    Metric("ex_subset", "EX subset", Basis.ROWS, is_share=True, of_rows=ex_subset, is_searched=True),
    Metric("ex_tested", "EX tested", Basis.WITNESSES, is_share=True),
    Metric("soft_f1", "Soft-F1", Basis.ROWS, of_rows=soft_f1, published_as="soft_f1"),
    Metric("soft_f1_documented", "Soft-F1 documented", Basis.ROWS, of_rows=soft_f1_documented),
    Metric("soft_f1_aligned", "Soft-F1 aligned", Basis.ROWS, of_rows=soft_f1_aligned, is_searched=True),
    Metric("r_ves", "R-VES", Basis.TIMES, of_timing=lambda timing: sqrt(timing.reward), published_as="r_ves"),
    Metric("r_ves_documented", "R-VES documented", Basis.TIMES, of_timing=lambda timing: timing.reward),
    Metric(
        "r_ves_stable",
        "R-VES stable",
        Basis.STABLE_TIMES,
        of_timing=lambda timing: sqrt(timing.reward),
        published_as="r_ves",
    ),
    Metric("ves", "VES", Basis.TIMES, of_timing=lambda timing: sqrt(timing.tau)),
    Metric("r_ves_work", "R-VES work", Basis.WORK, of_work=r_ves_work, published_as="r_ves"),
    Metric("ves_work", "VES work", Basis.WORK, of_work=ves_work),
    Metric("em", "EM", Basis.STRUCTURE, is_share=True),
    Metric("partial", "Partial matching", Basis.STRUCTURE, has_score=False),
    Metric("ts", "TS", Basis.VARIANTS, is_share=True),
    Metric("ts_spider", "TS Spider", Basis.SUITE, is_share=True),
)

_OWN: Mapping[str, Metric] = {metric.name: metric for metric in _ALL}


@cache
def _of_labs() -> Mapping[str, Metric]:
    return metrics_of_labs(Metric, _OWN)


class _Metrics(Mapping[str, Metric]):
    """The project's metrics, then those of labs."""

    def __getitem__(self, name: str) -> Metric:
        return _OWN[name] if name in _OWN else _of_labs()[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*_OWN, *_of_labs()))

    def __len__(self) -> int:
        return len(_OWN) + len(_of_labs())


METRICS: Mapping[str, Metric] = _Metrics()
"""Every metric by the name used in options, files and tables, in the order of the tables."""


def question_metrics() -> list[str]:
    """Return the metrics that can be asked for: all but the verdicts of labs."""
    return [name for name, metric in METRICS.items() if metric.basis is not Basis.VERDICT]


def of_basis(names: Iterable[str], basis: Basis) -> list[str]:
    """Select the metrics that give a pair a score by `basis`, in their order."""
    return [name for name in names if METRICS[name].basis is basis and METRICS[name].has_score]


OUTCOME_METRIC = "ex"
"""The metric that an outcome implies: `match` is a score of 1, requested or not."""

DEFAULT_METRICS = (OUTCOME_METRIC, "soft_f1")
"""Computed unless other metrics are requested: the official ones that need each SQL text run only once."""

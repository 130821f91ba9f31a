"""Test-suite accuracy (TS): a prediction has to be right on every variant of its database too.

Definition: Zhong, Yu and Klein 2020, "Semantic Evaluation for Text-to-SQL with Distilled Test Suites",
https://arxiv.org/abs/2010.02840. Theirs is the idea and the conjunction: right means the same result as gold
on each database of a suite. docs/test-suite.md says what differs: variants are given or generated and not
distilled, results are compared as EX compares them, and the texts are run as they are.

Promises: a variant on which gold fails is never held against a prediction; gold's rows are read once per
variant while they fit into a fixed room, whatever the number of predictors.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

from dialects.enums import Dialect
from harness.data.questions import Question
from harness.engines.base import Engine, Row
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.metrics.comparison.distinct import firsts
from harness.metrics.ex import ex
from harness.scoring.once import Once
from harness.scoring.variants import Variants

_ROOM = 256 * 2**20
"""Bytes of gold's rows that are kept."""


@dataclass(frozen=True)
class Verdict:
    """What became of one prediction on the variants.

    `score` is 1.0 unless it is wrong on `failed_variant`, the first on which it is, for the reason `fault`.
    `compared` counts the variants on which it was held against gold: 0 for the text of gold itself, and where
    there is no variant on which gold runs, so that the score is that of the database itself. `left_out` has
    the variants, of those looked at, on which gold failed.
    """

    score: float
    failed_variant: str | None = None
    fault: str | None = None
    compared: int = 0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Gold:
    """Gold's distinct rows on one variant; None where it failed."""

    rows: tuple[Row, ...] | None
    seconds: float


class Suite:
    """Scores predictions in SQLite's dialect on the variants of their databases; thread-safe.

    Args:
        variants: the variants.
        engine: runs all texts; it reads SQLite files.
        limits: what one SQL text may use; as in EX, the seconds are for a prediction and its gold together.
        room: how many bytes of gold's rows are kept; what does not fit is run again whenever it is needed.
    """

    def __init__(
        self, variants: Variants, engine: Engine, limits: Limits | None = None, *, room: int = _ROOM
    ) -> None:
        self._variants = variants
        self._limits = limits or Limits()
        self._engine = engine
        self._once = Once()
        self._lock = Lock()
        self._room = room
        self._left_out: dict[str, list[str]] = {}

    @property
    def left_out(self) -> Mapping[str, Sequence[str]]:
        """The variants on which gold failed so far, by the question's key."""
        with self._lock:
            return {key: tuple(names) for key, names in sorted(self._left_out.items())}

    def score(self, question: Question, sql: str) -> Verdict:
        """Whether a prediction that is right on the database itself is right on every variant.

        One that is wrong on the database itself is wrong, so nobody asks. One with the text of gold is right
        by definition and is not run: `random()` in it could decide otherwise.

        Raises:
            EngineLost: a file cannot be opened.
        """
        if sql.strip() == question.gold[Dialect.SQLITE].strip():
            return Verdict(1.0)
        compared = 0
        left_out: list[str] = []
        for name in self._variants.telling[question.db_id]:
            gold = self._gold(name, question)
            if gold.rows is None:
                left_out.append(name)
                continue
            compared += 1
            fault = self._fault(self._execute(name, question, sql), gold.rows, gold.seconds)
            if fault is not None:
                return Verdict(0.0, name, fault, compared, tuple(left_out))
        return Verdict(1.0, None, None, compared, tuple(left_out))

    def _execute(self, name: str, question: Question, sql: str) -> Execution:
        database = self._variants.database(name, question.db_id)
        return execute(self._engine, database, sql, self._limits)

    def _fault(self, predicted: Execution, gold: tuple[Row, ...], gold_seconds: float) -> str | None:
        """What is wrong with a prediction on a variant; None where it is right."""
        if predicted.ending is not Ending.ROWS:
            return predicted.error or predicted.ending
        if predicted.seconds + gold_seconds > self._limits.seconds:
            return f"with its gold it took longer than {self._limits.seconds:g} s"
        return None if ex(predicted.rows, gold) == 1.0 else "other rows"

    def _gold(self, name: str, question: Question) -> _Gold:
        """Gold on a variant, from what is kept or run again."""
        mine: list[_Gold] = []

        def compute() -> _Gold | None:
            mine.append(self._run_gold(name, question))
            return mine[0] if self._has_room(mine[0]) else None

        kept = self._once((name, question.key, question.gold[Dialect.SQLITE]), compute)
        return kept or (mine[0] if mine else self._run_gold(name, question))

    def _run_gold(self, name: str, question: Question) -> _Gold:
        execution = self._execute(name, question, question.gold[Dialect.SQLITE])
        if execution.ending is not Ending.ROWS or execution.seconds > self._limits.seconds:
            with self._lock:
                self._left_out.setdefault(question.key, []).append(name)
            return _Gold(None, execution.seconds)
        # EX compares sets: what is kept needs no row twice.
        return _Gold(tuple(firsts(execution.rows)), execution.seconds)

    def _has_room(self, gold: _Gold) -> bool:
        """Whether gold is to be kept; takes the room that it needs."""
        rows = gold.rows or ()
        size = sum(sys.getsizeof(row) + sum(map(sys.getsizeof, row)) for row in rows)
        with self._lock:
            fits = size <= self._room
            if fits:
                self._room -= size
            return fits

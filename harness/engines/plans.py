"""Execution plans as trees, in the same terms for every engine.

A session that provides plans is a `PlanningSession`; `plans.py` in an engine's folder reads its output, by a
table from its words to `Operator`. What an engine does not report is None: no figure is invented.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from math import isqrt
from typing import Any, Protocol, Self, runtime_checkable

from harness.engines.base import Engine, SqlError, SqlTimeout, SqlTooLarge
from harness.engines.execution import WATCHDOG, Ending, Limits
from loaders.base.records import to_record
from loaders.namespace import Database

DEEPEST = 100
"""Maximum levels of a plan that is shown."""

MOST_NODES = 500
"""Maximum nodes of a plan that is shown."""

TOO_BIG = f"its plan has more than {DEEPEST} levels or {MOST_NODES:,} steps, too many to be shown"
"""Message for a plan that is too large to read."""

NOT_A_QUERY = "is not a query, and only a query has a plan"
"""Message for other statements, after their first word."""

SEVERAL = "the text has several statements, and a plan is of one"
"""Message for more than one statement."""


class Operator(StrEnum):
    """What a node of a plan does, in the same terms for every engine."""

    QUERY = "query"
    """The whole statement, where an engine lists its steps below no step."""
    SCAN = "scan"
    """Reads a table, or what was materialized, from its first row to its last."""
    INDEX_SCAN = "index scan"
    """Reads an index from end to end, and the table's rows by it."""
    INDEX_SEARCH = "index search"
    """Looks values or ranges up in an index or by a key, and fetches the table's rows."""
    COVERING_SCAN = "covering index scan"
    """Reads an index from end to end, and the table not at all."""
    COVERING_SEARCH = "covering index search"
    """Looks values or ranges up in an index that has all requested columns."""
    TEMPORARY_INDEX = "temporary index search"
    """Looks values up in an index created only for this statement."""
    ROW_SEARCH = "row search"
    """Fetches rows by where they are stored."""
    BITMAP_SCAN = "bitmap scan"
    """Fetches the rows that index searches have marked before, in the order in which they are stored."""
    INDEX_MERGE = "index merge"
    """Puts together what several index searches find."""
    VALUES = "values"
    """Rows that are known without reading any table, or that there are none."""
    FUNCTION = "function"
    """Rows that a function returns, or a virtual table."""
    NESTED_LOOP = "nested loop"
    HASH_JOIN = "hash join"
    MERGE_JOIN = "merge join"
    HASH = "hash"
    """Fills a hash table for the join above, or a Bloom filter."""
    FILTER = "filter"
    SORT = "sort"
    AGGREGATE = "aggregate"
    """Groups rows, or aggregates all of them."""
    WINDOW = "window"
    DISTINCT = "distinct"
    MATERIALIZE = "materialize"
    """Keeps rows so that they need not be computed again."""
    PIPELINE = "pipeline"
    """Hands rows of a part of the query on as they come."""
    SUBQUERY = "subquery"
    """Is run once."""
    CORRELATED_SUBQUERY = "correlated subquery"
    """Is run for rows of the query around it."""
    UNION = "union"
    INTERSECT = "intersect"
    EXCEPT = "except"
    SET_OPERATION = "set operation"
    """Its part names the kind, or the engine does not report it."""
    RECURSION = "recursion"
    LIMIT = "limit"
    PARALLEL = "parallel"
    """Gathers rows from processes that work side by side."""
    LOCK = "lock"
    WRITE = "write"
    UNKNOWN = "unknown"
    """None of these: see the engine's own words."""


def operators(words: Mapping[Operator, str]) -> Mapping[str, Operator]:
    """Return an engine's words for each operator, apart by `|`, as a table from each to the operator."""
    return {word: operator for operator, some in words.items() for word in some.split("|")}


def conditions(told: Iterable[Any]) -> str | None:
    """Join the conditions that an engine reports for a node; None if there are none."""
    texts = [", ".join(map(str, one)) if isinstance(one, list) else str(one) for one in told]
    return "; ".join(texts) or None


@dataclass(frozen=True)
class PlanNode:
    """One step of a plan.

    `words` are the engine's own. `table` is a table's name, `alias` what the statement calls it where that is
    another name; `index` and `condition` in the engine's words.

    Rows are those that the step hands up, one execution of it (one of its `loops`): estimated ones of the
    optimizer's, and real ones, which are a mean and therefore no whole number. `cost` is the optimizer's, in
    the engine's own unit, for one execution of this step and all below it. None: the engine does not say.
    """

    operator: Operator
    words: str
    table: str | None = None
    alias: str | None = None
    index: str | None = None
    condition: str | None = None
    estimated_rows: int | float | None = None
    real_rows: int | float | None = None
    loops: int | float | None = None
    cost: int | float | None = None
    children: tuple["PlanNode", ...] = ()

    @property
    def all_rows(self) -> float | None:
        """Total rows returned by the step."""
        return None if self.real_rows is None else self.real_rows * (self.loops or 0)

    @property
    def label(self) -> str:
        """The step in common terms, with its table and index, or in the engine's own words."""
        if self.operator in {Operator.UNKNOWN, Operator.QUERY}:
            return self.words
        name = "" if self.table is None else f" {self.table}"
        name += f" {self.alias}" if self.alias else ""
        index = f" by {self.index}" if self.index else ""
        return f"{self.operator}{name}{index}"

    def walk(self) -> Iterator["PlanNode"]:
        """This node and all below it, each before its children."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    def below(self, operator: Operator, words: str) -> "PlanNode":
        """Return a parent with the same figures that names this node's part of the statement."""
        figures = {name: getattr(self, name) for name in ("estimated_rows", "real_rows", "loops", "cost")}
        return PlanNode(operator, words, children=(self,), **figures)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values, without what the engine does not report."""
        content = {name: getattr(self, name) for name in _PLAIN}
        record = {name: value for name, value in content.items() if value is not None}
        if self.children:
            record["children"] = [child.to_json() for child in self.children]
        return record


_PLAIN = tuple(each.name for each in fields(PlanNode) if each.name != "children")


@dataclass(frozen=True)
class QueryPlan:
    """The plan of one SQL text, and how running it went.

    `ending` is ROWS where the plan has real rows. Where the text was stopped (TIMEOUT, TOO_LARGE) the plan
    has estimates alone; where the engine refuses it (ERROR) there is none. `error` and `code` are the
    engine's own words then. `seconds` is wall-clock time. `counters` is what the text made the engine do
    (`harness.engines.execution`), where that was asked for; `uncounted` says why it could not be counted.
    """

    ending: Ending
    root: PlanNode | None = None
    error: str | None = None
    code: str | None = None
    seconds: float = 0.0
    counters: Mapping[str, int] | None = None
    uncounted: str | None = None

    @property
    def cost(self) -> float | None:
        """The optimizer's cost of the whole statement: of its topmost steps that have one, together."""
        waiting = [] if self.root is None else [self.root]
        known = []
        while waiting:
            node = waiting.pop()
            if node.cost is not None:
                known.append(node.cost)
            else:
                waiting += node.children
        return sum(known) if known else None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        record: dict[str, Any] = {"ending": self.ending.value, "error": self.error, "code": self.code}
        record |= {"uncounted": self.uncounted, "counters": self.counters and dict(self.counters)}
        root = {} if self.root is None else {"plan": self.root.to_json()}
        return {name: value for name, value in record.items() if value is not None} | root

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Read what `to_json` made, whatever other fields are with it.

        Raises:
            RecordFault: it is not that.
        """
        root = to_record(PlanNode, record["plan"]) if "plan" in record else None
        return replace(to_record(cls, record, others=True), root=root)


@runtime_checkable
class PlanningSession(Protocol):
    """A session that provides plans."""

    def plan(self, sql: str, *, is_run: bool) -> PlanNode:
        """Return the plan of one query.

        Nothing but a single query is explained, and that by the role that can only read.

        Args:
            sql: the text.
            is_run: whether it is run to its end, for the real rows; else estimates alone.

        Raises:
            SqlError, SqlTimeout, SqlTooLarge, EngineLost: as `Session.batches`.
        """
        ...


def explain(
    engine: Engine, database: Database, sql: str, limits: Limits, *, is_run: bool = True
) -> QueryPlan:
    """Return the plan of one SQL text, in a session of its own.

    Args:
        engine: where.
        database: the one that unqualified table names mean.
        sql: the text; one query.
        limits: `seconds` hold for running it, and again for estimates where that was too long.
        is_run: whether it is run.

    Raises:
        EngineLost: the engine failed, not the text.
    """
    found = _explained(engine, database, sql, limits, is_run=is_run)
    if not is_run or found.ending not in (Ending.TIMEOUT, Ending.TOO_LARGE):
        return found
    estimated = _explained(engine, database, sql, limits, is_run=False)
    return QueryPlan(found.ending, estimated.root, found.error, found.code, found.seconds)


def stopped(seconds: float) -> str:
    """Return the remark on a text that ran out of time."""
    return f"it did not end within {seconds:g} s: the plan is what was going to be done, without real rows"


def _explained(engine: Engine, database: Database, sql: str, limits: Limits, *, is_run: bool) -> QueryPlan:
    with engine.session(database, limits.seconds) as session:
        if not isinstance(session, PlanningSession):
            return QueryPlan(Ending.ERROR, error="this engine provides no plans")
        started = time.perf_counter()
        code = None
        root = None
        with WATCHDOG.guard(session, limits.seconds) as guarded:
            try:
                root = bounded(session.plan(sql, is_run=is_run))
                ending, error = Ending.ROWS, None
            except SqlError as failure:
                is_late = isinstance(failure, SqlTimeout) or guarded.fired
                too_large = isinstance(failure, SqlTooLarge)
                ending = Ending.TIMEOUT if is_late else Ending.TOO_LARGE if too_large else Ending.ERROR
                error, code = stopped(limits.seconds) if is_late else failure.message, failure.code
                failure.__cause__ = failure.__context__ = failure.__traceback__ = None
            except MemoryError:
                ending, error = Ending.TOO_LARGE, "more memory than a result may take"
            except RecursionError:
                ending, error = Ending.ERROR, TOO_BIG
        return QueryPlan(ending, root, error, code, time.perf_counter() - started)


def bounded(root: PlanNode) -> PlanNode:
    """Return the plan, if it is of a size that can be shown.

    Raises:
        SqlError: it is not.
    """
    level: list[PlanNode] = [root]
    nodes = depth = 0
    while level:
        depth += 1
        nodes += len(level)
        if depth > DEEPEST or nodes > MOST_NODES:
            raise SqlError(TOO_BIG, None)
        level = [child for node in level for child in node.children]
    return root


_JOINS = frozenset({Operator.NESTED_LOOP, Operator.HASH_JOIN, Operator.MERGE_JOIN})

_APART = -1.0
"""The score of steps that have nothing in common, which are never aligned."""


class StepMark(StrEnum):
    """How a step of one plan relates to the other plan."""

    SAME = "same"
    """The other plan also has it: the same operator, table and index."""
    OTHER = "other"
    """The other plan has a different operator or index there."""
    ALONE = "alone"
    """The other plan has nothing like it."""


@dataclass(frozen=True)
class PlanStep:
    """A node of a plan, and the number of levels above it."""

    node: PlanNode
    depth: int


@dataclass(frozen=True)
class AlignedSteps:
    """A step of gold's plan aligned with one of the prediction's; None where only the other one has it."""

    gold: PlanStep | None
    prediction: PlanStep | None

    @property
    def mark(self) -> StepMark:
        """How the two steps relate."""
        if self.gold is None or self.prediction is None:
            return StepMark.ALONE
        return StepMark.SAME if _does(self.gold.node) == _does(self.prediction.node) else StepMark.OTHER


@dataclass(frozen=True)
class PlanComparison:
    """What two plans have in common.

    `is_same`: they are the same tree of the same operators on the same tables by the same indexes. Rows and
    costs do not count, nor do conditions, in which each text has names and values of its own.
    """

    steps: tuple[AlignedSteps, ...]
    is_same: bool


def numbered(steps: Iterable[AlignedSteps]) -> Iterator[tuple[int | None, int | None, StepMark]]:
    """Yield aligned steps by their numbers in their plans; None where only the other plan has one."""
    gold = prediction = 0
    for each in steps:
        yield gold if each.gold else None, prediction if each.prediction else None, each.mark
        gold += each.gold is not None
        prediction += each.prediction is not None


def steps_of(root: PlanNode) -> list[PlanStep]:
    """Return the steps of a plan, each before those below it."""
    return list(_steps(root, 0))


def _steps(node: PlanNode, depth: int) -> Iterator[PlanStep]:
    yield PlanStep(node, depth)
    for child in node.children:
        yield from _steps(child, depth + 1)


def compare_plans(gold: PlanNode, prediction: PlanNode) -> PlanComparison:
    """Compare a prediction's plan with gold's."""
    left, right = steps_of(gold), steps_of(prediction)
    is_same = [(step.depth, _does(step.node)) for step in left] == [
        (step.depth, _does(step.node)) for step in right
    ]
    if is_same:
        return PlanComparison(tuple(map(AlignedSteps, left, right)), is_same=True)
    return PlanComparison(tuple(_aligned(left, right)), is_same=False)


def _does(node: PlanNode) -> tuple[Operator, str, str, str]:
    """What a step does, however the statement spells it; of an unknown operator, the engine's words."""
    words = node.words if node.operator is Operator.UNKNOWN else ""
    return node.operator, words, _table(node), (node.index or "").lower()


def _table(node: PlanNode) -> str:
    return (node.table or "").lower()


def _aligned(left: Sequence[PlanStep], right: Sequence[PlanStep]) -> Iterator[AlignedSteps]:
    """Yield the alignment of the highest score, from the top."""
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left))):
        below, row = best[i + 1], best[i]
        for j in reversed(range(len(right))):
            alike = _alike(left[i], right[j])
            beside = below[j + 1] + alike if alike > 0 else 0.0
            row[j] = max(beside, below[j], row[j + 1])
    i = j = 0
    while i < len(left) and j < len(right):
        alike = _alike(left[i], right[j])
        if alike > 0 and best[i][j] == best[i + 1][j + 1] + alike:
            yield AlignedSteps(left[i], right[j])
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            yield AlignedSteps(left[i], None)
            i += 1
        else:
            yield AlignedSteps(None, right[j])
            j += 1
    yield from (AlignedSteps(step, None) for step in left[i:])
    yield from (AlignedSteps(None, step) for step in right[j:])


def _alike(left: PlanStep, right: PlanStep) -> float:
    """Score how well two steps match; best with the same number of steps above them."""
    one, other = left.node, right.node
    near = 0.5 / (1 + abs(left.depth - right.depth))
    if _does(one) == _does(other):
        return (4.0 if one.table else 2.0) + near
    if one.table or other.table:
        return 2.0 + near if _table(one) == _table(other) else _APART
    if one.operator is other.operator or {one.operator, other.operator} <= _JOINS:
        return 1.0 + near
    return _APART


def later_parts(rows: int, passed: int | None) -> Mapping[str, int]:
    """Estimate for how many rows the parts after AND and after OR are evaluated.

    The first part often decides. After AND it is the geometric mean of all rows and those that pass, after OR
    of all and those that do not; half of all if nothing passes or fails.

    Args:
        rows: the rows evaluated.
        passed: the rows that pass; None if it is not a condition.
    """
    if passed is None:
        return {"AND": rows // 2, "OR": rows // 2}
    return {"AND": isqrt(rows * passed), "OR": isqrt(rows * max(0, rows - passed))}


def comparisons(rows: int, loops: int, kept: int | None = None) -> int:
    """How often rows are compared to be sorted: n log n; where only the first k are kept, n + k log k.

    Args:
        rows: the rows of all loops together.
        loops: how often they are sorted, 1 or more.
        kept: how many of them are kept; None for all.
    """
    if kept is None:
        return rows * (rows // loops).bit_length()
    return rows + kept * (kept // loops).bit_length()

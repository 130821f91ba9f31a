"""Finds values for the cells of a problem: SQLite itself tries its conditions on candidates.

Cells that have to be equal are one class. Conditions on one class narrow its candidates, conditions on
several are a join of them; what the problem orders by is that join's ORDER BY.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from sqlglot import exp

from loaders.twins.problem import RowProblem, cells_in
from loaders.twins.shape import ColumnShape, Shape, Value

_MOST_PAIRS = 60_000
"""Combinations of candidates that are tried together."""
_STEPS = 400
"""Of 10,000 instructions of SQLite's machine: a limit that is the same on every computer."""


@dataclass(frozen=True)
class ClassCondition:
    """A condition over classes: SQL in which class 3 is the column `k3`."""

    sql: str
    classes: tuple[int, ...]


@dataclass
class Classes:
    """A problem with its cells put together in classes, each named by its first cell."""

    problem: RowProblem
    of: list[int]
    members: dict[int, list[int]] = field(default_factory=dict)
    conditions: list[ClassCondition] = field(default_factory=list)
    ordered: list[ClassCondition] = field(default_factory=list)

    @property
    def constrained(self) -> list[int]:
        """The classes that are not free, each once."""
        return list(
            dict.fromkeys(each for part in (*self.conditions, *self.ordered) for each in part.classes)
        )


def classes(problem: RowProblem) -> Classes:
    """Put the cells of a problem together."""
    of = list(range(len(problem.cells)))

    def root(cell: int) -> int:
        while of[cell] != cell:
            cell = of[cell]
        return cell

    for a, b in problem.equal:
        low, high = sorted((root(a), root(b)))
        of[high] = low
    found = Classes(problem, [root(cell) for cell in of])
    for cell, name in enumerate(found.of):
        found.members.setdefault(name, []).append(cell)
    found.conditions = [_condition(each, found.of) for each in problem.conjuncts]
    for expression, descending in problem.ordered:
        condition = _condition(expression, found.of)
        direction = "DESC" if descending else "ASC"
        sql = f"({condition.sql}) IS NULL, {condition.sql} {direction}"
        found.ordered.append(ClassCondition(sql, condition.classes))
    return found


def _condition(expression: exp.Expr, of: Sequence[int]) -> ClassCondition:
    copy = expression.copy()
    for column in list(copy.find_all(exp.Column)):
        column.this.set("this", f"k{of[int(column.name[1:])]}")
    return ClassCondition(copy.sql("sqlite", copy=False), tuple(cells_in(copy)))


class Trier:
    """Tries conditions on values."""

    def __init__(self, shape: Shape, rng: Random) -> None:
        self._shape, self._rng = shape, rng
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._left = 0
        self._connection.set_progress_handler(self._step, 10_000)

    def column(self, problem: RowProblem, cell: int) -> ColumnShape:
        """The column that a cell is of."""
        row, name = problem.cells[cell]
        return self._shape.by_key[problem.tables[row]].by_key[name]

    def narrowed(
        self, name: int, column: ColumnShape, values: Sequence[Value], conditions: Iterable[ClassCondition]
    ) -> list[Value]:
        """The values that meet all conditions on this class alone."""
        left = list(values)
        for condition in conditions:
            if condition.classes == (name,):
                found = self._select(condition.sql, "", {name: (column, left)}, len(left))
                if found is not None:
                    left = [row[0] for row in found]
        return left

    def joined(
        self,
        columns: Mapping[int, ColumnShape],
        values: Mapping[int, Sequence[Value]],
        conditions: Sequence[ClassCondition],
        ordered: Sequence[ClassCondition],
    ) -> dict[int, Value] | None:
        """One value for each class so that all conditions hold, None where the candidates have none."""
        names = list(values)
        most = max(int(_MOST_PAIRS ** (1 / max(len(names), 1))), 3)
        tried = {}
        for name in names:
            given = list(values[name])
            self._rng.shuffle(given)
            kept = given[:most] if len(given) > most else given
            # The ends count where something is ordered.
            kept += [value for value in list(values[name])[-4:] if value not in kept]
            tried[name] = (columns[name], kept)
        by = ", ".join(each.sql for each in ordered)
        where = " AND ".join(f"({each.sql})" for each in conditions) or "1"
        found = self._select(where, by, tried, 1)
        if found is None:
            alone = [each for each in conditions if len(each.classes) == 1]
            found = self._select(" AND ".join(f"({each.sql})" for each in alone) or "1", "", tried, 1)
        return dict(zip(names, found[0], strict=True)) if found else None

    def _select(
        self, where: str, by: str, tables: Mapping[int, tuple[ColumnShape, Sequence[Value]]], limit: int
    ) -> list[tuple[Value, ...]] | None:
        """The rows of the join that meet a condition; None where SQLite does not accept it."""
        run = self._connection.execute
        for name, (column, values) in tables.items():
            run(f"CREATE TEMP TABLE t{name} (k{name} {_declared(column)})")
            self._connection.executemany(f"INSERT INTO t{name} VALUES (?)", [(value,) for value in values])  # noqa: S608
        columns = ", ".join(f"k{name}" for name in tables)
        sources = ", ".join(f"t{name}" for name in tables)
        order = f" ORDER BY {by}" if by else ""
        self._left = _STEPS
        try:
            return run(f"SELECT {columns} FROM {sources} WHERE {where}{order} LIMIT {limit}").fetchall()  # noqa: S608
        except sqlite3.Error:
            return None
        finally:
            self._left = _STEPS
            for name in tables:
                run(f"DROP TABLE t{name}")

    def _step(self) -> int:
        self._left -= 1
        return int(self._left < 0)


def _declared(column: ColumnShape) -> str:
    return "" if column.affinity == "BLOB" else column.affinity

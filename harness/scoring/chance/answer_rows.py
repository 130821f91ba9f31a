"""Add rows that solve a problem to a database: values for its cells, then a row for each row variable.

SQLite itself evaluates a problem's conditions on candidates. Cells that must be equal form one class.
Conditions on one class filter its candidates, conditions on several classes join them; the problem's order is
that join's ORDER BY.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from sqlglot import exp

from harness.scoring.chance.queries import RowProblem, cells_in, compared
from harness.scoring.chance.rows import NoRowFits, Rows, StepLimit
from harness.scoring.chance.shape import ColumnShape, Shape, TableName, Value
from harness.scoring.chance.values import Values

_MOST_PAIRS = 60_000
"""Most combinations of candidates tried together."""
_STEPS = 400
"""In 10,000 instructions of SQLite's virtual machine: the same limit on every computer."""


class ClassCondition(NamedTuple):
    """A condition on classes: SQL in which class 3 is the column `k3`."""

    sql: str
    classes: tuple[int, ...]


@dataclass
class Classes:
    """A problem with its cells grouped into classes, each named by its first cell."""

    problem: RowProblem
    of: list[int]
    members: dict[int, list[int]] = field(default_factory=dict)
    conditions: list[ClassCondition] = field(default_factory=list)
    ordered: list[ClassCondition] = field(default_factory=list)

    @property
    def constrained(self) -> list[int]:
        """The classes that are not free, without repeats."""
        return list(
            dict.fromkeys(each for part in (*self.conditions, *self.ordered) for each in part.classes)
        )


def classes(problem: RowProblem) -> Classes:
    """Group the cells of a problem into classes."""
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


class ConditionSolver:
    """Evaluates conditions on values."""

    def __init__(self, shape: Shape, rng: Random) -> None:
        self._shape, self._rng = shape, rng
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._limit = StepLimit(self._connection)

    def column(self, problem: RowProblem, cell: int) -> ColumnShape:
        """Return the column of a cell."""
        row, name = problem.cells[cell]
        return self._shape.by_key[problem.tables[row]].by_key[name]

    def narrowed(
        self, name: int, column: ColumnShape, values: Sequence[Value], conditions: Iterable[ClassCondition]
    ) -> list[Value]:
        """Return the values that meet all conditions on only this class."""
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
        """Return one value for each class so that all conditions hold; None if there is no such choice."""
        names = list(values)
        most = max(int(_MOST_PAIRS ** (1 / max(len(names), 1))), 3)
        tried = {}
        for name in names:
            given = list(values[name])
            self._rng.shuffle(given)
            kept = given[:most] if len(given) > most else given
            # If there is an order, the extremes matter.
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
        """Return the rows of the join that meet a condition; None if SQLite rejects it."""
        run = self._connection.execute
        for name, (column, values) in tables.items():
            declared = "" if column.affinity == "BLOB" else column.affinity
            run(f"CREATE TEMP TABLE t{name} (k{name} {declared})")
            self._connection.executemany(f"INSERT INTO t{name} VALUES (?)", [(value,) for value in values])  # noqa: S608
        columns = ", ".join(f"k{name}" for name in tables)
        sources = ", ".join(f"t{name}" for name in tables)
        order = f" ORDER BY {by}" if by else ""
        self._limit.left = _STEPS
        try:
            return run(f"SELECT {columns} FROM {sources} WHERE {where}{order} LIMIT {limit}").fetchall()  # noqa: S608
        except sqlite3.Error:
            return None
        finally:
            self._limit.left = _STEPS
            for name in tables:
                run(f"DROP TABLE t{name}")


_ATTEMPTS = 5
_LOOKUP_ROWS = 60
_KNOWN_KEYS = 40

Cells = dict[int, Value]
"""The value of every cell of a problem, by its number."""


class Planter:
    """Adds rows that solve problems to `rows`.

    Args:
        rows: of the database.
        values: the values of every column.
        ranks: the rank of every table, parents first.
        rng: makes all free choices.
    """

    def __init__(
        self,
        rows: Rows,
        values: Mapping[tuple[TableName, str], Values],
        ranks: Mapping[TableName, int],
        rng: Random,
    ) -> None:
        self._rows, self._values, self._ranks, self._rng = rows, values, ranks, rng
        self._solver = ConditionSolver(rows.shape, rng)
        self._candidates: dict[tuple[TableName, str], list[Value]] = {}

    def plant(
        self,
        problem: RowProblem,
        fixed: Mapping[int, Value] | None = None,
        avoided: set[tuple[int, Value]] | None = None,
        *,
        wide: bool = False,
    ) -> Cells | None:
        """Add one row for every row variable, so that all conditions hold.

        Args:
            problem: the problem.
            fixed: required values of cells.
            avoided: values that shown cells should not have, if possible.
            wide: whether columns with completely known values may get others.

        Returns:
            The cells; None if no values were found, or pinned cells prevent it.
        """
        put = classes(problem)
        for wider in (False, True) if wide else (False,):
            options = self._options(put, fixed or {}, wide=wider)
            for _ in range(_ATTEMPTS if options is not None else 0):
                found = _Attempt(self, put, options or {}, avoided or set()).run(fixed or {})
                if found is not None:
                    return found
        return None

    def _options(
        self, put: Classes, fixed: Mapping[int, Value], *, wide: bool
    ) -> dict[int, list[Value]] | None:
        """Return the candidates of every class that is not free; None if a class has none."""
        given = {put.of[cell]: value for cell, value in fixed.items()}
        ordered = {each for condition in put.ordered for each in condition.classes}
        found = {}
        for name in put.constrained:
            about = [each for each in put.conditions if name in each.classes]
            column = self._solver.column(put.problem, name)
            if name in given:
                values: list[Value] = [given[name]]
            else:
                values = self._of_class(put, name, about, extreme=name in ordered, wide=wide)
            found[name] = self._solver.narrowed(name, column, values, about)
            if not found[name]:
                return None
        return found

    def _of_class(
        self, put: Classes, name: int, about: list[ClassCondition], *, extreme: bool, wide: bool
    ) -> list[Value]:
        values: dict[Value, None] = {}
        nullable = False
        for cell in put.members[name]:
            row, column = put.problem.cells[cell]
            table = put.problem.tables[row]
            place = (table, column)
            if place not in self._candidates:
                self._candidates[place] = self._values[place].candidates(self._rng)
            values.update(dict.fromkeys(self._candidates[place]))
            for each in compared(put.problem, self._rows.shape) if wide or extreme else ():
                if (each.table, each.column) == place and each.whole:
                    values[each.value] = None
            if wide:
                values.update(dict.fromkeys(self._values[place].candidates(self._rng, wide=True)))
            shape = self._rows.shape.by_key[table]
            if (column,) in shape.keys or column in shape.referring:
                present = self._rows.column(table, column)
                values.update(dict.fromkeys(self._rng.sample(present, min(_KNOWN_KEYS, len(present)))))
            nullable = shape.by_key[column].nullable
            if extreme:
                values.update(
                    dict.fromkeys(self._values[place].beyond(self._rows.column(table, column), self._rng))
                )
        values.pop(None, None)
        found = list(values)
        if nullable and any("NULL" in each.sql for each in about):
            found.append(None)
        return found


class _Attempt:
    """One attempt at a problem."""

    def __init__(
        self,
        planter: Planter,
        put: Classes,
        options: Mapping[int, list[Value]],
        avoided: set[tuple[int, Value]],
    ) -> None:
        self.put, self.options, self.avoided = put, options, avoided
        self.problem = put.problem
        self.rows, self.rng = planter._rows, planter._rng  # noqa: SLF001 - its other half
        self.values, self.ranks, self.solver = planter._values, planter._ranks, planter._solver  # noqa: SLF001
        self.known: dict[int, Value] = {}
        self.bound: dict[int, int] = {}
        self.cells: dict[int, dict[str, int]] = {row: {} for row in range(len(self.problem.tables))}
        for cell, (row, column) in enumerate(self.problem.cells):
            self.cells[row][column] = put.of[cell]

    def run(self, fixed: Mapping[int, Value]) -> Cells | None:
        self.known = {self.put.of[cell]: value for cell, value in fixed.items()}
        order = sorted(self.cells, key=lambda row: (self.ranks[self.problem.tables[row]], row))
        for row in order:
            if not self._bind(row):
                return None
        if not self._solve():
            return None
        for row in order:
            self._complete(row)
        try:
            places = {row: self._store(row) for row in order}
        except NoRowFits:
            return None
        if None in places.values():
            return None
        for row, place in places.items():
            for column in self.cells[row]:
                if place is not None:
                    self.rows.pin(self.problem.tables[row], place, column)
        return {cell: self.known[self.put.of[cell]] for cell in range(len(self.problem.cells))}

    def _bind(self, row: int) -> bool:
        """Find an existing row by its key; False if it conflicts with the problem."""
        name = self.problem.tables[row]
        table, cells = self.rows.shape.by_key[name], self.cells[row]
        for key in table.keys:
            if not set(key) <= cells.keys():
                continue
            if not all(cells[column] in self.known or cells[column] in self.options for column in key):
                continue
            for column in key:
                if cells[column] not in self.known:
                    self.known[cells[column]] = self.rng.choice(self.options[cells[column]])
            place = self.rows.find(name, key, tuple(self.known[cells[column]] for column in key))
            if place is not None:
                return self._adopt(row, place)
        if table.names_only and len(self.rows.data[name]) <= _LOOKUP_ROWS:
            places = list(range(len(self.rows.data[name])))
            self.rng.shuffle(places)
            place = next(
                (each for each in places if each not in self.bound.values() and self._fits(row, each)), None
            )
            if place is not None:
                return self._adopt(row, place)
        return True

    def _fits(self, row: int, place: int) -> bool:
        """True if a stored row agrees with all known values of a row variable."""
        for column, name in self.cells[row].items():
            stored = self.rows.get(self.problem.tables[row], place, column)
            if name in self.known and self.known[name] != stored:
                return False
            if name in self.options and stored not in self.options[name]:
                return False
        return True

    def _adopt(self, row: int, place: int) -> bool:
        """Adopt a stored row's values, except for cells that must and can be changed."""
        table = self.problem.tables[row]
        self.bound[row] = place
        keys = {column for key in self.rows.shape.by_key[table].keys for column in key}
        for column, name in self.cells[row].items():
            stored = self.rows.get(table, place, column)
            stays = (table, place, column) in self.rows.pinned or column in keys
            if name in self.known:
                if self.known[name] != stored and stays:
                    return False
            elif name not in self.options or stored in self.options[name]:
                if stored is not None or name in self.options:
                    self.known[name] = stored
            elif stays:
                return False
        return True

    def _solve(self) -> bool:
        """Give a value to every class with conditions."""
        left = [name for name in self.options if name not in self.known]
        for name, value in self.known.items():
            if name in self.options and value not in self.options[name]:
                about = [each for each in self.put.conditions if each.classes == (name,)]
                column = self.solver.column(self.problem, name)
                if not self.solver.narrowed(name, column, [value], about):
                    return False
        done: set[int] = set()
        for name in [*left, *[each for each in self.options if each in self.known]]:
            if name in done:
                continue
            group = self._connected(name)
            done |= set(group)
            conditions = [each for each in self.put.conditions if set(each.classes) <= set(group)]
            if all(each in self.known for each in group) and all(
                len(each.classes) == 1 for each in conditions
            ):
                continue
            ordered = [each for each in self.put.ordered if set(each.classes) <= set(group)]
            values = {
                each: [self.known[each]] if each in self.known else self.options[each] for each in group
            }
            found = self.solver.joined(
                {each: self.solver.column(self.problem, each) for each in group}, values, conditions, ordered
            )
            if found is None:
                return False
            self.known.update(found)
        return True

    def _connected(self, name: int) -> list[int]:
        group = [name]
        for each in group:
            for condition in (*self.put.conditions, *self.put.ordered):
                if each in condition.classes:
                    group += [other for other in condition.classes if other not in group]
        return group

    def _complete(self, row: int) -> None:
        """Give a value to every remaining class."""
        for name in self.cells[row].values():
            if name not in self.known:
                self.known[name] = self._free_value(name)

    def _free_value(self, name: int) -> Value:
        places = [self.problem.cells[cell] for cell in self.put.members[name]]
        tables = [(self.problem.tables[row], column) for row, column in places]
        keys = [(t, c) for t, c in tables if (c,) in self.rows.shape.by_key[t].keys]
        if keys:
            # The referenced key decides, which has no reference itself.
            table, column = min(keys, key=lambda each: self.ranks[each[0]])
            for _ in range(_KNOWN_KEYS):
                value = self.rows.new_key(table, column)
                if all(self.rows.find(t, (c,), (value,)) is None for t, c in keys):
                    break
            return value
        table, column = tables[0]
        for t, c in tables:
            reference = self.rows.shape.by_key[t].referring.get(c)
            if reference is not None and len(self.rows.data[reference.parent]):
                target = reference.parent_columns[reference.columns.index(c)]
                found = self.rng.choice(self.rows.data[reference.parent])
                return found[self.rows.shape.by_key[reference.parent].positions[target]]
        shown = set(self.put.members[name]) & set(self.problem.shown)
        drawn = self.values[table, column]
        value = drawn.column.made(drawn.fresh(self.rng))
        for _ in range(_ATTEMPTS if shown else 0):
            if not any((cell, value) in self.avoided for cell in shown):
                break
            value = drawn.column.made(drawn.fresh(self.rng))
        return value

    def _store(self, row: int) -> int | None:
        name = self.problem.tables[row]
        given = {column: self.known[of] for column, of in self.cells[row].items()}
        table = self.rows.shape.by_key[name]
        place = self.bound.get(row)
        for key in table.keys:
            if place is None and set(key) <= given.keys():
                place = self.rows.find(name, key, tuple(given[column] for column in key))
        if place is None:
            return self.rows.add(name, given)
        return place if self.rows.change(name, place, given) else None


def values_of(shape: Shape, found: Sequence[RowProblem]) -> dict[tuple[TableName, str], Values]:
    """Return what the columns can hold: their known values, and those that problems compare them with."""
    literals: dict[tuple[TableName, str, bool], list[Value]] = {}
    for problem in found:
        for each in compared(problem, shape):
            literals.setdefault((each.table, each.column, each.whole), []).append(each.value)
    made = {}
    for table in shape.tables:
        for column in table.columns:
            whole, parts = (literals.get((table.key, column.key, whole), []) for whole in (True, False))
            checks = (literal for name, values in table.checked if name == column.key for literal in values)
            stored = dict.fromkeys([*map(column.stored, checks), *whole])
            made[table.key, column.key] = Values(column, list(stored), list(dict.fromkeys(map(str, parts))))
    return made

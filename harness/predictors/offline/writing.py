"""A query of the templates, and how it is written in each dialect."""

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dialects.enums import Dialect
from dialects.targets import SQLGLOT
from harness.engines.tables import TableText
from harness.predictors.base import DatabaseText
from harness.predictors.offline.reading import Condition, Field, Order

_TEXT = {Dialect.SQLITE: "TEXT", Dialect.MYSQL: "CHAR", Dialect.POSTGRESQL: "TEXT"}
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True)
class Query:
    """What a template asks for.

    `selected` are columns, or `function` of each of them; where there is a `share`, the part of the rows that
    meet its conditions, times `factor`. All `conditions` have to hold.
    """

    root: TableText
    selected: tuple[Field, ...] = ()
    function: str | None = None
    is_distinct: bool = False
    share: tuple[Condition, ...] = ()
    factor: int = 1
    conditions: tuple[Condition, ...] = ()
    grouped: Field | None = None
    order: Order | None = None
    limit: int = 1


class Writer:
    """Writes queries over one database in its dialect."""

    def __init__(self, database: DatabaseText) -> None:
        self._dialect = database.dialect
        names = {table.name.lower(): table.name for table in database.tables}
        self._links = [
            (
                table.name,
                names[target.lower()],
                self._on(table.name, columns, names[target.lower()], referred),
            )
            for table in database.tables
            for columns, target, referred in table.foreign_keys
            if target.lower() in names
        ]

    def _on(self, source: str, columns: Sequence[str], target: str, referred: Sequence[str]) -> str:
        pairs = zip(columns, referred, strict=False)
        return " AND ".join(f"{self._quoted(source, a)} = {self._quoted(target, b)}" for a, b in pairs)

    def write(self, query: Query) -> str:
        """The text, without a semicolon. A column whose table nothing links is crossed with the others."""
        parts = [f"SELECT {self._selected(query)}", f"FROM {self._from(query)}"]
        if query.conditions:
            parts.append(f"WHERE {self._all(query.conditions)}")
        if query.grouped is not None:
            parts.append(f"GROUP BY {self._name(query.grouped)}")
        if query.order is not None:
            parts.append(f"ORDER BY {self._order(query.order)} LIMIT {query.limit}")
        return " ".join(parts)

    def _selected(self, query: Query) -> str:
        shown = [self._name(query.grouped)] if query.grouped is not None else []
        if query.share:
            met = self._all(query.share)
            part = f"SUM(CASE WHEN {met} THEN 1 ELSE 0 END) * {query.factor}.0 / NULLIF(COUNT(*), 0)"
            return ", ".join([*shown, part])
        distinct = "DISTINCT " if query.is_distinct else ""
        for field in query.selected:
            name = self._name(field)
            shown.append(f"{query.function}({distinct}{name})" if query.function else name)
        return ", ".join(shown)

    def _from(self, query: Query) -> str:
        used = [*query.selected, *(each.field for each in (*query.share, *query.conditions))]
        used += [query.order.field] if query.order is not None else []
        used += [query.grouped] if query.grouped is not None else []
        known = {query.root.name: self._quoted(query.root.name)}
        for table in (field.table.name for field in used):
            if table not in known:
                known |= self._way(known, table) or {table: f"CROSS JOIN {self._quoted(table)}"}
        return " ".join(known.values())

    def _way(self, known: Iterable[str], wanted: str) -> dict[str, str]:
        """The tables on the shortest way along foreign keys from known ones, each with its join."""
        ways: dict[str, dict[str, str]] = {table: {} for table in known}
        queue = deque(ways)
        while queue and wanted not in ways:
            here = queue.popleft()
            for source, target, on in self._links:
                for one, other in ((source, target), (target, source)):
                    if one == here and other not in ways:
                        ways[other] = ways[here] | {other: f"INNER JOIN {self._quoted(other)} ON {on}"}
                        queue.append(other)
        return ways.get(wanted, {})

    def _all(self, conditions: Sequence[Condition]) -> str:
        return " AND ".join(self._condition(condition) for condition in conditions)

    def _condition(self, condition: Condition) -> str:
        """Both sides of one type, so that every engine takes the comparison."""
        if not condition.literals:
            return f"{self._name(condition.field)} {condition.sign}"
        bare = [literal.strip("'") for literal in condition.literals]
        name, sign = self._name(condition.field), condition.sign
        if sign != "LIKE" and condition.field.is_number and all(_NUMBER.fullmatch(each) for each in bare):
            return f"{name} {sign} {' AND '.join(bare)}"
        if not condition.field.is_text and self._dialect is not Dialect.SQLITE:
            name = f"CAST({name} AS {_TEXT[self._dialect]})"
        if sign == "LIKE" and self._dialect is Dialect.POSTGRESQL:
            sign = "ILIKE"  # SQLite's LIKE takes capital and small letters for the same
        return f"{name} {sign} {' AND '.join(self._text(each) for each in bare)}"

    def _order(self, order: Order) -> str:
        way = " DESC" if order.descending else ""
        if self._dialect is Dialect.POSTGRESQL:
            way += " NULLS LAST" if order.descending else " NULLS FIRST"  # as the other two have it
        return self._name(order.field) + way

    def _name(self, field: Field) -> str:
        return self._quoted(field.table.name, field.column.name)

    def _quoted(self, *names: str) -> str:
        dialect = SQLGLOT[self._dialect]
        return ".".join(exp.to_identifier(name, quoted=True).sql(dialect) for name in names)

    def _text(self, value: str) -> str:
        return exp.Literal.string(value).sql(SQLGLOT[self._dialect])

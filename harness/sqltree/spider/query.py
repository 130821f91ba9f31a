"""A query as Spider compares it: clause by clause, names resolved, values left out.

Every text in here is in one canonical spelling, so that equal texts mean the same to these measures. Names
fold to lower case. A column is written `[table.column]`, whatever the query calls its table.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class Item:
    """One column of SELECT: the aggregate around it, empty for none, and what is inside."""

    aggregate: str
    text: str


@dataclass(frozen=True)
class GroupTerm:
    """One term of GROUP BY; `bare` is the column without its table where the term is a column."""

    text: str
    bare: str


@dataclass(frozen=True)
class SpiderCondition:
    """One condition: `left operator right`, or a group in parentheses that cannot do without them.

    `right` has no value in it: "" stands for whatever Spider takes for one. The `members` of a group are
    joined by its operator, "and" or "or", and sorted.
    """

    negated: bool
    operator: str
    left: str
    right: tuple[str, ...] = ()
    members: tuple["SpiderCondition", ...] = ()

    def leaves(self) -> Iterator["SpiderCondition"]:
        """The conditions that are no groups: itself, or those within it."""
        if not self.members:
            yield self
        for member in self.members:
            yield from member.leaves()

    def connectors(self) -> Iterator[str]:
        """Every AND and OR within it."""
        yield from [self.operator] * (len(self.members) - 1)
        for member in self.members:
            yield from member.connectors()


@dataclass(frozen=True)
class Conditions:
    """WHERE, HAVING or ON: its conditions and what stands between them, both as written."""

    units: tuple[SpiderCondition, ...] = ()
    between: tuple[str, ...] = ()

    def leaves(self) -> list[SpiderCondition]:
        """The conditions, those within groups instead of the groups."""
        return [leaf for unit in self.units for leaf in unit.leaves()]

    def connectors(self) -> list[str]:
        """Every AND and OR, those within groups too."""
        return [*self.between, *(one for unit in self.units for one in unit.connectors())]


@dataclass(frozen=True)
class SpiderQuery:
    """One SELECT with the set operation that follows it.

    `joins` has the conditions of every ON. `direction` is the last ASC or DESC that ORDER BY spells out,
    "asc" if none does. `distinct` is noted for queries inside another alone. `following` is a set operation
    with the rest of the query. `aggregates` and `nested` are what hardness counts: aggregates of SELECT,
    GROUP BY and ORDER BY, and queries inside this one that no set operation adds.
    """

    distinct: bool = False
    select: tuple[Item, ...] = ()
    tables: tuple[str, ...] = ()
    joins: Conditions = Conditions()
    where: Conditions = Conditions()
    group: tuple[GroupTerm, ...] = ()
    having: Conditions = Conditions()
    order: tuple[str, ...] = ()
    direction: str = "asc"
    limit: bool = False
    offset: bool = False
    following: "tuple[str, SpiderQuery] | None" = None
    aggregates: int = field(default=0, repr=False, compare=False)
    nested: int = field(default=0, repr=False, compare=False)


_ROWID = frozenset({"rowid", "oid", "_rowid_"})


class UnreadableQuery(Exception):
    """The text is no query, or names what the schema does not have."""


@dataclass(frozen=True)
class SpiderSchema:
    """A database as far as these measures need it, names spelled as you like.

    `tables` maps each table to its columns, both in the order of the schema; `foreign_keys` has pairs of a
    referring and a referred column, each as `table.column`.
    """

    tables: Mapping[str, Sequence[str]]
    foreign_keys: Sequence[tuple[str, str]] = ()

    @cached_property
    def columns(self) -> Mapping[str, frozenset[str]]:
        """Each table's columns, in lower case."""
        return {
            table.lower(): frozenset(column.lower() for column in columns)
            for table, columns in self.tables.items()
        }

    @cached_property
    def _keys(self) -> Mapping[str, Mapping[str, str]]:
        """Table to its columns that belong to a foreign key, each with the column that stands for all.

        A pair joins the first group that has one of its two columns, and groups never merge: so Spider does.
        """
        every = [f"{table}.{column}".lower() for table, columns in self.tables.items() for column in columns]
        places = {column: place for place, column in enumerate(every)}
        groups: list[set[str]] = []
        for pair in self.foreign_keys:
            both = {column.lower() for column in pair} & places.keys()
            group = next((group for group in groups if group & both), None)
            if group is None:
                groups.append(group := set())
            group |= both
        keys: dict[str, dict[str, str]] = {}
        for group in groups:
            for column in group:
                table = column.partition(".")[0]
                keys.setdefault(table, {})[f"[{column}]"] = f"[{min(group, key=places.__getitem__)}]"
        return keys

    def unified(self, tables: Sequence[str]) -> Mapping[str, str]:
        """The columns of these tables that a foreign key makes the same as another, with that other."""
        return {column: same for table in tables for column, same in self._keys.get(table, {}).items()}


@dataclass(frozen=True)
class FromSource:
    """What FROM offers under a name: a table of the schema, or the columns of a query.

    `outputs` has a query's columns by name; `through` the sources that its `*` passes on. A source that
    `is_open` has columns that nothing here knows: a function's, or those of a query that refers to itself.
    """

    name: str
    table: str | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)
    through: tuple["FromSource", ...] = ()
    is_open: bool = False

    def find(self, name: str, schema: SpiderSchema) -> str | None:
        """What a column's name means here, None if there is no such column."""
        if name in self.outputs:
            return self.outputs[name]
        if self.table is not None and name in schema.columns[self.table]:
            return f"[{self.table}.{name}]"
        found = (source.find(name, schema) for source in self.through)
        return next((column for column in found if column is not None), None)


@dataclass(frozen=True)
class FromScope:
    """What names can mean at one place: sources in the order of FROM, aliases of SELECT, what is outside."""

    sources: Sequence[FromSource]
    aliases: "Mapping[str, exp.Expr]"
    outer: "FromScope | None" = None

    def source(self, name: str) -> FromSource:
        """The source of that name, the innermost first.

        Raises:
            Unreadable: there is none.
        """
        scope: FromScope | None = self
        while scope is not None:
            for source in scope.sources:
                if source.name == name:
                    return source
            scope = scope.outer
        raise UnreadableQuery(f"no table {name}")

    def qualified(self, name: str, qualifier: str, schema: SpiderSchema) -> str:
        """What `qualifier.name` means.

        Raises:
            Unreadable: there is no such table or column.
        """
        source = self.source(qualifier)
        column = source.find(name, schema) or _unlisted(source, name)
        if column is None:
            raise UnreadableQuery(f"no column {qualifier}.{name}")
        return column

    def bare(self, name: str, schema: SpiderSchema) -> "str | exp.Expr | None":
        """What `name` alone means: a column, or the expression of an alias; None if nothing is called so."""
        for source in self.sources:
            column = source.find(name, schema)
            if column is not None:
                return column
        if name in self.aliases:
            return self.aliases[name]
        for source in self.sources:
            column = _unlisted(source, name)
            if column is not None:
                return column
        return self.outer.bare(name, schema) if self.outer is not None else None


def _unlisted(source: FromSource, name: str) -> str | None:
    if source.is_open:
        return f"[?.{name}]"
    return f"[{source.table}.rowid]" if source.table is not None and name in _ROWID else None

"""SQLite's name resolution: the column of a table, subquery or alias that a name means.

https://sqlite.org/lang_select.html https://sqlite.org/lang_with.html
"""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property

from sqlglot import exp
from sqlglot.helper import find_new_name

from dialects.identifiers import ascii_lower
from dialects.nodes import aliased, column_of, is_signed, signed
from dialects.schema import Table
from dialects.trees import first_select, has
from dialects.value_types import Collation, TextFacts, Typed

ROWIDS = frozenset({"rowid", "oid", "_rowid_"})
"""The names of the rowid. https://sqlite.org/lang_createtable.html#rowid"""


def is_rowid(column: exp.Column) -> bool:
    """True if a column may be the rowid."""
    return ascii_lower(column.name) in ROWIDS


@dataclass(frozen=True)
class ScopeColumn:
    """One column of a source: its name in SQLite, and its value on the target."""

    name: str
    value: Typed
    stored: str | None = None
    """The name of the stored column, spelled as its table declares it; None if it is not one."""

    @cached_property
    def key(self) -> str:
        """Its name as SQLite compares it."""
        return ascii_lower(self.name)

    @cached_property
    def target(self) -> str:
        """Its name on the target."""
        return self.value.node.name


@dataclass
class Source:
    """One table, subquery or common table expression in FROM."""

    name: str
    """The name that qualifies its columns."""
    alias: str
    """Its name on the target."""
    columns: list[ScopeColumn]
    table: Table | None = None
    common_table: "CommonTable | None" = None
    """Its common table expression, if it is one."""
    keys: tuple[frozenset[str], ...] = ()
    """Sets of columns (lower case), without NULL, that are unique together."""
    distinct: tuple[frozenset[str], ...] = ()
    """The same, with NULL counted as a value."""
    grouped: tuple[str, ...] = ()
    """The columns (lower case) that its rows are grouped and ordered by."""
    one_row: bool = False
    """True if it has at most one row."""
    rowid: str | None = None
    """The column that is SQLite's rowid."""
    place: str | None = None
    """The hidden column for the rowid, if no other column is the rowid."""
    optional: bool = False
    """True if an outer join can replace its rows by NULL."""
    merged: set[str] = field(default_factory=set)
    """Columns (lower case) shared with earlier sources by USING or NATURAL: found only with a qualifier."""
    outranked: dict[str, dict[str, Typed]] = field(default_factory=dict)
    """The common value, by name, of columns (lower case) that a RIGHT or FULL JOIN shares: * shows it."""
    nest: "Nest | None" = None
    """The parentheses that it is joined in, unless they come first in FROM."""
    order: list[exp.Expr] | None = None
    """The order of a subquery's rows, in terms of its columns."""

    def value(self, column: ScopeColumn) -> Typed:
        """Return a column's value, qualified by this source."""
        name = exp.Identifier(this=column.target, quoted=True)
        node = exp.Column(this=name, table=exp.Identifier(this=self.alias, quoted=True))
        if is_signed(column.value.node):
            signed(node)
        return column.value.of(node=node, nullable=column.value.nullable or self.optional)

    def column(self, name: str) -> ScopeColumn | None:
        """Find a column, ignoring case; SQLite gives columns of queries other names than TRUE and FALSE."""
        lower = ascii_lower(name)
        if self.table is None and lower in {"true", "false"}:
            return None
        for column in self.columns:
            if column.key == lower:
                return column
        return None


@dataclass(frozen=True, eq=False)
class Nest:
    """Joins in parentheses that follow other sources."""

    shared: Mapping[str, Typed]
    """The columns (lower case) shared by USING and NATURAL inside, with their common value."""
    shown: list[tuple[int, int]] | None
    """The columns of *, each as the number of its source in FROM and its number there; None if unknown."""
    outer: bool
    """True if they include a RIGHT or FULL JOIN."""


@dataclass
class Scope:
    """The sources of one SELECT, and the scope around it."""

    parent: "Scope | None" = None
    sources: list[Source] = field(default_factory=list)
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)
    """The result columns by alias (lower case), where aliases can be used."""
    tables: dict[str, "CommonTable"] = field(default_factory=dict)
    """The common table expressions visible here, by name (lower case)."""
    shared: dict[str, Typed] = field(default_factory=dict)
    """Columns shared by USING and NATURAL (lower case), with the common value of an unqualified name."""
    holding: list[exp.Expr] = field(default_factory=list)
    """Conditions of WHERE and of inner joins, which every row of the result satisfies."""
    windows: dict[str, exp.Expr] = field(default_factory=dict)
    """The named windows (lower case), each with the parts that it inherits."""
    peers: list[set[tuple[str, str]]] = field(default_factory=list)
    """The columns that tied rows have in common, for each window that depends on the order of ties."""
    beside: AbstractSet[str] = frozenset()
    """For sources in parentheses: the target's aliases of the sources joined to them."""
    grouping: "Grouping | None" = None
    """Set while expressions are compiled that are evaluated once per group."""

    def outward(self) -> "Iterator[Scope]":
        """Yield this scope and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def common_table(self, name: str) -> "CommonTable | None":
        """Find a common table expression that is visible here."""
        return next(
            (found for scope in self.outward() if (found := scope.tables.get(ascii_lower(name)))), None
        )

    def names(self) -> set[str]:
        """Return the target's aliases in this scope and those around it."""
        return {
            alias
            for scope in self.outward()
            for alias in (*(source.alias for source in scope.sources), *scope.beside)
        }


@dataclass(frozen=True)
class CommonTable:
    """A common table expression: its name and columns on the target."""

    target: str
    columns: tuple[ScopeColumn, ...]
    keys: tuple[frozenset[str], ...] = ()
    distinct: tuple[frozenset[str], ...] = ()
    grouped: tuple[str, ...] = ()
    query: exp.Query | None = None
    """Its query, unless it is recursive."""
    recursing: bool = False
    """True within its own definition."""


@dataclass
class Grouping:
    """The GROUP BY of a SELECT while its results are compiled: the columns with one value per group."""

    keys: list[tuple[exp.Expr, Typed]]
    """Each grouped expression as written and as compiled."""
    bare: "Callable[[Source, ScopeColumn], Typed]"
    """Returns the value of a column that is neither grouped nor inside an aggregate."""

    def key(self, node: exp.Expr) -> Typed | None:
        """Return the grouped expression that compiles to `node`."""
        return next((found for _, found in self.keys if found.node == node), None)


# A compiled query, and facts about its rows.


class RowsNeeded(Enum):
    """Which of a query's rows are used."""

    ALL = auto()
    FIRST = auto()
    """Only the first: the result has at most one row."""
    ANY = auto()
    """Only whether there is a row."""


@dataclass
class Relation:
    """A compiled query, and facts about its rows."""

    node: exp.Query
    columns: list[ScopeColumn]
    one_row: bool = False
    """True if it returns at most one row."""
    keys: tuple[frozenset[str], ...] = ()
    distinct: tuple[frozenset[str], ...] = ()
    """Sets of columns that are unique together, NULL counted as a value."""
    collations: tuple[Collation | None, ...] = ()
    """The collations of its columns for a compound SELECT; None for an expression without one."""
    texts: tuple[TextFacts, ...] = ()
    """Its columns as IN compares them: those of the last part of a compound SELECT."""
    grouped: tuple[str, ...] = ()
    """The columns that its rows are grouped and ordered by."""
    sort: list[exp.Expr] = field(default_factory=list)
    """Its ORDER BY, if `order` cannot express it."""
    order: list[exp.Expr] = field(default_factory=list)
    """Its ORDER BY in terms of its columns, if possible."""


def exported_order(relation: Relation) -> list[exp.Expr]:
    """Return the order of the rows in terms of columns; hidden columns are added for missing terms."""
    if relation.order or not relation.sort or not isinstance(relation.node, exp.Select):
        return relation.order
    terms = []
    for at, term in enumerate(relation.sort, start=1):
        name = new_name(f"_o{at}", {ascii_lower(item.alias_or_name) for item in relation.node.selects})
        relation.node.append("expressions", aliased(term.this.copy(), name))
        hidden = term.copy()
        hidden.set("this", column_of(name))
        terms.append(hidden)
    return terms


LONGEST = 60
"""Longest name in bytes, which leaves three for a number."""

_ALL = 2**64 - 1
"""More rows than a table can have."""


def keep_whole(relation: Relation) -> None:
    """Keep MySQL from merging a subquery that computes a constant into the SELECT around it."""
    node = relation.node
    if not isinstance(node, exp.Select) or node.args.get("limit"):
        return
    if any(map(_is_computed, node.expressions)):
        node.set("limit", exp.Limit(expression=exp.Literal.number(_ALL)))


def _is_computed(item: exp.Expr) -> bool:
    """True if a result column is a constant expression other than a literal."""
    plain = exp.Literal | exp.Null | exp.Boolean | exp.HexString
    return not isinstance(item.unalias().unnest(), plain) and not has(item, exp.Column, exp.Query)


def new_name(name: str, taken: AbstractSet[str]) -> str:
    """Return `name`, or another one if it is taken or longer than PostgreSQL's 63 bytes."""
    return find_new_name(taken, name if len(name.encode()) <= LONGEST else f"_c{len(taken) + 1}")


def named(relation: Relation) -> list[str]:
    """Give every result column a name, and return the names."""
    names = []
    for at, item in enumerate(relation.node.selects):
        if isinstance(item, exp.Alias) and item.alias:
            names.append(item.alias)
            continue
        is_free = isinstance(item, exp.Column) and item.name not in names
        taken = {ascii_lower(other.alias) for other in relation.node.selects} | {
            ascii_lower(name) for name in names
        }
        name = item.name if is_free else new_name(f"_c{at + 1}", taken)
        names.append(name)
        first_select(relation.node).expressions[at].replace(aliased(item.copy(), name))
    return names

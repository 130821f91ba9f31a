"""SQLite's name resolution: which column of which table, subquery or alias a name means.

https://sqlite.org/lang_select.html https://sqlite.org/lang_with.html
"""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum, auto

from sqlglot import exp
from sqlglot.helper import find_new_name

from dialects.schema import Table
from dialects.value_types import Collation, Typed

ROWIDS = frozenset({"rowid", "oid", "_rowid_"})
"""The names of the rowid. https://sqlite.org/lang_createtable.html#rowid"""


def has_outer_join(node: exp.Expr) -> bool:
    """Whether a LEFT, RIGHT or FULL JOIN is somewhere in a statement."""
    return any(join.side for join in node.find_all(exp.Join))


def names_rowid(node: exp.Expr) -> bool:
    """Whether a rowid may be named somewhere in a statement."""
    return any(column.name.lower() in ROWIDS for column in node.find_all(exp.Column))


@dataclass(frozen=True)
class Column:
    """One column that a source offers: as SQLite calls it, and what the target gives for it."""

    name: str
    value: Typed
    stored: str | None = None
    """The name of the stored column that it is, spelled as its table does."""


@dataclass
class Source:
    """One table, subquery or common table expression in FROM."""

    name: str
    """The name that qualifies its columns."""
    alias: str
    """What the target calls it."""
    columns: list[Column]
    table: Table | None = None
    recipe: "Recipe | None" = None
    """The common table expression that it is."""
    keys: tuple[frozenset[str], ...] = ()
    """Sets of columns (lower case) of which no two rows agree, none of them NULL."""
    distinct: tuple[frozenset[str], ...] = ()
    """The same where NULL counts as a value."""
    grouped: tuple[str, ...] = ()
    """The columns (lower case) by which its rows are grouped, and in whose order they come."""
    rowid: str | None = None
    """The column that is SQLite's rowid."""
    place: str | None = None
    """The hidden column that has the rowid where no other has."""
    optional: bool = False
    """Whether a join can put NULL in the place of its rows."""
    merged: set[str] = field(default_factory=set)
    """Columns (lower case) shared with sources before by USING or NATURAL: not found without a qualifier."""
    outranked: dict[str, dict[str, Typed]] = field(default_factory=dict)
    """Columns (lower case) that a RIGHT or FULL JOIN shares: * shows the common value, found here by name."""
    nest: "Nest | None" = None
    """The parentheses in which it is joined, if they do not come first in FROM."""
    order: list[exp.Expr] | None = None
    """The order in which a subquery gives its rows, in terms of its columns."""

    def value(self, column: Column) -> Typed:
        """A column's value for each row, with the name of this source."""
        node = column.value.node.copy()
        node.set("table", exp.to_identifier(self.alias, quoted=True))
        return column.value.of(node=node, nullable=column.value.nullable or self.optional)

    def column(self, name: str) -> Column | None:
        """Find a column, the case of letters aside."""
        lower = name.lower()
        return next((column for column in self.columns if column.name.lower() == lower), None)


@dataclass(frozen=True, eq=False)
class Nest:
    """Joins in parentheses behind other sources."""

    shared: Mapping[str, Typed]
    """The columns (lower case) of USING and NATURAL inside, with their common value."""
    shown: list[tuple[int, int]] | None
    """What * shows, each the number of its source in FROM and its own number there; None is not known."""
    outer: bool
    """Whether there is a RIGHT or FULL JOIN inside."""


@dataclass
class Scope:
    """The sources of one SELECT, and the SELECT around it."""

    parent: "Scope | None" = None
    sources: list[Source] = field(default_factory=list)
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)
    """The result columns by their aliases (lower case), where they can be used."""
    tables: dict[str, "Recipe"] = field(default_factory=dict)
    """The common table expressions that are visible here, by name (lower case)."""
    shared: dict[str, Typed] = field(default_factory=dict)
    """Columns of USING and NATURAL (lower case), found without a qualifier, with their common value."""
    holding: list[exp.Expr] = field(default_factory=list)
    """Conditions of WHERE and of inner joins: they hold for every row of the result."""
    windows: dict[str, exp.Expr] = field(default_factory=dict)
    """The named windows (lower case), each with all that it inherits."""
    peers: list[set[tuple[str, str]]] = field(default_factory=list)
    """For each window where the order of tied rows counts: the columns that they have in common."""
    beside: AbstractSet[str] = frozenset()
    """The target's aliases of what is joined to these sources, where they are in parentheses."""
    grouping: "Grouping | None" = None
    """Set while expressions are compiled that are evaluated once per group."""

    def outward(self) -> "Iterator[Scope]":
        """This scope and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def recipe(self, name: str) -> "Recipe | None":
        """A common table expression that can be used here."""
        return next((found for scope in self.outward() if (found := scope.tables.get(name.lower()))), None)

    def names(self) -> set[str]:
        """The target's aliases of this scope and those around it."""
        return {
            alias
            for scope in self.outward()
            for alias in (*(source.alias for source in scope.sources), *scope.beside)
        }


@dataclass(frozen=True)
class Recipe:
    """A common table expression: what the target calls it and its columns."""

    target: str
    columns: tuple[Column, ...]
    keys: tuple[frozenset[str], ...] = ()
    distinct: tuple[frozenset[str], ...] = ()
    grouped: tuple[str, ...] = ()
    query: exp.Query | None = None
    """What it is, unless it is recursive."""
    recursing: bool = False
    """Whether it stands in its own definition."""


@dataclass
class Grouping:
    """The GROUP BY of a SELECT while its results are compiled: which columns have one value per group."""

    keys: list[tuple[exp.Expr, Typed]]
    """Each grouped expression as written and as compiled."""
    bare: "Callable[[Source, Column], Typed]"
    """What a column is that is neither grouped nor inside an aggregate."""

    def key(self, node: exp.Expr) -> Typed | None:
        """The grouped expression that compiles to `node`."""
        return next((found for _, found in self.keys if found.node == node), None)


# A compiled query, and what is known of its rows.


class Wanted(Enum):
    """What counts of a query's rows."""

    ALL = auto()
    FIRST = auto()
    """The first one alone: the result has one row at most."""
    ANY = auto()
    """That there is one."""


@dataclass
class Relation:
    """A compiled query and what is known of its rows."""

    node: exp.Query
    columns: list[Column]
    one_row: bool = False
    """Whether it gives one row at most."""
    keys: tuple[frozenset[str], ...] = ()
    distinct: tuple[frozenset[str], ...] = ()
    """Sets of columns of which no two rows agree, NULL counted as a value."""
    collations: tuple[Collation | None, ...] = ()
    """Those of its columns as a compound SELECT takes them: None where an expression has none."""
    grouped: tuple[str, ...] = ()
    """The columns by which its rows are grouped, and in whose order they come."""
    sort: list[exp.Expr] = field(default_factory=list)
    """Its ORDER BY, where `order` cannot say it."""
    order: list[exp.Expr] = field(default_factory=list)
    """Its ORDER BY in terms of its columns, where they have them."""


def exported_order(relation: Relation) -> list[exp.Expr]:
    """The order of the rows in terms of columns, for which hidden ones are added where they are missing."""
    if relation.order or not relation.sort or not isinstance(relation.node, exp.Select):
        return relation.order
    terms = []
    for at, term in enumerate(relation.sort, start=1):
        name = new_name(f"_o{at}", {item.alias_or_name.lower() for item in relation.node.selects})
        relation.node.append("expressions", _aliased(term.this.copy(), name))
        hidden = term.copy()
        hidden.set("this", exp.column(exp.to_identifier(name, quoted=True)))
        terms.append(hidden)
    return terms


LONGEST = 60
"""Bytes of a name, and three for a number."""

_ALL = 2**64 - 1
"""More rows than there can be."""


def keep_whole(relation: Relation, *, queries: bool, constants: bool) -> None:
    """Keep MySQL from merging a subquery into the SELECT around it.

    Args:
        relation: the subquery.
        queries: whether to keep one that has values of subqueries,
        constants: and one that computes a constant.
    """
    node = relation.node
    if not isinstance(node, exp.Select) or node.args.get("limit"):
        return
    if any(
        (queries and item.find(exp.Query)) or (constants and _is_computed(item)) for item in node.expressions
    ):
        node.set("limit", exp.Limit(expression=exp.Literal.number(_ALL)))


def _is_computed(item: exp.Expr) -> bool:
    """Whether a result column is a constant that is not only written out."""
    plain = exp.Literal | exp.Null | exp.Boolean | exp.HexString
    return not isinstance(item.unalias().unnest(), plain) and not item.find(exp.Column, exp.Query)


def new_name(name: str, taken: AbstractSet[str]) -> str:
    """Return `name`, or another one where it is taken or longer than the 63 bytes that PostgreSQL keeps."""
    return find_new_name(taken, name if len(name.encode()) <= LONGEST else f"_c{len(taken) + 1}")


def named(relation: Relation) -> list[str]:
    """Give every result column a name, and return the names."""
    names = []
    for at, item in enumerate(relation.node.selects):
        if isinstance(item, exp.Alias) and item.alias:
            names.append(item.alias)
            continue
        is_free = isinstance(item, exp.Column) and item.name not in names
        taken = {other.alias.lower() for other in relation.node.selects} | {name.lower() for name in names}
        name = item.name if is_free else new_name(f"_c{at + 1}", taken)
        names.append(name)
        leaf: exp.Expr = relation.node
        while isinstance(leaf, exp.SetOperation | exp.Subquery):
            leaf = leaf.this
        leaf.expressions[at].replace(_aliased(item.copy(), name))
    return names


def _aliased(item: exp.Expr, name: str) -> exp.Expr:
    return exp.Alias(this=item, alias=exp.to_identifier(name, quoted=True))

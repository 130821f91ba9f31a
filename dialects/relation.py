"""A compiled query, and what is known of its rows."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum, auto

from sqlglot import exp
from sqlglot.helper import find_new_name

from dialects.scope import Column
from dialects.typed import Collation


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

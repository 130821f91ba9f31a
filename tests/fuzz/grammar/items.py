"""What a SELECT puts out and what it filters: the parts that grouped and other SELECTs share."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from tests.fuzz.catalog import Column, Kind
from tests.fuzz.generator import Generator
from tests.fuzz.leaves import RESERVED, spelled
from tests.fuzz.tree import Node, construct, expression, optional, plain

construct("where", "alias-of-other")

KINDS = (Kind.INTEGER, Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.TEXT, Kind.DATE)


class Shape(StrEnum):
    """How many rows a SELECT is to return."""

    ANY = "any"
    ROWS = "rows"
    """Those of its sources, without ORDER BY."""
    ONE_ROW = "one row"
    """That of an aggregate without GROUP BY."""


@dataclass(frozen=True)
class Wanted:
    """What a SELECT is to be."""

    kinds: tuple[Kind, ...] = ()
    """Of its columns; empty for any."""
    shape: Shape = Shape.ANY
    named: bool = False
    """Whether every column needs a name of its own."""
    correlated: bool = False
    """Whether to look for a link to the query around."""
    ordered: bool = False
    """Whether ORDER BY and LIMIT are to be part of it."""
    star: bool = True
    """Whether * can stand for the columns."""


@dataclass(frozen=True)
class Selected:
    """A SELECT without its ORDER BY, what it puts out, and the ORDER BY and LIMIT that can follow it."""

    node: Node
    columns: tuple[Column, ...]
    tail: Node


@dataclass(frozen=True)
class Item:
    """An expression that is put out; its column's name is its alias, if it has one."""

    node: Node
    column: Column
    tag: str = ""
    """The construct that its alias is, if it is one."""

    @property
    def alias(self) -> str:
        """Empty if there is none."""
        return self.column.name

    def written(self) -> Node:
        """As it stands in the list."""
        return plain(self.node, f" AS {self.alias}", tag=self.tag) if self.alias else plain(self.node)


def kinds(gen: Generator, wanted: Wanted) -> tuple[Kind, ...]:
    """The kinds of the columns to put out."""
    if wanted.kinds:
        return wanted.kinds
    count = gen.weighted([(5, 1), (5, 2), (3, 3), (1, 4)])
    return tuple(gen.pick((*KINDS, Kind.CONDITION)) for _ in range(count))


def item(gen: Generator, kind: Kind, wanted: Wanted) -> Item:
    """An expression to put out, often a plain column."""
    refs = gen.refs(kind)
    if refs and gen.chance(0.3):
        ref = gen.pick(refs)
        node, column = spelled(gen, ref), ref.column
    else:
        node, column = gen.strictly(kind) if wanted.kinds else gen.expr(kind), Column("", kind)
    colliding = None
    alias = gen.name("c") if wanted.named or gen.chance(0.35) else ""
    if alias and (colliding := gen.colliding(lambda name: _is_taken(gen, name))):
        gen.scope.named.add(colliding.lower())
        alias = colliding
    column = replace(column, name=alias, unique=False, folded=False, exact=column.exact and not colliding)
    return Item(never_folded(gen, node), column, "alias-of-other" if colliding else "")


def _is_taken(gen: Generator, name: str) -> bool:
    """Whether an alias cannot be a name: it is a word of SQL, or, for a group, means a column to SQLite."""
    if name in RESERVED or name in gen.scope.named:
        return True
    return gen.scope.rows is not None and any(
        name == ref.column.name.lower() for scope in gen.scopes for ref in (scope.rows or scope).refs
    )


def never_folded(gen: Generator, node: Node) -> Node:
    """The same, but for texts that differ in case and are equal: they become the same."""
    text = str(node).lower()
    folded = (ref.column.name.lower() for scope in gen.scopes for ref in scope.refs if ref.column.folded)
    return expression("LOWER(", node, ")") if any(name in text for name in folded) else node


def where(gen: Generator, wanted: Wanted) -> Node:
    """WHERE, or nothing."""
    conditions = []
    if wanted.correlated and gen.chance(0.75):
        pairs = [
            (inner, replace(outer, alone=False))
            for scope in gen.scopes[:-1]
            for outer in scope.refs
            for inner in gen.scope.refs
            if inner.column.kind is outer.column.kind and inner.qualifier and (outer.qualifier or outer.node)
        ]
        if pairs:
            inner, outer = gen.pick(pairs)
            conditions.append(expression("(", spelled(gen, inner), " = ", spelled(gen, outer), ")"))
    if gen.chance(0.3) or (gen.budget > 0 and gen.chance(0.5)):
        conditions.append(gen.condition())
    return optional(" WHERE ", *separated(conditions, " AND "), tag="where") if conditions else plain()


def separated(nodes: Iterable[Node], by: str = ", ") -> list[Node | str]:
    """The nodes with a text between each two."""
    parts: list[Node | str] = []
    for node in nodes:
        parts += [by, node] if parts else [node]
    return parts

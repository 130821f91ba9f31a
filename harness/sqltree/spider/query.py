"""A query as Spider compares it: clause by clause, names resolved, values left out.

Every text in here is in one canonical spelling, so that equal texts mean the same to these measures.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Item:
    """One column of SELECT: the aggregate around it, empty for none, and what is inside."""

    aggregate: str
    text: str


@dataclass(frozen=True)
class Term:
    """One term of GROUP BY; `bare` is the column without its table where the term is a column."""

    text: str
    bare: str


@dataclass(frozen=True)
class Condition:
    """One condition: `left operator right`, or a group in parentheses that cannot do without them.

    `right` has no value in it: "" stands for whatever Spider takes for one. The `members` of a group are
    joined by its operator, "and" or "or", and sorted.
    """

    negated: bool
    operator: str
    left: str
    right: tuple[str, ...] = ()
    members: tuple["Condition", ...] = ()

    def leaves(self) -> Iterator["Condition"]:
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

    units: tuple[Condition, ...] = ()
    between: tuple[str, ...] = ()

    def leaves(self) -> list[Condition]:
        """The conditions, those within groups instead of the groups."""
        return [leaf for unit in self.units for leaf in unit.leaves()]

    def connectors(self) -> list[str]:
        """Every AND and OR, those within groups too."""
        return [*self.between, *(one for unit in self.units for one in unit.connectors())]


@dataclass(frozen=True)
class Query:
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
    group: tuple[Term, ...] = ()
    having: Conditions = Conditions()
    order: tuple[str, ...] = ()
    direction: str = "asc"
    limit: bool = False
    offset: bool = False
    following: "tuple[str, Query] | None" = None
    aggregates: int = field(default=0, repr=False, compare=False)
    nested: int = field(default=0, repr=False, compare=False)

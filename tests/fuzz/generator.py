"""Draws queries from the grammar: scopes, a budget, and rules that are chosen by their weights.

A rule is one construct of SQLite: a function that writes it, registered with its name for every kind of
expression that it yields. The name becomes the tag of what it wrote.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeVar

from tests.fuzz.catalog import Catalog, Column, Kind, Table
from tests.fuzz.leaves import Ref, column, literal
from tests.fuzz.tree import Node, construct

T = TypeVar("T")

_FREE = 0.05
"""How often an expression is of another kind than what was asked for."""
_ANY = (
    (4, Kind.INTEGER), (4, Kind.REAL), (4, Kind.TEXT), (4, Kind.DATE), (4, Kind.CONDITION),
    (0.2, Kind.BLOB), (0.2, Kind.JSON),
)  # fmt: skip
_LEAF = 0.4
_LITERAL = 0.2
_AGGREGATE = 0.5
_WINDOW = 0.2
_OUTER = 0.12
_MOST_DEPTH = 5
_COLLIDING = 0.12
_WITHOUT_CASE = frozenset({"nick"})
"""Names that tell the grammar of a text that has no case: nothing else has one."""


@dataclass(frozen=True)
class Source:
    """A table, or something like it, in FROM."""

    alias: str
    table: Table


@dataclass
class Scope:
    """What one SELECT can see of its own."""

    sources: list[Source] = field(default_factory=list)
    refs: list[Ref] = field(default_factory=list)
    merged: frozenset[str] = frozenset()
    """Names, in lower case, of columns that USING and NATURAL have made one."""
    star: tuple[Column, ...] = ()
    """The columns that * puts out."""
    rows: "Scope | None" = None
    """What aggregates see, if this is what a group sees: `refs` are then what a group determines."""
    closed: bool = False
    """Whether expressions name its own columns only."""
    windows: bool = False
    """Whether window functions can be used."""
    named: set[str] = field(default_factory=set)
    """Aliases of columns, in lower case."""
    named_windows: list[Node] = field(default_factory=list)
    """The WINDOW clause, once a function uses it."""


@dataclass(frozen=True)
class Rule:
    """A construct."""

    tag: str
    weight: float
    make: Callable[["Generator", Kind], Node | None]
    """Writes the construct; None where it cannot be said in this scope."""


Rules = dict[Kind, list[Rule]]

SCALARS: Rules = {kind: [] for kind in Kind}
AGGREGATES: Rules = {kind: [] for kind in Kind}
WINDOWS: Rules = {kind: [] for kind in Kind}
Make = Callable[["Generator", Kind], Node | None]


def rule(tag: str, *kinds: Kind, weight: float = 4, among: Rules = SCALARS) -> Callable[[Make], Make]:
    """Register a rule for expressions of `kinds`."""

    def register(make: Make) -> Make:
        for kind in kinds:
            among[kind].append(Rule(tag, weight, make))
        construct(tag)
        return make

    return register


class Generator:
    """One query in the making; `even` gives all constructs the same weight."""

    def __init__(self, random: Random, catalog: Catalog, *, even: bool = False) -> None:
        self.random = random
        self._even = even
        self.catalog = catalog
        self.scopes: list[Scope] = []
        self.common: list[Table] = []
        """The common table expressions in sight."""
        self.hidden: set[str] = set()
        """Tables, in lower case, whose names a common table expression has."""
        self.budget = random.randint(1, 9)
        self.selects = 3
        """How many more SELECTs there can be."""
        self._depth = 0
        self._names = 0

    @property
    def scope(self) -> Scope:
        """The innermost scope."""
        return self.scopes[-1]

    def chance(self, probability: float) -> bool:
        """True that often."""
        return self.random.random() < probability

    def pick(self, options: Sequence[T]) -> T:
        """One of them."""
        return options[self.random.randrange(len(options))]

    def weighted(self, options: Sequence[tuple[float, T]]) -> T:
        """One of them, by weights."""
        if self._even:
            options = [(1, option) for _, option in options]
        at = self.random.random() * sum(weight for weight, _ in options)
        for weight, option in options:
            at -= weight
            if at < 0:
                return option
        return options[-1][1]

    def name(self, prefix: str) -> str:
        """A name that nothing else has."""
        self._names += 1
        return f"{prefix}{self._names}"

    def colliding(self, taken: Callable[[str], bool]) -> str | None:
        """The name of a table or of a column, in any case, or None where it is `taken` or seldom wanted."""
        if not self.chance(_COLLIDING):
            return None
        tables = self.catalog.tables
        names = [name for table in tables for name in (table.name, *(each.name for each in table.columns))]
        name = self.pick([each for each in names if each.isidentifier() and each not in _WITHOUT_CASE])
        return None if taken(name.lower()) else self.pick((name, name, name.upper(), name.capitalize()))

    @contextmanager
    def inside(self, scope: Scope) -> Iterator[None]:
        """Write a SELECT of its own."""
        self.scopes.append(scope)
        try:
            yield
        finally:
            self.scopes.pop()

    @contextmanager
    def instead(self, scope: Scope) -> Iterator[None]:
        """Write with another view of the innermost SELECT."""
        old, self.scopes[-1] = self.scopes[-1], scope
        try:
            yield
        finally:
            self.scopes[-1] = old

    def expr(self, *kinds: Kind) -> Node:
        """An expression that mostly is of one of the kinds."""
        return self.strictly(self.weighted(_ANY) if self.chance(_FREE) else self.pick(kinds))

    def strictly(self, kind: Kind) -> Node:
        """An expression of that kind alone, for a column that it shares with others."""
        if self.scopes and self.scope.rows is not None and self.chance(_AGGREGATE):
            return self._by_rule(AGGREGATES, kind) or self.leaf(kind)
        if self.budget <= 0 or self._depth >= _MOST_DEPTH or self.chance(_LEAF):
            return self.leaf(kind)
        self.budget -= 1
        self._depth += 1
        windows = bool(self.scopes) and self.scope.windows and self.chance(_WINDOW)
        found = self._by_rule(WINDOWS if windows else SCALARS, kind)
        self._depth -= 1
        return found or self.leaf(kind)

    def condition(self) -> Node:
        """A condition that says something, however little of the budget is left."""
        self.budget -= 1
        return self._by_rule(SCALARS, Kind.CONDITION) or self.leaf(Kind.CONDITION)

    def _by_rule(self, rules: Rules, kind: Kind) -> Node | None:
        if not rules[kind]:
            return None
        chosen = self.weighted([(rule.weight, rule) for rule in rules[kind]])
        node = chosen.make(self, kind)
        return None if node is None else Node(node.role, (node,), chosen.tag)

    def leaf(self, kind: Kind) -> Node:
        """A column if one is in sight, or a literal."""
        return (None if self.chance(_LITERAL) else column(self, kind)) or literal(self, kind)

    def refs(self, *kinds: Kind) -> list[Ref]:
        """The columns in sight of these kinds: mostly the innermost scope's."""
        outer = [scope for scope in self.scopes[:-1] if scope.refs]
        if outer and not self.scope.closed and self.chance(_OUTER):
            found = [replace(ref, alone=False) for ref in self.pick(outer).refs if ref.column.kind in kinds]
            if found:
                return found
        return [ref for ref in self.scope.refs if ref.column.kind in kinds] if self.scopes else []

"""Read the clauses of a query as written: the items of FROM, and conditions joined by AND."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Self, TypeVar

from sqlglot import exp

from dialects.trees import find_all


class FromItem(NamedTuple):
    """One item of FROM: a table, a subquery or another source of rows, with its join."""

    node: exp.Expr
    join: exp.Join | None
    """None for the first item and after LATERAL."""
    ends: tuple[exp.Join, ...] = ()
    """The joins that end with this item, the innermost first; `from_items` leaves them empty."""

    @property
    def table(self) -> str:
        """The name of a table or a common table expression; empty for anything else."""
        node = self.node
        return node.name if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier) else ""

    @property
    def name(self) -> str:
        """The name that qualifies its columns; empty if there is none."""
        return self.node.alias or self.table

    @property
    def columns(self) -> list[str]:
        """See `columns_of`."""
        return columns_of(self.node)

    def cte(self, fold: Callable[[str], str]) -> exp.CTE | None:
        """The common table expression that it names; `fold` makes names alike that are the same."""
        found = ctes_in_sight(self.node) if self.table and not self.node.args.get("db") else ()
        return next((cte for cte in found if fold(cte.alias) == fold(self.table)), None)


def columns_of(node: exp.Expr) -> list[str]:
    """Return the column names in the alias of a source or a common table expression, in lower case."""
    return [column.name.lower() for column in getattr(node.args.get("alias"), "columns", ())]


def from_items(query: exp.Expr) -> list[FromItem]:
    """Return the items of FROM in order; for a table or subquery, those joined to it in parentheses."""
    first = query.args.get("from_")
    items = [] if first is None else [FromItem(first.this, None)]
    items += [FromItem(join.this, join) for join in joins_of(query)]
    return items + [FromItem(lateral, None) for lateral in query.args.get("laterals") or ()]


def sources_of(query: exp.Expr) -> list[FromItem]:
    """Return the items as `from_items` does, with parentheses replaced by the items inside them."""
    found: list[FromItem] = []
    for node, join, _ in from_items(query):
        items = _opened(node, join)
        if join is not None:
            items[-1] = items[-1]._replace(ends=(*items[-1].ends, join))
        found += items
    return found


def _opened(node: exp.Expr, join: exp.Join | None) -> list[FromItem]:
    is_table = isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table)
    return (_opened(node.this, join) if is_table else [FromItem(node, join)]) + sources_of(node)


def compared(node: exp.Expr) -> list[exp.Expr]:
    """Return the sides of equalities of a SELECT that are the same column."""
    select = node.parent_select if isinstance(node, exp.Column) else None
    tests = find_all(select, exp.EQ) if select else ()
    return [side for test in tests for side in test.iter_expressions() if side == node]


def is_constant_in(select: exp.Select, node: exp.Expr) -> bool:
    """Return whether a value has no column, or those of subqueries in FROM or WITH that have none."""
    return all(
        _is_constant_column(select, column)
        for column in find_all(node, exp.Column)
        if column.parent_select is select
    )


def query_of(source: exp.Expr) -> exp.Expr | None:
    """Return the query of a subquery in FROM or of a name from WITH; None for a table."""
    if isinstance(source, exp.Subquery):
        query: exp.Expr = source.this
        return query
    return next((cte.this for cte in ctes_in_sight(source) if cte.alias == source.name), None)


def _is_constant_column(select: exp.Select, column: exp.Column) -> bool:
    sources = [item.node for item in sources_of(select)]
    named = [each for each in sources if each.alias_or_name == column.table] if column.table else sources
    inner = query_of(named[0]) if len(named) == 1 else None
    return isinstance(inner, exp.Select) and any(
        is_constant_in(inner, each) for each in inner.expressions if each.alias_or_name == column.name
    )


def ctes_in_sight(node: exp.Expr, *, recursive: bool = False) -> Iterator[exp.CTE]:
    """Yield the common table expressions that a node can name, the innermost WITH first.

    Args:
        node: the node that names one.
        recursive: whether to include those that contain the node.
    """
    passed: set[int] = set()
    place: exp.Expr | None = node
    while place is not None:
        clause = place.args.get("with_")
        for cte in clause.expressions if clause is not None else ():
            if recursive or id(cte) not in passed:
                yield cte
        passed.add(id(place))
        place = place.parent


def joins_of(query: exp.Expr) -> list[exp.Join]:
    """Return the joins of a SELECT, or of a table or subquery in parentheses."""
    return list(query.args.get("joins") or ())


def drop_joins(query: exp.Expr, gone: Collection[exp.Join]) -> None:
    """Remove joins from FROM, with their tables."""
    query.set("joins", [join for join in joins_of(query) if all(join is not one for one in gone)])


def drop_first(query: exp.Expr) -> None:
    """Remove the first item of FROM, and make the next one, without its join, the first."""
    first, *rest = joins_of(query)
    query.set("from_", exp.From(this=first.this))
    query.set("joins", rest)


def append_item(
    query: exp.Expr, source: exp.Expr, on: exp.Expr | None = None, side: str | None = None
) -> None:
    """Append an item to FROM; without a condition, after a comma."""
    kind = None if side or on is None else "INNER"
    query.set("joins", [*joins_of(query), exp.Join(this=source, on=on, side=side, kind=kind)])


def bare_table(node: exp.Expr) -> exp.Expr:
    """Return a copy of a table in FROM without its alias and the joins in its parentheses."""
    copy = node.copy()
    for part in ("alias", "joins"):
        copy.set(part, None)
    return copy


def is_source(node: exp.Expr) -> bool:
    """True if a table or subquery is an item of FROM."""
    return isinstance(node.parent, exp.From) or (isinstance(node.parent, exp.Join) and node.arg_key == "this")


Meaning = TypeVar("Meaning")


class Offer(Generic[Meaning]):
    """The columns that an item of FROM provides under its name, in the terms of the caller."""

    name: str

    def known(self, name: str) -> Meaning | None:
        """Return the column of that name; None if there is none."""
        raise NotImplementedError

    def assumed(self, _name: str) -> Meaning | None:
        """Return the column of that name if the item may have columns besides the known ones."""
        return None

    def get(self, name: str) -> Meaning | None:
        """Return the column of that name, known or assumed."""
        return self.known(name) or self.assumed(name)


AnyOffer = TypeVar("AnyOffer", bound=Offer[Any])


@dataclass
class FromScope(Generic[AnyOffer, Meaning]):
    """The names visible in one SELECT that is known to be valid: an ambiguous name means the first.

    `results` are its own columns by their aliases; `outer` is the scope around it.
    """

    outer: Self | None = None
    sources: list[AnyOffer] = field(default_factory=list)
    results: dict[str, Meaning] = field(default_factory=dict)

    def outwards(self) -> Iterator[Self]:
        """Yield this scope, the one around it, and so on."""
        scope: Self | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def source(self, name: str) -> AnyOffer | None:
        """Return the innermost source of that name."""
        return next((one for scope in self.outwards() for one in scope.sources if one.name == name), None)

    def meaning(self, name: str) -> Meaning | None:
        """Resolve a name without qualifier: known columns first, then results, then assumed columns."""
        return next((meaning for scope in self.outwards() for meaning in scope.meanings(name)), None)

    def meanings(self, name: str) -> Iterator[Meaning]:
        """Yield what the name can mean in this scope alone, the first choice first."""
        yield from (found for one in self.sources if (found := one.known(name)) is not None)
        if name in self.results:
            yield self.results[name]
        yield from (found for one in self.sources if (found := one.assumed(name)) is not None)


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the conditions that AND joins; nothing for None."""
    if isinstance(condition, exp.Paren):
        yield from conjuncts(condition.this)
    elif isinstance(condition, exp.And):
        yield from conjuncts(condition.this)
        yield from conjuncts(condition.expression)
    elif condition is not None:
        yield condition


def where_of(query: exp.Expr) -> list[exp.Expr]:
    """Return the conditions that AND joins in WHERE."""
    where = query.args.get("where")
    return list(conjuncts(where.this if where is not None else None))


def on_of(join: exp.Join | None) -> list[exp.Expr]:
    """Return the conditions that AND joins in ON."""
    return list(conjuncts(join.args.get("on") if join is not None else None))

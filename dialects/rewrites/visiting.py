"""The order in which SQLite finds rows, where nothing else decides between them."""

from dataclasses import dataclass

from sqlglot import exp

from dialects.compiler import Compiler
from dialects.rewrites.comparison import keyed
from dialects.rewrites.determined import determined, is_fixed
from dialects.rules import Rule
from dialects.scope import Column, Scope, Source
from dialects.visits import Visit, Visits

RULES = (
    Rule(
        "found-first",
        "Where rows tie at a LIMIT, or any row of a group will do, SQLite's answer is the row that it finds"
        " first.",
        "https://sqlite.org/lang_select.html#the_limit_clause",
        "ORDER BY goes on with the row's key (PostgreSQL: its place in the table), in the order of SQLite's"
        " own plan.",
    ),
)


@dataclass
class Found:
    """The order in which SQLite finds rows, as ORDER BY terms."""

    terms: list[exp.Expr]
    whole: bool
    """Whether they decide between any two rows."""


def found_first(c: Compiler, node: exp.Expr, scope: Scope, holding: list[exp.Expr]) -> Found:
    """ORDER BY terms for the order in which SQLite finds the rows, as far as the target can tell.

    Args:
        c: the compiler.
        node: the SELECT as written.
        scope: its sources.
        holding: conditions that hold for every row.
    """
    visits = None
    if not c.index_names:
        visits = c.plan.top if node is c.root else c.plan.inner([source.name for source in scope.sources])
    loops = _loops(scope, visits)
    terms: list[exp.Expr] = []
    whole = len(loops) == len(scope.sources) and (
        visits is not None or not (c.index_names or any(map(_is_indexed, scope.sources)))
    )
    passed: list[tuple[str, str]] = []
    for at, (source, visit) in enumerate(loops):
        known = determined(scope.sources, holding, passed)
        mine = {(source.alias, column.value.node.name) for column in source.columns}
        if not mine <= known:
            own = _terms(c, source, visit)
            if own is None and not is_fixed(source, known, alike=True):
                whole = False
                break
            own = own or []
            if at == 0 and visits is not None and _backwards(node, source, visit, visits):
                own = [_reversed(c, term) for term in own]
            terms += own
        passed += mine
    if terms:
        c.applies("found-first")
    return Found(terms, whole)


def _reversed(c: Compiler, term: exp.Expr) -> exp.Expr:
    """A term the other way round."""
    first = False if c.target.has_null_order and term.args.get("nulls_first") is not None else None
    return exp.Ordered(this=term.this, desc=True, nulls_first=first)


def _is_indexed(source: Source) -> bool:
    """Whether SQLite could go through a table in another order than that of its rows."""
    table = source.table
    if table is None:
        return False
    return bool(table.indexes or table.unique or (table.primary_key and source.rowid is None))


def _backwards(node: exp.Expr, source: Source, visit: Visit, visits: Visits) -> bool:
    """Whether the outermost loop goes through its table or index from the end."""
    order = node.args.get("order")
    if order is None or visits.sorted:
        return False
    term = order.expressions[0]
    leading = visit.columns[0] if visit.columns else source.rowid
    return bool(term.args.get("desc")) and leading is not None and term.this.name.lower() == leading.lower()


def _loops(scope: Scope, visits: Visits | None) -> list[tuple[Source, Visit]]:
    if visits is None:
        return [(source, Visit(source.name)) for source in scope.sources] if len(scope.sources) == 1 else []
    by_name = {source.name.lower(): source for source in scope.sources}
    found = [(by_name[visit.name], visit) for visit in visits.loops if visit.name in by_name]
    return found if len(found) == len(scope.sources) else []


def _terms(c: Compiler, source: Source, visit: Visit) -> list[exp.Expr] | None:
    """The key of one loop: the index that it follows, and the row's place in the table."""
    if source.table is None:
        return _group_terms(c, source)
    terms = [_term(c, source, column) for name in visit.columns if (column := source.column(name))]
    if c.target.row_number is not None and source.place is None:
        place = exp.column(
            exp.to_identifier(c.target.row_number, quoted=True),
            table=exp.to_identifier(source.alias, quoted=True),
        )
        return [*terms, exp.Ordered(this=place)]
    if source.place is not None:
        place = exp.column(
            exp.to_identifier(source.place, quoted=True), table=exp.to_identifier(source.alias, quoted=True)
        )
        return [*terms, exp.Ordered(this=place)]
    # A table without rowid is in the order of its key.
    last = source.table.primary_key if source.rowid is None else (source.rowid,)
    keys = [column for name in last if (column := source.column(name))]
    return [*terms, *(exp.Ordered(this=source.value(column).node) for column in keys)] or None


def _group_terms(c: Compiler, source: Source) -> list[exp.Expr] | None:
    """A grouped subquery gives its groups in the order of their keys."""
    spelled = {column.value.node.name: column for column in source.columns}
    return [_term(c, source, spelled[name]) for name in source.grouped] or None


def _term(c: Compiler, source: Source, column: Column) -> exp.Ordered:
    """A column in ascending order, NULL first."""
    found = source.value(column)
    first = True if c.target.has_null_order and found.nullable else None
    return exp.Ordered(this=keyed(c, found), nulls_first=first)

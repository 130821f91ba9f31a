"""The order in which SQLite finds rows, where nothing else decides between them."""

from sqlglot import exp

from dialects.compiler import Compiler
from dialects.rewrites.comparison import keyed
from dialects.rewrites.determined import determined
from dialects.rules import Rule
from dialects.scope import Scope, Source
from dialects.visits import Visit

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


def found_first(c: Compiler, node: exp.Expr, scope: Scope, holding: list[exp.Expr]) -> list[exp.Expr]:
    """ORDER BY terms for the order in which SQLite finds the rows, as far as the target can tell.

    Args:
        c: the compiler.
        node: the SELECT as written; for the outermost SQLite's plan is known.
        scope: its sources.
        holding: conditions that hold for every row.
    """
    loops = _loops(c, node, scope)
    terms: list[exp.Expr] = []
    passed: list[tuple[str, str]] = []
    for source, visit in loops:
        known = determined(scope.sources, holding, passed)
        mine = {(source.alias, column.value.node.name) for column in source.columns}
        if not mine <= known:
            own = _terms(c, source, visit)
            if own is None:
                break
            terms += own
        passed += mine
    if terms and loops and _backwards(c, node, *loops[0]):
        terms[0].set("desc", True)
    if terms:
        c.applies("found-first")
    return terms


def _backwards(c: Compiler, node: exp.Expr, source: Source, visit: Visit) -> bool:
    """Whether the outermost loop gives a descending order by going through its index from the end."""
    order = node.args.get("order")
    if order is None or node is not c.root or c.visits.sorted:
        return False
    term = order.expressions[0]
    leading = visit.columns[0] if visit.columns else source.rowid
    return bool(term.args.get("desc")) and leading is not None and term.this.name.lower() == leading.lower()


def _loops(c: Compiler, node: exp.Expr, scope: Scope) -> list[tuple[Source, Visit]]:
    visits = c.visits if node is c.root else None
    if visits is None:
        return [(source, Visit(source.name)) for source in scope.sources] if len(scope.sources) == 1 else []
    by_name = {source.name.lower(): source for source in scope.sources}
    found = [(by_name[visit.name], visit) for visit in visits.loops if visit.name in by_name]
    return found if len(found) == len(scope.sources) else []


def _terms(c: Compiler, source: Source, visit: Visit) -> list[exp.Expr] | None:
    """The key of one loop: the index that it follows, and the row's place in the table."""
    if source.table is None:
        return _group_terms(c, source)
    terms: list[exp.Expr] = []
    for name in visit.columns:
        column = source.column(name)
        if column is not None:
            found = source.value(column)
            first = True if c.target.has_null_order and found.nullable else None
            terms.append(exp.Ordered(this=keyed(c, found), nulls_first=first))
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
    column = None if source.rowid is None else source.column(source.rowid)
    if column is None:
        return terms or None
    return [*terms, exp.Ordered(this=source.value(column).node)]


def _group_terms(c: Compiler, source: Source) -> list[exp.Expr] | None:
    """A grouped subquery gives its groups in the order of their key."""
    names = [name for key in source.keys if len(key) == 1 for name in key]
    column = source.column(names[0]) if names else None
    return None if column is None else [exp.Ordered(this=keyed(c, source.value(column)))]

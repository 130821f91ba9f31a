"""Whether the rows of a statement are settled by the data alone, and not by the plan that an engine chooses.

What a plan decides, another text may decide otherwise: which of tied rows a LIMIT takes, which row a column
outside GROUP BY comes from, which of two equal texts stands for both. No rule touches such a statement.
"""

from sqlglot import exp

from dialects.clauses import from_items
from dialects.volatility import is_volatile
from harness.efficiency.rewriting.statement import Statement
from harness.sqltree.parsing import OF_BAGS, aggregates, called, is_aggregate, is_grouped, parts_of
from harness.sqltree.query import Fact, Named, Refused, leaves, results_of

_RANKS = frozenset({"RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"})
"""Window functions that tied rows share."""


def settled(statement: Statement) -> list[Fact]:  # noqa: C901, PLR0912 - what is open, one by one
    """See to it that the data alone settle the rows of a statement, and their order where it has one.

    Returns:
        What that relies on.

    Raises:
        Refused: they may not, and why.
    """
    tree = statement.tree
    if is_volatile(statement.as_read or statement.sql):
        raise Refused("the clock, chance or the session may decide its rows")
    if tree.find(exp.Lock, exp.Into, exp.Lateral, exp.Pivot, exp.TableSample, exp.Placeholder, exp.Parameter):
        raise Refused("it has a clause that rules do not read")
    list(statement.uses(tree))
    for table in tree.find_all(exp.Table):
        if not statement.is_known(table):
            raise Refused(f"{table.name} is no table of the schema")
    facts: list[Fact] = []
    for call in tree.find_all(exp.Func):
        _of_bags(statement, call)
    for window in tree.find_all(exp.Window):
        _of_peers(window)
    for query in tree.find_all(exp.Query):
        if isinstance(query, exp.Select):
            _columns_of_groups(statement, query)
            _one_of_equals(statement, query)
        elif isinstance(query, exp.SetOperation) and (
            query.args.get("distinct") or isinstance(query, exp.Except | exp.Intersect)
        ):
            for select in leaves(query):
                for output in select.expressions:
                    statement.exact(output)
        is_cut = any(query.args.get(part) for part in ("limit", "offset"))
        if isinstance(query, exp.Subquery):
            if is_cut:
                raise Refused("a LIMIT behind parentheses is not read")
            continue
        if is_cut or (query is tree and query.args.get("order")):
            facts += _ordered_by_values(statement, query)
    for node in tree.find_all(exp.Subquery):
        if is_scalar(node):
            facts += single(statement, node.this)
    return facts


def is_scalar(node: exp.Subquery) -> bool:
    """Whether a subquery stands for one value."""
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.Subquery):
        parent = parent.parent
    if isinstance(parent, exp.In) and node.arg_key == "query":
        return False
    return not isinstance(
        parent,
        exp.From | exp.Join | exp.Exists | exp.Any | exp.All | exp.SetOperation | exp.CTE | exp.Table | None,
    )


def single(statement: Statement, query: exp.Expr) -> list[Fact]:
    """See to it that a query has at most one row.

    Raises:
        Refused: it may have several.
    """
    while isinstance(query, exp.Subquery):
        query = query.this
    if isinstance(query, exp.Select):
        limit = query.args.get("limit")
        if isinstance(limit, exp.Limit) and limit.expression.name == "1":
            return []
        group = query.args.get("group")
        if group is None and next(aggregates(query), None) is not None:
            return []
        if not from_items(query):
            return []
        try:
            if group is None:
                return statement.determined(query, [])
        except Refused as why:
            raise Refused(f"a subquery that stands for one value may have several rows: {why}") from why
    raise Refused("a subquery that stands for one value may have several rows")


def _of_bags(statement: Statement, call: exp.Expr) -> None:
    name = called(call)
    if isinstance(call, exp.Window) or not is_aggregate(call):
        return
    if name not in OF_BAGS and name not in _RANKS:
        raise Refused(f"{name} depends on the order in which rows come")
    if name in {"MIN", "MAX"}:
        statement.exact(call)


def _of_peers(window: exp.Window) -> None:
    name = called(window.this)
    spec = window.args.get("spec")
    if name not in OF_BAGS | _RANKS or window.args.get("alias") or window.find(exp.IgnoreNulls):
        raise Refused(f"{name or 'a window'} depends on the order in which tied rows come")
    if spec is not None and str(spec.args.get("kind") or "").upper() == "ROWS":
        raise Refused("a window of ROWS depends on the order in which tied rows come")


def _named_of(statement: Statement, nodes: list[exp.Expr]) -> list[Named]:
    return [named for node in nodes if (named := statement.named(node.unnest()))]


def _same(statement: Statement, one: exp.Expr, other: exp.Expr) -> bool:
    left, right = statement.named(one.unnest()), statement.named(other.unnest())
    if left is not None and right is not None:
        return left.place == right.place
    return one.unnest() == other.unnest()


def _columns_of_groups(statement: Statement, select: exp.Select) -> None:
    """Each column outside of aggregates has one value for a group."""
    if not is_grouped(select):
        return
    keys = statement.groups(select)
    named = _named_of(statement, keys)
    places = {one.place for one in named}
    own = {id(call) for call in aggregates(select)}
    for part in ("expressions", "having", "order"):
        for node in parts_of(select, part):
            if node.is_star:
                raise Refused("* beside GROUP BY takes its columns from any row")
            for column, used in statement.uses(node):
                if used.select is not select or used.place in places:
                    continue
                if _is_under(column, select, own, keys):
                    continue
                try:
                    if keys:
                        _determines(statement, select, named, used)
                        continue
                except Refused as why:
                    raise Refused(f"{used.title} may be of any row of its group: {why}") from why
                raise Refused(f"{used.title} may be of any row")


def _determines(statement: Statement, select: exp.Select, given: list[Named], used: Named) -> None:
    """One column has one value for each value of others: by a key of its own table.

    Raises:
        Refused: it may have several.
    """
    table = used.source.table
    names = {one.name for one in given if one.select is select and one.source is used.source}
    if table is None or not any(set(key.columns) <= names for key, _ in statement.whole_keys(table)):
        raise Refused(f"no key of {used.source.alias} is grouped by")


def _is_under(column: exp.Expr, select: exp.Select, own: set[int], keys: list[exp.Expr]) -> bool:
    """Whether a column is within an aggregate of its SELECT, or of an expression that is grouped by."""
    node: exp.Expr | None = column
    while node is not None and node is not select:
        if id(node) in own or any(node == key for key in keys if not isinstance(key, exp.Column)):
            return True
        node = node.parent
    return False


def _one_of_equals(statement: Statement, select: exp.Select) -> None:
    """Of values that are equal, it does not matter which is shown."""
    distinct = select.args.get("distinct")
    if distinct is not None:
        if distinct.args.get("on"):
            raise Refused("DISTINCT ON takes any of the rows that agree")
        for output in select.expressions:
            _exact_result(statement, select, output)
    for key in statement.groups(select) if select.args.get("group") else ():
        _exact_key(statement, select, key)


def _exact_result(statement: Statement, select: exp.Select, output: exp.Expr) -> None:
    if not output.is_star:
        _exact_key(statement, select, output)
        return
    for source in statement.starred(select, output):
        if source.table is None:
            raise Refused("DISTINCT of * is of columns that are not known")
        for column in source.table.columns:
            if not statement.engine.is_exact(column, statement.profile):
                raise Refused(f"of {source.table.name}.{column.name} unlike values can be equal")


def _exact_key(statement: Statement, select: exp.Select, node: exp.Expr) -> None:
    """As `Statement.exact`, or no two rows have equal values of it at all but those of one row."""
    named = statement.named(node.unalias())
    if named is not None and named.select is select and named.source.table is not None:
        keys = [key.columns for key in statement.keys(named.source.table)]
        if (named.name,) in keys:
            return
    statement.exact(node)


def _ordered_by_values(statement: Statement, query: exp.Query) -> list[Fact]:
    """Rows with equal sort keys are equal rows."""
    if isinstance(query, exp.Select) and is_grouped(query) and query.args.get("group") is None:
        return []
    by = statement.terms(query)
    if query.args.get("order") is None:
        what = "LIMIT without ORDER BY takes any rows"
        if isinstance(query, exp.Select) and not from_items(query):
            return []
        raise Refused(what)
    results = results_of(query)
    if isinstance(query, exp.Select) and query.args.get("group") is not None:
        wanted: list[exp.Expr] = statement.groups(query)
        if all(any(_same(statement, one, key) for one in by) for key in wanted):
            return []
    wanted = [one.unalias() for one in results]
    if all(not one.is_star and any(_same(statement, one, term) for term in by) for one in wanted):
        for one in (output for select in leaves(query) for output in select.expressions):
            statement.exact(one)
        return []
    if isinstance(query, exp.Select) and not is_grouped(query):
        try:
            return statement.determined(query, _named_of(statement, by))
        except Refused as why:
            raise Refused(f"rows may tie in ORDER BY: {why}") from why
    raise Refused("rows may tie in ORDER BY")

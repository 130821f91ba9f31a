"""Reading aggregate and window functions; what counts rows that meet a condition is one and the same."""

from sqlglot import exp

from harness.sqltree.diagnosis.names import Scope
from harness.sqltree.diagnosis.reader import Reader
from harness.sqltree.diagnosis.reading import Clause
from harness.sqltree.diagnosis.terms import Term, combined

_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not)
_COUNTING = (exp.Sum, exp.Count)


def aggregate(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    """Read `SUM(x)` and the like, and note the function; one with DISTINCT is noted with what is distinct."""
    counted = _counted(node)
    if counted is not None:
        return _noted(
            reader, "count", combined("count", [reader.condition(counted, scope)]).without_columns()
        )
    found = combined(node.key, [reader.term(part, scope) for part in node.iter_expressions()])
    if isinstance(node.this, exp.Distinct):
        return _noted(reader, found.shape, found.without_columns() if isinstance(node, exp.Count) else found)
    if isinstance(node, exp.Count):
        if found.columns:
            # What is counted makes a difference only where it can be NULL.
            reader.notes.spell(Clause.COUNTED, found)
        found = Term("count(*)")
    return _noted(reader, node.key, found)


def total(reader: Reader, call: Term) -> Term:
    """SQLite's `total(x)`, which sqlglot does not know for an aggregate function: a SUM."""
    return _noted(reader, "sum", call)


def filtered(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    """`f(x) FILTER (WHERE c)`; of COUNT(*), it is what counts the rows that meet c."""
    condition = reader.condition(node.expression.this, scope).without_columns()
    inner = reader.term(node.this, scope)
    if inner.shape == "count(*)":
        return Term(f"count({condition.shape})", condition.literals, aggregates=inner.aggregates)
    return combined("filter", [inner, condition])


def window(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    """A window function, whose value is a row's and not a group's."""
    function = node.this
    reader.notes.aggregates.add(f"{function.key} over")
    parts = [reader.term(part, scope) for part in function.iter_expressions()]
    parts += [reader.term(part, scope) for part in node.iter_expressions() if part is not function]
    found = combined(f"{function.key} over", parts)
    return Term(found.shape, found.literals, found.columns)


def _noted(reader: Reader, function: str, found: Term) -> Term:
    reader.notes.aggregates.add(function)
    return Term(found.shape, found.literals, found.columns, frozenset((function,)))


def _counted(node: exp.Expr) -> exp.Expr | None:
    """The condition that a function counts: of `SUM(c)`, `COUNT(CASE WHEN c THEN x END)` and the like."""
    argument = node.this.unnest() if isinstance(node.this, exp.Expr) else None
    if isinstance(node, exp.CountIf):
        return argument
    if isinstance(node, exp.Sum) and isinstance(argument, _CONDITIONS):
        return argument
    if not isinstance(node, _COUNTING):
        return None
    if isinstance(argument, exp.If):
        branch, default = argument, argument.args.get("false")
    elif isinstance(argument, exp.Case) and argument.this is None and len(argument.args["ifs"]) == 1:
        branch, default = argument.args["ifs"][0], argument.args.get("default")
    else:
        return None
    condition: exp.Expr = branch.this
    if isinstance(node, exp.Count):
        return condition if default is None or isinstance(default, exp.Null) else None
    return condition if branch.args["true"].name == "1" and (default is None or default.name == "0") else None

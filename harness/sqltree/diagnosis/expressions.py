"""Reading expressions: sqlglot's nodes become terms."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlglot import exp

from harness.engines import kind_of
from harness.sqltree.diagnosis.aggregates import aggregate, filtered, total, window
from harness.sqltree.diagnosis.names import Scope
from harness.sqltree.diagnosis.reader import Reader
from harness.sqltree.diagnosis.terms import Term, column, combined, literal

_NULL = Term("null")

_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not)
_COMMUTATIVE = (exp.Add, exp.Mul)


def term(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    """Read an expression and note the conditions and aggregate functions in it."""
    read = _READERS.get(type(node))
    if read is not None:
        return read(reader, node, scope)
    if isinstance(node, exp.AggFunc):
        return aggregate(reader, node, scope)
    if isinstance(node, _CONDITIONS):
        return reader.condition(node, scope)
    if isinstance(node, exp.Query):
        return _subquery(reader, node, scope)
    return _call(reader, node, scope)


def _call(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    """Any operation or function that is not treated in another way: its name and its arguments."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else node.key
    parts = [reader.term(part, scope) for part in node.iter_expressions()]
    return combined(name, parts, is_commutative=isinstance(node, _COMMUTATIVE))


def _inner(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    return reader.term(node.this, scope)


def _literal(reader: Reader, node: exp.Expr, _: Scope) -> Term:
    return literal(node.name.casefold() if kind_of(reader.dialect).ignores_case else node.name)


def _negative(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    inner = reader.term(node.this, scope)
    return literal(f"-{inner.literals[0]}") if inner.shape == "?" else combined("neg", [inner])


def _column(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    name, alias = node.name.lower(), node.args.get("table")
    if alias is not None:
        return scope.qualified(alias.name.lower(), name)
    found = scope.unqualified(name)
    if found is not None:
        return found
    # https://sqlite.org/quirks.html#double_quoted_string_literals_are_accepted
    is_text = kind_of(reader.dialect).reads_quoted_names_as_texts and node.this.args.get("quoted")
    return literal(node.name) if is_text else column(name)


def _concatenation(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    return combined("concat", [reader.term(part, scope) for part in _concatenated(node)])


def _concatenated(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.DPipe):
        yield from _concatenated(node.left)
        yield from _concatenated(node.right)
    elif isinstance(node, exp.Concat):
        yield from node.expressions
    else:
        yield node


def _cast(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    inner, kind = reader.term(node.this, scope), node.args["to"].this
    if inner.shape == "?":
        return inner
    if kind in exp.DataType.REAL_TYPES:
        return combined("real", [inner])
    return combined("integer" if kind in exp.DataType.INTEGER_TYPES else "cast", [inner])


def _case(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    branches = [(_test(node, branch), branch) for branch in node.args["ifs"]]
    return _choice(reader, branches, node.args.get("default"), scope)


def _if(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    return _choice(reader, [(node.this, node)], node.args.get("false"), scope)


def _test(case: exp.Expr, branch: exp.Expr) -> exp.Expr:
    test: exp.Expr = branch.this
    return test if case.this is None else exp.EQ(this=case.this, expression=test)


def _choice(
    reader: Reader, branches: list[tuple[exp.Expr, exp.Expr]], default: exp.Expr | None, scope: Scope
) -> Term:
    """CASE and IF: the columns of the conditions are no columns of the value."""
    parts: list[Term] = []
    for test, branch in branches:
        parts += [reader.condition(test, scope).without_columns(), reader.term(branch.args["true"], scope)]
    return combined("case", [*parts, _NULL if default is None else reader.term(default, scope)])


def _ordered(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    name = "descending" if node.args.get("desc") else "ascending"
    return combined(name, [reader.term(node.this, scope)])


def _anonymous(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    found = _call(reader, node, scope)
    return total(reader, found) if node.name.lower() == "total" else found


def _subquery(reader: Reader, node: exp.Expr, scope: Scope) -> Term:
    """The value of a query: its column."""
    outputs = [term for _, term in reader.query(node, scope)]
    return outputs[0] if len(outputs) == 1 else combined("row", outputs)


_READERS: Mapping[type[exp.Expr], Callable[[Reader, Any, Scope], Term]] = {
    exp.Alias: _inner,
    exp.Any: _inner,
    exp.Paren: _inner,
    exp.TsOrDsToDate: _inner,
    exp.TsOrDsToTimestamp: _inner,
    exp.Literal: _literal,
    exp.National: _literal,
    exp.Boolean: lambda _reader, node, _scope: literal("1" if node.this else "0"),
    exp.Neg: _negative,
    exp.Null: lambda _reader, _node, _scope: _NULL,
    exp.Star: lambda _reader, _node, _scope: Term("*"),
    exp.Var: lambda _reader, node, _scope: Term(node.name.lower()),
    exp.Identifier: lambda _reader, node, _scope: Term(node.name.lower()),
    exp.DataType: lambda _reader, node, _scope: Term(node.sql().lower()),
    exp.Column: _column,
    exp.DPipe: _concatenation,
    exp.Concat: _concatenation,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Case: _case,
    exp.If: _if,
    exp.Anonymous: _anonymous,
    exp.Filter: filtered,
    exp.Window: window,
    exp.Ordered: _ordered,
}

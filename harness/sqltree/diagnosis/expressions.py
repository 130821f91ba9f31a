"""Reading expressions: sqlglot's nodes become terms. What counts rows that meet a condition is one term."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlglot import exp

from harness.engines import kind_of
from harness.sqltree.diagnosis.reader import Reader, ReadingScope
from harness.sqltree.diagnosis.reading import (
    NOTHING,
    Clause,
    Cut,
    Key,
    ReadCondition,
    Term,
    column,
    combined,
    literal,
)

# Reading conditions: comparisons the same for every way to write them, and the columns that queries join.

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NullSafeEQ: "=", exp.Is: "=", exp.Like: "=", exp.ILike: "=", exp.Glob: "=",
    exp.RegexpLike: "=", exp.RegexpILike: "=", exp.SimilarTo: "=", exp.NEQ: "<>", exp.NullSafeNEQ: "<>",
    exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=",
}  # fmt: skip
_PATTERNS = (exp.Like, exp.ILike, exp.Glob, exp.RegexpLike, exp.RegexpILike, exp.SimilarTo)
_OPPOSITES = {"=": "<>", "<>": "=", ">": "<=", "<=": ">", "<": ">=", ">=": "<"}
_FLIPPED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_NO_CONDITION = Term("")

_WRAPPERS = (exp.Paren, exp.Not, exp.Escape)
_CONNECTORS = (exp.And, exp.Or)
_JOINED = (exp.Column, exp.Subquery)
_EXTREMES = (exp.Max, exp.Min)


def conjuncts(reader: Reader, node: exp.Expr, scope: ReadingScope, *, negated: bool = False) -> None:
    """Read the condition of WHERE, HAVING or ON: what stands between its ANDs, in whatever clause."""
    node, negated = _positive(node, negated=negated)
    if isinstance(node, exp.Or if negated else exp.And):
        for part in node.flatten():
            conjuncts(reader, part, scope, negated=negated)
    elif isinstance(node, exp.Between) and not negated:
        for kind, name in ((exp.GTE, "low"), (exp.LTE, "high")):
            conjuncts(reader, kind(this=node.this, expression=node.args[name]), scope)
    elif negated or not _is_join(reader, node, scope):
        found = condition(reader, node, scope, negated=negated)
        if found != _NO_CONDITION:
            reader.notes.spell(Clause.CONDITIONS, found)


def condition(reader: Reader, node: exp.Expr, scope: ReadingScope, *, negated: bool = False) -> Term:
    """Read a condition, or its opposite, and note the comparisons in it."""
    node, negated = _positive(node, negated=negated)
    if isinstance(node, _CONNECTORS):
        name = "or" if isinstance(node, exp.Or) is not negated else "and"
        parts = [condition(reader, part, scope, negated=negated) for part in node.flatten()]
        said = [part for part in parts if part != _NO_CONDITION]
        found = combined(name, said, is_commutative=True) if len(said) > 1 else (said or [_NO_CONDITION])[0]
    elif isinstance(node, exp.Between):
        found = _between(reader, node, scope, negated=negated)
    elif isinstance(node, exp.In):
        found = _in(reader, node, scope, negated=negated)
    elif isinstance(node, exp.Exists):
        found = _exists(reader, node, scope, negated=negated)
    elif type(node) in _OPERATORS:
        found = _comparison(reader, node, scope, negated=negated)
    elif isinstance(node, exp.Boolean):
        found = _NO_CONDITION
    else:
        found = _note(reader, "false" if negated else "true", reader.term(node, scope))
    return found


def _positive(node: exp.Expr, *, negated: bool) -> tuple[exp.Expr, bool]:
    """A condition without the parentheses and NOTs around it, and whether its opposite is meant."""
    while isinstance(node, _WRAPPERS):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    return node, negated


def _is_join(reader: Reader, node: exp.Expr, scope: ReadingScope) -> bool:
    """Whether a condition equates two columns, one of them perhaps a subquery's; notes the pair."""
    if isinstance(node, exp.EQ):
        sides = node.left, node.right
    elif isinstance(node, exp.In) and node.args.get("query") is not None:
        sides = node.this, node.args["query"]
    else:
        return False
    if not all(isinstance(side, _JOINED) and _descends(side) is None for side in sides):
        return False
    one, other = (reader.term(side, scope).only_column for side in sides)
    if one is None or other is None:
        return False
    reader.notes.pairs.append((one, other))
    return True


def _comparison(reader: Reader, node: exp.Expr, scope: ReadingScope, *, negated: bool) -> Term:
    operator = _OPERATORS[type(node)]
    if negated is not bool(node.args.get("negate")):  # NOT LIKE, and PostgreSQL's IS NOT
        operator = _OPPOSITES[operator]
    one, other = node.this, node.expression
    if isinstance(other, exp.Null):
        return _note(reader, "null" if operator == "=" else "not null", reader.term(one, scope))
    if operator == "=" and _descends(other) is not None:
        return _extremum(reader, one, other, scope)
    if operator == "=" and _descends(one) is not None:
        return _extremum(reader, other, one, scope)
    left, right = reader.term(one, scope), reader.term(other, scope)
    if _goes_right(left, right):
        left, right, operator = right, left, _FLIPPED.get(operator, operator)
    is_pattern = isinstance(node, _PATTERNS)
    return _note(reader, operator, left, right, spelled=f"{operator} {node.key}" if is_pattern else operator)


def _descends(node: exp.Expr) -> bool | None:
    """Whether a subquery is a MAX (True) or a MIN (False) over all rows and nothing else (None)."""
    query = node.unnest() if isinstance(node, exp.Subquery) else node
    if not isinstance(query, exp.Select) or len(query.expressions) != 1 or query.args.get("group"):
        return None
    output = query.expressions[0].unalias().unnest()
    return isinstance(output, exp.Max) if isinstance(output, _EXTREMES) else None


def _extremum(reader: Reader, node: exp.Expr, query: exp.Expr, scope: ReadingScope) -> Term:
    """`x = (SELECT MAX(y) ...)`: the first by y in descending order, another way to write it."""
    compared, descends = reader.term(node, scope), bool(_descends(query))
    _, found = reader.query(query, scope, of_extreme=True)[0]
    of = found.columns or compared.columns | found.aggregates
    reader.notes.cuts.add(Cut((Key(of, descends),)))
    reader.notes.spell(Clause.CUTS, combined("greatest" if descends else "least", [compared, found]))
    return _NO_CONDITION


def _between(reader: Reader, node: exp.Between, scope: ReadingScope, *, negated: bool) -> Term:
    bounded = reader.term(node.this, scope)
    bounds = [reader.term(node.args[name], scope) for name in ("low", "high")]
    operators = ("<", ">") if negated else (">=", "<=")
    parts = [
        _note(reader, operator, bounded, bound) for operator, bound in zip(operators, bounds, strict=True)
    ]
    return combined("or" if negated else "and", parts, is_commutative=True)


def _in(reader: Reader, node: exp.In, scope: ReadingScope, *, negated: bool) -> Term:
    query = node.args.get("query")
    if query is not None and not negated and _descends(query) is not None:
        return _extremum(reader, node.this, query, scope)
    found = [reader.term(part, scope) for part in (node.expressions if query is None else [query])]
    values = found[0] if len(found) == 1 else combined("list", found, is_commutative=True)
    return _note(reader, "<>" if negated else "=", reader.term(node.this, scope), values)


def _exists(reader: Reader, node: exp.Exists, scope: ReadingScope, *, negated: bool) -> Term:
    reader.query(node.this, scope)
    if not negated:
        return _NO_CONDITION
    reader.notes.conditions.add(ReadCondition(NOTHING, "not exists"))
    return Term("not exists")


def _note(reader: Reader, operator: str, left: Term, right: Term | None = None, *, spelled: str = "") -> Term:
    sides = [left] if right is None else [left, right]
    found = combined(spelled or operator, sides, is_commutative=operator in ("=", "<>"))
    subject = found.columns | found.aggregates
    if subject:
        constants = [side for side in sides if not side.columns | side.aggregates] or sides
        values = frozenset(text.strip("%*") for side in constants for text in side.literals)
        reader.notes.conditions.add(ReadCondition(subject, operator, values))
    return found


def _goes_right(left: Term, right: Term) -> bool:
    """Whether the left side of a comparison is to stand on the right: constants, else the later spelling."""
    is_constant = [not side.columns | side.aggregates for side in (left, right)]
    if is_constant[0] != is_constant[1]:
        return is_constant[0]
    return (left.shape, left.literals) > (right.shape, right.literals)


_COUNTING = (exp.Sum, exp.Count)


def aggregate(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
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


def filtered(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
    """`f(x) FILTER (WHERE c)`; of COUNT(*), it is what counts the rows that meet c."""
    condition = reader.condition(node.expression.this, scope).without_columns()
    inner = reader.term(node.this, scope)
    if inner.shape == "count(*)":
        return Term(f"count({condition.shape})", condition.literals, aggregates=inner.aggregates)
    return combined("filter", [inner, condition])


def window(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
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


_NULL = Term("null")

_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not)
_COMMUTATIVE = (exp.Add, exp.Mul)


def term(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
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


def _call(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
    """Any operation or function that is not treated in another way: its name and its arguments."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else node.key
    parts = [reader.term(part, scope) for part in node.iter_expressions()]
    return combined(name, parts, is_commutative=isinstance(node, _COMMUTATIVE))


def _inner(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
    return reader.term(node.this, scope)


def _literal(reader: Reader, node: exp.Expr, _: ReadingScope) -> Term:
    return literal(node.name.casefold() if kind_of(reader.dialect).ignores_case else node.name)


def _negative(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
    inner = reader.term(node.this, scope)
    return literal(f"-{inner.literals[0]}") if inner.shape == "?" else combined("neg", [inner])


def _column(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
    name, alias = node.name.lower(), node.args.get("table")
    if alias is not None:
        return scope.qualified(alias.name.lower(), name)
    found = scope.unqualified(name)
    if found is not None:
        return found
    # https://sqlite.org/quirks.html#double_quoted_string_literals_are_accepted
    is_text = kind_of(reader.dialect).reads_quoted_names_as_texts and node.this.args.get("quoted")
    return literal(node.name) if is_text else column(name)


def _concatenation(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
    return combined("concat", [reader.term(part, scope) for part in _concatenated(node)])


def _concatenated(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.DPipe):
        yield from _concatenated(node.left)
        yield from _concatenated(node.right)
    elif isinstance(node, exp.Concat):
        yield from node.expressions
    else:
        yield node


def _cast(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
    inner, kind = reader.term(node.this, scope), node.args["to"].this
    if inner.shape == "?":
        return inner
    if kind in exp.DataType.REAL_TYPES:
        return combined("real", [inner])
    return combined("integer" if kind in exp.DataType.INTEGER_TYPES else "cast", [inner])


def _case(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
    branches = [(_test(node, branch), branch) for branch in node.args["ifs"]]
    return _choice(reader, branches, node.args.get("default"), scope)


def _if(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
    return _choice(reader, [(node.this, node)], node.args.get("false"), scope)


def _test(case: exp.Expr, branch: exp.Expr) -> exp.Expr:
    test: exp.Expr = branch.this
    return test if case.this is None else exp.EQ(this=case.this, expression=test)


def _choice(
    reader: Reader, branches: list[tuple[exp.Expr, exp.Expr]], default: exp.Expr | None, scope: ReadingScope
) -> Term:
    """CASE and IF: the columns of the conditions are no columns of the value."""
    parts: list[Term] = []
    for test, branch in branches:
        parts += [reader.condition(test, scope).without_columns(), reader.term(branch.args["true"], scope)]
    return combined("case", [*parts, _NULL if default is None else reader.term(default, scope)])


def _ordered(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
    name = "descending" if node.args.get("desc") else "ascending"
    return combined(name, [reader.term(node.this, scope)])


def _anonymous(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
    found = _call(reader, node, scope)
    return total(reader, found) if node.name.lower() == "total" else found


def _subquery(reader: Reader, node: exp.Expr, scope: ReadingScope) -> Term:
    """The value of a query: its column."""
    outputs = [term for _, term in reader.query(node, scope)]
    return outputs[0] if len(outputs) == 1 else combined("row", outputs)


_READERS: Mapping[type[exp.Expr], Callable[[Reader, Any, ReadingScope], Term]] = {
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

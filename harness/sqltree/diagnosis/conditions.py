"""Reading conditions: comparisons the same for every way to write them, and the columns that queries join."""

from sqlglot import exp

from harness.sqltree.diagnosis.reader import Reader, ReadingScope
from harness.sqltree.diagnosis.reading import NOTHING, Clause, Cut, Key, ReadCondition, Term, combined

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
        found = _noted(reader, "false" if negated else "true", reader.term(node, scope))
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
        return _noted(reader, "null" if operator == "=" else "not null", reader.term(one, scope))
    if operator == "=" and _descends(other) is not None:
        return _extremum(reader, one, other, scope)
    if operator == "=" and _descends(one) is not None:
        return _extremum(reader, other, one, scope)
    left, right = reader.term(one, scope), reader.term(other, scope)
    if _goes_right(left, right):
        left, right, operator = right, left, _FLIPPED.get(operator, operator)
    is_pattern = isinstance(node, _PATTERNS)
    return _noted(reader, operator, left, right, spelled=f"{operator} {node.key}" if is_pattern else operator)


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
        _noted(reader, operator, bounded, bound) for operator, bound in zip(operators, bounds, strict=True)
    ]
    return combined("or" if negated else "and", parts, is_commutative=True)


def _in(reader: Reader, node: exp.In, scope: ReadingScope, *, negated: bool) -> Term:
    query = node.args.get("query")
    if query is not None and not negated and _descends(query) is not None:
        return _extremum(reader, node.this, query, scope)
    found = [reader.term(part, scope) for part in (node.expressions if query is None else [query])]
    values = found[0] if len(found) == 1 else combined("list", found, is_commutative=True)
    return _noted(reader, "<>" if negated else "=", reader.term(node.this, scope), values)


def _exists(reader: Reader, node: exp.Exists, scope: ReadingScope, *, negated: bool) -> Term:
    reader.query(node.this, scope)
    if not negated:
        return _NO_CONDITION
    reader.notes.conditions.add(ReadCondition(NOTHING, "not exists"))
    return Term("not exists")


def _noted(
    reader: Reader, operator: str, left: Term, right: Term | None = None, *, spelled: str = ""
) -> Term:
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

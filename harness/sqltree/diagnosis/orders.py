"""Reading GROUP BY, ORDER BY and LIMIT."""

from collections.abc import Sequence

from sqlglot import exp

from harness.sqltree.diagnosis.names import Scope
from harness.sqltree.diagnosis.reader import Outputs, Reader
from harness.sqltree.diagnosis.reading import Clause, Cut, Key
from harness.sqltree.diagnosis.terms import NOTHING, Term, combined


def cut(reader: Reader, query: exp.Expr, scope: Scope, outputs: Outputs) -> list[Term]:
    """Note LIMIT with the order that it cuts, for an order without a LIMIT decides nothing.

    Returns:
        What is sorted by.
    """
    order, limit, offset = (query.args.get(name) for name in ("order", "limit", "offset"))
    ordered = order.expressions if order is not None else []
    terms = [_key(reader, one.this, scope, outputs, prefers_output=True) for one in ordered]
    if limit is None and offset is None:
        return terms
    keys = [
        Key(term.columns | term.aggregates, bool(one.args.get("desc")))
        for term, one in zip(terms, ordered, strict=True)
    ]
    count = None if limit is None else limit.args.get("expression") or limit.args.get("count")
    kept = Term("all") if count is None else reader.term(count, scope)
    skipped = Term("?", ("0",)) if offset is None else reader.term(offset.expression, scope)
    reader.notes.cuts.add(Cut(tuple(keys), *("".join(one.literals) or one.shape for one in (kept, skipped))))
    reader.notes.spell(Clause.CUTS, combined("cut", [*terms, kept, skipped]))
    if query.args.get("distinct") is not None:
        reader.notes.spell(Clause.CUTS, Term("distinct"))
    return terms


def group(
    reader: Reader, select: exp.Select, scope: Scope, outputs: Outputs, sorted_by: Sequence[Term]
) -> None:
    """Note GROUP BY, and DISTINCT where it decides more than how often a row of the result occurs."""
    clause, distinct = select.args.get("group"), select.args.get("distinct")
    if clause is not None and clause.expressions:
        keys = [_key(reader, key, scope, outputs) for key in clause.expressions]
        columns = NOTHING.union(*[key.columns for key in keys])
        terms = [*(term for _, term in outputs), *sorted_by]
        if select.args.get("having") is not None or any(term.aggregates for term in terms):
            reader.notes.groups.add(columns)
        elif not scope.is_inner and NOTHING.union(*[term.columns for term in terms]) <= columns:
            return  # Another way to write DISTINCT.
        reader.notes.spell(Clause.GROUPS, combined("group", keys, is_commutative=True))
    if distinct is not None and (scope.is_inner or distinct.args.get("on") is not None):
        parts = [reader.term(part, scope) for part in distinct.iter_expressions()]
        reader.notes.spell(Clause.GROUPS, combined("distinct", parts))


def _key(
    reader: Reader, node: exp.Expr, scope: Scope, outputs: Outputs, *, prefers_output: bool = False
) -> Term:
    """What to sort or group by: an expression, or a column of the result by its name or its number."""
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal():
        place = int(node.name) - 1
        if 0 <= place < len(outputs):
            return outputs[place][1]
    if prefers_output and isinstance(node, exp.Column) and not node.table:
        named = scope.outputs.get(node.name.lower())
        if named is not None:
            return named
    return reader.term(node, scope)

"""Reading FROM: tables, subqueries and joins."""

from collections.abc import Sequence

from sqlglot import exp

from harness.sqltree.diagnosis.conditions import conjuncts
from harness.sqltree.diagnosis.names import Scope, Source
from harness.sqltree.diagnosis.reader import Outputs, Reader
from harness.sqltree.diagnosis.reading import Clause
from harness.sqltree.diagnosis.terms import Term

_DERIVED = (exp.Subquery, exp.Lateral)


def sources(reader: Reader, select: exp.Select, scope: Scope) -> None:
    """Read what a SELECT reads from, and the conditions of its joins."""
    clause = select.args.get("from_")
    if clause is not None:
        _source(reader, clause.this, scope)
    for join in select.args.get("joins") or ():
        _join(reader, join, scope)
    for lateral in select.args.get("laterals") or ():
        _source(reader, lateral, scope)


def renamed(outputs: Outputs, names: Sequence[str]) -> Outputs:
    """The columns of a subquery under the names that its alias gives them, if it does."""
    return [(name, term) for name, (_, term) in zip(names, outputs, strict=False)] if names else outputs


def _source(reader: Reader, node: exp.Expr, scope: Scope) -> None:
    alias = node.alias.lower() or f"#{len(scope.sources)}"
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        name = node.name.lower()
        cte = None if node.db else scope.cte(name)
        scope.sources[node.alias.lower() or name] = _table(reader, name) if cte is None else cte
    elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
        _source(reader, node.this, scope)
    elif isinstance(node, _DERIVED):
        names = [name.name.lower() for name in getattr(node.args.get("alias"), "columns", ())]
        scope.sources[alias] = Source(dict(renamed(reader.query(node.this, scope), names)))
    else:
        # A function's rows: their columns go by its place in FROM.
        scope.sources[alias] = Source({}, of=f"#{len(scope.sources)}.")
    for join in node.args.get("joins") or ():
        _join(reader, join, scope)


def _table(reader: Reader, name: str) -> Source:
    """A base table. One that is not in the schema may have any column; without a schema all are alike."""
    reader.notes.tables.add(name)
    if reader.tables is None:
        return Source({}, of="")
    return reader.tables.get(name) or Source({}, of=f"{name}.")


def _join(reader: Reader, node: exp.Join, scope: Scope) -> None:
    before = list(scope.sources.values())
    _source(reader, node.this, scope)
    if node.side or node.method:
        reader.notes.spell(Clause.STRUCTURE, Term(f"{node.method} {node.side} join".lower()))
    if node.args.get("on") is not None:
        conjuncts(reader, node.args["on"], scope)
    joined = list(scope.sources.values())[len(before) :]
    for identifier in node.args.get("using") or ():
        ends = [_column(side, identifier.name.lower()) for side in (before, joined)]
        if ends[0] is not None and ends[1] is not None:
            reader.notes.pairs.append((ends[0], ends[1]))


def _column(side: Sequence[Source], name: str) -> str | None:
    """The column `name` on one side of a join."""
    found = (source.get(name) for source in side)
    return next((term.only_column for term in found if term is not None), None)

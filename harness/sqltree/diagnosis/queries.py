"""Reading queries: SELECT, set operations and WITH."""

from collections.abc import Iterator

from sqlglot import exp

from dialects.enums import Dialect
from harness.data.questions import DatabaseSchema
from harness.sqltree.diagnosis.conditions import condition, conjuncts
from harness.sqltree.diagnosis.expressions import term
from harness.sqltree.diagnosis.names import Scope, Source, tables_of
from harness.sqltree.diagnosis.orders import cut, group
from harness.sqltree.diagnosis.reader import Outputs, TooMuch
from harness.sqltree.diagnosis.reading import Clause, Notes
from harness.sqltree.diagnosis.sources import renamed, sources
from harness.sqltree.diagnosis.terms import Term

_WRAPPERS = (exp.Subquery, exp.Paren)

_ROOM = 500_000
"""Characters that the terms of one query may have together: each `SELECT x + x` doubles the x of the one
before it."""
_ROOM_OF_A_TERM = 20
"""What reading a term takes of it, however short it is."""
_MOST_COLUMNS = 4_096
"""Columns of a SELECT: MySQL's limit, the highest. https://dev.mysql.com/doc/refman/9.7/en/column-count-limit.html.
"""


class QueryReader:
    """The `Reader`."""

    def __init__(self, dialect: Dialect, schema: DatabaseSchema | None) -> None:
        self.dialect = dialect
        self.tables = None if schema is None else tables_of(schema)
        self.notes = Notes()
        self._room = _ROOM

    def term(self, node: exp.Expr, scope: Scope) -> Term:
        """See `Reader.term`.

        Raises:
            TooMuch: the query takes too long to read.
        """
        return self._spent(term(self, node, scope))

    def condition(self, node: exp.Expr, scope: Scope) -> Term:
        """See `Reader.condition`."""
        return self._spent(condition(self, node, scope))

    def query(
        self, node: exp.Expr, scope: Scope, *, of_extreme: bool = False, recursive: Source | None = None
    ) -> Outputs:
        """See `Reader.query`; `recursive` is the CTE that the query defines, and perhaps refers to."""
        scope = Scope(parent=scope)
        self._with(node, scope)
        if isinstance(node, exp.Select):
            return self._select(node, scope, of_extreme=of_extreme)
        outputs: Outputs = []
        if isinstance(node, _WRAPPERS):
            outputs = self.query(node.this, scope, of_extreme=of_extreme, recursive=recursive)
        elif isinstance(node, exp.SetOperation):
            outputs = self.query(node.left, scope)
            if recursive is not None:
                recursive.columns.update(renamed(outputs, list(recursive.columns)))
            self.query(node.right, scope)
            kind = node.key if node.args.get("distinct") else f"{node.key} all"
            self.notes.spell(Clause.STRUCTURE, Term(kind))
        scope.outputs.update(outputs)
        cut(self, node, scope, outputs)
        return outputs

    def _spent(self, found: Term) -> Term:
        self._room -= _ROOM_OF_A_TERM + len(found.shape)
        if self._room < 0:
            raise TooMuch
        return found

    def _with(self, node: exp.Expr, scope: Scope) -> None:
        clause = node.args.get("with_")
        if clause is None:
            return
        for cte in clause.expressions:
            name = cte.alias.lower()
            columns = [column.name.lower() for column in cte.args["alias"].columns]
            source = Source({column: Term(column) for column in columns})
            if clause.args.get("recursive"):
                scope.ctes[name] = source
            outputs = self.query(cte.this, scope, recursive=source)
            scope.ctes[name] = Source(dict(renamed(outputs, columns)))

    def _select(self, node: exp.Select, scope: Scope, *, of_extreme: bool) -> Outputs:
        sources(self, node, scope)
        outputs: list[tuple[str, Term]] = []
        for expression in node.expressions:
            inner = expression.unalias().unnest().this if of_extreme else expression
            outputs += self._outputs(inner, expression.output_name.lower(), scope)
            if len(outputs) > _MOST_COLUMNS:
                raise TooMuch
        scope.outputs.update((name, term) for name, term in outputs if name)
        for name in ("where", "having", "qualify"):
            clause = node.args.get(name)
            if clause is not None:
                conjuncts(self, clause.this, scope)
        group(self, node, scope, outputs, cut(self, node, scope, outputs))
        return outputs

    def _outputs(self, node: exp.Expr, name: str, scope: Scope) -> Iterator[tuple[str, Term]]:
        """One column of a SELECT, or all that a star stands for."""
        if isinstance(node, exp.Star):
            starred = list(scope.sources.values())
        elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            alias = node.table.lower()
            starred = [scope.sources.get(alias) or Source({}, of=f"{alias}.")]
        else:
            yield name, self.term(node, scope)
            return
        for source in starred:
            yield from source.all()

"""Reading queries: SELECT with FROM, GROUP BY, ORDER BY and LIMIT, set operations and WITH."""

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from dialects.clauses import from_items, joins_of
from harness.engines import EngineName
from harness.sqltree.diagnosis.expressions import condition, conjuncts, term
from harness.sqltree.diagnosis.reader import (
    Outputs,
    Reader,
    ReadingScope,
    ReadingSource,
    TooMuchToRead,
    tables_of,
)
from harness.sqltree.diagnosis.reading import NOTHING, Clause, Cut, Key, Notes, Reading, Term, combined
from harness.sqltree.parsing import statements, tokens_of
from harness.sqltree.schema import DatabaseSchema

_DERIVED = (exp.Subquery, exp.Lateral)


def sources(reader: Reader, select: exp.Select, scope: ReadingScope) -> None:
    """Read what a SELECT reads from, and the conditions of its joins."""
    for node, join in from_items(select):
        if join is None:
            _source(reader, node, scope)
        else:
            _join(reader, join, scope)


def renamed(outputs: Outputs, names: Sequence[str]) -> Outputs:
    """The columns of a subquery under the names that its alias gives them, if it does."""
    return [(name, term) for name, (_, term) in zip(names, outputs, strict=False)] if names else outputs


def _source(reader: Reader, node: exp.Expr, scope: ReadingScope) -> None:
    alias = node.alias.lower() or f"#{len(scope.sources)}"
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        name = node.name.lower()
        cte = None if node.db else scope.cte(name)
        scope.sources[node.alias.lower() or name] = _table(reader, name) if cte is None else cte
    elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
        _source(reader, node.this, scope)
    elif isinstance(node, _DERIVED):
        names = [name.name.lower() for name in getattr(node.args.get("alias"), "columns", ())]
        scope.sources[alias] = ReadingSource(dict(renamed(reader.query(node.this, scope), names)))
    else:
        # A function's rows: their columns go by its place in FROM.
        scope.sources[alias] = ReadingSource({}, of=f"#{len(scope.sources)}.")
    for join in joins_of(node):
        _join(reader, join, scope)


def _table(reader: Reader, name: str) -> ReadingSource:
    """A base table. One that is not in the schema may have any column; without a schema all are alike."""
    reader.notes.tables.add(name)
    if reader.tables is None:
        return ReadingSource({}, of="")
    return reader.tables.get(name) or ReadingSource({}, of=f"{name}.")


def _join(reader: Reader, node: exp.Join, scope: ReadingScope) -> None:
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


def _column(side: Sequence[ReadingSource], name: str) -> str | None:
    """The column `name` on one side of a join."""
    found = (source.get(name) for source in side)
    return next((term.only_column for term in found if term is not None), None)


def cut(reader: Reader, query: exp.Expr, scope: ReadingScope, outputs: Outputs) -> list[Term]:
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
    reader: Reader, select: exp.Select, scope: ReadingScope, outputs: Outputs, sorted_by: Sequence[Term]
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
    reader: Reader, node: exp.Expr, scope: ReadingScope, outputs: Outputs, *, prefers_output: bool = False
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

    def __init__(self, dialect: EngineName, schema: DatabaseSchema | None) -> None:
        self.dialect = dialect
        self.tables = None if schema is None else tables_of(schema)
        self.notes = Notes()
        self._room = _ROOM

    def term(self, node: exp.Expr, scope: ReadingScope) -> Term:
        """See `Reader.term`.

        Raises:
            TooMuch: the query takes too long to read.
        """
        return self._spent(term(self, node, scope))

    def condition(self, node: exp.Expr, scope: ReadingScope) -> Term:
        """See `Reader.condition`."""
        return self._spent(condition(self, node, scope))

    def query(
        self,
        node: exp.Expr,
        scope: ReadingScope,
        *,
        of_extreme: bool = False,
        recursive: ReadingSource | None = None,
    ) -> Outputs:
        """See `Reader.query`; `recursive` is the CTE that the query defines, and perhaps refers to."""
        scope = ReadingScope(parent=scope)
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
            raise TooMuchToRead
        return found

    def _with(self, node: exp.Expr, scope: ReadingScope) -> None:
        clause = node.args.get("with_")
        if clause is None:
            return
        for cte in clause.expressions:
            name = cte.alias.lower()
            columns = [column.name.lower() for column in cte.args["alias"].columns]
            source = ReadingSource({column: Term(column) for column in columns})
            if clause.args.get("recursive"):
                scope.ctes[name] = source
            outputs = self.query(cte.this, scope, recursive=source)
            scope.ctes[name] = ReadingSource(dict(renamed(outputs, columns)))

    def _select(self, node: exp.Select, scope: ReadingScope, *, of_extreme: bool) -> Outputs:
        sources(self, node, scope)
        outputs: list[tuple[str, Term]] = []
        for expression in node.expressions:
            inner = expression.unalias().unnest().this if of_extreme else expression
            outputs += self._outputs(inner, expression.output_name.lower(), scope)
            if len(outputs) > _MOST_COLUMNS:
                raise TooMuchToRead
        scope.outputs.update((name, term) for name, term in outputs if name)
        for name in ("where", "having", "qualify"):
            clause = node.args.get(name)
            if clause is not None:
                conjuncts(self, clause.this, scope)
        group(self, node, scope, outputs, cut(self, node, scope, outputs))
        return outputs

    def _outputs(self, node: exp.Expr, name: str, scope: ReadingScope) -> Iterator[tuple[str, Term]]:
        """One column of a SELECT, or all that a star stands for."""
        if isinstance(node, exp.Star):
            starred = list(scope.sources.values())
        elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            alias = node.table.lower()
            starred = [scope.sources.get(alias) or ReadingSource({}, of=f"{alias}.")]
        else:
            yield name, self.term(node, scope)
            return
        for source in starred:
            yield from source.all()


_FIRST = frozenset((TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.VALUES))


def reading_of(sql: str, dialect: EngineName, schema: DatabaseSchema | None) -> Reading | None:
    """What a query says; None if the text is no query or cannot be read."""
    try:
        statement = _last_statement(sql, dialect)
        if not _begins_query(statement):
            return None
        node = statements(sql, dialect, statement)[0]
        reader = QueryReader(dialect, schema)
        outputs = reader.query(node, ReadingScope())
    except Exception:  # noqa: BLE001 - what sqlglot raises for texts that are no SQL is of many kinds
        return None
    return Reading.of(reader.notes, [term for _, term in outputs])


def begins_query(sql: str, dialect: EngineName) -> bool:
    """Whether the last statement of a text begins as a query."""
    try:
        return _begins_query(_last_statement(sql, dialect))
    except SqlglotError:
        return False


def _begins_query(tokens: Sequence[Token]) -> bool:
    return bool(tokens) and tokens[0].token_type in _FIRST


def _last_statement(sql: str, dialect: EngineName) -> list[Token]:
    """The tokens of the last statement of a text.

    Raises:
        TokenError: the text has a token that is none.
    """
    tokens = tokens_of(sql, dialect)
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    ends = [place for place, token in enumerate(tokens) if token.token_type is TokenType.SEMICOLON]
    return tokens[ends[-1] + 1 :] if ends else tokens

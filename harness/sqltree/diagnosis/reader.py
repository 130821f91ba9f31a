"""The reader of a query: expressions of sqlglot's tree become terms, and clauses are noted.

Names are compared without case and quotes; a column is a base table's, whatever aliases and subqueries lie
between. A column of a subquery or a CTE is the expression there. Without a schema a column is
known by its name alone. Comparisons are the same for every way to write them, and what counts rows that meet
a condition is one term.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from sqlglot import exp

from dialects.clauses import FromItem, FromScope, Offer, columns_of, sources_of
from harness.engines import EngineName, kind_of
from harness.sqltree import DatabaseSchema
from harness.sqltree.diagnosis.differences import (
    NOTHING,
    Clause,
    Cut,
    Equated,
    Notes,
    ReadCondition,
    Reading,
    SortKey,
    Term,
    column,
    combined,
    literal,
)
from harness.sqltree.parser import is_query, last_statement, statements

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NullSafeEQ: "=", exp.Is: "=", exp.Like: "=", exp.ILike: "=", exp.Glob: "=",
    exp.RegexpLike: "=", exp.RegexpILike: "=", exp.SimilarTo: "=", exp.NEQ: "<>", exp.NullSafeNEQ: "<>",
    exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=",
}  # fmt: skip
_PATTERNS = (exp.Like, exp.ILike, exp.Glob, exp.RegexpLike, exp.RegexpILike, exp.SimilarTo)
_EQUALITIES = ("", "=", "= like", "= ilike")
"""Comparisons that hold for some stored values: those of other patterns are not known here."""
_OPPOSITES = {"=": "<>", "<>": "=", ">": "<=", "<=": ">", "<": ">=", ">=": "<"}
_FLIPPED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_NO_CONDITION = Term("")
_WRAPPERS = (exp.Paren, exp.Not, exp.Escape)
_JOINED = (exp.Column, exp.Subquery)
_COUNTING = (exp.Sum, exp.Count)
_NULL = Term("null")
_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not)

_ROOM = 500_000
"""Characters that the terms of one query may have together: each `SELECT x + x` doubles the x of the one
before it."""

_ROOM_OF_A_TERM = 20
"""The least cost of reading a term, however short it is."""

_MOST_COLUMNS = 4_096
"""Columns of a SELECT: MySQL's limit, the highest. https://dev.mysql.com/doc/refman/9.7/en/column-count-limit.html.
"""


@dataclass(frozen=True)
class ReadingSource(Offer[Term]):
    """A table, subquery or CTE: the expressions behind its columns.

    One with unknown columns has any column, under the prefix `of`.
    """

    columns: dict[str, Term]
    of: str | None = None
    name: str = ""
    """In FROM."""

    def known(self, name: str) -> Term | None:
        """See `Offer`."""
        return self.columns.get(name)

    def assumed(self, name: str) -> Term | None:
        """See `Offer`."""
        return None if self.of is None else column(self.of + name)

    def all(self) -> Iterator[tuple[str, Term]]:
        """Return the columns of `*`: names and expressions."""
        if self.of is None:
            yield from self.columns.items()
        else:
            yield "", column(f"{self.of}*")


@dataclass
class ReadingScope(FromScope[ReadingSource, Term]):
    """`ctes` are what WITH has defined here."""

    ctes: dict[str, ReadingSource] = field(default_factory=dict)

    @property
    def is_inner(self) -> bool:
        """True if the SELECT is inside another, or a part of a set operation."""
        return self.outer is not None and self.outer.outer is not None

    def cte(self, name: str) -> ReadingSource | None:
        """Return the CTE `name`, if one is in sight."""
        return next((scope.ctes[name] for scope in self.outwards() if name in scope.ctes), None)


Outputs = Sequence[tuple[str, Term]]
"""The columns of a query: their names, empty where they have none, and their terms."""


class TooMuchToRead(Exception):
    """A query that takes too long to read."""


class QueryReader:
    """Reads one query: the terms of its columns; `notes` collects what it says besides.

    `tables` are those of the schema by their names in lower case, None where none is published.
    """

    def __init__(self, dialect: EngineName, schema: DatabaseSchema | None) -> None:
        self.dialect = dialect
        self.tables = None if schema is None else tables_of(schema)
        self.notes = Notes()
        self._room = _ROOM

    def term(self, node: exp.Expr, scope: ReadingScope) -> Term:
        """Read an expression, and note the conditions and aggregate functions in it.

        Raises:
            TooMuchToRead: the query takes too long to read.
        """
        return self._spent(self._term(node, scope))

    def condition(self, node: exp.Expr, scope: ReadingScope) -> Term:
        """Read a condition and note the comparisons in it."""
        return self._spent(self._condition(node, scope))

    def query(
        self,
        node: exp.Expr,
        scope: ReadingScope,
        *,
        of_extreme: bool = False,
        recursive: ReadingSource | None = None,
    ) -> Outputs:
        """Read a query.

        Args:
            node: the query.
            scope: its place.
            of_extreme: whether `MAX(x)`, its only column, is read as `x`.
            recursive: the CTE that it defines, and perhaps refers to.
        """
        scope = ReadingScope(scope)
        self._with(node, scope)
        if isinstance(node, exp.Select):
            return self._select(node, scope, of_extreme=of_extreme)
        outputs: Outputs = []
        if isinstance(node, (exp.Subquery, exp.Paren)):
            outputs = self.query(node.this, scope, of_extreme=of_extreme, recursive=recursive)
        elif isinstance(node, exp.SetOperation):
            outputs = self.query(node.left, scope)
            if recursive is not None:
                recursive.columns.update(renamed(outputs, list(recursive.columns)))
            self.query(node.right, scope)
            kind = node.key if node.args.get("distinct") else f"{node.key} all"
            self.notes.spell(Clause.STRUCTURE, Term(kind))
        scope.results.update(outputs)
        self._cut(node, scope, outputs)
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
            columns = columns_of(cte)
            source = ReadingSource({column: Term(column) for column in columns})
            if clause.args.get("recursive"):
                scope.ctes[name] = source
            outputs = self.query(cte.this, scope, recursive=source)
            scope.ctes[name] = ReadingSource(dict(renamed(outputs, columns)))

    def _select(self, node: exp.Select, scope: ReadingScope, *, of_extreme: bool) -> Outputs:
        self._sources(node, scope)
        outputs: list[tuple[str, Term]] = []
        for expression in node.expressions:
            inner = expression.unalias().unnest().this if of_extreme else expression
            outputs += self._outputs(inner, expression.output_name.lower(), scope)
            if len(outputs) > _MOST_COLUMNS:
                raise TooMuchToRead
        scope.results.update((name, term) for name, term in outputs if name)
        for name in ("where", "having", "qualify"):
            clause = node.args.get(name)
            if clause is not None:
                self._conjuncts(clause.this, scope)
        self._group(node, scope, outputs, self._cut(node, scope, outputs))
        return outputs

    def _outputs(self, node: exp.Expr, name: str, scope: ReadingScope) -> Iterator[tuple[str, Term]]:
        """Yield one column of a SELECT, or all that a star stands for."""
        if isinstance(node, exp.Star):
            starred = scope.sources
        elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            alias = node.table.lower()
            named = [source for source in scope.sources if source.name == alias]
            starred = named[:1] or [ReadingSource({}, of=f"{alias}.")]
        else:
            yield name, self.term(node, scope)
            return
        for source in starred:
            yield from source.all()

    def _conjuncts(self, node: exp.Expr, scope: ReadingScope, *, negated: bool = False) -> None:
        """Read the condition of WHERE, HAVING or ON, split at its ANDs, in whatever clause."""
        node, negated = _positive(node, negated=negated)
        if isinstance(node, exp.Or if negated else exp.And):
            for part in node.flatten():
                self._conjuncts(part, scope, negated=negated)
        elif isinstance(node, exp.Between) and not negated:
            for kind, name in ((exp.GTE, "low"), (exp.LTE, "high")):
                self._conjuncts(kind(this=node.this, expression=node.args[name]), scope)
        elif negated or not self._is_join(node, scope):
            found = self._condition(node, scope, negated=negated)
            if found != _NO_CONDITION:
                self.notes.spell(Clause.CONDITIONS, found)

    def _condition(self, node: exp.Expr, scope: ReadingScope, *, negated: bool = False) -> Term:
        """Read a condition, or its opposite, and note the comparisons in it."""
        node, negated = _positive(node, negated=negated)
        if isinstance(node, (exp.And, exp.Or)):
            name = "or" if isinstance(node, exp.Or) is not negated else "and"
            parts = [self._condition(part, scope, negated=negated) for part in node.flatten()]
            said = [part for part in parts if part != _NO_CONDITION]
            found = (
                combined(name, said, is_commutative=True) if len(said) > 1 else (said or [_NO_CONDITION])[0]
            )
        elif isinstance(node, exp.Between):
            found = self._between(node, scope, negated=negated)
        elif isinstance(node, exp.In):
            found = self._in(node, scope, negated=negated)
        elif isinstance(node, exp.Exists):
            found = self._exists(node, scope, negated=negated)
        elif type(node) in _OPERATORS:
            found = self._comparison(node, scope, negated=negated)
        elif isinstance(node, exp.Boolean):
            found = _NO_CONDITION
        else:
            found = self._note("false" if negated else "true", self.term(node, scope))
        return found

    def _is_join(self, node: exp.Expr, scope: ReadingScope) -> bool:
        """True if a condition equates two columns, one of them perhaps a subquery's; notes the pair."""
        if isinstance(node, exp.EQ):
            sides = node.left, node.right
        elif isinstance(node, exp.In) and node.args.get("query") is not None:
            sides = node.this, node.args["query"]
        else:
            return False
        if not all(isinstance(side, _JOINED) and _descends(side) is None for side in sides):
            return False
        one, other = (self.term(side, scope).only_column for side in sides)
        if one is None or other is None:
            return False
        self.notes.pairs.append((one, other))
        return True

    def _comparison(self, node: exp.Expr, scope: ReadingScope, *, negated: bool) -> Term:
        operator = _OPERATORS[type(node)]
        if negated is not bool(node.args.get("negate")):  # NOT LIKE, and PostgreSQL's IS NOT
            operator = _OPPOSITES[operator]
        one, other = node.this, node.expression
        if isinstance(other, exp.Null):
            return self._note("null" if operator == "=" else "not null", self.term(one, scope))
        if operator == "=" and _descends(other) is not None:
            return self._extremum(one, other, scope)
        if operator == "=" and _descends(one) is not None:
            return self._extremum(other, one, scope)
        left, right = self.term(one, scope), self.term(other, scope)
        if _goes_right(left, right):
            left, right, operator = right, left, _FLIPPED.get(operator, operator)
        is_pattern = isinstance(node, _PATTERNS)
        return self._note(operator, left, right, spelled=f"{operator} {node.key}" if is_pattern else operator)

    def _extremum(self, node: exp.Expr, query: exp.Expr, scope: ReadingScope) -> Term:
        """Read `x = (SELECT MAX(y) ...)`: the first by y in descending order, written in another way."""
        compared, descends = self.term(node, scope), bool(_descends(query))
        _, found = self.query(query, scope, of_extreme=True)[0]
        of = found.columns or compared.columns | found.aggregates
        self.notes.cuts.add(Cut((SortKey(of, descends),)))
        self.notes.spell(Clause.CUTS, combined("greatest" if descends else "least", [compared, found]))
        return _NO_CONDITION

    def _between(self, node: exp.Between, scope: ReadingScope, *, negated: bool) -> Term:
        bounded = self.term(node.this, scope)
        bounds = [self.term(node.args[name], scope) for name in ("low", "high")]
        operators = ("<", ">") if negated else (">=", "<=")
        parts = [
            self._note(operator, bounded, bound) for operator, bound in zip(operators, bounds, strict=True)
        ]
        return combined("or" if negated else "and", parts, is_commutative=True)

    def _in(self, node: exp.In, scope: ReadingScope, *, negated: bool) -> Term:
        query = node.args.get("query")
        if query is not None and not negated and _descends(query) is not None:
            return self._extremum(node.this, query, scope)
        found = [self.term(part, scope) for part in (node.expressions if query is None else [query])]
        values = found[0] if len(found) == 1 else combined("list", found, is_commutative=True)
        return self._note("<>" if negated else "=", self.term(node.this, scope), values)

    def _exists(self, node: exp.Exists, scope: ReadingScope, *, negated: bool) -> Term:
        self.query(node.this, scope)
        if not negated:
            return _NO_CONDITION
        self.notes.conditions.add(ReadCondition(NOTHING, "not exists"))
        return Term("not exists")

    def _note(self, operator: str, left: Term, right: Term | None = None, *, spelled: str = "") -> Term:
        sides = [left] if right is None else [left, right]
        found = combined(spelled or operator, sides, is_commutative=operator in ("=", "<>"))
        subject = found.columns | found.aggregates
        if subject:
            constants = [side for side in sides if not side.columns | side.aggregates] or sides
            values = frozenset(text.strip("%*") for side in constants for text in side.literals)
            self.notes.conditions.add(ReadCondition(subject, operator, values))
        if right is not None and operator == "=" and spelled in _EQUALITIES:
            for one, other in ((left, right), (right, left)):
                if one.only_column is not None and other.shape in ("?", _listed(other)):
                    is_pattern = spelled.endswith("like")
                    self.notes.equated |= {
                        Equated(one.only_column, text, is_pattern) for text in other.literals
                    }
        return found

    def _aggregate(self, node: exp.Expr, scope: ReadingScope) -> Term:
        """Read `SUM(x)` and the like; a function with DISTINCT is noted with its distinct values."""
        counted = _counted(node)
        if counted is not None:
            term = combined("count", [self.condition(counted, scope)]).without_columns()
            return self._noted("count", term)
        found = combined(node.key, [self.term(part, scope) for part in node.iter_expressions()])
        if isinstance(node.this, exp.Distinct):
            return self._noted(found.shape, found.without_columns() if isinstance(node, exp.Count) else found)
        if isinstance(node, exp.Count):
            if found.columns:
                # What is counted makes a difference only where it can be NULL.
                self.notes.spell(Clause.COUNTED, found)
            found = Term("count(*)")
        return self._noted(node.key, found)

    def _total(self, call: Term) -> Term:
        """SQLite's `total(x)`, which sqlglot does not know for an aggregate function: a SUM."""
        return self._noted("sum", call)

    def _filtered(self, node: exp.Expr, scope: ReadingScope) -> Term:
        """Read `f(x) FILTER (WHERE c)`; COUNT(*) becomes a count of the rows that meet c."""
        condition = self.condition(node.expression.this, scope).without_columns()
        inner = self.term(node.this, scope)
        if inner.shape == "count(*)":
            return Term(f"count({condition.shape})", condition.literals, aggregates=inner.aggregates)
        return combined("filter", [inner, condition])

    def _window(self, node: exp.Expr, scope: ReadingScope) -> Term:
        """Read a window function, whose value is a row's and not a group's."""
        function = node.this
        self.notes.aggregates.add(f"{function.key} over")
        parts = [self.term(part, scope) for part in function.iter_expressions()]
        parts += [self.term(part, scope) for part in node.iter_expressions() if part is not function]
        found = combined(f"{function.key} over", parts)
        return Term(found.shape, found.literals, found.columns)

    def _noted(self, function: str, found: Term) -> Term:
        self.notes.aggregates.add(function)
        return Term(found.shape, found.literals, found.columns, frozenset((function,)))

    def _term(self, node: exp.Expr, scope: ReadingScope) -> Term:
        read = self._READERS.get(type(node))
        if read is not None:
            return read(self, node, scope)
        if isinstance(node, exp.AggFunc):
            return self._aggregate(node, scope)
        if isinstance(node, _CONDITIONS):
            return self.condition(node, scope)
        if isinstance(node, exp.Query):
            return self._subquery(node, scope)
        return self._call(node, scope)

    def _call(self, node: exp.Expr, scope: ReadingScope) -> Term:
        """Read any other operation or function: its name and its arguments."""
        name = node.name.lower() if isinstance(node, exp.Anonymous) else node.key
        parts = [self.term(part, scope) for part in node.iter_expressions()]
        return combined(name, parts, is_commutative=isinstance(node, (exp.Add, exp.Mul)))

    def _inner(self, node: exp.Expr, scope: ReadingScope) -> Term:
        return self.term(node.this, scope)

    def _literal(self, node: exp.Expr, _: ReadingScope) -> Term:
        return literal(node.name.casefold() if kind_of(self.dialect).ignores_case else node.name)

    def _negative(self, node: exp.Expr, scope: ReadingScope) -> Term:
        inner = self.term(node.this, scope)
        return literal(f"-{inner.literals[0]}") if inner.shape == "?" else combined("neg", [inner])

    def _column(self, node: exp.Expr, scope: ReadingScope) -> Term:
        name, alias = node.name.lower(), node.args.get("table")
        if alias is not None:
            source = scope.source(alias.name.lower())
            found = None if source is None else source.get(name)
            return found or column(f"{alias.name.lower()}.{name}")
        found = scope.meaning(name)
        if found is not None:
            return found
        # https://sqlite.org/quirks.html#double_quoted_string_literals_are_accepted
        is_text = kind_of(self.dialect).reads_quoted_names_as_texts and node.this.args.get("quoted")
        return literal(node.name) if is_text else column(name)

    def _concatenation(self, node: exp.Expr, scope: ReadingScope) -> Term:
        return combined("concat", [self.term(part, scope) for part in _concatenated(node)])

    def _cast(self, node: exp.Expr, scope: ReadingScope) -> Term:
        inner, kind = self.term(node.this, scope), node.args["to"].this
        if inner.shape == "?":
            return inner
        if kind in exp.DataType.REAL_TYPES:
            return combined("real", [inner])
        return combined("integer" if kind in exp.DataType.INTEGER_TYPES else "cast", [inner])

    def _case(self, node: exp.Expr, scope: ReadingScope) -> Term:
        value, branches = node.this, node.args["ifs"]
        tests = [
            each.this if value is None else exp.EQ(this=value, expression=each.this) for each in branches
        ]
        return self._choice(list(zip(tests, branches, strict=True)), node.args.get("default"), scope)

    def _if(self, node: exp.Expr, scope: ReadingScope) -> Term:
        return self._choice([(node.this, node)], node.args.get("false"), scope)

    def _choice(
        self, branches: list[tuple[exp.Expr, exp.Expr]], default: exp.Expr | None, scope: ReadingScope
    ) -> Term:
        """Read CASE and IF: columns of the conditions are not columns of the value."""
        parts: list[Term] = []
        for test, branch in branches:
            parts += [self.condition(test, scope).without_columns(), self.term(branch.args["true"], scope)]
        return combined("case", [*parts, _NULL if default is None else self.term(default, scope)])

    def _ordered(self, node: exp.Expr, scope: ReadingScope) -> Term:
        name = "descending" if node.args.get("desc") else "ascending"
        return combined(name, [self.term(node.this, scope)])

    def _anonymous(self, node: exp.Expr, scope: ReadingScope) -> Term:
        found = self._call(node, scope)
        return self._total(found) if node.name.lower() == "total" else found

    def _subquery(self, node: exp.Expr, scope: ReadingScope) -> Term:
        """Return the value of a query: its column."""
        outputs = [term for _, term in self.query(node, scope)]
        return outputs[0] if len(outputs) == 1 else combined("row", outputs)

    def _sources(self, select: exp.Select, scope: ReadingScope) -> None:
        """Read what a SELECT reads from, and the conditions of its joins."""
        begins: dict[int, int] = {}
        for place, item in enumerate(sources_of(select)):
            begins[id(item.join)] = place
            name = item.name.lower() or f"#{place}"
            scope.sources.append(replace(self._source(item, scope, place), name=name))
            for join in item.ends:
                self._join(join, scope, begins[id(join)])

    def _source(self, item: FromItem, scope: ReadingScope, place: int) -> ReadingSource:
        if item.table:
            table = item.table.lower()
            cte = None if item.node.args.get("db") else scope.cte(table)
            return cte or self._table(table)
        if isinstance(item.node, (exp.Subquery, exp.Lateral)):
            return ReadingSource(dict(renamed(self.query(item.node.this, scope), item.columns)))
        # A function's rows: their columns go by its place in FROM.
        return ReadingSource({}, of=f"#{place}.")

    def _table(self, name: str) -> ReadingSource:
        """Return a base table. Outside the schema it may have any column; without a schema all are alike."""
        self.notes.tables.add(name)
        if self.tables is None:
            return ReadingSource({}, of="")
        return self.tables.get(name) or ReadingSource({}, of=f"{name}.")

    def _join(self, node: exp.Join, scope: ReadingScope, begins: int) -> None:
        """Read a join; `begins` is the place of its first source."""
        if node.side or node.method:
            self.notes.spell(Clause.STRUCTURE, Term(f"{node.method} {node.side} join".lower()))
        if node.args.get("on") is not None:
            self._conjuncts(node.args["on"], scope)
        for identifier in node.args.get("using") or ():
            sides = scope.sources[:begins], scope.sources[begins:]
            ends = [_joined_column(side, identifier.name.lower()) for side in sides]
            if ends[0] is not None and ends[1] is not None:
                self.notes.pairs.append((ends[0], ends[1]))

    def _cut(self, query: exp.Expr, scope: ReadingScope, outputs: Outputs) -> list[Term]:
        """Note LIMIT with the order that it cuts, for an order without a LIMIT decides nothing.

        Returns:
            What is sorted by.
        """
        order, limit, offset = (query.args.get(name) for name in ("order", "limit", "offset"))
        ordered = order.expressions if order is not None else []
        terms = [self._key(one.this, scope, outputs, prefers_output=True) for one in ordered]
        if limit is None and offset is None:
            return terms
        keys = [
            SortKey(term.columns | term.aggregates, bool(one.args.get("desc")))
            for term, one in zip(terms, ordered, strict=True)
        ]
        count = None if limit is None else limit.args.get("expression") or limit.args.get("count")
        kept = Term("all") if count is None else self.term(count, scope)
        skipped = Term("?", ("0",)) if offset is None else self.term(offset.expression, scope)
        limits = ("".join(one.literals) or one.shape for one in (kept, skipped))
        self.notes.cuts.add(Cut(tuple(keys), *limits))
        self.notes.spell(Clause.CUTS, combined("cut", [*terms, kept, skipped]))
        if query.args.get("distinct") is not None:
            self.notes.spell(Clause.CUTS, Term("distinct"))
        return terms

    def _group(
        self, select: exp.Select, scope: ReadingScope, outputs: Outputs, sorted_by: Sequence[Term]
    ) -> None:
        """Note GROUP BY, and DISTINCT where it decides more than how often a row of the result occurs."""
        clause, distinct = select.args.get("group"), select.args.get("distinct")
        if clause is not None and clause.expressions:
            keys = [self._key(key, scope, outputs) for key in clause.expressions]
            columns = NOTHING.union(*[key.columns for key in keys])
            terms = [*(term for _, term in outputs), *sorted_by]
            if select.args.get("having") is not None or any(term.aggregates for term in terms):
                self.notes.groups.add(columns)
            elif not scope.is_inner and NOTHING.union(*[term.columns for term in terms]) <= columns:
                return  # Another way to write DISTINCT.
            self.notes.spell(Clause.GROUPS, combined("group", keys, is_commutative=True))
        if distinct is not None and (scope.is_inner or distinct.args.get("on") is not None):
            parts = [self.term(part, scope) for part in distinct.iter_expressions()]
            self.notes.spell(Clause.GROUPS, combined("distinct", parts))

    def _key(
        self, node: exp.Expr, scope: ReadingScope, outputs: Outputs, *, prefers_output: bool = False
    ) -> Term:
        """Read a key of ORDER BY or GROUP BY: an expression, or a result column by name or number."""
        if isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal():
            place = int(node.name) - 1
            if 0 <= place < len(outputs):
                return outputs[place][1]
        if prefers_output and isinstance(node, exp.Column) and not node.table:
            named = scope.results.get(node.name.lower())
            if named is not None:
                return named
        return self.term(node, scope)

    _READERS: ClassVar[Mapping[type[exp.Expr], Callable[["QueryReader", Any, ReadingScope], Term]]] = {
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
        exp.Filter: _filtered,
        exp.Window: _window,
        exp.Ordered: _ordered,
    }


_SCHEMAS = 64
_KNOWN: dict[int, tuple[DatabaseSchema, Mapping[str, ReadingSource]]] = {}
"""The last schemas with their tables, by identity: a schema's hash takes longer than most queries."""


def tables_of(schema: DatabaseSchema) -> Mapping[str, ReadingSource]:
    """Return the tables of a schema by their names in lower case."""
    known = _KNOWN.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_KNOWN) >= _SCHEMAS:
            _KNOWN.clear()
        tables: dict[str, ReadingSource] = {name.lower(): ReadingSource({}) for name in schema.tables}
        for one in schema.columns:
            table, name = one.table.lower(), one.name.lower()
            tables[table].columns[name] = column(f"{table}.{name}")
        known = _KNOWN[id(schema)] = schema, tables
    return known[1]


def _positive(node: exp.Expr, *, negated: bool) -> tuple[exp.Expr, bool]:
    """Return a condition without the parentheses and NOTs around it, and whether its opposite is meant."""
    while isinstance(node, _WRAPPERS):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    return node, negated


def _descends(node: exp.Expr) -> bool | None:
    """True if a subquery is only a MAX over all rows, False if only a MIN, None for any other."""
    query = node.unnest() if isinstance(node, exp.Subquery) else node
    if not isinstance(query, exp.Select) or len(query.expressions) != 1 or query.args.get("group"):
        return None
    output = query.expressions[0].unalias().unnest()
    return isinstance(output, exp.Max) if isinstance(output, (exp.Max, exp.Min)) else None


def _goes_right(left: Term, right: Term) -> bool:
    """True if the left side of a comparison belongs on the right: constants, else the later spelling."""
    is_constant = [not side.columns | side.aggregates for side in (left, right)]
    if is_constant[0] != is_constant[1]:
        return is_constant[0]
    return (left.shape, left.literals) > (right.shape, right.literals)


def _listed(term: Term) -> str:
    """Return the shape of a list of as many literals as a term has."""
    return f"list({','.join('?' * len(term.literals))})"


def _counted(node: exp.Expr) -> exp.Expr | None:
    """Return the condition that a function counts: `SUM(c)`, `COUNT(CASE WHEN c THEN x END)` and the like."""
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


def _concatenated(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.DPipe):
        yield from _concatenated(node.left)
        yield from _concatenated(node.right)
    elif isinstance(node, exp.Concat):
        yield from node.expressions
    else:
        yield node


def renamed(outputs: Outputs, names: Sequence[str]) -> Outputs:
    """Rename the columns of a subquery as its alias does, if it does."""
    return [(name, term) for name, (_, term) in zip(names, outputs, strict=False)] if names else outputs


def _joined_column(side: Sequence[ReadingSource], name: str) -> str | None:
    """Return the column `name` on one side of a join."""
    found = (source.get(name) for source in side)
    return next((term.only_column for term in found if term is not None), None)


def reading_of(sql: str, dialect: EngineName, schema: DatabaseSchema | None) -> Reading | None:
    """Return the reading of a query; None if the text is not a query or cannot be read."""
    try:
        statement = last_statement(sql, dialect)
        if not is_query(statement):
            return None
        node = statements(sql, dialect, statement)[0]
        reader = QueryReader(dialect, schema)
        outputs = reader.query(node, ReadingScope())
    except Exception:  # noqa: BLE001 - what sqlglot raises for texts that are no SQL is of many kinds
        return None
    return Reading.of(reader.notes, [term for _, term in outputs])

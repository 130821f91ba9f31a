"""SQL text -> the clauses that Spider compares, on the tree of sqlglot, which no other module need import.

Spider's own reader knows a small grammar; on that, this one reads what Spider reads. What goes beyond it
(names for queries, outer joins, functions, CASE, groups of conditions) is read in the same spirit, as
docs/reference/spider.md says.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from dialects.clauses import FromItem, FromScope, Offer, columns_of, sources_of
from dialects.enums import Dialect
from dialects.scope import ROWIDS
from harness.sqltree.parser import statements
from harness.sqltree.spider import (
    Conditions,
    GroupTerm,
    Item,
    SpiderCondition,
    SpiderQuery,
    SpiderSchema,
    UnreadableQuery,
)

# Expressions in one canonical text: names resolved, values as "?", aliases and parentheses gone.
#
# Conditions are a flat row of them, with AND and OR between: Spider's grammar knows no parentheses there.
# Those that change nothing are dropped; an OR that parentheses hold together below an AND is one condition,
# a group.


@dataclass(frozen=True)
class FromSource(Offer[str]):
    """A named source of FROM: a table of the schema, or the columns of a query.

    `columns` are those of a table; `outputs` has a query's columns by name; `through` the sources that its
    `*` passes on. A source that `is_open` has columns that nothing here knows: a function's, or those of a
    query that refers to itself.
    """

    name: str
    table: str | None = None
    columns: frozenset[str] = frozenset()
    outputs: Mapping[str, str] = field(default_factory=dict)
    through: tuple["FromSource", ...] = ()
    is_open: bool = False

    def known(self, name: str) -> str | None:
        """See `Offer`."""
        if name in self.outputs:
            return self.outputs[name]
        if name in self.columns:
            return f"[{self.table}.{name}]"
        return next((found for one in self.through if (found := one.known(name)) is not None), None)

    def assumed(self, name: str) -> str | None:
        """See `Offer`."""
        if self.is_open:
            return f"[?.{name}]"
        return f"[{self.table}.rowid]" if self.table is not None and name in ROWIDS else None


class NamesInSight(FromScope[FromSource, "str | exp.Expr"]):
    """The names in sight at one place; `results` are the aliases of SELECT."""

    def named(self, name: str) -> FromSource:
        """Return the source of that name, the innermost first.

        Raises:
            Unreadable: there is none.
        """
        found = self.source(name)
        if found is None:
            raise UnreadableQuery(f"no table {name}")
        return found

    def qualified(self, name: str, qualifier: str) -> str:
        """Return the column that `qualifier.name` refers to.

        Raises:
            Unreadable: there is no such table or column.
        """
        column = self.named(qualifier).get(name)
        if column is None:
            raise UnreadableQuery(f"no column {qualifier}.{name}")
        return column


_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div)

_SAYS_NOTHING = frozenset({"big_int"})
"""Notes of sqlglot on a node that are not in the text."""


@dataclass
class Expressions:
    """Spells expressions at one place of a query.

    `unified` maps columns to those that stand for them. It is None inside a nested query, where Spider's
    script compares what is written: foreign keys are not followed there, and DISTINCT counts. `nested_query`
    spells a query inside an expression; `aggregates` and `queries` count what was spelled so far.
    """

    sql: str
    scope: NamesInSight
    unified: Mapping[str, str] | None
    nested_query: Callable[[exp.Query, NamesInSight], str]
    aggregates: int = 0
    queries: int = 0

    def text(self, node: exp.Expr) -> str:
        """Return the canonical text of an expression.

        Raises:
            Unreadable: it names what is not there.
        """
        node = bare(node)
        if is_value(node):
            return "?"
        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Query):
            self.queries += 1
            return self.nested_query(node, self.scope)
        if isinstance(node, exp.Distinct):
            inner = ", ".join(self.text(part) for part in node.expressions)
            return f"distinct {inner}" if self.unified is None else inner
        if isinstance(node, exp.AggFunc):
            self.aggregates += 1
        return f"{node.key}({', '.join(self._argument(node.args[name]) for name in _given(node))})"

    def item(self, node: exp.Expr) -> Item:
        """Return one column of SELECT, its aggregate apart."""
        node = bare(node)
        if _is_aggregate(node):
            self.aggregates += 1
            return Item(node.key, self.text(node.this))
        before = self.aggregates
        text = self.text(node)
        if _is_column_and_unit(node):
            self.aggregates = before  # Spider's script looks for one around the whole column alone
        return Item("", text)

    def term(self, node: exp.Expr) -> GroupTerm:
        """Return one term of GROUP BY."""
        text = self.text(node)
        if text.startswith("[") and text.endswith("]"):
            return GroupTerm(text, text[1:-1].partition(".")[2])
        return GroupTerm(text, text)

    def _column(self, node: exp.Column) -> str:
        name, qualifier = node.name.lower(), node.table.lower()
        if isinstance(node.this, exp.Star):
            source = self.scope.named(qualifier)
            return f"[{source.table or ' '.join(sorted(source.outputs.values()))}.*]"
        if qualifier:
            return self._unify(self.scope.qualified(name, qualifier))
        found = self.scope.meaning(name)
        if found is None and not self._is_in_double_quotes(node.this):
            raise UnreadableQuery(f"no column {name}")
        if isinstance(found, exp.Expr):
            return self._alias(found)
        return "?" if found is None else self._unify(found)

    def _alias(self, node: exp.Expr) -> str:
        scope = self.scope
        self.scope = replace(scope, results={})  # so that an alias that names itself ends
        try:
            return self.text(node)
        finally:
            self.scope = scope

    def _unify(self, column: str) -> str:
        return self.unified.get(column, column) if self.unified else column

    def _is_in_double_quotes(self, node: exp.Expr) -> bool:
        """True if in double quotes, where an unknown name is a string: https://sqlite.org/quirks.html#dblquote."""
        start = node.meta.get("start")
        return isinstance(start, int) and self.sql[start : start + 1] == '"'

    def _argument(self, value: Any) -> str:
        if isinstance(value, list):
            return " ".join(self._argument(one) for one in value)
        is_expression = isinstance(value, exp.Expr) and not isinstance(value, exp.Identifier)
        return self.text(value) if is_expression else str(getattr(value, "name", value)).lower()


def bare(node: exp.Expr) -> exp.Expr:
    """Return the expression without an alias and parentheses around it."""
    while isinstance(node, exp.Paren | exp.Alias):
        node = node.this
    return node


def is_value(node: exp.Expr) -> bool:
    """True if it is a literal, with or without a sign."""
    while isinstance(node, exp.Neg | exp.Paren):
        node = node.this
    return isinstance(node, exp.Literal | exp.Boolean | exp.HexString)


def is_spiders_value(node: exp.Expr) -> bool:
    """True if Spider reads the right side of a condition as a value: one, or a column with what follows.

    Its reader takes a number, a string or a column there, and skips an operator behind a column.
    """
    node = bare(node)
    if is_value(node):
        return True
    while isinstance(node, _ARITHMETIC):
        node = bare(node.this)
    return isinstance(node, exp.Column)


def _given(node: exp.Expr) -> list[str]:
    """Return the names of a node's arguments that say something."""
    return [
        name
        for name, value in node.args.items()
        if value is not None and value is not False and value != [] and name not in _SAYS_NOTHING
    ]


def _is_aggregate(node: exp.Expr) -> bool:
    """True if it is an aggregate of one argument, as Spider's five are."""
    return isinstance(node, exp.AggFunc) and _given(node) == ["this"]


def _is_column_and_unit(node: exp.Expr) -> bool:
    """True if Spider's grammar allows it in SELECT: a column, an operator, a column or aggregate."""
    if not isinstance(node, _ARITHMETIC) or not isinstance(bare(node.this), exp.Column):
        return False
    right = bare(node.expression)
    if _is_aggregate(right):
        right = bare(right.this)
        if isinstance(right, exp.Distinct) and len(right.expressions) == 1:
            right = bare(right.expressions[0])
    return isinstance(right, exp.Column | exp.Star)


_COMPARISONS: Mapping[type[exp.Expr], tuple[str, str]] = {
    exp.EQ: ("=", "="),
    exp.NEQ: ("!=", "!="),
    exp.GT: (">", "<"),
    exp.LT: ("<", ">"),
    exp.GTE: (">=", "<="),
    exp.LTE: ("<=", ">="),
}
"""Comparisons, each with what it is when its sides are exchanged."""

_OTHERS: Mapping[type[exp.Expr], str] = {
    exp.Is: "is",
    exp.NullSafeEQ: "is",
    exp.NullSafeNEQ: "is",
    exp.Like: "like",
    exp.Glob: "glob",
}


def conditions(node: exp.Expr | None, expressions: Expressions) -> Conditions:
    """Return a whole clause.

    Raises:
        Unreadable: it names what is not there.
    """
    if node is None:
        return Conditions()
    return _chain(
        _chain((Conditions((_condition(one, expressions),)) for one in _members(alternative, exp.And)), "and")
        for alternative in _members(node, exp.Or)
    )


def joined(clauses: Iterable[Conditions]) -> Conditions:
    """Several clauses as one, AND between them."""
    return _chain(clauses, "and")


def _chain(parts: Iterable[Conditions], connector: str = "or") -> Conditions:
    units: list[SpiderCondition] = []
    between: list[str] = []
    for part in parts:
        if units and part.units:
            between.append(connector)
        units += part.units
        between += part.between
    return Conditions(tuple(units), tuple(between))


def _members(node: exp.Expr, kind: type[exp.Connector]) -> list[exp.Expr]:
    """Yield the operands of a chain of one connector, in the order of the text."""
    members: list[exp.Expr] = []
    waiting = [node]
    while waiting:
        node = bare(waiting.pop())
        if isinstance(node, kind):
            waiting += [node.expression, node.this]
        else:
            members.append(node)
    return members


def _condition(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    node = bare(node)
    kind = type(node)
    if kind in _COMPARISONS:
        return _comparison(node, expressions)
    if kind in _OTHERS:
        is_negated = kind is exp.NullSafeNEQ or bool(node.args.get("negate"))
        right = (_right(node.expression, expressions),)
        return SpiderCondition(is_negated, _OTHERS[kind], expressions.text(node.this), right)
    if kind in _FORMS:
        return _FORMS[kind](node, expressions)
    return SpiderCondition(False, "", expressions.text(node))


def _not(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    inner = _condition(node.this, expressions)
    return replace(inner, negated=not inner.negated)


def _group(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    kind = exp.And if isinstance(node, exp.And) else exp.Or
    members = [_condition(member, expressions) for member in _members(node, kind)]
    members.sort(key=repr)
    left = " ".join(sorted(member.left for member in members))
    return SpiderCondition(False, node.key, left, members=tuple(members))


def _between(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    left = expressions.text(node.this)
    right = tuple(_right(node.args[end], expressions) for end in ("low", "high"))
    return SpiderCondition(False, "between", left, right)


def _in(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    left = expressions.text(node.this)
    query, table = node.args.get("query"), node.args.get("field")
    if query is not None:
        return SpiderCondition(False, "in", left, (expressions.text(query),))
    if table is not None:
        return SpiderCondition(False, "in", left, (f"table {table.name.lower()}",))
    choices = tuple(_right(choice, expressions) for choice in node.expressions)
    return SpiderCondition(False, "in", left, choices if any(choices) else ("",))


def _exists(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    return SpiderCondition(False, "exists", "", (expressions.text(node.this),))


_FORMS: Mapping[type[exp.Expr], Callable[[exp.Expr, Expressions], SpiderCondition]] = {
    exp.Not: _not,
    exp.And: _group,
    exp.Or: _group,
    exp.Between: _between,
    exp.In: _in,
    exp.Exists: _exists,
    exp.Escape: lambda node, expressions: _condition(node.this, expressions),
}


def _comparison(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    left, right = bare(node.this), bare(node.expression)
    operator, exchanged = _COMPARISONS[type(node)]
    if is_value(left) and not is_value(right):
        operator, left, right = exchanged, right, left
    return SpiderCondition(False, operator, expressions.text(left), (_right(right, expressions),))


def _right(node: exp.Expr, expressions: Expressions) -> str:
    """Read a right side: nothing where Spider reads a value. It must be readable all the same."""
    before = expressions.queries
    text = expressions.text(node)
    return "" if is_spiders_value(node) and expressions.queries == before else text


@dataclass(frozen=True)
class NamedQuery:
    """A query that FROM can name: what it is there, and what it offers."""

    unit: str
    source: FromSource


@dataclass(frozen=True)
class Place:
    """The place of a query: its text, the named queries in sight, and what encloses it.

    `read` reads a query at a place.
    """

    schema: SpiderSchema
    sql: str
    read: "Callable[[exp.Query, Place], tuple[SpiderQuery, NamedQuery]]"
    named: Mapping[str, NamedQuery]
    outer: NamesInSight | None
    is_nested: bool


class Block:
    """One SELECT without what follows it. `first` is the first SELECT of a compound one, None in that itself.

    Raises:
        Unreadable: it names what is not there, as `clauses` does.
    """

    def __init__(self, select: exp.Select, place: Place, first: "Block | None") -> None:
        if not select.expressions:
            raise UnreadableQuery("a SELECT of nothing")
        self.select, self.sources = select, list[FromSource]()
        self._place, self._first = place, first or self
        self._units: list[str] = []
        self._joins: list[exp.Join] = []
        self._named_queries = 0
        self._read_from(select)
        self._aliases: dict[str, exp.Expr] = {
            node.alias.lower(): node.this for node in select.expressions if isinstance(node, exp.Alias)
        }
        # Spider's script follows the foreign keys of the first SELECT's tables in every SELECT.
        tables = [source.table for source in self._first.sources if source.table is not None]
        unified = None if place.is_nested else place.schema.unified(tables)
        scope = NamesInSight(place.outer, self.sources, {**self._aliases})
        self._spell = Expressions(place.sql, scope, unified, self._nested)
        self._items = tuple(self._spell.item(node) for node in select.expressions)

    def clauses(self, ends: Sequence[exp.Query]) -> SpiderQuery:
        """Return its clauses; ORDER BY and LIMIT are those of the first of `ends` that has them."""
        spell, args = self._spell, self.select.args
        terms = args["group"].expressions if args.get("group") is not None else ()
        group = tuple(spell.term(self._ordinal(node) or node) for node in terms)
        order, direction = self._order(_end(ends, "order"))
        aggregates = spell.aggregates
        where, having = (
            conditions(args[name].this if args.get(name) is not None else None, spell)
            for name in ("where", "having")
        )
        return SpiderQuery(
            distinct=spell.unified is None and args.get("distinct") is not None,
            select=self._items,
            tables=tuple(self._units),
            joins=joined([self._on(join) for join in self._joins]),
            where=where,
            group=group,
            having=having,
            order=order,
            direction=direction,
            limit=_end(ends, "limit") is not None,
            offset=_end(ends, "offset") is not None,
            aggregates=aggregates,
            nested=spell.queries + self._named_queries,
        )

    def offers(self, digest: str) -> FromSource:
        """Return the columns that a query with this beginning and digest offers to a FROM."""
        outputs: dict[str, str] = {}
        through: list[FromSource] = []
        for number, (node, item) in enumerate(zip(self.select.expressions, self._items, strict=True)):
            if isinstance(node, exp.Star):
                through += self.sources
            elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
                through.append(self._spell.scope.named(node.table.lower()))
            else:
                name = node.output_name.lower() or f"column {number}"
                outputs.setdefault(name, f"<{digest_of(f'{digest} {item!r}')}>")
        return FromSource(
            "", None, frozenset(), outputs, tuple(through), any(source.is_open for source in through)
        )

    def _nested(self, tree: exp.Query, scope: NamesInSight) -> str:
        place = replace(self._place, outer=scope, is_nested=True)
        return place.read(tree, place)[1].unit

    def _read_from(self, select: exp.Select) -> None:
        for item in sources_of(select):
            unit, source = self._table(item)
            side = item.join.side.lower() if item.join is not None else ""
            self._units.append(f"{side} {unit}".lstrip())
            self.sources.append(source)
            self._joins += item.ends

    def _table(self, item: FromItem) -> tuple[str, FromSource]:
        node, name, alias = item.node, item.table.lower(), item.node.alias.lower()
        if isinstance(node, exp.Subquery):
            place = replace(self._place, is_nested=True)
            found = renamed(place.read(node, place)[1], item.columns)
            # Without a name it is of Spider's grammar, whose script does not count it as nested.
            self._named_queries += bool(alias)
            return found.unit, replace(found.source, name=alias)
        if isinstance(node, exp.Values) or isinstance(node.this, exp.Func):
            function = node.this.name.lower() if isinstance(node.this, exp.Func) else node.key
            return f"function {function}", FromSource(alias or function, is_open=True)
        if not name:
            raise UnreadableQuery(f"{node.key} in FROM")
        if name in self._place.named:
            self._named_queries += 1
            found = self._place.named[name]
            return found.unit, replace(found.source, name=alias or name)
        columns = self._place.schema.columns.get(name)
        if columns is None:
            raise UnreadableQuery(f"no table {name}")
        return name, FromSource(alias or name, name, columns)

    def _on(self, join: exp.Join) -> Conditions:
        names = [exp.column(name.copy()) for name in join.args.get("using") or ()]
        shared = [Conditions((SpiderCondition(False, "=", self._spell.text(name), ("",)),)) for name in names]
        return joined([*shared, conditions(join.args.get("on"), self._spell)])

    def _order(self, clause: exp.Expr | None) -> tuple[tuple[str, ...], str]:
        terms, direction = [], "asc"
        for node in clause.expressions if clause is not None else ():
            terms.append(self._sorted_by(node) + _nulls(node))
            if node.args.get("desc") is not None:
                direction = "desc" if node.args["desc"] else "asc"
        return tuple(terms), direction

    def _sorted_by(self, node: exp.Ordered) -> str:
        term = bare(node.this)
        term = self._ordinal(term) or term
        name = term.name.lower() if isinstance(term, exp.Column) and not term.table else ""
        if self._first is self:
            return self._spell.text(self._aliases.get(name, term))
        try:
            return self._spell.text(term)
        except UnreadableQuery:
            # Not a column of the last SELECT, as Spider has it, but an output of the whole.
            outputs = [output.output_name.lower() for output in self._first.select.expressions]
            if name not in outputs[: len(self._items)]:
                raise
            return self._spell.text(self.select.expressions[outputs.index(name)])

    def _ordinal(self, node: exp.Expr) -> exp.Expr | None:
        """Return the column of SELECT that a number in GROUP BY or ORDER BY stands for."""
        items = self.select.expressions
        if isinstance(node, exp.Literal) and node.is_int and 0 < int(node.name) <= len(items):
            return bare(items[int(node.name) - 1])
        return None


def renamed(found: NamedQuery, names: Sequence[str]) -> NamedQuery:
    """Return a source with the column names of its alias, if any, as `AS name (columns)`."""
    if not names or found.source.through:
        return found
    outputs = dict(zip(names, found.source.outputs.values(), strict=False))
    return replace(found, source=replace(found.source, outputs=outputs))


def digest_of(text: str) -> str:
    """Return a short name for a text, so that deep nesting does not grow."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _end(ends: Sequence[exp.Query], name: str) -> exp.Expr | None:
    return next((node.args[name] for node in ends if node.args.get(name) is not None), None)


def _nulls(node: exp.Ordered) -> str:
    """Return words for NULLs sorted elsewhere than in SQLite, which takes them for the smallest."""
    is_first, is_descending = bool(node.args.get("nulls_first")), bool(node.args.get("desc"))
    if is_first != is_descending:
        return ""
    return " nulls first" if is_first else " nulls last"


def query_of(sql: str, schema: SpiderSchema) -> SpiderQuery | None:
    """Read one SELECT or compound SELECT of SQLite's dialect; None where the text cannot be read."""
    try:
        trees = statements(sql, Dialect.SQLITE)
        if len(trees) != 1 or not isinstance(trees[0], exp.Query):
            return None
        return _query(trees[0], Place(schema, sql, _query, {}, None, is_nested=False))[0]
    except Exception:  # noqa: BLE001 - what sqlglot raises for texts that are no SQL is of many kinds
        return None


def _query(tree: exp.Query, place: Place) -> tuple[SpiderQuery, NamedQuery]:
    """Return a query with its set operations, and what it is in FROM."""
    arms = list(_arms(tree, ""))
    for node in (tree, *(select for _, select in arms if select is not tree)):
        place = _with_ctes(node, place)
    blocks: list[Block] = []
    for _, select in arms:
        blocks.append(Block(select, place, blocks[0] if blocks else None))
    # What sorts and cuts a compound SELECT belongs to its last one, where Spider's reader finds it.
    whole = blocks[-1].clauses((tree, blocks[-1].select))
    for number in reversed(range(len(blocks) - 1)):
        alone = blocks[number].clauses((blocks[number].select,))
        whole = replace(alone, following=(arms[number + 1][0], whole))
    digest = digest_of(repr(whole))
    return whole, NamedQuery(f"query {digest}", blocks[0].offers(digest))


def _arms(tree: exp.Expr, operator: str) -> Iterator[tuple[str, exp.Select]]:
    """Yield the SELECTs of a compound one in the order of the text, each with the operator before it."""
    while isinstance(tree, exp.Subquery):
        tree = tree.this
    if isinstance(tree, exp.SetOperation):
        yield from _arms(tree.this, operator)
        yield from _arms(tree.expression, tree.key if tree.args.get("distinct") else f"{tree.key} all")
    elif isinstance(tree, exp.Select):
        yield operator, tree
    else:
        raise UnreadableQuery(f"{tree.key} instead of a SELECT")


def _with_ctes(node: exp.Query, place: Place) -> Place:
    clause = node.args.get("with_")
    for cte in clause.expressions if clause is not None else ():
        name = cte.alias.lower()
        found = NamedQuery("itself", FromSource(name, is_open=True))
        if isinstance(cte.this, exp.Query):
            inner = replace(place, named={**place.named, name: found}, is_nested=True)
            found = renamed(_query(cte.this, inner)[1], columns_of(cte))
        place = replace(place, named={**place.named, name: found})
    return place

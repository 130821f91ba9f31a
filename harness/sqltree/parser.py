"""Parsing in bounded time: with each level of `DATE(DATE(...` sqlglot reads what is inside twice as often."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from dialects.enums import Dialect
from dialects.errors import Untranslatable
from dialects.source import parse
from dialects.targets import SQLGLOT
from harness.engines import EngineName, dialect_of
from harness.engines.plans import PlanNode, QueryPlan

_MOST_STEPS = 10_000
"""Steps of a parser: tokens of the text, and those that it reads again."""

_SPEAKERS = {dialect: sqlglot.Dialect.get_or_raise(name) for dialect, name in SQLGLOT.items()}


# sqlglot's remarks on a text are not for the terminal.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())


class TooMuch(Exception):
    """A text that takes too long to parse."""


class _Bounded(Parser):
    """A parser that stops at its limit; it takes a step for each token, and for each that it goes back."""

    _steps = 0

    def _retreat(self, index: int) -> None:
        self.take(abs(int(self._index) - index))
        super()._retreat(index)

    def take(self, steps: int) -> None:
        """Count steps.

        Raises:
            TooMuch: they are too many.
        """
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise TooMuch


@cache
def _bounded(parser_class: type[Parser]) -> type[_Bounded]:
    return type("BoundedParser", (_Bounded, parser_class), {})


def tokens_of(sql: str, dialect: EngineName) -> list[Token]:
    """Return the tokens of a text.

    Raises:
        TokenError: a quote or comment is not closed.
    """
    return list(_SPEAKERS[dialect_of(dialect)].tokenize(sql))


def statements(sql: str, dialect: EngineName, tokens: list[Token] | None = None) -> list[exp.Expr]:
    """Return the trees of a text, as sqlglot reads the dialect; `tokens` to read only a part of it.

    Raises:
        TooMuch: it takes too long to parse.
        Exception: it cannot be read: what sqlglot raises for texts that are no SQL is of many kinds.
    """
    speaker = _SPEAKERS[dialect_of(dialect)]
    made = _bounded(speaker.parser_class)(dialect=speaker)
    tokens = tokens_of(sql, dialect) if tokens is None else tokens
    made.take(len(tokens))
    trees = made.parse(tokens, sql)
    return [tree for tree in trees if tree is not None and not isinstance(tree, exp.Semicolon)]


_FIRST = frozenset((TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.VALUES))


def last_statement(sql: str, dialect: EngineName) -> list[Token]:
    """Return the tokens of the last statement of a text.

    Raises:
        TokenError: the text has a token that is none.
    """
    tokens = tokens_of(sql, dialect)
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    ends = [place for place, token in enumerate(tokens) if token.token_type is TokenType.SEMICOLON]
    return tokens[ends[-1] + 1 :] if ends else tokens


def is_query(tokens: Sequence[Token]) -> bool:
    """True if a statement begins as a query."""
    return bool(tokens) and tokens[0].token_type in _FIRST


def begins_query(sql: str, dialect: EngineName) -> bool:
    """True if the last statement of a text begins as a query."""
    try:
        return is_query(last_statement(sql, dialect))
    except SqlglotError:
        return False


def read_query(sql: str, dialect: EngineName) -> exp.Query | None:
    """Return the tree of a query, with SQLite's own functions; None if it cannot be read and run as is."""
    try:
        if dialect_of(dialect) is Dialect.SQLITE:
            tree: exp.Expr = parse(sql)
        else:
            [tree] = statements(sql, dialect)
            while isinstance(tree, exp.Subquery) and set(tree.args) == {"this"}:
                tree = tree.this
    except (Untranslatable, SqlglotError, ValueError, RecursionError, TooMuch):
        return None
    return tree if isinstance(tree, exp.Query) else None


def column_read(
    sql: str, dialect: EngineName, columns: Collection[tuple[str, str]], views: Mapping[str, str]
) -> tuple[str, str] | None:
    """Return one of `columns`, each a table and a column, that a text may read; None if it reads none.

    Names are compared without case. In doubt a column is read: a text that cannot be parsed reads those of
    each table that it names.

    Args:
        sql: the text.
        dialect: its engine.
        columns: the columns to look for.
        views: the texts of the database's views by name, which a text may read instead of tables.
    """
    texts, left = [sql], dict(views)
    for text in texts:
        named = [name for name in left if name.casefold() in text.casefold()]
        texts += [left.pop(name) for name in named]
    readers = [_reader(text, dialect) for text in texts]
    return next((one for one in columns if any(reads(*map(str.casefold, one)) for reads in readers)), None)


def _reader(sql: str, dialect: EngineName) -> Callable[[str, str], bool]:
    """Return a function that tells if a text may read a column of a table; both names are folded."""
    try:
        trees = statements(sql, dialect)
    except Exception:  # noqa: BLE001 - sqlglot's errors are of many kinds
        return lambda table, _: table in sql.casefold()
    nodes = [node for tree in trees for node in tree.walk()]
    named = _tables_by_name(nodes)
    tables = set[str]().union(*named.values())
    read: set[tuple[str | None, str]] = set()
    for node in nodes:
        if isinstance(node, exp.Column):
            name, qualifier = node.name.casefold(), node.table.casefold()
            # An alias of a subquery or a CTE can be of any table; a table's name alone is its whole row.
            found: Collection[str | None] = named.get(qualifier, (None,)) if qualifier else (None,)
            read.update((table, "*" if isinstance(node.this, exp.Star) else name) for table in found)
            read.update((table, "*") for table in named.get(name, ()) if not qualifier)
        elif isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count | exp.Column):
            read.add((None, "*"))
        elif isinstance(node.args.get("using"), list):
            read.update((None, each.name.casefold()) for each in node.args["using"])
        elif str(node.args.get("method")).upper() == "NATURAL":
            read.add((None, "*"))

    def reads(table: str, column: str) -> bool:
        return table in tables and not read.isdisjoint(
            {(None, "*"), (table, "*"), (None, column), (table, column)}
        )

    return reads


def _tables_by_name(nodes: Sequence[exp.Expr]) -> dict[str, set[str]]:
    """Return the tables of a text by each name that they have in it; all are folded."""
    named: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, exp.Table):
            for name in {node.name.casefold(), node.alias_or_name.casefold()}:
                named.setdefault(name, set()).add(node.name.casefold())
    return named


# Calls of functions in a tree: SQLite has names with arguments there, servers a class.

AGGREGATES = frozenset({
    "COUNT", "SUM", "AVG", "TOTAL", "MIN", "MAX", "GROUP_CONCAT", "STRING_AGG", "ARRAY_AGG", "STDDEV",
})  # fmt: skip

OF_BAGS = frozenset({
    "COUNT", "SUM", "AVG", "TOTAL", "MIN", "MAX", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VARIANCE",
    "VARIANCE_POP", "VAR_POP", "VAR_SAMP", "COUNT_IF", "LOGICAL_AND", "LOGICAL_OR", "BIT_AND", "BIT_OR",
})  # fmt: skip
"""Aggregates whose value does not depend on the order in which rows come, rounding apart."""

OF_LISTS = frozenset({
    "GROUP_CONCAT", "STRING_AGG", "ARRAY_AGG", "JSON_GROUP_ARRAY", "JSON_GROUP_OBJECT", "JSONB_GROUP_ARRAY",
    "JSONB_GROUP_OBJECT", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "JSON_AGG", "JSONB_AGG", "JSON_OBJECT_AGG",
    "JSONB_OBJECT_AGG", "ANY_VALUE", "XMLAGG", "FIRST", "LAST", "MODE",
})  # fmt: skip
"""Those whose value does."""


def called(node: exp.Expr | None) -> str:
    """Return the name of the function that a node calls, in upper case; empty where it calls none."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    return node.sql_name().upper() if isinstance(node, exp.Func) else ""


def arguments(node: exp.Expr) -> list[exp.Expr]:
    """Return the arguments of a call."""
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    return [node.this, *node.expressions] if isinstance(node.this, exp.Expr) else []


def with_argument(call: exp.Expr, argument: exp.Expr) -> exp.Expr:
    """Return a copy of a call with another argument, alone."""
    copy = call.copy()
    if isinstance(copy, exp.Anonymous):
        copy.set("expressions", [argument])
    else:
        copy.set("this", argument)
    return copy


def is_distinct(call: exp.Expr) -> bool:
    """True if a call of an aggregate counts each value once."""
    return any(isinstance(one, exp.Distinct) for one in arguments(call)) or bool(call.args.get("distinct"))


def is_constant(node: exp.Expr) -> bool:
    """True if an expression is a literal number or text."""
    if isinstance(node, exp.Neg):
        node = node.this
    return isinstance(node, exp.Literal)


def is_aggregate(call: exp.Expr) -> bool:
    """True if a call makes one value of several rows; MIN and MAX of several arguments do not."""
    name = called(call)
    if name in {"MIN", "MAX"}:
        return len(arguments(call)) == 1
    return isinstance(call, exp.AggFunc) or name in OF_BAGS | OF_LISTS


def aggregates(select: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the aggregates that a SELECT computes itself, clause by clause; those of windows are none."""
    for part in ("expressions", "having", "order", "qualify"):
        for node in parts_of(select, part):
            for call in node.find_all(exp.Func):
                own = call.find_ancestor(exp.Select) is select and not _is_windowed(call)
                if own and is_aggregate(call):
                    yield call


def parts_of(query: exp.Expr, clause: str) -> list[exp.Expr]:
    """Return the trees of a clause: each result, or the whole of HAVING and the like."""
    found = query.args.get(clause)
    return found if isinstance(found, list) else [found] if found is not None else []


def _is_windowed(call: exp.Expr) -> bool:
    node = call.parent
    while isinstance(node, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        node = node.parent
    return isinstance(node, exp.Window) and node.this.find(type(call)) is not None


def is_grouped(select: exp.Select) -> bool:
    """True if a SELECT makes one row of several."""
    return bool(select.args.get("group") or select.args.get("having") or next(aggregates(select), None))


def is_plain(select: exp.Select) -> bool:
    """True if a SELECT returns a row for each row of FROM and WHERE, unordered and without LIMIT."""
    parts = ("distinct", "order", "limit", "offset", "qualify", "windows", "laterals", "kind", "fetch")
    return not (is_grouped(select) or any(select.args.get(part) for part in parts) or select.find(exp.Window))


# Which table a name in a plan is, where an engine says the alias alone.


def with_tables(plan: QueryPlan, sql: str, dialect: EngineName) -> QueryPlan:
    """Return a plan with aliases for names that can only be one table's alias in a text.

    Args:
        plan: the plan of the text.
        sql: the text.
        dialect: the engine, in whose language it is.
    """
    if plan.root is None or all(node.table is None or node.alias for node in plan.root.walk()):
        return plan
    aliases = _aliases(sql, dialect)
    return replace(plan, root=_named(plan.root, aliases)) if aliases else plan


def _aliases(sql: str, dialect: EngineName) -> Mapping[str, str]:
    """Return the tables of a text by alias, in lower case; only aliases that mean one table everywhere."""
    found: dict[str, set[str]] = {}
    try:
        for tree in statements(sql, dialect):
            for source in tree.find_all(exp.Table, exp.Subquery, exp.CTE):
                name = source.name if isinstance(source, exp.Table) else ""
                if alias := source.alias or name:
                    found.setdefault(alias.lower(), set()).add(name)
    except Exception:  # noqa: BLE001 - what sqlglot raises for texts that it cannot read is of many kinds
        return {}
    return {alias: name for alias, names in found.items() for name in names if len(names) == 1 and name}


def _named(node: PlanNode, aliases: Mapping[str, str]) -> PlanNode:
    children = tuple(_named(child, aliases) for child in node.children)
    table = None if node.alias or node.table is None else aliases.get(node.table.lower())
    if table is None or table.lower() == (node.table or "").lower():
        return replace(node, children=children)
    return replace(node, table=table, alias=node.table, children=children)

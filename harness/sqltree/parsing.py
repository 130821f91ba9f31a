"""Parsing in bounded time: with each level of `DATE(DATE(...` sqlglot reads what is inside twice as often."""

from functools import cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token

from dialects.enums import Dialect
from dialects.errors import Untranslatable
from dialects.source import parse
from dialects.targets import SQLGLOT
from harness.engines import EngineName, dialect_of

_MOST_STEPS = 10_000
"""Steps of a parser, which takes about one for each token unless it tries a part of the text again."""

_SPEAKERS = {dialect: sqlglot.Dialect.get_or_raise(name) for dialect, name in SQLGLOT.items()}


class TooMuch(Exception):
    """A text that takes too long to parse."""


class _Bounded(Parser):
    """A parser that gives up."""

    _steps = 0

    def _advance(self, times: int = 1) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooMuch
        super()._advance(times)


@cache
def _bounded(parser_class: type[Parser]) -> type[Parser]:
    return type("BoundedParser", (_Bounded, parser_class), {})


def tokens_of(sql: str, dialect: EngineName) -> list[Token]:
    """The tokens of a text.

    Raises:
        TokenError: a quote or comment is not closed.
    """
    return list(_SPEAKERS[dialect_of(dialect)].tokenize(sql))


def statements(sql: str, dialect: EngineName, tokens: list[Token] | None = None) -> list[exp.Expr]:
    """The trees of a text, as sqlglot reads the dialect; `tokens` where only a part of it is to be read.

    Raises:
        TooMuch: it takes too long to parse.
        Exception: it cannot be read: what sqlglot raises for texts that are no SQL is of many kinds.
    """
    speaker = _SPEAKERS[dialect_of(dialect)]
    made: Parser = _bounded(speaker.parser_class)(dialect=speaker)
    trees = made.parse(tokens_of(sql, dialect) if tokens is None else tokens, sql)
    return [tree for tree in trees if tree is not None and not isinstance(tree, exp.Semicolon)]


def read_query(sql: str, dialect: EngineName) -> exp.Query | None:
    """The tree of a query, SQLite's with its own functions; None where it cannot be read and run as it is."""
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

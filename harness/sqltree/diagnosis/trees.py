"""From a SQL text to its reading with sqlglot, which only what reads a query has to import."""

from collections.abc import Sequence

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from dialects.enums import Dialect
from dialects.targets import SQLGLOT
from harness.data.questions import DatabaseSchema
from harness.sqltree.diagnosis.names import Scope
from harness.sqltree.diagnosis.queries import QueryReader
from harness.sqltree.diagnosis.reading import Reading
from harness.sqltree.spider.parsing import parser

_SPEAKERS = {dialect: sqlglot.Dialect.get_or_raise(name) for dialect, name in SQLGLOT.items()}
_FIRST = frozenset((TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.VALUES))


def reading_of(sql: str, dialect: Dialect, schema: DatabaseSchema | None) -> Reading | None:
    """What a query says; None if the text is no query or cannot be read."""
    try:
        statement = _last_statement(sql, dialect)
        if not _begins_query(statement):
            return None
        node = parser(_SPEAKERS[dialect]).parse(statement, sql)[0]
        reader = QueryReader(dialect, schema)
        outputs = reader.query(node, Scope()) if node is not None else []
    except Exception:  # noqa: BLE001 - what sqlglot raises for texts that are no SQL is of many kinds
        return None
    return Reading.of(reader.notes, [term for _, term in outputs])


def begins_query(sql: str, dialect: Dialect) -> bool:
    """Whether the last statement of a text begins as a query."""
    try:
        return _begins_query(_last_statement(sql, dialect))
    except SqlglotError:
        return False


def _begins_query(tokens: Sequence[Token]) -> bool:
    return bool(tokens) and tokens[0].token_type in _FIRST


def _last_statement(sql: str, dialect: Dialect) -> list[Token]:
    """The tokens of the last statement of a text.

    Raises:
        TokenError: the text has a token that is none.
    """
    tokens = _SPEAKERS[dialect].tokenize(sql)
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    ends = [place for place, token in enumerate(tokens) if token.token_type is TokenType.SEMICOLON]
    return tokens[ends[-1] + 1 :] if ends else tokens

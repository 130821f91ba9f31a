"""From a SQL text to its reading: every text that is one query in its dialect, however long."""

from collections.abc import Sequence

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from harness.benchmark import DatabaseSchema
from harness.diagnosis.names import Scope
from harness.diagnosis.queries import QueryReader
from harness.diagnosis.reading import Reading
from harness.words import Dialect

_SPEAKERS = {
    Dialect.SQLITE: sqlglot.Dialect.get_or_raise("sqlite"),
    Dialect.MYSQL: sqlglot.Dialect.get_or_raise("mysql"),
    Dialect.POSTGRESQL: sqlglot.Dialect.get_or_raise("postgres"),
}
_FIRST = frozenset((TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.VALUES))


def read(sql: str, dialect: Dialect, schema: DatabaseSchema | None = None) -> Reading | None:
    """What a query says.

    Args:
        sql: one text; of several statements the last counts, as on PostgreSQL.
        dialect: whose SQL it is.
        schema: of the database. Without one, columns are told apart by their names alone.

    Returns:
        None if the text is no query or cannot be read.
    """
    try:
        statement = _last_statement(sql, dialect)
        if not _begins_query(statement):
            return None
        node = _SPEAKERS[dialect].parser().parse(statement, sql)[0]
        reader = QueryReader(dialect, schema)
        outputs = reader.query(node, Scope()) if node is not None else []
    except (SqlglotError, RecursionError):
        return None
    return Reading.of(reader.notes, [term for _, term in outputs])


def is_query(sql: str, dialect: Dialect) -> bool:
    """Whether a text begins as a query, not as another statement or as prose."""
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

"""SQLite SQL to the same question in another dialect.

This is sqlglot's transpilation, with identifiers spelled as the loaders spell them. It serves question sets
that publish no gold of their own for a dialect; how often its result returns what SQLite returns is for
`bird-harness coverage` to say, so a gold that comes from here is marked `translated` wherever it is counted.
"""

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from harness.words import Dialect
from loaders.profiles import postgresql_name

_NAMES = {Dialect.SQLITE: "sqlite", Dialect.MYSQL: "mysql", Dialect.POSTGRESQL: "postgres"}


@dataclass(frozen=True)
class Translation:
    """One SQL text in the target dialect."""

    sql: str
    target: Dialect


class Untranslatable(Exception):
    """The text has no translation; the message says why."""


def translate(sql: str, target: Dialect) -> Translation:
    """Translate one SQLite statement to `target`.

    Raises:
        Untranslatable: sqlglot cannot parse the text as one statement, or cannot say it in the target.
    """
    if target is Dialect.SQLITE:
        return Translation(sql, target)
    try:
        statements = [tree for tree in sqlglot.parse(sql, read=_NAMES[Dialect.SQLITE]) if tree is not None]
        if len(statements) != 1:
            raise Untranslatable(f"no translation to {target}: {len(statements)} statements instead of one")
        tree = statements[0]
        if target is Dialect.POSTGRESQL:
            tree = tree.transform(_as_loaded)
        text = tree.sql(dialect=_NAMES[target], unsupported_level=sqlglot.ErrorLevel.RAISE)
    except (SqlglotError, RecursionError) as error:
        raise Untranslatable(f"no translation to {target}: {' '.join(str(error).split())}") from error
    return Translation(text, target)


def _as_loaded(node: exp.Expression) -> exp.Expression:
    """SQLite ignores the case of every name, PostgreSQL only that of names without quotes."""
    if isinstance(node, exp.Identifier):
        return exp.to_identifier(postgresql_name(node.name), quoted=True)
    return node

"""SQLite's SQL in another dialect, for those who take it away: one text."""

import sqlite3
from pathlib import Path

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.translate import Translation, translate
from loaders.census import census
from loaders.source import opened
from loaders.textfiles import is_text, one_line


def translate_text(sql: str, path: Path, target: Dialect) -> Translation:
    """One query for the database that it is for.

    Args:
        sql: as SQLite takes it.
        path: the SQLite file; what its columns hold is read.
        target: MySQL or PostgreSQL.

    Raises:
        BadInput: the file is no SQLite database, or SQLite itself does not take the text.
        Untranslatable: there is no exact translation, or the text is no query.
    """
    schema = census(path)
    if why := _refused(sql, path):
        raise BadInput(one_line(f"SQLite does not take the text: {why}; correct it"))
    return translate(sql, schema, target)


def _refused(sql: str, path: Path) -> str | None:
    """What SQLite says against a text, which is prepared and not run."""
    if not is_text(sql) or "\0" in sql:
        return "it has characters that no text has"
    with opened(path) as connection:
        try:
            connection.execute(f"EXPLAIN {sql}")
        except sqlite3.OperationalError as error:
            return str(error)
        except (sqlite3.ProgrammingError, sqlite3.Warning) as error:
            # In Python 3.11 a warning. Parameters without a value are nothing to SQLite's reader.
            if "one statement" in str(error):
                return "it holds several statements; give one"
    return None

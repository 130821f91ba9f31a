"""MySQL's spelling of the forms in which values are hashed: the server makes every hash and every sum.

No function of MySQL gives the bits of a double but those that make points: a point's inner form ends with its
two coordinates. https://dev.mysql.com/doc/refman/9.7/en/gis-data-formats.html
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dialects.identifiers import quoted
from loaders.mysql import session
from loaders.namespace import Database
from loaders.server import Server
from loaders.verify.forms import NULL, SUMMAND, ValueForm
from loaders.verify.sides import Ask, ComparedColumn

BARRIER = ""
"""What MySQL would do instead, to write the hashes into a table first, takes longer for one sum."""

_SECONDS = "'%Y-%m-%d %H:%i:%s'"
_DECIMALS = "'%Y-%m-%d %H:%i:%s.%f'"
_HEADS = {
    ValueForm.INTEGER: "{0}",
    ValueForm.DOUBLE: "lower(hex(reverse(substr(point({0}, 0), 10, 8))))",
    ValueForm.TEXT: "length({0})",
    ValueForm.LONG_TEXT: "sha2({0}, 256)",
    ValueForm.BLOB: "sha2({0}, 256)",
    ValueForm.DAY: "{0}",
    ValueForm.MOMENT: (
        f"if(microsecond({{0}}), trim(trailing '0' from date_format({{0}}, {_DECIMALS})),"
        f" date_format({{0}}, {_SECONDS}))"
    ),
}
_ONE_SNAPSHOT = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"


@contextmanager
def asking(server: Server, database: Database) -> Iterator[Ask]:
    """See `HashSyntax.asking`. All that is asked is asked of one state of the tables."""
    del database
    with session.connected(server) as connection:
        session.ask(connection, _ONE_SNAPSHOT)

        def ask(query: str) -> list[tuple[Any, ...]]:
            return session.ask(connection, query)

        yield ask
        # Whoever gets the session next looks at the tables as they are then.
        session.ask(connection, "COMMIT")


def standing(server: Server, database: Database) -> Mapping[str, Mapping[str, str]]:
    """See `HashSyntax.standing`. A text's type is that alone where its characters are utf8mb4."""
    found: dict[str, dict[str, str]] = {}
    with session.connected(server) as connection:
        place = [database.mysql_database]
        for (name,) in session.ask(
            connection, "SELECT table_name FROM information_schema.tables WHERE table_schema = %s", place
        ):
            found[name] = {}
        for name, column, kind, characters in session.ask(
            connection,
            "SELECT table_name, column_name, column_type, character_set_name FROM information_schema.columns"
            " WHERE table_schema = %s ORDER BY table_name, ordinal_position",
            place,
        ):
            other = characters not in {None, "utf8mb4"}
            found[name][column] = f"{_text(kind)} {characters}" if other else _text(kind)
    return found


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def table(database: Database, name: str) -> str:
    """See `HashSyntax.table`."""
    return f"{quoted(database.mysql_database)}.{quoted(name)}"


def hashed(columns: Sequence[ComparedColumn]) -> str:
    """See `HashSyntax.hashed`."""
    heads = [f"ifnull({_HEADS[column.form].format(_value(column))}, '{NULL}')" for column in columns]
    texts = [f", {_value(column)}" for column in columns if column.form is ValueForm.TEXT]
    return f"sha2(concat_ws('', concat_ws(',', {', '.join(heads)}), '|'{''.join(texts)}), 256)"


def _value(column: ComparedColumn) -> str:
    is_text = column.form in {ValueForm.TEXT, ValueForm.LONG_TEXT, ValueForm.INTEGER, ValueForm.DAY}
    return f"convert({column.target} USING utf8mb4)" if column.converted and is_text else column.target


def summand(hashed: str) -> str:
    """See `HashSyntax.summand`."""
    return f"cast(conv(left({hashed}, {SUMMAND}), 16, 10) AS unsigned)"


def shown(column: ComparedColumn) -> str:
    """See `HashSyntax.shown`."""
    if column.form is ValueForm.BLOB:
        return f"concat('0x', lower(hex(left({column.target}, 40))))"
    text = f"convert({column.target} USING utf8mb4)"
    return (
        f"CASE WHEN char_length({text}) > 80 THEN concat(left({text}, 40), '...', right({text}, 20),"
        f" ' (', char_length({text}), ' characters)') ELSE {text} END"
    )

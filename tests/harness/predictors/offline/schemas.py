"""A small schema that the tests of the offline baseline ask about, in the words of each engine."""

from dialects.enums import Dialect
from harness.engines.base import ColumnText, TableText
from harness.predictors.base import DatabaseText, Problem

_TYPES = {
    Dialect.SQLITE: {"id": "INTEGER", "int": "INTEGER", "real": "REAL", "text": "TEXT", "date": "DATE",
    "moment": "DATETIME"},
    Dialect.MYSQL: {"id": "bigint", "int": "bigint", "real": "double", "text": "text", "date": "date",
    "moment": "datetime"},
    Dialect.POSTGRESQL: {
        "id": "bigint", "int": "bigint", "real": "real", "text": "text", "date": "date",
        "moment": "timestamp with time zone",
    },
}  # fmt: skip

_ROWS: dict[str, tuple[tuple[object, ...], ...]] = {
    "studios": ((1, "Lantern House", "Peru", 1931), (2, "Grey Heron", "Malta", 1975)),
    "Films": (
        (10, "The Quiet Dam", "drama", 118, "1998-05-02", 12.5, 1, "n/a"),
        (11, "Ferrymen", "Comedy", 95, "2004-11-19", 3.25, 2, "12"),
    ),
    "Ticket Sales": (
        (100, 10, "1998-05-03 19:30:00", 4, "adult"),
        (101, 11, "2004-12-01 21:00:00", 2, "child"),
    ),
    "people": ((7, "Ada", "Quill", "1960-01-31", 1),),
}

_TABLES: tuple[tuple[str, tuple[tuple[str, str], ...], str, tuple[tuple[str, str, str], ...]], ...] = (
    ("studios", (("studio_id", "id"), ("name", "text"), ("country", "text"), ("founded", "int")), "studio_id",
    ()),
    (
        "Films",
        (
            ("FilmID", "id"), ("Title", "text"), ("genre", "text"), ("Running Time (min)", "int"),
            ("released", "date"),
            ("box_office", "real"), ("studio_id", "int"), ("rating", "text"),
        ),
        "FilmID",
        (("studio_id", "studios", "studio_id"),),
    ),
    (
        "Ticket Sales",
        (("sale_id", "id"), ("FilmID", "int"), ("sold_at", "moment"), ("seats", "int"), ("category", "text")),
        "sale_id",
        (("FilmID", "Films", "FilmID"),),
    ),
    (
        "people",
        (("person_id", "id"), ("first_name", "text"), ("last_name", "text"), ("birthday", "date"),
        ("studio_id", "int")),
        "person_id",
        (("studio_id", "studios", "studio_id"),),
    ),
)  # fmt: skip


def cinema(dialect: Dialect, *, rows: bool = True) -> DatabaseText:
    """Four tables; on PostgreSQL names that need no quotes in small letters are in small letters."""

    def name(word: str) -> str:
        plain = word.replace("_", "").isalnum()
        return word.lower() if dialect is Dialect.POSTGRESQL and plain else word

    return DatabaseText(
        "cinema",
        dialect,
        tuple(
            TableText(
                name(table),
                f"CREATE TABLE {table} (...)",
                tuple(ColumnText(name(column), _TYPES[dialect][kind]) for column, kind in columns),
                (name(key),),
                tuple(((name(a),), name(other), (name(b),)) for a, other, b in keys),
                _ROWS[table] if rows else (),
            )
            for table, columns, key, keys in _TABLES
        ),
    )


def problem(
    text: str, evidence: str = "", dialect: Dialect = Dialect.SQLITE, *, rows: bool = True
) -> Problem:
    """A question about the cinema."""
    return Problem("1", text, evidence, cinema(dialect, rows=rows))

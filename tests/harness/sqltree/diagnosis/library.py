"""A small schema, and what is said of queries over it."""

from dialects.enums import Dialect
from harness.engines.errors import ErrorClass
from harness.sqltree import DatabaseSchema, SchemaColumn
from harness.sqltree.diagnosis import diagnose, read

_TABLES = {
    "Book": ("BookID", "Title", "Pages", "Price", "Published", "AuthorID", "GenreID", "Shelf Mark"),
    "Author": ("AuthorID", "Name", "Country", "Editor"),
    "Genre": ("id", "genre"),
    "Loan": ("LoanID", "Book", "Day", "Fine"),
}

LIBRARY = DatabaseSchema(
    db_id="library",
    tables=tuple(_TABLES),
    columns=tuple(SchemaColumn(table, name, "text") for table, names in _TABLES.items() for name in names),
    primary_keys=(),
    foreign_keys=(),
)


def diagnosed(
    prediction: str, gold: str, dialect: Dialect, schema: DatabaseSchema | None = LIBRARY
) -> ErrorClass:
    """The class of a prediction that returned rows."""
    reading = read(gold, dialect, schema)
    assert reading is not None, "gold can be read"
    return diagnose(prediction, lambda: reading, dialect, schema)

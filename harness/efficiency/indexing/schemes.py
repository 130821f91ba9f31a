"""The schemes of keys and indexes that a workload is measured under."""

from enum import StrEnum

from dialects.schema import Schema
from harness.efficiency.indexing.copies import Index


class Scheme(StrEnum):
    """What a copy of a database has beside its rows."""

    NONE = "none"
    """No key and no index. InnoDB stores a table by a number of its own then, SQLite by the rowid, PostgreSQL
    as a heap, as always."""
    PRIMARY = "primary"
    """Primary keys. InnoDB stores a table by it, SQLite where it is INTEGER; else it is an index."""
    FOREIGN = "primary + foreign"
    """And an index on the columns of each foreign key. InnoDB makes these by itself, the others do not."""
    ADVISED = "advised"
    """Primary keys, and what is advised for the workload (`harness.efficiency.indexing.advice`)."""


def foreign_indexes(schema: Schema) -> list[Index]:
    """An index for each foreign key whose columns do not begin the primary key; each once."""
    found = {
        Index(table.name, key.columns): None
        for table in schema.tables
        for key in table.foreign_keys
        if table.primary_key[: len(key.columns)] != key.columns
    }
    return list(found)

"""Spider's hardness of golds, for sets without difficulties; cached, because reading thousands takes time."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from harness.data.file_cache import cached_values
from harness.sqltree import DatabaseSchema, spider
from harness.sqltree.spider import SpiderSchema, hardness, read
from loaders.base.files import content_digest

GoldToRate = tuple[str, Path, DatabaseSchema | None]
"""A gold, the file of its database, and the database's published schema, if there is one."""


def hardnesses(golds: Sequence[GoldToRate]) -> list[str | None]:
    """Return the hardness of each gold, None for one that Spider's measures cannot read.

    Columns are those of the database, if it can be read.
    """
    schemas = {path: _hardness_schema(path, published) for _, path, published in golds}
    digests = {path: content_digest(sorted(schema.tables.items())) for path, schema in schemas.items()}

    def compute(place: int) -> str | None:
        sql, path, _ = golds[place]
        query = read(sql.strip().rstrip(";"), schemas[path])
        return None if query is None else str(hardness(query))

    return cached_values(
        dict[str, str | None],
        "hardness",
        sorted(Path(spider.__file__).parent.glob("*.py")),
        [(sql, digests[path]) for sql, path, _ in golds],
        compute,
    )


def _hardness_schema(path: Path, published: DatabaseSchema | None) -> SpiderSchema:
    """Return the tables of a database, from its file, or else from its published schema."""
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection,
    ):
        rows = connection.execute(
            "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c"
            " WHERE t.type IN ('table', 'view') ORDER BY t.name, c.cid"
        )
        tables: dict[str, list[str]] = {}
        for table, column in rows:
            tables.setdefault(table, []).append(column)
        return SpiderSchema(tables)
    tables = {table: [] for table in (published.tables if published else ())}
    for column in published.columns if published else ():
        tables[column.table].append(column.name)
    return SpiderSchema(tables)

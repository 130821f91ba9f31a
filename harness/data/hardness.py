"""Spider's hardness of golds, for sets without difficulties; cached, because reading thousands takes time."""

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from harness.sqltree import DatabaseSchema, spider
from harness.sqltree.spider import SpiderSchema, hardness, read
from loaders.base.files import ascii_json, parse_json
from loaders.base.paths import cache_path
from loaders.base.records import to_record

GoldToRate = tuple[str, Path, DatabaseSchema | None]
"""A gold, the file of its database, and the database's published schema, if there is one."""


def hardnesses(golds: Sequence[GoldToRate]) -> list[str | None]:
    """Return the hardness of each gold, None for one that Spider's measures cannot read.

    Columns are those of the database, if it can be read.
    """
    schemas = {path: _hardness_schema(path, published) for _, path, published in golds}
    facts = [(sql, sorted(schemas[path].tables.items())) for sql, path, _ in golds]
    digest = hashlib.sha256(f"{_code()}{facts!r}".encode("utf-8", "surrogatepass")).hexdigest()
    kept = cache_path() / "hardness" / f"{digest}.json"
    with suppress(OSError, ValueError):
        found = to_record(list[str | None], parse_json(kept.read_text(encoding="utf-8")))
        if len(found) == len(golds):
            return found
    levels = [_hardness(sql, schemas[path]) for sql, path, _ in golds]
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_suffix(".part")
        unfinished.write_text(ascii_json(levels), encoding="utf-8")
        unfinished.replace(kept)
    return levels


def _hardness(sql: str, schema: SpiderSchema) -> str | None:
    query = read(sql.strip().rstrip(";"), schema)
    return None if query is None else str(hardness(query))


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


@cache
def _code() -> str:
    """Return a digest of the code that reads golds."""
    files = sorted(Path(spider.__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()

"""The project's own 24 tasks, in the published file formats: 12 queries and 12 that change data.

They ask about two databases of the sample benchmark. Each engine has its own statements, in `<dialect>.jsonl`
and `answers/<dialect>/`, where `right` has another way where there is one, `careless` has what is easily
got wrong, and `traps` has wrong answers that the official scripts pass.
"""

import csv
import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from dialects.enums import Dialect
from dialects.identifiers import column_name, quoted, table_name
from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.layouts import TaskSet, read_tasks
from loaders.sample import build_once, sample_folder, table_names

SET_NAME = "sample_tasks"
"""What `--set` calls them."""

_HERE = Path(__file__).parent

_FAMILIES = ("livesqlbench-sqlite", "livesqlbench", "critic-mysql")
"""The scripts that judge them, one for each engine."""

_TYPES = {
    "INTEGER": "BIGINT",
    "REAL": "DOUBLE PRECISION",
    "TEXT": "VARCHAR(255)",
    "DATE": "DATE",
    "DATETIME": "TIMESTAMP",
}
"""Types of columns in dumps, by those of the sample's SQLite files: names that every server knows."""

_QUOTES = {"mysql": "`"}
"""The marks around names in dumps, where it is not the standard's."""


def sample_families() -> Mapping[Dialect, str]:
    """Return the script family of each engine that the tasks are judged on."""
    return {FAMILIES[name].dialect: name for name in _FAMILIES if name in FAMILIES}


def sample_tasks(family_name: str) -> TaskSet:
    """Return the tasks of a family, with databases laid out as published; build these if missing."""
    dialect = FAMILIES[family_name].dialect
    found = read_tasks(_HERE / f"{dialect}.jsonl", family_name, _databases(dialect))
    return replace(found, name=SET_NAME)


def sample_answers(dialect: Dialect) -> Sequence[Path]:
    """Return the files of answers for an engine."""
    return sorted((_HERE / "answers" / dialect).glob("*.jsonl"))


def _databases(dialect: Dialect) -> Path:
    source = sample_folder()
    digest = hashlib.sha256(source.name.encode() + Path(__file__).read_bytes())
    for path in sorted((_HERE / "databases").rglob("*.jsonl")):
        digest.update(path.read_bytes())

    def build(folder: Path) -> Path:
        for kept in sorted((_HERE / "databases").iterdir()):
            _build(source / "dev_databases" / kept.name, kept, folder, dialect)
        return folder

    return build_once(f"{SET_NAME}/{dialect}", digest.hexdigest()[:16], build)


def _build(source: Path, kept: Path, folder: Path, dialect: Dialect) -> None:
    """Write one database: what a model is shown of it, and its template or its dumps."""
    name, file = source.name, source / f"{source.name}.sqlite"
    place = folder / name
    place.mkdir(parents=True)
    for path in kept.iterdir():
        shutil.copyfile(path, place / path.name)
    meanings = json.dumps(dict(_meanings(source)), ensure_ascii=False, indent=1)
    (place / f"{name}_column_meaning_base.json").write_text(meanings, encoding="utf-8")
    with closing(sqlite3.connect(file)) as connection:
        if dialect is Dialect.SQLITE:
            shutil.copyfile(file, place / f"{name}_template.sqlite")
            creating = [text for (text,) in connection.execute(_CREATED)]
        else:
            creating = [
                _create(
                    table,
                    [*_columns(connection, table, dialect), *_links(connection, table, dialect)],
                    dialect,
                )
                for table in table_names(connection)
            ]
            _write_dumps(connection, folder / f"{name}_template", dialect)
        schema = [
            f"{text};\n\nFirst 3 rows:\n{_first_rows(connection, table)}\n"
            for text, table in zip(creating, table_names(connection), strict=True)
        ]
    (place / f"{name}_schema.txt").write_text("\n".join(schema), encoding="utf-8")


_CREATED = "SELECT sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid"


def _first_rows(connection: sqlite3.Connection, table: str) -> str:
    cursor = connection.execute(f"SELECT * FROM {quoted(table)} LIMIT 3")  # noqa: S608 - a quoted name
    heads = [head for head, *_ in cursor.description]
    return "\n".join("\t".join(map(str, row)) for row in [heads, *cursor])


def _meanings(source: Path) -> Iterator[tuple[str, str]]:
    """Yield what each column means, by `database|table|column`."""
    for path in sorted((source / "database_description").glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for record in csv.DictReader(file):
                said = [record["column_description"], record["value_description"]]
                column = f"{source.name}|{path.stem}|{record['original_column_name']}"
                yield column, "; ".join(filter(None, said))


def _write_dumps(connection: sqlite3.Connection, folder: Path, dialect: Dialect) -> None:
    """Write a dump of each table into a folder, and all of them into one file next to it."""
    folder.mkdir()
    texts = []
    for table in table_names(connection):
        rows = connection.execute(f"SELECT * FROM {quoted(table)}").fetchall()  # noqa: S608 - a quoted name
        values = ",\n".join(f"({', '.join(map(_literal, row))})" for row in rows)
        name = _name(table_name(table, dialect), dialect)
        # A row may refer to a later one of its table, so that links come after the rows.
        statements = [
            _create(table, _columns(connection, table, dialect), dialect),
            f"INSERT INTO {name} VALUES\n{values}",
            *(f"ALTER TABLE {name} ADD {link}" for link in _links(connection, table, dialect)),
        ]
        texts.append("".join(f"{statement};\n" for statement in statements))
        (folder / f"{table.lower()}.sql").write_text(texts[-1], encoding="utf-8")
    folder.with_name(f"{folder.name}_dump.sql").write_text("\n".join(texts), encoding="utf-8")


def _create(table: str, lines: Sequence[str], dialect: Dialect) -> str:
    return f"CREATE TABLE {_name(table_name(table, dialect), dialect)} (\n  " + ",\n  ".join(lines) + "\n)"


def _columns(connection: sqlite3.Connection, table: str, dialect: Dialect) -> list[str]:
    """Return the columns of a table as a server creates them, and its primary key."""
    columns = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
    lines = [
        f"{_name(column_name(name, dialect), dialect)} {_TYPES[kind]}{' NOT NULL' if needed else ''}"
        for _, name, kind, needed, _, _ in columns
    ]
    keys = [name for _, name, *_, place in sorted(columns, key=lambda column: column[-1]) if place]
    return [*lines, f"PRIMARY KEY ({', '.join(_name(column_name(key, dialect), dialect) for key in keys)})"]


def _links(connection: sqlite3.Connection, table: str, dialect: Dialect) -> list[str]:
    """Return the foreign keys of a table."""
    links = []
    for _, _, other, *pair, _, _, _ in connection.execute(f"PRAGMA foreign_key_list({quoted(table)})"):
        here, there = (_name(column_name(each, dialect), dialect) for each in pair)
        where = _name(table_name(other, dialect), dialect)
        links.append(f"FOREIGN KEY ({here}) REFERENCES {where} ({there})")
    return links


def _name(name: str, dialect: Dialect) -> str:
    mark = _QUOTES.get(dialect, '"')
    return f"{mark}{name}{mark}"


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)

"""Reads what a twin is made from out of a published schema, with the descriptions beside it."""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from loaders.textfiles import read_text
from loaders.twins.shape import Column, Reference, Shape, Table, TableName, folded
from loaders.twins.targets import with_targets

_PUBLISHED_SAMPLES = 5
"""The published schema gives up to so many values of a column: fewer are all that there are."""
_DESCRIBED = re.compile(
    r"""["'“]([^"'“”]{1,40})["'”]|(?:^|[\n;,•*])[^\S\n]*+([^\s:\uff1a=;,"']{1,30})\s*[:\uff1a=]"""
)


def of_published(path: Path, descriptions: Path | None = None) -> dict[str, Shape]:
    """The databases of a published schema, by their names.

    The format maps a database to `tables`, those to `columns`, each with `name`, `type`, `primary_key`,
    `foreign_keys` (of `target_table`, `target_column`) and `value_samples`, up to five values.

    Args:
        path: the JSON file.
        descriptions: a folder with `<db_id>/database_description/<table>.csv`, whose value descriptions name
            further values.

    Raises:
        BadInput: it is not such a file.
    """
    try:
        content = json.loads(read_text(path).text)
        databases = {
            str(db_id): with_targets(
                tuple(
                    _published_table(each, _described(descriptions, str(db_id), str(each["name"])))
                    for name, each in database["tables"].items()
                    if not name.startswith("sqlite_") and each["columns"]
                ),
            )
            for db_id, database in content.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{path}: is no published schema ({type(error).__name__}: {error}); "
            "give a SQLite file, or a JSON file as docs/twins.md describes it"
        ) from error
    return {db_id: Shape(db_id, tables) for db_id, tables in databases.items()}


def published_names(path: Path) -> list[str]:
    """The databases of a published schema.

    Raises:
        BadInput: it is no such file.
    """
    return list(of_published(path))


def _published_table(spec: Mapping[str, Any], described: Mapping[str, list[str]]) -> Table:
    key = tuple(folded(str(each["name"])) for each in spec["columns"] if each["primary_key"])
    columns = tuple(
        _published_column(each, described, is_rowid=_is_rowid(each, key)) for each in spec["columns"]
    )
    references = tuple(
        Reference(
            (folded(str(each["name"])),),
            TableName(folded(str(target["target_table"]))),
            (folded(str(target["target_column"] or "")),),
        )
        for each in spec["columns"]
        for target in each["foreign_keys"]
    )
    return Table(
        str(spec["name"]), columns, None, "", key, tuple(_lookup_names(columns, key, references)), references
    )


def _is_rowid(spec: Mapping[str, Any], key: tuple[str, ...]) -> bool:
    return bool(spec["primary_key"]) and len(key) == 1 and str(spec["type"] or "").upper() == "INTEGER"


def _published_column(
    spec: Mapping[str, Any], described: Mapping[str, list[str]], *, is_rowid: bool
) -> Column:
    samples = tuple(
        dict.fromkeys(
            value
            for value in spec["value_samples"]
            if isinstance(value, int if is_rowid else int | float | str)
        )
    )
    column = Column(
        str(spec["name"]),
        str(spec["type"] or ""),
        samples,
        complete=0 < len(samples) < _PUBLISHED_SAMPLES,
        nulls=0.0 if spec["primary_key"] else 0.05,
        nullable=not spec["primary_key"],
        strict=is_rowid,
    )
    told = [column.stored(value) for value in described.get(column.key, [])]
    # Only where the text lists values: then it lists a known one, too.
    if not column.complete and set(told) & set(samples):
        samples = tuple(dict.fromkeys([*samples, *told]))
    return replace(column, samples=samples)


def _lookup_names(
    columns: Sequence[Column], key: Sequence[str], references: Sequence[Reference]
) -> Iterator[tuple[str, ...]]:
    """The name of a table that only numbers names, such as colours."""
    texts = [column for column in columns if column.key not in key and column.affinity == "TEXT"]
    if len(key) == 1 and len(columns) - len(key) - len(texts) <= 1 and len(texts) == 1 and not references:
        yield (texts[0].key,)


def _described(folder: Path | None, db_id: str, table: str) -> dict[str, list[str]]:
    """What the description of a table seems to name as values, by column."""
    place = folder / db_id / "database_description" if folder else None
    if place is None or not place.is_dir():
        return {}
    path = next(
        (each for each in sorted(place.glob("*.csv")) if folded(each.stem.strip()) == folded(table)), None
    )
    if path is None:
        return {}
    lines = csv.reader(path.read_bytes().decode("utf-8-sig", "replace").splitlines(keepends=True))
    return {
        folded(line[0].strip()): [
            (first or second).strip() for first, second in _DESCRIBED.findall("\n".join(line[4:]))
        ]
        for line in lines
        if line
    }


def read_golds(path: Path) -> dict[str, list[str]]:
    """The gold SQL of a question file in the published format, by database.

    Raises:
        BadInput: it is not such a file.
    """
    try:
        content = json.loads(read_text(path).text)
        found: dict[str, list[str]] = {}
        for each in content:
            found.setdefault(str(each["db_id"]), []).append(str(each["SQL"]))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{path}: is no question file ({type(error).__name__}: {error}); "
            "it has to be a JSON list of objects with db_id and SQL"
        ) from error
    return found

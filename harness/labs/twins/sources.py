"""The sources of twins: a question set, or a schema and a question file; and the published schema."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.questions import QuestionSet
from harness.scoring.chance.shape import (
    ColumnShape,
    ReferenceShape,
    Shape,
    TableName,
    TableShape,
    folded,
    with_targets,
)
from loaders.base.files import parse_json, read_text


@dataclass(frozen=True)
class TwinSource:
    """The inputs of a twin.

    `path` is a SQLite file, or the JSON file of a published schema that includes this database;
    `descriptions` is the folder of the published descriptions, `<db_id>/database_description/<table>.csv`, if
    there are any. `golds` are queries in SQLite's dialect.
    """

    db_id: str
    path: Path
    golds: tuple[str, ...]
    descriptions: Path | None = None


def of_set(
    questions: QuestionSet, schema: Path | None = None, db_ids: Sequence[str] = ()
) -> list[TwinSource]:
    """Return the sources of a question set: its databases, or a published schema instead.

    Raises:
        BadInput: a database is missing, or not in the set.
    """
    golds: dict[str, list[str]] = {db_id: [] for db_id in questions.db_ids}
    for question in questions.questions:
        golds[question.db_id].append(question.gold[Dialect.SQLITE])
    paths = {db_id: schema or questions.database(db_id).sqlite_path for db_id in questions.db_ids}
    chosen = _chosen(db_ids, questions.db_ids, f"question set {questions.name}")
    missing = next((path for db_id, path in paths.items() if db_id in chosen and not path.is_file()), None)
    if missing is not None:
        raise BadInput(f"{missing}: not found; name a published schema with --schema, or get the databases")
    return [TwinSource(db_id, paths[db_id], tuple(golds[db_id]), questions.databases) for db_id in chosen]


def of_files(schema: Path, questions: Path, db_ids: Sequence[str] = ()) -> list[TwinSource]:
    """Return the sources of a schema and a question file.

    Args:
        schema: a SQLite file, whose name is that of the database, or a published schema.
        questions: a question file in the published format.
        db_ids: databases; default: all that the schema has and the questions ask.

    Raises:
        BadInput: a file cannot be read, or no question is about the schema.
    """
    golds = read_golds(questions)
    known = list(of_published(schema)) if schema.suffix.lower() == ".json" else [schema.stem]
    asked = [db_id for db_id in known if db_id in golds]
    if not asked:
        raise BadInput(
            f"{questions}: no question is about {', '.join(known)} of {schema}; the db_id of the questions "
            "and the name of the database must be the same"
        )
    chosen = _chosen(db_ids, asked, str(schema))
    return [TwinSource(db_id, schema, tuple(golds[db_id]), schema.parent) for db_id in chosen]


def _chosen(wanted: Sequence[str], known: Sequence[str], where: str) -> list[str]:
    unknown = [db_id for db_id in wanted if db_id not in known]
    if unknown:
        raise BadInput(f"--db {unknown[0]}: {where} has no such database; it has {', '.join(known)}")
    return [db_id for db_id in known if not wanted or db_id in wanted]


_PUBLISHED_SAMPLES = 5
"""Most values of a column in the published schema: a column with fewer has no others."""
_DESCRIBED = re.compile(
    r"""["'“]([^"'“”]{1,40})["'”]|(?:^|[\n;,•*])[^\S\n]*+([^\s:\uff1a=;,"']{1,30})\s*[:\uff1a=]"""
)


def of_published(path: Path, descriptions: Path | None = None) -> dict[str, Shape]:
    """Read the databases of a published schema, by name.

    The format maps a database to `tables`, those to `columns`, each with `name`, `type`, `primary_key`,
    `foreign_keys` (of `target_table`, `target_column`) and `value_samples`, up to five values.

    Args:
        path: the JSON file.
        descriptions: a folder with `<db_id>/database_description/<table>.csv`, whose value descriptions list
            more values.

    Raises:
        BadInput: it is not such a file.
    """
    try:
        content = parse_json(read_text(path).text)
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
            f"{path}: not a published schema ({type(error).__name__}: {error}); "
            "give a SQLite file, or a JSON file as docs/how-to/twins.md describes it"
        ) from error
    return {db_id: Shape(db_id, tables) for db_id, tables in databases.items()}


def _published_table(spec: Mapping[str, Any], described: Mapping[str, list[str]]) -> TableShape:
    key = tuple(folded(str(each["name"])) for each in spec["columns"] if each["primary_key"])
    columns = tuple(
        _published_column(each, described, is_rowid=_is_rowid(each, key)) for each in spec["columns"]
    )
    references = tuple(
        ReferenceShape(
            (folded(str(each["name"])),),
            TableName(folded(str(target["target_table"]))),
            (folded(str(target["target_column"] or "")),),
        )
        for each in spec["columns"]
        for target in each["foreign_keys"]
    )
    return TableShape(
        str(spec["name"]), columns, None, "", key, tuple(_lookup_names(columns, key, references)), references
    )


def _is_rowid(spec: Mapping[str, Any], key: tuple[str, ...]) -> bool:
    return bool(spec["primary_key"]) and len(key) == 1 and str(spec["type"] or "").upper() == "INTEGER"


def _published_column(
    spec: Mapping[str, Any], described: Mapping[str, list[str]], *, is_rowid: bool
) -> ColumnShape:
    samples = tuple(
        dict.fromkeys(
            value
            for value in spec["value_samples"]
            if isinstance(value, int if is_rowid else int | float | str)
        )
    )
    column = ColumnShape(
        str(spec["name"]),
        str(spec["type"] or ""),
        samples,
        complete=0 < len(samples) < _PUBLISHED_SAMPLES,
        nulls=0.0 if spec["primary_key"] else 0.05,
        nullable=not spec["primary_key"],
        strict=is_rowid,
    )
    listed = [column.stored(value) for value in described.get(column.key, [])]
    # Only if the text lists values: then a known one is among them.
    if not column.complete and set(listed) & set(samples):
        samples = tuple(dict.fromkeys([*samples, *listed]))
    return replace(column, samples=samples)


def _lookup_names(
    columns: Sequence[ColumnShape], key: Sequence[str], references: Sequence[ReferenceShape]
) -> Iterator[tuple[str, ...]]:
    """Yield the name column of a table that only maps numbers to names, such as colours."""
    texts = [column for column in columns if column.key not in key and column.affinity == "TEXT"]
    if len(key) == 1 and len(columns) - len(key) - len(texts) <= 1 and len(texts) == 1 and not references:
        yield (texts[0].key,)


def _described(folder: Path | None, db_id: str, table: str) -> dict[str, list[str]]:
    """Return the values that a table's description seems to list, by column."""
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
    """Read the gold SQL of a question file in the published format, by database.

    Raises:
        BadInput: it is not such a file.
    """
    try:
        found: dict[str, list[str]] = {}
        for each in parse_json(read_text(path).text):
            found.setdefault(str(each["db_id"]), []).append(str(each["SQL"]))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{path}: not a question file ({type(error).__name__}: {error}); "
            "it must be a JSON list of objects with db_id and SQL"
        ) from error
    return found

"""Question sets: BIRD Mini-Dev in both published revisions, full dev, and the project's own sample.

Promises: a question keeps its identity where ids repeat; gold is what the official scripts run; a set whose
files do not fit together is refused. Layout of the published packages: https://github.com/bird-bench/mini_dev
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.question_files import Entry, read_gold, read_questions
from harness.data.questions import Column, DatabaseSchema, Question, QuestionSet
from loaders.packages.manifest import repair
from loaders.set_layouts import LAYOUTS, Layout, find
from loaders.textfiles import Faults, TextFile, is_text, most_bytes, one_line, read_json, read_text, refuse

_SQLITE_HEADER = b"SQLite format 3\x00"
"""https://www.sqlite.org/fileformat.html#magic_header_string"""


def load_set(name: str, bird_home: Path | None = None) -> QuestionSet:
    """Read a question set and check that its files fit together.

    Args:
        name: sample, mini_dev, mini_dev_2025 or dev.
        bird_home: the folder of the unpacked published packages; default: the environment's BIRD_HOME, else
            `./data`. The sample needs none.

    Raises:
        BadInput: the name is unknown, a file is missing or wrong, or the files contradict each other.
    """
    layout = LAYOUTS.get(name)
    if layout is None:
        raise BadInput(one_line(f"question set {name!r} is not known; choose one of {', '.join(LAYOUTS)}"))
    home = _sample_home() if name == "sample" else bird_home or Path(os.environ.get("BIRD_HOME") or "data")
    folder = find(name, home, layout.folders, layout.questions[Dialect.SQLITE])
    databases = find(name, home, layout.databases, "dev_databases") / "dev_databases"

    most = most_bytes()
    files: list[TextFile] = []
    published: dict[Dialect, list[Entry]] = {}
    for dialect, file_name in layout.questions.items():
        file = read_text(folder / file_name, most)
        files.append(file)
        published[dialect] = read_questions(file, ids_repeat=layout.same_order)
        gold_path = folder / layout.gold[dialect]
        if gold_path.exists():
            gold = read_text(gold_path, most)
            files.append(gold)
            published[dialect] = read_gold(gold, published[dialect], file.path.name)
        _compare(file, published[dialect], published[Dialect.SQLITE], layout, name)

    schemas: Mapping[str, DatabaseSchema] = {}
    tables = databases.parent / layout.tables
    if tables.exists():
        described = read_text(tables, most)
        files.append(described)
        schemas = read_schemas(described)
    questions = _join(published)
    _check_databases(databases, tables, {question.db_id for question in questions}, schemas)
    order = {dialect: published.get(dialect, published[Dialect.SQLITE]) for dialect in Dialect}
    return QuestionSet(
        name=name,
        title=layout.title,
        collection=_collection(layout, questions),
        questions=questions,
        order={dialect: tuple(entry.key for entry in entries) for dialect, entries in order.items()},
        databases=databases,
        schemas=schemas,
        files={file.path.name: file.sha256 for file in files},
    )


_IDENTITY = 8
"""Hexadecimal digits in the name of a collection; names on servers are short."""


def _collection(layout: Layout, questions: Sequence[Question]) -> str:
    """The namespace of the set's databases on servers: the published one's, or one of its own.

    What decides is which databases the questions are about: BIRD's eleven, or others. Another set is told
    from the next by what is asked, wherever its files are; corrected golds and rows leave it the same.
    """
    db_ids = {question.db_id for question in questions}
    if layout.published is None or db_ids == layout.published:
        return layout.collection
    asked = sorted({(question.db_id, question.text) for question in questions})
    digest = hashlib.sha256(repr(asked).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{layout.collection}_{digest[:_IDENTITY]}"


def _sample_home() -> Path:
    from loaders.sample import sample_folder  # noqa: PLC0415 - building the sample is for those who ask for it

    return sample_folder()


def _compare(file: TextFile, entries: list[Entry], reference: list[Entry], layout: Layout, name: str) -> None:
    """Refuse a dialect whose questions are not SQLite's, or are about other databases."""
    source = layout.questions[Dialect.SQLITE]
    repair = f"take all files of {name} from one package: {layout.title}"
    faults = Faults(file.path, "question")
    expected = {entry.key: entry for entry in reference}
    found = {entry.key: entry for entry in entries}
    for key in expected:
        if key not in found:
            faults.add(key, f"in {source} but not here", repair)
    for key, entry in found.items():
        if key not in expected:
            faults.add(key, f"not in {source}", repair)
        elif entry.db_id != expected[key].db_id:
            faults.add(f"{key} (db_id {entry.db_id})", f"of another database in {source}", repair)
    if layout.same_order:
        for position, (entry, other) in enumerate(zip(entries, reference, strict=False)):
            if entry.key != other.key:
                faults.add(f"{entry.key} (entry {position})", f"not at the same position in {source}", repair)
    faults.stop()


def _join(published: Mapping[Dialect, list[Entry]]) -> tuple[Question, ...]:
    gold = {dialect: {entry.key: entry.sql for entry in entries} for dialect, entries in published.items()}
    return tuple(
        Question(
            key=entry.key,
            question_id=entry.question_id,
            db_id=entry.db_id,
            text=entry.text,
            evidence=entry.evidence,
            difficulty=entry.difficulty,
            gold={dialect: sql[entry.key] for dialect, sql in gold.items()},
        )
        for entry in published[Dialect.SQLITE]
    )


def _check_databases(
    databases: Path, tables: Path, db_ids: set[str], schemas: Mapping[str, DatabaseSchema]
) -> None:
    """Refuse databases that are not there, are no SQLite files, or are missing from the schema file."""
    faults = Faults(databases, "database")
    for db_id in sorted(db_ids):
        path = databases / db_id / f"{db_id}.sqlite"
        if not path.is_file():
            faults.add(db_id, "no file <database>/<database>.sqlite", "unpack the published databases there")
            continue
        with path.open("rb") as file:
            if file.read(len(_SQLITE_HEADER)) != _SQLITE_HEADER:
                faults.add(db_id, "not an SQLite file, perhaps cut off or a pointer to one", "fetch it again")
    faults.stop()
    if schemas:
        undescribed = Faults(tables, "database")
        for db_id in sorted(db_ids - schemas.keys()):
            undescribed.add(db_id, "no schema in this file", "add it, or take the file away")
        undescribed.stop()


def read_schemas(file: TextFile) -> Mapping[str, DatabaseSchema]:
    """Read a file of schemas in Spider's format (`dev_tables.json`), keyed by db_id.

    https://github.com/taoyds/spider

    Raises:
        BadInput: the file is not in Spider's format, or names a database twice.
    """
    records = read_json(file, repair(file))
    if not isinstance(records, list) or not records:
        refuse(file.path, "is not a JSON array of schemas in Spider's format", repair(file))
    faults = Faults(file.path, "entry")
    schemas: dict[str, DatabaseSchema] = {}
    for position, record in enumerate(records):
        try:
            schema = _schema(record)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            detail = f"{position} ({type(error).__name__}: {error})"
            faults.add(detail, "not a schema in Spider's format", repair(file))
            continue
        if schema.db_id in schemas:
            faults.add(
                f"{position} ({schema.db_id})", "a second schema of the same database", "leave one out"
            )
        schemas[schema.db_id] = schema
    faults.stop()
    return schemas


def _schema(record: Any) -> DatabaseSchema:
    if not is_text(record["db_id"]):
        raise TypeError("db_id is not a string")
    tables = tuple(record["table_names_original"])
    # Column 0 is "*", of no table: indexes of columns count it, too.
    described = list(zip(record["column_names_original"], record["column_types"], strict=True))[1:]
    columns = tuple(Column(tables[table], name, kind) for (table, name), kind in described)
    by_index = dict(enumerate(columns, start=1))
    return DatabaseSchema(
        db_id=record["db_id"],
        tables=tables,
        columns=columns,
        primary_keys=tuple(
            tuple(by_index[i] for i in (key if isinstance(key, list) else [key]))
            for key in record["primary_keys"]
        ),
        foreign_keys=tuple(
            (by_index[referring], by_index[referred]) for referring, referred in record["foreign_keys"]
        ),
    )

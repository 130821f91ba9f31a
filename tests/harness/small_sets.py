"""Question sets that tests make: four questions in the layout of the published package, or one question."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from harness.data.questions import Difficulty, Question, QuestionSet
from harness.data.set_manifest import PUBLISHED
from tests.sqlite_files import sqlite_file

SEPARATOR = "\t----- bird -----\t"

DATABASES = ("zoo", "bank")
FIRST_REVISION = ((1471, "zoo"), (9, "zoo"), (137, "bank"), (137, "bank"))
LATER_REVISION = ((1471, "zoo"), (9, "zoo"), (137, "bank"), (119, "bank"))
LATER_REVISION_ON_SERVERS = ((1471, "zoo"), (9, "zoo"), (119, "bank"), (137, "bank"))


def question(question_id: int, db_id: str, dialect: Dialect, place: int) -> dict[str, Any]:
    return {
        "question_id": question_id,
        "db_id": db_id,
        "question": f"Where is number {place}?",
        "evidence": "",
        "SQL": f"SELECT {place}  AS {dialect}",
        "difficulty": ("simple", "moderate", "challenging", "simple")[place],
    }


def questions(ids: Sequence[tuple[int, str]], dialect: Dialect) -> list[dict[str, Any]]:
    return [question(question_id, db_id, dialect, place) for place, (question_id, db_id) in enumerate(ids)]


def schema(db_id: str) -> dict[str, Any]:
    return {
        "db_id": db_id,
        "table_names_original": ["Place", "Visit"],
        "column_names_original": [[-1, "*"], [0, "id"], [0, "Full Name"], [1, "day"], [1, "place"]],
        "column_types": ["text", "integer", "text", "date", "integer"],
        "primary_keys": [1, [3, 4]],
        "foreign_keys": [[4, 1]],
    }


def write_databases(folder: Path) -> None:
    for db_id in DATABASES:
        (folder / "dev_databases" / db_id).mkdir(parents=True, exist_ok=True)
        sqlite_file(
            folder / "dev_databases" / db_id / f"{db_id}.sqlite",
            "CREATE TABLE IF NOT EXISTS Place (id INTEGER PRIMARY KEY)",
        )
    (folder / "dev_tables.json").write_text(json.dumps([schema(db_id) for db_id in DATABASES]))


def write_json(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2))
    return path


def write_lines(path: Path, records: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def write_mini_dev(home: Path) -> Path:
    """The first revision: an id occurs twice, gold files beside the questions, spaced otherwise."""
    folder = home / "MINIDEV"
    for dialect in PUBLISHED:
        asked = questions(FIRST_REVISION, dialect)
        write_json(folder / f"mini_dev_{dialect}.json", asked)
        gold = "".join(f"{q['SQL'].replace('  ', ' ')}\t{q['db_id']}\n" for q in asked)
        (folder / f"mini_dev_{dialect}_gold.sql").write_text(gold)
    write_databases(folder)
    return folder


def write_mini_dev_2025(home: Path) -> Path:
    """The later revision: another order on the servers, no gold files, databases of the first."""
    folder = home / "MINIDEV_2025"
    for dialect in PUBLISHED:
        ids = LATER_REVISION if dialect is Dialect.SQLITE else LATER_REVISION_ON_SERVERS
        write_json(folder / f"mini_dev_{dialect}.json", questions(ids, dialect))
    write_databases(home / "MINIDEV")
    return folder


def write_dev(folder: Path) -> Path:
    """Full dev: SQLite alone, JSON lines here."""
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / "dev.json", questions(LATER_REVISION, Dialect.SQLITE))
    write_databases(folder)
    return folder


def official(ids: Sequence[tuple[int, str]] = FIRST_REVISION) -> dict[str, str]:
    """A good prediction file for a set with these questions."""
    return {str(place): f"SELECT {place}{SEPARATOR}{db_id}" for place, (_, db_id) in enumerate(ids)}


def lines(ids: Sequence[tuple[object, str]], **also: str) -> list[Mapping[str, object]]:
    """Good JSON lines for a set with these questions."""
    return [
        {"question_id": question_id, "sql": f"SELECT {place}", "db_id": db_id, **also}
        for place, (question_id, db_id) in enumerate(ids)
    ]


def asked(gold: str) -> Question:
    """A question about the database `zoo`, with a gold for SQLite alone."""
    return Question("1", 1, "zoo", "Which animals?", "", Difficulty.SIMPLE, {Dialect.SQLITE: gold})


def of_zoo(databases: Path, gold: str) -> QuestionSet:
    """A set of that one question; `databases` is the folder with `zoo/zoo.sqlite`."""
    return QuestionSet(
        name="zoo", title="zoo", collection="zoo", questions=(asked(gold),), order={Dialect.SQLITE: ("1",)},
        databases=databases, schemas={}, files={},
    )  # fmt: skip

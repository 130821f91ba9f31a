"""Readers of the published question and gold files, one dialect at a time.

Formats: a JSON array of questions or JSON lines (told apart by content); gold in lines of `SQL<TAB>db_id`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from harness.data.questions import Difficulty
from loaders.errors import brief
from loaders.packages.manifest import repair
from loaders.textfiles import Faults, TextFile, is_text, json_type, read_json, read_json_lines, refuse

_TEXTS = ("db_id", "question", "evidence", "SQL", "difficulty")
_DB_ID = re.compile(r"\w[\w-]*")
"""A database's name is the name of a folder and of namespaces on servers."""


@dataclass(frozen=True)
class Entry:
    """One question as one dialect's file has it; `key` is that of `harness.data.questions.Question`."""

    key: str
    question_id: int
    db_id: str
    text: str
    evidence: str
    difficulty: str
    sql: str


def read_questions(file: TextFile, *, ids_repeat: bool = False) -> list[Entry]:
    """Read the questions of one dialect in their published order.

    Args:
        file: a JSON array of objects, or one object per line, with question_id, db_id, question, evidence,
            SQL and difficulty; further keys are ignored.
        ids_repeat: an id may occur again, as in Mini-Dev's first revision; the key then ends in "#2".

    Raises:
        BadInput: the file is not such a file.
    """
    noun, records = _records(file)
    remedy = repair(file)
    faults = Faults(file.path, noun)
    entries: list[Entry] = []
    seen: Counter[int] = Counter()
    for place, record in records:
        problem = next(_problems(record), None)
        if problem is not None:
            faults.add(place, problem, remedy)
            continue
        question_id = record["question_id"]
        seen[question_id] += 1
        count = seen[question_id]
        if count > 1 and not ids_repeat:
            faults.add(
                f"{place} (question_id {question_id})",
                "an id that occurred before",
                f"{remedy}, for this revision",
            )
        entries.append(
            Entry(
                key=str(question_id) if count == 1 else f"{question_id}#{count}",
                question_id=question_id,
                db_id=record["db_id"],
                text=record["question"],
                evidence=record["evidence"],
                difficulty=Difficulty(record["difficulty"]),
                sql=record["SQL"],
            )
        )
    faults.stop()
    if not entries:
        refuse(file.path, "holds no questions", remedy)
    return entries


def read_gold(file: TextFile, entries: list[Entry], questions_name: str) -> list[Entry]:
    """The entries with the gold of a `*_gold.sql` file, which is what the official scripts run.

    Raises:
        BadInput: its lines are not `SQL<TAB>db_id`, one per entry and in the same order.
    """
    faults = Faults(file.path, "line")
    golds: list[tuple[str, str]] = []
    # Not splitlines(): SQL may hold the other characters that it takes for line ends.
    for number, line in enumerate(file.text.rstrip().split("\n"), start=1):
        sql, _, db_id = line.strip().rpartition("\t")
        golds.append((sql.strip(), db_id))
        if not sql:
            faults.add(number, "not SQL, a tab and a db_id", repair(file))
    faults.stop()
    fit = "take both files from one package"
    if len(golds) != len(entries):
        refuse(file.path, f"{questions_name} has {len(entries)} questions, this file {len(golds)} lines", fit)
    for number, ((_, db_id), entry) in enumerate(zip(golds, entries, strict=True), start=1):
        if db_id != entry.db_id:
            faults.add(
                f"{number} ({db_id}, not {entry.db_id})", f"of another database in {questions_name}", fit
            )
    faults.stop()
    return [replace(entry, sql=sql) for (sql, _), entry in zip(golds, entries, strict=True)]


def _records(file: TextFile) -> tuple[str, list[tuple[int, dict[str, Any]]]]:
    """What to call a record, and the records with their positions (from 0) or line numbers (from 1)."""
    if not file.text.lstrip().startswith("["):
        return "line", read_json_lines(file)
    faults = Faults(file.path, "entry")
    records = list(enumerate(read_json(file, repair(file))))
    for position, record in records:
        if not isinstance(record, dict):
            faults.add(position, f"{json_type(record)} instead of an object", repair(file))
    faults.stop()
    return "entry", records


def _problems(record: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a record; only the first is to be asked for, since later ones build on it."""
    missing = [key for key in ("question_id", *_TEXTS) if key not in record]
    if missing:
        yield f"no {' and '.join(missing)}"
    if type(record["question_id"]) is not int:
        yield f"question_id is {json_type(record['question_id'])}, not a whole number"
    wrong = [key for key in _TEXTS if not is_text(record[key])]
    if wrong:
        yield f"{' and '.join(wrong)} not a string of valid characters"
    if not _DB_ID.fullmatch(record["db_id"]):
        yield f"db_id {brief(repr(record['db_id']))} cannot be a database's name"
    if not record["SQL"].strip():
        yield "SQL is blank"
    if record["difficulty"] not in list(Difficulty):
        yield f"difficulty {brief(repr(record['difficulty']))} is none of {', '.join(Difficulty)}"

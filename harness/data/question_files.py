"""Readers of the question and gold files of one dialect.

Formats: a JSON array of questions or JSON lines (told apart by content), with the keys that the set's layout
names; gold in lines of `SQL<TAB>db_id`.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dialects.enums import Dialect
from harness.data.questions import BIRD_LEVELS, level
from loaders.base.errors import brief
from loaders.base.files import Faults, TextFile, is_text, json_type, read_json, read_json_lines, refuse
from loaders.packages.manifest import repair
from loaders.set_manifest import CORRECT, FIELDS, TOTAL, Layout

SPIDER_LEVELS = ("easy", "medium", "hard", "extra")
"""Spider's levels of hardness, in its order."""

_DB_ID = re.compile(r"\w(?:[\w -]*[\w-])?")
"""A database's name is the name of a folder and of namespaces on servers."""
_SCALES = (BIRD_LEVELS, SPIDER_LEVELS)
_LONGEST_ID = 200


@dataclass(frozen=True)
class Entry:
    """One question as one dialect's file has it; `key` is that of `harness.data.questions.Question`.

    `difficulty` is None where no record says any. `is_several`: its gold is more than one statement.
    """

    key: str
    question_id: int | str
    db_id: str
    text: str
    evidence: str
    difficulty: str | None
    sql: str
    is_several: bool = False


@dataclass(frozen=True)
class Asked:
    """The entries of one dialect, and how many records were left out, by the reason."""

    entries: list[Entry]
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Record:
    """A record with its file and its place there, from 0 in an array and from 1 in lines."""

    file: TextFile
    place: int
    content: dict[str, Any]


def read_questions(
    files: Sequence[TextFile],
    layout: Layout,
    dialect: Dialect,
    knowledge: Callable[[str, Sequence[Any]], str] | None = None,
    only_database: str | None = None,
) -> Asked:
    """Read the questions of one dialect in their published order.

    Args:
        files: JSON arrays of objects, or one object per line, one file after the other; keys that the layout
            does not name are ignored.
        layout: how records name what they hold.
        dialect: of the gold.
        knowledge: the text of evidence that is a list, of a database.
        only_database: the database of records that name none, where there is but one.

    Raises:
        BadInput: a file is not such a file.
    """
    faults = {file.path: Faults(file.path, noun) for file, noun in ((one, _noun(one)) for one in files)}
    records = [record for file in files for record in _records(file)]
    records, left_out = _chosen(records, layout, dialect)
    there = {name for record in records for name in FIELDS if layout.key(name, dialect) in record.content}
    wanted = {*layout.required, *(there & {"question_id", "question", "difficulty"})}
    if only_database is None:
        wanted.add("db_id")
    reader = _Reader(layout, dialect, wanted, knowledge, only_database)
    entries: list[Entry] = []
    seen: Counter[str] = Counter()
    for position, record in enumerate(records):
        remedy = repair(record.file)
        problem = next(reader.problems(record.content), None)
        if problem is not None:
            faults[record.file.path].add(record.place, problem, remedy)
            continue
        entry = reader.entry(record.content, position)
        seen[entry.key] += 1
        count = seen[entry.key]
        if count > 1 and not layout.ids_repeat:
            remedy = remedy if layout.is_own else f"{remedy}, for this revision"
            shown = f"{record.place} (question_id {brief(entry.key)})"
            faults[record.file.path].add(shown, "an id that occurred before", remedy)
        entries.append(entry if count == 1 else replace(entry, key=f"{entry.key}#{count}"))
    for each in faults.values():
        each.stop()
    if not entries:
        gone = "".join(f", {count} left out: {why}" for why, count in left_out.items())
        refuse(files[0].path, f"holds no questions{gone}", repair(files[0]))
    return Asked(_leveled(entries, files[0], layout), left_out)


def _chosen(
    records: Sequence[_Record], layout: Layout, dialect: Dialect
) -> tuple[list[_Record], Mapping[str, int]]:
    """The records that `only` of the layout keeps, and how many it does not, by the reason."""
    if not layout.only:
        return list(records), {}
    left: Counter[str] = Counter()
    kept = []
    for record in records:
        why = None
        for key, values in layout.only.items():
            if record.content.get(key) not in values:
                why = f"{key} {brief(str(record.content.get(key)))}"
        gold = record.content.get(layout.key("SQL", dialect))
        if why is None and isinstance(gold, list) and len(gold) != 1:
            why = "no gold" if not gold else "gold of several statements"
        if why is None:
            kept.append(record)
        else:
            left[why] += 1
    return kept, left


def _leveled(entries: list[Entry], file: TextFile, layout: Layout) -> list[Entry]:
    """The entries with their difficulties as levels of the set's scale."""
    named = list(dict.fromkeys(entry.difficulty for entry in entries if entry.difficulty is not None))
    if not named:
        return entries
    scale = layout.levels or next((one for one in _SCALES if set(named) <= set(one)), ())
    if not scale:
        scale = tuple(sorted(named, key=int) if all(map(str.isdecimal, named)) else named)
        if TOTAL in scale:
            refuse(file.path, f"has the difficulty {TOTAL!r}, which tables call all levels together", CORRECT)
    return [replace(entry, difficulty=level(entry.difficulty or scale[0], scale)) for entry in entries]


class _Reader:
    """One record -> an entry, or what is wrong with it."""

    def __init__(
        self,
        layout: Layout,
        dialect: Dialect,
        wanted: set[str],
        knowledge: Callable[[str, Sequence[Any]], str] | None,
        only_database: str | None,
    ) -> None:
        self._keys = {name: layout.key(name, dialect) for name in FIELDS}
        self._is_own = layout.is_own
        self._levels = layout.levels or (() if layout.is_own else BIRD_LEVELS)
        self._wanted = [name for name in FIELDS if name in wanted]
        self._knowledge = knowledge
        self._only_database = only_database

    def problems(self, record: Mapping[str, Any]) -> Iterator[str]:
        """What is wrong with a record; only the first is to be asked for, since later ones build on it."""
        keys = self._keys
        missing = [keys[name] for name in self._wanted if keys[name] not in record]
        if missing:
            yield f"no {' and '.join(missing)}"
        yield from self._id_problems(record)
        wrong = [
            keys[name]
            for name in FIELDS[1:]
            if keys[name] in record and not self._is_texts(name, record[keys[name]])
        ]
        if wrong:
            yield f"{' and '.join(wrong)} not a string of valid characters"
        if keys["db_id"] in record and not _DB_ID.fullmatch(record[keys["db_id"]]):
            yield f"{keys['db_id']} {brief(repr(record[keys['db_id']]))} cannot be a database's name"
        if not _sql(record[keys["SQL"]]).strip():
            yield f"{keys['SQL']} is blank"
        difficulty = record.get(keys["difficulty"])
        if self._levels and difficulty is not None and str(difficulty) not in self._levels:
            yield (f"{keys['difficulty']} {brief(repr(difficulty))} is none of {', '.join(self._levels)}")
        if difficulty is not None and not str(difficulty).strip():
            yield f"{keys['difficulty']} is blank"

    def _id_problems(self, record: Mapping[str, Any]) -> Iterator[str]:
        key = self._keys["question_id"]
        if key not in record or type(record[key]) is int:
            return
        value = record[key]
        if not self._is_own:
            yield f"{key} is {json_type(value)}, not a whole number"
        elif not isinstance(value, str):
            yield f"{key} is {json_type(value)}, not a whole number or a text"
        elif not value.isprintable() or value != value.strip() or not 0 < len(value) <= _LONGEST_ID:
            yield f"{key} {brief(repr(value))} is no id of up to {_LONGEST_ID} characters that print"

    def _is_texts(self, name: str, value: Any) -> bool:
        """Whether a value is of the kind that its field has."""
        if is_text(value):
            return True
        if not self._is_own:
            return False
        if name == "SQL":
            return isinstance(value, list) and bool(value) and all(map(is_text, value))
        if name == "evidence":
            return value is None or isinstance(value, list)
        return name == "difficulty" and type(value) is int

    def entry(self, record: Mapping[str, Any], position: int) -> Entry:
        """The entry of a record without problems, which is at this position of the set."""
        keys = self._keys
        question_id = record.get(keys["question_id"], position)
        db_id = record.get(keys["db_id"], self._only_database)
        evidence = record.get(keys["evidence"])
        if isinstance(evidence, list):
            evidence = self._knowledge(db_id, evidence) if self._knowledge else ""
        difficulty = record.get(keys["difficulty"])
        sql = _sql(record[keys["SQL"]])
        return Entry(
            key=str(question_id),
            question_id=question_id,
            db_id=db_id,
            text=record.get(keys["question"], ""),
            evidence=evidence or "",
            difficulty=None if difficulty is None else str(difficulty),
            sql=sql,
            is_several=self._is_own and _is_several(sql),
        )


def _sql(gold: str | Sequence[str]) -> str:
    return gold if isinstance(gold, str) else "\n".join(gold)


def _is_several(sql: str) -> bool:
    """Whether a text holds more than one statement, as SQLite itself reads it."""
    end = sql.find(";")
    while end >= 0:
        if sqlite3.complete_statement(sql[: end + 1]):
            rest = re.sub(r"--[^\n]*|/\*.*?(\*/|\Z)", "", sql[end + 1 :], flags=re.DOTALL)
            if rest.strip(" \t\r\n\f;"):
                return True
        end = sql.find(";", end + 1)
    return False


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
        if db_id.casefold() != entry.db_id.casefold():
            faults.add(
                f"{number} ({db_id}, not {entry.db_id})", f"of another database in {questions_name}", fit
            )
    faults.stop()
    return [replace(entry, sql=sql) for (sql, _), entry in zip(golds, entries, strict=True)]


def _noun(file: TextFile) -> str:
    """What to call a record."""
    return "entry" if file.text.lstrip().startswith("[") else "line"


def _records(file: TextFile) -> list[_Record]:
    if _noun(file) == "line":
        return [_Record(file, number, content) for number, content in read_json_lines(file)]
    faults = Faults(file.path, "entry")
    records = list(enumerate(read_json(file, repair(file))))
    for position, record in records:
        if not isinstance(record, dict):
            faults.add(position, f"{json_type(record)} instead of an object", repair(file))
    faults.stop()
    return [_Record(file, position, record) for position, record in records]

"""A question set: questions with their gold, schemas and databases; read by `harness.data.sets.loader`.

A question keeps its identity where ids repeat, as two do in the first revision of Mini-Dev.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, Self

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.data.file_cache import cached_values
from harness.data.published_sets import Published, repair
from harness.data.set_manifest import CORRECT, FIELDS, MANIFEST, TOTAL, TYPES, Layout, SetServer
from harness.sqltree import DatabaseSchema
from harness.sqltree.constructs import QuestionType
from loaders.base.errors import brief
from loaders.base.files import Faults, TextFile, is_text, json_type, read_json, read_json_lines, refuse
from loaders.namespace import Database


class Difficulty(StrEnum):
    """BIRD's three levels, in the order of the tables: the default for sets that name no others."""

    SIMPLE = "simple"
    MODERATE = "moderate"
    CHALLENGING = "challenging"


BIRD_LEVELS: tuple[str, ...] = tuple(Difficulty)


class Level(str):
    """A set's own level of difficulty or type of question, which knows all of its set in their order."""

    __slots__ = ("scale",)
    scale: tuple[str, ...]

    def __new__(cls, name: str, scale: Sequence[str]) -> Self:
        """Make the level `name` of the levels `scale`.

        Raises:
            ValueError: it is none of them.
        """
        if name not in scale:
            raise ValueError(f"{name!r} is not one of the levels {', '.join(scale)}")
        self = super().__new__(cls, name)
        self.scale = tuple(scale)
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[str, tuple[str, ...]]]:
        """Support pickling."""
        return type(self), (str(self), self.scale)


def level(name: str, scale: Sequence[str]) -> str:
    """Return the level of that name, on a scale of levels.

    Raises:
        ValueError: there is none.
    """
    return Difficulty(name) if tuple(scale) == BIRD_LEVELS else Level(name, scale)


def levels_of(difficulties: Iterable[str]) -> tuple[str, ...]:
    """Return all levels of the difficulties' sets, in the sets' order; BIRD's if none is given."""
    return _scale(difficulties, BIRD_LEVELS)


def types_of(types: Iterable[str]) -> tuple[str, ...]:
    """Return all types of questions of the types' sets, in the sets' order; the nine if none is given."""
    return _scale(types, tuple(QuestionType))


def _scale(names: Iterable[str], usual: tuple[str, ...]) -> tuple[str, ...]:
    scales = dict.fromkeys(one.scale if isinstance(one, Level) else usual for one in names)
    return tuple(dict.fromkeys(chain.from_iterable(scales))) or usual


@dataclass(frozen=True)
class Question:
    """One item of a question set.

    `key` names it within the set: the published id ("137"), or "137#2" if an id occurs a second time; the
    position if a set has no ids.
    `gold` has the published SQL of each dialect that the set publishes, SQLite's always. A gold pack may
    replace it in the dialects of `corrected`, and add further ones (`more_gold`): then any of them counts. In
    the dialects of `by_rows` a prediction is compared with the rows of SQLite's gold, by value.
    """

    key: str
    question_id: int | str
    db_id: str
    text: str
    evidence: str
    difficulty: str
    """One of the set's levels: a `Difficulty`, or a `Level` if they are not BIRD's."""
    gold: Mapping[Dialect, str]
    more_gold: Mapping[Dialect, tuple[str, ...]] = field(default_factory=dict)
    corrected: frozenset[Dialect] = frozenset()
    by_rows: frozenset[Dialect] = frozenset()
    own_types: tuple[str, ...] | None = None
    """Types that the set itself names, in its order; None: rules decide."""

    @cached_property
    def types(self) -> tuple[str, ...]:
        """What it asks for, by the set or by rules.

        Gold for SQLite decides, or that of the only dialect that there is.
        """
        if self.own_types is not None:
            return self.own_types
        from harness.sqltree.question_types import question_types  # noqa: PLC0415 - sqlglot is slow to import

        dialect = Dialect.SQLITE if Dialect.SQLITE in self.gold else next(iter(self.gold))
        return question_types(self.text, self.evidence, self.gold[dialect], dialect)

    def each(self, dialect: Dialect) -> "tuple[Question, ...]":
        """Return the question once for each gold that counts in a dialect, with that gold only."""
        source = dialect if dialect in self.gold else Dialect.SQLITE
        if not self.more_gold.get(source):
            return (self,)
        alone = replace(self, more_gold={})
        others = (replace(alone, gold={**self.gold, source: text}) for text in self.more_gold[source])
        return alone, *others


def cached_types(questions: Sequence[Question]) -> dict[str, tuple[str, ...]]:
    """Return the types of questions by their keys; no gold is parsed that an earlier call has read."""
    ruled, parser = [one for one in questions if one.own_types is None], version("sqlglot")
    found = cached_values(
        dict[str, tuple[str, ...]],
        "types",
        (_SQLTREE / "question_types.py", _SQLTREE / "parser.py"),
        [(parser, one.text, one.evidence, one.gold) for one in ruled],
        lambda place: ruled[place].types,
    )
    rules = {one.key: types for one, types in zip(ruled, found, strict=True)}
    return rules | {one.key: one.own_types for one in questions if one.own_types is not None}


_SQLTREE = Path(__file__).parents[1] / "sqltree"


def id_order(question_id: int | str) -> tuple[bool, int, str]:
    """Return the sort key of an id: numbers in numeric order, then texts."""
    return (False, question_id, "") if isinstance(question_id, int) else (True, 0, question_id)


@dataclass(frozen=True)
class PackUse:
    """The effect of a pack on a set, in numbers of questions, as the manifest records it.

    `several` counts those of `corrected` with several golds; `unchecked` those whose entry does not name the
    gold it replaces; `by_rows` those whose gold on servers is now SQLite's rows.
    """

    name: str
    version: str
    sha256: str
    corrected: int = 0
    several: int = 0
    excluded: int = 0
    ambiguous: int = 0
    unchecked: int = 0
    by_rows: int = 0

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Self | None:
        """Read the pack of a run from its manifest; None if the set's own golds counted."""
        try:
            return cls(**manifest["gold"])
        except (KeyError, TypeError):
            return None

    @property
    def label(self) -> str:
        """Its name with its version."""
        return f"{self.name} {self.version}"

    def __str__(self) -> str:
        left = [f"{self.excluded} excluded"] if self.excluded else []
        left += [f"{self.ambiguous} ambiguous"] if self.ambiguous else []
        several = f", {self.several} of them with several golds" if self.several else ""
        parts = [f"{_count(self.corrected, 'question')} with another gold{several}"]
        if left:
            parts.append(f"{_count(self.excluded + self.ambiguous, 'question')} left out ({', '.join(left)})")
        if self.by_rows:
            parts.append(f"{self.by_rows} compared on servers with the rows of SQLite's gold")
        return f"Gold pack {self.label}: {'; '.join(parts)}."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class QuestionSet:
    """The questions of a set with everything needed to run and score them.

    `questions` are in SQLite's published order. `order` has the keys in the published order of each
    dialect, which positional prediction files follow; a dialect that the set doesn't publish follows
    SQLite's. `files` maps the names of the files it was read from to their sha256; `schemas` is empty if
    none are published. `paths` are the databases that are not `<db_id>/<db_id>.sqlite` below `databases`;
    `path` is the file with SQLite's questions. `notes` tell a user how the set was read; `own` is True if it
    does not come with bird-harness; `profile` is the one in which the golds for servers are right, None if
    the user decides. `domains` describe databases; `unasked` are databases without questions. `server` has
    the databases if they are not in files, and `default_database` is the one that its address names, once
    known. `questions_of` names the set whose questions these are, with other golds. `pack` is the effect of
    a gold pack, and `by_rows` is True if the rows of SQLite's golds are gold on every server. `published` is
    what a user's set was recognised as.
    """

    name: str
    title: str
    collection: str
    questions: tuple[Question, ...]
    order: Mapping[Dialect, tuple[str, ...]]
    databases: Path
    schemas: Mapping[str, DatabaseSchema]
    files: Mapping[str, str]
    paths: Mapping[str, Path] = field(default_factory=dict)
    path: Path = Path()
    notes: tuple[str, ...] = ()
    own: bool = False
    profile: Profile | None = None
    domains: Mapping[str, str] = field(default_factory=dict)
    unasked: tuple[str, ...] = ()
    server: SetServer | None = None
    default_database: str = ""
    own_types: tuple[str, ...] = ()
    """The set's own types of questions; empty: rules decide."""
    questions_of: str = ""
    pack: PackUse | None = None
    by_rows: bool = False
    published: Published | None = None
    tables: Path | None = None
    """The file of schemas, if there is one."""
    digests: Mapping[Path, str] = field(default_factory=dict)
    """The SHA-256 that the set's manifest names for files."""
    faulty: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The databases that are missing or no SQLite files, each with the fault and what to do about it."""
    sqlite: str = ""
    """The release of SQLite that the set's golds were written for; empty if its manifest names none."""
    overrides: Path | None = None
    """The user's folder of overrides of translated golds, if there is one."""
    now: datetime | None = None
    """The moment, in UTC, that golds and predictions take for the present; None for the clock."""

    @cached_property
    def by_key(self) -> Mapping[str, Question]:
        """Questions by key."""
        return {question.key: question for question in self.questions}

    def keys_of(self, question_id: int | str) -> tuple[str, ...]:
        """Return the keys of the questions with a published id: none, one, or several if ids repeat."""
        return self._keys_by_id.get(question_id, ())

    def key_of(self, name: int | str) -> str:
        """Return the key of the question that a user names: a text is a key, a number is a published id.

        "137#1" is the first question of an id that several share, whose key is "137".

        Raises:
            BadInput: there is no such question, or several share that number.
        """
        if isinstance(name, str):
            if name in self.by_key:
                return name
            plain = name.removesuffix("#1")
            if plain in self.by_key and not (plain != name and "#" in plain):
                return plain
        elif keys := self.keys_of(name):
            if len(keys) == 1:
                return keys[0]
            choice = " or ".join(f'"{key}"' for key in (f"{name}#1", *keys[1:]))
            raise BadInput(
                f"question {name}: a number that {len(keys)} questions share; write {choice}, in quotes"
            )
        example, shown = next(iter(self.by_key)), repr(name) if isinstance(name, str) else name
        raise BadInput(
            f"question {brief(shown)}: not in {self.name}; give the id of one of its"
            f" {len(self.questions)} questions, such as {example}"
        )

    @cached_property
    def _keys_by_id(self) -> Mapping[int | str, tuple[str, ...]]:
        keys: dict[int | str, tuple[str, ...]] = {}
        for question in self.questions:
            keys[question.question_id] = (*keys.get(question.question_id, ()), question.key)
        return keys

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """Levels of difficulty, in the order of the tables."""
        return levels_of(question.difficulty for question in self.questions)

    @property
    def types(self) -> tuple[str, ...]:
        """Types that questions may have, in the order of the tables."""
        return self.own_types or tuple(QuestionType)

    @property
    def db_ids(self) -> tuple[str, ...]:
        """Databases of the set, in alphabetical order."""
        return tuple(sorted({*self.unasked, *(question.db_id for question in self.questions)}))

    def database(self, db_id: str, profile: Profile = Profile.OFFICIAL) -> Database:
        """Return a database of the set, with its location on each engine."""
        path = self.paths.get(db_id) or self.databases / db_id / f"{db_id}.sqlite"
        place = None
        if self.server is not None:
            place = self.server.databases.get(db_id, self.default_database), self.server.schema
        return Database(self.collection, db_id, path, profile, place, self.now)

    def require_databases(self) -> None:
        """Reject the set if a database of its questions is missing or not an SQLite file.

        Raises:
            BadInput: one is; the message names all of them.
        """
        faults = Faults(self.databases, "database")
        for db_id in self.db_ids:
            if db_id in self.faulty:
                faults.add(db_id, *self.faulty[db_id])
        faults.stop()

    @property
    def reference(self) -> Dialect:
        """The dialect in which every question has gold."""
        return Dialect.SQLITE if self.server is None else self.server.dialect

    def limit(self, count: int) -> "QuestionSet":
        """Return the first `count` questions. Prediction files are always read against the whole set.

        Raises:
            BadInput: `count` is less than 1.
        """
        if count < 1:
            raise BadInput(f"limit {count}: must be 1 or more questions")
        return subset(self, self.questions[:count])


def subset(whole: QuestionSet, questions: Sequence[Question]) -> QuestionSet:
    """Return the set with some of its questions, given in its order."""
    kept = {question.key for question in questions}
    order = {dialect: tuple(key for key in keys if key in kept) for dialect, keys in whole.order.items()}
    return replace(whole, questions=tuple(questions), order=order)


# Readers of the question and gold files of one dialect. Formats: a JSON array of questions or JSON lines
# (told apart by content), with the keys that the set's layout names; gold in lines of `SQL<TAB>db_id`.

SPIDER_LEVELS = ("easy", "medium", "hard", "extra")
"""Spider's hardness levels, in its order."""

_DB_ID = re.compile(r"\w(?:[\w -]*[\w-])?")
"""A database's name is also that of a folder and of namespaces on servers."""
_SCALES = (BIRD_LEVELS, SPIDER_LEVELS)
_LONGEST_ID = 200


@dataclass(frozen=True)
class Entry:
    """One question in one dialect's file; `key` as in `Question`.

    `difficulty` is None if no record has one, `types` if the set lists none. `is_several`: its gold is more
    than one statement.
    """

    key: str
    question_id: int | str
    db_id: str
    text: str
    evidence: str
    difficulty: str | None
    sql: str
    is_several: bool = False
    types: tuple[str, ...] | None = None


@dataclass(frozen=True)
class DialectQuestions:
    """The entries of one dialect, and how many records were skipped, by reason."""

    entries: list[Entry]
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Record:
    """A record with its file and its position there, from 0 in an array and from 1 in lines."""

    file: TextFile
    place: int
    content: dict[str, Any]


def read_questions(
    files: Sequence[TextFile],
    layout: Layout,
    dialect: Dialect,
    knowledge: Callable[[str, Sequence[Any]], str] | None = None,
    only_database: str | None = None,
) -> DialectQuestions:
    """Read the questions of one dialect in their published order.

    Args:
        files: JSON arrays of objects, or one object per line, one file after the other; keys that the layout
        does not name are ignored.
        layout: the keys of records.
        dialect: the dialect of the gold.
        knowledge: returns the text of a database's evidence that is a list.
        only_database: the database of records that name none, if there is only one.

    Raises:
        BadInput: a file does not have this format.
    """
    faults = {file.path: Faults(file.path, noun) for file, noun in ((one, _noun(one)) for one in files)}
    records = [record for file in files for record in _records(file)]
    records, left_out = _chosen_records(records, layout, dialect)
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
            if layout.is_own:
                remedy = f"{remedy}, or say ids_repeat = true in {MANIFEST} if ids may repeat"
            else:
                remedy = f"{remedy}, for this revision"
            shown = f"{record.place} (question_id {brief(entry.key)})"
            faults[record.file.path].add(shown, "an id that occurred before", remedy)
        entries.append(entry if count == 1 else replace(entry, key=f"{entry.key}#{count}"))
    for each in faults.values():
        each.stop()
    if not entries:
        gone = "".join(f", {count} left out: {why}" for why, count in left_out.items())
        refuse(files[0].path, f"holds no questions{gone}", repair(files[0]))
    return DialectQuestions(_leveled(entries, files[0], layout), left_out)


def _chosen_records(
    records: Sequence[_Record], layout: Layout, dialect: Dialect
) -> tuple[list[_Record], Mapping[str, int]]:
    """Return the records that `only` of the layout keeps, and how many it skips, by reason."""
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
    """Return the entries with their difficulties as levels of the set's scale."""
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
    """Reads one record into an entry, or finds its faults."""

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
        self._types, self._types_key = layout.types, layout.key(TYPES)
        self._wanted = [name for name in FIELDS if name in wanted]
        self._knowledge = knowledge
        self._only_database = only_database

    def problems(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield the faults of a record; take only the first, since later checks depend on earlier ones."""
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
            yield (f"{keys['difficulty']} {brief(repr(difficulty))} is not one of {', '.join(self._levels)}")
        if difficulty is not None and not str(difficulty).strip():
            yield f"{keys['difficulty']} is blank"
        if self._types:
            yield from self._type_problems(record)

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
            yield f"{key} {brief(repr(value))} is not an id of up to {_LONGEST_ID} printable characters"

    def _type_problems(self, record: Mapping[str, Any]) -> Iterator[str]:
        key = self._types_key
        if key not in record:
            yield f"no {key}"
        elif not isinstance(record[key], str | list):
            yield f"{key} is {json_type(record[key])}, not a text or a list of texts"
        else:
            wrong = (each for each in _listed(record[key]) if each not in self._types)
            yield from (f"{key} {brief(repr(one))} is not one of {', '.join(self._types)}" for one in wrong)

    def _is_texts(self, name: str, value: Any) -> bool:
        """Return True if a value has the type of its field."""
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
        """Return the entry of a valid record at this position of the set."""
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
            types=self._own_types(record) if self._types else None,
        )

    def _own_types(self, record: Mapping[str, Any]) -> tuple[str, ...]:
        named = _listed(record[self._types_key])
        return tuple(Level(each, self._types) for each in self._types if each in named)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _sql(gold: str | Sequence[str]) -> str:
    return gold if isinstance(gold, str) else "\n".join(gold)


def _is_several(sql: str) -> bool:
    """Return True if a text holds more than one statement, as SQLite itself reads it."""
    end = sql.find(";")
    while end >= 0:
        if sqlite3.complete_statement(sql[: end + 1]):
            rest = re.sub(r"--[^\n]*|/\*.*?(\*/|\Z)", "", sql[end + 1 :], flags=re.DOTALL)
            if rest.strip(" \t\r\n\f;"):
                return True
        end = sql.find(";", end + 1)
    return False


def read_gold(file: TextFile, entries: list[Entry], questions_name: str) -> list[Entry]:
    """Return the entries with the gold of a `*_gold.sql` file, which the official scripts run.

    Raises:
        BadInput: its lines are not `SQL<TAB>db_id`, one per entry and in the same order.
    """
    faults = Faults(file.path, "line")
    golds: list[tuple[str, str]] = []
    # Not splitlines(): SQL may contain the other characters that it treats as line ends.
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
    """Return the word for a record in messages."""
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

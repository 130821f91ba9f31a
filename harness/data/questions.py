"""A question set: questions with their gold, schemas and databases; read by `harness.data.sets.loading`.

A question keeps its identity where ids repeat, as two do in the first revision of Mini-Dev.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Self

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.sqltree import DatabaseSchema
from loaders.base.errors import brief
from loaders.namespace import Database
from loaders.set_manifest import SetServer


class Difficulty(StrEnum):
    """BIRD's three levels, in the order that every table shows them: those of a set that names no others."""

    SIMPLE = "simple"
    MODERATE = "moderate"
    CHALLENGING = "challenging"


BIRD_LEVELS: tuple[str, ...] = tuple(Difficulty)


class Level(str):
    """A level of difficulty by a set's own words, which knows all levels of its set in their order."""

    __slots__ = ("scale",)
    scale: tuple[str, ...]

    def __new__(cls, name: str, scale: Sequence[str]) -> Self:
        """The level `name` of the levels `scale`.

        Raises:
            ValueError: it is none of them.
        """
        if name not in scale:
            raise ValueError(f"{name!r} is none of the levels {', '.join(scale)}")
        self = super().__new__(cls, name)
        self.scale = tuple(scale)
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[str, tuple[str, ...]]]:
        """What a copy in another process is made of."""
        return type(self), (str(self), self.scale)


def level(name: str, scale: Sequence[str]) -> str:
    """The level of that name, on a scale of levels.

    Raises:
        ValueError: there is none.
    """
    return Difficulty(name) if tuple(scale) == BIRD_LEVELS else Level(name, scale)


def levels_of(difficulties: Iterable[str]) -> tuple[str, ...]:
    """The levels of the sets that difficulties are from, in the sets' order; BIRD's where none is given."""
    scales = dict.fromkeys(one.scale if isinstance(one, Level) else BIRD_LEVELS for one in difficulties)
    return tuple(dict.fromkeys(chain.from_iterable(scales))) or BIRD_LEVELS


@dataclass(frozen=True)
class Question:
    """One item of a question set.

    `key` names it within the set: the published id ("137"), or "137#2" where an id occurs a second time; the
    position where a set has no ids.
    `gold` has the published SQL of each dialect that the set publishes, SQLite's always. A gold pack may put
    another in its place, in the dialects of `corrected`, and further ones (`more_gold`): then any of them
    counts. In the dialects of `by_rows` a prediction is held against the rows of SQLite's gold, by value.
    """

    key: str
    question_id: int | str
    db_id: str
    text: str
    evidence: str
    difficulty: str
    """One of the set's levels: a `Difficulty`, or a `Level` where they are not BIRD's."""
    gold: Mapping[Dialect, str]
    more_gold: Mapping[Dialect, tuple[str, ...]] = field(default_factory=dict)
    corrected: frozenset[Dialect] = frozenset()
    by_rows: frozenset[Dialect] = frozenset()

    def each(self, dialect: Dialect) -> "tuple[Question, ...]":
        """The question with each of its golds alone, as they count in a dialect."""
        source = dialect if dialect in self.gold else Dialect.SQLITE
        if not self.more_gold.get(source):
            return (self,)
        alone = replace(self, more_gold={})
        others = (replace(alone, gold={**self.gold, source: text}) for text in self.more_gold[source])
        return alone, *others


def id_order(question_id: int | str) -> tuple[bool, int, str]:
    """What ids are sorted by: numbers as numbers, then texts as texts."""
    return (False, question_id, "") if isinstance(question_id, int) else (True, 0, question_id)


@dataclass(frozen=True)
class PackUse:
    """What a pack did to a set: what a manifest keeps of it, in numbers of questions.

    `several` are those of `corrected` in which one of several golds counts; `unchecked` those whose entry
    does not say which gold it replaces; `by_rows` those whose gold on servers is now SQLite's rows.
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
        """The pack of a run, as its manifest has it; None where the set's own golds counted."""
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
            parts.append(f"{self.by_rows} held on servers against the rows of SQLite's gold")
        return f"Gold pack {self.label}: {'; '.join(parts)}."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class QuestionSet:
    """The questions of a set with what is needed to run and score them.

    `questions` stand in SQLite's published order. `order` has the keys in the published order of each
    dialect, which positional prediction files follow; a dialect that the set doesn't publish follows
    SQLite's. `files` maps the names of the files it was read from to their sha256; `schemas` is empty where
    none are published. `paths` are the databases that are not `<db_id>/<db_id>.sqlite` below `databases`;
    `path` is the file with SQLite's questions. `notes` say what a user has to know of how the set was read,
    `own` that it does not come with bird-harness, and `profile` in which the golds for servers are
    right, None where it is the user's to say. `domains` say what databases are about, of those that are
    named; `unasked` are databases that no question is about. `server` is where the databases stand if they
    are in no files, and `standing_in` the database that its address names, once that is known.
    `questions_of` names the set whose questions these are, with other golds. `pack` is what
    a gold pack has done to the set, and `by_rows` says that the rows of SQLite's golds are gold on every
    server.
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
    standing_in: str = ""
    questions_of: str = ""
    pack: PackUse | None = None
    by_rows: bool = False

    @cached_property
    def by_key(self) -> Mapping[str, Question]:
        """The questions by their keys."""
        return {question.key: question for question in self.questions}

    def keys_of(self, question_id: int | str) -> tuple[str, ...]:
        """The keys of the questions that carry a published id: none, one, or several where ids repeat."""
        return self._keys_by_id.get(question_id, ())

    def key_of(self, name: int | str) -> str:
        """The key of the question that somebody names: a text is a key, a number is a published id.

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
        """The levels of difficulty, in the order of the tables."""
        return levels_of(question.difficulty for question in self.questions)

    @property
    def db_ids(self) -> tuple[str, ...]:
        """The databases of the set, in alphabetical order."""
        return tuple(sorted({*self.unasked, *(question.db_id for question in self.questions)}))

    def database(self, db_id: str, profile: Profile = Profile.OFFICIAL) -> Database:
        """Where a database of the set stands on each engine."""
        path = self.paths.get(db_id) or self.databases / db_id / f"{db_id}.sqlite"
        standing = None
        if self.server is not None:
            standing = self.server.databases.get(db_id, self.standing_in), self.server.schema
        return Database(self.collection, db_id, path, profile, standing)

    @property
    def reference(self) -> Dialect:
        """The dialect that every question has gold in."""
        return Dialect.SQLITE if self.server is None else self.server.dialect

    def limit(self, count: int) -> "QuestionSet":
        """The first `count` questions. Prediction files are read against the whole set, never against this.

        Raises:
            BadInput: `count` is less than 1.
        """
        if count < 1:
            raise BadInput(f"limit {count}: has to be 1 or more questions")
        return chosen(self, self.questions[:count])


def chosen(whole: QuestionSet, questions: Sequence[Question]) -> QuestionSet:
    """The set with some of its questions, which stand in its order."""
    kept = {question.key for question in questions}
    order = {dialect: tuple(key for key in keys if key in kept) for dialect, keys in whole.order.items()}
    return replace(whole, questions=tuple(questions), order=order)

"""What an evaluator scores: answers to questions of a set, and triples with gold of their own.

A `Resolver` finds the question, gold and engine of each, with the SQL that a policy takes out of it.
"""

import hashlib
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.answers import extract as taken
from harness.data.questions import Difficulty, Question, QuestionSet
from harness.engines import EngineName, dialect_of, kinds_by_name
from harness.scoring.scheduler import Candidate
from loaders.base.errors import brief
from loaders.base.files import is_text

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
    """An SQL text as an answer to a question.

    `question` is its published id (1471), or its key within the set ("1471"). Where several questions share
    an id, it must be the key: "137#1" for the first, whose key is also "137", and "137#2" for the second.
    `dialect` may be None if the evaluator has only one. The answer to a task may be a list of statements.
    """

    question: int | str
    sql: str | Sequence[str]
    dialect: EngineName | None = None


@dataclass(frozen=True)
class Triple:
    """An SQL text and the gold to compare it with, on a database: for questions outside of any set.

    `database` names a database of the evaluator. `gold` is in the dialect of the answer, unless
    `gold_dialect` is `sqlite`: then it is translated, which needs databases in profile faithful.
    `dialect` may be None if the evaluator has only one.
    """

    database: str
    gold: str
    sql: str
    dialect: EngineName | None = None
    gold_dialect: EngineName | None = None


def one_of(known: Collection[str], what: str, value: str) -> str:
    """Return a text that must be one of the known words, as a plain `str`.

    Raises:
        BadInput: it is not one of them.
    """
    if value not in known:
        raise BadInput(f"{what} {brief(repr(str(value)))}: choose from {', '.join(known)}")
    return str(value)


def check_text(where: str, what: str, value: object) -> str:
    """Return an SQL text, and refuse what is none; `where` begins the message.

    Raises:
        BadInput: it is no text, or one that UTF-8 cannot encode.
    """
    if not isinstance(value, str):
        kind = "None" if value is None else f"of type {type(value).__name__}, not text"
        raise BadInput(f"{where}: the {what} is {kind}; give the SQL text, or '' if there is none")
    if not is_text(value):
        raise BadInput(f"{where}: the {what} is not a text that UTF-8 can encode; give the SQL")
    return value


@dataclass(frozen=True)
class NoSql:
    """An answer in which a policy found no SQL, for an engine: it is wrong, and nothing is executed."""

    dialect: EngineName


def policy_of(name: Extract | str) -> Extract:
    """Return the policy of that name.

    Raises:
        BadInput: there is none.
    """
    return Extract(one_of(list(Extract), "extract", name))


class Resolver:
    """Finds the question, gold and engine of an answer; thread-safe.

    Args:
        questions: the set, or databases without questions.
        engines: the engines that answers can be for.
        profile: how the databases are loaded.
    """

    def __init__(self, questions: QuestionSet, engines: Collection[EngineName], profile: Profile) -> None:
        self._questions = questions
        self._engines = tuple(engines)
        self._profile = profile
        self._databases = frozenset(questions.db_ids)
        self._warned_keys: set[str] = set()

    def candidate(self, answer: Answer | Triple, policy: Extract) -> Candidate | NoSql:
        """Return the candidate to judge for an answer, with the SQL that a policy takes out of it.

        Raises:
            BadInput: its question, database or dialect is unknown, or it is not a text.
        """
        candidate = self._whole(answer)
        if policy is Extract.NONE:
            return candidate
        sql = taken(candidate.sql, policy, candidate.dialect).sql
        return NoSql(candidate.dialect) if sql is None else replace(candidate, sql=sql)

    def _whole(self, answer: Answer | Triple) -> Candidate:
        if isinstance(answer, Triple):
            return self._with_gold(answer)
        if not self._questions.questions:
            raise BadInput(
                f"question {brief(repr(answer.question))}: this evaluator has databases but no questions;"
                " give a Triple"
            )
        question = self._questions.by_key[self._questions.key_of(answer.question)]
        where = f"question {answer.question}"
        sql = check_text(where, "answer", answer.sql)
        if answer.question == question.key and len(self._questions.keys_of(question.question_id)) > 1:
            self._tell(question.key)
        return Candidate(question, self.dialect(where, answer.dialect), sql)

    def place(self, database: str, named: EngineName | None) -> EngineName:
        """Return the engine for a text on a database.

        Raises:
            BadInput: there is no such database or engine.
        """
        if database not in self._databases:
            some = ", ".join(sorted(self._databases)[:3])
            raise BadInput(
                f"database {brief(repr(database))}: not in {self._questions.name}, which has"
                f" {len(self._databases)} databases, such as {some}"
            )
        return self.dialect(f"database {database}", named)

    def _with_gold(self, triple: Triple) -> Candidate:
        """Return a triple as an answer to a question of its own."""
        dialect = self.place(triple.database, triple.dialect)
        where = f"database {triple.database}"
        check_text(where, "answer", triple.sql)
        check_text(where, "gold", triple.gold)
        gold_in, language = dialect_of(dialect), dialect_of(dialect)
        if triple.gold_dialect is not None:
            gold_in = dialect_of(one_of(kinds_by_name(), f"{where}: gold_dialect", triple.gold_dialect))
        if gold_in != language:
            self._check_translated(where, gold_in, language)
        digest = hashlib.sha256(f"{gold_in}\0{triple.gold}".encode()).hexdigest()
        key = f"{triple.database} {digest}"
        gold = {gold_in: triple.gold}
        return Candidate(
            Question(key, key, triple.database, "", "", Difficulty.SIMPLE, gold), dialect, triple.sql
        )

    def _check_translated(self, where: str, gold_in: Dialect, language: Dialect) -> None:
        if gold_in != Dialect.SQLITE:
            raise BadInput(
                f"{where}: gold is in {gold_in} and the answer in {language};"
                " only SQLite's gold is translated"
            )
        if self._profile != Profile.FAITHFUL:
            raise BadInput(
                f"{where}: translating gold to {language} needs databases in profile faithful;"
                " create the evaluator with profile='faithful'"
            )

    def dialect(self, where: str, named: EngineName | None) -> EngineName:
        """Return the engine that is named, or the only one.

        Raises:
            BadInput: there is no such engine, or several; `where` begins the message.
        """
        engines = self._engines
        if named is None:
            if len(engines) == 1:
                return engines[0]
            raise BadInput(f"{where}: no dialect given; choose from {', '.join(engines)}")
        dialect = one_of(kinds_by_name(), f"{where}: dialect", named)
        if dialect not in engines:
            raise BadInput(
                f"{where}: the answer is in {dialect}, but this evaluator has {', '.join(engines)};"
                " add it to dialects"
            )
        return dialect

    def _tell(self, key: str) -> None:
        """Log once that a key may be meant for another question with the same id."""
        if "#" not in key and key not in self._warned_keys:
            self._warned_keys.add(key)
            _log.warning(
                "question %r of %s is the first with this id; write %r to confirm, or %r for the next",
                key, self._questions.name, f"{key}#1", f"{key}#2",
            )  # fmt: skip

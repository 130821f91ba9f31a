"""What the library is asked to score: answers to questions of a set, and triples with their own gold."""

import hashlib
import logging
from collections.abc import Collection
from dataclasses import dataclass

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.data.questions import Difficulty, Question, QuestionSet
from harness.engines import EngineName, dialect_of, kinds_by_name
from harness.scoring.dispatch import Asked
from loaders.base.errors import brief
from loaders.base.files import is_text

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
    """An SQL text as an answer to a question.

    `question` is its published id (1471), or its key within the set ("1471"). Where several questions share
    an id, it has to be the key: "137#1" for the first, whose key is also "137", and "137#2" for the second.
    `dialect` None is the only one that the evaluator has.
    """

    question: int | str
    sql: str
    dialect: EngineName | None = None


@dataclass(frozen=True)
class Triple:
    """An SQL text beside the gold that it is held against, on a database: for questions that no set has.

    `database` is the name of one that the evaluator has. `gold` is in the dialect of the answer, unless
    `gold_dialect` is `sqlite`: then it is translated, which needs databases in profile faithful.
    `dialect` None is the only one that the evaluator has.
    """

    database: str
    gold: str
    sql: str
    dialect: EngineName | None = None
    gold_dialect: EngineName | None = None


def one_of(known: Collection[str], what: str, value: str) -> str:
    """The word of a vocabulary that a text is, as a plain one.

    Raises:
        BadInput: it is none.
    """
    if value not in known:
        raise BadInput(f"{what} {brief(repr(str(value)))}: choose from {', '.join(known)}")
    return str(value)


def _check_text(where: str, what: str, value: object) -> None:
    if not is_text(value):
        raise BadInput(f"{where}: the {what} is no text that UTF-8 can hold; give the SQL")


class Resolver:
    """Finds what an answer is about; thread-safe.

    Args:
        questions: the set, or databases without questions.
        engines: those that answers can be for.
        profile: how their databases are loaded.
    """

    def __init__(self, questions: QuestionSet, engines: Collection[EngineName], profile: Profile) -> None:
        self._questions = questions
        self._engines = tuple(engines)
        self._profile = profile
        self._databases = frozenset(questions.db_ids)
        self._told: set[str] = set()

    def asked(self, answer: Answer | Triple) -> Asked:
        """The answer as what is judged.

        Raises:
            BadInput: its question, database or dialect is not there, or it is no text.
        """
        if isinstance(answer, Triple):
            return self._with_gold(answer)
        if not self._questions.questions:
            raise BadInput(
                f"question {brief(repr(answer.question))}: this evaluator has databases and no questions;"
                " give a Triple"
            )
        question = self._questions.by_key[self._questions.key_of(answer.question)]
        where = f"question {answer.question}"
        _check_text(where, "answer", answer.sql)
        if answer.question == question.key and len(self._questions.keys_of(question.question_id)) > 1:
            self._tell(question.key)
        return Asked(question, self._dialect(where, answer.dialect), answer.sql)

    def _with_gold(self, triple: Triple) -> Asked:
        """A triple as an answer to a question that no set has."""
        if triple.database not in self._databases:
            some = ", ".join(sorted(self._databases)[:3])
            raise BadInput(
                f"database {brief(repr(triple.database))}: not in {self._questions.name}, which has"
                f" {len(self._databases)} databases, such as {some}"
            )
        where = f"database {triple.database}"
        _check_text(where, "answer", triple.sql)
        _check_text(where, "gold", triple.gold)
        dialect = self._dialect(where, triple.dialect)
        gold_in, language = dialect_of(dialect), dialect_of(dialect)
        if triple.gold_dialect is not None:
            gold_in = dialect_of(one_of(kinds_by_name(), f"{where}: gold_dialect", triple.gold_dialect))
        if gold_in != language:
            self._check_translated(where, gold_in, language)
        digest = hashlib.sha256(f"{gold_in}\0{triple.gold}".encode()).hexdigest()
        key = f"{triple.database} {digest}"
        gold = {gold_in: triple.gold}
        return Asked(
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
                f"{where}: gold is translated to {language}, which needs databases in profile faithful;"
                " make the evaluator with profile='faithful'"
            )

    def _dialect(self, where: str, named: EngineName | None) -> EngineName:
        engines = self._engines
        if named is None:
            if len(engines) == 1:
                return engines[0]
            raise BadInput(f"{where}: say in which dialect the answer is: {', '.join(engines)}")
        dialect = one_of(kinds_by_name(), f"{where}: dialect", named)
        if dialect not in engines:
            raise BadInput(
                f"{where}: the answer is in {dialect}, and this evaluator has {', '.join(engines)};"
                " name it in dialects"
            )
        return dialect

    def _tell(self, key: str) -> None:
        """Log once that a key may have been meant for another question of the same id."""
        if "#" not in key and key not in self._told:
            self._told.add(key)
            _log.warning(
                "question %r of %s is the first that has this id; write %r to say so, or %r for the next",
                key, self._questions.name, f"{key}#1", f"{key}#2",
            )  # fmt: skip

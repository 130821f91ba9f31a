r"""Readers of the two formats of prediction files.

- Official: a JSON object whose entries, keyed "0" to "n-1", follow the set's published order in the file's
  dialect; a value is SQL, `\t----- bird -----\t` and db_id.
  https://github.com/bird-bench/mini_dev#evaluation
- JSON lines: one object per line with question_id and sql, and, where the file's name or the caller doesn't
  tell, predictor and dialect; db_id is checked when it is there. One file may hold several predictors. Where
  a predictor has no answer, sql is null and reason says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from harness.benchmark import QuestionSet
from harness.readers.prediction_names import SCHEME, Label, is_predictor
from harness.readers.textfiles import (
    Faults,
    TextFile,
    is_text,
    json_type,
    parse_json,
    read_json,
    read_json_lines,
    refuse,
)
from harness.words import Dialect

SEPARATOR = "\t----- bird -----\t"

_FORM = r'write "SQL\t----- bird -----\tdb_id"'
_OTHER_SET = "use a file made for this set"
_KEYS = ("question_id", "sql", "db_id", "predictor", "dialect", "reason")
_OPTIONS = {"predictor": "--predictor", "dialect": "--dialect"}


class Format(StrEnum):
    """How a prediction file is written."""

    OFFICIAL = "official"
    LINES = "jsonl"


@dataclass(frozen=True)
class Prediction:
    """One SQL text, as it was written, by one predictor for one question in one dialect.

    `sql` is None where the file says that there is none, and `reason` then why.
    """

    key: str
    sql: str | None
    predictor: str
    dialect: Dialect
    reason: str | None = None


def read_entries(file: TextFile, questions: QuestionSet, named: Label) -> tuple[Format, list[Prediction]]:
    """Read a file in whichever of the two formats it is.

    No predictor answers a question twice in one dialect; questions may be left out.

    Raises:
        BadInput: the file or one of its entries is wrong, or it has no entries.
    """
    is_lines = _is_lines(file.text)
    entries = _read_lines(file, questions, named) if is_lines else _read_official(file, questions, named)
    if not entries:
        refuse(file.path, "holds no predictions", "write it again")
    return Format.LINES if is_lines else Format.OFFICIAL, entries


def _is_lines(text: str) -> bool:
    """Whether the first line is a JSON document and not the only one, or is a prediction."""
    first, _, rest = text.strip().partition("\n")
    try:
        document = parse_json(first)
    except ValueError:
        return False
    return bool(rest) or (isinstance(document, dict) and "question_id" in document)


def _read_official(file: TextFile, questions: QuestionSet, named: Label) -> list[Prediction]:
    content = read_json(file)
    if not isinstance(content, dict):
        refuse(file.path, f"is {json_type(content)}", 'write one JSON object with the entries "0", "1", ...')
    dialect = named.dialect or named.otherwise
    if named.predictor is None or dialect is None:
        refuse(
            file.path,
            "the name does not tell predictor and dialect",
            f"call it {SCHEME} or give --predictor and --dialect",
        )
    order = questions.order[dialect]
    positions = {str(position): position for position in range(len(order))}
    faults = Faults(file.path, "entry")
    predictions: list[Prediction] = []
    highest = -1
    for name, value in content.items():
        position = positions.get(name)
        if position is None:
            outside = f"not a position in {questions.name} (0 to {len(order) - 1})"
            faults.add(repr(name), outside, _OTHER_SET)
            continue
        if position < highest:
            faults.add(name, "out of order", "sort the entries by number: official scripts go by place")
        highest = max(highest, position)
        key = order[position]
        try:
            sql = _official_sql(value, questions.by_key[key].db_id)
        except _EntryError as error:
            faults.add(f"{name}{error.detail}", error.fault, error.remedy)
            continue
        predictions.append(Prediction(key, sql, named.predictor, dialect))
    faults.stop()
    return predictions


def _official_sql(value: Any, db_id: str) -> str:
    if not isinstance(value, str):
        raise _EntryError(f"{json_type(value)} instead of a string", _FORM)
    _check_characters(value)
    sql, *others = value.split(SEPARATOR)
    if not others:
        raise _EntryError("no separator", _FORM)
    if len(others) > 1:
        raise _EntryError("the separator more than once", _FORM)
    _check_database(others[0], db_id)
    return sql


def _read_lines(file: TextFile, questions: QuestionSet, named: Label) -> list[Prediction]:
    faults = Faults(file.path, "line")
    predictions: list[Prediction] = []
    seen: dict[tuple[str, str, Dialect], int] = {}
    for number, record in read_json_lines(file):
        try:
            prediction = _prediction(record, questions, named)
        except _EntryError as error:
            faults.add(f"{number}{error.detail}", error.fault, error.remedy)
            continue
        identity = (prediction.key, prediction.predictor, prediction.dialect)
        if identity in seen:
            again = f"{number} (question {prediction.key}, as line {seen[identity]})"
            faults.add(again, "a question that was answered before", "keep one of the answers")
        seen.setdefault(identity, number)
        predictions.append(prediction)
    faults.stop()
    return predictions


def _prediction(record: Mapping[str, Any], questions: QuestionSet, named: Label) -> Prediction:
    unknown = [repr(key) for key in record if key not in _KEYS]
    if unknown:
        raise _EntryError("unknown key", f"write only {', '.join(_KEYS)}", ", ".join(unknown))
    if "question_id" not in record or "sql" not in record:
        raise _EntryError("no question_id or no sql", "write both")
    key = _key(record["question_id"], questions)
    if record["sql"] is None and not record.get("reason"):
        raise _EntryError(
            "sql is null", "write a string, or say in reason why there is none", f"question {key}"
        )
    if record["sql"] is not None and "reason" in record:
        raise _EntryError("sql and a reason for having none", "leave one out", f"question {key}")
    for name in _KEYS[1:]:
        value = record.get(name, "") if name != "sql" or record["sql"] is not None else ""
        if not isinstance(value, str):
            raise _EntryError(f"{name} is {json_type(value)}", "write a string", f"question {key}")
        _check_characters(value)
    if "db_id" in record:
        _check_database(record["db_id"], questions.by_key[key].db_id)
    predictor = _told("predictor", record, named.predictor)
    if not is_predictor(predictor):
        remedy = "give one that prints and has no blank at its ends"
        raise _EntryError("not a predictor's name", remedy, repr(predictor))
    dialect = _told("dialect", record, named.dialect or (None if "dialect" in record else named.otherwise))
    if dialect not in list(Dialect):
        raise _EntryError("not a dialect", f"write one of {', '.join(Dialect)}", repr(dialect))
    return Prediction(key, record["sql"], predictor, Dialect(dialect), record.get("reason"))


def _key(question_id: Any, questions: QuestionSet) -> str:
    """The key of the question that a line names: by its number where that is unique, or by its key."""
    if isinstance(question_id, str) and question_id in questions.by_key:
        return question_id
    keys = questions.keys_of(question_id) if type(question_id) is int else ()
    if not keys:
        raise _EntryError(f"not a question of {questions.name}", _OTHER_SET, f"question_id {question_id!r}")
    if len(keys) > 1:
        choice = " or ".join(f'"{key}"' for key in keys)
        raise _EntryError(f"a number that {len(keys)} questions share", f"write {choice}, in quotes")
    return keys[0]


def _told(name: str, record: Mapping[str, Any], outside: str | None) -> str:
    """What the line says, or else the file's name or the caller; they must not contradict each other."""
    if name not in record:
        if outside is None:
            remedy = f"add it to the line, call the file {SCHEME} or give {_OPTIONS[name]}"
            raise _EntryError(f"no {name}", remedy)
        return outside
    said = str(record[name])
    if outside is not None and said != outside:
        contradiction = f"another {name} than the file's name or {_OPTIONS[name]} says"
        raise _EntryError(contradiction, "make them agree", f"{said}, not {outside}")
    return said


def _check_characters(text: str) -> None:
    if not is_text(text):
        raise _EntryError("half a character, a surrogate without its pair", "write the whole character")


def _check_database(given: str, db_id: str) -> None:
    if given != db_id:
        raise _EntryError("for another database", _OTHER_SET, f"{given}, not {db_id}")


class _EntryError(Exception):
    """What is wrong with one entry and what to do; `detail` is what differs from entry to entry."""

    def __init__(self, fault: str, remedy: str, detail: str = "") -> None:
        super().__init__(fault, remedy, detail)
        self.fault = fault
        self.remedy = remedy
        self.detail = f" ({detail})" if detail else ""

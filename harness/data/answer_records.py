"""The records of prediction files: which keys hold what, the same in JSON, JSON lines and CSV.

Names are compared without regard to case. A record may also be a model's response, or hold one
(`harness.data.responses`).
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from dialects.errors import BadInput
from harness.data.outcomes import USAGE
from harness.data.responses import (
    ENVELOPES,
    Response,
    SeveralAnswers,
    error_of,
    member,
    read_member,
    read_response,
)
from loaders.base.errors import brief
from loaders.base.files import is_text, json_type, parse_json

OPTION = "--keys"
NAME_KEYS = f"name their keys with {OPTION} id=KEY,sql=KEY"
WRITE_BOTH = f"write both question_id and sql, or {NAME_KEYS}"
NO_ANSWER = "the file has no answer there"
"""The reason for a missing answer, if the file gives none."""


@dataclass(frozen=True)
class RecordField:
    """What a record may say: by which keys, and what the value is.

    `option` is its name in the option `--keys`. A key of `weak` counts if no other key of the field is there:
    interfaces write ids of their own into it.
    """

    name: str
    keys: tuple[str, ...]
    value: str
    weak: tuple[str, ...] = ()

    @property
    def option(self) -> str:
        """Its name in the option."""
        return "id" if self.name == ID else self.name

    @property
    def all_keys(self) -> tuple[str, ...]:
        """Every key that may hold it."""
        return (*self.keys, *self.weak)


ID = "question_id"
SQL = "sql"
_SQL_KEYS = (
    "sql", "predicted_sql", "pred_sql", "pred_sqls", "generated_sql", "final_sql", "sql_query", "sql_code",
    "predicted", "prediction", "predictions", "pred", "answer", "query", "response", "completion", "output",
    "output_text", "generation", "generated_text", "model_output",
)  # fmt: skip

FIELDS: Mapping[str, RecordField] = {
    each.name: each
    for each in (
        RecordField(
            ID,
            ("question_id", "instance_id", "custom_id", "qid", "recordId"),
            "the question's id: a number, or its key as a text",
            weak=("id", "key"),
        ),
        RecordField(
            SQL, _SQL_KEYS, "the answer: a text, null for none, or a response as an interface returns it"
        ),
        RecordField("db_id", ("db_id",), "the question's database, which is checked"),
        RecordField(
            "predictor", ("predictor",), "who answers, unless the file's name or `--predictor` says it"
        ),
        RecordField(
            "dialect",
            ("dialect",),
            "the dialect of the answer, unless the file's name or `--dialect` says it",
        ),
        RecordField(
            "reason", ("reason",), "why there is no answer; the outcome is `missing`, and the reason is kept"
        ),
        RecordField(
            "translated_from",
            ("translated_from",),
            "the dialect in which the predictor answered, if the text is a translation",
        ),
        *(
            RecordField(
                name,
                (name,),
                f"{'a whole number' if name.endswith('tokens') else 'a number'}, 0 or more; null if unknown",
            )
            for name in USAGE
        ),
    )
}
"""Everything that a record may say, by name. The reference's table is written from it."""

_BY_KEY = {key.casefold(): each for each in FIELDS.values() for key in each.all_keys}
_OF_RESPONSES = frozenset(name.casefold() for name in ENVELOPES)
_GOLD_KEYS = ("SQL", "query", "sql_query")
"""Keys of a question's gold in published sets, if the record has the question's text, too."""
_QUESTION = "question"
_CLOSE = 0.85
"""As similar as `dialekt` is to `dialect`, and more than `question` is to `question_id`."""


_TEXTS = (SQL, "db_id", "predictor", "dialect", "reason", "translated_from")
_NUMBERED = re.compile(r"[A-Za-z]{1,20}+[ _:#-]{0,2}+\d{1,18}+")
_WHOLE_NUMBER = re.compile(r"(?P<number>\d{1,18}+)\.0++")


class RecordError(Exception):
    """The fault of one record and the remedy; `detail` is specific to the record."""

    def __init__(self, fault: str, remedy: str, detail: str = "") -> None:
        super().__init__(fault, remedy, detail)
        self.fault = fault
        self.remedy = remedy
        self.detail = f" ({detail})" if detail else ""


def parse_keys(text: str) -> Sequence[str]:
    """Parse `FIELD=KEY` with commas between several: the keys of a user's own files.

    Raises:
        BadInput: a field is unknown or named twice, or a key is missing or used twice.
    """
    parts = [part.strip() for part in text.split(",")]
    options = [each.option for each in FIELDS.values()]
    named: dict[str, str] = {}
    for part in parts:
        name, _, key = (each.strip() for each in part.partition("="))
        name = FIELDS[name].option if name in FIELDS else name
        if not key:
            raise BadInput(
                f"{OPTION} {brief(text)}: {brief(part)!r} names no key; write {OPTION} id=KEY,sql=KEY"
            )
        if name not in options:
            raise BadInput(
                f"{OPTION} {brief(text)}: {brief(name)!r} is not a field; choose from {', '.join(options)}"
            )
        if name in named or key in named.values():
            raise BadInput(
                f"{OPTION} {brief(text)}: {brief(part)!r} names a field or a key again; name each once"
            )
        named[name] = key
    return [f"{name}={key}" for name, key in named.items()]


@dataclass(frozen=True)
class RecordKeys:
    """How the records of a file are read: `by_field` are the keys that the user gives."""

    by_field: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Sequence[str]) -> "RecordKeys":
        """Return the keys that `parse_keys` has parsed."""
        pairs = (text.partition("=") for text in texts)
        return cls({ID if name == "id" else name: key for name, _, key in pairs})

    def without_id(self) -> "RecordKeys":
        """Return the same for records whose id is elsewhere."""
        return RecordKeys({name: key for name, key in self.by_field.items() if name != ID})

    def columns(self, name: str, head: Iterable[str]) -> list[str]:
        """Return the columns of a table that hold a field."""
        if name in self.by_field:
            return [column for column in head if column == self.by_field[name]]
        return [column for column in head if column.casefold() in _folded_keys(name)]

    def of_cells(self, cells: Mapping[str, str]) -> dict[str, Any]:
        """Return the row of a table as a record: a blank cell of an answer is None, others are left out."""
        record: dict[str, Any] = {name: cell for name, cell in cells.items() if cell.strip()}
        answers = self.columns(SQL, cells)
        if record.keys().isdisjoint(answers):
            record = {self.by_field.get("reason", "reason"): NO_ANSWER} | record
        else:
            for name in self.columns("reason", record):
                del record[name]
        for name in (name for each in USAGE for name in self.columns(each, record)):
            with suppress(ValueError):
                record[name] = parse_json(record[name])
        record |= {name: record[name].strip() for name in self.columns(ID, record)}
        return record | {name: cells[name] if cells[name].strip() else None for name in answers}

    def is_record(self, content: Mapping[str, Any]) -> bool:
        """True if a JSON object is a record, and not answers by their questions."""
        keys = {key.casefold() for key in content}
        is_named = any(self._named(content, name)[0] for name in self.by_field)
        return is_named or not keys.isdisjoint(_folded_keys(ID) | _folded_keys(SQL) | _OF_RESPONSES)

    def read(self, content: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return what a record says, by field, and the keys that are not read.

        The SQL is a text or None. A record without an id is one of a file in the set's order.

        Raises:
            RecordError: it has no answer, several that differ, or a key that is probably misspelt.
        """
        if isinstance(content, list):
            content = {SQL: content}
        if not isinstance(content, dict):
            raise RecordError(f"{json_type(content)} instead of an object", "write only objects")
        found: dict[str, Any] = {}
        for each in FIELDS.values():
            if each.name != SQL:
                found |= self._one(each, content)
        found |= self._answer(content)
        return found, self._unread(content)

    def other_order(self, contents: Sequence[Any], order: Sequence[str]) -> str | None:
        """Return a key by which records without ids are in another order than a set's, if there is one.

        Such a key holds the ids of the set, or counts its questions from 0 or 1.
        """
        size = len(order)
        countings = (set(order), set(map(str, range(size))), set(map(str, range(1, size + 1))))
        objects = [content for content in contents if isinstance(content, dict)]
        for key in objects[0] if objects else ():
            values = [str(content.get(str(key))) for content in objects]
            is_counted = set(values) in countings and len(values) == size
            grows = all(map(str.isdecimal, values)) and values == sorted(values, key=int)
            in_order = values == list(order) if set(values) == countings[0] else grows
            if is_counted and not in_order and key.casefold() not in _BY_KEY:
                return str(key)
        return None

    def _values(self, each: RecordField, record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the keys of a record that hold a field, and their values."""
        if each.name in self.by_field:
            is_there, value = self._named(record, each.name)
            if is_there:
                yield self.by_field[each.name], value
            return
        found = [(key, value) for key, value in record.items() if key.casefold() in _folded_keys(each.name)]
        weak = {key.casefold() for key in each.weak}
        strong = [(key, value) for key, value in found if key.casefold() not in weak]
        if strong or not (isinstance(record.get("object"), str) or record.get("type") == "message"):
            yield from strong or found

    def _named(self, record: Mapping[str, Any], name: str) -> tuple[bool, Any]:
        """Return whether a record has the user's key of a field, and its value; dots lead into objects."""
        key = self.by_field[name]
        if key in record:
            return True, record[key]
        steps = [int(step) if step.isdecimal() else step for step in key.split(".")]
        within = member(record, *steps[:-1])
        is_there = isinstance(within, dict) and steps[-1] in within
        value = member(within, steps[-1])
        return is_there or value is not None, value

    def _one(self, each: RecordField, record: Mapping[str, Any]) -> dict[str, Any]:
        values = list(self._values(each, record))
        if len({str(value) for _, value in values}) > 1:
            named = ", ".join(f"{key} {brief(repr(value))}" for key, value in values)
            raise RecordError(
                f"several values for {each.option} that differ",
                f"name the key that counts with {OPTION} {each.option}=KEY",
                named,
            )
        return {each.name: values[0][1]} if values else {}

    def _answer(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the SQL of a record, and why there is none if the record says it."""
        answers = {key: _text_of(record, key, value) for key, value in self._values(FIELDS[SQL], record)}
        if SQL not in self.by_field:
            for name in ENVELOPES:
                if name not in answers and (response := _response(record, name)) is not None:
                    answers[name] = response
        if not answers:
            if (error := error_of(record)) is not None:
                return {SQL: None, "reason": error}
            key = self.by_field.get(SQL, SQL)
            raise RecordError(f"no {key}", WRITE_BOTH)
        if len({response.text for response in answers.values()}) > 1:
            raise RecordError(
                "several answers that differ",
                f"name the key that counts, such as {OPTION} sql={next(iter(answers))}",
                ", ".join(answers),
            )
        self._refuse_gold(record, answers)
        response = next((each for each in answers.values() if each.fault), next(iter(answers.values())))
        if response.text is not None:
            return {SQL: response.text}
        reason = response.fault or error_of(record)
        return {SQL: None} | ({"reason": reason} if reason else {})

    def _refuse_gold(self, record: Mapping[str, Any], answers: Mapping[str, Response]) -> None:
        if (
            SQL not in self.by_field
            and any(key.casefold() == _QUESTION for key in record)
            and set(answers) <= set(_GOLD_KEYS)
        ):
            key = next(iter(answers))
            raise RecordError(
                f"{key} beside the question's text, which is the question's gold in published sets",
                f"name the key of the answer, {OPTION} sql={key} if it is that one",
            )

    def _unread(self, record: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the keys of a record that are not read, except those of a response."""
        if not _OF_RESPONSES.isdisjoint(key.casefold() for key in record):
            return ()
        named = {key.partition(".")[0] for key in self.by_field.values()} | set(self.by_field.values())
        others = [key for key in record if key not in named and key.casefold() not in _BY_KEY]
        names = [
            name.casefold()
            for each in FIELDS.values()
            for name in each.all_keys
            if each.name not in self.by_field
        ]
        for key in others:
            if close := get_close_matches(key.casefold(), names, 1, _CLOSE):
                remedy = f"write {close[0]}, or another name if something else is meant"
                raise RecordError("a key that is nearly a known one", remedy, repr(brief(key)))
        return tuple(others)


def whole_number(question_id: Any, known: Container[str]) -> Any:
    """Return an id that a table of numbers has written as a fraction, 7.0, as the whole number it is."""
    if isinstance(question_id, float) and question_id.is_integer():
        return int(question_id)
    if isinstance(question_id, str) and question_id not in known:
        found = _WHOLE_NUMBER.fullmatch(question_id.strip())
        return found["number"] if found else question_id
    return question_id


def remedy_for_id(question_id: Any) -> str | None:
    """Return what to do about an id that no question has, if it is a number with words before it."""
    is_numbered = isinstance(question_id, str) and _NUMBERED.fullmatch(question_id.strip())
    return "write the number alone if it is the question's id" if is_numbered else None


def check_texts(record: Mapping[str, Any], key: str) -> None:
    """Check the texts of a record about a question.

    Raises:
        RecordError: one is no text, or there is neither SQL nor a reason, or both.
    """
    if record["sql"] is None and not record.get("reason"):
        raise RecordError(
            "sql is null", "write a string, or say in reason why there is none", f"question {key}"
        )
    if record["sql"] is not None and "reason" in record:
        raise RecordError("sql and a reason for having none", "omit one", f"question {key}")
    for name in _TEXTS:
        value = record.get(name, "") if name != SQL or record[SQL] is not None else ""
        if not isinstance(value, str):
            raise RecordError(f"{name} is {json_type(value)}", "write a string", f"question {key}")
        check_characters(value)


def check_characters(text: str) -> None:
    """Check that UTF-8 can encode a text.

    Raises:
        RecordError: it cannot.
    """
    if not is_text(text):
        raise RecordError("half a character, a surrogate without its pair", "write the whole character")


def _folded_keys(name: str) -> frozenset[str]:
    return frozenset(key.casefold() for key in FIELDS[name].all_keys)


def _text_of(record: Mapping[str, Any], key: str, value: Any) -> Response:
    """Return the answer that the value of a key is."""
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        if len(set(value)) > 1:
            raise _several(key, SeveralAnswers(f"{len(value)} answers that differ"))
        value = value[0]
    response = Response(value) if value is None or isinstance(value, str) else _response(record, key, value)
    if response is None:
        remedy = f"write a string or a response, or name the key of a string with {OPTION} sql=KEY.KEY"
        raise RecordError(f"{key} is {json_type(value)}", remedy)
    return response


def _response(record: Mapping[str, Any], key: str, value: Any = None) -> Response | None:
    """Return the response that a member of a record makes of it, or is itself."""
    try:
        found = read_member(record, key) if key in ENVELOPES else None
        return found or read_response(value)
    except SeveralAnswers as several:
        raise _several(key, several) from None


def _several(key: str, several: SeveralAnswers) -> RecordError:
    return RecordError(f"{key} has {several}", "keep one, or write a file for each sample")

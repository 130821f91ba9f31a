r"""Readers of the formats of prediction files.

- Official: a JSON object whose entries, keyed "0" to "n-1", follow the set's published order in the file's
  dialect; a value is SQL, `\t----- bird -----\t` and db_id.
  https://github.com/bird-bench/mini_dev#evaluation
- A JSON object keyed by ids of questions: a value is SQL, as above or without its database, or a record.
- JSON lines: a record in each line; `harness.data.answer_records` has the keys. One file may hold several
  predictors. Records without ids are in the set's order. If a predictor has no answer, sql is null and reason
  says why. translated_from is the dialect of the predictor's own answer, of which the text is a translation.
  prompt_tokens, completion_tokens, seconds and cost are the usage of the answer.
- A JSON array of records; or of SQL texts, one for each question in the set's published order.
- One SQL text per line (`.sql`, `.txt`), for each question in the set's order, as Spider's evaluation reads
  it: https://github.com/taoyds/spider#evaluation. The database may follow a tab; a blank line is no answer.
  Or as many statements of several lines, each with its semicolon.
- CSV (`.csv`), or the same with tabs (`.tsv`), with a header: a record in each row.

The records of a JSON object may be in a member of it, such as `{"model": "m", "predictions": [...]}`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from harness.data.answer_records import (
    ID,
    NAME_KEYS,
    NO_ANSWER,
    OPTION,
    SQL,
    WRITE_BOTH,
    RecordError,
    RecordKeys,
    check_characters,
    check_texts,
    remedy_for_id,
    whole_number,
)
from harness.data.answers.statements import statements_of
from harness.data.outcomes import AnswerUsage
from harness.data.questions import QuestionSet
from harness.data.set_manifest import LAYOUTS
from harness.engines import EngineName, dialect_of, kinds_by_name
from loaders.base.errors import brief
from loaders.base.files import (
    Faults,
    TextFile,
    json_type,
    parse_json,
    read_json,
    read_json_lines,
    read_table,
    refuse,
)
from loaders.base.records import RecordFault

ANSWERS = "answers.jsonl"
JOURNAL = "journal.jsonl"
MANIFEST = "manifest.json"
PREDICTIONS = "predictions"
"""Contents of the folder of `bird-harness lab predict`; the last holds the prediction files."""

SCHEME = "predict_<set>_<predictor>_<dialect>.json"

# Names of prediction files: `predict_<set>_<predictor>_<dialect>.json` or `.jsonl`. Published files also end
# in `_mysqljson.json` and `_cot_SQLite.json`. The set is checked, because a positional file of one revision
# of Mini-Dev read against the other would silently be scored wrongly.
_NAME = re.compile(
    r"predict_(?P<rest>.+)_(?P<dialect>[a-z0-9]+?)(?:json)?\.(?:jsonl?|sql|txt|csv|tsv)",
    flags=re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Label:
    """Predictor and dialect of a file, as far as its name or the caller gives them.

    `otherwise` is the dialect if nothing else names it: the only one requested.
    """

    predictor: str | None
    dialect: EngineName | None
    otherwise: EngineName | None


def label(
    path: Path, set_name: str, predictor: str | None, only: EngineName | None, same_as: str = ""
) -> Label:
    """Return the label of a file: from its name, and otherwise from the caller.

    Args:
        path: the file.
        set_name: the question set that it is read for.
        predictor: the predictor that the caller gives; it overrides the name's.
        only: the requested dialect if there is only one.
        same_as: another set with the same questions, whose files are accepted, too.

    Raises:
        BadInput: `predictor`, or its part of the file's name, is not a valid name; or the file is named for
        another question set and the caller has not given both predictor and dialect.
    """
    if predictor is not None and not is_predictor(predictor):
        refuse(path, f"--predictor {predictor!r} is not a name", "give a printable one without outer blanks")
    match = _NAME.fullmatch(path.name)
    named = None if match is None else _set_of(match["rest"], set_name, same_as)
    if match is None or named is None or match["dialect"].lower() not in kinds_by_name():
        # Such as `predict_dev_chatgpt.json`, published by BIRD: its name has the predictor, but no dialect.
        return Label(predictor or _predictor_alone(path, set_name), None, only)
    found = match["rest"][len(named) + 1 :]
    if predictor is None and not is_predictor(found):
        refuse(
            path,
            f"its name calls the predictor {found!r}, which is not a valid name",
            "rename the file, or give --predictor with a printable name without outer blanks",
        )
    lacking = options_for(predictor, only)
    if named.lower() not in {set_name.lower(), same_as.lower()} and lacking:
        refuse(
            path,
            f"named for question set {named}, not {set_name}",
            f"choose that set, or give {lacking} if the file was made for this one",
        )
    return Label(predictor or found, match["dialect"].lower(), only)


def _predictor_alone(path: Path, set_name: str) -> str | None:
    """Return the predictor of a name `predict_<set>_<predictor>` for the set, if it is one."""
    stem, start = path.stem, f"predict_{set_name}_"
    found = stem[len(start) :] if stem.lower().startswith(start.lower()) else ""
    return found if is_predictor(found) else None


def is_named(path: Path) -> bool:
    """True if a file's name follows the scheme for predictions."""
    match = _NAME.fullmatch(path.name)
    return match is not None and match["dialect"].lower() in kinds_by_name()


def _set_of(rest: str, set_name: str, same_as: str) -> str | None:
    """Return the set that a name begins with: the requested one, or one that comes with bird-harness."""
    sets = sorted({*LAYOUTS, set_name, same_as} - {""}, key=len, reverse=True)
    length = next((len(name) for name in sets if rest.lower().startswith(f"{name.lower()}_")), None)
    return None if length is None or len(rest) == length + 1 else rest[:length]


def options_for(predictor: str | None, dialect: EngineName | None) -> str:
    """Return the options that would give what is missing."""
    told = {"--predictor": predictor, "--dialect": dialect}
    return " and ".join(option for option, value in told.items() if value is None)


def is_predictor(name: str) -> bool:
    """True if a predictor may have this name: printable, without outer blanks."""
    return bool(name) and name.isprintable() and name == name.strip()


SEPARATOR = "\t----- bird -----\t"

_FORM = r'write "SQL\t----- bird -----\tdb_id"'
_OTHER_SET = "use a file made for this set"
_READ = (
    'use a JSON object with the entries "0", "1", ...; JSON lines with question_id and sql; a'
    " JSON array of such objects, or of SQL texts; one SQL text per line (.sql, .txt); or CSV (.csv, .tsv)"
    " (docs/reference/file-formats.md)"
)
_SHOWN = 200
"""Maximum characters of keys in a note."""
_SOMETHING = re.compile(rb"\S")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_WRAPPERS = (
    "predictions", "results", "answers", "responses", "outputs", "data", "records", "items", "samples",
    "questions", "instances", "generations", "completions",
)  # fmt: skip
"""Members of a JSON object that may hold its records, or its answers."""
_OPTIONS = {"predictor": "--predictor", "dialect": "--dialect"}


class Format(StrEnum):
    """How a prediction file is written."""

    OFFICIAL = "official"
    LINES = "jsonl"
    KEYED = "keyed"
    """A JSON object keyed by ids of questions."""
    ARRAY = "array"
    """A JSON array of objects or of SQL texts."""
    TEXT = "text"
    """One SQL text a line."""
    CSV = "csv"


@dataclass(frozen=True)
class Prediction:
    """One SQL text, as written, by one predictor for one question in one dialect.

    `sql` is None if the file says that there is none; `reason` says why. `translated_from` is the dialect of
    the predictor's own answer, of which this is a translation. `usage` is the answer's, as far as the file
    has it.
    """

    key: str
    sql: str | None
    predictor: str
    dialect: EngineName
    reason: str | None = None
    translated_from: EngineName | None = None
    usage: AnswerUsage = field(default_factory=AnswerUsage)


@dataclass(frozen=True)
class Entries:
    """The content of a prediction file.

    `shared_ids` are ids that several questions share and that were assigned in order. `notes` tell the
    user how it was read.
    """

    format: Format
    predictions: Sequence[Prediction]
    shared_ids: Sequence[int | str] = ()
    notes: Sequence[str] = ()


def read_entries(file: TextFile, questions: QuestionSet, named: Label, keys: RecordKeys) -> Entries:
    """Read a file in any of the formats.

    No predictor answers a question twice in one dialect; questions may be missing.

    Args:
        file: the file.
        questions: the whole set.
        named: predictor and dialect, as far as they are known.
        keys: how records are read.

    Raises:
        BadInput: the file or one of its entries is wrong, or it has no entries.
    """
    reader = _Reader(file, questions, named, keys)
    kind = file.path.suffix.lower()
    if kind in {".sql", ".txt"}:
        return reader.texts()
    if kind in _SEPARATORS:
        return reader.table(_SEPARATORS[kind])
    start = file.encoded.lstrip()[:1]
    if start not in {b"{", b"["}:
        refuse(file.path, f"not JSON: it begins with {brief(next(file.lines()), 20)!r}", _READ)
    first, rest = _first_line(file)
    whole = first if first is not None and not rest else None
    if whole is None and start == b"{" and not isinstance(first, dict):
        whole = read_json(file)
    inner = reader.unwrapped(whole) if isinstance(whole, dict) else None
    if inner is not None:
        name, content = inner
        found = reader.array(content) if isinstance(content, list) else reader.object(content)
        found = replace(found, notes=(f"its entries are in {name}", *found.notes))
    elif start == b"{" and isinstance(first, dict) and (rest or keys.is_record(first)):
        found = reader.records(Format.LINES, read_json_lines(file), "line")
    else:
        content = read_json(file) if whole is None else whole
        if isinstance(content, list):
            found = reader.array(content)
        elif keys.is_record(content):
            found = reader.records(Format.ARRAY, [(0, content)], "entry")
        else:
            found = reader.object(content)
    if not found.predictions:
        refuse(file.path, "holds no predictions", "write it again")
    return found


def _first_line(file: TextFile) -> tuple[Any, bool]:
    """Return the first line's JSON document, None if it is not JSON, and whether there are more lines."""
    text = file.encoded.lstrip()
    end = text.find(b"\n")
    rest = end >= 0 and _SOMETHING.search(text, end) is not None
    try:
        return parse_json(text[: end if end >= 0 else None].decode()), rest
    except ValueError:
        return None, rest


@contextmanager
def _noted(faults: Faults, place: int | str) -> Iterator[None]:
    """Add the fault of a record, which ends the block, to those of its file."""
    try:
        yield
    except RecordError as error:
        faults.add(f"{place}{error.detail}", error.fault, error.remedy)


@dataclass(frozen=True)
class _Reader:
    """Reads one file for a question set."""

    file: TextFile
    questions: QuestionSet
    label: Label
    keys: RecordKeys

    def _whole(self) -> tuple[str, EngineName, Sequence[str]]:
        """Return predictor, dialect and order of the questions of a file whose content does not name them."""
        path, named = self.file.path, self.label
        dialect = named.dialect or named.otherwise
        if named.predictor is None or dialect is None:
            untold = {"predictor": named.predictor, "dialect": dialect}
            refuse(
                path,
                f"its {' and '.join(name for name, value in untold.items() if value is None)} is unknown",
                f"call it {SCHEME}, or give {options_for(named.predictor, dialect)}",
            )
        return named.predictor, dialect, self.questions.order[dialect_of(dialect)]

    def _refuse_keys(self) -> None:
        if self.keys.by_field:
            refuse(self.file.path, f"has no records, so that {OPTION} names nothing in it", f"omit {OPTION}")

    def unwrapped(self, content: Mapping[str, Any]) -> tuple[str, Any] | None:
        """Return the member of a JSON object that holds all records or answers, and its name; None if none.

        Records with ids, answers by ids, or as many texts as the set has questions.
        """
        if any(self.keys.columns(ID, content)):
            return None
        found = [(name, content[name]) for name in _WRAPPERS if self._is_wrapped(content.get(name))]
        return found[0] if len(found) == 1 else None

    def _is_wrapped(self, content: Any) -> bool:
        if isinstance(content, dict):
            return bool(content) and content.keys() <= self.questions.by_key.keys()
        if not isinstance(content, list) or not content:
            return False
        if all(one is None or isinstance(one, str) for one in content):
            return len(content) == len(self.questions.questions) > 1
        return all(isinstance(one, dict) and self.keys.columns(ID, one) for one in content)

    def array(self, content: list[Any]) -> Entries:
        """Read a JSON array: of records, or of SQL texts."""
        if not any(isinstance(one, str) for one in content):
            return self.records(Format.ARRAY, list(enumerate(content)), "entry")
        self._refuse_keys()
        path, questions = self.file.path, self.questions
        predictor, dialect, order = self._whole()
        if len(content) != len(order):
            texts = f"it has {len(content)} texts, but {questions.name} has {len(order)} questions"
            refuse(path, texts, "write one for each question, in their order, null where there is none")
        faults = Faults(path, "entry")
        predictions: list[Prediction] = []
        for position, (key, value) in enumerate(zip(order, content, strict=True)):
            if value is None:
                continue
            with _noted(faults, position):
                sql = _text_sql(value, questions.by_key[key].db_id)
                predictions.append(Prediction(key, sql, predictor, dialect))
        faults.stop()
        return Entries(Format.ARRAY, predictions)

    def texts(self) -> Entries:
        """Read one SQL text per line."""
        self._refuse_keys()
        path, questions = self.file.path, self.questions
        predictor, dialect, order = self._whole()
        lines = [line.removesuffix("\r") for line in self.file.lines()]
        while lines and not lines[-1].strip():
            del lines[-1]
        texts = statements_of(self.file.text, dialect)
        if len(lines) != len(order) == len(texts):
            notes = ["its statements are taken in the order of the questions, one for each"]
            answers = zip(order, texts, strict=True)
            return Entries(
                Format.TEXT, [Prediction(key, sql, predictor, dialect) for key, sql in answers], (), notes
            )
        if len(lines) != len(order):
            remedy = (
                "write one SQL text per line, in the order of the questions; an empty line is no answer. Or"
                " write a statement for each, with a semicolon at its end"
            )
            refuse(
                path,
                f"it has {len(lines)} lines and {len(texts)} statements, but {questions.name} has"
                f" {len(order)} questions",
                remedy,
            )
        faults = Faults(path, "line")
        predictions: list[Prediction] = []
        known = {db_id.casefold() for db_id in questions.db_ids}
        for number, (key, line) in enumerate(zip(order, lines, strict=True), start=1):
            sql, tab, db_id = line.rpartition("\t")
            db_id = db_id.strip()
            if not tab or db_id.casefold() not in known:
                sql = line
            elif db_id.casefold() != questions.by_key[key].db_id.casefold():
                another = f"{number} ({db_id}, not {questions.by_key[key].db_id})"
                faults.add(another, "for another database", _OTHER_SET)
            answer = sql.strip() or None
            predictions.append(Prediction(key, answer, predictor, dialect, None if answer else NO_ANSWER))
        faults.stop()
        return Entries(Format.TEXT, predictions)

    def table(self, separator: str) -> Entries:
        """Read the rows of a CSV file as records."""
        head, rows = read_table(self.file, separator)
        if not self.keys.columns(SQL, head):
            remedy = f"call one sql, and one question_id, or {NAME_KEYS}"
            refuse(self.file.path, f"its header ({brief(', '.join(head))}) has no column of answers", remedy)
        records = [(line, self.keys.of_cells(cells)) for line, cells in rows]
        return self.records(Format.CSV, records, "line")

    def object(self, content: Any) -> Entries:
        """Read a JSON object: in the official format, or keyed by ids."""
        if not isinstance(content, dict):
            refuse(self.file.path, f"is {json_type(content)}", _READ)
        if self._is_keyed(content):
            return self._keyed(content)
        self._refuse_keys()
        return self._official(content)

    def _is_keyed(self, content: Mapping[str, Any]) -> bool:
        """Return True if the keys are ids of questions, False if they are positions in the set.

        Raises:
            BadInput: they may be either, and mean different questions.
        """
        name, by_key = self.questions.name, self.questions.by_key
        dialect = self.label.dialect or self.label.otherwise
        order = self.questions.order[Dialect.SQLITE if dialect is None else dialect_of(dialect)]
        at = {str(position): key for position, key in enumerate(order)}
        strangers_by_id = sum(key not in by_key for key in content)
        strangers_by_place = sum(key not in at for key in content)
        if strangers_by_id or strangers_by_place:
            return strangers_by_id < strangers_by_place

        def fits(keys: Mapping[str, str]) -> bool:
            """True if no answer is for another database."""
            said = ((by_key[keys[key]].db_id, _database_of(value)) for key, value in content.items())
            return all(db_id == named for db_id, named in said if named is not None)

        if all(at[key] == key for key in content):
            return not all(_is_official(value) for value in content.values())
        is_by_id, is_by_place = fits({key: key for key in content}), fits(at)
        if is_by_id and is_by_place:
            refuse(
                self.file.path,
                f"its keys may be positions in {name} or ids of questions, and these differ",
                "write JSON lines with question_id and sql",
            )
        return is_by_id

    def _keyed(self, content: Mapping[str, Any]) -> Entries:
        reader = replace(self, keys=self.keys.without_id())
        faults = Faults(self.file.path, "entry")
        records: list[tuple[str, Any]] = []
        by_key = self.questions.by_key
        for key, value in content.items():
            if value is None or _is_no_answer(value):
                continue
            record = value if isinstance(value, dict) and reader.keys.is_record(value) else {SQL: value}
            with _noted(faults, key):
                if isinstance(value, str) and key in by_key:
                    record = {SQL: _text_sql(value, by_key[key].db_id)}
                _check_id(record, key)
                records.append((key, {**record, ID: key}))
        faults.stop()
        return reader.records(Format.KEYED, records, "entry")

    def _official(self, content: Mapping[str, Any]) -> Entries:
        questions = self.questions
        predictor, dialect, order = self._whole()
        positions = {str(position): position for position in range(len(order))}
        faults = Faults(self.file.path, "entry")
        predictions: list[Prediction] = []
        highest = -1
        for name, value in content.items():
            position = positions.get(name)
            if position is None:
                outside = f"not a position in {questions.name} (0 to {len(order) - 1})"
                faults.add(repr(name), outside, remedy_for_id(name) or _OTHER_SET)
                continue
            if position < highest:
                remedy = "sort the entries by number: official scripts go by place"
                faults.add(name, "out of order", remedy)
            highest = max(highest, position)
            key = order[position]
            if _is_no_answer(value):
                predictions.append(Prediction(key, None, predictor, dialect, NO_ANSWER))
                continue
            with _noted(faults, name):
                sql = _official_sql(value, questions.by_key[key].db_id)
                predictions.append(Prediction(key, sql, predictor, dialect))
        faults.stop()
        return Entries(Format.OFFICIAL, predictions)

    def records(self, form: Format, records: Iterable[tuple[int | str, Any]], noun: str) -> Entries:
        """Read records, by their numbers in the file."""
        questions = self.questions
        if not self.keys.by_field and self.file.sha256 in questions.files.values():
            another = f"is a file of {questions.name} itself, whose SQL is gold"
            refuse(self.file.path, another, f"name a file of answers, or {NAME_KEYS} to score it")
        faults = Faults(self.file.path, noun)
        read: list[tuple[int | str, dict[str, Any]]] = []
        contents: list[Any] = []
        unread: dict[str, None] = {}
        for number, content in records:
            with _noted(faults, number):
                record, others = self.keys.read(content)
                if ID in record:
                    record[ID] = whole_number(record[ID], questions.by_key)
                read.append((number, record))
                contents.append(content)
                unread |= dict.fromkeys(others)
        notes = [f"keys that are not read: {brief(', '.join(unread), _SHOWN)}"] if unread else []
        if read and not any(ID in record for _, record in read):
            faults.stop()
            self._add_ids(read, contents, noun)
            notes.append(f"has no ids, so it is taken in the order of {questions.name}")
        predictions: list[Prediction] = []
        seen: dict[tuple[str, str, EngineName], int | str] = {}
        keys, taken = _in_order(read, questions)
        for number, record in read:
            with _noted(faults, number):
                prediction = _prediction(record, questions, self.label, keys.get(number))
                identity = (prediction.key, prediction.predictor, prediction.dialect)
                if identity in seen:
                    again = f"{number} (question {prediction.key}, as {noun} {seen[identity]})"
                    faults.add(again, "a question that was answered before", "keep one of the answers")
                seen.setdefault(identity, number)
                predictions.append(prediction)
        faults.stop()
        return Entries(form, predictions, taken, notes)

    def _add_ids(
        self, records: Sequence[tuple[int | str, dict[str, Any]]], contents: Sequence[Any], noun: str
    ) -> None:
        """Give records without ids those of the questions, in the set's order."""
        dialect = self.label.dialect or str(records[0][1].get("dialect", self.label.otherwise))
        order = self.questions.order[dialect_of(dialect if dialect in kinds_by_name() else Dialect.SQLITE)]
        if len(records) != len(order):
            nouns = noun if len(records) == 1 else {"entry": "entries"}.get(noun, f"{noun}s")
            refuse(
                self.file.path,
                f"has {len(records)} {nouns} without ids, and {self.questions.name} {len(order)} questions",
                f"add question_id, {NAME_KEYS}, or write one for each question in their order",
            )
        if (key := self.keys.other_order(contents, order)) is not None:
            remedy = f"name it with {OPTION} id={key}, or remove it"
            refuse(self.file.path, f"has no known ids, and {brief(key)} may be one in another order", remedy)
        for (_, record), key in zip(records, order, strict=True):
            record[ID] = key


def _text_sql(value: Any, db_id: str) -> str:
    if not isinstance(value, str):
        raise RecordError(f"{json_type(value)} among texts", "write only SQL texts, or only objects")
    if SEPARATOR in value:
        return _official_sql(value, db_id)
    check_characters(value)
    return value


def _check_id(record: Mapping[str, Any], key: str) -> None:
    if str(record.get(ID, key)) != key:
        raise RecordError("for another question", "make its key and question_id agree", str(record[ID]))


def _is_no_answer(value: Any) -> bool:
    """True for the number 0, which published files have in place of a missing answer."""
    return type(value) is int and value == 0


def _is_official(value: Any) -> bool:
    return _is_no_answer(value) or (isinstance(value, str) and SEPARATOR in value)


def _database_of(value: Any) -> str | None:
    """Return the database that an answer names."""
    if isinstance(value, str) and SEPARATOR in value:
        return value.rpartition(SEPARATOR)[2]
    named = value.get("db_id") if isinstance(value, dict) else None
    return named if isinstance(named, str) else None


def _official_sql(value: Any, db_id: str) -> str:
    if not isinstance(value, str):
        raise RecordError(f"{json_type(value)} instead of a string", _FORM)
    check_characters(value)
    sql, *others = value.split(SEPARATOR)
    if not others:
        raise RecordError("no separator", _FORM)
    if len(others) > 1:
        raise RecordError("the separator more than once", _FORM)
    _check_database(others[0], db_id)
    return sql


def _in_order(
    records: Sequence[tuple[int | str, Mapping[str, Any]]], questions: QuestionSet
) -> tuple[Mapping[int | str, str], Sequence[int | str]]:
    """Return the keys of records with an id that several questions share, by record number, and the ids.

    Only if a predictor names the id as often as the set has it, and none of these questions by key: such
    records were made from the published questions, and have their order.
    """
    named: dict[tuple[int, str, str], list[int | str]] = {}
    by_key: set[tuple[int, str, str]] = set()
    for number, record in records:
        name = record.get(ID)
        question = questions.by_key.get(name) if isinstance(name, str) else None
        question_id = name if type(name) is int else question.question_id if question else None
        if type(question_id) is not int or len(questions.keys_of(question_id)) < 2:  # noqa: PLR2004
            continue
        whose = question_id, str(record.get("predictor")), str(record.get("dialect"))
        if isinstance(name, str) and "#" in name:
            by_key.add(whose)
        named.setdefault(whose, []).append(number)
    keys: dict[int | str, str] = {}
    taken: dict[int | str, None] = {}
    for whose, numbers in named.items():
        shared = questions.keys_of(whose[0])
        if len(numbers) == len(shared) and whose not in by_key:
            keys.update(zip(numbers, shared, strict=True))
            taken[whose[0]] = None
    return keys, list(taken)


def _prediction(
    record: Mapping[str, Any], questions: QuestionSet, named: Label, in_order: str | None
) -> Prediction:
    if ID not in record:
        raise RecordError("no question_id", WRITE_BOTH)
    key = in_order or _key(record[ID], questions)
    check_texts(record, key)
    if "db_id" in record:
        _check_database(record["db_id"], questions.by_key[key].db_id)
    predictor = _field_value("predictor", record, named.predictor)
    if not is_predictor(predictor):
        remedy = "give a printable one without outer blanks"
        raise RecordError("not a predictor's name", remedy, repr(predictor))
    dialect = _field_value(
        "dialect", record, named.dialect or (None if "dialect" in record else named.otherwise)
    )
    if dialect not in kinds_by_name():
        raise RecordError("not a dialect", f"write one of {', '.join(kinds_by_name())}", repr(dialect))
    source = record.get("translated_from")
    if source is not None and source not in kinds_by_name():
        raise RecordError(
            "translated_from no dialect", f"write one of {', '.join(kinds_by_name())}", repr(source)
        )
    try:
        usage = AnswerUsage.from_json(record)
    except RecordFault as fault:
        remedy = "write a number, or omit it if it is unknown"
        raise RecordError(str(fault), remedy, f"question {key}") from None
    return Prediction(key, record["sql"], predictor, dialect, record.get("reason"), source, usage)


def _key(question_id: Any, questions: QuestionSet) -> str:
    """Return the key of the question that a line names: by a unique number, or by its key."""
    if isinstance(question_id, str) and question_id in questions.by_key:
        return question_id
    keys = questions.keys_of(question_id) if type(question_id) is int else ()
    if not keys and type(question_id) is int and str(question_id) in questions.by_key:
        return str(question_id)
    if not keys:
        remedy = remedy_for_id(question_id) or _OTHER_SET
        raise RecordError(f"not a question of {questions.name}", remedy, f"question_id {question_id!r}")
    if len(keys) > 1:
        choice = " or ".join(f'"{key}"' for key in keys)
        raise RecordError(
            f"a number that {len(keys)} questions share",
            f"write {choice}, in quotes, or all of them in order",
        )
    return keys[0]


def _field_value(name: str, record: Mapping[str, Any], outside: str | None) -> str:
    """Return the line's value, or else that of the file's name or the caller; they must agree."""
    if name not in record:
        if outside is None:
            remedy = f"add it to the line, call the file {SCHEME} or give {_OPTIONS[name]}"
            raise RecordError(f"no {name}", remedy)
        return outside
    said = str(record[name])
    if outside is not None and said != outside:
        contradiction = f"a {name} other than that of the file's name or {_OPTIONS[name]}"
        raise RecordError(contradiction, "make them agree", f"{said}, not {outside}")
    return said


def _check_database(given: str, db_id: str) -> None:
    if given != db_id:
        raise RecordError("for another database", _OTHER_SET, f"{given}, not {db_id}")

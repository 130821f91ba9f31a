r"""Readers of the formats of prediction files.

- Official: a JSON object whose entries, keyed "0" to "n-1", follow the set's published order in the file's
  dialect; a value is SQL, `\t----- bird -----\t` and db_id.
  https://github.com/bird-bench/mini_dev#evaluation
- JSON lines: one object per line with question_id and sql, and, unless the file's name or the caller
  gives them, predictor and dialect; db_id is checked if present. One file may hold several predictors. If
  a predictor has no answer, sql is null and reason says why. translated_from is the dialect of the
  predictor's own answer, of which the text is a translation. prompt_tokens, completion_tokens, seconds and
  cost are the usage of the answer.
- A JSON array of such objects, or of SQL texts, one for each question in the set's published order.
- One SQL text per line (`.sql`, `.txt`), for each question in the set's order, as Spider's evaluation reads
  it: https://github.com/taoyds/spider#evaluation. The database may follow a tab; a blank line is no answer.
- CSV (`.csv`) with a header: question_id, without which the rows are in the set's order, and sql.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from harness.data.outcomes import USAGE, AnswerUsage
from harness.data.questions import QuestionSet
from harness.data.set_manifest import LAYOUTS
from harness.engines import EngineName, dialect_of, kinds_by_name
from loaders.base.errors import brief
from loaders.base.files import (
    Faults,
    TextFile,
    is_text,
    json_type,
    parse_json,
    read_json,
    read_json_lines,
    refuse,
)
from loaders.base.records import RecordFault

ANSWERS = "answers.jsonl"
JOURNAL = "journal.jsonl"
MANIFEST = "manifest.json"
PREDICTIONS = "predictions"
"""Contents of the folder of `bird-harness predict`; the last holds the prediction files."""

SCHEME = "predict_<set>_<predictor>_<dialect>.json"

# Names of prediction files: `predict_<set>_<predictor>_<dialect>.json` or `.jsonl`. Published files also end
# in `_mysqljson.json` and `_cot_SQLite.json`. The set is checked, because a positional file of one revision
# of Mini-Dev read against the other would silently be scored wrongly.
_NAME = re.compile(
    r"predict_(?P<rest>.+)_(?P<dialect>[a-z0-9]+?)(?:json)?\.(?:jsonl?|sql|txt|csv)",
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
    " JSON array of such objects, or of SQL texts; one SQL text per line (.sql, .txt); or CSV"
    " (docs/reference/file-formats.md)"
)
_KEYS = ("question_id", "sql", "db_id", "predictor", "dialect", "reason", "translated_from")
_SOMETHING = re.compile(rb"\S")
_OPTIONS = {"predictor": "--predictor", "dialect": "--dialect"}


class Format(StrEnum):
    """How a prediction file is written."""

    OFFICIAL = "official"
    LINES = "jsonl"
    ARRAY = "array"
    """A JSON array of objects or of SQL texts."""
    TEXT = "text"
    """One SQL text a line."""
    CSV = "csv"


_ANSWER = "sql", "predicted", "prediction", "predicted_sql", "pred_sql", "pred", "answer", "query"
"""Names of the column of answers; the first one present counts."""
_ID = "question_id", "instance_id", "id"
_NO_ANSWER = "the file has no answer there"


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


def read_entries(
    file: TextFile, questions: QuestionSet, named: Label
) -> tuple[Format, list[Prediction], Sequence[int | str]]:
    """Read a file in any of the formats.

    No predictor answers a question twice in one dialect; questions may be missing.

    Returns:
        The format, the entries, and the ids that several questions share and that were assigned in order.

    Raises:
        BadInput: the file or one of its entries is wrong, or it has no entries.
    """
    kind = file.path.suffix.lower()
    if kind in {".sql", ".txt"}:
        return Format.TEXT, _read_lines(file, questions, named), ()
    if kind == ".csv":
        return Format.CSV, *_read_csv(file, questions, named)
    start = file.encoded.lstrip()[:1]
    if start not in {b"{", b"["}:
        refuse(file.path, f"not JSON: it begins with {brief(next(file.lines()), 20)!r}", _READ)
    first, rest = _first_line(file)
    if start == b"{" and (isinstance(first, dict) and (rest or "question_id" in first)):
        found = Format.LINES, *_read_records(file, read_json_lines(file), "line", questions, named)
    else:
        content = first if first is not None and not rest else read_json(file)
        if isinstance(content, list):
            found = Format.ARRAY, *_read_array(file, content, questions, named)
        else:
            found = Format.OFFICIAL, _read_official(file, content, questions, named), ()
    if not found[1]:
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


def _whole(file: TextFile, named: Label) -> tuple[str, EngineName]:
    """Return predictor and dialect of a file whose content does not name them."""
    dialect = named.dialect or named.otherwise
    if named.predictor is None or dialect is None:
        untold = {"predictor": named.predictor, "dialect": dialect}
        refuse(
            file.path,
            f"its {' and '.join(name for name, value in untold.items() if value is None)} is unknown",
            f"call it {SCHEME}, or give {options_for(named.predictor, dialect)}",
        )
    return named.predictor, dialect


def _read_array(
    file: TextFile, content: list[Any], questions: QuestionSet, named: Label
) -> tuple[list[Prediction], Sequence[int | str]]:
    if not any(isinstance(one, str) for one in content):
        return _read_records(file, list(enumerate(content)), "entry", questions, named)
    predictor, dialect = _whole(file, named)
    order = questions.order[dialect_of(dialect)]
    if len(content) != len(order):
        texts = f"it has {len(content)} texts, but {questions.name} has {len(order)} questions"
        refuse(file.path, texts, "write one for each question, in their order, null where there is none")
    faults = Faults(file.path, "entry")
    predictions: list[Prediction] = []
    for position, (key, value) in enumerate(zip(order, content, strict=True)):
        if value is None:
            continue
        try:
            sql = _text_sql(value, questions.by_key[key].db_id)
        except _EntryError as error:
            faults.add(f"{position}{error.detail}", error.fault, error.remedy)
            continue
        predictions.append(Prediction(key, sql, predictor, dialect))
    faults.stop()
    return predictions, ()


def _read_lines(file: TextFile, questions: QuestionSet, named: Label) -> list[Prediction]:
    predictor, dialect = _whole(file, named)
    order = questions.order[dialect_of(dialect)]
    lines = [line.removesuffix("\r") for line in file.lines()]
    while lines and not lines[-1].strip():
        del lines[-1]
    if len(lines) != len(order):
        remedy = "write one SQL text per line, in the order of the questions; an empty line is no answer"
        refuse(
            file.path, f"it has {len(lines)} lines, but {questions.name} has {len(order)} questions", remedy
        )
    faults = Faults(file.path, "line")
    predictions: list[Prediction] = []
    known = {db_id.casefold() for db_id in questions.db_ids}
    for number, (key, line) in enumerate(zip(order, lines, strict=True), start=1):
        sql, tab, db_id = line.rpartition("\t")
        db_id = db_id.strip()
        if not tab or db_id.casefold() not in known:
            sql = line
        elif db_id.casefold() != questions.by_key[key].db_id.casefold():
            faults.add(
                f"{number} ({db_id}, not {questions.by_key[key].db_id})", "for another database", _OTHER_SET
            )
        answer = sql.strip() or None
        predictions.append(Prediction(key, answer, predictor, dialect, None if answer else _NO_ANSWER))
    faults.stop()
    return predictions


def _read_csv(
    file: TextFile, questions: QuestionSet, named: Label
) -> tuple[list[Prediction], Sequence[int | str]]:
    """Read the rows of a table as records; other columns are ignored."""
    head, rows = _table(file)
    answer = next((name for name in _ANSWER if name in head), None)
    identity = next((name for name in _ID if name in head), None)
    if answer is None:
        shown = brief(", ".join(head))
        refuse(
            file.path, f"its header ({shown}) has no column of answers", "call one sql, and one question_id"
        )
    dialect = named.dialect or named.otherwise
    order = questions.order[Dialect.SQLITE if dialect is None else dialect_of(dialect)]
    if identity is None and len(rows) != len(order):
        remedy = "add a column question_id, or write one row for each question in their order"
        refuse(file.path, f"has {len(rows)} rows, and {questions.name} {len(order)} questions", remedy)
    records = []
    for place, (line, cells) in enumerate(rows):
        record: dict[str, Any] = {
            name: cells[name] for name in _KEYS if name != "reason" and cells.get(name, "").strip()
        }
        record["question_id"] = cells[identity].strip() if identity else order[place]
        record["sql"] = cells[answer]
        if not cells[answer].strip():
            record |= {"sql": None, "reason": cells.get("reason", "").strip() or _NO_ANSWER}
        records.append((line, record))
    return _read_records(file, records, "line", questions, named)


def _table(file: TextFile) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Return the header of a CSV file in lower case, and its rows by the numbers of their first lines."""
    reader = csv.reader(io.StringIO(file.text, newline=""), strict=True)
    rows: list[tuple[int, list[str]]] = []
    number = 1
    try:
        for row in reader:
            if row:
                rows.append((number, row))
            number = reader.line_num + 1
    except csv.Error as error:
        refuse(file.path, f"line {reader.line_num}: not valid CSV ({error})", "write it as RFC 4180 says")
    head = [name.strip().lower() for name in rows[0][1]]
    if len(set(head)) < len(head):
        refuse(file.path, "its header has a column twice", "name each once")
    faults = Faults(file.path, "line")
    for line, row in rows[1:]:
        if len(row) != len(head):
            remedy = "write a cell for each column, in double quotes where it has a comma or a line break"
            faults.add(
                f"{line} ({len(row)} cells, {len(head)} columns)", "not as many cells as columns", remedy
            )
    faults.stop()
    return head, [(line, dict(zip(head, row, strict=True))) for line, row in rows[1:]]


def _text_sql(value: Any, db_id: str) -> str:
    if not isinstance(value, str):
        raise _EntryError(f"{json_type(value)} among texts", "write only SQL texts, or only objects")
    if SEPARATOR in value:
        return _official_sql(value, db_id)
    _check_characters(value)
    return value


def _read_official(file: TextFile, content: Any, questions: QuestionSet, named: Label) -> list[Prediction]:
    if not isinstance(content, dict):
        refuse(file.path, f"is {json_type(content)}", _READ)
    predictor, dialect = _whole(file, named)
    order = questions.order[dialect_of(dialect)]
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
        if type(value) is int and value == 0:
            # Published files have this in place of a missing answer.
            predictions.append(Prediction(key, None, predictor, dialect, _NO_ANSWER))
            continue
        try:
            sql = _official_sql(value, questions.by_key[key].db_id)
        except _EntryError as error:
            faults.add(f"{name}{error.detail}", error.fault, error.remedy)
            continue
        predictions.append(Prediction(key, sql, predictor, dialect))
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


def _read_records(
    file: TextFile, records: Sequence[tuple[int, Any]], noun: str, questions: QuestionSet, named: Label
) -> tuple[list[Prediction], Sequence[int | str]]:
    """Read objects that name their questions; also return the ids that were assigned in order."""
    faults = Faults(file.path, noun)
    predictions: list[Prediction] = []
    seen: dict[tuple[str, str, EngineName], int] = {}
    keys, taken = _in_order(records, questions)
    for number, record in records:
        try:
            prediction = _prediction(record, questions, named, keys.get(number))
        except _EntryError as error:
            faults.add(f"{number}{error.detail}", error.fault, error.remedy)
            continue
        identity = (prediction.key, prediction.predictor, prediction.dialect)
        if identity in seen:
            again = f"{number} (question {prediction.key}, as {noun} {seen[identity]})"
            faults.add(again, "a question that was answered before", "keep one of the answers")
        seen.setdefault(identity, number)
        predictions.append(prediction)
    faults.stop()
    return predictions, taken


def _in_order(
    records: Sequence[tuple[int, Any]], questions: QuestionSet
) -> tuple[Mapping[int, str], Sequence[int | str]]:
    """Return the keys of records with an id that several questions share, by record number, and the ids.

    Only if a predictor names the id as often as the set has it, and none of these questions by key: such
    records were made from the published questions, and have their order.
    """
    named: dict[tuple[int, str, str], list[int]] = {}
    by_key: set[tuple[int, str, str]] = set()
    for number, record in records:
        name = record.get("question_id") if isinstance(record, dict) else None
        question = questions.by_key.get(name) if isinstance(name, str) else None
        question_id = name if type(name) is int else question.question_id if question else None
        if type(question_id) is not int or len(questions.keys_of(question_id)) < 2:  # noqa: PLR2004
            continue
        whose = question_id, str(record.get("predictor")), str(record.get("dialect"))
        if isinstance(name, str) and "#" in name:
            by_key.add(whose)
        named.setdefault(whose, []).append(number)
    keys: dict[int, str] = {}
    taken: dict[int | str, None] = {}
    for whose, numbers in named.items():
        shared = questions.keys_of(whose[0])
        if len(numbers) == len(shared) and whose not in by_key:
            keys.update(zip(numbers, shared, strict=True))
            taken[whose[0]] = None
    return keys, list(taken)


def _prediction(record: Any, questions: QuestionSet, named: Label, in_order: str | None) -> Prediction:
    if not isinstance(record, dict):
        raise _EntryError(f"{json_type(record)} instead of an object", "write only objects")
    unknown = [repr(key) for key in record if key not in (*_KEYS, *USAGE)]
    if unknown:
        raise _EntryError("unknown key", f"write only {', '.join((*_KEYS, *USAGE))}", ", ".join(unknown))
    if "question_id" not in record or "sql" not in record:
        raise _EntryError("no question_id or no sql", "write both")
    key = in_order or _key(record["question_id"], questions)
    _check_texts(record, key)
    if "db_id" in record:
        _check_database(record["db_id"], questions.by_key[key].db_id)
    predictor = _told("predictor", record, named.predictor)
    if not is_predictor(predictor):
        remedy = "give a printable one without outer blanks"
        raise _EntryError("not a predictor's name", remedy, repr(predictor))
    dialect = _told("dialect", record, named.dialect or (None if "dialect" in record else named.otherwise))
    if dialect not in kinds_by_name():
        raise _EntryError("not a dialect", f"write one of {', '.join(kinds_by_name())}", repr(dialect))
    source = record.get("translated_from")
    if source is not None and source not in kinds_by_name():
        raise _EntryError(
            "translated_from no dialect", f"write one of {', '.join(kinds_by_name())}", repr(source)
        )
    try:
        usage = AnswerUsage.from_json(record)
    except RecordFault as fault:
        remedy = "write a number, or omit it if it is unknown"
        raise _EntryError(str(fault), remedy, f"question {key}") from None
    return Prediction(key, record["sql"], predictor, dialect, record.get("reason"), source, usage)


def _check_texts(record: Mapping[str, Any], key: str) -> None:
    if record["sql"] is None and not record.get("reason"):
        raise _EntryError(
            "sql is null", "write a string, or say in reason why there is none", f"question {key}"
        )
    if record["sql"] is not None and "reason" in record:
        raise _EntryError("sql and a reason for having none", "omit one", f"question {key}")
    for name in _KEYS[1:]:
        value = record.get(name, "") if name != "sql" or record["sql"] is not None else ""
        if not isinstance(value, str):
            raise _EntryError(f"{name} is {json_type(value)}", "write a string", f"question {key}")
        _check_characters(value)


def _key(question_id: Any, questions: QuestionSet) -> str:
    """Return the key of the question that a line names: by a unique number, or by its key."""
    if isinstance(question_id, str) and question_id in questions.by_key:
        return question_id
    keys = questions.keys_of(question_id) if type(question_id) is int else ()
    if not keys and type(question_id) is int and str(question_id) in questions.by_key:
        return str(question_id)
    if not keys:
        raise _EntryError(f"not a question of {questions.name}", _OTHER_SET, f"question_id {question_id!r}")
    if len(keys) > 1:
        choice = " or ".join(f'"{key}"' for key in keys)
        raise _EntryError(
            f"a number that {len(keys)} questions share",
            f"write {choice}, in quotes, or all of them in order",
        )
    return keys[0]


def _told(name: str, record: Mapping[str, Any], outside: str | None) -> str:
    """Return the line's value, or else that of the file's name or the caller; they must agree."""
    if name not in record:
        if outside is None:
            remedy = f"add it to the line, call the file {SCHEME} or give {_OPTIONS[name]}"
            raise _EntryError(f"no {name}", remedy)
        return outside
    said = str(record[name])
    if outside is not None and said != outside:
        contradiction = f"a {name} other than that of the file's name or {_OPTIONS[name]}"
        raise _EntryError(contradiction, "make them agree", f"{said}, not {outside}")
    return said


def _check_characters(text: str) -> None:
    if not is_text(text):
        raise _EntryError("half a character, a surrogate without its pair", "write the whole character")


def _check_database(given: str, db_id: str) -> None:
    if given != db_id:
        raise _EntryError("for another database", _OTHER_SET, f"{given}, not {db_id}")


class _EntryError(Exception):
    """The fault of one entry and the remedy; `detail` is specific to the entry."""

    def __init__(self, fault: str, remedy: str, detail: str = "") -> None:
        super().__init__(fault, remedy, detail)
        self.fault = fault
        self.remedy = remedy
        self.detail = f" ({detail})" if detail else ""

"""Sort the failed answers of a run into the BIRD paper's groups (docs/reference/error-classes.md)."""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import cache, partial
from pathlib import Path

from dialects.enums import Dialect
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.engines import dialect_of, kind_of
from harness.engines.errors import ErrorClass
from harness.report.documents import ErrorGroups
from harness.runs.reader import Run, key_of, read_questions
from harness.session.run_texts import set_of
from harness.sqltree import DatabaseSchema, SchemaColumn
from harness.sqltree.constructs import FUNCTIONS
from harness.sqltree.diagnosis import ErrorGroup, read
from harness.sqltree.diagnosis.differences import Equated, Reading, reads_otherwise
from harness.sqltree.question_types import FORMULA, normal
from loaders.base.digests import digests
from loaders.source import opened

_OF_NAMES = (ErrorClass.UNKNOWN_TABLE, ErrorClass.UNKNOWN_COLUMN, ErrorClass.TYPE_ERROR)
_OF_TWO = {"ambiguous", "unique", "once"}
"""Words of errors about a name that means two things."""
_FUNCTIONS = frozenset().union(*FUNCTIONS.values())
_CALLED = re.compile(r"\b(\w+)\(")
_WORD = re.compile(r"\w+")


def error_groups(run: Run) -> ErrorGroups:
    """Return the group of every failed answer of a run; literals are looked up in SQLite files.

    Raises:
        BadInput: the set of the run is not found, or a file is damaged.
    """
    everything = load_set(set_of(run), questions_alone=True)
    questions = read_questions(run.folder)
    failed = [(result, result.error_class) for result in run.results if result.error_class is not None]
    groups = {}
    with ExitStack() as stack:
        files = _databases(run, everything, {result.db_id for result, _ in failed})
        stored = {db_id: stack.enter_context(opened(path)) for db_id, path in files.items()}

        @cache
        def holds(db_id: str, one: Equated, *, ignores_case: bool) -> bool | None:
            return _holds(stored[db_id], one, ignores_case=ignores_case) if db_id in stored else None

        schemas = {**{db_id: _schema(db_id, one) for db_id, one in stored.items()}, **everything.schemas}
        reading = cache(lambda sql, dialect, db_id: read(sql, dialect, schemas.get(db_id)))
        for result, error_class in failed:
            language = dialect_of(result.dialect)
            question = questions[result.question].each(language)[result.gold_index]
            if language not in question.gold or language in question.by_rows:
                language = Dialect.SQLITE
            ignores_case = kind_of(result.dialect).ignores_case
            groups[key_of(result)] = error_group(
                error_class,
                result.error,
                question=question.text,
                evidence=question.evidence,
                prediction=reading(result.sql or "", result.dialect, result.db_id),
                gold=reading(question.gold.get(language, ""), language, result.db_id),
                holds=partial(holds, result.db_id, ignores_case=ignores_case),
            )
    return ErrorGroups(groups, tuple(sorted({result.db_id for result, _ in failed} - files.keys())))


def _databases(run: Run, everything: QuestionSet, db_ids: Iterable[str]) -> Mapping[str, Path]:
    """Return the SQLite files of these databases that are those of the run."""
    recorded = run.manifest.get("databases") or {}
    paths = {db_id: everything.database(db_id).sqlite_path for db_id in db_ids}
    found = digests(path for path in paths.values() if path.is_file())
    return {db_id: path for db_id, path in paths.items() if found.get(path, "") == recorded.get(db_id)}


def _schema(db_id: str, connection: sqlite3.Connection) -> DatabaseSchema:
    """Return the tables and columns of a file, for sets that publish none."""
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    columns = [
        SchemaColumn(table, name, "")
        for table in tables
        for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    ]
    return DatabaseSchema(db_id, tuple(tables), tuple(columns), (), ())


def _holds(connection: sqlite3.Connection, one: Equated, *, ignores_case: bool) -> bool | None:
    """Return whether a row has such a value; None if there is no such column, or a search takes too long."""
    table, _, column = (name.replace("`", "``") for name in one.column.partition("."))
    # A name in backticks is never a text: https://sqlite.org/quirks.html
    if one.is_pattern:
        # SQLite tries a text again and again for each % in the middle of a pattern.
        if "%" in one.text.strip("%"):
            return None
        condition = f"`{column}` LIKE :text"
    else:
        # The reading of a number is its value, however it is written.
        collation = "COLLATE NOCASE" if ignores_case else ""
        is_number = f"ltrim(`{column}`, '+-') NOT GLOB '*[^0-9.]*'"
        condition = f"`{column}` = :text {collation} OR CAST(`{column}` AS REAL) = :number AND {is_number}"
    query = f"SELECT 1 FROM `{table}` WHERE {condition} LIMIT 1"  # noqa: S608 - names are quoted
    # No column has a name, and no row a text, that SQLite cannot hold.
    with suppress(sqlite3.OperationalError, sqlite3.ProgrammingError, UnicodeEncodeError):
        found = connection.execute(query, {"text": one.text, "number": _number(one.text)})
        return found.fetchone() is not None
    return None


def _number(text: str) -> float | None:
    with suppress(ValueError):
        return float(text)
    return None


def error_group(  # noqa: PLR0913 - everything that is known of an answer
    error_class: ErrorClass,
    error: str | None,
    *,
    question: str,
    evidence: str,
    prediction: Reading | None,
    gold: Reading | None,
    holds: Callable[[Equated], bool | None],
) -> ErrorGroup:
    """Return the group of an answer that does not match.

    Args:
        error_class: its class.
        error: the engine's message, if there was an error.
        question: the text of the question.
        evidence: the knowledge that comes with it.
        prediction: the reading of the answer; None if it cannot be read.
        gold: that of its gold.
        holds: returns whether a row of the database has such a value; None if that is not known.
    """
    said = {word.lower() for word in _WORD.findall(error or "")}
    if error_class is ErrorClass.SYNTAX:
        # A function of another dialect, such as YEAR, is wrong syntax, also if evidence happens to call it.
        copied = {name.upper() for name in _CALLED.findall(evidence) if name.lower() in said}
        is_copied = not copied <= _FUNCTIONS
        return ErrorGroup.KNOWLEDGE_EVIDENCE if is_copied else ErrorGroup.SYNTAX
    if error_class in _OF_NAMES:
        return ErrorGroup.DATABASE_CONTENT if said.isdisjoint(_OF_TWO) else ErrorGroup.SYNTAX
    if prediction is None or gold is None:
        return ErrorGroup.UNASSIGNED
    if any(holds(one) is False for one in _wrong_values(prediction, gold)):
        return ErrorGroup.DATABASE_CONTENT
    told, asked = (f" {normal(text)} " for text in (evidence, question))
    needed = (f" {normal(text)} " for text in _explained(error_class, prediction, gold))
    is_formula = error_class is ErrorClass.WRONG_AGGREGATION and FORMULA.search(evidence)
    if is_formula or any(text in told and text not in asked for text in needed if text.strip()):
        return ErrorGroup.KNOWLEDGE_EVIDENCE
    return ErrorGroup.SCHEMA_LINKING if reads_otherwise(prediction, gold) else ErrorGroup.UNASSIGNED


def _wrong_values(prediction: Reading, gold: Reading) -> Iterator[Equated]:
    """Yield the literals with their columns that gold has neither so nor with another column."""
    others: dict[str, set[str]] = {}
    for condition in gold.conditions:
        for text in condition.values:
            others.setdefault(text.casefold(), set()).update(condition.subject)
    for one in prediction.equated - gold.equated:
        columns = others.get(one.text.strip("%").casefold())
        if columns is None or one.column in columns:
            yield one


def _explained(error_class: ErrorClass, prediction: Reading, gold: Reading) -> set[str]:
    """Return what evidence may explain of a difference: gold's missing literals, and what it sorts by."""
    of_gold, of_prediction = (
        {text for condition in reading.conditions for text in condition.values}
        for reading in (gold, prediction)
    )
    missing = of_gold - of_prediction
    if error_class is ErrorClass.WRONG_ORDER:
        keys = {name for cut in gold.cuts for key in cut.keys for name in key.of}
        missing |= {name.rpartition(".")[2] for name in keys}
    return missing

"""SQLite's SQL in another dialect, for those who take it away: one text, or the answers of predictors."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.schema import Schema
from dialects.translate import Translation, Untranslatable, translate
from harness.data.predictions import PredictionFile
from harness.data.questions import QuestionSet
from loaders.base.files import is_text, one_line
from loaders.census import census
from loaders.source import opened


def translate_text(sql: str, path: Path, target: Dialect) -> Translation:
    """One query for the database that it is for.

    Args:
        sql: as SQLite takes it.
        path: the SQLite file; what its columns hold is read.
        target: MySQL or PostgreSQL.

    Raises:
        BadInput: the file is no SQLite database, or SQLite itself does not take the text.
        Untranslatable: there is no exact translation, or the text is no query.
    """
    schema = census(path)
    if why := _refused(sql, path):
        raise BadInput(one_line(f"SQLite does not take the text: {why}; correct it"))
    return translate(sql, schema, target)


def translate_answers(
    file: PredictionFile, questions: QuestionSet, target: Dialect
) -> Iterator[dict[str, Any]]:
    """The answers of a predictor in SQLite's dialect, in another one: lines of a prediction file.

    The predictor is called `<name>-translated`, and each line says what it is translated from, and what the
    answer took. What has no exact translation is missing, with the reason.

    Args:
        file: the answers.
        questions: the whole set.
        target: MySQL or PostgreSQL.

    Raises:
        BadInput: a database cannot be read.
    """
    schemas: dict[str, Schema] = {}
    for question in questions.questions:
        sql, reason = file.predictions[question.key], file.reasons.get(question.key)
        if sql is not None:
            path = questions.database(question.db_id).sqlite_path
            if question.db_id not in schemas:
                schemas[question.db_id] = census(path)
            sql, reason = _answer(sql, path, schemas[question.db_id], target)
        elif reason is None:
            continue
        usage = file.usage.get(question.key)
        yield {
            "question_id": question.key,
            "dialect": target,
            "predictor": f"{file.predictor}-translated",
            "translated_from": file.dialect,
            "sql": sql,
            **({"reason": reason} if sql is None else {}),
            **(usage.to_json() if usage else {}),
        }


def _answer(sql: str, path: Path, schema: Schema, target: Dialect) -> tuple[str | None, str | None]:
    """An answer's translation, or why there is none."""
    if why := _refused(sql, path):
        return None, one_line(f"SQLite does not take the answer: {why}")
    try:
        return translate(sql, schema, target, as_json=False).sql, None
    except Untranslatable as error:
        return None, one_line(f"no translation: {error}")


def _refused(sql: str, path: Path) -> str | None:
    """What SQLite says against a text, which is prepared and not run."""
    if not is_text(sql) or "\0" in sql:
        return "it has characters that no text has"
    with opened(path) as connection:
        try:
            connection.execute(f"EXPLAIN {sql}")
        except sqlite3.OperationalError as error:
            return str(error)
        except (sqlite3.ProgrammingError, sqlite3.Warning) as error:
            # In Python 3.11 a warning. Parameters without a value are nothing to SQLite's reader.
            if "one statement" in str(error):
                return "it holds several statements; give one"
    return None

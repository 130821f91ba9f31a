"""Find the sources of twins: a question set, or a schema and a question file."""

from collections.abc import Sequence
from pathlib import Path

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.questions import QuestionSet
from loaders.twins.builder import TwinSource
from loaders.twins.shape import of_published, read_golds


def of_set(
    questions: QuestionSet, schema: Path | None = None, db_ids: Sequence[str] = ()
) -> list[TwinSource]:
    """Return the sources of a question set: its databases, or a published schema instead.

    Raises:
        BadInput: a database is missing, or not in the set.
    """
    golds: dict[str, list[str]] = {db_id: [] for db_id in questions.db_ids}
    for question in questions.questions:
        golds[question.db_id].append(question.gold[Dialect.SQLITE])
    paths = {db_id: schema or questions.database(db_id).sqlite_path for db_id in questions.db_ids}
    chosen = _chosen(db_ids, questions.db_ids, f"question set {questions.name}")
    missing = next((path for db_id, path in paths.items() if db_id in chosen and not path.is_file()), None)
    if missing is not None:
        raise BadInput(f"{missing}: not found; name a published schema with --schema, or get the databases")
    return [TwinSource(db_id, paths[db_id], tuple(golds[db_id]), questions.databases) for db_id in chosen]


def of_files(schema: Path, questions: Path, db_ids: Sequence[str] = ()) -> list[TwinSource]:
    """Return the sources of a schema and a question file.

    Args:
        schema: a SQLite file, whose name is that of the database, or a published schema.
        questions: a question file in the published format.
        db_ids: databases; default: all that the schema has and the questions ask.

    Raises:
        BadInput: a file cannot be read, or no question is about the schema.
    """
    golds = read_golds(questions)
    known = list(of_published(schema)) if schema.suffix.lower() == ".json" else [schema.stem]
    asked = [db_id for db_id in known if db_id in golds]
    if not asked:
        raise BadInput(
            f"{questions}: no question is about {', '.join(known)} of {schema}; the db_id of the questions "
            "and the name of the database must be the same"
        )
    chosen = _chosen(db_ids, asked, str(schema))
    return [TwinSource(db_id, schema, tuple(golds[db_id]), schema.parent) for db_id in chosen]


def _chosen(wanted: Sequence[str], known: Sequence[str], where: str) -> list[str]:
    unknown = [db_id for db_id in wanted if db_id not in known]
    if unknown:
        raise BadInput(f"--db {unknown[0]}: {where} has no such database; it has {', '.join(known)}")
    return [db_id for db_id in known if not wanted or db_id in wanted]

"""The gold of every question on every engine: its text, its rows, or the outcome of its failure."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.overrides import Override, overrides
from dialects.schema import Schema
from harness.data.outcomes import GoldOrigin, Outcome
from harness.data.questions import Question, QuestionSet
from harness.engines import EngineName, dialect_of
from harness.engines.execution import Ending, Execution, Limits
from loaders.base.files import one_line
from loaders.base.processes import Memo

if TYPE_CHECKING:
    from dialects.translation import Translation

Run = Callable[[str], Execution]
"""Runs a text on the question's database."""


@dataclass(frozen=True)
class Gold:
    """One gold of one question on one engine.

    `question` has only this gold. `sql` is None if there is no text for the dialect; `failure` is the
    outcome of every prediction for the question if gold did not return rows in time.
    """

    question: Question
    dialect: EngineName
    sql: str | None
    execution: Execution
    failure: Outcome | None = None

    @property
    def is_by_rows(self) -> bool:
        """True if SQLite runs the gold and its rows are compared by value."""
        return dialect_of(self.dialect) in self.question.by_rows

    @property
    def language(self) -> EngineName:
        """The engine whose dialect its text is in."""
        return Dialect.SQLITE if self.is_by_rows else self.dialect


class NoGold(Exception):
    """A question has no gold in a dialect: SQLite's cannot be translated."""


class Golds:
    """The golds of a question set; thread-safe.

    Pass a question with several golds once with each gold alone (`Question.each`).

    Args:
        questions: the question set.
        dialects: the engines.
        limits: what one SQL text may use.
        missing_databases: the databases that an engine's servers lack, and why.
        escaped: the databases whose values an engine's servers have escaped.
    """

    def __init__(
        self,
        questions: QuestionSet,
        dialects: Collection[EngineName],
        limits: Limits,
        missing_databases: Mapping[tuple[EngineName, str], str] | None = None,
        escaped: Collection[tuple[EngineName, str]] = (),
    ) -> None:
        self._questions = questions
        self._missing_databases = missing_databases or {}
        self._escaped = frozenset(escaped)
        self._limits = limits
        self._overrides: dict[Dialect, Mapping[str, Override]] = {
            dialect: overrides(questions.name, dialect, own=questions.overrides)
            for dialect in map(dialect_of, dialects)
            if dialect is not Dialect.SQLITE
        }
        self._refuse_stale()
        self._schemas = Memo()

    def _refuse_stale(self) -> None:
        """Reject overrides of other golds than the set's.

        Raises:
            BadInput: there are such; names all of them.
        """
        stale = [
            f"{dialect}/{self._questions.name}/{key}.sql"
            for dialect, found in self._overrides.items()
            for key, one in found.items()
            if (question := self._questions.by_key.get(key)) is not None
            and not any(one.replaces(each.gold[Dialect.SQLITE]) for each in question.each(Dialect.SQLITE))
            and Dialect.SQLITE not in question.corrected
        ]
        if stale:
            raise BadInput(
                f"overrides: stale, since their golds have changed: {', '.join(stale)}; check each against"
                " its gold and renew gold-sha256, or remove it"
            )

    def origin(self, question: Question, dialect: EngineName) -> GoldOrigin:
        """Return the origin of the text of a gold."""
        language = dialect_of(dialect)
        if language in question.by_rows:
            return GoldOrigin.SQLITE_ROWS
        if language in question.gold:
            return GoldOrigin.CORRECTION if language in question.corrected else GoldOrigin.DATASET
        override = self._overrides[language].get(question.key)
        usable = override is not None and override.replaces(question.gold[Dialect.SQLITE])
        return GoldOrigin.OVERRIDE if usable else GoldOrigin.TRANSLATED

    def written(self, question: Question, dialect: EngineName) -> str:
        """Return the text that defines gold: its own, or SQLite's if that is translated."""
        origin, language = self.origin(question, dialect), dialect_of(dialect)
        if origin is GoldOrigin.OVERRIDE:
            return self._overrides[language][question.key].sql
        return question.gold[language if origin.is_written else Dialect.SQLITE]

    def text(self, question: Question, dialect: EngineName) -> str:
        """Return the SQL of a gold; SQLite's if its rows are the reference.

        Raises:
            NoGold: there is none for the dialect.
        """
        if self.origin(question, dialect) is not GoldOrigin.TRANSLATED:
            return self.written(question, dialect)
        return self.translation(question, dialect).sql

    def translation(self, question: Question, dialect: EngineName) -> "Translation":
        """Return the SQL of a gold with the translator's notes; a gold written by hand has none.

        Raises:
            NoGold: there is none for the dialect.
        """
        written = self.written(question, dialect)
        # Slow to import, and most sets publish their golds.
        from dialects.coercions import SEVERAL_TYPES  # noqa: PLC0415
        from dialects.translation import Translation, Untranslatable, translate  # noqa: PLC0415

        if self.origin(question, dialect) is not GoldOrigin.TRANSLATED:
            return Translation(written, dialect_of(dialect))
        try:
            # The translation must return rows as predictions do, not as JSON.
            return translate(
                written, self.schema(question.db_id, dialect), dialect_of(dialect), as_json=False
            )
        except (Untranslatable, BadInput) as error:
            # SQLite's rows may hold what no column of the target does.
            is_mixed = isinstance(error, Untranslatable) and error.construct == SEVERAL_TYPES
            way_out = "; eval --reference sqlite compares with SQLite's rows" if is_mixed else ""
            raise NoGold(f"{one_line(str(error))}{way_out}") from error

    def of(self, question: Question, dialect: EngineName, run: Run) -> Gold:
        """Return the gold of a question, executed by `run` on the engine, or on SQLite if its rows count.

        Raises:
            EngineLost: `run` raised it.
        """
        reason = self._missing_databases.get((dialect, question.db_id))
        if reason is not None:
            # The server may still have contents of an earlier load; do not use them.
            failed = Execution(Ending.ERROR, error=f"the database {question.db_id} is not loaded: {reason}")
            return Gold(question, dialect, None, failed, Outcome.GOLD_ERROR)
        try:
            sql = self.text(question, dialect)
            self._refuse_escaped(question, dialect, sql)
        except NoGold as error:
            failed = Execution(Ending.ERROR, error=str(error))
            return Gold(question, dialect, None, failed, Outcome.GOLD_ERROR)
        execution = run(sql)
        if execution.ending is Ending.ROWS and execution.seconds <= self._limits.seconds:
            return Gold(question, dialect, sql, execution)
        if execution.ending is Ending.ERROR and dialect_of(dialect) is Dialect.SQLITE:
            execution = _with_foreign(execution, sql)
        timed_out = execution.ending in (Ending.ROWS, Ending.TIMEOUT)
        failure = Outcome.GOLD_TIMEOUT if timed_out else Outcome.GOLD_ERROR
        return Gold(question, dialect, sql, execution, failure)

    def schema(self, db_id: str, dialect: EngineName) -> Schema:
        """Return the schema of a database as it is loaded on an engine; it is read once.

        Raises:
            BadInput: its file cannot be read.
        """
        from loaders.file_census import census  # noqa: PLC0415 - as in `translation`

        path, escape = self._questions.database(db_id).sqlite_path, (dialect, db_id) in self._escaped
        found: Schema = self._schemas((db_id, escape), lambda: census(path, escape=escape))
        return found

    def _refuse_escaped(self, question: Question, dialect: EngineName, sql: str) -> None:
        """Reject a gold that nobody translated if it reads a column whose values are escaped on the engine.

        Its rows would not be those of the file, and a prediction that loses the same rows would match it.

        Raises:
            NoGold: it reads one.
        """
        is_translated = self.origin(question, dialect) is GoldOrigin.TRANSLATED
        if is_translated or (dialect, question.db_id) not in self._escaped:
            return
        from dialects.server_schema import escaped_columns  # noqa: PLC0415 - as in `translation`
        from harness.sqltree.parser import column_read  # noqa: PLC0415 - as in `translation`

        try:
            schema = self.schema(question.db_id, dialect)
        except BadInput as error:
            raise NoGold(one_line(str(error))) from error
        language = Dialect.SQLITE if dialect_of(dialect) in question.by_rows else dialect
        escaped = escaped_columns(schema, dialect_of(dialect))
        found = column_read(sql, language, escaped, {view.name: view.sql for view in schema.views})
        if found is not None:
            raise NoGold(
                f"it reads {'.'.join(found)}, whose values are escaped on {dialect} and not the file's;"
                " correct them in the file and load it without --escape, or use --dialect sqlite"
            )


def _with_foreign(execution: Execution, sql: str) -> Execution:
    """Name the dialect that a gold is in, if SQLite refuses it for that."""
    from dialects.source import foreign  # noqa: PLC0415 - as in `Golds.translation`

    why = foreign(sql)
    return replace(execution, error=f"{execution.error}: {why}") if why else execution

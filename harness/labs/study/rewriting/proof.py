"""Proofs that a rewritten text returns the same rows on the loaded data; the keys that a server holds."""

from dataclasses import dataclass
from functools import lru_cache

from dialects.enums import Dialect
from dialects.facts import FACTS
from dialects.identifiers import column_name, quoted, table_name
from dialects.schema import Schema
from harness.engines import kind_of
from harness.engines.base import Engine
from harness.engines.execution import Ending, Execution, Limits
from harness.engines.retry import execute_patiently
from harness.labs.study.rewriting.rewriter import Rewritten
from harness.metrics.comparison import compare
from harness.scoring.ties import is_ordered
from harness.sqltree.query import HeldKeys
from loaders.namespace import Database


@dataclass(frozen=True)
class RewritingProof:
    """How the rows of a text and of its rewritten form relate on the loaded data.

    `executions` counts the texts that were run. `error` says why there is nothing to compare.
    """

    same_set: bool
    same_bag: bool
    same_order: bool
    ordered: bool
    """True if the original has an ORDER BY."""
    executions: int
    original: Execution
    rewritten: Execution
    error: str | None = None

    @property
    def holds(self) -> bool:
        """True if the rows are the same, as often, and in the same order if the original has one."""
        return self.same_bag and (self.same_order or not self.ordered)


def proven(  # noqa: PLR0913, PLR0917 - two texts, and where and how they run
    engine: Engine,
    database: Database,
    original: str,
    rewritten: str | Rewritten,
    limits: Limits,
    before: Execution | None = None,
) -> RewritingProof:
    """Run a text and what it was rewritten to, and compare the rows.

    Args:
        engine: where.
        database: on which data.
        original: the text.
        rewritten: the other one.
        limits: of each execution.
        before: an execution of the original under the same limits that is there already.

    Raises:
        EngineLost: the engine is to blame, no text.
    """
    text = rewritten.sql if isinstance(rewritten, Rewritten) else rewritten
    ran = 1 if before is None else 0
    first = before or execute_patiently(engine, database, original, limits)
    ordered = _is_ordered(original, kind_of(engine.dialect).name)
    if first.ending is not Ending.ROWS:
        why = f"the original has no rows ({first.ending}): {first.error}"
        return RewritingProof(False, False, False, ordered, ran, first, first, why)
    second = execute_patiently(engine, database, text, limits)
    if second.ending is not Ending.ROWS:
        why = f"the rewritten text has no rows ({second.ending}): {second.error}"
        return RewritingProof(False, False, False, ordered, ran + 1, first, second, why)
    found = compare(first.rows, second.rows)
    return RewritingProof(found.same_set, found.same_bag, found.same_order, ordered, ran + 1, first, second)


_is_ordered = lru_cache(maxsize=8)(is_ordered)
"""Cached, since one text is compared with several."""


def held_keys(engine: Engine, database: Database, schema: Schema, limits: Limits) -> HeldKeys:
    """Return the keys that an engine holds although it equates more values than SQLite: a query for each.

    A loader leaves a key out where two texts are equal on the server, or two numbers round to one.
    """
    dialect = engine.dialect
    facts = FACTS[dialect]
    found = set()
    for table in schema.tables:
        for columns in dict.fromkeys((table.primary_key, *table.unique)):
            stored = [table.column(name) for name in columns]
            if not any(facts.merges(column, database.profile) for column in stored):
                continue
            names = [_quoted(dialect, column_name(name, dialect)) for name in columns]
            known = " AND ".join(f"{name} IS NOT NULL" for name in names)
            execution = execute_patiently(
                engine,
                database,
                f"SELECT 1 FROM {_quoted(dialect, table_name(table.name, dialect))} WHERE {known}"  # noqa: S608 - quoted
                f" GROUP BY {', '.join(names)} HAVING COUNT(*) > 1 LIMIT 1",
                limits,
            )
            if execution.ending is Ending.ROWS and not execution.rows:
                found.add((table.name, columns))
    return frozenset(found)


def _quoted(dialect: Dialect, name: str) -> str:
    mark = kind_of(dialect).quote
    return quoted(name) if mark == '"' else f"{mark}{name.replace(mark, 2 * mark)}{mark}"

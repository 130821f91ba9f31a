"""The script families of task benchmarks: what the official scripts of each do differently, as one record.

A family is the set of scripts that judges a benchmark. The facts are read from the scripts: mini_dev's
`live_sql_bench_sqlite/evaluation`, livesqlbench's `evaluation/src`, BIRD-CRITIC-1's `evaluation/src` and
BIRD-Interact's `evaluation/src`; docs/explanation/tasks.md describes them.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dialects.enums import Dialect
from harness.labs.tasks.responses import fenced_statements, postgresql_statements, sqlite_statements


class TaskCategory(StrEnum):
    """The category of a task; the last two are BIRD-CRITIC's."""

    QUERY = "Query"
    MANAGEMENT = "Management"
    PERSONALIZATION = "Personalization"
    EFFICIENCY = "Efficiency"


class UntestedTask(StrEnum):
    """What becomes of a task without test cases that is not a query."""

    DEFAULT_TEST = "default test"
    PASSES = "passes if it runs"


_SPLIT = re.compile(r"\[split\]\s*")


def _listed(value: Any) -> list[str]:
    """Return a list of statements; what is no text becomes its JSON, which fails as a statement, too."""
    if not isinstance(value, list):
        return []
    return [each if isinstance(each, str) else json.dumps(each) for each in value]


def whole_statements(value: Any) -> list[str]:
    """Read a field of statements as LiveSQLBench does: a text is one statement, a list stays."""
    if isinstance(value, str):
        return [value] if value else []
    return _listed(value)


def marked_statements(value: Any) -> list[str]:
    """Read a field of statements as BIRD-CRITIC does: a text is split at `[split]`, a list stays."""
    if isinstance(value, str):
        return [part for each in _SPLIT.split(value) if (part := each.strip())]
    return _listed(value)


def encoded_statements(value: Any) -> list[str]:
    """Read a field of statements as BIRD-Interact does: a text may be a JSON list of texts."""
    if not isinstance(value, str):
        return _listed(value)
    text = value.strip()
    try:
        decoded = json.loads(text)
    except ValueError:
        return [text]
    return [each for each in decoded if isinstance(each, str)] if isinstance(decoded, list) else []


@dataclass(frozen=True, kw_only=True)
class ScriptFamily:
    """What one family of official scripts does.

    `benchmarks` names the sets that it judges. `statements` reads a field of statements. `extract` takes
    statements out of a raw response, None where no script does. `task_seconds` is
    the limit of a whole task, `statement_seconds` that of one statement, and `recursive_seconds` that of one
    that has WITH RECURSIVE; None without one. `tests_queries`: whether a task of the category Query is judged
    by its own test cases, if it has any. `untested` is what becomes of other tasks without test cases.
    `has_issue`: whether the user's faulty SQL has to fail first. `has_default_test`: whether `ex_base` stands
    behind tasks without test cases. `converts_numbers`: whether numbers are rounded before rows are compared.
    `removes_distinct_anywhere`: whether DISTINCT is taken out
    of strings, too. `passes_conditions`: whether test cases get `conditions=`. `has_efficiency`: whether
    tasks of efficiency compare the user's SQL with the answer by cost. `cuts_all_rows`: whether the rows of
    any text are cut to the first 10,000, not those of SELECT and WITH alone.
    `statements_by_letter`: whether `execute_queries` takes a text for a list of letters, and
    `prepares_by_letter`: whether a text before the answer is one, so that nothing of it is executed.
    `calls_every_function`: whether everything callable that test cases define is a test.
    `has_talks`: whether a model may ask back, because knowledge is hidden and questions are ambiguous.
    `knows_dates`: whether the functions of test cases see `date`.
    `ignores_faults`: whether `ex_base` compares rows after errors, too; `execute_queries` returns messages.
    `begins_costs`: whether BEGIN and ROLLBACK stand around statements whose costs are compared.
    `required` are the fields without which a task fails, and `needs_answer`: whether one does to which
    there is no answer; an empty list of statements is one.
    """

    name: str
    benchmarks: str
    dialect: Dialect
    statements: Callable[[Any], list[str]] = whole_statements
    extract: Callable[[str], list[str]] | None = None
    task_seconds: float | None = None
    statement_seconds: float | None = None
    recursive_seconds: float | None = None
    tests_queries: bool = True
    untested: UntestedTask = UntestedTask.DEFAULT_TEST
    has_issue: bool = False
    has_default_test: bool = True
    converts_numbers: bool = True
    removes_distinct_anywhere: bool = False
    passes_conditions: bool = False
    has_efficiency: bool = False
    cuts_all_rows: bool = True
    statements_by_letter: bool = False
    prepares_by_letter: bool = False
    calls_every_function: bool = False
    has_talks: bool = False
    knows_dates: bool = True
    ignores_faults: bool = False
    begins_costs: bool = True
    required: tuple[str, ...] = ("sol_sql",)
    needs_answer: bool = True


FAMILIES: Mapping[str, ScriptFamily] = {
    each.name: each
    for each in (
        ScriptFamily(
            name="livesqlbench-sqlite",
            benchmarks="Mini-Dev V2, LiveSQLBench-Base-Lite-SQLite",
            dialect=Dialect.SQLITE,
            extract=sqlite_statements,
            task_seconds=180,
            required=("selected_database", "preprocess_sql", "sol_sql"),
        ),
        ScriptFamily(
            name="livesqlbench",
            benchmarks="LiveSQLBench-Base-Lite, Base-Full, Large",
            dialect=Dialect.POSTGRESQL,
            extract=postgresql_statements,
            statement_seconds=60,
            tests_queries=False,
            untested=UntestedTask.PASSES,
            knows_dates=False,
            required=("instance_id", "selected_database", "preprocess_sql", "sol_sql"),
        ),
        ScriptFamily(
            name="critic-sqlite",
            benchmarks="BIRD-CRITIC-SQLite",
            dialect=Dialect.SQLITE,
            extract=fenced_statements,
            task_seconds=180,
            has_issue=True,
            passes_conditions=True,
            required=("preprocess_sql", "sol_sql"),
        ),
        ScriptFamily(
            name="critic-postgresql",
            benchmarks="BIRD-CRITIC-PostgreSQL, BIRD-CRITIC flash, BIRD-CRITIC open (PostgreSQL)",
            dialect=Dialect.POSTGRESQL,
            statements=marked_statements,
            extract=fenced_statements,
            task_seconds=300,
            statement_seconds=60,
            recursive_seconds=15,
            untested=UntestedTask.PASSES,
            has_default_test=False,
            converts_numbers=False,
            removes_distinct_anywhere=True,
            has_efficiency=True,
            statements_by_letter=True,
            required=("db_id", "issue_sql", "sol_sql"),
        ),
        ScriptFamily(
            name="critic-mysql",
            benchmarks="BIRD-CRITIC open (MySQL)",
            dialect=Dialect.MYSQL,
            statements=marked_statements,
            extract=fenced_statements,
            task_seconds=300,
            statement_seconds=120,
            untested=UntestedTask.PASSES,
            has_default_test=False,
            converts_numbers=False,
            removes_distinct_anywhere=True,
            has_efficiency=True,
            statements_by_letter=True,
            ignores_faults=True,
            begins_costs=False,
            required=("db_id", "issue_sql", "sol_sql"),
        ),
        ScriptFamily(
            name="interact",
            benchmarks="BIRD-Interact lite and full, c-Interact, in both phases",
            dialect=Dialect.POSTGRESQL,
            statements=encoded_statements,
            statement_seconds=60,
            recursive_seconds=15,
            tests_queries=False,
            required=("selected_database",),
            needs_answer=False,
            cuts_all_rows=False,
            calls_every_function=True,
            has_talks=True,
            statements_by_letter=True,
            prepares_by_letter=True,
        ),
    )
}
"""Every family that is judged, by name."""

"""The official verdict: the life of a task as the scripts of its family run it, on a copy of its own.

What differs from the scripts: the answer is judged, not gold (T2), each task has a fresh copy (T5), and an
error of the harness is no verdict (T4). docs/explanation/tasks.md has the list.
"""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import partial
from typing import Any

from harness.labs.tasks.engine import StatementsResult, TaskSession, engine_of, run_officially
from harness.labs.tasks.families import ScriptFamily, TaskCategory, UntestedTask
from harness.labs.tasks.helpers import (
    Rows,
    check_sql_function_usage,
    compared_by_cost,
    dated_results,
    ex_base,
    preprocess_results,
    remove_comments,
    remove_distinct,
    remove_every_distinct,
    remove_round,
    test_by_default,
)
from harness.labs.tasks.layouts import Task


class OfficialStatus(StrEnum):
    """What the scripts count."""

    PASSED = "passed"
    EXECUTION_ERROR = "execution_error"
    TIMEOUT = "timeout"
    ASSERTION_ERROR = "assertion_error"
    ISSUE_PASSES = "issue_passes"
    """BIRD-CRITIC-SQLite: the user's SQL passes all tests, which fails the task."""


@dataclass(frozen=True)
class OfficialVerdict:
    """The status, and what the first fault says."""

    status: OfficialStatus
    message: str | None = None

    @property
    def passes(self) -> bool:
        """True if the scripts count the task as passed."""
        return self.status is OfficialStatus.PASSED


def missing_fields(task: Task, family: ScriptFamily) -> list[str]:
    """Return the fields without which the scripts fail a task."""
    return [name for name in family.required if name not in task.record]


def tests_of(task: Task, family: ScriptFamily) -> Sequence[str] | None:
    """Return the test cases that judge a task; None if the default test does.

    An empty sequence means that it passes if it runs.
    """
    is_query = task.category is TaskCategory.QUERY
    if is_query and not family.tests_queries:
        return None
    if task.test_cases:
        return task.test_cases
    if is_query and family.has_default_test:
        return None
    return None if family.untested is UntestedTask.DEFAULT_TEST else ()


def official_verdict(
    task: Task, family: ScriptFamily, answer: Sequence[str], opened: Callable[[], TaskSession]
) -> OfficialVerdict:
    """Judge an answer; `opened` opens a session on a fresh copy, and its caller closes it.

    An error of a statement or a test never raises.
    """
    if family.has_issue and task.issue:
        issue = _phase(task, family, task.issue, opened())
        if issue.passes:
            return OfficialVerdict(OfficialStatus.ISSUE_PASSES, "the issue's own SQL passes all tests")
    return _phase(task, family, answer, opened())


def _phase(task: Task, family: ScriptFamily, answer: Sequence[str], session: TaskSession) -> OfficialVerdict:
    run_officially(session, task.preprocess)
    done = run_officially(session, answer)
    if done.fault is not None:
        status = OfficialStatus.TIMEOUT if done.fault.is_timeout else OfficialStatus.EXECUTION_ERROR
        return OfficialVerdict(status, str(done.fault))
    failure = _first_failure(task, family, answer, done.rows, session)
    if failure is None:
        return OfficialVerdict(OfficialStatus.PASSED)
    return OfficialVerdict(OfficialStatus.ASSERTION_ERROR, failure)


def _first_failure(
    task: Task, family: ScriptFamily, answer: Sequence[str], rows: Rows, session: TaskSession
) -> str | None:
    """Run all tests; return what the first failure says, None if there is none."""
    tests = tests_of(task, family)
    if tests is not None and family.calls_every_function:
        functions = _defined(tests, {**namespace(family, session), "pred_query_result": rows})
        for function in functions:
            try:
                with redirect_stdout(io.StringIO()):
                    function(list(answer), list(task.gold), "copy", session.connection)
            except Exception as error:  # noqa: BLE001 - any exception fails a test
                return f"{type(error).__name__}: {error}"
        if functions:
            return None
        tests = None
    if tests is None:
        run = partial(_answered, session)
        try:
            test_by_default(family, run, answer, task.gold, task.conditions)
        except Exception as error:  # noqa: BLE001 - any exception fails a test
            return f"{type(error).__name__}: {error}"
        return None
    failures = [
        failure
        for text in tests
        if (failure := _failure(task, family, text, answer, rows, session)) is not None
    ]
    return failures[0] if failures else None


def _failure(  # noqa: PLR0913, PLR0917 - what a test case can see
    task: Task, family: ScriptFamily, text: str, answer: Sequence[str], rows: Rows, session: TaskSession
) -> str | None:
    """Run one test case; return why it fails, None if it passes."""
    known: dict[str, Any] = {**namespace(family, session), "pred_query_result": rows}
    lists = (list(answer), list(task.gold))
    if family.has_efficiency and task.is_efficiency:
        lists = (list(task.issue), list(answer))
    given = {
        "pred_sqls": lists[0],
        "sol_sqls": lists[1],
        **dict.fromkeys(("db_path", "db_name"), "copy"),
        "conn": session.connection,
        "kwargs": {"conditions": dict(task.conditions)} if family.passes_conditions else {},
    }
    try:
        with redirect_stdout(io.StringIO()):
            _call(text, family, known, given)
    except BaseException as error:  # noqa: BLE001 - any exception fails a test, SystemExit as well
        return f"{type(error).__name__}: {error}"
    return None


def _call(text: str, family: ScriptFamily, known: dict[str, Any], given: dict[str, Any]) -> None:
    """Execute a test case and its call with two dictionaries, so that functions see the first alone."""
    engine = engine_of(family)
    call = f"test_case(pred_sqls, sol_sqls, {engine.place}, conn, **kwargs)"
    exec(  # noqa: S102 - a test case
        f"{engine.imports}from datetime import date\n{text}\n__result__ = {call}", known, given
    )


def _defined(tests: Sequence[str], known: dict[str, Any]) -> list[Callable[..., object]]:
    """Return everything callable that test cases of BIRD-Interact define, imported classes as well."""
    found: list[Callable[..., object]] = []
    for text in tests:
        defined: dict[str, Any] = {}
        # A text that does not compile, or fails, defines nothing.
        with suppress(Exception):
            exec(text, known, defined)  # noqa: S102 - a test case
            found += [each for each in defined.values() if callable(each)]
    return found


def namespace(family: ScriptFamily, session: TaskSession, *, is_whole: bool = False) -> dict[str, Any]:
    """Return what a test case of the family finds in its globals, by name; all helpers if `is_whole`."""
    engine = engine_of(family)
    run = partial(_answered, session)
    common: dict[str, Any] = {
        "execute_queries": partial(
            _execute_all if family.ignores_faults else _execute_queries, session, family
        ),
        engine.query_function: partial(_perform_query, session),
        "check_sql_function_usage": check_sql_function_usage,
        "remove_distinct": remove_every_distinct if family.removes_distinct_anywhere else remove_distinct,
        "preprocess_results": preprocess_results if family.converts_numbers else dated_results,
        "ex_base": lambda pred, sol, _place, _conn, conditions=None: ex_base(
            family, run, pred, sol, conditions
        ),
    }
    if family.has_default_test:
        common |= {"remove_comments": remove_comments, "remove_round": remove_round}
    if family.calls_every_function:
        common |= {"json": json, "test_case_default": partial(_default, family, run)}
        # Its test cases see the evaluator's own names, among which are no other helpers.
        own = {"execute_queries", "json", "test_case_default"}
        return common if is_whole else {name: common[name] for name in own}
    if (cost := engine.cost) is not None:
        common["performance_compare_by_qep"] = lambda old, new, _place, _conn: compared_by_cost(
            family, session.official, cost, engine.explain, old, new
        )
    if family.knows_dates:
        common["date"] = date
    return common


def _default(
    family: ScriptFamily,
    run: Callable[[str | Sequence[str]], tuple[Rows, bool, bool]],
    pred: Sequence[str],
    sol: Sequence[str],
    *_place: object,
    conditions: Mapping[str, Any] | None = None,
) -> int:
    test_by_default(family, run, pred, sol, conditions or {})
    return 1


def _answered(session: TaskSession, statements: str | Sequence[str]) -> tuple[Rows, bool, bool]:
    return _reported(run_officially(session, statements))


def _reported(done: StatementsResult) -> tuple[Rows, bool, bool]:
    """Return the rows, whether there was an error, and whether that was the time limit, as the scripts do."""
    fault = done.fault
    return done.rows, fault is not None and not fault.is_timeout, fault is not None and fault.is_timeout


def _execute_queries(
    session: TaskSession,
    family: ScriptFamily,
    queries: str | Sequence[str],
    _place: object = None,
    _conn: object = None,
    _logger: object = None,
    section_title: str = "",
    return_error: bool = False,  # noqa: FBT001, FBT002
) -> tuple[Any, ...]:
    del section_title
    if isinstance(queries, str) and family.statements_by_letter:
        queries = list(queries)
    done = run_officially(session, queries)
    return (*_reported(done), str(done.fault or "")) if return_error else _reported(done)


def _execute_all(
    session: TaskSession,
    family: ScriptFamily,
    queries: str | Sequence[str],
    _place: object = None,
    _conn: object = None,
    _logger: object = None,
    section_title: str = "",
    is_solution: bool = True,  # noqa: FBT001, FBT002
) -> tuple[Any, ...]:
    """Be `execute_queries` of the family that ignores faults: errors count if `is_solution`."""
    del section_title
    rows, *faults, message = _execute_queries(session, family, queries, return_error=True)
    return (rows, *(is_solution and fault for fault in faults), message)


def _perform_query(
    session: TaskSession, query: str, _place: object = None, conn: Any = None, **_: object
) -> tuple[Rows, Any]:
    return session.official(query), session.connection if conn is None else conn

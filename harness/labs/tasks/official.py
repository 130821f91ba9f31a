"""The official verdict: the life of a task as the scripts of its family run it, on a copy of its own.

What differs from the scripts: the answer is judged, not gold (T2), each task has a fresh copy (T5), and an
error of the harness is no verdict (T4). docs/explanation/tasks.md has the list.
"""

import argparse
import io
import json
from collections.abc import Callable, Sequence, Sized
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from functools import partial
from inspect import Parameter, Signature
from typing import Any

from harness.labs.tasks.engine import StatementsResult, TaskSession, engine_of, run_officially
from harness.labs.tasks.families import ScriptFamily, TaskCategory, UntestedTask
from harness.labs.tasks.helpers import (
    Answered,
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
    """Return the fields without which the scripts fail a task.

    Test cases may be left out, but what is there in their place has to have a length.
    """
    missing = [name for name in family.required if name not in task.record]
    is_read = not family.calls_every_function and (family.tests_queries or task.category != "Query")
    if is_read and not isinstance(task.record.get("test_cases", ()), Sized):
        missing.append("test_cases")
    return missing


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
    # Test cases get these very lists, and the next one finds what the one before did to them.
    gold = list(task.gold)
    if task.failing:
        issue = _phase(task, family, list(task.failing), gold, opened())
        if issue.passes:
            return OfficialVerdict(OfficialStatus.ISSUE_PASSES, "the issue's own SQL passes all tests")
    return _phase(task, family, list(answer), gold, opened())


def _phase(
    task: Task, family: ScriptFamily, answer: list[str], gold: list[str], session: TaskSession
) -> OfficialVerdict:
    prepared = task.preprocess
    if family.prepares_by_letter and isinstance(given := task.record.get("preprocess_sql"), str):
        prepared = list(given)
    run_officially(session, prepared)
    done = run_officially(session, answer)
    if done.fault is not None:
        status = OfficialStatus.TIMEOUT if done.fault.is_timeout else OfficialStatus.EXECUTION_ERROR
        return OfficialVerdict(status, str(done.fault))
    failure = _first_failure(task, family, answer, gold, done.rows, session)
    if failure is None:
        return OfficialVerdict(OfficialStatus.PASSED)
    return OfficialVerdict(OfficialStatus.ASSERTION_ERROR, failure)


def _first_failure(  # noqa: PLR0913, PLR0917 - what test cases can see
    task: Task, family: ScriptFamily, answer: list[str], gold: list[str], rows: Rows, session: TaskSession
) -> str | None:
    """Run all tests; return what the first failure says, None if there is none."""
    tests = tests_of(task, family)
    if tests and isinstance(task.record["test_cases"], str) and not family.calls_every_function:
        return "test_cases is one text, and each of its letters is no test"
    if tests is not None and family.calls_every_function:
        functions = _defined(tests, {**namespace(family, session), "pred_query_result": rows})
        for function in functions:
            try:
                with redirect_stdout(io.StringIO()):
                    function(answer, gold, session.place, session.connection)
            except Exception as error:  # noqa: BLE001 - any exception fails a test
                return f"{type(error).__name__}: {error}"
        if functions:
            return None
        tests = None
    if tests is None:
        run = _answering(session, family, session.connection)
        try:
            test_by_default(family, run, answer, gold, task.given_conditions)
        except Exception as error:  # noqa: BLE001 - any exception fails a test
            return f"{type(error).__name__}: {error}"
        return None
    lists = (answer, gold)
    if family.has_efficiency and task.is_efficiency:
        lists = (list(task.issue), answer)
    failures = [
        failure
        for text in tests
        if (failure := _failure(task, family, text, lists, rows, session)) is not None
    ]
    return failures[0] if failures else None


def _failure(  # noqa: PLR0913, PLR0917 - what a test case can see
    task: Task,
    family: ScriptFamily,
    text: str,
    lists: tuple[list[str], list[str]],
    rows: Rows,
    session: TaskSession,
) -> str | None:
    """Run one test case; return why it fails, None if it passes."""
    known: dict[str, Any] = {**namespace(family, session), "pred_query_result": rows}
    given = {
        "pred_sqls": lists[0],
        "sol_sqls": lists[1],
        engine_of(family).place: session.place,
        "conn": session.connection,
        "kwargs": {"conditions": task.given_conditions} if family.passes_conditions else {},
    }
    try:
        with redirect_stdout(io.StringIO()):
            _call(text, family, known, given)
    except Exception as error:  # noqa: BLE001 - any exception fails a test; SystemExit ends the process
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
    """Return what a test case of the family finds in its globals, by name.

    `is_whole` is the strict verdict's: all helpers are there, and an error is one to `ex_base`, too.
    """
    engine = engine_of(family)
    compared = replace(family, ignores_faults=False) if is_whole else family
    lists, places = ("pred_sqls", "sol_sqls"), (engine.place, "conn")
    common: dict[str, Any] = {
        "execute_queries": with_parameters(
            partial(_execute_queries, session, family),
            "queries",
            *places,
            logger=None,
            section_title="",
            **engine.execution_options,
        ),
        engine.query_function: with_parameters(
            partial(_perform_query, session, family), "query", engine.place, conn=None, **engine.query_options
        ),
        "check_sql_function_usage": check_sql_function_usage,
        "remove_distinct": remove_every_distinct if family.removes_distinct_anywhere else remove_distinct,
        "preprocess_results": preprocess_results if family.converts_numbers else dated_results,
        "ex_base": with_parameters(
            partial(_ex_base, session, compared),
            *lists,
            *places,
            **({"conditions": None} if family.has_default_test else {}),
        ),
    }
    if family.has_default_test:
        common |= {"remove_comments": remove_comments, "remove_round": remove_round}
    if family.calls_every_function:
        common |= {
            "argparse": argparse,
            "json": json,
            "StringIO": io.StringIO,
            "redirect_stdout": redirect_stdout,
            "test_case_default": with_parameters(
                partial(_default, session, family), *lists, *places, conditions=None
            ),
        }
        # Its test cases see the evaluator's own names, among which are no other helpers.
        own = {"argparse", "execute_queries", "json", "redirect_stdout", "StringIO", "test_case_default"}
        return common if is_whole else {name: common[name] for name in own}
    if (cost := engine.cost) is not None:
        common["performance_compare_by_qep"] = with_parameters(
            lambda *, old_sqls, sol_sqls, **_: compared_by_cost(
                family, session.official, cost, engine.explain, old_sqls, sol_sqls
            ),
            "old_sqls",
            "sol_sqls",
            *places,
        )
    if family.knows_dates:
        common["date"] = date
    return common


def with_parameters(work: Callable[..., Any], *names: str, **optional: Any) -> Callable[..., Any]:
    """Return a function that gives `work` its arguments by name, and takes them as the scripts' one does.

    Raises:
        TypeError: when it is called with others.
    """
    kind = Parameter.POSITIONAL_OR_KEYWORD
    signature = Signature(
        [
            *(Parameter(name, kind) for name in names),
            *(Parameter(name, kind, default=value) for name, value in optional.items()),
        ]
    )

    def call(*values: Any, **named: Any) -> Any:
        bound = signature.bind(*values, **named)
        bound.apply_defaults()
        return work(**bound.arguments)

    return call


def _default(  # noqa: PLR0913 - the parameters of the scripts, and the session
    session: TaskSession,
    family: ScriptFamily,
    *,
    pred_sqls: Sequence[str],
    sol_sqls: Sequence[str],
    conn: Any,
    conditions: Any,
    **_place: object,
) -> int:
    test_by_default(family, _answering(session, family, conn), pred_sqls, sol_sqls, conditions)
    return 1


def _ex_base(  # noqa: PLR0913 - the parameters of the scripts, and the session
    session: TaskSession,
    family: ScriptFamily,
    *,
    pred_sqls: Sequence[str],
    sol_sqls: Sequence[str],
    conn: Any,
    conditions: Any = None,
    **_place: object,
) -> int:
    return ex_base(family, _answering(session, family, conn), pred_sqls, sol_sqls, conditions)


def _answering(session: TaskSession, family: ScriptFamily, connection: Any) -> Answered:
    """Return what executes statements on a connection and returns what the scripts' function does."""
    return lambda statements: _reported(_run(session, family, statements, connection))


def _run(
    session: TaskSession, family: ScriptFamily, statements: str | Sequence[str], connection: Any
) -> StatementsResult:
    letters = isinstance(statements, str) and family.statements_by_letter
    return run_officially(_on(session, family, connection), list(statements) if letters else statements)


def _on(session: TaskSession, family: ScriptFamily, connection: Any) -> TaskSession:
    """Return the session on the connection that test code names."""
    on = engine_of(family).on
    return session if on is None or connection is session.connection else on(session, connection)


def _reported(done: StatementsResult) -> tuple[Rows, bool, bool]:
    """Return the rows, whether there was an error, and whether that was the time limit, as the scripts do."""
    fault = done.fault
    return done.rows, fault is not None and not fault.is_timeout, fault is not None and fault.is_timeout


def _execute_queries(  # noqa: PLR0913 - the parameters of the scripts, and the session
    session: TaskSession,
    family: ScriptFamily,
    *,
    queries: str | Sequence[str],
    conn: Any,
    return_error: bool = False,
    is_solution: bool = True,
    **_others: object,
) -> tuple[Any, ...]:
    """Execute statements; errors count if `is_solution`, where the family has that parameter."""
    done = _run(session, family, queries, conn)
    rows, *faults = _reported(done)
    if family.ignores_faults:
        return (rows, *(bool(is_solution and fault) for fault in faults), str(done.fault or ""))
    return (rows, *faults, str(done.fault or "")) if return_error else (rows, *faults)


def _perform_query(
    session: TaskSession, family: ScriptFamily, *, query: str, conn: Any = None, **_others: object
) -> tuple[Rows, Any]:
    used = _on(session, family, conn)
    return used.official(query), used.connection

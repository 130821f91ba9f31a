"""The strict verdict: what the official one would be without its traps; docs/explanation/tasks.md lists them.

Gold and answer run once each, on copies of their own, as they are written. Rows are compared as multisets,
with numbers by value at the places that the task's conditions ask for, whole moments, and JSON as JSON. Test
cases have one namespace.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from enum import StrEnum
from functools import partial
from typing import Any

from harness.labs.tasks.engine import LEADING, StatementsResult, TaskSession, engine_of
from harness.labs.tasks.families import ScriptFamily
from harness.labs.tasks.helpers import PLACES, Rows
from harness.labs.tasks.layouts import Task
from harness.labs.tasks.official import namespace, tests_of, with_parameters


class StrictStatus(StrEnum):
    """The strict verdict on an answer."""

    PASSED = "passed"
    PASSED_EMPTY = "passed_empty"
    """Passed, with no row on either side."""
    ERROR = "error"
    MISMATCH = "mismatch"
    TEST_FAILED = "test_failed"
    GOLD_ERROR = "gold_error"
    """Gold fails, so that nothing can be compared with it."""
    UNTESTED = "untested"
    """It runs, and neither rows nor test cases judge it; the verdict on the state does."""


@dataclass(frozen=True)
class StrictVerdict:
    """The status, and why it is not passed."""

    status: StrictStatus
    message: str | None = None

    @property
    def passes(self) -> bool | None:
        """True if it is right, False if it is wrong, None if nothing judges it."""
        if self.status in {StrictStatus.UNTESTED, StrictStatus.GOLD_ERROR}:
            return None
        return self.status in {StrictStatus.PASSED, StrictStatus.PASSED_EMPTY}


def strict_verdict(  # noqa: PLR0913, PLR0917 - both sides, and what judges them
    task: Task,
    family: ScriptFamily,
    answer: Sequence[str],
    done: StatementsResult,
    gold: StatementsResult,
    session: TaskSession,
    old_cost: float | None = None,
) -> StrictVerdict:
    """Judge an answer that was run.

    Args:
        task: the task.
        family: its script family.
        answer: the statements.
        done: what they returned on their copy.
        gold: what gold returned on its copy.
        session: the session in which the answer was run, for test cases.
        old_cost: what the issue's statements cost before, of a task of efficiency.
    """
    if done.fault is not None:
        return StrictVerdict(StrictStatus.ERROR, str(done.fault))
    tests = tests_of(task, family)
    if tests is None:
        if gold.fault is not None:
            return StrictVerdict(StrictStatus.GOLD_ERROR, str(gold.fault))
        return _compared(task, done.rows, gold.rows)
    if not tests:
        return StrictVerdict(StrictStatus.UNTESTED, "the task has no test cases")
    for text in tests:
        failure = _failure(task, family, text, answer, done, gold, session, old_cost)
        if failure is not None:
            return StrictVerdict(StrictStatus.TEST_FAILED, failure)
    return StrictVerdict(StrictStatus.PASSED)


def _compared_once(
    task: Task,
    answer: Sequence[str],
    rows: Rows,
    gold: StatementsResult,
    usual: Callable[..., int],
    **given: Any,
) -> int:
    """Be `ex_base`: compare the rows that answer and gold have returned on their own copies.

    Other lists of statements, and those without rows, are executed as usual.
    """
    is_known = [*given["pred_sqls"]] == [*answer] and [*given["sol_sqls"]] == [*task.gold]
    if not is_known or gold.fault is not None or rows is None or gold.rows is None:
        return usual(**given)
    return int(bool(_compared(task, rows, gold.rows).passes))


def _compared(task: Task, rows: Rows, gold: Rows) -> StrictVerdict:
    if rows is None or gold is None:
        if rows is gold:
            return StrictVerdict(StrictStatus.UNTESTED, "neither the answer nor gold returns rows")
        return StrictVerdict(
            StrictStatus.MISMATCH, f"{'the answer' if rows is None else 'gold'} returns no rows"
        )
    places = task.own_conditions.get("decimal")
    places = places if isinstance(places, int) and not isinstance(places, bool) and places >= 0 else PLACES
    left, right = ([_row(row, places) for row in each] for each in (rows, gold))
    if task.own_conditions.get("order"):
        is_same = left == right
    elif task.own_conditions.get("distinct"):
        is_same = set(left) == set(right)
    else:
        is_same = Counter(left) == Counter(right)
    if not is_same:
        return StrictVerdict(StrictStatus.MISMATCH, f"{len(rows):,} rows, gold has {len(gold):,}")
    return StrictVerdict(StrictStatus.PASSED if rows else StrictStatus.PASSED_EMPTY)


def _row(row: Sequence[Any], places: int) -> tuple[Any, ...]:
    return tuple(_value(value, places) for value in row)


def _value(value: Any, places: int) -> Any:  # noqa: PLR0911 - one for each kind of value
    """Return a value that is equal to another's if they are the same to a reader; it can be hashed."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        return _number(value, places)
    if isinstance(value, dict):
        return "object", frozenset((str(key), _value(each, places)) for key, each in value.items())
    if isinstance(value, list | tuple):
        return "list", tuple(_value(each, places) for each in value)
    if isinstance(value, date):
        return "moment", value.isoformat()
    if isinstance(value, memoryview | bytearray):
        return bytes(value)
    if isinstance(value, str):
        return _document(value, places)
    return value if value.__hash__ is not None else repr(value)


def _document(text: str, places: int) -> Any:
    """Return a text, or what it holds if it is an object or a list in JSON."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _value(found, places)


def _number(value: float | Decimal, places: int) -> Any:
    """Return a number rounded half up to some places, as its shortest text reads."""
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not exact.is_finite():
        return str(exact)
    try:
        with localcontext() as context:
            context.prec = 400
            return exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    except InvalidOperation:
        return exact


def _failure(  # noqa: PLR0913, PLR0917 - what a test case can see
    task: Task,
    family: ScriptFamily,
    text: str,
    answer: Sequence[str],
    done: StatementsResult,
    gold: StatementsResult,
    session: TaskSession,
    old_cost: float | None,
) -> str | None:
    """Run one test case in one namespace; return why it fails, None if it passes."""
    lists = (list(answer), list(task.gold))
    if family.has_efficiency and task.is_efficiency:
        lists = (list(task.issue), list(answer))
    usual = namespace(family, session, is_whole=True)
    places = (engine_of(family).place, "conn")
    known: dict[str, Any] = {
        **usual,
        "pred_query_result": done.rows,
        "date": date,
        "ex_base": with_parameters(
            partial(_compared_once, task, answer, done.rows, gold, usual["ex_base"]),
            *("pred_sqls", "sol_sqls", *places),
            **({"conditions": None} if family.has_default_test else {}),
        ),
    }
    if engine_of(family).cost is not None:
        known["performance_compare_by_qep"] = with_parameters(
            partial(_is_cheaper, task, session, answer, old_cost), "old_sqls", "sol_sqls", *places
        )
    options: Mapping[str, Any] = {"conditions": dict(task.conditions)} if family.passes_conditions else {}
    try:
        with redirect_stdout(io.StringIO()):
            exec(text, known)  # noqa: S102 - a test case
            test: Callable[..., object] = known["test_case"]
            test(*lists, session.place, session.connection, **options)
    except BaseException as error:  # noqa: BLE001 - any exception fails a test, SystemExit as well
        return f"{type(error).__name__}: {error}"
    return None


def issue_cost(task: Task, session: TaskSession) -> float | None:
    """Return what the issue's statements cost by their plans; None if it is unknown, or nobody asks."""
    family = task.family
    if not (family.has_efficiency and task.is_efficiency and task.issue):
        return None
    try:
        return _cost(family, session, task.issue)
    except Exception:  # noqa: BLE001 - whatever the engine does not explain
        return None


_EXPLAINED = re.compile(
    LEADING + r"(?:select|with|values|table|insert|update|delete|replace|merge)\b", re.IGNORECASE
)


def _cost(
    family: ScriptFamily, session: TaskSession, statements: Sequence[str], *, has_run: bool = False
) -> float:
    """Return what statements cost by their plans.

    Those without a plan, as CREATE INDEX, are executed before those that follow, and rolled back afterwards
    where an engine can; none is if all of them `has_run` already.

    Raises:
        ValueError: no statement has a plan.
        Exception: the engine explains or executes one not.
    """
    engine = engine_of(family)
    assert engine.cost is not None  # noqa: S101 - the caller has looked
    planned = [text for text in statements if _EXPLAINED.match(text)]
    if not planned:
        raise ValueError("no statement has a plan, so that the cost is unknown")
    executes = family.begins_costs and not has_run and len(planned) < len(statements)
    if executes:
        session.whole("BEGIN")
    try:
        total = 0.0
        for text in statements:
            if _EXPLAINED.match(text):
                total += engine.cost(session.whole(f"{engine.explain} {text}"))
            elif executes:
                session.whole(text)
        return total
    finally:
        if executes:
            session.whole("ROLLBACK")


def _is_cheaper(  # noqa: PLR0913 - the parameters of the scripts, and both sides
    task: Task,
    session: TaskSession,
    answer: Sequence[str],
    old_cost: float | None,
    *,
    old_sqls: Sequence[str],
    sol_sqls: Sequence[str],
    **_place: object,
) -> int:
    """Be `performance_compare_by_qep`: an unknown cost is an error.

    What the issue costs was found out before the answer changed the copy.
    """
    if old_cost is not None and [*old_sqls] == [*task.issue]:
        old = old_cost
    else:
        old = _cost(task.family, session, old_sqls)
    return int(_cost(task.family, session, sol_sqls, has_run=[*sol_sqls] == [*answer]) < old)

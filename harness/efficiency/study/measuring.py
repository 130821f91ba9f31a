"""What parts measure of a text, as plain values: counted work, its plan, its rows as a digest."""

import hashlib
from collections.abc import Mapping
from typing import Any

from harness.engines import EngineName, dialect_of
from harness.engines.base import Engine, SqlError, SqlTimeout, SqlTooLarge
from harness.engines.execution import Ending, Limits, NotCounted, count_work, execute
from harness.engines.plans import PlanNode, explain
from harness.metrics.work import units
from loaders.namespace import Database


def counted(engine: Engine, database: Database, text: str, limits: Limits) -> dict[str, Any]:
    """The counters of one execution (`counters`), or the ending it came to (`ending`) and why (`error`).

    Raises:
        EngineLost: the engine is to blame.
    """
    try:
        work = count_work(engine, database, text, limits)
    except SqlTimeout as error:
        return {"ending": Ending.TIMEOUT, "error": error.message}
    except SqlTooLarge as error:
        return {"ending": Ending.TOO_LARGE, "error": error.message}
    except SqlError as error:
        return {"ending": Ending.ERROR, "error": error.message}
    if isinstance(work, NotCounted):
        return {"ending": Ending.ERROR, "error": work.reason}
    return {"counters": dict(work.counters)}


def work_of(engine: EngineName, record: Mapping[str, Any]) -> float | None:
    """The work that `counted` has found, in `units`; None where the text did not come to its end."""
    counters = record.get("counters")
    return None if counters is None else units(dialect_of(engine), counters)


def plan_of(engine: Engine, database: Database, text: str, limits: Limits) -> PlanNode | None:
    """The plan as the optimizer estimates it, without running the text; None where there is none."""
    return explain(engine, database, text, limits, is_run=False).root


def indexes_of(root: PlanNode | None) -> frozenset[str]:
    """The names of the indexes in a plan."""
    return frozenset() if root is None else frozenset(node.index for node in root.walk() if node.index)


def outline(root: PlanNode | None) -> str:
    """A plan in one line: its steps by the words that are the same for every engine, tables and indexes."""
    if root is None:
        return "none"
    on = " ".join(filter(None, (root.table, f"by {root.index}" if root.index else None)))
    children = ", ".join(map(outline, root.children))
    return f"{root.operator}{f' {on}' if on else ''}{f' ({children})' if children else ''}"


def rows_digest(engine: Engine, database: Database, text: str, limits: Limits) -> str:
    """A digest of the rows as a bag, or the ending; of fractions nine digits: sums depend on their order."""
    execution = execute(engine, database, text, limits)
    if execution.ending is not Ending.ROWS:
        return execution.ending.value
    rows = sorted(
        repr([f"{value:.9g}" if isinstance(value, float) else str(value) for value in row])
        for row in execution.rows
    )
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]

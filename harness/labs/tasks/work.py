"""What the engine does for the statements of a task of efficiency: the counted work of questions.

The cost by the plan is an estimate, and the scripts compare nothing else. docs/explanation/efficiency.md
describes the counts.
"""

from collections.abc import Sequence
from functools import cache
from tempfile import NamedTemporaryFile

from harness.engines import kind_of
from harness.engines.execution import Limits, NotCounted, count_work
from harness.labs.tasks.engine import TaskSession, begins_as_query, engine_of
from harness.labs.tasks.families import ScriptFamily
from harness.metrics.work import units


@cache
def prepare_counting(family: ScriptFamily) -> None:
    """Import and read what counting needs, before a process gives up its right to do so."""
    units(family.dialect, {})
    if engine_of(family).has_server:
        return
    with NamedTemporaryFile() as file:
        server, database = engine_of(family).reached(file.name, family.dialect)
        with kind_of(family.dialect).make(server, pooled=False).session(database, 1) as session:
            # Not by `count_work`, whose thread would not come along with a fork.
            session.counted("SELECT 1")


def work_of(
    family: ScriptFamily, place: str, session: TaskSession, statements: Sequence[str], seconds: float
) -> float | None:
    """Return the counted work of all queries among statements; None if one fails or cannot be counted.

    The others, as CREATE INDEX, are executed at their places and count nothing.

    Args:
        family: the script family.
        place: of the copy, from `Copies.fresh`.
        session: on this copy, which commits each statement.
        statements: what to execute.
        seconds: the limit of a query.
    """
    reached = engine_of(family).reached
    total: float | None = None
    for text in statements:
        try:
            if not begins_as_query(text):
                session.whole(text)
                continue
            server, database = reached(place, family.dialect)
            engine = kind_of(family.dialect).make(server, pooled=False)
            found = count_work(engine, database, text, Limits(seconds))
        except Exception:  # noqa: BLE001 - whatever the text does to its session
            return None
        if isinstance(found, NotCounted):
            return None
        total = (total or 0.0) + units(family.dialect, found.counters)
    return total

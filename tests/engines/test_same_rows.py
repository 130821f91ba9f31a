"""A query without ORDER BY has its rows in the same order after every load, and after a restart."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest

from dialects.enums import Dialect
from harness.data.sets.loading import load_set
from harness.engines import on_server
from harness.engines.execution import Ending, Execution, Limits, execute
from loaders.base.errors import EngineUnavailable
from loaders.load import load
from tests.engines.victims import Victim, victim
from tests.reasons import Reason, skip

pytestmark = pytest.mark.engine

PLAN = {Dialect.MYSQL: "EXPLAIN FORMAT=TREE ", Dialect.POSTGRESQL: "EXPLAIN "}


@pytest.fixture(params=[Dialect.MYSQL, Dialect.POSTGRESQL])
def prey(request: pytest.FixtureRequest) -> Iterator[Victim]:
    """A server of each kind that may be killed."""
    reason = Reason.NO_MYSQL if request.param is Dialect.MYSQL else Reason.NO_POSTGRESQL
    with ExitStack() as stack:
        try:
            found = stack.enter_context(victim(request.param))
        except EngineUnavailable as error:
            skip(reason, str(error))
        yield found


def test_golds_return_the_same_rows_in_the_same_order_by_the_same_plan(prey: Victim) -> None:
    questions = load_set("sample")
    databases = [questions.database(db_id) for db_id in questions.db_ids]
    dialect = prey.server.dialect

    def asked(prefix: str = "") -> Mapping[str, tuple[object, ...]]:
        engine = on_server(prey.server)
        golds = {
            question.key: execute(
                engine, questions.database(question.db_id), prefix + question.gold[dialect], Limits()
            )
            for question in questions.questions
        }
        return {key: _facts(execution) for key, execution in golds.items()}

    load(databases, prey.server)
    rows, plans = asked(), asked(PLAN[dialect])
    assert {ending for ending, *_ in rows.values()} == {Ending.ROWS}
    load(databases, prey.server, force=True)
    assert (asked(), asked(PLAN[dialect])) == (rows, plans), "after another load"
    # Nothing is in its memory then.
    prey.kill()
    prey.start()
    assert (asked(), asked(PLAN[dialect])) == (rows, plans), "after a restart"


def _facts(execution: Execution) -> tuple[object, ...]:
    return execution.ending, execution.rows, execution.error

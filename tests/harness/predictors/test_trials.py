"""Which texts run, and which return the same, on real engines; gold has no part in it."""

from collections.abc import Sequence
from contextlib import closing

import pytest

from dialects.enums import Dialect
from harness.data.sets.loading import load_set
from harness.predictors.running import Trials, votes
from harness.scoring.tasks import Setup
from harness.session.plan import equip
from harness.session.request import Request
from loaders.load import load
from loaders.server import Server

SAMPLE = load_set("sample")
QUESTION = next(each for each in SAMPLE.questions if each.db_id == "city_library")
REQUEST = Request(dialects=[Dialect.SQLITE], cache=False, workers=1)


@pytest.fixture(scope="module")
def setup() -> Setup:
    return equip(REQUEST, SAMPLE, [Dialect.SQLITE], say=print).setup


def test_an_error_is_the_engines_own(setup: Setup) -> None:
    with closing(Trials(REQUEST, setup)) as trials:
        assert trials.error(Dialect.SQLITE, QUESTION.key, "SELECT 2") is None
        assert trials.error(Dialect.SQLITE, QUESTION.key, "SELECT absent") == "no such column: absent"
        assert "syntax error" in (trials.error(Dialect.SQLITE, QUESTION.key, "SELECT FROM") or "")


@pytest.mark.engine
def test_an_error_is_the_servers_own(server: Server) -> None:
    load([SAMPLE.database(db_id) for db_id in SAMPLE.db_ids], server)
    request = Request(dialects=[server.dialect], cache=False, workers=1)
    with closing(Trials(request, Setup(SAMPLE, {server.dialect: (server,)}))) as trials:
        assert trials.error(server.dialect, QUESTION.key, "SELECT 2") is None
        assert "absent" in (trials.error(server.dialect, QUESTION.key, "SELECT absent") or "")


@pytest.mark.parametrize(
    ("answers", "chosen"),
    [
        (["SELECT 1", "SELECT 2", "SELECT 1 "], 0),
        (["SELECT 1", "SELECT 2", "SELECT 3 - 1"], 1),
        (["SELECT 1", "SELECT 2"], 0),
        (["SELECT x", "SELECT y", "SELECT 2"], 2),
        (["SELECT x", "SELECT x", "SELECT 2"], 2),
        (["SELECT x", None], 0),
        ([None, "SELECT x", "SELECT y"], 1),
        ([None, None], None),
        (["SELECT 1 UNION SELECT 2", "SELECT 3", "VALUES (2), (1)"], 0),
        (["SELECT 3", "SELECT 2 UNION ALL SELECT 2", "SELECT 2"], 1),
    ],
)
def test_the_largest_group_of_equal_results_is_chosen(
    setup: Setup, answers: Sequence[str | None], chosen: int | None
) -> None:
    place = Dialect.SQLITE, QUESTION.key
    assert votes(REQUEST, setup, {place: answers}) == {place: chosen}

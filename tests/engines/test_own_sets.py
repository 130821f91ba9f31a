"""Sets of one's own on all engines: every layout is covered and scored; two stand beside each other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from harness import Answer, Evaluator
from harness.coverage.command import CoverageRequest, measure
from harness.data.outcomes import Outcome
from harness.data.sets.loading import load_set
from harness.provision import dsn
from loaders.load import load
from loaders.server import Server
from tests.harness import own_sets as sets
from tests.loaders.servers import ask, drop

pytestmark = pytest.mark.engine


@pytest.fixture
def servers(
    mysql_server: Server, postgresql_server: Server, monkeypatch: pytest.MonkeyPatch
) -> dict[Dialect, Server]:
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    found = {server.dialect: server for server in (mysql_server, postgresql_server)}
    for dialect, server in found.items():
        url = f"{dialect}://{server.user}:{server.password}@{server.address}"
        monkeypatch.setenv(dsn.variable(dialect), url)
    return found


@pytest.fixture(params=list(sets.FAMILIES))
def folder(request: pytest.FixtureRequest, tmp_path: Path, servers: dict[Dialect, Server]) -> Iterator[Path]:
    made = sets.FAMILIES[request.param](tmp_path / f"my_{request.param}")
    yield made
    for server in servers.values():
        drop(server, load_set(str(made)).collection)


def test_a_layout_is_covered_and_scored(folder: Path, servers: dict[Dialect, Server], tmp_path: Path) -> None:
    measured = measure(CoverageRequest(set_name=str(folder), out=tmp_path / "out"), servers)
    assert load_set(str(folder)).name in measured.title
    assert len(measured.answers) == 8
    assert [answer for answer in measured.answers if not answer.covered] == []
    assert (measured.faults, measured.hint) == ([], "")

    keys = [question.key for question in load_set(str(folder)).questions]
    with Evaluator(str(folder), dialects=list(Dialect), workers=1, cache=False) as evaluator:
        right = evaluator.score(
            [
                Answer(key, sql, dialect)
                for dialect in Dialect
                for key, (_, sql) in zip(keys, sets.ASKED, strict=True)
            ]
        )
        (wrong,) = evaluator.score([Answer(keys[0], "SELECT 7", Dialect.MYSQL)])
    assert {judgement.outcome for judgement in right} == {Outcome.MATCH}
    assert wrong.outcome is Outcome.MISMATCH


def test_two_sets_with_a_database_of_the_same_name_stand_beside_each_other(
    server: Server, tmp_path: Path
) -> None:
    first = load_set(str(sets.bird_dev(tmp_path / "one" / "bench")))
    folder = sets.bird_dev(tmp_path / "two" / "Bench")
    (folder / "dev_databases" / "shop" / "shop.sqlite").unlink()
    sets.database(folder / "dev_databases" / "shop" / "shop.sqlite", sets.ITEMS[:1])
    second = load_set(str(folder))
    try:
        for questions, skipped in ((first, False), (second, False), (first, True), (second, True)):
            databases = [questions.database("shop", profile) for profile in Profile]
            assert [one.skipped for one in load(databases, server)] == [skipped, skipped]
        for questions, count in ((first, 3), (second, 1)):
            for profile in Profile:
                found = ask(
                    server, questions.database("shop", profile), "SELECT COUNT(*) FROM items", as_reader=True
                )
                assert found == [(count,)]
    finally:
        for questions in (first, second):
            drop(server, questions.collection)

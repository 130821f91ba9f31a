"""Sets of one's own on all engines, beside each other and in the place of the same one."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from harness import Answer, Evaluator
from harness.analyses.coverage.command import CoverageRequest, measure
from harness.cli.servers import print_status
from harness.data.outcomes import Outcome
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.provision import dsn
from loaders.bulk_load import load, loaded
from loaders.namespace import Database
from loaders.server import Server
from tests.harness import own_sets
from tests.harness import small_sets as small
from tests.loaders.servers import ask, drop
from tests.sqlite_files import sqlite_file


@pytest.fixture
def homes(tmp_path: Path) -> dict[str, Path]:
    """Two benchmarks that come as dev, in `bench` and `Bench`, with a database `zoo` of the same tables."""
    found = {}
    for name, place, animals in (
        ("farm", "bench", ["cow", "pig"]),
        ("sea", "Bench", ["eel", "ray", "squid"]),
    ):
        folder = tmp_path / name / place
        sqlite_file(
            folder / "dev_databases" / "zoo" / "zoo.sqlite",
            "CREATE TABLE animal (name TEXT)",
            animal=[(each,) for each in animals],
        )
        question = small.question(1, "zoo", Dialect.SQLITE, 0) | {
            "question": f"Which animals of the {name} are there?",
            "SQL": "SELECT name FROM animal",
        }
        small.write_lines(folder / "dev.json", [question])
        found[name] = folder
    return found


def both(questions: QuestionSet) -> list[Database]:
    """The database in both profiles."""
    return [replace(questions.database("zoo"), profile=profile) for profile in Profile]


@pytest.fixture(params=["dev", "own"])
def sets(
    request: pytest.FixtureRequest, server: Server, homes: dict[str, Path]
) -> Iterator[dict[str, QuestionSet]]:
    """The two by the name that both come as, and as sets of their own."""
    found = {
        name: load_set("dev", home) if request.param == "dev" else load_set(str(home))
        for name, home in homes.items()
    }
    yield found
    for questions in found.values():
        drop(server, questions.collection)


@pytest.mark.engine
def test_they_stand_beside_each_other_and_nothing_is_loaded_again(
    server: Server, sets: dict[str, QuestionSet]
) -> None:
    for questions in sets.values():
        assert [one.skipped for one in load(both(questions), server)] == [False, False]
    for questions in sets.values():
        assert [one.skipped for one in load(both(questions), server)] == [True, True]
        assert len(loaded(both(questions), server)) == 2
    for name, count in (("farm", 2), ("sea", 3)):
        for database in both(sets[name]):
            found = ask(server, database, "SELECT COUNT(*) FROM animal", as_reader=True)
            assert found == [(count,)]


@pytest.mark.parametrize("sets", ["dev"], indirect=True)
@pytest.mark.engine
def test_each_is_evaluated_on_its_own_rows(
    server: Server,
    homes: dict[str, Path],
    sets: dict[str, QuestionSet],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert len({questions.collection for questions in sets.values()}) == 2
    address = f"{server.dialect}://{server.user}:{server.password}@{server.address}"
    monkeypatch.setenv(dsn.variable(server.dialect), address)
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    texts = {
        "farm": "SELECT 'cow' UNION SELECT 'pig'",
        "sea": "SELECT 'eel' UNION SELECT 'ray' UNION SELECT 'squid'",
    }
    for _ in range(2):
        for name, home in homes.items():
            with Evaluator(
                "dev", bird_home=home, dialects=[server.dialect], workers=1, cache=False
            ) as evaluator:
                for of, text in texts.items():
                    found = evaluator.score([Answer("1", text, server.dialect)])[0]
                    assert (found.outcome is Outcome.MATCH) is (of == name), (name, of, found)
    for home in homes.values():
        monkeypatch.setenv("BIRD_HOME", str(home))
        print_status("dev")
        [line] = [
            line for line in capsys.readouterr().out.splitlines() if line.split()[:1] == [server.dialect]
        ]
        assert "1 of 1" in line


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


@pytest.mark.slow
@pytest.mark.parametrize("make", own_sets.FAMILIES.values(), ids=own_sets.FAMILIES)
def test_every_layout_is_scored(make: Callable[[Path], Path], tmp_path: Path) -> None:
    folder = make(tmp_path / "bench")
    keys = [question.key for question in load_set(str(folder)).questions]
    golds = [sql for _, sql in own_sets.ASKED]
    with Evaluator(str(folder), workers=1, cache=False) as evaluator:
        found = evaluator.score(
            [
                *(Answer(key, sql) for key, sql in zip(keys, golds, strict=True)),
                Answer(keys[0], "SELECT 7"),
            ]
        )
    assert [each.outcome for each in found] == [*[Outcome.MATCH] * len(golds), Outcome.MISMATCH]


@pytest.fixture(params=["spider_rough", "own"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, servers: dict[Dialect, Server]) -> Iterator[Path]:
    """As files of a family's layout, and as a manifest of one's own says."""
    made = own_sets.FAMILIES[request.param](tmp_path / f"my_{request.param}")
    yield made
    for server in servers.values():
        drop(server, load_set(str(made)).collection)


@pytest.mark.engine
def test_a_layout_is_covered_and_scored(folder: Path, servers: dict[Dialect, Server], tmp_path: Path) -> None:
    measured = measure(CoverageRequest(set_name=str(folder), out=tmp_path / "out"), servers)
    assert load_set(str(folder)).name in measured.title
    assert len(measured.answers) == 8
    assert [answer for answer in measured.answers if not answer.covered] == []
    assert (measured.faults, measured.hint) == ([], "")

    keys = [question.key for question in load_set(str(folder)).questions]
    dialects = [Dialect.SQLITE, *servers]
    with Evaluator(str(folder), dialects=dialects, workers=1, cache=False) as evaluator:
        right = evaluator.score(
            [
                Answer(key, sql, dialect)
                for dialect in dialects
                for key, (_, sql) in zip(keys, own_sets.ASKED, strict=True)
            ]
        )
        (wrong,) = evaluator.score([Answer(keys[0], "SELECT 7", Dialect.MYSQL)])
    assert {judgement.outcome for judgement in right} == {Outcome.MATCH}
    assert wrong.outcome is Outcome.MISMATCH

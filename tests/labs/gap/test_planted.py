"""Planted causes are found, on real engines; what is explained once is not executed again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.volatility import is_volatile
from harness.labs.gap.cause_rules import Cause
from harness.labs.gap.explanations import Gap, explain, trying_on
from harness.labs.gap.files import as_record, write_gap
from harness.labs.gap.tables import printed_steps
from harness.report.table_model import CellKind, spelled
from harness.runs.reader import read_run
from harness.scoring.scheduler import Scheduler
from harness.session.evaluation import run
from harness.session.plan import prepare
from harness.session.request import Request
from loaders.server import Server
from tests.labs.gap.planted import ALMOST, PLANTS, SERVERS, SLOW, Plant, write_answers, write_set

pytestmark = [pytest.mark.engine, pytest.mark.thorough]


def explained(request: Request) -> tuple[Gap, Path, int]:
    """The gap of a request, the folder of its run, and how many texts were executed for it."""
    with prepare(request, say=print) as plan:
        done = run(plan)
    finished = read_run(done.path)
    with trying_on(request, plan.setup, print) as trying:
        gap = explain(finished.results, trying, plan.questions, done.path.name, threads=4)
        executed = sum(scheduler.executed for scheduler in trying.schedulers)
    return gap, done.path, executed


@pytest.fixture(scope="module")
def environment(
    tmp_path_factory: pytest.TempPathFactory, mysql_server: Server, postgresql_server: Server
) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("planted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIRD_PROVISION", "dsn")
        for server in (mysql_server, postgresql_server):
            patch.setenv(f"BIRD_{server.dialect.upper()}_DSN", dsn_of(server))
        yield folder


def dsn_of(server: Server) -> str:
    return f"{server.dialect}://{server.user}:{server.password}@{server.address}"


@pytest.fixture(scope="module")
def request_of_plants(environment: Path) -> Request:
    return Request(
        set_name=str(write_set(environment / "set")),
        predictions=[write_answers(environment / "predict.jsonl")],
        out=environment / "results",
        store=environment / "store.sqlite",
        metrics=("ex",),
        workers=2,
    )


@pytest.fixture(scope="module")
def planted(request_of_plants: Request) -> tuple[Gap, Path, int]:
    return explained(request_of_plants)


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.key)
def test_each_planted_cause_is_found(planted: tuple[Gap, Path, int], plant: Plant, server: Dialect) -> None:
    key = str(PLANTS.index(plant))
    found = [one for one in planted[0].explained if one.question.key == key and one.target == server]
    expected = plant.causes.get(server)
    if plant.key in ALMOST:
        assert {one.decision.cause for one in found} <= {expected}
        return
    assert [(one.direction, one.decision.cause) for one in found] == (
        [] if expected is None else [(plant.direction, expected)]
    ), [one.decision.says for one in found]


def test_one_of_two_answers_to_a_tie_differs(planted: tuple[Gap, Path, int]) -> None:
    keys = {str(place) for place, plant in enumerate(PLANTS) if plant.key in ALMOST}
    for server in SERVERS:
        found = [one for one in planted[0].explained if one.question.key in keys and one.target == server]
        assert [one.decision.cause for one in found] == [Cause.TIES]


def test_every_explanation_names_its_execution(planted: tuple[Gap, Path, int]) -> None:
    for one in planted[0].explained:
        has_none = one.decision.cause in {Cause.UNDECIDED, Cause.NO_QUERY}
        assert one.decision.says
        assert one.decision.decisive is not None or has_none, one
        if one.decision.mended is not None:
            assert one.decision.mended.trial.is_right
            assert one.decision.mended.edits


def test_the_steps_add_up_and_repairs_count(planted: tuple[Gap, Path, int]) -> None:
    gap, _, _ = planted
    assert [(one.predictor, one.target) for one in gap.gaps] == [("model", server) for server in SERVERS]
    for one in gap.gaps:
        assert one.on_sqlite + sum(one.step(cause) for cause in Cause) == one.on_target
        begin, end = (
            float(spelled(100 * count / one.questions, CellKind.PERCENT))
            for count in (one.on_sqlite, one.on_target)
        )
        assert round(begin + sum(points for _, points in printed_steps(one)), 2) == end
        repaired = sum(
            each.decision.mended is not None and each.direction == "loss" for each in one.explained
        )
        assert one.what_if.repaired == one.on_target + repaired
        assert repaired >= 6
        assert one.what_if.faithful <= one.questions


def test_what_is_known_is_not_executed_again(
    planted: tuple[Gap, Path, int], request_of_plants: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _, executed = planted
    texts: list[str] = []
    submit = Scheduler._submit

    def noted(scheduler: Scheduler, asked: Any, *, alone: bool) -> None:
        texts.extend(asked.judgements)
        submit(scheduler, asked, alone=alone)

    monkeypatch.setattr(Scheduler, "_submit", noted)
    again, _, more = explained(request_of_plants)
    assert executed > 0
    # Nothing but translations that ask in which order rows are stored: no such text is kept.
    assert len(texts) == more
    assert [text for text in texts if not is_volatile(text)] == []
    assert _causes(as_record(again)) == _causes(as_record(first))


def _causes(record: Any) -> list[tuple[str, ...]]:
    return [(one["dialect"], one["question"], one["cause"], one["says"]) for one in record["questions"]]


def test_files_have_the_same_figures(planted: tuple[Gap, Path, int]) -> None:
    gap, folder, _ = planted
    written = write_gap(gap, folder)
    assert [path.name for path in written] == ["gap.md", "gap.csv", "gap.tex", "gap.json", "gap.html"]
    record = json.loads((folder / "gap.json").read_text())
    assert len(record["questions"]) == len(gap.explained)
    steps = {one["dialect"]: one["steps"] for one in record["gaps"]}
    for one in gap.gaps:
        assert sum(each["won"] - each["lost"] for each in steps[one.target]) == one.on_target - one.on_sqlite
    assert "| model | MySQL |" in (folder / "gap.md").read_text()
    assert "step_names" in (folder / "gap.csv").read_text()


def test_a_limit_of_time_is_the_cause(environment: Path) -> None:
    request = Request(
        set_name=str(write_set(environment / "slow", SLOW)),
        predictions=[write_answers(environment / "predict_slow.jsonl", SLOW)],
        out=environment / "results",
        store=environment / "slow.sqlite",
        metrics=("ex",),
        workers=2,
        seconds=1,
    )
    gap, _, _ = explained(request)
    assert {(one.question.key, str(one.target), one.decision.cause) for one in gap.explained} == {
        (key, str(server), Cause.TIME) for key in ("0", "1") for server in SERVERS
    }

"""The command: what it prints and writes, what it leaves out, and what it refuses."""

import json
from pathlib import Path

import pytest

from harness.labs.gap.cause_rules import Decider, EngineDifference, FoundCause
from loaders.sample import PREDICTIONS
from loaders.server import Server
from tests.harness.conftest import Call
from tests.labs.gap.planted import PLANTS, write_answers, write_set

SOME = [plant for plant in PLANTS if plant.key in {"reserved", "reasoning", "quotient", "right everywhere"}]


@pytest.fixture
def up(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """One server engine is up, and no other."""
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    address = f"{server.dialect}://{server.user}:{server.password}@{server.address}"
    monkeypatch.setenv(f"BIRD_{server.dialect.upper()}_DSN", address)
    return server


@pytest.mark.engine
@pytest.mark.thorough
def test_a_gap_is_printed_written_linked_and_gone_on_with(
    call: Call, tmp_path: Path, up: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = str(write_set(tmp_path / "set", SOME))
    answers = str(write_answers(tmp_path / "answers.jsonl", SOME))
    alone = write_answers(tmp_path / "alone.jsonl", SOME, "alone")
    lines = [line for line in alone.read_text().splitlines() if json.loads(line)["dialect"] == "sqlite"]
    alone.write_text("\n".join(lines) + "\n")
    paths = ["--predictions", answers, "--predictions", str(alone)]
    code, out, said = call(
        "lab", "gap", "--set", named, *paths, "--dialect", up.dialect, "--out", str(tmp_path / "out")
    )
    assert code == 0
    assert "From SQLite to the other engine" in out
    assert "names and" in out
    assert "alone: has answers for SQLite alone, so there is no gap to explain" in said
    folder = tmp_path / "out" / "latest"
    found = json.loads((folder / "gap.json").read_text())
    assert found["left_out"] == ["alone: has answers for SQLite alone, so there is no gap to explain"]
    assert {one["predictor"] for one in found["translated"]} == {"alone", "model"}
    [reserved] = [one for one in found["questions"] if one["cause"] == "names"]
    assert [edit["kind"] for edit in reserved["edits"]] == ["quote"]
    assert reserved["decisive"]["outcome"] == "match"
    with monkeypatch.context() as patch:
        patch.setattr("harness.labs.gap.experiments.Trying.begin", _nothing_runs)
        code, out, said = call("lab", "gap", "--resume", str(folder.resolve()), "--json")
    assert code == 0, said
    again = json.loads(out)
    assert again == found


def _nothing_runs(*_: object) -> None:
    raise AssertionError("what is explained is explained once")


@pytest.mark.engine
@pytest.mark.thorough
def test_a_gap_that_was_broken_off_goes_on_where_it_was(
    call: Call, tmp_path: Path, up: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = str(write_set(tmp_path / "set", SOME))
    answers = str(write_answers(tmp_path / "answers.jsonl", SOME))
    decided, decide = list[str](), Decider.decide

    def one(self: Decider, found: EngineDifference) -> FoundCause:
        if decided:
            raise KeyboardInterrupt
        decided.append(found.question.key)
        return decide(self, found)

    with monkeypatch.context() as patch:
        patch.setattr(Decider, "decide", one)
        patch.setattr("harness.labs.gap.cli._AT_A_TIME", 1)
        options = ("--predictions", answers, "--dialect", up.dialect, "--out", str(tmp_path / "out"))
        code, _, said = call("lab", "gap", "--set", named, *options)
    assert code == 130
    folder = (tmp_path / "out" / "latest").resolve()
    assert "interrupted in explaining, after 1 of" in said
    assert str(folder) in said
    assert not (folder / "gap.json").exists()
    known = len((folder / "journal.jsonl").read_text().splitlines())
    code, _, said = call("lab", "gap", "--resume", str(folder))
    assert code == 0, said
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    keys = [(one["part"], *one["key"]) for one in lines]
    assert len(keys) == len(set(keys)) > known
    assert len(json.loads((folder / "gap.json").read_text())["questions"]) == 3


@pytest.mark.engine
@pytest.mark.thorough
def test_a_predictor_without_a_second_dialect_is_refused(call: Call, tmp_path: Path, up: Server) -> None:
    path = PREDICTIONS / "predict_sample_careless_sqlite.json"
    code, _, said = call(
        "lab", "gap", "--predictions", str(path), "--dialect", up.dialect, "--out", str(tmp_path / "out")
    )
    assert code == 2
    assert "--predictions: careless: has answers for SQLite alone" in said
    assert not (tmp_path / "out").exists()


def test_a_server_that_is_not_there_is_one_sentence(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    code, out, said = call("lab", "gap", "--dialect", "mysql")
    assert (code, out) == (3, "")
    assert len(said.strip().splitlines()) == 1
    assert "Traceback" not in said

"""Tested answers have one verdict, whoever asks: the command, the library, a server or a reward function."""

from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness import Answer, Evaluator
from harness.adapters.rewards import trl_reward
from harness.data.outcomes import AnswerVerdict, Verdict
from harness.data.sets.loader import load_set
from harness.data.witnesses import WITNESSES, Witness, file_of, load
from harness.engines import kind_of
from harness.engines.execution import Limits
from harness.runs.reader import key_of, read_run
from harness.scoring.chance.witness import place_of, replay
from harness.serve.client import ScoreClient
from loaders import index_copies
from loaders.base.files import as_json
from loaders.server import Server
from tests import forked
from tests.harness.pytest_plugin.running import name
from tests.harness.real_runs import evaluated
from tests.harness.serve.served import served

pytestmark = pytest.mark.slow

LUCKY = {
    "1": "SELECT COUNT(*) FROM Books WHERE Language LIKE 'French%'",
    "3": "SELECT [Opening Hours] FROM branches WHERE name LIKE '%Hillcrest%'",
    "5": "SELECT Title FROM Books WHERE Title LIKE 'the %' ORDER BY Title",
    "7": "SELECT 1",
}
"""Two that are refuted, one that is equal to gold by proof, one that is wrong."""
SCORES = [0.0, 0.0, 1.0, 0.0]
METRICS = ["ex", "ex_tested"]
OPTIONS = ("--metrics", ",".join(METRICS), "--dialect", "sqlite")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tested")
    lines = (as_json({"question_id": int(key), "sql": sql}) for key, sql in LUCKY.items())
    (folder / "answers.jsonl").write_text("\n".join(lines))
    keys = (f"--question={key}" for key in LUCKY)
    return evaluated(folder, "--predictions", "answers.jsonl", "--predictor", "lucky", *OPTIONS, *keys)


@pytest.mark.thorough
def test_everyone_who_asks_gets_the_same_scores(run: Path) -> None:
    """Judged anew each time; a reward is the score."""
    assert [one.scores["ex_tested"] for one in read_run(run).results] == SCORES
    answers = [Answer(key, sql) for key, sql in LUCKY.items()]
    with Evaluator("sample", metrics=METRICS, workers=1, cache=False) as evaluator:
        assert [one.scores["ex_tested"] for one in evaluator.score(answers)] == SCORES
        asked = [load_set("sample").by_key[key] for key in LUCKY]
        columns = {
            "database": [one.db_id for one in asked],
            "gold": [one.gold[Dialect.SQLITE] for one in asked],
        }
        reward = trl_reward(evaluator, metric="ex_tested", extract=str)
        assert reward(completions=list(LUCKY.values()), **columns) == SCORES
    sent = [{"question": key, "sql": sql} for key, sql in LUCKY.items()]
    with served("--no-cache", *OPTIONS) as server, ScoreClient(server.address) as client:
        assert [one["scores"]["ex_tested"] for one in client.score(sent)] == SCORES


@pytest.mark.thorough
def test_a_run_has_the_witnesses_of_refuted_answers(run: Path, tmp_path: Path) -> None:
    """They replay, the tables count them, and a search of the run takes them as they are."""
    refuted = [one for one in read_run(run).results if one.tested and one.tested.verdict is Verdict.REFUTED]
    files = {file_of(*key_of(one)) for one in refuted}
    assert {f"{WITNESSES}/{path.name}" for path in (run / WITNESSES).iterdir()} == files
    for one in refuted:
        found = load(run / file_of(*key_of(one)))
        assert one.tested == AnswerVerdict(Verdict.REFUTED, found.difference, found.plausible)
        done = forked.run("harness", "lab", "replay", str(run / file_of(*key_of(one))), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    done = forked.run("harness", "report", str(run), cwd=tmp_path)
    assert "of 3 right answers, witnesses refute 2, 1 of them plausibly; 1 are equal" in " ".join(
        done.stdout.split()
    )
    words = ("lab", "chance", str(run), "--seconds", "0.01", "--workers", "1", "--out", "found")
    done = forked.run("harness", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [folder] = (tmp_path / "found").glob("chance-*")
    assert all(load(folder / each) == load(run / each) for each in files)


@pytest.mark.thorough
def test_witnesses_and_twins_are_a_suite(run: Path, tmp_path: Path) -> None:
    """With it, `ts` is 0 for the answers that EX tested refutes."""
    words = ("--set", "sample", "--db", "city_library", "--out", "suite", "--witnesses")
    done = forked.run("harness", "lab", "twins", *words, str(tmp_path), cwd=tmp_path)
    assert (done.returncode, "has no witness of SQLite" in done.stderr) == (2, True)
    done = forked.run("harness", "lab", "twins", *words, str(run), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "city_library: 2 of 2 witnesses are merged; files: 1" in done.stderr
    folder = tmp_path / "suite" / "city_library"
    assert sorted(path.name for path in folder.iterdir()) == ["city_library.sqlite", "witnesses-1.sqlite"]
    # Not the twin is to find them.
    (folder / "city_library.sqlite").write_bytes((folder / "witnesses-1.sqlite").read_bytes())
    keys = [f"--question={key}" for key in LUCKY]
    options = ("--variants", "suite", "--dialect", "sqlite", "--metrics", "ex,ts", "--predictor", "lucky")
    found = evaluated(tmp_path, "--predictions", str(run.parents[1] / "answers.jsonl"), *options, *keys)
    assert [one.scores["ts"] for one in read_run(found).results] == SCORES
    # Twins that are made again are no suite of witnesses until they are asked to be.
    done = forked.run("harness", "lab", "twins", *words[:-1], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.iterdir()] == ["city_library.sqlite"]


@pytest.mark.thorough
def test_a_witness_serves_later_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept in the result cache, and tried first."""
    monkeypatch.setenv("BIRD_STORE", str(tmp_path / "store.sqlite"))
    found: list[Witness] = []
    for sql in (LUCKY["1"], LUCKY["1"].replace("COUNT(*)", "COUNT(BookID)")):
        with Evaluator("sample", metrics=METRICS, workers=1) as evaluator:
            [judged] = evaluator.score([Answer("1", sql)])
        assert judged.witness is not None
        found.append(Witness.from_text(judged.witness))
    assert found[0].tables == found[1].tables


@pytest.mark.thorough
def test_an_undecided_answer_meets_later_witnesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not executed or searched again, and refuted; then it comes from the cache as it is."""
    monkeypatch.setenv("BIRD_STORE", str(tmp_path / "store.sqlite"))
    french = "SELECT COUNT(*) FROM Books WHERE Language = 'French' AND NOT ({})"
    easy = french.format("BookID = 7 AND Pages = 123 AND Pages IS NOT NULL")
    hard = french.format(f"COALESCE(Pages, 0) * 7919 + BookID * 104729 = {123 * 7919 + 7 * 104729}")
    verdicts = []
    for sql in (hard, hard, easy, hard, hard):
        with Evaluator("sample", metrics=METRICS, workers=1) as evaluator:
            [judged] = evaluator.score([Answer("1", sql)])
            assert judged.tested is not None
            verdicts.append(
                (judged.tested.verdict, judged.scores["ex_tested"], evaluator.statistics.executed)
            )
    undecided, refuted = (Verdict.UNDECIDED, 1.0), (Verdict.REFUTED, 0.0)
    assert verdicts == [(*undecided, 1), (*undecided, 0), (*refuted, 1), (*refuted, 0), (*refuted, 0)]
    other = Answer("1", hard.replace("COALESCE", "1 + COALESCE"))
    with Evaluator("sample", metrics=METRICS, workers=1) as evaluator:
        assert evaluator.known([other]) is None
        scored = evaluator.score([other])
        assert scored[0].tested == AnswerVerdict(Verdict.UNDECIDED)
        assert evaluator.known([other]) == scored


@pytest.mark.engine
def test_a_server_confirms_in_a_database_that_is_gone_afterwards(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As often as it is asked."""
    name(server, monkeypatch)
    with Evaluator("sample", dialects=server.dialect, metrics=METRICS, workers=1, cache=False) as evaluator:
        [judged] = evaluator.score([Answer("1", LUCKY["1"])])
    assert judged.scores == {"ex": 1.0, "ex_tested": 0.0}
    with place_of(server.dialect, server, Limits()) as place:
        assert replay(Witness.from_text(judged.witness or ""), place).is_refuted
        if kind_of(server.dialect).embedded is None:
            assert index_copies.copies(server) == []

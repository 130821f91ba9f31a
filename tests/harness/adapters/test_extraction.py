"""Each way to a score takes the same SQL out of the same raw answer, and gives it the same score.

OpenEnv, verifiers, Inspect AI and lm-evaluation-harness are given these answers where they are installed
(`frameworks`), and compared with the library, as each way is here.
"""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from dialects.enums import Dialect
from harness import Answer, Evaluator
from harness.adapters.database_tools import DatabaseTools
from harness.adapters.rewards import trl_reward, verl_batch_reward, verl_reward
from harness.data.sets.loader import load_set
from harness.runs.reader import LATEST, read_results
from harness.serve.client import ScoreClient
from tests import forked
from tests.harness.adapters.conftest import Taken
from tests.harness.adapters.raw_answers import RawAnswer, raw_answers, rounds
from tests.harness.serve.served import served
from tests.harness.serve.test_nemo_gym import message, response

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

RAW = raw_answers()
POLICY = "answer-1"


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    with Evaluator("sample", workers=1, seconds=5) as evaluator:
        yield evaluator


def plain(sql: str | None) -> str | None:
    """SQL without the semicolon at its end."""
    return sql and sql.strip().removesuffix(";").rstrip()


def test_the_library_takes_what_the_answer_is_made_of(evaluator: Evaluator, taken: Taken) -> None:
    wrong = [(each.text, sql) for each, (sql, _) in taken.items() if plain(sql) != plain(each.sql)]
    assert wrong == []
    bare = evaluator.score([Answer(each.question, each.sql or "") for each in RAW])
    assert [taken[each][1] for each in RAW] == [
        0.0 if each.sql is None else judged.scores["ex"] for each, judged in zip(RAW, bare, strict=True)
    ]
    assert {score for _, score in taken.values()} == {0.0, 1.0}


def test_the_server_takes_the_same_by_its_option_and_by_the_requests(taken: Taken) -> None:
    sent = [{"question": each.question, "sql": each.text} for each in RAW]
    with served("--extract", POLICY) as server, ScoreClient(server.address) as client:
        judged = client.score(sent)
        assert [(each["sql"], each["scores"]["ex"]) for each in judged] == [taken[each] for each in RAW]
        assert {each["extract"] for each in judged} == {POLICY}
        unchanged = client.score(sent, extract="none")
        assert {(each["extract"], each["sql"]) for each in unchanged} == {("none", None)}
        assert sum(each["scores"]["ex"] for each in unchanged) < sum(taken[each][1] for each in RAW)


def test_nemo_gym_takes_the_same(taken: Taken) -> None:
    def verified(client: httpx2.Client, each: RawAnswer) -> tuple[str | None, float]:
        row = {"question_id": each.question, "responses_create_params": {"input": []}}
        sent = row | {"response": response(message(each.text))}
        found = client.post("/verify", json=sent).raise_for_status().json()
        return found["extracted_sql"], found["reward"]

    with served("--extract", POLICY) as server, httpx2.Client(base_url=server.address, timeout=60) as client:
        assert [verified(client, each) for each in RAW] == [taken[each] for each in RAW]


def test_reward_functions_give_the_same_scores(evaluator: Evaluator, taken: Taken) -> None:
    known = load_set("sample").by_key
    asked = [known[each.question] for each in RAW]
    databases, golds = [each.db_id for each in asked], [each.gold[Dialect.SQLITE] for each in asked]
    texts, scores = [each.text for each in RAW], [taken[each][1] for each in RAW]
    assert trl_reward(evaluator)(completions=texts, database=databases, gold=golds) == scores
    infos = [{"database": each} for each in databases]
    batch = verl_batch_reward(evaluator, unjudged=-1.0)
    sources = ["sample"] * len(RAW)
    assert batch(data_sources=sources, solution_strs=texts, ground_truths=golds, extra_infos=infos) == scores
    single = verl_reward(evaluator, unjudged=-1.0)
    for place in range(0, len(RAW), 7):
        given = {"data_source": "sample", "extra_info": infos[place], "ground_truth": golds[place]}
        assert single(solution_str=texts[place], **given) == scores[place]


def test_tools_of_agents_take_the_same(evaluator: Evaluator, taken: Taken) -> None:
    tools = DatabaseTools(evaluator)

    async def judged(each: RawAnswer) -> tuple[str | None, float]:
        done = await tools.judge_completion(each.question, each.text)
        return tools.extracted(each.question, each.text), done.scores["ex"]

    async def judged_all() -> list[tuple[str | None, float]]:
        return [await judged(each) for each in RAW]

    assert asyncio.run(judged_all()) == [taken[each] for each in RAW]


def test_predict_takes_the_same_out_of_prediction_files(taken: Taken, tmp_path: Path) -> None:
    texts = rounds(RAW)[0]
    lines = [json.dumps({"question_id": int(key), "sql": each.text}) + "\n" for key, each in texts.items()]
    path = tmp_path / "predict_sample_p_sqlite.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    done = forked.run(
        "harness", "lab", "predict", f"file:{path.name}", "--extract", POLICY, "--dialect", "sqlite",
        "--out", "answers", cwd=tmp_path,
    )  # fmt: skip
    [written] = (tmp_path / "answers").rglob("predict_*_sqlite.jsonl")
    found = {
        str(record["question_id"]): record["sql"]
        for record in map(json.loads, written.read_text(encoding="utf-8").splitlines())
    }
    assert done.returncode in {0, 1}, done.stderr
    assert {key: found[key] for key in texts} == {key: taken[each][0] for key, each in texts.items()}


def test_eval_takes_the_same_out_of_prediction_files(taken: Taken, tmp_path: Path) -> None:
    files = rounds(RAW)
    for number, file in enumerate(files):
        lines = [json.dumps({"question_id": int(key), "sql": each.text}) + "\n" for key, each in file.items()]
        (tmp_path / f"predict_sample_p{number}_sqlite.jsonl").write_text("".join(lines), encoding="utf-8")
    done = forked.run(
        "harness", "eval", "--predictions", ".", "--extract", POLICY, "--allow-missing", "--workers", "1",
        "--metrics", "ex", "--out", "results", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {(each.predictor, each.question): each for each in read_results(tmp_path / "results" / LATEST)}
    for number, file in enumerate(files):
        for key, each in file.items():
            result = found[f"p{number}", key]
            assert (result.sql, result.scores["ex"]) == taken[each], each.text

"""Tasks over HTTP: their verdicts are those of an evaluation, and nothing is left when the server ends."""

import asyncio
import os
import signal
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness import Answer
from harness.adapters.database_tools import DatabaseTools
from harness.adapters.rewards import skyrl_environment, trl_reward, verl_reward
from harness.labs.tasks.evaluator import TaskEvaluator
from harness.labs.tasks.judging import judge
from harness.labs.tasks.layouts import read_answers
from harness.labs.tasks.outcomes import judgement_of
from harness.labs.tasks.sample import sample_answers, sample_families, sample_tasks
from harness.provision.dsn import variable
from harness.serve.client import ScoreClient, ScoreFailure, reward
from loaders.server import Server
from tests.harness.conftest import Call
from tests.harness.serve.served import ENDLESS, SERVERS, Served, metrics, served
from tests.labs.tasks.shop import make_sqlite
from tests.labs.tasks.test_files import lines
from tests.labs.tasks.test_verdicts import left_on

pytestmark = pytest.mark.slow

SET = ("--set", "sample_tasks")
QUERY: dict[str, Any] = {"question": "city_library_2", "sql": ["SELECT 1"]}
SOME = ("city_library_1", "city_library_M_5", "island_ferries_M_1")
TOLD = ("outcome", "scores", "error")
GONE = """def test_case(pred_sqls, sol_sqls, db_path, conn):
    rows, *_ = execute_queries(["SELECT count(*) FROM orders WHERE total > 200"], db_path, conn)
    assert rows == [(0,)]
"""


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    with served(*SET, "--no-cache") as server:
        yield server


def asked(dialect: Dialect, server: Server | None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Wrong answers to some of the tasks, and what an evaluation says of them."""
    whole = sample_tasks(sample_families()[dialect])
    tasks = replace(whole, tasks=[task for task in whole.tasks if task.id in SOME])
    [path] = [each for each in sample_answers(dialect) if each.stem == "traps"]
    given = read_answers(path, tasks)
    found = {
        each.task: vars(judgement_of(each))
        for each in judge(tasks, [given], 1, server)
        if each.predictor == "traps"
    }
    sent = [{"question": name, "sql": [*given.answers[name]]} for name in SOME]
    return sent, [{key: found[name][key] for key in TOLD} for name in SOME]


def told(judged: Mapping[str, Any]) -> dict[str, Any]:
    return {key: judged[key] for key in TOLD}


def test_verdicts_are_those_of_an_evaluation(shared: Served) -> None:
    sent, expected = asked(Dialect.SQLITE, None)
    assert [sorted(each["scores"].values()) for each in expected] != [[1.0, 1.0]] * len(SOME)
    with ScoreClient(shared.address) as client:
        judged = client.score(sent)
        assert [told(each) for each in judged] == expected
        assert [reward(each, "official") for each in judged] == [
            each["scores"]["official"] for each in expected
        ]
        assert reward(client.score([QUERY])[0], "state") is None
        streamed = dict(client.stream(sent))
        assert [told(streamed[place]) for place in range(len(sent))] == expected
        raw = {**sent[0], "sql": "So:\n```sqlite\n" + ";\n".join(sent[0]["sql"]) + "\n```"}
        for policy in ("official", "answer-1"):
            [one] = client.score([raw], extract=policy)
            assert (told(one), one["extract"]) == (expected[0], policy)
        # The reward of NeMo Gym.
        verified = httpx2.post(f"{shared.address}/verify", json=row(SOME[0], raw["sql"])).json()
        assert (verified["reward"], verified["mask_sample"]) == (expected[0]["scores"]["official"], False)
        undecided = {**row(QUERY["question"], "SELECT 1"), "metric": "state"}
        assert httpx2.post(f"{shared.address}/verify", json=undecided).json()["mask_sample"] is True


def test_reward_functions_take_tasks() -> None:
    texts = ["```sql\nSELECT 1\n```", "```sql\nDELETE FROM loans;\nDELETE FROM patrons;\n```"]
    names = ["city_library_2", "city_library_M_5"]
    with TaskEvaluator([sample_tasks("livesqlbench-sqlite")], workers=1, cache=False) as evaluator:
        gold = {task.id: "\n".join(task.gold) for task in sample_tasks("livesqlbench-sqlite").tasks}
        texts.append(f"```sql\n{gold[names[0]]}\n```")
        reward_of = trl_reward(evaluator, gold="task")
        assert reward_of(completions=texts, task=[*names, names[0]]) == [0.0, 0.0, 1.0]
        of_state = trl_reward(evaluator, gold="task", metric="state")
        assert of_state(completions=texts, task=[*names, names[0]]) == [None, 0.0, None]
        compute = verl_reward(evaluator, unjudged=-1.0)
        assert compute(solution_str=texts[2], ground_truth=names[0], extra_info={}) == 1.0
        with pytest.raises(BadInput, match="metric 'ex': the evaluator computes official, strict, state"):
            trl_reward(evaluator, metric="ex")
        with pytest.raises(BadInput, match="task city_library_2: the answer is None"):
            evaluator.score([Answer(names[0], None)])  # type: ignore[arg-type]
        tools = DatabaseTools(evaluator)
        assert tools.prompt(tools.questions[0]).startswith("# Database schema")
        judged = asyncio.run(tools.judge_completion(names[0], texts[2]))
        assert judged.outcome == "match"
        refused = "databases of tasks are shown to no model; ask in a single turn"
        with pytest.raises(BadInput, match=refused):
            tools.prompt(tools.questions[0], may_look=True)
        with pytest.raises(BadInput, match=refused):
            skyrl_environment(evaluator, unjudged=0.0)  # type: ignore[arg-type]


def row(task: str, text: str) -> dict[str, Any]:
    """A row of NeMo Gym with a response."""
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    return {"question_id": task, "response": {"output": [message]}, "responses_create_params": {"input": "?"}}


REFUSED = {
    "task": ({"question": "none", "sql": []}, "the set has none of this name"),
    "number": ({**QUERY, "sql": ["SELECT 1", 1]}, r"sql\[1\] is a whole number"),
    "gold": ({"database": "city_library", "gold": "SELECT 1", "sql": "SELECT 1"}, "name a task"),
    "engine": ({**QUERY, "dialect": "mysql"}, "choose from sqlite"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_answer_is_refused_with_its_fault(shared: Served, name: str) -> None:
    answer, says = REFUSED[name]
    with ScoreClient(shared.address) as client, pytest.raises(ScoreFailure, match=f"422: .*{says}"):
        client.score([answer])


def test_a_published_file_is_judged_with_what_came_by_mail(tmp_path: Path, call: Call) -> None:
    make_sqlite(tmp_path / "database")
    public = {"instance_id": "shop_M_1", "selected_database": "shop", "preprocess_sql": [], "sol_sql": []}
    mailed = {
        "instance_id": "shop_M_1",
        "sol_sql": ["DELETE FROM orders WHERE total > 200"],
        "test_cases": [GONE],
    }
    tasks = lines(tmp_path / "tasks.jsonl", {**public, "category": "Management"})
    options = ["--set", str(tasks), "--family", "livesqlbench-sqlite"]
    code, _, errors = call("serve", *options)
    assert (code, errors.count("\n")) == (2, 1)
    assert "name the folder of the databases of its tasks with --databases" in errors
    options += ["--databases", str(tmp_path / "database"), "--gold", str(lines(tmp_path / "m.jsonl", mailed))]
    options += ["--no-cache", "--extract", "official"]
    with served(*options) as server, ScoreClient(server.address) as client:
        answers = [f"```sqlite\n{mailed['sol_sql'][0]};\n```", ["DELETE FROM orders"], []]
        judged = client.score([{"question": "shop_M_1", "sql": each} for each in answers])
    assert [each["scores"] for each in judged] == [
        {"official": 1.0, "strict": 1.0, "state": 1.0},
        {"official": 1.0, "strict": 1.0, "state": 0.0},
        {"official": 0.0, "strict": 0.0, "state": 0.0},
    ]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
def test_a_worker_that_is_killed_is_replaced_and_nothing_is_left_at_the_end() -> None:
    with (
        served(*SET, "--no-cache") as server,
        ScoreClient(server.address) as client,
        ThreadPoolExecutor() as pool,
    ):
        endless = {**QUERY, "sql": [ENDLESS]}
        [late] = client.score([endless], deadline=0.5)
        assert (late["outcome"], reward(late, "official")) == ("harness_error", None)
        [killed] = server.below(SERVERS)[:1]
        os.kill(killed, signal.SIGKILL)
        [judged] = client.score([{**QUERY, "sql": []}])
        assert judged["outcome"] == "mismatch"
        assert metrics(server)["bird_late_total"] == 1
        workers = server.below(SERVERS)
        impatient = ScoreClient(server.address, patience=0.0)
        running = pool.submit(impatient.score, [endless])
        while not metrics(server)["bird_waiting_answers"]:
            pass
        server.process.send_signal(signal.SIGTERM)
        while client.is_ready():
            pass
        # The second signal ends what is being judged.
        assert server.end() == 0
        with impatient, pytest.raises(ScoreFailure, match="503: the server is stopping; try again"):
            running.result()
        assert server.process.stderr is not None
        assert server.process.stderr.read() == ""
        assert [each for each in workers if Path(f"/proc/{each}").exists()] == []
        copies = Path(tempfile.gettempdir())
        assert [path for each in workers for path in copies.glob(f"bird-task-{each}-*")] == []


@pytest.mark.engine
@pytest.mark.parametrize("dialect", [Dialect.POSTGRESQL, Dialect.MYSQL])
def test_verdicts_on_a_server_are_those_of_an_evaluation(
    request: pytest.FixtureRequest, dialect: Dialect
) -> None:
    on: Server = request.getfixturevalue(f"{dialect}_server")
    sent, expected = asked(dialect, on)
    dsn = {"BIRD_PROVISION": "dsn", variable(dialect): f"{dialect}://{on.user}:{on.password}@{on.address}"}
    with served(*SET, "--dialect", f"sqlite,{dialect}", "--no-cache", **dsn) as server:
        with ScoreClient(server.address) as client:
            judged = client.score([{**each, "dialect": dialect} for each in sent])
            assert client.score([{**QUERY, "dialect": "sqlite"}])[0]["outcome"] == "mismatch"
            with pytest.raises(ScoreFailure, match="no dialect given; choose from sqlite, "):
                client.score([QUERY])
        assert server.end() == 0
    assert [told(each) for each in judged] == expected
    assert left_on(on) == []

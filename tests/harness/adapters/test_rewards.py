"""Reward functions, called as the sources of TRL and verl call them, and in SkyRL's real gym.

The packages are fetched without their dependencies, which have torch. So TRL's and verl's calls are read from
their sources, and SkyRL's gym runs.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from harness import Answer, Evaluator
from harness.adapters.rewards import skyrl_environment, trl_reward, verl_batch_reward, verl_reward
from harness.data.sets.loader import load_set
from harness.engines import dialect_of
from loaders.server import Server
from tests.harness.adapters.conftest import (
    CURVE,
    REFERENCE,
    Evaluated,
    learners_questions,
    open_evaluator,
    scripted,
)
from tests.harness.adapters.raw_answers import raw_answers
from tests.harness.hostile_texts import HOSTILE
from tests.harness.pytest_plugin.running import name
from tests.reasons import Reason, skip

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

ROOT = Path(__file__).parents[3]
UNJUDGED = 0.25


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    with open_evaluator() as evaluator:
        yield evaluator


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages of `requirements/sources.txt`."""
    folder = tmp_path_factory.mktemp("sources")
    command = (
        Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--no-deps", "--require-hashes",
        "--python", sys.executable, "--target", folder, "-r", ROOT / "requirements" / "sources.txt",
    )  # fmt: skip
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        skip(Reason.NO_REGISTRY, done.stderr.strip().splitlines()[-1])
    return folder


def keywords(source: Path, function: str) -> list[set[str]]:
    """The keywords of each call of a function, or method, of that name."""
    calls = [node for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.Call)]
    return [
        {each.arg for each in call.keywords if each.arg is not None}
        for call in calls
        if function in (getattr(call.func, "id", None), getattr(call.func, "attr", None)) and not call.args
    ]


def triples(evaluated: Evaluated) -> tuple[list[str], list[str], list[str], list[float | None]]:
    """Databases, golds, answers in code blocks, and EX by `bird-harness eval`."""
    known = load_set(REFERENCE.set_name).by_key
    asked = [known[str(answer.question)] for answer, _ in evaluated]
    return (
        [question.db_id for question in asked],
        [question.gold[dialect_of(REFERENCE.dialect)] for question in asked],
        [f"Therefore:\n```sql\n{answer.sql}\n```" for answer, _ in evaluated],
        [judged.scores["ex"] if judged.outcome.is_predictors else None for _, judged in evaluated],
    )


NOBODYS = (load_set(REFERENCE.set_name).db_ids[0], "SELECT no_such_column", "SELECT 1")
"""Database, gold and answer of which nobody can say if the answer is right."""


def test_trl_calls_it_so(packages: Path, evaluator: Evaluator, evaluated: Evaluated) -> None:
    source = packages / "trl" / "trainer" / "grpo_trainer.py"
    [given] = [each for each in keywords(source, "reward_func") if each]
    assert given == {"prompts", "completions", "completion_ids"}
    assert "reward if reward is not None else torch.nan" in source.read_text()
    databases, golds, answers, scores = triples(evaluated)
    databases, golds = [*databases, NOBODYS[0]], [*golds, NOBODYS[1]]
    texts = [*answers, NOBODYS[2]]
    chats = [[{"role": "assistant", "content": text}] for text in texts]
    parts = [[{"role": "assistant", "content": [{"type": "text", "text": text}]}] for text in texts]
    assert trl_reward(evaluator, extract=str)(
        completions=answers[:1], database=databases[:1], gold=golds[:1]
    ) == [0.0], "a code block is no SQL"
    reward = trl_reward(evaluator, gold="query")
    for completions in (texts, chats, parts):
        columns: dict[str, Any] = dict.fromkeys(given, ["?"] * len(texts)) | {"trainer_state": None}
        columns |= {"completions": completions, "database": databases, "query": golds, "log_extra": None}
        assert reward(**columns) == [*scores, None]


def test_verl_calls_them_so(packages: Path, evaluator: Evaluator, evaluated: Evaluated) -> None:
    folder = packages / "verl"
    one = {"data_source", "solution_str", "ground_truth", "extra_info"}
    for managers in ("experimental/reward_loop/reward_manager", "workers/reward_manager"):
        given = keywords(folder / managers / "naive.py", "compute_score")
        assert {frozenset(each) for each in given} == {frozenset(one)}
    [several] = keywords(folder / "workers" / "reward_manager" / "batch.py", "compute_score")
    assert several == {f"{each}s" for each in one}
    databases, golds, answers, scores = triples(evaluated)
    infos = [{"database": each, "rollout_reward_scores": {}} for each in (*databases, NOBODYS[0])]
    golds, answers = [*golds, NOBODYS[1]], [*answers, NOBODYS[2]]
    wanted = [UNJUDGED if score is None else score for score in (*scores, None)]
    batch: dict[str, Sequence[Any]] = {
        "data_sources": ["sample"] * len(golds), "solution_strs": answers,
        "ground_truths": golds, "extra_infos": infos,
    }  # fmt: skip
    assert verl_batch_reward(evaluator, unjudged=UNJUDGED, deadline=60)(**batch) == wanted
    compute_score = verl_reward(evaluator, unjudged=UNJUDGED)
    for place in (*range(0, len(golds), 20), len(golds) - 1):
        single = {key.removesuffix("s"): values[place] for key, values in batch.items()}
        assert compute_score(**single, reward_router_address=None) == wanted[place]


@pytest.fixture
def gym(packages: Path, evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """SkyRL's gym with our environment, `sql`."""
    monkeypatch.syspath_prepend(packages)
    import skyrl_gym  # type: ignore[import-not-found]  # noqa: PLC0415 - it is there in this test alone

    environment = skyrl_environment(evaluator, unjudged=UNJUDGED)
    skyrl_gym.register(id="sql", entry_point=environment)
    yield skyrl_gym
    skyrl_gym.registry.pop("sql")


def played(gym: Any, database: str, gold: str, *actions: str) -> list[dict[str, Any]]:
    """What the steps of an episode return."""
    extras = {"db_id": database, "reward_spec": {"ground_truth": gold}, "max_turns": len(actions)}
    environment = gym.make("sql", env_config={}, extras=extras)
    environment.init([{"role": "user", "content": "?"}])
    steps = [environment.step(action) for action in actions]
    environment.close()
    return steps


def test_skyrl_judges_as_eval_does(gym: Any, evaluated: Evaluated) -> None:
    databases, golds, answers, scores = triples(evaluated)
    chosen = slice(None, None, 1 if REFERENCE.answers else 10)
    for database, gold, answer, score in zip(
        *(each[chosen] for each in (databases, golds, answers, scores)), strict=True
    ):
        [last] = played(gym, database, gold, answer)
        assert (last["reward"], last["done"]) == (UNJUDGED if score is None else score, True)
    [last] = played(gym, *NOBODYS)
    assert (last["reward"], last["metadata"]) == (UNJUDGED, {"judged": False})


def test_skyrl_takes_the_same_sql_out_of_raw_answers(gym: Any) -> None:
    known = load_set("sample").by_key
    raw = raw_answers(count=170)
    with Evaluator("sample", workers=1, seconds=5) as evaluator:
        judged = evaluator.score([Answer(each.question, each.text) for each in raw], extract="answer-1")
    for each, one in zip(raw, judged, strict=True):
        asked = known[each.question]
        [last] = played(gym, asked.db_id, asked.gold[Dialect.SQLITE], each.text)
        assert (each.text, last["reward"]) == (each.text, one.scores["ex"])


def test_skyrl_runs_queries_between(gym: Any) -> None:
    first, second, last = played(
        gym, "city_library", "SELECT COUNT(*) FROM books",
        "<think>how many?</think><sql>SELECT COUNT(title) FROM books</sql>",
        "let me see",
        "<solution>SELECT COUNT(title) FROM books</solution>",
    )  # fmt: skip
    assert (first["done"], first["reward"]) == (False, 0.0)
    assert first["observations"][0]["content"].startswith("<observation>[")
    assert "no query in <sql> tags" in second["observations"][0]["content"]
    assert (last["done"], last["reward"], last["observations"]) == (True, 1.0, [])


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_hangs_or_breaks_an_episode(gym: Any, text: str) -> None:
    first, last = played(
        gym, "city_library", "SELECT 1", f"<sql>{text}</sql>", "<solution>SELECT 1</solution>"
    )
    assert not first["done"]
    assert last["reward"] == 1.0


def test_the_reward_of_a_policy_that_learns_grows(gym: Any, evaluator: Evaluator) -> None:
    asked = learners_questions()
    columns = {
        "database": [question.db_id for question in asked],
        "gold": [question.gold[Dialect.SQLITE] for question in asked],
    }
    by_trl, by_skyrl = [], []
    for step in range(len(CURVE)):
        answers = [scripted(step, place) for place in range(len(asked))]
        rewards = trl_reward(evaluator)(prompts=[], completions=answers, **columns)
        by_trl.append(sum(each or 0.0 for each in rewards) / len(asked))
        episodes = [played(gym, *each)[-1]["reward"] for each in zip(*columns.values(), answers, strict=True)]
        by_skyrl.append(sum(episodes) / len(asked))
    assert by_trl == by_skyrl == CURVE


@pytest.mark.parametrize("server", [Dialect.MYSQL, Dialect.POSTGRESQL], indirect=True)
@pytest.mark.engine
def test_a_server_judges_its_own_dialect_by_golds_for_sqlite(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name(server, monkeypatch)
    asked = learners_questions()
    right = [question.gold[server.dialect] for question in asked]
    golds = [question.gold[Dialect.SQLITE] for question in asked]
    databases = [question.db_id for question in asked]
    with Evaluator("sample", dialects=server.dialect, workers=1, profile="faithful") as evaluator:
        reward = trl_reward(evaluator, dialect=server.dialect, gold_dialect="sqlite")
        for completions, wanted in ((right, 1.0), (["SELECT 'not yet'"] * len(asked), 0.0)):
            rewards = reward(completions=completions, database=databases, gold=golds)
            assert rewards == [wanted] * len(asked)

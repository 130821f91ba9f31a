"""What becomes of jobs: known, answered, failed, stopped."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from dialects.enums import Dialect
from harness.predictors.base import (
    Ask,
    Asking,
    BudgetSpent,
    Message,
    PredictorBroken,
    Problem,
    Prompt,
    PromptTooLong,
    Reply,
    RequestFailed,
    Role,
    Usage,
)
from harness.predictors.extraction import Taking, take_sql
from harness.predictors.journal import FILE, Journal
from harness.predictors.prompts.prompter import ESTIMATE
from harness.predictors.running import CUT_OFF, MOST_FAILURES, NO_SQL, Answered, Corrected, Running, jobs
from tests.harness.predictors.making import problem, prompt


@dataclass
class Answers:
    """A predictor that answers as a function says, and counts."""

    answer: Callable[[Ask], Reply]
    identity: Mapping[str, Any] = field(default_factory=lambda: {"kind": "test"})
    asked: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def ask(self, ask: Ask) -> Reply:
        with self._lock:
            self.asked[f"{ask.problem.question}/{ask.sample}/{ask.stage}"] += 1
        return self.answer(ask)

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Two:
    """A method of two steps, the second of which has the reply to the first."""

    identity: Mapping[str, Any] = field(default_factory=lambda: {"name": "two"})

    def solve(self, problem: Problem, asking: Asking) -> str:
        first = asking("plan", prompt(problem.text))
        return asking("sql", prompt(f"{problem.text} {first}"))


@dataclass(frozen=True)
class One:
    identity: Mapping[str, Any] = field(default_factory=lambda: {"name": "one"})

    def solve(self, problem: Problem, asking: Asking) -> str:
        if problem.text == "too long":
            raise PromptTooLong("its prompt has 9 tokens, and 5 are allowed")
        return asking("sql", prompt(problem.text))


PROBLEMS = [problem(str(number), text=f"Question {number}?") for number in range(6)]


def run(  # noqa: PLR0913 - what a run may differ in
    folder: Path,
    predictor: Answers,
    *,
    method: Any = None,
    samples: int = 1,
    threads: int = 3,
    taking: Taking = Taking.ANSWER,
    problems: list[Problem] | None = None,
) -> tuple[dict[str, Answered], Running]:
    with closing(Journal(folder)) as journal:
        running = Running(predictor, method or One(), journal, taking, threads)
        done = list(running.run(jobs(problems or PROBLEMS, samples)))
    return {f"{each.job.problem.question}/{each.job.sample}": each for each in done}, running


def replying(text: str, **more: Any) -> Callable[[Ask], Reply]:
    return lambda _: Reply(text, Usage(1, 10, 2), **more)


def test_every_job_is_answered_and_what_is_known_is_not_asked_again(tmp_path: Path) -> None:
    first = Answers(replying("```sql\nSELECT 1\n```"))
    done, _ = run(tmp_path, first, method=Two(), samples=2)
    assert set(first.asked.values()) == {1}
    assert len(first.asked) == len(PROBLEMS) * 2 * 2
    assert {each.sql for each in done.values()} == {"SELECT 1"}
    assert {each.text for each in done.values()} == {"```sql\nSELECT 1\n```"}
    assert {each.usage for each in done.values()} == {Usage(2, 20, 4)}
    again = Answers(replying("SELECT 2"))
    repeated, _ = run(tmp_path, again, method=Two(), samples=2)
    assert not again.asked
    assert {key: each.sql for key, each in repeated.items()} == {key: each.sql for key, each in done.items()}
    assert {each.usage for each in repeated.values()} == {Usage()}
    assert all(step.known for each in repeated.values() for step in each.steps)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"identity": {"kind": "test", "temperature": 1}}, id="another predictor"),
        pytest.param(
            {"problems": [problem(each.question, text=each.text + "!") for each in PROBLEMS]},
            id="other texts",
        ),
        pytest.param(
            {"problems": [problem(each.question, Dialect.MYSQL) for each in PROBLEMS]}, id="another dialect"
        ),
        pytest.param({"method": Two()}, id="another method"),
    ],
)
def test_what_could_have_another_reply_is_asked(tmp_path: Path, other: dict[str, Any]) -> None:
    run(tmp_path, Answers(replying("SELECT 1")))
    identity = other.pop("identity", None)
    again = Answers(replying("SELECT 2"), **({"identity": identity} if identity else {}))
    done, _ = run(tmp_path, again, **other)
    assert {each.sql for each in done.values()} == {"SELECT 2"}


def failing(ask: Ask) -> Reply:
    number = ask.problem.question
    if number == "1":
        raise RequestFailed("status 500", Usage(4, 7, None))
    if number == "2":
        return Reply("I do not know.", Usage(1))
    if number == "3":
        return Reply("I would", Usage(1), finish="length")
    return Reply("SELECT 1", Usage(1))


def test_what_has_no_sql_has_a_reason_and_what_failed_is_asked_again(tmp_path: Path) -> None:
    problems = [*PROBLEMS, problem("9", text="too long")]
    done, _ = run(tmp_path, Answers(failing), problems=problems)
    reasons = {each.job.problem.question: each.reason for each in done.values() if each.sql is None}
    assert reasons == {
        "1": "status 500",
        "2": NO_SQL,
        "3": CUT_OFF,
        "9": "its prompt has 9 tokens, and 5 are allowed",
    }
    assert done["2/0"].text == "I do not know."
    assert done["1/0"].usage == Usage(4, 7, None)
    again = Answers(replying("SELECT 2"))
    done, _ = run(tmp_path, again, problems=problems)
    assert dict(again.asked) == {"1/0/sql": 1}
    assert done["1/0"].sql == "SELECT 2"


def test_an_answer_that_is_to_be_run_as_it_is_is(tmp_path: Path) -> None:
    done, _ = run(tmp_path, Answers(replying(" DROP TABLE t ")), taking=Taking.NONE)
    assert {each.sql for each in done.values()} == {" DROP TABLE t "}
    done, _ = run(tmp_path, Answers(replying(" \n"), {"kind": "blank"}), taking=Taking.NONE)
    assert {each.reason for each in done.values()} == {NO_SQL}


@pytest.mark.parametrize("error", [PredictorBroken("no such model"), BudgetSpent("1 request is allowed")])
def test_what_ends_asking_keeps_what_is_there(tmp_path: Path, error: Exception) -> None:
    def answer(ask: Ask) -> Reply:
        if ask.problem.question == "3":
            raise error
        return Reply("SELECT 1", Usage(1))

    predictor = Answers(answer)
    done, running = run(tmp_path, predictor, threads=1)
    assert running.ended is error
    assert sorted(done) == ["0/0", "1/0", "2/0"]
    again = Answers(replying("SELECT 2"))
    done, running = run(tmp_path, again, threads=1)
    assert running.ended is None
    assert sorted(again.asked) == ["3/0/sql", "4/0/sql", "5/0/sql"]
    assert len(done) == len(PROBLEMS)


def test_a_predictor_that_fails_again_and_again_is_left_alone(tmp_path: Path) -> None:
    def answer(_: Ask) -> Reply:
        raise RequestFailed("connection refused")

    predictor = Answers(answer)
    _, running = run(tmp_path, predictor, problems=[problem(str(each)) for each in range(100)], threads=1)
    assert predictor.asked.total() == MOST_FAILURES
    assert str(running.ended) == f"{MOST_FAILURES} asks in a row had no reply; the last: connection refused"


def test_a_stop_waits_for_what_is_under_way_and_asks_no_more(tmp_path: Path) -> None:
    predictor = Answers(replying("SELECT 1"))
    with closing(Journal(tmp_path)) as journal:
        running = Running(predictor, Two(), journal, Taking.ANSWER, 1)

        def answer_and_stop(_: Ask) -> Reply:
            running.stop()
            return Reply("SELECT 1", Usage(1))

        predictor.answer = answer_and_stop
        assert not list(running.run(jobs(PROBLEMS, 1)))
    # The first step of the first question was under way: its reply is kept, and nothing else was asked.
    assert dict(predictor.asked) == {"0/0/plan": 1}
    events = [json.loads(line)["event"] for line in (tmp_path / FILE).read_text().splitlines()]
    assert events == ["sent", "reply"]


def told(dialect: str, error: str | None) -> str:
    return f"{dialect} says: {error}"


def test_an_answer_that_does_not_run_is_shown_its_error(tmp_path: Path) -> None:
    def check(_: str, question: str, sql: str) -> str | None:
        return None if sql == "SELECT good" else f"no such column in {question}"

    def answer(ask: Ask) -> Reply:
        last = ask.messages[-1].content
        if ask.stage == "sql":
            return Reply("Of course." if ask.problem.question == "2" else "SELECT bad", Usage(1))
        assert [each.role for each in ask.messages[-2:]] == [Role.ASSISTANT, Role.USER]
        if ask.problem.question == "3":
            return Reply(f"SELECT {ask.stage[-1]}", Usage(1))
        error = None if ask.problem.question == "2" else f"no such column in {ask.problem.question}"
        assert last == f"sqlite says: {error}"
        return Reply("SELECT good", Usage(1))

    predictor = Answers(answer)
    method = Corrected(One(), 2, check, take_sql, told, ESTIMATE)
    done, _ = run(tmp_path, predictor, method=method)
    expected = {f"{each.question}/0": "SELECT good" for each in PROBLEMS} | {"3/0": "SELECT 2"}
    assert {key: each.sql for key, each in done.items()} == expected
    assert [step.stage for step in done["3/0"].steps] == ["sql", "correction-1", "correction-2"]
    assert [len(step.prompt.messages) for step in done["3/0"].steps] == [1, 3, 5]


def test_messages_are_part_of_what_decides_a_reply(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(ask: Ask) -> Reply:
        asked.append(ask.identity)
        return Reply("SELECT 1", Usage(1))

    @dataclass(frozen=True)
    class Says:
        text: str
        identity: Mapping[str, Any] = field(default_factory=dict)

        def solve(self, _: Problem, asking: Asking) -> str:
            return asking("sql", Prompt((Message(Role.USER, self.text),), 1, estimated=True))

    for text in ("a", "b", "a"):
        run(tmp_path, Answers(answer), method=Says(text), problems=[problem()])
    assert len(set(asked)) == len(asked) == 2

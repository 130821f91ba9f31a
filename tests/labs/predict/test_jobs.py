"""Jobs side by side, the journal of their replies, and what engines say against an answer."""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier, Lock
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.answers import NO_SQL, Extract
from harness.data.prediction_files import JOURNAL
from harness.data.sets.loader import load_set
from harness.labs.predict.jobs import (
    CUT_OFF,
    MOST_FAILURES,
    JobResult,
    JobRunner,
    Journal,
    Place,
    correction,
    jobs,
    trials,
    votes,
)
from harness.labs.predict.methods import Stages, make_method
from harness.predictors.base import (
    Ask,
    BudgetSpent,
    PredictorBroken,
    Problem,
    PromptTooLong,
    Reply,
    RequestFailed,
    Usage,
)
from harness.predictors.prompts import PromptOptions
from harness.scoring.tasks import Setup
from harness.session.plan import equip
from harness.session.request import Request
from loaders.bulk_load import load
from loaders.server import Server
from tests.harness.predictors.making import ask, problem, prompt


@dataclass
class Answers:
    """A predictor that answers as a function says, and counts."""

    answer: Callable[[Ask], Reply]
    identity: Mapping[str, Any] = field(default_factory=lambda: {"kind": "test"})
    asked: Counter[str] = field(default_factory=Counter)
    at_once: int = 0
    most_at_once: int = 0
    _lock: Lock = field(default_factory=Lock)

    def ask(self, ask: Ask) -> Reply:
        with self._lock:
            self.asked[f"{ask.problem.question}/{ask.sample}/{ask.stage}"] += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return self.answer(ask)
        finally:
            with self._lock:
                self.at_once -= 1

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Two:
    """A method of two steps, the second of which has the reply to the first."""

    identity: Mapping[str, Any] = field(default_factory=lambda: {"name": "two"})

    def stages(self, problem: Problem) -> Stages:
        first = yield "plan", prompt(problem.text)
        return (yield "sql", prompt(f"{problem.text} {first}"))


@dataclass(frozen=True)
class One:
    identity: Mapping[str, Any] = field(default_factory=lambda: {"name": "one"})

    def stages(self, problem: Problem) -> Stages:
        if problem.text == "too long":
            raise PromptTooLong("its prompt has 9 tokens, and 5 are allowed")
        return (yield "sql", prompt(problem.text))


ONE: Any = One()
TWO: Any = Two()
PROBLEMS = [problem(str(number), text=f"Question {number}?") for number in range(6)]


def run(  # noqa: PLR0913 - what a run may differ in
    folder: Path,
    predictor: Answers,
    *,
    method: Any = None,
    samples: int = 1,
    threads: int = 3,
    policy: Extract = Extract.ANSWER_1,
    problems: list[Problem] | None = None,
    **more: Any,
) -> tuple[dict[str, JobResult], JobRunner]:
    with closing(Journal(folder)) as journal:
        runner = JobRunner(predictor, method or ONE, journal, policy, threads, **more)
        done = list(runner.run(jobs(problems or PROBLEMS, samples)))
    return {f"{each.job.problem.question}/{each.job.sample}": each for each in done}, runner


def replying(text: str, **more: Any) -> Callable[[Ask], Reply]:
    return lambda _: Reply(text, Usage(1, 10, 2), **more)


def test_as_many_are_asked_at_once_as_told(tmp_path: Path) -> None:
    together = Barrier(3, timeout=20)

    def answer(_: Ask) -> Reply:
        together.wait()
        time.sleep(0.05)  # in which a fourth would come
        return Reply("SELECT 1")

    predictor = Answers(answer)
    run(tmp_path, predictor, threads=3)
    assert predictor.most_at_once == 3


def test_every_job_is_answered_and_what_is_known_is_not_asked_again(tmp_path: Path) -> None:
    first = Answers(replying("```sql\nSELECT 1\n```"))
    done, _ = run(tmp_path, first, method=TWO, samples=2)
    assert set(first.asked.values()) == {1}
    assert len(first.asked) == len(PROBLEMS) * 2 * 2
    assert {each.sql for each in done.values()} == {"SELECT 1"}
    assert {each.text for each in done.values()} == {"```sql\nSELECT 1\n```"}
    assert {each.usage for each in done.values()} == {Usage(2, 20, 4)}
    again = Answers(replying("SELECT 2"))
    repeated, _ = run(tmp_path, again, method=TWO, samples=2)
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
        pytest.param({"method": TWO}, id="another method"),
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
    done, _ = run(tmp_path, Answers(replying(" DROP TABLE t ")), policy=Extract.NONE)
    assert {each.sql for each in done.values()} == {" DROP TABLE t "}
    done, _ = run(tmp_path, Answers(replying(" \n"), {"kind": "blank"}), policy=Extract.NONE)
    assert {each.reason for each in done.values()} == {NO_SQL}


@pytest.mark.parametrize("error", [PredictorBroken("no such model"), BudgetSpent("1 request is allowed")])
def test_what_ends_asking_keeps_what_is_there(tmp_path: Path, error: Exception) -> None:
    def answer(ask: Ask) -> Reply:
        if ask.problem.question == "3":
            raise error
        return Reply("SELECT 1", Usage(1))

    predictor = Answers(answer)
    done, runner = run(tmp_path, predictor, threads=1)
    assert runner.ended is error
    assert sorted(done) == ["0/0", "1/0", "2/0"]
    again = Answers(replying("SELECT 2"))
    done, runner = run(tmp_path, again, threads=1)
    assert runner.ended is None
    assert sorted(again.asked) == ["3/0/sql", "4/0/sql", "5/0/sql"]
    assert len(done) == len(PROBLEMS)


def test_a_predictor_that_fails_again_and_again_is_left_alone(tmp_path: Path) -> None:
    def answer(_: Ask) -> Reply:
        raise RequestFailed("connection refused")

    predictor = Answers(answer)
    _, runner = run(tmp_path, predictor, problems=[problem(str(each)) for each in range(100)], threads=1)
    assert predictor.asked.total() == MOST_FAILURES
    assert str(runner.ended) == f"{MOST_FAILURES} asks in a row had no reply; the last: connection refused"


def test_a_stop_waits_for_what_is_under_way_and_asks_no_more(tmp_path: Path) -> None:
    predictor = Answers(replying("SELECT 1"))
    with closing(Journal(tmp_path)) as journal:
        runner = JobRunner(predictor, TWO, journal, Extract.ANSWER_1, 1)

        def answer_and_stop(_: Ask) -> Reply:
            runner.stop()
            return Reply("SELECT 1", Usage(1))

        predictor.answer = answer_and_stop
        assert not list(runner.run(jobs(PROBLEMS, 1)))
    # The first step of the first question was under way: its reply is kept, and nothing else was asked.
    assert dict(predictor.asked) == {"0/0/plan": 1}
    events = [json.loads(line)["event"] for line in (tmp_path / JOURNAL).read_text().splitlines()]
    assert events == ["sent", "reply"]


def test_an_answer_that_does_not_run_is_shown_its_error(tmp_path: Path) -> None:
    def check(place: Place, sql: str) -> str | None:
        return None if sql == "SELECT good" else f"no such column in {place[1]}"

    def answer(ask: Ask) -> Reply:
        question, last = ask.problem.question, ask.messages[-1].content
        if ask.stage == "sql":
            return Reply("Of course." if question == "2" else "SELECT bad", Usage(1))
        assert [each.role for each in ask.messages[-2:]] == ["assistant", "user"]
        if question == "3":
            return Reply(f"SELECT {ask.stage[-1]}", Usage(1))
        assert last == method.prompter.correction(
            Dialect.SQLITE, None if question == "2" else f"no such column in {question}"
        )
        return Reply("SELECT good", Usage(1))

    method = make_method("direct", PromptOptions())
    done, _ = run(tmp_path, Answers(answer), method=method, corrections=2, correct=correction(method, check))
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

        def stages(self, _: Problem) -> Stages:
            return (yield "sql", prompt(self.text))

    for text in ("a", "b", "a"):
        run(tmp_path, Answers(answer), method=Says(text), problems=[problem()])
    assert len(set(asked)) == len(asked) == 2


PAID = Reply("SELECT 1 -- \u2028 ü", Usage(2, 10, 3), "stop", "model-7")


def written(folder: Path) -> bytes:
    """A journal with a reply, a failure, and an ask whose reply never came."""
    with closing(Journal(folder)) as journal:
        journal.sent(ask("1"), prompt_tokens=10)
        journal.replied(ask("1"), PAID)
        journal.sent(ask("2"))
        journal.failed(ask("2"), "status 500", Usage(3))
        journal.sent(ask("3"))
    return (folder / JOURNAL).read_bytes()


def test_replies_are_known_again_as_they_came(tmp_path: Path) -> None:
    written(tmp_path)
    with closing(Journal(tmp_path)) as again:
        assert again.reply("id-1-0") == PAID
        assert again.reply("id-2-0") is None
        assert again.reply("id-3-0") is None
        assert again.usage == Usage(5, 10, 3)


def test_a_reply_is_known_at_once(tmp_path: Path) -> None:
    with closing(Journal(tmp_path)) as journal:
        journal.replied(ask("1"), PAID)
        assert journal.reply("id-1-0") == PAID


def test_a_later_reply_makes_up_for_a_failure(tmp_path: Path) -> None:
    written(tmp_path)
    with closing(Journal(tmp_path)) as journal:
        journal.replied(ask("2"), PAID)
        journal.replied(ask("3"), PAID)
    with closing(Journal(tmp_path)) as again:
        assert again.known == 3
        assert [note.partition(" ")[0] for note in again.notes] == ["3"]


@pytest.mark.slow
def test_a_journal_cut_off_anywhere_loses_the_last_line_alone(tmp_path: Path) -> None:
    whole = written(tmp_path)
    lines = whole.splitlines(keepends=True)
    for length in range(len(whole) + 1):
        (tmp_path / JOURNAL).write_bytes(whole[:length])
        kept = b"".join(lines[: whole[:length].count(b"\n")])
        with closing(Journal(tmp_path)) as again:
            assert ("cut off" in " ".join(again.notes)) is (len(kept) < length)
            assert (again.reply("id-1-0") is not None) is (len(kept) >= len(lines[0] + lines[1]))
            again.sent(ask("4"))
        assert (tmp_path / JOURNAL).read_bytes().startswith(kept + b'{"event": "sent", "identity": "id-4-0"')


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n",
        b"[]\n",
        b"{}\n",
        b'{"event": "sung", "identity": "a"}\n',
        b'{"event": "reply", "identity": "a"}\n',
    ],
)
def test_a_damaged_line_stops_the_run_with_its_number(tmp_path: Path, line: bytes) -> None:
    whole = written(tmp_path)
    (tmp_path / JOURNAL).write_bytes(whole + line + whole)
    with pytest.raises(BadInput, match=r"journal\.jsonl: line 6 is not a line of a journal"):
        Journal(tmp_path)


def test_what_an_earlier_run_left_is_said(tmp_path: Path) -> None:
    whole = written(tmp_path)
    (tmp_path / JOURNAL).write_bytes(whole + b'{"event": "re')
    with closing(Journal(tmp_path)) as again:
        notes = again.notes
    assert [note.split(" ")[0:2] for note in notes] == [
        ["1", "replies"],
        ["1", "asks"],
        ["1", "asks"],
        ["the", "last"],
    ]


SAMPLE = load_set("sample")
QUESTION = next(each for each in SAMPLE.questions if each.db_id == "city_library")
REQUEST = Request(dialects=[Dialect.SQLITE], cache=False, workers=1)


@pytest.fixture(scope="module")
def setup() -> Setup:
    return equip(REQUEST, SAMPLE, [Dialect.SQLITE], say=print).setup


@pytest.mark.slow
def test_an_error_is_the_engines_own(setup: Setup) -> None:
    with trials(REQUEST, setup) as check:
        assert check((Dialect.SQLITE, QUESTION.key), "SELECT 2") is None
        assert check((Dialect.SQLITE, QUESTION.key), "SELECT absent") == "no such column: absent"
        assert "syntax error" in (check((Dialect.SQLITE, QUESTION.key), "SELECT FROM") or "")


@pytest.mark.engine
def test_an_error_is_the_servers_own(server: Server) -> None:
    load([SAMPLE.database(db_id) for db_id in SAMPLE.db_ids], server)
    request = Request(dialects=[server.dialect], cache=False, workers=1)
    with trials(request, Setup(SAMPLE, {server.dialect: (server,)})) as check:
        assert check((server.dialect, QUESTION.key), "SELECT 2") is None
        assert "absent" in (check((server.dialect, QUESTION.key), "SELECT absent") or "")


VOTES: Sequence[tuple[Sequence[str | None], int | None]] = [
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
]


@pytest.mark.slow
def test_the_largest_group_of_equal_results_is_chosen(setup: Setup) -> None:
    places: list[tuple[str, str]] = [(Dialect.SQLITE, question.key) for question in SAMPLE.questions]
    answers = {place: texts for place, (texts, _) in zip(places, VOTES, strict=False)}
    chosen = {place: choice for place, (_, choice) in zip(places, VOTES, strict=False)}
    assert votes(REQUEST, setup, answers) == chosen

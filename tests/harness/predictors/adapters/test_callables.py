"""Functions of the user's: how they are found, and what comes of what they give back."""

import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.predictors.adapters.callables import CallablePredictor
from harness.predictors.adapters.common import CLOSED, Settings
from harness.predictors.base import BudgetSpent, PredictorBroken, Reply, RequestFailed, Usage
from harness.predictors.budget import Budget, Meter
from tests.harness.predictors.making import ask

CODE = """
import os, threading
from harness.predictors.base import PredictorBroken, Reply, RequestFailed, Usage

def sql(ask):
    return f"SELECT '{ask.problem.text}' -- {ask.problem.dialect} {ask.stage} {ask.sample}"

def content(ask):
    return ask.messages[-1].content

def reply(ask):
    return Reply("SELECT 1", Usage(3, 20, 5), "length", "mine")

def nothing(ask):
    return None

def number(ask):
    return 7

def fails(ask):
    raise KeyError("no\\nsuch table")

def slips(ask):
    raise RuntimeError("refused: " + os.environ["MY_TOKEN"])

def leaves(ask):
    raise SystemExit("gone")

def failed(ask):
    raise RequestFailed("busy", Usage(2, 9, 0))

def broken(ask):
    raise PredictorBroken("no model here")

def half(ask):
    return "\\ud83d"

async def later(ask):
    return "SELECT 1"

def several(ask):
    yield "SELECT 1"

class Model:
    def __call__(self, ask):
        return "SELECT 'model'"
    def method(self, ask):
        return "SELECT 'method'"
    async def later(self, ask):
        return ""

class Later:
    async def __call__(self, ask):
        return ""

model = Model()
waiting = Later()
text = "SELECT 1"

most, inside, lock, gate = 0, 0, threading.Lock(), threading.Barrier(3)

def at_once(ask):
    global most, inside
    with lock:
        inside += 1
        most = max(most, inside)
    gate.wait(10)
    with lock:
        inside -= 1
    return str(most)
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module in the current directory, which is not on the path."""
    path = tmp_path / "my_predictor.py"
    path.write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield path
    sys.modules.pop("my_predictor", None)


def opened(function: str, meter: Meter | None = None, concurrency: int = 2) -> CallablePredictor:
    return CallablePredictor(f"my_predictor:{function}", Settings(concurrency=concurrency), meter or Meter())


@pytest.mark.parametrize(
    ("function", "reply"),
    [
        ("sql", Reply("SELECT 'How many?' -- sqlite sql 0", Usage(1))),
        ("content", Reply("How many?", Usage(1))),
        ("reply", Reply("SELECT 1", Usage(3, 20, 5), "length", "mine")),
        ("half", Reply("\ufffd", Usage(1))),
        ("model", Reply("SELECT 'model'", Usage(1))),
        ("model.method", Reply("SELECT 'method'", Usage(1))),
    ],
)
def test_what_it_gives_is_the_reply(function: str, reply: Reply) -> None:
    assert opened(function).ask(ask()) == reply


@pytest.mark.parametrize(
    ("function", "reason", "usage"),
    [
        ("nothing", "my_predictor:nothing gave no answer (None)", Usage(1)),
        ("number", "my_predictor:number gave int instead of str, Reply or None", Usage(1)),
        ("fails", r"my_predictor:fails: KeyError: 'no\nsuch table'", Usage(1)),
        ("leaves", "my_predictor:leaves: SystemExit: gone", Usage(1)),
        ("failed", "busy", Usage(2, 9, 0)),
    ],
)
def test_what_it_does_not_give_fails_the_ask(function: str, reason: str, usage: Usage) -> None:
    with pytest.raises(RequestFailed) as raised:
        opened(function).ask(ask())
    assert (raised.value.reason, raised.value.usage) == (reason, usage)


def test_keys_of_the_environment_are_in_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "token-0123456789")
    with pytest.raises(RequestFailed) as raised:
        opened("slips").ask(ask())
    assert raised.value.reason == "my_predictor:slips: RuntimeError: refused: [key]"


def test_it_may_say_that_it_is_broken() -> None:
    with pytest.raises(PredictorBroken, match="no model here"):
        opened("broken").ask(ask())


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("", "names no function; write it as python:"),
        ("my_predictor", "names no function; write it as python:"),
        ("my_predictor:", "names no function; write it as python:"),
        ("my_predictor:absent", "my_predictor.py has no absent; name a function of it"),
        ("my_predictor:model.absent", "has no model.absent"),
        ("my_predictor:text", "str cannot be called"),
        ("my_predictor:later", "is asynchronous or a generator"),
        ("my_predictor:several", "is asynchronous or a generator"),
        ("my_predictor:waiting", "is asynchronous or a generator"),
        ("my_predictor:model.later", "is asynchronous or a generator"),
        (
            "no_such_module:f",
            "cannot be imported (ModuleNotFoundError: No module named 'no_such_module'); modules are",
        ),
        ("broken_module:f", "cannot be imported (ZeroDivisionError: division by zero)"),
        ("leaving_module:f", "cannot be imported (SystemExit: 2)"),
        ("..:f", "cannot be imported (TypeError"),
    ],
)
def test_what_cannot_be_called_is_refused_at_once(tmp_path: Path, target: str, said: str) -> None:
    (tmp_path / "broken_module.py").write_text("1 / 0\n")
    (tmp_path / "leaving_module.py").write_text("import sys\nsys.exit(2)\n")
    with pytest.raises(BadInput) as raised:
        CallablePredictor(target, Settings(), Meter())
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_of_the_current_directory_hides_no_module(tmp_path: Path) -> None:
    (tmp_path / "textwrap.py").write_text("def dedent(ask):\n    return 'mine'\n")
    sys.modules.pop("textwrap", None)
    try:
        CallablePredictor("textwrap:dedent", Settings(), Meter())
        assert sys.modules["textwrap"].__file__ == textwrap.__file__
    finally:
        sys.modules["textwrap"] = textwrap


def test_identity_changes_with_the_file(module: Path) -> None:
    before = opened("sql").identity
    assert before == opened("sql").identity
    module.write_text(CODE + "\n# changed\n")
    after = opened("sql").identity
    assert (before["kind"], before["function"]) == ("python", "my_predictor:sql")
    assert before["sha256"] != after["sha256"]


def test_no_more_calls_at_once_than_told() -> None:
    predictor = opened("at_once", concurrency=3)
    with ThreadPoolExecutor(9) as pool:
        replies = [reply.text for reply in pool.map(predictor.ask, [ask()] * 9)]
    assert max(map(int, replies)) == 3


def test_calls_are_held_against_the_budget() -> None:
    meter = Meter(Budget(requests=7))
    predictor = opened("reply", meter)
    for _ in range(3):  # three requests each, it says
        predictor.ask(ask())
    assert meter.snapshot().requests == 9
    with pytest.raises(BudgetSpent):
        predictor.ask(ask())


def test_closing_ends_waiting() -> None:
    predictor = opened("at_once", concurrency=1)  # which never meets the other two

    def outcome(call: Callable[[], Reply]) -> str:
        try:
            return call().text
        except RequestFailed as failed:
            return failed.reason

    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(outcome, lambda: predictor.ask(ask())) for _ in range(4)]
        gate: threading.Barrier = sys.modules["my_predictor"].gate
        while not gate.n_waiting:
            pass
        predictor.close()
        gate.abort()
        results = [call.result(10) for call in calls]
    assert results.count(CLOSED) == 3
    with pytest.raises(RequestFailed, match=CLOSED):
        predictor.ask(ask())


def test_closing_ends_the_pace() -> None:
    predictor = CallablePredictor("my_predictor:sql", Settings(requests_per_minute=1), Meter())
    predictor.ask(ask())
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(predictor.ask, ask())
        while not waiting.running():
            pass
        predictor.close()
        with pytest.raises(RequestFailed, match=CLOSED):
            waiting.result(10)

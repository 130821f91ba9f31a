"""From what a user writes to a predictor: options, ready-made files, functions of the user's."""

import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.labs.predict.adapters import EXAMPLES, CallablePredictor, FilePredictor, open_predictor
from harness.labs.predict.budget import CLOSED, Budget, Meter, Pace
from harness.labs.predict.commands import CommandPredictor
from harness.labs.predict.endpoints import EndpointPredictor
from harness.labs.predict.settings import Api, Settings
from harness.predictors.base import BudgetSpent, PredictorBroken, Reply, RequestFailed, Usage, shortened
from tests.harness.predictors.making import ask


@pytest.fixture(scope="module")
def sample() -> QuestionSet:
    return load_set("sample")


def written(folder: Path, sample: QuestionSet, dialect: Dialect, count: int, predictor: str = "p") -> Path:
    path = folder / f"predict_{sample.name}_{predictor}_{dialect}.jsonl"
    keys = [question.key for question in sample.questions][:count]
    path.write_text(
        "".join(json.dumps({"question_id": int(key), "sql": f"SELECT {key}"}) + "\n" for key in keys)
    )
    return path


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("openai:org/model:free", EndpointPredictor),
        ("command:cat -", CommandPredictor),
        ("python:textwrap:dedent", CallablePredictor),
        ("file:{}", FilePredictor),
    ],
)
def test_a_predictor_is_opened_by_its_name(
    tmp_path: Path, sample: QuestionSet, spec: str, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    written(tmp_path, sample, Dialect.SQLITE, 1)
    predictor = open_predictor(
        spec.format(tmp_path), Settings(), Meter(), questions=sample, dialects=[Dialect.SQLITE]
    )
    predictor.close()
    assert isinstance(predictor, kind)
    assert predictor.identity["kind"] == spec.partition(":")[0]
    json.dumps(predictor.identity)


@pytest.mark.parametrize("spec", ["", "gpt-5", "OpenAI:gpt-5", "http://localhost"])
def test_an_unknown_kind_is_refused_with_all_kinds(sample: QuestionSet, spec: str) -> None:
    with pytest.raises(BadInput) as raised:
        open_predictor(spec, Settings(), Meter(), questions=sample, dialects=[])
    assert f"predictor {spec}: unknown kind" in str(raised.value)
    assert all(example in str(raised.value) for example in EXAMPLES.values())


def test_a_file_answers_in_its_dialects(tmp_path: Path, sample: QuestionSet) -> None:
    dialects = [Dialect.SQLITE, Dialect.MYSQL]
    for dialect in dialects:
        written(tmp_path, sample, dialect, 2)
    meter = Meter()
    predictor = open_predictor(f"file:{tmp_path}", Settings(), meter, questions=sample, dialects=dialects)
    first, third = sample.questions[0].key, sample.questions[2].key
    assert predictor.ask(ask(first, dialect=Dialect.MYSQL)) == Reply(f"SELECT {first}", is_ready=True)
    with pytest.raises(RequestFailed, match=f"no answer to question {third} in mysql"):
        predictor.ask(ask(third, dialect=Dialect.MYSQL))
    with pytest.raises(RequestFailed, match="no answer to question"):
        predictor.ask(ask(first, dialect=Dialect.POSTGRESQL))
    assert meter.snapshot().requests == 0


@pytest.mark.parametrize(
    ("files", "settings", "said"),
    [
        ([], {}, "has no"),
        ([("p", Dialect.SQLITE, 5)], {}, "no answers in mysql"),
        (
            [("p", Dialect.MYSQL, 5), ("q", Dialect.MYSQL, 5), ("p", Dialect.SQLITE, 5)],
            {},
            "(p and q)",
        ),
        (
            [("p", Dialect.MYSQL, 5), ("p", Dialect.SQLITE, 5)],
            {"allow_missing": False},
            "no prediction of p in",
        ),
    ],
)
def test_files_that_do_not_fit_are_refused(
    tmp_path: Path, sample: QuestionSet, files: list[Any], settings: dict[str, Any], said: str
) -> None:
    for predictor, dialect, count in files:
        written(tmp_path, sample, dialect, count, predictor)
    with pytest.raises(BadInput) as raised:
        open_predictor(
            f"file:{tmp_path}",
            Settings(**settings),
            Meter(),
            questions=sample,
            dialects=[Dialect.SQLITE, Dialect.MYSQL],
        )
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"concurrency": 0}, "concurrency 0: must be between "),
        ({"retries": -1}, "retries -1: must be between "),
        ({"timeout": 0.0}, "timeout 0.0: must be between "),
        ({"connect_timeout": float("inf")}, "connect timeout inf: must be between "),
        ({"requests_per_minute": 0}, "requests per minute 0: must be between "),
        ({"tokens_per_minute": -5}, "tokens per minute -5: must be between "),
        ({"max_tokens": 0}, "max tokens 0: must be between "),
        ({"temperature": 2.5}, "temperature 2.5: must be between "),
        ({"top_p": float("nan")}, "top p nan: must be between 0 and 1"),
        ({"extra_body": {"stream": True, "n": 2}}, "extra body: n, stream cannot be set"),
        ({"api": Api.RESPONSES, "seed": 1}, "seed: not supported by the interface `responses`"),
        ({"api": Api.RESPONSES, "stop": (";",)}, "stop: not supported by the interface `responses`"),
    ],
)
def test_options_have_to_be_in_their_range(values: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as raised:
        Settings(**values)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("text", "times", "limit", "line"),
    [
        ("", 1, 20, ""),
        (" a \n\t b ", 1, 20, "a b"),
        ("a\x00\x1b[31m", 1, 20, r"a\x00\x1b[31m"),
        ("half \ud83d", 1, 20, "half \ufffd"),
        ("0123456789", 10, 25, "0123456789 ... 0123456789"),
        ("0123456789", 10_000_000, 25, "0123456789 ... 0123456789"),
    ],
)
def test_a_text_of_any_length_fits_in_a_message(text: str, times: int, limit: int, line: str) -> None:
    assert shortened(text * times, limit) == line


@pytest.mark.slow
def test_nobody_pays_for_a_client_that_is_not_used() -> None:
    code = (
        "import sys; from harness.labs.predict.adapters import Settings, open_predictor;"
        "from harness.labs.predict.budget import Meter;"
        "open_predictor('command:cat', Settings(), Meter(), questions=None, dialects=[]);"
        "print(sorted({'openai', 'httpx2', 'anyio'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


CODE = """
import os
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


def opened(function: str, meter: Meter | None = None) -> CallablePredictor:
    return CallablePredictor(f"my_predictor:{function}", meter or Meter())


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
        ("", "not a function; write it as python:"),
        ("my_predictor", "not a function; write it as python:"),
        ("my_predictor:", "not a function; write it as python:"),
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
        CallablePredictor(target, Meter())
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_of_the_current_directory_hides_no_module(tmp_path: Path) -> None:
    (tmp_path / "textwrap.py").write_text("def dedent(ask):\n    return 'mine'\n")
    sys.modules.pop("textwrap", None)
    try:
        CallablePredictor("textwrap:dedent", Meter())
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


def test_calls_are_held_against_the_budget() -> None:
    meter = Meter(Budget(requests=7))
    predictor = opened("reply", meter)
    for _ in range(3):  # three requests each, it says
        predictor.ask(ask())
    assert meter.snapshot().requests == 9
    with pytest.raises(BudgetSpent):
        predictor.ask(ask())


def test_closing_ends_the_pace() -> None:
    predictor = opened("sql", Meter(pace=Pace(1)))
    predictor.ask(ask())
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(predictor.ask, ask())
        while not waiting.running():
            pass
        predictor.close()
        with pytest.raises(RequestFailed, match=CLOSED):
            waiting.result(10)
    with pytest.raises(RequestFailed, match=CLOSED):
        predictor.ask(ask())

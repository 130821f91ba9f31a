"""From what a user writes to a predictor; ready-made files; options out of range; texts for messages."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.questions import QuestionSet
from harness.data.sets.loading import load_set
from harness.predictors.adapters.callables import CallablePredictor
from harness.predictors.adapters.commands import CommandPredictor
from harness.predictors.adapters.common import Api, Settings, shortened
from harness.predictors.adapters.endpoints import EndpointPredictor
from harness.predictors.adapters.registry import KINDS, FilePredictor, open_predictor
from harness.predictors.base import Ask, Reply, RequestFailed
from harness.predictors.budget import Meter
from tests.harness.predictors.making import problem, prompt


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


def asked(question: str, dialect: Dialect) -> Ask:
    return Ask(problem(question, dialect), prompt().messages, "sql", 0, "id")


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
    assert f"predictor {spec}: there is no kind" in str(raised.value)
    assert all(kind.example in str(raised.value) for kind in KINDS.values())


def test_a_file_answers_in_its_dialects(tmp_path: Path, sample: QuestionSet) -> None:
    dialects = [Dialect.SQLITE, Dialect.MYSQL]
    for dialect in dialects:
        written(tmp_path, sample, dialect, 2)
    meter = Meter()
    predictor = open_predictor(f"file:{tmp_path}", Settings(), meter, questions=sample, dialects=dialects)
    first, third = sample.questions[0].key, sample.questions[2].key
    assert predictor.ask(asked(first, Dialect.MYSQL)) == Reply(f"SELECT {first}")
    with pytest.raises(RequestFailed, match=f"no answer to question {third} in mysql"):
        predictor.ask(asked(third, Dialect.MYSQL))
    with pytest.raises(RequestFailed, match="no answer to question"):
        predictor.ask(asked(first, Dialect.POSTGRESQL))
    assert meter.snapshot().requests == 0


@pytest.mark.parametrize(
    ("files", "settings", "said"),
    [
        ([], {}, "has no"),
        ([("p", Dialect.SQLITE, 5)], {}, "no answers in mysql"),
        (
            [("p", Dialect.MYSQL, 5), ("q", Dialect.MYSQL, 5), ("p", Dialect.SQLITE, 5)],
            {},
            "of two predictors (p and q)",
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
        ({"concurrency": 0}, "concurrency 0: has to be between "),
        ({"retries": -1}, "retries -1: has to be between "),
        ({"timeout": 0.0}, "timeout 0.0: has to be between "),
        ({"connect_timeout": float("inf")}, "connect timeout inf: has to be between "),
        ({"requests_per_minute": 0}, "requests per minute 0: has to be between "),
        ({"tokens_per_minute": -5}, "tokens per minute -5: has to be between "),
        ({"max_tokens": 0}, "max tokens 0: has to be between "),
        ({"temperature": 2.5}, "temperature 2.5: has to be between "),
        ({"top_p": float("nan")}, "top p nan: has to be between 0 and 1"),
        ({"extra_body": {"stream": True, "n": 2}}, "extra body: n, stream cannot be set"),
        ({"api": Api.RESPONSES, "seed": 1}, "seed: the interface `responses` has none"),
        ({"api": Api.RESPONSES, "stop": (";",)}, "stop: the interface `responses` has none"),
    ],
)
def test_options_have_to_be_in_their_range(values: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as raised:
        Settings(**values)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("text", "limit", "line"),
    [
        ("", 20, ""),
        (" a \n\t b ", 20, "a b"),
        ("a\x00\x1b[31m", 20, r"a\x00\x1b[31m"),
        ("half \ud83d", 20, "half \ufffd"),
        ("0123456789" * 10, 25, "0123456789 ... 0123456789"),
        ("0123456789" * 10_000_000, 25, "0123456789 ... 0123456789"),
    ],
)
def test_a_text_of_any_length_fits_in_a_message(text: str, limit: int, line: str) -> None:
    assert shortened(text, limit) == line


def test_nobody_pays_for_a_client_that_is_not_used() -> None:
    code = (
        "import sys; from harness.predictors.adapters.registry import Settings, open_predictor;"
        "from harness.predictors.budget import Meter;"
        "open_predictor('command:cat', Settings(), Meter(), questions=None, dialects=[]);"
        "print(sorted({'openai', 'httpx2', 'pyrate_limiter'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"

"""The whole way: `lab predict` as a process, against an endpoint that is real HTTP on loopback."""

import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.loader import load_set
from harness.labs.predict.cli import default_name
from loaders.server import Server
from tests import forked
from tests.harness.conftest import Call
from tests.harness.pytest_plugin.running import name
from tests.labs.predict.endpoint_server import EndpointServer, served

pytestmark = pytest.mark.slow

SAMPLE = load_set("sample")
GOLD = {each.text: each.gold[Dialect.SQLITE] for each in SAMPLE.questions}
KEY = "sk-secret-of-nobody"
THREADS = 4


def command(base_url: str, *more: str) -> list[str]:
    return [
        "harness", "lab", "predict", "openai:parrot", "--base-url", base_url,
        "--concurrency", str(THREADS), "--no-cache", "--workers", "1", *more,
    ]  # fmt: skip


def environment() -> dict[str, str]:
    return {**os.environ, "OPENAI_API_KEY": KEY}


def start(cwd: Path, base_url: str, *more: str) -> forked.Running:
    return forked.Running(*command(base_url, *more), cwd=cwd, env=environment())


def done(cwd: Path, base_url: str, *more: str) -> tuple[int, str, str]:
    said = forked.run(*command(base_url, *more), cwd=cwd, env=environment())
    return said.returncode, said.stdout, said.stderr


def events(log: Path, kind: str) -> list[dict[str, Any]]:
    """What the server has noted; the last line may still be being written."""
    lines = log.read_text().split("\n")[:-1] if log.exists() else []
    return [record for record in map(json.loads, lines) if record["event"] == kind]


def wait_for(log: Path, answered: int) -> None:
    end = time.monotonic() + 120
    # Counted, not read: looking so often must not slow down what it waits for.
    while log.read_bytes().count(b'{"event": "answered"') < answered:
        assert time.monotonic() < end, "the server was not asked so often"
        time.sleep(0.005)


def journal(folder: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a journal."""
    for line in (folder / "journal.jsonl").read_text().split("\n")[:-1]:
        yield json.loads(line)


def read(folder: Path) -> dict[str, dict[str, Any]]:
    """Prediction files by name: SQL by question."""
    found = {}
    for path in sorted((folder / "predictions").iterdir()):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        found[path.name] = {str(record["question_id"]): record["sql"] for record in records}
    return found


FAULTS: Sequence[dict[str, Any]] = [
    {"does": "status", "status": 429, "retry_after": "0"},
    {"does": "status", "status": 503},
    {"does": "break"},
    {"does": "break_within"},
    {"does": "stall", "seconds": 30},
    {"does": "raw", "body": "<html>busy</html>", "content_type": "text/html"},
]
"""What the first request for a question gets in a dialect; garbage alone is not tried again by the client."""

ASKED = SAMPLE.questions[:24]
AT_FAULT = {each.text: fault for each, fault in zip(ASKED[::4], FAULTS, strict=True)}


@pytest.mark.engine
def test_killed_twice_and_gone_on_nothing_that_was_answered_is_asked_again(
    mysql_server: Server, postgresql_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for server in (mysql_server, postgresql_server):
        name(server, monkeypatch)
    log, folder = tmp_path / "log", tmp_path / "predictions" / "sample" / "parrot"
    every = len(ASKED) * len(PUBLISHED)
    rules = [{"contains": text, "acts": [fault, {"does": "answer"}]} for text, fault in AT_FAULT.items()]
    dialects = ",".join(PUBLISHED)
    options = ["--dialect", dialects, "--limit", str(len(ASKED)), "--answer-timeout", "3"]
    with served(log, answers=GOLD, rules=rules, delay=0.05, api_key=KEY) as base_url:
        with start(tmp_path, base_url, *options) as first:
            wait_for(log, every // 4)
            first.send_signal(signal.SIGKILL)
            first.wait()
        lines = list(journal(folder))
        replied = {line["identity"] for line in lines if line["event"] == "reply"}
        open_ends = {line["identity"]: line["event"] for line in lines if line["identity"] not in replied}
        lost = {identity for identity, event in open_ends.items() if event == "sent"}
        assert replied
        assert len(lost) <= THREADS

        with start(tmp_path, base_url, *options) as second:
            wait_for(log, every // 2)
            second.send_signal(signal.SIGTERM)
            stopped = second.wait()
        err = stopped.stdout
        assert stopped.returncode == 130, err
        assert f"{len(replied)} replies are known from earlier" in err
        assert not lost or f"{len(lost)} asks were under way when an earlier run was killed" in err
        assert "stopping: waiting for the answers in flight" in err
        assert "run the same command to resume" in err

        # What got garbage in this run is asked again by the next one.
        for more in ((), ("--eval",)):
            code, out, err = done(tmp_path, base_url, *options, *more)
            assert code == 0, err
        asked = Counter(each["key"] for each in events(log, "asked"))
        code, _, err = done(tmp_path, base_url, *options)
        assert code == 0, err
        assert Counter(each["key"] for each in events(log, "asked")) == asked

    assert {each["did"] for each in events(log, "asked")} == {"answer", *(each["does"] for each in FAULTS)}
    # Only what was under way at SIGKILL can have been answered twice, and under the same key.
    answered = Counter(each["key"] for each in events(log, "asked") if each["did"] == "answer")
    repeated = {key for key, times in answered.items() if times > 1}
    assert {key.split("-")[0] for key in repeated} <= lost
    assert max(answered.values()) <= 2
    assert len(answered) == every
    assert read(folder) == {
        f"predict_sample_parrot_{dialect}.jsonl": {each.key: GOLD[each.text] for each in ASKED}
        for dialect in PUBLISHED
    }
    for engine in ("SQLite", "MySQL", "PostgreSQL"):
        assert engine in out
    assert json.loads((folder / "manifest.json").read_text())["state"] == "complete"


def test_what_has_no_sql_is_missing_with_its_reason_and_a_key_is_in_no_file(tmp_path: Path) -> None:
    """The first four questions: an error, no SQL, prose around it, an error that has the key in it."""
    log = tmp_path / "log"
    echo = f"your key {KEY} is fine, your question is not"
    acts: Sequence[dict[str, Any]] = [
        {"does": "status", "status": 500},
        {"does": "answer", "text": "I cannot."},
        {"does": "chatty"},
        {"does": "status", "status": 400, "message": echo},
    ]
    asked = SAMPLE.questions[:4]
    rules = [{"contains": each.text, "acts": [act]} for each, act in zip(asked, acts, strict=True)]
    options = ["--limit", "4", "--dialect", "sqlite", "--retries", "1", "--eval"]
    with served(log, answers=GOLD, api_key=KEY, rules=rules) as base_url:
        code, out, err = done(tmp_path, base_url, *options)
    assert code == 0, err
    assert "missing" in out
    lines = (tmp_path / "results" / "latest" / "results.jsonl").read_text().splitlines()
    results = {record["question"]: record for record in map(json.loads, lines)}
    found = [results[each.key] for each in asked]
    assert [each["outcome"] for each in found] == ["missing", "missing", "match", "missing"]
    assert "500" in found[0]["error"]
    assert found[1]["error"] == "the answer has no SQL in it"
    assert "400" in found[3]["error"]
    folder = tmp_path / "predictions/sample/parrot"
    answers = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    assert answers[1]["text"] == "I cannot."
    assert answers[2]["text"] != answers[2]["sql"] == GOLD[asked[2].text]
    assert {each["headers"]["authorization"] for each in events(log, "asked")} == {f"Bearer {KEY}"}
    files = [path for top in ("predictions", "results") for path in (tmp_path / top).rglob("*")]
    written = [path.read_text() for path in files if path.is_file()]
    assert not [text for text in (*written, out, err) if KEY in text]


def test_a_budget_ends_the_run_and_a_larger_one_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    options = ["--limit", "8", "--dialect", "sqlite"]
    with served(log, answers=GOLD) as base_url:
        code, _, err = done(tmp_path, base_url, *options, "--max-requests", "5", "--eval")
        assert code == 1, err
        assert len(events(log, "asked")) == 5
        assert "not scored, because not every question was asked" in err
        code, _, err = done(tmp_path, base_url, *options, "--max-requests", "5")
        assert (code, len(events(log, "asked"))) == (1, 5)
        code, _, err = done(tmp_path, base_url, *options, "--max-requests", "8")
        assert (code, len(events(log, "asked"))) == (0, 8)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"api_key": "another"}, "OPENAI_API_KEY"),
        (
            {"rules": [{"contains": "", "acts": [{"does": "status", "status": 503}]}]},
            "asks in a row had no reply",
        ),
    ],
)
def test_a_predictor_that_cannot_answer_ends_the_run_with_one_line(
    tmp_path: Path, config: dict[str, Any], says: str
) -> None:
    with served(tmp_path / "log", **config) as base_url:
        code, _, err = done(tmp_path, base_url, "--dialect", "sqlite", "--retries", "0")
    assert code == 3, err
    (line,) = [line for line in err.splitlines() if line.startswith("bird-harness: ")]
    assert says in line
    assert "Traceback" not in err


def test_samples_have_pass_at_k_and_a_majority(tmp_path: Path) -> None:
    (tmp_path / "answering.py").write_text(
        "GOLD = " + repr(GOLD) + "\n\n"
        "def answer(ask):\n"
        "    # Right in two of three samples for every other question, in one for the rest.\n"
        "    often = int(ask.problem.question) % 2\n"
        "    return GOLD[ask.problem.text] if ask.sample <= often else f'SELECT {ask.sample}, 9, 9'\n"
    )
    done = forked.run(
        "harness", "lab", "predict", "python:answering:answer", "--dialect", "sqlite",
        "--limit", "10", "--samples", "3", "--eval", "--no-cache", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "predictions" / "sample" / "answer"
    files = read(folder)
    assert list(files) == [
        f"predict_sample_answer@{each}_sqlite.jsonl" for each in ("1", "2", "3", "majority")
    ]
    table = json.loads((folder / "pass_at_k.json").read_text())
    (shown,) = table["tables"]
    total = {
        figure["level"].split(",")[0]: figure["value"]
        for figure in shown["figures"]
        if figure["level"].endswith("total")
    }
    odd = sum(int(each.key) % 2 for each in SAMPLE.questions[:10])
    assert total["pass@3"] == 100.0
    assert total["pass@1"] == pytest.approx(100 * (odd * 2 / 3 + (10 - odd) / 3) / 10)
    majority = files["predict_sample_answer@majority_sqlite.jsonl"]
    assert all(sql == GOLD[SAMPLE.by_key[key].text] for key, sql in majority.items() if int(key) % 2)
    assert "pass@2" in done.stdout


def test_an_answer_that_does_not_run_is_corrected_with_the_engines_words(tmp_path: Path) -> None:
    (tmp_path / "answering.py").write_text(
        "def answer(ask):\n"
        "    if ask.stage == 'sql':\n"
        "        return 'SELECT absent'\n"
        "    assert 'no such column: absent' in ask.messages[-1].content\n"
        "    return 'SELECT 7'\n"
    )
    done = forked.run(
        "harness", "lab", "predict", "python:answering:answer", "--dialect", "sqlite",
        "--limit", "3", "--corrections", "2", "--no-cache", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (file,) = read(tmp_path / "predictions" / "sample" / "answer").values()
    assert set(file.values()) == {"SELECT 7"}


BAD: Sequence[tuple[Sequence[str], Sequence[str]]] = [
    (["nobody"], ["nobody", "openai:"]),
    (["openai:m", "--samples", "0"], ["--samples 0", "between 1 and 100"]),
    (["openai:m", "--corrections", "-1"], ["--corrections -1"]),
    (["openai:m", "--name", "a/b"], ["--name 'a/b'", "is not a file name"]),
    (["openai:m", "--method", "magic"], ["magic", "direct", "ta-sql"]),
    (["openai:m", "--extra-body", "[1]"], ["--extra-body [1]", "not a JSON object"]),
    (["openai:m", "--extra-body", "{"], ["--extra-body {", "is not JSON"]),
    (["openai:m", "--templates", "gone"], ["gone"]),
    (["openai:m", "--tokenizer", "nothing"], ["nothing", "my_tokens:count"]),
    (["openai:m", "--max-cost", "1"], ["price"]),
    (["offline", "--show-prompt", "no-question"], ["--show-prompt no-question", "not a question of sample"]),
    (["python:no_such_module:f"], ["no_such_module"]),
    (["file:gone.json"], ["gone.json"]),
    (["offline", "--out", "file"], ["--out file", "choose another folder"]),
]


@pytest.mark.parametrize(("args", "says"), BAD, ids=[" ".join(args) for args, _ in BAD])
def test_bad_options_are_one_clear_error(
    call: Call, tmp_path: Path, args: Sequence[str], says: Sequence[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    code, out, err = call("lab", "predict", *args, "--dialect", "sqlite")
    assert (code, out) == (2, "")
    (line,) = [line for line in err.splitlines() if line.startswith("bird-harness: ")]
    assert all(word in line for word in says), line


@pytest.mark.parametrize(
    ("options", "asks"),
    [
        (["--method", "ta-sql"], 3),
        (["--cot", "--rows", "2", "--no-knowledge"], 1),
        (["--api", "responses", "--temperature", "0", "--max-tokens", "300"], 1),
        (["--max-prompt-tokens", "450"], 1),
    ],
)
def test_every_way_of_asking_gives_prediction_files(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Sequence[str], asks: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with EndpointServer(GOLD) as server:
        code, _, err = call(
            "lab", "predict", "openai:org/parrot:free", "--base-url", server.base_url, "--dialect", "sqlite",
            "--limit", "4", *options,
        )  # fmt: skip
        assert code == 0, err
        assert len(server.requests) == 4 * asks
    (folder,) = (tmp_path / "predictions" / "sample").iterdir()
    (file,) = read(folder).values()
    assert file == {each.key: GOLD[each.text] for each in SAMPLE.questions[:4]}


def test_a_prompt_is_shown_and_nobody_is_asked(call: Call, tmp_path: Path) -> None:
    question = SAMPLE.questions[0]
    code, out, _ = call("lab", "predict", "openai:m", "--show-prompt", question.key, "--dialect", "sqlite")
    assert code == 0
    assert out.startswith("sqlite, stage sql\n--- user ---\n")
    assert question.text in out
    assert "CREATE TABLE" in out
    assert not (tmp_path / "predictions").exists()


def test_a_prompt_that_fits_nowhere_is_shown_as_that(call: Call) -> None:
    args = ["--show-prompt", SAMPLE.questions[0].key, "--dialect", "sqlite", "--max-prompt-tokens", "5"]
    code, out, _ = call("lab", "predict", "offline", *args)
    assert code == 0
    assert "and 5 are allowed" in out


@pytest.mark.parametrize(
    ("spec", "options", "expected"),
    [
        ("openai:gpt-5-mini", [], "gpt-5-mini"),
        ("openai:org/model:free", ["--cot"], "model-free-cot"),
        ("azure:prod 7", ["--method", "ta-sql"], "prod-7-ta-sql"),
        ("python:my.module:answer", [], "answer"),
        ("command:bin/tool.py --beam 4", [], "tool"),
        ("file:answers/predict_x.json", [], "predict_x"),
        ("offline", [], "offline"),
        ("offline", ["--cot", "--no-knowledge"], "offline-cot-no-knowledge"),
        ("python:", [], "python"),
    ],
)
def test_a_predictor_is_called_after_what_answers(spec: str, options: Sequence[str], expected: str) -> None:
    method = options[1] if "--method" in options else "direct"
    asked = {"chain_of_thought": "--cot" in options, "knowledge": "--no-knowledge" not in options}
    assert default_name(spec, method, **asked) == expected


PROGRAM = """
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    usage = {"requests": 1, "prompt_tokens": 100, "completion_tokens": 20}
    print(json.dumps({"id": ask["id"], "sql": "SELECT 1", "usage": usage}), flush=True)
"""


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_predict_and_eval_show_what_answers_took(call: Call, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    spec = f"command:{sys.executable} program.py"
    prices = ["--prompt-price", "10", "--completion-price", "20"]
    asked = [
        "lab",
        "predict",
        spec,
        "--dialect",
        "sqlite",
        "--limit",
        "3",
        "--name",
        "m",
        "--out",
        "p",
        *prices,
    ]
    code, _, err = call(*asked)
    assert code == 0, err
    answers = records(tmp_path / "p" / "answers.jsonl")
    assert [one["cost"] for one in answers] == [0.0014] * 3
    assert all(one["seconds"] > 0 for one in answers)
    # Replies that are known keep the time that they took.
    assert call(*asked)[0] == 0
    assert records(tmp_path / "p" / "answers.jsonl") == answers
    # What was there before it was asked for took no time that anybody knows.
    code, _, err = call(
        "lab", "predict", "file:p", "--dialect", "sqlite", "--limit", "3", "--name", "n", "--out", "q"
    )
    assert code == 0, err
    assert [one["seconds"] for one in records(tmp_path / "q" / "answers.jsonl")] == [None] * 3
    code, _, err = call(
        "eval", "--predictions", "p", "--predictions", "q", "--dialect", "sqlite", "--limit", "3",
        "--allow-missing", "--no-cache", "--out", "both",
    )  # fmt: skip
    assert code == 0, err
    told = (tmp_path / "both" / "latest" / "tables.md").read_text(encoding="utf-8")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in told.splitlines()]
    [place] = {line.index("median s") for line in cells if "median s" in line}
    seconds = {line[0]: line[place] for line in cells if line[0] in {"m", "n"} and len(line) > place}
    assert float(seconds["m"]) > 0
    assert seconds["n"] == "not known"

    code, out, err = call(
        "eval", "--predictions", "p", "--dialect", "sqlite", "--limit", "3", "--allow-missing", "--no-cache"
    )
    assert code == 0, err
    assert "Scores and usage" in out
    assert "0.0042" in out
    folder = (tmp_path / "results" / "latest").resolve()
    names = ("prompt_tokens", "completion_tokens", "seconds", "cost")
    assert records(folder / "usage.jsonl") == [
        {"dialect": "sqlite", "predictor": "m", "question": one["question"]}
        | {name: one[name] for name in names}
        for one in answers
    ]
    summary = (folder / "summary.json").read_bytes()
    assert json.loads(summary)["scores"][0]["usage"]["tokens"] == 120.0

    # Broken off after two results; the answers are gone, and the run knows them.
    (folder / "summary.json").unlink()
    lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "results.jsonl").write_text("".join(lines[:2]), encoding="utf-8")
    (tmp_path / "p" / "answers.jsonl").unlink()
    code, _, err = call(
        "eval", "--predictions", "p", "--dialect", "sqlite", "--limit", "3", "--allow-missing", "--no-cache",
        "--resume", str(folder),
    )  # fmt: skip
    assert code == 0, err
    assert (folder / "summary.json").read_bytes() == summary


EVIDENCE = {
    "all.json": lambda keys: json.dumps(dict.fromkeys(keys, "it is green")),
    "all.jsonl": lambda keys: "".join(
        json.dumps({"question_id": int(key), "evidence": "it is green"}) + "\n" for key in keys
    ),
    "all.csv": lambda keys: "question_id,evidence\n" + "".join(f"{key},it is green\n" for key in keys),
    "array.json": lambda keys: json.dumps([{"question_id": key, "evidence": "it is green"} for key in keys]),
}
"""Files of evidence by question, in each form."""


@pytest.mark.parametrize("name", EVIDENCE)
@pytest.mark.parametrize("method", ["direct", "paper", "mini-dev"])
def test_evidence_of_a_file_is_in_the_prompt(call: Call, tmp_path: Path, name: str, method: str) -> None:
    first = load_set("sample").questions[0].key
    keys = [one.key for one in load_set("sample").questions]
    (tmp_path / name).write_text(EVIDENCE[name](keys), encoding="utf-8")
    asked = ["lab", "predict", "openai:m", "--show-prompt", first, "--dialect", "sqlite", "--method", method]
    code, out, err = call(*asked, "--evidence", str(tmp_path / name))
    assert code == 0, err
    assert "it is green" in out
    code, out, _ = call(*asked, "--no-knowledge")
    assert code == 0
    assert "nowledge" not in out
    _, thinking, _ = call(*asked, "--cot")
    assert "step by step" in thinking


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", "no evidence for question"),
        ('{"none such": "x"}', "names no question"),
        ('[{"question_id": 1, "evidence": 5}]', "no text as evidence"),
        ('"x"', "a string"),
    ],
)
def test_evidence_that_cannot_be_used_is_refused(call: Call, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    code, _, err = call(
        "lab",
        "predict",
        "offline",
        "--dialect",
        "sqlite",
        "--limit",
        "2",
        "--evidence",
        str(tmp_path / "bad.json"),
    )
    assert code == 2
    assert says in err

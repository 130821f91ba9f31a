"""The server of the tests in a process of its own: it does as it is told, tells what it did, and ends."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from tests.harness.predictors.adapters.endpoint_server import Answers, EndpointServer, logged, served

COMMAND = [sys.executable, "-m", "tests.harness.predictors.adapters.endpoint_server"]


def ask(base_url: str, content: str, key: str = "k") -> requests.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    headers = {"Idempotency-Key": key, "Authorization": "Bearer s"}
    return requests.post(f"{base_url}/chat/completions", json=body, headers=headers, timeout=10)


def text(response: requests.Response) -> str:
    content = response.json()["choices"][0]["message"]["content"]
    assert isinstance(content, str)
    return content


def test_it_logs_what_came_and_what_was_answered(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    rules = [{"contains": "slow", "acts": [{"does": "status", "status": 503}, {"does": "break"}, {}]}]
    with served(log, answers={"How many": "SELECT 2"}, rules=rules) as base_url:
        assert text(ask(base_url, "How many?")) == "SELECT 2"
        assert ask(base_url, "slow", "k2").status_code == 503
        with pytest.raises(requests.ConnectionError):
            ask(base_url, "slow", "k2")
        assert text(ask(base_url, "slow", "k2")) == "SELECT 1"
    assert [(line["number"], line["key"], line["did"]) for line in logged(log)] == [
        (0, "k", "answer"),
        (1, "k2", "status"),
        (2, "k2", "break"),
        (3, "k2", "answer"),
    ]
    assert [line["number"] for line in logged(log, "answered")] == [0, 1, 3]
    assert logged(log)[0]["headers"]["authorization"] == "Bearer s"
    assert logged(log)[0]["body"]["messages"] == [{"role": "user", "content": "How many?"}]


@pytest.mark.parametrize("way", ["end of stdin", "SIGTERM", "its time"])
def test_it_ends(way: str) -> None:
    more = ["--seconds", "0.1"] if way == "its time" else ["--until-eof"]
    pipe = subprocess.PIPE
    with subprocess.Popen([*COMMAND, *more], stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["pid"] == process.pid
        if way == "SIGTERM":
            os.kill(process.pid, signal.SIGTERM)
        if way == "end of stdin":
            process.stdin.close()
        assert process.wait(20) == 0


@pytest.mark.parametrize(
    ("prompt", "sql"),
    [
        ("How many?", "SELECT 1 -- short"),
        ("How many cats?", "SELECT 2 -- the longest"),
        ("Which? in MySQL", "SELECT 3 -- mysql"),
        ("Which? in SQLite", "SELECT 4 -- any"),
        ("When?", "SELECT 1"),
    ],
)
def test_answers_are_found_by_what_occurs_in_a_prompt(prompt: str, sql: str) -> None:
    answers: Answers = {
        "How many": "SELECT 1 -- short",
        "How many cats?": "SELECT 2 -- the longest",
        "Which?": {"mysql": "SELECT 3 -- mysql", "": "SELECT 4 -- any"},
    }
    with EndpointServer(answers) as server:
        assert text(ask(server.base_url, prompt)) == sql

"""From a predictor to tables: what its answers took goes into the run, and a run that is resumed keeps it."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.harness.conftest import Call

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
    asked = ["predict", spec, "--dialect", "sqlite", "--limit", "3", "--name", "m", "--out", "p", *prices]
    code, _, err = call(*asked)
    assert code == 0, err
    answers = records(tmp_path / "p" / "answers.jsonl")
    assert [one["cost"] for one in answers] == [0.0014] * 3
    assert all(one["seconds"] > 0 for one in answers)
    # Replies that are known keep the time that they took.
    assert call(*asked)[0] == 0
    assert records(tmp_path / "p" / "answers.jsonl") == answers

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

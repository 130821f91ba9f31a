"""A run of tasks as a bundle: packed with its statements, judged again, and shown on the board."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from dialects.enums import Dialect
from harness.labs.tasks.outcomes import FILE, write_run
from harness.labs.tasks.sample import sample_answers
from loaders.base.files import as_json
from loaders.server import Server
from tests.harness.conftest import Call
from tests.labs.tasks.shop import make_sqlite, write_set
from tests.labs.tasks.test_outcomes import LITE, PASSED, TASKS, judged_set, request
from tests.sqlite_files import sqlite_file

MADE = "CREATE TABLE kept AS SELECT 1 AS one"
"""A statement whose semicolon, or whose place in one text with another, decides a verdict."""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def changed(bundle: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The bundle with another first outcome or prediction, with digests that fit."""
    content = json.loads(bundle.read_text(encoding="utf-8"))
    change(content)
    for one in content["statement"]["subject"]:
        one["digest"]["sha256"] = sha256(content[one["name"].removesuffix(".jsonl")])
    content["digest"] = sha256(as_json(content["statement"]))
    path = bundle.with_name(f"changed-{bundle.name}")
    path.write_text(as_json(content, indent=1) + "\n", encoding="utf-8")
    return path


def without(member: str, name: str) -> Callable[[dict[str, Any]], object]:
    """A change that takes a member, or a score, out of the first line that has it."""

    def change(content: dict[str, Any]) -> None:
        lines = [json.loads(line) for line in content[member].splitlines()]
        of = next(place for one in lines if name in (place := one.get("scores", one)))
        of.pop(name)
        content[member] = "".join(f"{as_json(one)}\n" for one in lines)

    return change


def with_facts(facts: dict[str, Any]) -> Callable[[dict[str, Any]], object]:
    """A change that claims other facts of the run."""
    return lambda content: content["statement"]["predicate"].update(facts=facts)


@pytest.mark.slow
def test_a_bundle_of_tasks_is_judged_again(call: Call, tmp_path: Path) -> None:
    known = json.loads(sample_answers(Dialect.SQLITE)[1].read_text(encoding="utf-8").splitlines()[0])
    lines = [
        {"instance_id": "city_library_1", "pred_sqls": [MADE, *known["pred_sqls"]]},
        {"instance_id": "city_library_3", "pred_sqls": ["SELECT 1; SELECT 2"]},
    ]
    (tmp_path / "own.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
    options = ("--set", "sample_tasks", "--dialect", "sqlite", "--limit", "3", "--workers", "1")
    code, _, said = call("eval", *options, "--predictions", "own.jsonl")
    assert code == 0, said
    code, printed, said = call("lab", "submit", "results/latest", "--out", "b.bundle.json")
    assert (code, "3 of 24 questions" in said) == (0, True), said
    predictions = json.loads((tmp_path / "b.bundle.json").read_text(encoding="utf-8"))["predictions"]
    texts = {one["question_id"]: one["statements"] for one in map(json.loads, predictions.splitlines())}
    # Statements as they were, and not what the one text of a run folder could be split into.
    assert texts["city_library_1"] == [MADE, *known["pred_sqls"]]
    assert (len(texts["city_library_3"]), texts["city_library_2"]) == (1, None)
    code, again, said = call("lab", "verify", "b.bundle.json", "--workers", "1")
    assert (code, again) == (0, f"{printed.strip()}: 0 of 3 pairs differ\n"), said
    forged = changed(tmp_path / "b.bundle.json", without("outcomes", "strict"))
    code, again, _ = call("lab", "verify", forged.name, "--workers", "1")
    assert code == 1
    assert "strict undecided was submitted, " in again
    assert "its means are not those of its outcomes" in again
    for phase, why in (
        ("third", "the run's families or phase are damaged"),
        ("first", "sample_tasks: is not judged by the scripts of none"),
    ):
        forged = changed(tmp_path / "b.bundle.json", with_facts({"families": {}, "phase": phase}))
        code, _, said = call("lab", "verify", forged.name)
        assert (code, said.count("\n"), why in said) == (2, 1, True), said
    code, _, said = call("lab", "verify", "b.bundle.json", "--databases", "x")
    assert (code, said.count("\n")) == (2, 1)
    assert "--databases, --gold: mean nothing for sample_tasks" in said


@pytest.mark.slow
def test_tasks_of_a_file_are_verified_and_on_the_board(call: Call, tmp_path: Path) -> None:
    make_sqlite(tmp_path / "databases")
    tasks, first, *_ = write_set(tmp_path, "sqlite")
    kept = tasks.read_text(encoding="utf-8").splitlines()[:2]
    golds = [
        {key: json.loads(line)[key] for key in ("instance_id", "sol_sql", "test_cases")} for line in kept
    ]
    (tmp_path / "mailed.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in golds), encoding="utf-8")
    public = [{**json.loads(line), "sol_sql": [], "test_cases": []} for line in kept]
    tasks.write_text("".join(f"{json.dumps(one)}\n" for one in public), encoding="utf-8")
    judged = ("--databases", "databases", "--ground-truth", "mailed.jsonl", "--workers", "1")
    code, _, said = call("lab", "tasks", "tasks.jsonl", *judged, "--answers", first.name)
    assert code == 0, said
    (tmp_path / "out").mkdir()
    assert call("lab", "submit", "results/latest", "--out", "out/b.bundle.json")[0] == 0
    verify = ("lab", "verify", "out/b.bundle.json", "--workers", "1")
    code, _, said = call(*verify)
    assert (code, "name the folder or the file of tasks" in said) == (2, True)
    code, _, said = call(*verify, "--set", "tasks.jsonl", "--gold", "mailed.jsonl")
    assert (code, "name the folder of the databases of its tasks with --databases" in said) == (2, True)
    at_hand = ("--set", "tasks.jsonl", "--databases", "databases", "--gold", "mailed.jsonl")
    code, printed, said = call(*verify, *at_hand, "--out", "out/b.receipt.json")
    assert (code, "0 of 2 pairs differ" in printed) == (0, True), printed + said
    code, _, said = call("lab", "board", "out", "--out", "site")
    assert (code, "bundles: 1" in said) == (0, True), said
    [page] = (tmp_path / "site").glob("tasks-sqlite-*.html")
    shown = page.read_text(encoding="utf-8")
    assert ("Official" in shown, "None" in shown) == (True, False)
    # Another database is no verification.
    sqlite_file(tmp_path / "databases/shop/shop_template.sqlite", "DELETE FROM orders WHERE id = 1")
    code, _, said = call(*verify, *at_hand)
    assert (code, "the database sqlite/shop is not the one that was submitted" in said) == (2, True), said


@pytest.mark.engine
@pytest.mark.thorough
def test_a_bundle_of_two_engines_is_judged_again(
    call: Call, postgresql_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    whose = f"{postgresql_server.user}:{quote(postgresql_server.password)}"
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    monkeypatch.setenv("BIRD_POSTGRESQL_DSN", f"postgresql://{whose}@{postgresql_server.address}")
    asked = ("--set", "sample_tasks", "--dialect", "sqlite,postgresql", "--limit", "1", "--workers", "1")
    code, _, said = call("eval", *asked)
    assert code == 0, said
    assert call("lab", "submit", "results/latest", "--out", "b.bundle.json")[0] == 0
    code, printed, said = call("lab", "verify", "b.bundle.json", "--workers", "1")
    assert (code, "0 of 6 pairs differ" in printed) == (0, True), printed + said


@pytest.mark.parametrize(
    ("names", "why"), [(["gold"], "is of golds alone"), (["gold", "m"], "it has no statements")]
)
def test_a_run_without_statements_or_of_golds_is_no_bundle(
    call: Call, tmp_path: Path, names: list[str], why: str
) -> None:
    one = judged_set(tmp_path, LITE, TASKS, {name: [PASSED, PASSED] for name in names})
    path = write_run(tmp_path / "out", [one], request()) / FILE
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    older = [{key: value for key, value in line.items() if key != "answer"} for line in lines]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in older), encoding="utf-8")
    code, _, said = call("lab", "submit", "out/latest", "--out", "b.bundle.json")
    assert (code, said.count("\n"), why in said) == (2, 1, True), said

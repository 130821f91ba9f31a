"""The benchmarks' commands run, and the naive evaluator and the harness agree on every pair."""

import itertools
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.agreement import agreement
from benchmarks.contestants import Contest, Contestant, Measured
from benchmarks.contestants import run as measure
from benchmarks.growth import exponent
from benchmarks.memory import below, peak
from benchmarks.options import contest
from benchmarks.soak import (
    MARGINS,
    MARKER,
    Asked,
    Changes,
    InTurn,
    StatementTimes,
    grown,
    marked,
    sample,
    seconds_table,
)
from benchmarks.sqlite_tests import databases, script
from benchmarks.work_repeated import digest
from dialects.enums import Dialect
from harness import Answer
from harness.data.outcomes import Judgement, Outcome, preview
from harness.session.plan import prepare
from harness.session.request import Request
from loaders.sample import PREDICTIONS
from loaders.server import Origin, Server
from tests import forked
from tests.engines.hostile.cases import Hostile
from tests.evaluating import evaluated
from tests.harness.pytest_plugin.running import name

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return forked.run(*arguments, cwd=ROOT)


def small(metrics: str = "ex,soft_f1") -> Contest:
    return contest(
        set_name="sample", predictions=[PREDICTIONS], dialect="sqlite", workers=2, metrics=metrics, limit=2
    )


@pytest.fixture(scope="module")
def naive(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measure(Contestant.NAIVE, small(), tmp_path_factory.mktemp("naive"))


def rows(output: str) -> list[dict[str, str]]:
    """The rows of the Markdown table that a benchmark prints."""
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in output.splitlines()
        if line.startswith("| ")
    ]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


def is_a_figure(cell: str) -> bool:
    """Which one it is depends on what else the machine does."""
    return re.fullmatch(r"\d+(\.\d+)?", cell) is not None


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_cold_warm_and_batch_agree_with_the_naive_evaluator_which_executes_more(dialect: str) -> None:
    done = run("benchmarks.evaluation", "--dialect", dialect, "--limit", "3", "--runs", "1", "--without", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("4 pairs compared, 0 with other scores") == 3, "2 questions, 2 predictors"
    table, _, profile = done.stdout.partition("\n\n")
    (row,) = rows(table)
    naive, cold = map(int, row["executions, naive / cold"].split(" / "))
    assert naive == 4 * 2 * 2, "a prediction and its gold, for each of two metrics"
    assert 2 < cold <= 2 + 4, "a gold for each question, and the distinct predictions"
    assert re.search(r"^warm .* executions 0,", done.stdout, re.MULTILINE)
    assert (bound := re.search(r"^bound .* executions (\d+),", done.stdout, re.MULTILINE))
    assert 2 < int(bound[1]) <= cold, "each distinct text once; ours counts predictions that are gold's text"
    assert is_a_figure(row["cold / bound"])
    times = {row["phase"]: int(row["times"]) for row in rows(profile)}
    assert times["statement: server, wire and decoding"] == int(bound[1])
    assert times["run folder"] == 4 + 1


def test_the_naive_r_ves_executes_200_times_what_matches(tmp_path: Path) -> None:
    measured = measure(Contestant.NAIVE, small("ex,r_ves_stable"), tmp_path)
    matching = sum(scores["ex"] == 1.0 for scores in measured.scores.values())
    assert matching
    assert measured.executions == 2 * 2 * len(measured.scores) + 200 * matching
    assert all((scores["r_ves_stable"] > 0) == (scores["ex"] == 1.0) for scores in measured.scores.values())


def test_a_different_score_is_found_and_one_that_a_limit_ended_is_not_held_against_anybody(
    naive: Measured,
) -> None:
    name, other, *_ = naive.scores
    wrong = replace(naive, scores={**naive.scores, name: {"ex": 0.5, "soft_f1": 0.5}})
    assert agreement(small(), naive, wrong).different == [name]
    found = agreement(small(), naive, replace(wrong, limited=[name, other]))
    assert (found.compared, found.limited, found.different) == (
        len(naive.scores) - 2,
        sorted([name, other]),
        [],
    )


def test_a_pair_that_came_out_the_same_when_it_was_done_again_is_unsteady(naive: Measured) -> None:
    name = next(iter(naive.scores))
    once = Measured(0.0, 0.0, scores={**naive.scores, name: {"ex": 0.5, "soft_f1": 0.5}})
    found = agreement(small(), once, naive)
    assert (found.unsteady, found.different) == ([name], [])


def test_scaling_prints_a_ratio_for_every_number_of_workers() -> None:
    done = run("benchmarks.scaling", "--limit", "1", "--runs", "1", "--workers", "1,2")
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = rows(done.stdout)
    assert row["pairs"] == "2"
    assert all(is_a_figure(row[f"{number}: ratio"]) for number in (1, 2))


def test_overhead_prints_figures_of_the_library_and_of_pytest() -> None:
    done = run("benchmarks.overhead", "--limit", "1", "--runs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = rows(done.stdout)
    assert row["pairs"] == "2"
    assert is_a_figure(row["library, ms a pair: median"])
    assert is_a_figure(row["pytest, s"])


@pytest.mark.engine
@pytest.mark.parametrize("dialect", ["postgresql", "mysql", "duckdb"])
def test_loading_prints_a_ratio_and_every_loader_brings_all_rows(dialect: str) -> None:
    peer = (
        ()
        if dialect == "duckdb" or (dialect == "postgresql" and shutil.which("pgloader"))
        else ("--no-peer",)
    )
    if dialect == "postgresql" and peer:
        done = run("benchmarks.loading", "--runs", "1")
        assert done.returncode == 1
        assert "pgloader is not on this machine; install its Debian package" in done.stderr
    one = ("--runs", "1", "--db", "city_library", "--jobs", "2", *peer)
    done = run("benchmarks.loading", "--dialect", dialect, *one)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = rows(done.stdout)
    assert (row["server"], row["databases"], row["runs"]) == (dialect, "1", "1")
    assert set(row["rows not arrived"].split(" / ")) == {"0"}
    assert is_a_figure(row["ours / alone"])
    assert is_a_figure(row["ours, peak MB"])


@pytest.mark.engine
def test_neighbours_counts_what_becomes_of_golds_and_answers_written_for_another_engine(
    postgresql_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name(postgresql_server, monkeypatch)
    asked = ("--set", "sample", "--predictions", str(PREDICTIONS))
    done = run("benchmarks.neighbours", "--of", "postgresql", "--on", "duckdb", *asked)
    assert done.returncode == 0, done.stdout + done.stderr
    golds, scores, causes = (rows(table) for table in done.stdout.strip().split("\n\n"))
    assert sum(int(row["questions"]) for row in golds) == 66
    *each, all_of_them = scores
    assert [row["predictor"] for row in scores] == ["careless", "every-fifth-wrong", "all"]
    assert {row["gold"] for row in golds} >= {"same rows", "refused by DuckDB"}
    for column in ("lost", "won", "other outcome"):
        assert sum(int(row[column]) for row in each) == int(all_of_them[column])
    assert sum(int(row["pairs"]) for row in causes) == int(all_of_them["other outcome"]) > 0


def test_serving_scores_as_a_plain_loop_does_and_prints_ratios_to_it() -> None:
    options = ("--callers", "1,2", "--answers", "40", "--batch", "10", "--workers", "1")
    done = run("benchmarks.serving", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    [first, *found] = rows(done.stdout)
    ways = ["plain", "library", "trl", "server", "connections", "mcp"]
    assert first["way"] == "bound"
    assert [(row["callers"], row["way"]) for row in found] == list(itertools.product("12", ways))
    assert all(is_a_figure(row["warm / plain"]) for row in found)
    of_servers = [row for row in found if row["way"] in ("server", "connections")]
    assert all(row["at the server, p50 ms"].startswith("<= ") for row in of_servers)


def test_adapters_compares_ways_with_eval() -> None:
    done = run("benchmarks.adapters", "--answers", "20", "--ways", "library,server,MCP")
    assert done.returncode == 0, done.stdout + done.stderr
    found = rows(done.stdout)
    told = [(row["way"], row["answers"], row["equal scores"]) for row in found]
    assert told == [(way, "20", "yes") for way in ("library", "server", "MCP")]
    assert all(is_a_figure(row[rate].replace(",", "")) for row in found for rate in ("new/s", "known/s"))


def test_extraction_scores_raw_answers_as_the_clean_file() -> None:
    done = run("benchmarks.extraction")
    assert done.returncode == 0, done.stdout + done.stderr
    found = {(row["answers"], row["extract"]): row for row in rows(done.stdout)}
    clean, taken = found["clean", "none"], found["raw", "answer-1"]
    assert {**taken, "answers": "", "extract": ""} == {**clean, "answers": "", "extract": ""}
    assert float(found["raw", "none"]["EX"]) < float(found["raw", "fences"]["EX"]) < float(taken["EX"])


def test_answers_to_tasks_are_judged_as_a_loop_judges_them() -> None:
    done = run("benchmarks.task_answers", "--tasks", "4", "--runs", "1", "--workers", "1")
    assert done.returncode == 0, done.stderr
    [row] = rows(done.stdout)
    assert (row["engine"], row["tasks"], row["answers"], row["passed"]) == ("sqlite", "4", "16", "8")
    assert is_a_figure(row["harness / loop"])


def test_hostile_answers_reads_the_slowest_texts_again_and_has_a_limit() -> None:
    options = ("--size", "30000", "--every", "1500", "--runs", "2", "--slowest", "3")
    done = run("benchmarks.hostile_answers", *options, "--limit", "1e6")
    assert done.returncode == 0, done.stderr
    found = rows(done.stdout)
    assert len(found) == 3
    assert all(is_a_figure(row["median (ms)"]) for row in found)
    assert run("benchmarks.hostile_answers", *options, "--no-pairs", "--limit", "0").returncode == 1


@pytest.mark.engine
def test_serving_compares_each_engine_with_what_its_driver_does(
    postgresql_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name(postgresql_server, monkeypatch)
    options = ("--callers", "2", "--answers", "8", "--workers", "1", "--ways", "bound,connections")
    done = run("benchmarks.serving", "--dialect", "postgresql,duckdb", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    found = rows(done.stdout)
    assert [(row["engine"], row["way"]) for row in found] == [
        (engine, way) for engine in ("postgresql", "duckdb") for way in ("bound", "connections")
    ]
    assert all(is_a_figure(row["cold / bound"]) for row in found[1::2])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["benchmarks.serving", "--callers", "0"], "--callers 0: has to be numbers separated by commas"),
        (["benchmarks.serving", "--ways", "plan"], "--ways plan: choose from bound, plain, library, trl"),
        (["benchmarks.loading", "--dialect", "sqlite"], "choose one of postgresql, mysql, mariadb, duckdb"),
        (["benchmarks.evaluation", "--metrics", "ts"], "the naive evaluator has no ts; choose from ex,"),
        (["benchmarks.evaluation", "--set", "mini_dev"], "name a file or folder with --predictions"),
        (["benchmarks.scaling", "--workers", "some"], "has to be numbers separated by commas, such as 1,2,4"),
        (["benchmarks.full_scale", "there", "--generator", "nowhere.py"], "nowhere.py: is not there"),
    ],
)
def test_a_wrong_option_ends_with_one_line(arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.bird
def test_full_scale_makes_a_bird_home_with_one_larger_database(bird_home: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    generator = str(bird_home / "twins" / "make_twins.py")
    command = ["benchmarks.full_scale", str(made), "--db", "toxicology", "--scale", "0.5"]
    done = run(*command, "--generator", generator)
    assert done.returncode == 0, done.stdout + done.stderr
    sizes = [
        (home / "MINIDEV/dev_databases/toxicology/toxicology.sqlite").stat().st_size
        for home in (bird_home, made)
    ]
    assert sizes[1] > sizes[0]
    answers = bird_home / "predictions" / "predict_mini_dev_gpt-4_sqlite.json"
    contested = contest(
        set_name="mini_dev", predictions=[answers], dialect="sqlite", workers=1, metrics="ex", limit=3,
        bird_home=made,
    )  # fmt: skip
    assert len(measure(Contestant.NAIVE, contested, tmp_path).scores) == 3


def test_the_peak_memory_of_a_process_below_this_one_is_seen() -> None:
    code = "import os; data = bytearray(b'1' * 100_000_000); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        process.stdout.readline()
        if sys.platform == "linux":
            assert process.pid in below(os.getpid())
            assert peak(process.pid) > 100
        process.communicate("\n")
    assert peak(process.pid) == 0.0


def held(**changed: float) -> dict[str, float]:
    return {
        **dict.fromkeys(MARGINS, 10.0),
        **{name.replace("_", " "): value for name, value in changed.items()},
    }


def test_a_soak_tells_what_grows_from_what_varies() -> None:
    assert grown([held(), held(), held(), held()]) == []
    assert grown([held(connections=100), held(), held(), held()]) == [], "the first round is left out"
    rising = [held(connections=10 * number) for number in range(7)]
    assert grown(rising) == ["connections"]
    varying = [held(connections=value) for value in (10, 90, 10, 90, 10, 90, 10)]
    assert grown(varying) == []


def test_a_soak_deals_out_every_hostile_text_before_one_comes_again() -> None:
    cases = [Hostile(f"{number}", "SELECT 1") for number in range(10)]
    in_turn = InTurn(cases, random.Random(0))  # noqa: S311 - no secret
    taken = [case for count in (4, 4, 4, 4, 4, 15, 5) for case in in_turn.take(count)]
    for start in range(0, 40, 10):
        assert {case.name for case in taken[start : start + 10]} == {case.name for case in cases}


def test_a_soak_counts_servers_apart_from_workers(tmp_path: Path) -> None:
    child = [sys.executable, "-c", "print('it runs', flush=True); input()"]
    with subprocess.Popen(child, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"it runs\n"
        as_server, as_worker = sample([], [process.pid], tmp_path), sample([], [], tmp_path)
        process.stdin.close()
    assert as_server["servers, MB"] > 0
    assert as_worker["servers, MB"] == 0
    assert as_server["workers, MB"] < as_worker["workers, MB"]


def test_a_soak_counts_what_is_held_and_names_a_dialect_that_is_none() -> None:
    # With this seed no text is dealt out that runs until it is stopped.
    done = run(
        "benchmarks.soak", "--minutes", "0", "--dialect", "sqlite", "--hostile", "2", "--workers", "1",
        "--seed", "20",
    )  # fmt: skip
    grew = {row["grew"] for row in rows(done.stdout)}
    assert done.returncode == ("yes" in grew), done.stdout + done.stderr
    assert grew <= {"yes", "no"}
    assert [row["held while idle"] for row in rows(done.stdout)] == list(MARGINS)
    assert all(is_a_figure(row["most"]) for row in rows(done.stdout))
    assert "4 rounds, 0 outcomes changed" in done.stdout
    done = run("benchmarks.soak", "--minutes", "0", "--dialect", "oracle")
    assert (done.returncode, done.stderr.strip()) == (
        1,
        f"--dialect oracle: choose from {', '.join(Dialect)}",
    )


def test_an_outcome_that_changes_or_is_not_the_texts_own_is_found_by_a_soak() -> None:
    changes = Changes()
    answer = Answer("1", "SELECT 1", "sqlite")
    honest, hostile = (
        Asked("p", answer, Dialect.SQLITE, may) for may in (None, frozenset({Outcome.MISMATCH}))
    )
    for outcome in (Outcome.MATCH, Outcome.MATCH):
        changes.note(honest, Judgement(outcome, {"ex": 1.0}))
    changes.note(hostile, Judgement(Outcome.MISMATCH, {"ex": 0.0}))
    assert changes.found == []
    changes.note(honest, Judgement(Outcome.MATCH, {"ex": 0.5}))
    changes.note(hostile, Judgement(Outcome.HARNESS_ERROR, {"ex": 0.0}))
    assert len(changes.found) == 2


@pytest.mark.parametrize("reads", [{"error": f"no column {MARKER}"}, {"preview": [MARKER]}])
def test_a_gold_that_is_read_is_found_by_a_soak(reads: dict[str, Any]) -> None:
    shown = preview([(1,)], [reads.get("preview", [2])]).to_text()
    for may in (None, frozenset({Outcome.MISMATCH})):
        changes = Changes()
        asked = Asked("p", Answer("1", "SELECT 2", "sqlite"), Dialect.SQLITE, may)
        changes.note(
            asked, Judgement(Outcome.MISMATCH, {}, preview=preview([(1,)], [(2,)], MARKER).to_text())
        )
        assert changes.found == [], "the gold's own text is no part of what a prediction returns"
        changes = Changes()
        changes.note(asked, Judgement(Outcome.MISMATCH, {}, error=reads.get("error"), preview=shown))
        assert [line for line in changes.found if "reads a gold" in line]


def test_golds_of_a_soak_have_its_marker_and_the_same_rows() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for gold in (
            "SELECT 1, 'WITH'",
            "with a as (select 2) select * from a",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT i FROM n",
        ):
            assert MARKER in marked(gold)
            assert connection.execute(marked(gold)).fetchall() == connection.execute(gold).fetchall()


def test_a_soak_tells_for_how_long_servers_go_on_after_a_limit() -> None:
    server = Server(Dialect.MYSQL, "127.0.0.1", 1, "root", "", Origin.DSN)
    times = StatementTimes([server])
    for now in range(10):
        working = [(1, "long")] * (now < 6) + [(2, "short")] * (now in {2, 3}) + [(2, "again")] * (now > 3)
        times.note(Dialect.MYSQL, working, float(now))
    assert times.after(3.0) == {Dialect.MYSQL: [2.0, 2.0]}
    assert times.after(4.5) == {Dialect.MYSQL: [0.5, 0.5]}
    told = seconds_table({**times.after(3.0), Dialect.POSTGRESQL: []}, 3.0).splitlines()
    assert told[2:] == ["| mysql | 2 | 2.0 | 2.0 |", "| postgresql | 0 | - | - |"]


def test_starting_is_held_against_python_and_pytest() -> None:
    done = run("benchmarks.starting", "--runs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = rows(done.stdout)
    assert list(row) == [
        f"bird-harness {command}, x {peer}"
        for command in ("--version", "--help", "eval --help")
        for peer in ("python -c pass", "pytest --version")
    ]
    assert all(is_a_figure(cell) for cell in row.values())


def test_work_is_weighed_and_comes_out_the_same() -> None:
    fitted = run("benchmarks.work", "fit", "--no-write")
    assert fitted.returncode == 0, fitted.stderr
    found = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in fitted.stdout.splitlines()]
    assert [cells[0] for cells in found] == ["DuckDB", "MySQL", "PostgreSQL", "SQLite"]
    assert all(len(cells) == 10 for cells in found)


@pytest.mark.parametrize(("metric", "worth"), [("r_ves_work", 1.0), ("ves_work", 1.0)])
def test_r_ves_work_is_told_apart_to_the_last_digit(metric: str, worth: float) -> None:
    with prepare(Request(metrics=("ex", "r_ves_work", "ves_work"), dialects=("sqlite",)), say=print) as plan:
        found = evaluated(plan)
    assert digest(found) == digest(found)
    [first] = [place for place, each in enumerate(found) if each.scores[metric] == worth][:1]
    almost = replace(found[first], scores={**found[first].scores, metric: worth - 2**-50})
    assert digest([*found[:first], almost, *found[first + 1 :]]) != digest(found)


def test_what_a_script_of_sqlite_asks_becomes_a_suite() -> None:
    said = [
        ("text db", "CREATE TABLE a(x); SELECT 1;\n\nSELECT x FROM a -- ;\n"),
        ("text other", "SELECT 2"),
        ("text db", "SELECT x FROM a -- ;"),
        ("text db", "SELECT $x; SELECT '$x' FROM a; PRAGMA page_size; SELECT name FROM sqlite_master"),
        ("open db", ""),
        ("defined db", "Mine"),
        ("text db", "SELECT mine(3); SELECT 'mine'; WITH w AS (SELECT 4) INSERT INTO b SELECT * FROM w"),
        ("text db", "DROP TABLE b"),
    ]
    first, second = databases("".join(f"{kind} {len(text)}\n{text}\n" for kind, text in said))
    assert [record.sql for record in first if record.is_query] == [
        "SELECT 1",
        "SELECT x FROM a -- ;",
        "SELECT '$x' FROM a",
    ]
    assert [record.sql for record in second if not record.is_query] == [
        "WITH w AS (SELECT 4) INSERT INTO b SELECT * FROM w",
        "DROP TABLE b",
    ]
    assert script(second, 60, 0) == ("query T nosort\nSELECT 'mine'\n", 1)
    assert script(first, 0, 0) == ("", 0)
    drawn, count = script(first, 1, 0)
    assert (count, drawn.count("query T")) == (1, 1)
    assert drawn.startswith("statement maybe\nCREATE TABLE a(x)\n")


def test_growth_measures_each_part_at_each_size_and_draws_it(tmp_path: Path) -> None:
    size = (
        "--databases",
        "1",
        "--questions",
        "4",
        "--predictors",
        "2",
        "--rows",
        "20",
        "--steps",
        "2",
        "--grow",
        "predictors",
    )
    done = run("benchmarks.growth", "--dialect", "sqlite", *size, "--chart", str(tmp_path / "growth.svg"))
    assert done.returncode == 0, done.stdout + done.stderr
    found = rows(done.stdout.partition("\n\n")[0])
    assert [(row["predictors"], row["part"]) for row in found] == [
        ("2", "eval, cold"), ("2", "eval, warm"), ("4", "eval, cold"), ("4", "eval, warm"),
    ]  # fmt: skip
    assert (tmp_path / "growth.svg").read_text().count("<polyline") == 3, "two parts, and proportion"


def test_the_exponent_of_growth_is_the_slope_between_logarithms() -> None:
    sizes = [8, 16, 32, 64]
    assert exponent(sizes, [3 * size for size in sizes]) == pytest.approx(1)
    assert exponent(sizes, [size**1.5 / 7 for size in sizes]) == pytest.approx(1.5)

""""""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.outcomes import GoldOrigin, Outcome, PairResult
from harness.data.questions import Difficulty
from harness.data.set_manifest import PUBLISHED
from harness.engines import kinds
from harness.engines.errors import ErrorClass
from harness.metrics.efficiency import Clock, Timing
from harness.report.overview import foreign_lines, hint_lines, overview, print_tables, totals
from harness.runs.folder import RunFolder
from harness.runs.reader import LATEST, SUMMARY, read_results, read_run
from harness.runs.summary import SCHEMA_VERSION, Score, summarize
from tests.harness.run_folders import pair


def result(
    outcome: Outcome,
    difficulty: Difficulty = Difficulty.SIMPLE,
    predictor: str = "p",
    dialect: Dialect = Dialect.SQLITE,
    question: int = 1,
) -> PairResult:
    return PairResult(
        dialect=dialect,
        predictor=predictor,
        question=str(question),
        question_id=question,
        db_id="d",
        difficulty=difficulty,
        outcome=outcome,
        scores={"ex": float(outcome is Outcome.MATCH)},
        gold_origin=GoldOrigin.DATASET,
        error={Outcome.PREDICTION_ERROR: "été \n\u2028", Outcome.GOLD_ERROR: "no such table"}.get(outcome),
    )


def scored(question: int = 1, predictor: str = "p", **scores: float) -> PairResult:
    outcome = Outcome.MATCH if scores.get("ex") == 1.0 else Outcome.MISMATCH
    return replace(result(outcome, predictor=predictor, question=question), scores=scores)


MIXED = [
    result(Outcome.MATCH),
    result(Outcome.MISMATCH, question=2),
    result(Outcome.MATCH, Difficulty.MODERATE, question=3),
    result(Outcome.GOLD_ERROR, Difficulty.MODERATE, question=4),
    result(Outcome.PREDICTION_ERROR, Difficulty.MODERATE, question=5),
]


def printed(
    results: Sequence[PairResult],
    width: int = 200,
    *,
    terminal: bool = False,
    metrics: Sequence[str] = ("ex",),
) -> str:
    console = Console(file=StringIO(), width=width, force_terminal=terminal, no_color=True)
    print_tables(summarize(results, metrics), metrics, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(text, str)
    return text


def test_official_figures_count_every_question_and_scored_ones_leave_out_what_is_nobodys_fault() -> None:
    (score,) = summarize(MIXED, ["ex"])
    assert score.metrics["ex"] == {
        "simple": 50.0,
        "moderate": pytest.approx(100 / 3),
        "challenging": None,
        "total": 40.0,
    }
    assert score.scored_metrics["ex"]["moderate"] == 50.0
    assert (score.questions, score.scored_questions) == (5, 4)
    counts = score.to_json()["outcomes"]
    assert list(counts) == list(Outcome)
    assert sum(counts.values()) == 5


def test_a_summary_has_one_entry_per_predictor_and_engine_in_a_fixed_order() -> None:
    results = [
        result(Outcome.MATCH, predictor=predictor, dialect=dialect)
        for dialect in (Dialect.POSTGRESQL, Dialect.SQLITE)
        for predictor in ("b", "a")
    ]
    keys = [(score.predictor, score.dialect) for score in summarize(results, ["ex"])]
    assert keys == [("a", "sqlite"), ("a", "postgresql"), ("b", "sqlite"), ("b", "postgresql")]


def test_the_table_shows_engines_side_by_side_and_below_each_other_on_a_narrow_terminal() -> None:
    both = [*MIXED, result(Outcome.MATCH, dialect=Dialect.MYSQL)]
    wide = printed(both)
    assert wide.count("EX (%)") == 1
    assert any("SQLite" in line and "MySQL" in line for line in wide.splitlines())
    narrow = printed(both, width=60, terminal=True)
    assert narrow.count("EX (%)") == 2
    assert "40.00" in narrow


def test_gold_that_failed_is_listed_and_the_figures_without_it_stand_beside_the_counts() -> None:
    lines = [line.split() for line in printed(MIXED).splitlines()]
    assert ["p", "SQLite", "2", "1", "1", "1", "50.00"] in lines
    assert ["4:", "no", "such", "table"] in lines
    assert "of scored" not in " ".join(printed(MIXED[:3]).split())


def test_totals_have_wilson_intervals_where_scores_are_0_or_1_and_bootstrapped_ones_elsewhere() -> None:
    results = [scored(number, ex=float(number < 15), soft_f1=number / 148) for number in range(148)]
    (score,) = summarize(results, ["ex", "soft_f1"])
    assert score.intervals["ex"] == pytest.approx((6.24, 16.05), abs=0.005), "15 of 148, Newcombe 1998"
    low, high = score.intervals["soft_f1"] or (0, 0)
    assert 43 < low < (score.metrics["soft_f1"]["total"] or 0) < high < 57
    assert score.to_json()["intervals"] == {"ex": list(score.intervals["ex"] or ()), "soft_f1": [low, high]}
    assert summarize(results[::-1], ["ex", "soft_f1"])[0].to_json() == score.to_json(), "order says nothing"


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([scored(ex=1.0)], {"ex": pytest.approx((20.65, 100.0), abs=0.01), "soft_f1": None, "em": None}),
        ([scored(ex=0.0, soft_f1=0.5)] * 9, {"ex": pytest.approx((0, 29.91), abs=0.01), "soft_f1": None}),
        ([scored(1, ves=3.0), scored(2, ves=9.0)], {"ves": pytest.approx((300, 900))}),
    ],
)
def test_no_interval_is_made_up(results: list[PairResult], expected: Mapping[str, object]) -> None:
    (score,) = summarize(results, list(expected))
    assert score.intervals == expected


def test_a_metric_that_an_engine_does_not_have_has_no_columns_there() -> None:
    results = [
        replace(scored(ex=1.0, em=0.0), dialect=Dialect.SQLITE),
        replace(scored(ex=1.0), dialect=Dialect.MYSQL),
    ]
    lite, my = summarize(results, ["ex", "em", "partial"])
    assert lite.metrics["em"] == {"simple": 0.0, "moderate": None, "challenging": None, "total": 0.0}
    assert set(my.metrics["em"].values()) == {None}
    assert "partial" not in lite.metrics, "it has no score of a pair"
    text = printed(results, metrics=["ex", "em", "partial"])
    _, table = text.split("EM (%)")
    assert "MySQL" not in table.split("Outcomes")[0]
    assert "EM (%)" not in printed(results[1:], metrics=["ex", "em"])


def test_every_total_is_printed_with_its_interval() -> None:
    lines = [line.split() for line in printed(MIXED).splitlines()]
    assert ["p", "50.00", "33.33", "-", "40.00", "11.8\N{EN DASH}76.9"] in lines


def test_three_engines_and_a_long_name_stand_side_by_side_in_a_file() -> None:
    name = "a-model-with-a-name-" * 5
    results = [
        result(Outcome.MATCH, predictor=predictor, dialect=dialect)
        for dialect in PUBLISHED
        for predictor in (name, "[bold]x")
    ]
    text = printed(results)
    assert any("SQLite" in line and "MySQL" in line and "PostgreSQL" in line for line in text.splitlines())
    first_column = "".join(line[:41].strip() for line in text.split("EX (%)")[1].splitlines())
    assert name in first_column
    assert "[bold]x" in text, "a name is no markup"


def test_what_is_right_by_strict_alone_is_listed_with_its_predictor() -> None:
    results = [
        *(scored(number, "many", ex=0.0, ex_strict=1.0) for number in range(1, 13)),
        scored(20, "many", ex=1.0, ex_strict=0.0),
        scored(21, "one", ex=0.0, ex_strict=1.0),
        scored(22, "none", ex=1.0, ex_strict=1.0),
    ]
    text = printed(results, metrics=["ex", "ex_strict"])
    assert "  SQLite, many: 12 (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...)\n  SQLite, one: 1 (21)\n" in text
    assert "strict alone" not in printed(results, metrics=["ex_strict"])
    assert "strict alone" not in printed([scored(ex=1.0, ex_strict=0.0)], metrics=["ex", "ex_strict"])


def test_what_was_timed_until_decided_is_counted() -> None:
    timing = Timing(1.0, 0.9, 1.1, 10, 20, Clock.CLIENT, 0.95, decided=True, reward=1.0)
    timings = [
        replace(timing, clock=Clock.IDENTICAL, samples=0, executions=0),
        timing,
        replace(timing, clock=Clock.SERVER, samples=5, executions=10),
        replace(timing, decided=False, samples=30, executions=60),
        replace(timing, decided=False, samples=1, executions=2, error="ran out of time"),
    ]
    results = [
        replace(scored(number, ex=1.0, r_ves_stable=1.0), timings={"stable": one})
        for number, one in enumerate(timings)
    ]
    text = printed([*results, scored(9, ex=0.0, r_ves_stable=0.0)], metrics=["r_ves_stable"])
    rows = [" ".join(line.split()) for line in text.split("R-VES stable (pairs)")[1].splitlines()]
    assert "p SQLite client, server 5 1 2 1 1 15.0 92" in rows
    assert "(pairs)" not in printed(MIXED).replace("Outcomes (pairs)", "")


def test_a_run_folder_reads_back_as_it_was_written(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "runs", {"set": "sample"}, ["ex"]) as folder:
        for one in MIXED:
            folder.add(one)
    assert not (folder.path / SUMMARY).exists(), "only a complete run has a summary"
    with pytest.raises(BadInput, match="broken off"):
        read_run(folder.path)
    (score,) = folder.finish()
    assert score.results == tuple(MIXED)
    assert read_results(folder.path) == MIXED
    assert read_run(folder.path).results == MIXED
    assert json.loads((folder.path / SUMMARY).read_text(encoding="utf-8"))["schema_version"] == SCHEMA_VERSION
    assert (tmp_path / "runs" / LATEST).resolve() == folder.path
    manifest = json.loads((folder.path / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["run_id"] == folder.run_id
    assert manifest["set"] == "sample"
    assert manifest["seconds"] >= 0


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(BadInput, match="choose another with --out"):
        RunFolder(blocked, {}, ["ex"])


def test_error_classes_are_counted_one_by_one_and_by_the_papers_groups() -> None:
    classes = [
        ErrorClass.SYNTAX,
        ErrorClass.UNKNOWN_COLUMN,
        ErrorClass.WRONG_LITERAL,
        ErrorClass.WRONG_TABLES,
    ]
    wrong = [replace(scored(number, ex=0.0), error_class=name) for number, name in enumerate(classes, 1)]
    (score,) = summarize([scored(9, ex=1.0), *wrong], ["ex"])
    content = score.to_json()
    assert {name: count for name, count in content["error_classes"].items() if count} == dict.fromkeys(
        classes, 1
    )


def test_answers_in_fences_that_fail_are_counted_and_the_option_is_named() -> None:
    fenced = "```sql\nSELECT 1\n```"
    failed = [
        replace(scored(number, ex=0.0), outcome=Outcome.PREDICTION_ERROR, sql=sql)
        for number, sql in enumerate((fenced, fenced, "SELECT nonsense"))
    ]
    others = [
        replace(scored(7, ex=1.0), outcome=Outcome.MATCH, sql=fenced),
        replace(scored(8, ex=0.0), outcome=Outcome.GOLD_ERROR, sql=fenced),
    ]
    (score,) = summarize([*failed, *others], ["ex"])
    assert (score.fenced, score.to_json()["fenced"]) == (2, 2)
    text = printed([*failed, *others])
    assert "2 of 5 answers of p on SQLite are in Markdown fences and fail as they are" in text
    assert "--extract fences" in text
    assert "fences" not in printed(failed[2:])


def test_answers_that_are_prose_and_fail_are_counted_and_the_option_is_named_once() -> None:
    raw = ("<think>So</think>\nSELECT 1 FROM t", '{"sql": "SELECT 1"}', "The answer is:\nSELECT 1")
    plain = ("SELECT nonsense", "I cannot")
    failed = [
        replace(scored(number, ex=0.0), outcome=Outcome.PREDICTION_ERROR, sql=sql)
        for number, sql in enumerate((*raw, *plain))
    ]
    ran = replace(scored(9, ex=1.0), outcome=Outcome.MATCH, sql=raw[0])
    text = " ".join(printed([*failed, ran]).split())
    assert text.count("3 of 6 answers of p on SQLite look like prose with a query in it") == 1
    assert text.count("--extract answer-1") == 1
    assert "--extract" not in printed(failed[len(raw) :])


def test_missing_answers_are_counted_below_the_totals() -> None:
    missing = [replace(scored(number, ex=0.0), outcome=Outcome.MISSING, sql=None) for number in (1, 2)]
    answered = [replace(scored(number, ex=1.0), outcome=Outcome.MATCH) for number in (3, 4, 5)]
    found = totals(summarize([*missing, *answered], ["ex"]), ["ex"])
    assert found.notes == (
        "2 of 5 answers of p on SQLite are missing and count as wrong; 3 of the other 3 match",
    )
    assert totals(summarize(answered, ["ex"]), ["ex"]).notes == ()


def scores(dialect: Dialect, failing: Sequence[str], right: int = 10) -> list[Score]:
    """Answers that an engine refused, beside right ones."""
    results = [pair(number, dialect=dialect, ex=1.0) for number in range(right)]
    for number, sql in enumerate(failing, right):
        failed = pair(number, dialect=dialect, ex=0.0)
        results.append(replace(failed, outcome=Outcome.PREDICTION_ERROR, sql=sql))
    return summarize(results, ["ex"])


@pytest.mark.parametrize(
    ("dialect", "sql", "whose"),
    [
        (Dialect.POSTGRESQL, "SELECT STRFTIME('%Y', day) FROM t", "SQLite"),
        (Dialect.POSTGRESQL, "SELECT DATE_FORMAT(day, '%Y') FROM `t`", "MySQL or MariaDB"),
        (Dialect.POSTGRESQL, "SELECT `a` FROM `t`", "SQLite or MySQL or MariaDB"),
        (Dialect.SQLITE, "SELECT to_char(day, 'YYYY') FROM t", "PostgreSQL"),
        (Dialect.MYSQL, "SELECT a::text FROM t", "PostgreSQL"),
    ],
)
def test_answers_for_another_engine_are_noticed(dialect: Dialect, sql: str, whose: str) -> None:
    found = scores(dialect, [sql, sql])
    [line] = foreign_lines(found)
    assert line.startswith("2 of 12 answers of p on ")
    assert f"fail and are written as for {whose}: is the file named for the right engine?" in line
    assert line in hint_lines(found)
    assert any(line in grid.notes for grid in overview(found, ["ex"]))


@pytest.mark.parametrize(
    ("failing", "right"),
    [
        (["SELECT to_char(day) FROM t"], 5),
        (["SELECT to_char(day) FROM t"] * 2, 30),
        (["SELECT `a`, b::text FROM t"] * 3, 5),
        (["```sql\nSELECT nothing FROM t\n```"] * 3, 5),
    ],
    ids=["one", "few", "own words, too", "fences"],
)
def test_slips_are_no_reason_for_a_hint(failing: Sequence[str], right: int) -> None:
    assert foreign_lines(scores(Dialect.SQLITE, failing, right)) == []


def test_golds_that_fail_and_what_was_not_run_are_counted() -> None:
    results = [
        replace(pair(1, ex=0.0), outcome=Outcome.GOLD_ERROR, error="no such table"),
        replace(pair(2, ex=0.0), outcome=Outcome.HARNESS_ERROR),
    ]
    assert hint_lines(summarize(results, ["ex"])) == [
        "Gold failed on SQLite and counts 0 for everybody: 1 (1)",
        "1 of the pairs on SQLite could not be run and count 0: --resume runs them again",
    ]


def test_what_tells_an_engine_is_in_lower_case() -> None:
    assert all(idiom == idiom.lower() for kind in kinds() for idiom in kind.idioms)


def test_a_table_by_spiders_script_names_the_answers_that_its_rule_costs_points() -> None:
    pairs = [pair(number, ex=1.0, ts_spider=1.0) for number in range(4)]
    found = summarize(pairs, ["ex", "ts_spider"])
    plain, suite, *_ = overview(found, ["ex", "ts_spider"])
    assert not any("IS DISTINCT FROM" in note for note in plain.notes)
    assert any("a column called value" in note and "IS DISTINCT FROM" in note for note in suite.notes)

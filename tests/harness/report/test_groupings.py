"""Groups of pairs, held against examples counted by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.loader import load_set
from harness.engines.errors import ErrorClass
from harness.metrics.statistics import wilson
from harness.report.documents import tables
from harness.report.table_model import NamedCell, figures
from harness.runs.reader import read_run
from harness.runs.summary import NO_CLASS, By, shares
from harness.sqltree.constructs import Construct, QuestionType, constructs
from tests.harness.report.tables import question, result, results, write_run

PAIRS = [
    result(0, ex=1.0),
    result(1, ex=0.0),
    result(2, ex=1.0),
    replace(result(3, ex=0.0), outcome=Outcome.PREDICTION_ERROR, error_class=ErrorClass.SYNTAX),
    replace(result(4, ex=0.0), error_class=ErrorClass.WRONG_ORDER),
    replace(result(5, ex=0.0), outcome=Outcome.GOLD_ERROR),
    result(6, soft_f1=0.5),
]
USES = {
    "0": (Construct.JOIN, Construct.AGGREGATION),
    "1": (Construct.JOIN,),
    "2": (Construct.PLAIN,),
    "3": (Construct.UNREADABLE,),
    "4": (Construct.JOIN, Construct.LIMIT),
}
TYPES = {
    "0": (QuestionType.MATCH, QuestionType.SYNONYM),
    "1": (QuestionType.RANKING,),
    "2": (QuestionType.MATCH,),
    "3": (),
}

BY_HAND = {
    By.DIFFICULTY: {"simple": (2, 50.0), "moderate": (2, 0.0), "challenging": (2, 50.0)},
    By.DATABASE: {"shop": (3, 200 / 3), "zoo": (3, 0.0)},
    By.OUTCOME: {
        "match": (2, 100.0),
        "mismatch": (2, 0.0),
        "prediction_error": (1, 0.0),
        "gold_error": (1, 0.0),
    },
    By.ERROR_CLASS: {"syntax": (1, 0.0), "wrong_order": (1, 0.0), NO_CLASS: (4, 50.0)},
    By.ERROR_GROUP: {},
    By.CONSTRUCT: {
        "join": (3, 100 / 3),
        "aggregation": (1, 100.0),
        "limit": (1, 0.0),
        "plain": (1, 100.0),
        "unreadable": (2, 0.0),
    },
    By.TYPE: {"match": (2, 100.0), "ranking": (1, 0.0), "synonym": (1, 100.0), "none": (3, 0.0)},
}


@pytest.mark.parametrize("by", list(By))
def test_groups_have_the_counts_means_and_order_counted_by_hand(by: By) -> None:
    found = shares(PAIRS, "ex", by, TYPES if by is By.TYPE else USES)
    assert list(found) == list(BY_HAND[by])
    for group, (count, percent) in BY_HAND[by].items():
        assert found[group].questions == count
        assert found[group].percent == pytest.approx(percent)


def test_a_group_has_the_count_and_mean_of_each_level() -> None:
    found = shares(PAIRS, "ex", By.TYPE, TYPES)
    assert found["match"].levels == {"simple": (1, 100.0), "moderate": (0, None), "challenging": (1, 100.0)}
    assert found["none"].levels == {"simple": (1, 0.0), "moderate": (1, 0.0), "challenging": (1, 0.0)}


def test_a_group_has_the_interval_of_its_mean() -> None:
    low, high = wilson(1, 3) or (0, 0)
    assert shares(PAIRS, "ex", By.CONSTRUCT, USES)["join"].interval == (100 * low, 100 * high)
    assert shares(PAIRS, "soft_f1", By.DATABASE, {})["shop"].interval is None


def test_pairs_without_a_score_are_in_no_group() -> None:
    assert shares(PAIRS, "em", By.DATABASE, {}) == {}
    assert list(shares(PAIRS, "soft_f1", By.DATABASE, {})) == ["shop"]


USED = {
    "SELECT name FROM t WHERE a = 1 AND b BETWEEN 2 AND 3": "plain",
    "SELECT a FROM t JOIN u ON t.id = u.id": "join",
    "SELECT a FROM t, u WHERE t.id = u.id": "join",
    "SELECT a FROM t LEFT JOIN u ON t.id = u.id": "join outer_join",
    "SELECT COUNT(*) FROM t": "aggregation",
    "SELECT MAX(a, b) FROM t": "plain",
    "SELECT max(a) FROM t": "aggregation",
    "SELECT COUNT(DISTINCT a) FROM t": "aggregation distinct",
    "SELECT SUM(a) FILTER (WHERE b) FROM t": "aggregation",
    "SELECT DISTINCT a FROM t": "distinct",
    "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 1": "aggregation group_by having",
    "SELECT a FROM t ORDER BY a LIMIT 1": "order_by limit",
    "SELECT a FROM t WHERE b = (SELECT MAX(b) FROM t)": "subquery aggregation",
    "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u)": "subquery",
    "SELECT a FROM t WHERE b IN (SELECT b FROM u UNION SELECT c FROM v)": "subquery set_operation",
    "SELECT a FROM (SELECT a FROM t) AS s": "subquery",
    "WITH s AS (SELECT a FROM t) SELECT a FROM s": "with",
    "SELECT a FROM t UNION ALL SELECT b FROM u": "set_operation",
    "SELECT SUM(a) OVER (ORDER BY b) FROM t": "window",
    "SELECT RANK() OVER (PARTITION BY a ORDER BY b) FROM t ORDER BY a": "order_by window",
    "SELECT CASE WHEN a THEN 1 ELSE 0 END FROM t": "case",
    "SELECT IIF(a, 1, 0) FROM t": "case",
    "SELECT CAST(a AS REAL) / b FROM t": "cast arithmetic",
    "SELECT -a FROM t": "plain",
    "SELECT a FROM t WHERE a LIKE 'x%'": "like",
    "SELECT STRFTIME('%Y', a) FROM t": "date_function",
    "SELECT a FROM t WHERE a < CURRENT_TIMESTAMP": "date_function",
    "SELECT julianday(a) - julianday(b) FROM t": "arithmetic date_function",
    "SELECT SUBSTR(a, 1, 2) || b FROM t": "text_function",
    "SELECT \"strftime\", 'COUNT(*) JOIN' FROM t": "plain",
    "SELECT FROM WHERE": "unreadable",
    "DELETE FROM t": "unreadable",
    "SELECT 1; SELECT 2": "unreadable",
    "": "unreadable",
    "(" * 5_000: "unreadable",
}


@pytest.mark.parametrize(("sql", "expected"), list(USED.items()), ids=lambda text: text[:40])
def test_what_a_gold_uses_is_read_from_its_text(sql: str, expected: str) -> None:
    assert " ".join(constructs(sql)) == expected


def test_every_gold_of_the_sample_is_read() -> None:
    found = [constructs(each.gold[Dialect.SQLITE]) for each in load_set("sample").questions]
    assert (Construct.UNREADABLE,) not in found
    assert {Construct.JOIN, Construct.SUBQUERY, Construct.WINDOW} <= {one for each in found for one in each}


def test_a_run_is_grouped_by_what_its_questions_golds_use(tmp_path: Path) -> None:
    golds = ["SELECT a FROM t JOIN u ON 1", "SELECT COUNT(*) FROM t, u", "SELECT a FROM t", "nonsense"]
    questions = [question(number, golds[number % 4]) for number in range(12)]
    run = read_run(write_run(tmp_path, results(dialects=[Dialect.SQLITE, Dialect.MYSQL]), questions))
    (ex, soft_f1) = tables(run, [By.CONSTRUCT]).grids
    found = list(figures(ex))
    assert {(one.level, one.engine, one.questions) for one in found if ", " not in one.level} == {
        (level, engine, count)
        for level, count in (("join", 6), ("aggregation", 3), ("plain", 3), ("unreadable", 3))
        for engine in ("sqlite", "mysql")
    }
    assert {(figure.metric, figure.by) for figure in [*found, *figures(soft_f1)]} == {
        ("ex", "construct"),
        ("soft_f1", "construct"),
    }
    assert any("overlap" in note for note in ex.notes)


def test_a_run_is_grouped_by_the_types_of_its_questions(tmp_path: Path) -> None:
    golds = ["SELECT a FROM t WHERE b = 1", "SELECT a FROM t ORDER BY b LIMIT 1", "SELECT a FROM t"]
    questions = [question(number, golds[number % 3]) for number in range(12)]
    run = read_run(write_run(tmp_path, results(), questions))
    (ex, _) = tables(run, [By.TYPE]).grids
    levels = {"simple": 4, "moderate": 0, "challenging": 0}
    assert [column.head for column in ex.columns[:4]] == [*levels, "total"]
    assert {(figure.level, figure.questions) for figure in figures(ex)} == {
        ("match", 4), ("ranking", 4), ("none", 4),
        *((f"match, {level}", count) for level, count in levels.items()),
        ("ranking, simple", 0), ("ranking, moderate", 4), ("ranking, challenging", 0),
        ("none, simple", 0), ("none, moderate", 0), ("none, challenging", 4),
    }  # fmt: skip
    assert any("overlap" in note for note in ex.notes)


def test_the_means_of_groups_that_do_not_overlap_add_up_to_the_total(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, results(["p", "q"])))
    (total,) = {figure.value for figure in _of(tables(run).grids[0]) if figure.level == "total"}
    assert total is not None
    for by in (By.DIFFICULTY, By.DATABASE):
        grid = tables(run, [by]).grids[0]
        for predictor in ("p", "q"):
            for engine in PUBLISHED:
                own = [f for f in _of(grid) if (f.predictor, f.engine) == (predictor, engine)]
                groups = [f for f in own if ", " not in f.level]
                assert sum(f.questions or 0 for f in groups) == 12
                assert sum((f.value or 0) * (f.questions or 0) for f in groups) / 12 == pytest.approx(total)


@pytest.mark.parametrize("by", [By.OUTCOME, By.ERROR_CLASS])
def test_what_became_of_pairs_is_counted_and_shared_and_never_scored(tmp_path: Path, by: By) -> None:
    run = read_run(write_run(tmp_path, results(["p", "q"])))
    (grid,) = tables(run, [by]).grids
    assert not any(column.has_interval for column in grid.columns)
    found = _of(grid)
    assert {figure.metric for figure in found} == {"pairs", "pairs_percent"}
    names = {"match": 8, "prediction_error": 4} if by is By.OUTCOME else {"none": 12}
    for predictor in ("p", "q"):
        for engine in PUBLISHED:
            own = [f for f in found if (f.predictor, f.engine) == (predictor, engine)]
            assert {f.level: f.value for f in own if f.metric == "pairs"} == names
            shares_ = {f.level: f.value for f in own if f.metric == "pairs_percent"}
            assert shares_ == {name: pytest.approx(100 * count / 12) for name, count in names.items()}
            assert {f.questions for f in own if f.metric == "pairs_percent"} == {12}


def _of(grid: object) -> list[NamedCell]:
    return list(figures(grid))  # type: ignore[arg-type]

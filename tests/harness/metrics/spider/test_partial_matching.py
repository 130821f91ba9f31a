import json
from collections.abc import Mapping
from dataclasses import asdict

import pytest

from harness.sqltree.spider import Hardness, Match, SpiderPart, Structure, structure, totals
from loaders.base.records import to_record
from tests.harness.metrics.spider.library import LIBRARY, wrong_parts

GOLD = (
    "SELECT country, max(born) FROM Author WHERE born > 1900 AND name LIKE 'A%' GROUP BY country"
    " HAVING count(*) > 1 ORDER BY max(born) DESC LIMIT 3"
)


@pytest.mark.parametrize(
    ("written", "instead", "wrong"),
    [
        ("max(born) FROM", "min(born) FROM", {SpiderPart.SELECT}),
        ("max(born) FROM", "max(id) FROM", {SpiderPart.SELECT, SpiderPart.SELECT_NO_AGGREGATE}),
        ("SELECT country,", "SELECT", {SpiderPart.SELECT, SpiderPart.SELECT_NO_AGGREGATE}),
        ("born > 1900", "born < 1900", {SpiderPart.WHERE}),
        ("born > 1900", "id > 1900", {SpiderPart.WHERE, SpiderPart.WHERE_NO_OPERATOR}),
        ("LIKE 'A%'", "NOT LIKE 'A%'", {SpiderPart.WHERE, SpiderPart.KEYWORDS}),
        ("LIKE 'A%'", "= 'A'", {SpiderPart.WHERE, SpiderPart.KEYWORDS}),
        ("1900 AND", "1900 OR", {SpiderPart.AND_OR, SpiderPart.KEYWORDS}),
        (
            " WHERE born > 1900 AND name LIKE 'A%'",
            "",
            {SpiderPart.WHERE, SpiderPart.WHERE_NO_OPERATOR, SpiderPart.AND_OR, SpiderPart.KEYWORDS},
        ),
        ("BY country", "BY born", {SpiderPart.GROUP_BY, SpiderPart.GROUP_BY_HAVING}),
        ("count(*) > 1", "count(*) = 1", {SpiderPart.GROUP_BY_HAVING}),
        ("count(*) > 1", "max(born) > 1", {SpiderPart.GROUP_BY_HAVING}),
        (" HAVING count(*) > 1", "", {SpiderPart.GROUP_BY_HAVING, SpiderPart.KEYWORDS}),
        (" DESC", "", {SpiderPart.ORDER_BY, SpiderPart.KEYWORDS}),
        ("ORDER BY max(born)", "ORDER BY min(born)", {SpiderPart.ORDER_BY}),
        (" LIMIT 3", "", {SpiderPart.ORDER_BY, SpiderPart.KEYWORDS}),
        (" LIMIT 3", " LIMIT 9", set()),
        (
            " LIMIT 3",
            " UNION SELECT 1, 2",
            {SpiderPart.ORDER_BY, SpiderPart.SET_OPERATIONS, SpiderPart.KEYWORDS},
        ),
        ("FROM Author", "FROM Author JOIN Book ON 1 = 1", set()),  # tables are no component
    ],
)
def test_a_difference_is_of_its_components_alone(written: str, instead: str, wrong: set[SpiderPart]) -> None:
    assert written in GOLD
    assert wrong_parts(GOLD.replace(written, instead), GOLD) == wrong


@pytest.mark.parametrize(
    ("prediction", "gold", "part", "counts"),
    [
        ("SELECT id, id, born FROM Author", "SELECT id, name FROM Author", SpiderPart.SELECT, (3, 2, 1)),
        # The documentation's example of SELECT: one of two columns is right.
        (
            "SELECT id, min(name) FROM Author",
            "SELECT id, max(born) FROM Author",
            SpiderPart.SELECT,
            (2, 2, 1),
        ),
        ("SELECT id FROM Author WHERE id = 1", "SELECT id FROM Author", SpiderPart.WHERE, (1, 0, 0)),
        ("SELECT id FROM Author", "SELECT id FROM Author", SpiderPart.WHERE, (0, 0, 0)),
        # GROUP BY does not see the table, HAVING does.
        (
            "SELECT 1 FROM Author AS a JOIN Reader AS r GROUP BY a.name",
            "SELECT 1 FROM Author AS a JOIN Reader AS r GROUP BY r.name",
            SpiderPart.GROUP_BY,
            (1, 1, 1),
        ),
        (
            "SELECT 1 FROM Author AS a JOIN Reader AS r GROUP BY a.name",
            "SELECT 1 FROM Author AS a JOIN Reader AS r GROUP BY r.name",
            SpiderPart.GROUP_BY_HAVING,
            (1, 1, 0),
        ),
        # HAVING without GROUP BY is a keyword alone.
        (
            "SELECT 1 FROM Author HAVING count(*) > 1",
            "SELECT 1 FROM Author",
            SpiderPart.GROUP_BY_HAVING,
            (0, 0, 0),
        ),
        ("SELECT 1 FROM Author HAVING count(*) > 1", "SELECT 1 FROM Author", SpiderPart.KEYWORDS, (1, 0, 0)),
        # AND/OR is there even where neither side has one; where they differ, the script exchanges the counts.
        ("SELECT id FROM Author", "SELECT id FROM Author", SpiderPart.AND_OR, (1, 1, 1)),
        (
            "SELECT id FROM Author WHERE id = 1 AND born = 1",
            "SELECT id FROM Author",
            SpiderPart.AND_OR,
            (0, 1, 0),
        ),
        (
            "SELECT id FROM Author",
            "SELECT id FROM Author UNION SELECT id FROM Reader",
            SpiderPart.SET_OPERATIONS,
            (0, 1, 0),
        ),
        (
            "SELECT id FROM Author WHERE id NOT IN (SELECT 1) OR name LIKE 'a' ORDER BY id LIMIT 1",
            "SELECT id FROM Author WHERE id IN (1)",
            SpiderPart.KEYWORDS,
            (8, 2, 2),  # where, not, in, or, like, order, asc, limit
        ),
    ],
)
def test_what_a_component_counts(
    prediction: str, gold: str, part: SpiderPart, counts: tuple[int, int, int]
) -> None:
    assert structure(prediction, gold, LIBRARY).parts[part] == Match(*counts)


def test_what_cannot_be_read_counts_as_an_empty_query() -> None:
    found = structure("SELECT FROM WHERE", GOLD, LIBRARY)
    assert not found.parsed
    assert not found.exact
    assert found.hardness is Hardness.EXTRA
    right = {part for part, match in found.parts.items() if match.is_right}
    assert right == {SpiderPart.SET_OPERATIONS}, "neither has one"
    assert found.parts[SpiderPart.SELECT] == Match(0, 2, 0)


def test_a_structure_survives_json() -> None:
    found = structure("SELECT name FROM Author", GOLD, LIBRARY)
    assert to_record(Structure, json.loads(json.dumps(asdict(found)))) == found
    with pytest.raises(ValueError, match="simple"):
        to_record(Structure, {**asdict(found), "hardness": "simple"})


def _pair(match: tuple[int, int, int], others: Mapping[SpiderPart, Match] | None = None) -> Structure:
    nothing = {part: Match(0, 0, 0) for part in SpiderPart}
    parts = {**nothing, **(others or {}), SpiderPart.WHERE: Match(*match)}
    return Structure(Hardness.EASY, exact=False, parsed=True, parts=parts)


RIGHT, WRONG, MISSING, INVENTED, NEITHER = (2, 2, 2), (2, 2, 1), (0, 1, 0), (1, 0, 0), (0, 0, 0)


@pytest.mark.parametrize(
    ("pairs", "figures"),
    [
        ([RIGHT], (1, 1, 1)),
        ([RIGHT, WRONG], (1 / 2, 1 / 2, 1 / 2)),  # a component is right as a whole
        ([RIGHT, NEITHER, NEITHER], (1, 1, 1)),  # what has it on neither side does not count
        ([RIGHT, MISSING], (1, 1 / 2, 2 / 3)),  # gold's side alone: recall
        ([RIGHT, INVENTED, INVENTED], (1 / 3, 1, 1 / 2)),  # the prediction's side alone: accuracy
        ([WRONG], (0, 0, 0)),
        ([MISSING], (None, 0, 0)),
        ([INVENTED], (0, None, 0)),
        ([NEITHER], (None, None, None)),
        ([], (None, None, None)),
    ],
)
def test_accuracy_recall_and_f1_over_pairs(
    pairs: list[tuple[int, int, int]], figures: tuple[float | None, float | None, float | None]
) -> None:
    found = totals(map(_pair, pairs))[SpiderPart.WHERE]
    assert (found.accuracy, found.recall, found.f1) == pytest.approx(figures)
    assert found.precision == found.accuracy

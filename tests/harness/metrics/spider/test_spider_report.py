import json
import re
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from dialects.enums import Dialect
from harness.data.outcomes import GoldOrigin, Outcome, PairResult
from harness.data.questions import Difficulty
from harness.report.console import print_grids
from harness.report.measures import hardness_grid, partial_grids
from harness.runs.summary import spider
from harness.sqltree.spider import Hardness, Match, SpiderPart, Structure

RIGHT, WRONG = Match(1, 1, 1), Match(1, 1, 0)


def result(hardness: Hardness | None, *, exact: bool, ex: float | None = 1.0) -> PairResult:
    """A pair whose every component is right or wrong; without a structure where `hardness` is None."""
    parts = dict.fromkeys(SpiderPart, RIGHT if exact else WRONG)
    structure = None if hardness is None else Structure(hardness, exact, True, parts)
    return PairResult(
        dialect=Dialect.SQLITE,
        predictor="a [b]",
        question="1",
        question_id=1,
        db_id="zoo",
        difficulty=Difficulty.SIMPLE,
        outcome=Outcome.MATCH,
        scores={} if ex is None else {"ex": ex},
        gold_origin=GoldOrigin.DATASET,
        structure=structure,
    )


RESULTS = [
    result(Hardness.EASY, exact=True),
    result(Hardness.EASY, exact=False, ex=0.0),
    result(Hardness.EXTRA, exact=False),
    result(Hardness.EXTRA, exact=False),
    result(None, exact=False),
]


def printed(rows: Sequence[Sequence[PairResult]], width: int = 180) -> str:
    console = Console(file=StringIO(), width=width, force_terminal=True, no_color=True)
    hardness = hardness_grid(rows)
    print_grids([*([hardness] if hardness else []), *partial_grids(rows)], console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_the_summary_has_every_level_and_component() -> None:
    found = spider(RESULTS)
    assert found["hardness"] == {
        "easy": {"questions": 2, "unread": 0, "em": 50.0, "ex": 50.0},
        "medium": {"questions": 0, "unread": 0, "em": None, "ex": None},
        "hard": {"questions": 0, "unread": 0, "em": None, "ex": None},
        "extra": {"questions": 2, "unread": 0, "em": 0.0, "ex": 100.0},
        "all": {"questions": 4, "unread": 0, "em": 25.0, "ex": 75.0},
    }
    assert list(found["partial"]) == list(SpiderPart)
    for part in SpiderPart:
        assert found["partial"][part]["easy"] == dict.fromkeys(
            ("accuracy", "recall", "precision", "f1"), 50.0
        )
        assert found["partial"][part]["medium"] == dict.fromkeys(("accuracy", "recall", "precision", "f1"))
        assert found["partial"][part]["extra"] == dict.fromkeys(
            ("accuracy", "recall", "precision", "f1"), 0.0
        )
    assert json.loads(json.dumps(found)) == found


def test_predictions_that_could_not_be_read_are_counted() -> None:
    [easy, *_] = RESULTS
    assert easy.structure is not None
    unread = replace(easy, structure=replace(easy.structure, parsed=False))
    assert spider([unread, easy])["hardness"]["all"]["unread"] == 1


def test_ex_is_left_out_where_a_result_has_none() -> None:
    results = [*RESULTS, result(Hardness.EASY, exact=True, ex=None)]
    assert spider(results)["hardness"]["easy"]["ex"] is None
    assert spider(results)["hardness"]["extra"]["ex"] == 100.0
    assert "EM by Spider's hardness (%)" in printed([results])


def test_nothing_is_shown_where_there_is_no_structure() -> None:
    results = [result(None, exact=False)]
    assert spider(results) == {}
    assert printed([results, []]) == ""


@pytest.mark.parametrize(
    ("width", "titles"),
    [
        (180, ["EM and EX by Spider's hardness (%)", "Partial matching (%): a [b]"]),
        (
            80,
            [
                *["EM and EX by Spider's hardness (%)"] * 2,
                *["Partial matching (%): a [b]"] * 3,
            ],
        ),
    ],
)
def test_tables_fit_the_terminal(width: int, titles: list[str]) -> None:
    text = printed([RESULTS], width)
    assert re.findall(r"(?:EM|EX|EM and EX) by .*?%\)|Partial .*?b\]", text) == titles
    assert "questions: easy 2, medium 0, hard 0, extra 2, all 4" in text
    assert "…" not in text

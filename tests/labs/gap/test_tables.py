"""The waterfall adds up, to the last digit that is printed, whatever the counts are."""

import random
from decimal import Decimal
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from dialects.enums import Dialect, Profile
from harness.data.outcomes import PairResult
from harness.data.questions import Difficulty, Question
from harness.engines.errors import EditKind
from harness.labs.gap.cause_rules import ABOUT, OF_EDIT, Cause, Direction, FoundCause
from harness.labs.gap.explanations import Explained, Gap, PredictorGap, WhatIf
from harness.labs.gap.tables import documented, steps, waterfall
from harness.report.table_model import MINUS, texts
from tests.harness.run_folders import pair

QUESTION = Question("1", 1, "things", "", "", Difficulty.SIMPLE, {})


def made(chance: random.Random) -> PredictorGap:
    """A gap of any size with any causes."""
    questions = chance.randint(1, 1000)
    on_sqlite = chance.randint(0, questions)
    lost, won = chance.randint(0, on_sqlite), chance.randint(0, questions - on_sqlite)
    nobody = cast("PairResult", None)
    explained = [
        Explained(
            "model",
            Dialect.MYSQL,
            QUESTION,
            direction,
            nobody,
            nobody,
            FoundCause(chance.choice(list(Cause)), ""),
        )
        for direction in [Direction.LOSS] * lost + [Direction.GAIN] * won
    ]
    on_target = on_sqlite - lost + won
    return PredictorGap("model", Dialect.MYSQL, questions, on_sqlite, on_target, explained, WhatIf(0, 0, 0))


@given(st.randoms(use_true_random=False))
def test_what_is_printed_adds_up_to_the_last_digit(chance: random.Random) -> None:
    gap = made(chance)
    grid = waterfall(Gap("run", "set", Profile.OFFICIAL, [gap]))
    [row] = grid.rows
    begin, *between, end = (Decimal(text.replace(MINUS, "-")) for text in texts(grid, row))
    assert begin + sum(between) == end
    exact = sum(step for _, step in steps(gap))
    assert exact * gap.questions == 100 * (gap.on_target - gap.on_sqlite)


def test_groups_of_questions_have_what_is_right_on_both_engines() -> None:
    rights = [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (1.0, 0.0)]
    pairs = [
        (pair(place, "model", Dialect.SQLITE, ex=one), pair(place, "model", Dialect.MYSQL, ex=other))
        for place, (one, other) in enumerate(rights)
    ]
    types = {"0": ("match",), "1": ("match", "ranking"), "2": (), "3": ("ranking",)}
    one = PredictorGap("model", Dialect.MYSQL, 4, 3, 2, [], WhatIf(0, 0, 0), pairs)
    grids = documented(Gap("run", "set", Profile.OFFICIAL, [one], types=types)).grids
    found = {grid.title: [[*row.labels, *texts(grid, row)] for row in grid.rows] for grid in grids}
    assert found["EX by type, all predictors"] == [
        ["match", "2", "100.00", "50.00", "1", "0", f"{MINUS}50.00"],
        ["ranking", "2", "100.00", "0.00", "2", "0", f"{MINUS}100.00"],
        ["none", "1", "0.00", "100.00", "0", "1", "+100.00"],
    ]
    assert found["EX by difficulty, all predictors"] == [
        ["simple", "2", "100.00", "50.00", "1", "0", f"{MINUS}50.00"],
        ["moderate", "1", "100.00", "0.00", "1", "0", f"{MINUS}100.00"],
        ["challenging", "1", "0.00", "100.00", "0", "1", "+100.00"],
    ]


def test_every_cause_and_edit_is_described() -> None:
    assert set(ABOUT) == set(Cause)
    assert set(OF_EDIT) == set(EditKind)


def test_no_table_is_empty() -> None:
    nothing = Gap("run", "set", Profile.OFFICIAL, [])
    assert documented(nothing).grids == ()

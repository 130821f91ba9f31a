from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

import pytest

from dialects.coverage import Answer, bag, cover
from harness.engines import on_server
from harness.engines.server import Server
from harness.execution import Limits
from harness.readers.question_sets import load_set
from harness.words import Profile
from loaders.load import load


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ([(1,), (2,)], [(2,), (1,)], True),
        ([(1,), (1,)], [(1,)], False),
        ([(1,)], [(1.0,)], True),
        ([(Decimal("0.1"),)], [(0.1,)], True),
        ([(True,)], [(1,)], True),
        ([(1 / 3,)], [(0.33333333333,)], True),
        ([(1 / 3,)], [(0.333333,)], False),
        ([(2**53 + 1,)], [(2**53 + 1,)], True),
        ([("1",)], [(1,)], False),
        ([("a",)], [("A",)], False),
        ([(None,)], [(None,)], True),
        ([(None,)], [(0,)], False),
        ([(date(2020, 2, 29),)], [("2020-02-29",)], True),
        ([(datetime(2020, 2, 29, 1, 2, 3),)], [("2020-02-29 01:02:03",)], True),  # noqa: DTZ001 - as drivers do
    ],
)
def test_rows_are_the_same_by_value_and_multiplicity(
    left: Sequence[tuple[object, ...]], right: Sequence[tuple[object, ...]], *, same: bool
) -> None:
    assert (bag(left) == bag(right)) is same


@pytest.mark.engine
def test_most_golds_of_the_sample_answer_the_same_in_translation(server: Server) -> None:
    questions = load_set("sample")
    load([questions.database(db_id, Profile.FAITHFUL) for db_id in questions.db_ids], server)
    covered = list(cover(questions, {server.dialect: on_server(server)}, Limits()))
    answers = Counter(one.answer for one in covered)
    assert len(covered) == len(questions.questions)
    assert answers[Answer.NO_REFERENCE] == 0
    assert answers[Answer.SAME] > 0.6 * len(covered)
    assert all(one.detail for one in covered if one.answer in (Answer.ERROR, Answer.UNTRANSLATABLE))

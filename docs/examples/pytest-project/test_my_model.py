"""Tests of a model, with questions, engines and an evaluator from bird-harness."""

import pytest
from my_model import predict

from harness import Answer


def test_a_prediction_returns_rows(bird_engine, bird_question):
    """For every question of the set, on every engine."""
    sql = predict(bird_question.text)
    assert bird_engine.rows(bird_question, sql)


def test_gold_of_a_question(bird_engine):
    """The answer to question 1, whose SQL differs from engine to engine."""
    assert bird_engine.rows("1", bird_engine.gold("1")) == ((7,),)


@pytest.mark.parametrize("bird_question", ["1"], indirect=True)
def test_a_question_that_the_model_has_to_answer(bird_evaluator, bird_question):
    """A question is chosen by its key; `judgement` also has the error, the times and the error class."""
    [judgement] = bird_evaluator.score([Answer(bird_question.key, predict(bird_question.text), "sqlite")])
    assert judgement.outcome == "match", judgement.error
    assert judgement.scores["ex"] == 1.0

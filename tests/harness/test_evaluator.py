"""The library call: the same core for threads, processes and later runs."""

import multiprocessing
import os
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness import Answer, Evaluator
from harness.benchmark import QuestionSet
from harness.errors import BadInput
from harness.outcomes import ErrorClass, Outcome
from harness.readers.question_sets import load_set
from harness.words import Dialect

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def sample() -> QuestionSet:
    return load_set("sample")


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_STORE", str(tmp_path / "store.sqlite"))


def golds(sample: QuestionSet, count: int) -> list[Answer]:
    return [Answer(item.key, item.gold[Dialect.SQLITE]) for item in sample.questions[:count]]


def test_answers_are_scored_in_their_order(sample: QuestionSet) -> None:
    [first, second, *_] = golds(sample, 2)
    with Evaluator("sample", workers=1) as evaluator:
        judgements = evaluator.score(
            [first, Answer(first.question, "SELECT 1"), second, Answer(second.question, "SELEC")]
        )
    assert [judgement.outcome for judgement in judgements] == [
        Outcome.MATCH, Outcome.MISMATCH, Outcome.MATCH, Outcome.PREDICTION_ERROR,
    ]  # fmt: skip
    assert [judgement.scores["ex"] for judgement in judgements] == [1.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize(("diagnose", "expected"), [(False, None), (True, ErrorClass.SYNTAX)])
def test_what_is_wrong_is_found_out_if_it_is_asked_for(
    sample: QuestionSet, expected: ErrorClass | None, *, diagnose: bool
) -> None:
    [first] = golds(sample, 1)
    with Evaluator("sample", workers=1, diagnose=diagnose) as evaluator:
        [judgement] = evaluator.score([Answer(first.question, "SELEC")])
    assert (judgement.outcome, judgement.error_class) == (Outcome.PREDICTION_ERROR, expected)


def test_threads_share_one_evaluator(sample: QuestionSet) -> None:
    answers = golds(sample, 10)
    with Evaluator("sample", workers=2) as evaluator, ThreadPoolExecutor(8) as pool:
        scored = list(pool.map(evaluator.score, [answers] * 8))
    assert all(judgement.outcome is Outcome.MATCH for judgements in scored for judgement in judgements)
    # What was executed once has one time of execution.
    assert len({tuple(judgement.gold_seconds for judgement in judgements) for judgements in scored}) == 1


def test_what_an_earlier_evaluator_knew_is_not_executed_again_unless_asked_to(sample: QuestionSet) -> None:
    answers = golds(sample, 3)

    def seconds(*, cache: bool) -> list[float | None]:
        with Evaluator("sample", workers=1, cache=cache) as evaluator:
            return [judgement.gold_seconds for judgement in evaluator.score(answers)]

    first = seconds(cache=True)
    assert seconds(cache=True) == first
    assert seconds(cache=False) != first


def _score_in_another_process(evaluator: Evaluator, answers: list[Answer]) -> tuple[int, list[Outcome]]:
    return os.getpid(), [judgement.outcome for judgement in evaluator.score(answers)]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_an_evaluator_goes_on_in_another_process(sample: QuestionSet, method: str) -> None:
    answers = golds(sample, 2)
    with Evaluator("sample", workers=1) as evaluator:
        assert len(evaluator.score(answers)) == 2
        with multiprocessing.get_context(method).Pool(1) as pool:
            there, outcomes = pool.apply(_score_in_another_process, [evaluator, answers])
        assert (there != os.getpid(), outcomes) == (True, [Outcome.MATCH] * 2)
        assert [each.outcome for each in evaluator.score(answers)] == [Outcome.MATCH] * 2


def test_an_evaluator_can_be_sent(sample: QuestionSet) -> None:
    with Evaluator("sample", workers=1) as evaluator:
        sent = pickle.loads(pickle.dumps(evaluator))  # noqa: S301 - its own
        with sent:
            assert [each.outcome for each in sent.score(golds(sample, 1))] == [Outcome.MATCH]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Answer("no such", "SELECT 1"), ["no such", "sample", "66 questions"]),
        (Answer("1", "SELECT 1", Dialect.MYSQL), ["mysql", "sqlite", "dialects"]),
    ],
)
def test_an_answer_that_is_for_nobody_is_refused(answer: Answer, says: list[str]) -> None:
    with Evaluator("sample", workers=1) as evaluator, pytest.raises(BadInput) as refused:
        evaluator.score([answer])
    assert all(word in str(refused.value) for word in says)


def test_times_are_not_for_the_library() -> None:
    with pytest.raises(BadInput, match="r_ves_stable"):
        Evaluator("sample", metrics=["ex", "r_ves_stable"])


def test_a_closed_evaluator_says_so(sample: QuestionSet) -> None:
    evaluator = Evaluator("sample", workers=1)
    evaluator.close()
    with pytest.raises(BadInput, match="closed"):
        evaluator.score(golds(sample, 1))


def test_the_example_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(
        r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    [example] = [text for text in examples if "Evaluator" in text]
    exec(compile(example, str(README), "exec"), {})  # noqa: S102 - our own text
    assert capsys.readouterr().out == "mismatch 0.0\n"

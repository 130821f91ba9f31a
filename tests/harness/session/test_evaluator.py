"""The library call: the same core for threads, processes and later runs."""

import multiprocessing
import os
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness import Answer, Evaluator
from harness.data.questions import QuestionSet
from harness.engines.base import EMPTY
from harness.engines.error_classes import ErrorClass
from harness.outcomes import Outcome
from harness.sets.loading import load_set
from loaders.server import Server
from tests.harness.pytest_plugin.running import name

README = Path(__file__).parents[3] / "README.md"


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
        (Answer(10**6, "SELECT 1"), ["1000000", "sample", "66 questions"]),
        (Answer(10**5000, "SELECT 1"), ["a number of thousands of digits", "sample"]),
        (Answer("1", "SELECT 1", "oracle"), ["dialect 'oracle'", "sqlite, mysql, postgresql"]),
        (Answer("1", None), ["question 1", "no text"]),  # type: ignore[arg-type]
        (Answer("1", "SELECT '\ud83d'"), ["question 1", "UTF-8"]),
        (Answer("1", "SELECT 1", Dialect.MYSQL), ["mysql", "sqlite", "dialects"]),
    ],
)
def test_an_answer_that_is_for_nobody_is_refused(answer: Answer, says: list[str]) -> None:
    with Evaluator("sample", workers=1) as evaluator, pytest.raises(BadInput) as refused:
        evaluator.score([answer])
    assert all(word in str(refused.value) for word in says)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"dialects": "oracle"}, "dialects 'oracle': choose from sqlite, mysql, postgresql"),
        ({"dialects": ["sqlite", "p"]}, "dialects 'p': choose from"),
        ({"dialects": []}, "dialects: none is named"),
        ({"metrics": "bleu"}, "'bleu' is not a metric"),
        ({"profile": "fast"}, "profile 'fast': choose from official, faithful"),
        ({"set_name": "spider"}, "choose one of"),
        *(
            ({"seconds": value}, "seconds ")
            for value in (0, -1, float("nan"), float("inf"), 1e300, "30", True)
        ),
        *(({"workers": value}, "workers ") for value in (0, -1, 10**9, 1.5, "2")),
    ],
)
def test_an_option_that_cannot_be_is_bad_input(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as refused:
        Evaluator(**{"set_name": "sample", **options})
    assert says in str(refused.value)
    assert str(refused.value).isprintable()


def test_questions_are_named_by_number_or_key_and_the_only_dialect_by_nothing(sample: QuestionSet) -> None:
    [first, *_] = sample.questions
    gold = first.gold[Dialect.SQLITE]
    named = [
        Answer(first.question_id, gold),
        Answer(first.key, gold, "sqlite"),
        Answer(f"{first.key}#1", gold),
    ]
    with Evaluator("sample", dialects="sqlite", metrics="ex", workers=1) as evaluator:
        assert [each.scores for each in evaluator.score(named)] == [{"ex": 1.0}] * 3


def test_of_questions_that_share_an_id_a_number_is_refused_and_a_key_is_told(
    tmp_path: Path, first: QuestionSet, caplog: pytest.LogCaptureFixture
) -> None:
    assert first.keys_of(137) == ("137", "137#2")
    with Evaluator("mini_dev", bird_home=str(tmp_path), workers=1, cache=False) as evaluator:
        with pytest.raises(BadInput, match=r'question 137: .*2 questions share; write "137#1" or "137#2"'):
            evaluator.score([Answer(137, "SELECT 2")])
        exact = [Answer("137#1", "SELECT 2"), Answer("137#2", "SELECT 3")]
        assert [each.outcome for each in evaluator.score(exact)] == [Outcome.MATCH] * 2
        assert caplog.messages == []
        assert [each.outcome for each in evaluator.score([Answer("137", "SELECT 2")] * 2)] == [
            Outcome.MATCH
        ] * 2
        assert ["'137#1'" in each for each in caplog.messages] == [True]


@pytest.mark.engine
def test_the_only_dialect_is_that_of_answers_and_of_several_one_has_to_be_named(
    sample: QuestionSet, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name(server, monkeypatch)
    [first, *_] = sample.questions
    with Evaluator("sample", dialects=str(server.dialect), workers=1) as evaluator:
        [judgement] = evaluator.score([Answer(first.question_id, first.gold[server.dialect])])
        assert judgement.outcome is Outcome.MATCH
    with Evaluator("sample", dialects=f"sqlite,{server.dialect}", workers=1) as evaluator:
        with pytest.raises(BadInput, match=f"say in which dialect the answer is: sqlite, {server.dialect}"):
            evaluator.score([Answer(first.key, "SELECT 1")])
        both = [Answer(first.key, first.gold[each], each) for each in (Dialect.SQLITE, server.dialect)]
        assert [each.outcome for each in evaluator.score(both)] == [Outcome.MATCH] * 2


EMPTY_TEXTS = ["", " \n\t", ";", " ; ;\n", "-- no answer", "/* a */", "/* a **/ ; -- b\n;", "-- a\n\n-- b\n"]


def test_of_an_empty_text_it_is_said_that_it_is_empty(sample: QuestionSet) -> None:
    [first, *_] = sample.questions
    with Evaluator("sample", workers=1) as evaluator:
        judgements = evaluator.score([Answer(first.key, text) for text in EMPTY_TEXTS])
    # SQLite runs such a text, which returns no rows: what the official script compares with gold's.
    assert {(each.outcome, each.error) for each in judgements} == {(Outcome.MISMATCH, EMPTY)}


@pytest.mark.engine
def test_of_an_empty_text_it_is_said_that_it_is_empty_on_a_server(
    sample: QuestionSet, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name(server, monkeypatch)
    nested = (
        ["/* a /* b */ */", "/* a /* b */ ; */ ;"] if server.dialect is Dialect.POSTGRESQL else ["# a\n;"]
    )
    with Evaluator("sample", dialects=server.dialect, workers=1, cache=False) as evaluator:
        answers = [Answer(sample.questions[0].key, text) for text in (*EMPTY_TEXTS, *nested)]
        judgements = evaluator.score(answers)
    assert {each.scores["ex"] for each in judgements} == {0.0}
    said = [(answer.sql, each.error) for answer, each in zip(answers, judgements, strict=True)]
    assert [one for one in said if one[1] is None or "empty" not in one[1]] == []


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

"""Runs predicted SQL without gold: whether a text runs, and which texts return the same.

Texts run as predictions do, in the workers and under the limits of an evaluation, and what they come to is
kept in the same store. Nothing here reads gold: where judging needs a reference, it is another predicted
text, or `SELECT 1`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from harness.data.outcomes import Outcome
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of
from harness.metrics import OUTCOME_METRIC
from harness.scoring.dispatch import Asked, Judging
from harness.scoring.tasks import Setup
from harness.session.plan import open_judging
from harness.session.request import Request

Place = tuple[EngineName, str]
"""A dialect and the key of a question."""

_FAILURES = frozenset({Outcome.PREDICTION_ERROR, Outcome.PREDICTION_TIMEOUT, Outcome.PREDICTION_TOO_LARGE})


def _silent(line: str) -> None:
    del line


class Trials:
    """Says what an engine finds wrong with a text; thread-safe.

    Args:
        request: workers and store, as for an evaluation.
        setup: engines, databases and limits.
    """

    def __init__(self, request: Request, setup: Setup) -> None:
        gold = dict.fromkeys(map(dialect_of, setup.servers), "SELECT 1")
        self._questions = {
            question.key: replace(question, gold=gold) for question in setup.questions.questions
        }
        self._judging = _judging(request, setup, tuple(self._questions.values()))

    def error(self, dialect: EngineName, question: str, sql: str) -> str | None:
        """The engine's words for why a text does not run; None where it does, or the engine is to blame."""
        (future,) = self._judging.begin([Asked(self._questions[question], dialect, sql)])
        judgement = future.result()
        return judgement.error if judgement.outcome in _FAILURES else None

    def close(self) -> None:
        """Stop the workers."""
        self._judging.close()


def votes(
    request: Request, setup: Setup, answers: Mapping[Place, Sequence[str | None]]
) -> dict[Place, int | None]:
    """Which of several answers to a question most of them agree with.

    Answers agree if they return the same rows as EX compares them, as a set
    (`harness.metrics.ex`). Texts that do not run have no vote.

    Args:
        request: workers and store, as for an evaluation.
        setup: engines, databases and limits.
        answers: the SQL of each sample, None where there is none.

    Returns:
        The number of the first sample of the largest group, and of the group that comes first among equals.
        Where nothing runs, the first sample with a text; None where there is none.
    """
    texts = {place: list(dict.fromkeys(filter(None, given))) for place, given in answers.items()}
    questions = setup.questions.by_key
    references = {
        (place, text): _reference(questions[place[1]], place[0], number, text)
        for place, found in texts.items()
        for number, text in enumerate(found)
    }
    pairs = [(place, a, b) for place, found in texts.items() for a, b in _pairs(found)]
    judging = _judging(request, setup, tuple(references.values()))
    try:
        futures = judging.begin([Asked(references[place, a], place[0], b) for place, a, b in pairs])
        outcomes = {pair: future.result().outcome for pair, future in zip(pairs, futures, strict=True)}
    finally:
        judging.close()

    def same(place: Place) -> Callable[[str, str], bool]:
        return lambda a, b: outcomes[place, a, b] is Outcome.MATCH

    return {place: _largest(given, same(place)) for place, given in answers.items()}


def _reference(question: Question, dialect: EngineName, number: int, text: str) -> Question:
    return replace(question, key=f"{dialect} {question.key} {number}", gold={dialect_of(dialect): text})


def _pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Every text beside itself, which says whether it runs, and beside those that come later."""
    return [*((text, text) for text in texts), *combinations(texts, 2)]


def _largest(given: Sequence[str | None], same: Callable[[str, str], bool]) -> int | None:
    groups: list[tuple[str, list[int]]] = []
    for number, text in enumerate(given):
        if text is None or not same(text, text):
            continue
        for first, members in groups:
            if first == text or same(first, text):
                members.append(number)
                break
        else:
            groups.append((text, [number]))
    if groups:
        return max(groups, key=lambda group: len(group[1]))[1][0]
    return next((number for number, text in enumerate(given) if text is not None), None)


def _judging(request: Request, setup: Setup, questions: tuple[Question, ...]) -> Judging:
    alone = replace(
        setup,
        questions=replace(setup.questions, questions=questions),
        metrics=(OUTCOME_METRIC,),
        variants=None,
        diagnoses=False,
        previews=False,
    )
    return open_judging(request, alone, _silent)

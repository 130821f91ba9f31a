"""The prediction files of all dialects and samples, and of what most samples agree with."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dialects.enums import Dialect
from harness.predictors.output import Given, majority_name, sample_name, write_predictions
from harness.predictors.preparing import Ready, Say
from harness.predictors.running import Answered
from harness.predictors.trials import votes

_Samples = Mapping[Dialect, Mapping[int, Mapping[str, Given]]]


def write_all(ready: Ready, answered: Sequence[Answered], say: Say) -> list[Path]:
    """Write a file a dialect and sample, and one of the majority where there are several samples."""
    asked = ready.asked
    samples = {dialect: _by_sample(answered, dialect) for dialect in ready.dialects}
    files = [
        write_predictions(
            asked.out, ready.wanted.whole, sample_name(asked.name, number, asked.samples), dialect, answers
        )
        for dialect, found in samples.items()
        for number, answers in sorted(found.items())
    ]
    if asked.samples > 1:
        say("finding out which samples agree")
        files += _of_the_majority(ready, samples)
    return files


def _by_sample(answered: Sequence[Answered], dialect: Dialect) -> dict[int, dict[str, Given]]:
    found: dict[int, dict[str, Given]] = {}
    for one in answered:
        problem = one.job.problem
        if problem.dialect is dialect:
            found.setdefault(one.job.sample, {})[problem.question] = one.sql, one.reason
    return found


def _of_the_majority(ready: Ready, samples: _Samples) -> Iterator[Path]:
    given = {
        (dialect, question.key): answers
        for dialect, found in samples.items()
        for question in ready.wanted.questions.questions
        if (
            answers := [
                found[number][question.key] for number in sorted(found) if question.key in found[number]
            ]
        )
    }
    texts = {place: [sql for sql, _ in answers] for place, answers in given.items()}
    chosen = votes(ready.equipped.request, ready.equipped.setup, texts)
    for dialect in samples:
        agreed = {
            key: given[each, key][number or 0] for (each, key), number in chosen.items() if each is dialect
        }
        yield write_predictions(
            ready.asked.out, ready.wanted.whole, majority_name(ready.asked.name), dialect, agreed
        )

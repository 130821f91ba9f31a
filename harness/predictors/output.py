"""What a folder of predictions holds beside its journal: answers for readers, files for `bird-harness eval`.

    <out>/manifest.json     what was asked of whom, and what it took
    <out>/journal.jsonl     every ask and reply (`harness.predictors.journal`)
    <out>/answers.jsonl     every answer as it came, what was taken out of it, or why there is none
    <out>/predictions/      predict_<set>_<predictor>_<dialect>.jsonl

Files are written whole or not at all. Of several samples, one more file has what most agree with.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.data.prediction_names import ANSWERS, MANIFEST, PREDICTIONS
from harness.data.questions import QuestionSet
from harness.engines import EngineName, dialect_of
from harness.predictors.base import Usage
from harness.predictors.budget import Budget, SpentBudget
from harness.predictors.preparing import Ready, Say
from harness.predictors.running import Answered
from harness.predictors.trials import votes
from loaders.base.files import as_json, replace, write_json

MAJORITY = "majority"

Given = tuple[str | None, str | None]
"""SQL, or None and the reason for having none."""

_SHOWN = 5
"""How many reasons are said."""


def sample_name(name: str, sample: int, samples: int) -> str:
    """The predictor that one of several samples is: `name@1` and so on; `name` where there is only one."""
    return name if samples == 1 else f"{name}@{sample + 1}"


def majority_name(name: str) -> str:
    """The predictor whose answers are those that most samples agree with."""
    return f"{name}@{MAJORITY}"


def write_answers(folder: Path, answered: Iterable[Answered], budget: Budget) -> None:
    """Write `answers.jsonl`; what answers cost is by the prices of the budget."""
    replace(folder / ANSWERS, "".join(f"{as_json(_answer(one, budget))}\n" for one in answered))


def _answer(one: Answered, budget: Budget) -> dict[str, Any]:
    problem = one.job.problem
    times = [step.reply.seconds for step in one.steps]
    known = [seconds for seconds in times if seconds is not None]
    usage = sum((step.reply.usage for step in one.steps), Usage())
    return {
        "question": problem.question,
        "dialect": problem.dialect,
        "sample": one.job.sample,
        "sql": one.sql,
        "reason": one.reason,
        "text": one.text,
        "finish": one.steps[-1].reply.finish if one.steps else None,
        "model": one.steps[-1].reply.model if one.steps else None,
        "stages": [
            {
                "stage": step.stage,
                "prompt_tokens": step.prompt.tokens,
                "estimated": step.prompt.estimated,
                "dropped": list(step.prompt.dropped),
                "notes": list(step.prompt.notes),
            }
            for step in one.steps
        ],
        "requests": usage.requests,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "seconds": round(sum(known), 6) if known and len(known) == len(times) else None,
        "cost": None
        if usage.prompt_tokens is None or usage.completion_tokens is None
        else budget.cost(usage.prompt_tokens, usage.completion_tokens),
    }


def write_predictions(
    folder: Path,
    questions: QuestionSet,
    predictor: str,
    dialect: EngineName,
    answers: Mapping[str, Given],
) -> Path:
    """Write one prediction file (docs/file-formats.md) and return its path.

    Args:
        folder: the folder of the whole; the file goes below it.
        questions: the set; its order is the file's.
        predictor: its name.
        dialect: that of the answers.
        answers: by the question's key; questions may be left out.
    """
    lines = []
    for key in questions.order[dialect_of(dialect)]:
        if key not in answers:
            continue
        question = questions.by_key[key]
        sql, reason = answers[key]
        alone = len(questions.keys_of(question.question_id)) == 1
        record: dict[str, Any] = {
            "question_id": question.question_id if alone else key,
            "db_id": question.db_id,
        }
        record |= {"sql": sql} if sql is not None else {"sql": None, "reason": reason}
        lines.append(f"{as_json(record)}\n")
    path = folder / PREDICTIONS / f"predict_{questions.name}_{predictor}_{dialect}.jsonl"
    path.parent.mkdir(exist_ok=True)
    replace(path, "".join(lines))
    return path


def write_manifest(ready: Ready, state: str, facts: Mapping[str, Any], spent: SpentBudget) -> None:
    """Write `manifest.json`.

    Args:
        ready: what is asked.
        state: `running`, `complete` or `broken off`.
        facts: about predictor and method.
        spent: what it took, in this run and earlier ones in the folder.
    """
    asked, setup = ready.asked, ready.equipped.setup
    manifest = {
        "schema_version": 1,
        "state": state,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "harness": version("bird-harness"),
        "set": ready.wanted.questions.name,
        "set_files": dict(ready.wanted.questions.files),
        "questions": len(ready.wanted.questions.questions),
        "dialects": list(setup.servers),
        "engines": {dialect: setup.engine(dialect).version() for dialect in setup.servers},
        "profile": setup.profile,
        "name": asked.name,
        **facts,
        "samples": asked.samples,
        "corrections": asked.corrections,
        "tokens_counted_by": ready.wanted.tokens.name,
        "budget": asdict(asked.budget),
        "spent": asdict(spent),
        "left_out": list(ready.equipped.left_out),
    }
    write_json(asked.out / MANIFEST, manifest)


def summary(answered: Sequence[Answered], spent: SpentBudget, out: Path) -> Iterator[str]:
    """What a user has to know of a run, line by line."""
    with_sql = sum(one.sql is not None for one in answered)
    yield f"{with_sql} of {len(answered)} answers have SQL; {spent_in_words(spent)}"
    reasons = Counter(one.reason for one in answered if one.reason is not None)
    for reason, count in reasons.most_common(_SHOWN):
        yield f"  {count} without: {reason}"
    if len(reasons) > _SHOWN:
        yield f"  and {len(reasons) - _SHOWN} other reasons, in {ANSWERS}"
    shortened = sum(any(step.prompt.dropped for step in one.steps) for one in answered)
    if shortened:
        yield f"{shortened} answers had a prompt that was shortened to fit; {ANSWERS} says what was left out"
    yield f"predictions: {out / PREDICTIONS}"


def spent_in_words(spent: SpentBudget) -> str:
    """Requests, tokens and cost."""
    cost = "" if spent.cost is None else f", cost {spent.cost:.4f}"
    estimated = " (estimated in part)" if spent.estimated_tokens else ""
    tokens = f"{spent.prompt_tokens} + {spent.completion_tokens} tokens{estimated}"
    return f"{spent.requests} requests, {tokens}{cost}"


_Samples = Mapping[EngineName, Mapping[int, Mapping[str, Given]]]


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


def _by_sample(answered: Sequence[Answered], dialect: EngineName) -> dict[int, dict[str, Given]]:
    found: dict[int, dict[str, Given]] = {}
    for one in answered:
        problem = one.job.problem
        if problem.dialect == dialect:
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
            key: given[each, key][number or 0] for (each, key), number in chosen.items() if each == dialect
        }
        yield write_predictions(
            ready.asked.out, ready.wanted.whole, majority_name(ready.asked.name), dialect, agreed
        )

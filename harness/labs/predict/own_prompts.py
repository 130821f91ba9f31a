"""Ask for answers to tasks of a lab, whose prompts are its own: single turn, one file an engine and sample.

The files are `<out>/predictions/<dialect>/<name>.jsonl`: JSON lines with `instance_id` and the `response` as
it was received, which the lab takes statements out of.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.prediction_files import PREDICTIONS
from harness.lab import evaluation_of_set
from harness.labs.predict.adapters import open_predictor, token_counter
from harness.labs.predict.jobs import Correct, JobResult, JobRunner
from harness.labs.predict.methods import Method, Stages
from harness.labs.predict.predict import (
    PredictRequest,
    PredictResult,
    Say,
    ask_all,
    opened,
    sample_name,
)
from harness.predictors.base import Message, Problem, Prompt
from harness.predictors.prompts import PromptOptions, open_prompter
from harness.session.request import refuse_meaningless
from loaders.base.files import as_json
from loaders.base.files import replace as replace_file

PromptsOfSet = Callable[..., Sequence[tuple[Problem, str]]]
"""What a lab declares as `Lab.prompts`."""

_READ = ("set_name", "dialects", "workers", "limit", "out", "bird_home", "cache", "store")


@dataclass(frozen=True)
class _OwnPrompts(Method):
    """Asks each problem once, by a prompt that is ready."""

    texts: Mapping[Problem, str]

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return the digest of all prompts."""
        return {
            "method": self.name,
            "sha256": hashlib.sha256(as_json([*self.texts.values()]).encode()).hexdigest(),
        }

    def stages(self, problem: Problem) -> Stages:
        """Yield its prompt."""
        text, tokens = self.texts[problem], self.prompter.tokens
        return (yield "sql", Prompt((Message("user", text),), tokens.count(text), tokens.estimated))


@dataclass(frozen=True)
class _TaskSetup:
    """Everything that asking for tasks needs except the predictor: see `predict.Asking`."""

    asked: PredictRequest
    problems: Sequence[Problem]

    @property
    def dialects(self) -> list[str]:
        return list(dict.fromkeys(each.dialect for each in self.problems))

    def facts(self) -> Mapping[str, Any]:
        return {
            "set": self.asked.request.set_name,
            "questions": len({each.question for each in self.problems}),
            "dialects": self.dialects,
        }

    def correcting(self, method: Method) -> AbstractContextManager[Correct | None]:
        del method
        return nullcontext()

    def write(self, answered: Sequence[JobResult], say: Say) -> list[Path]:
        del say
        lines: dict[Path, list[str]] = {}
        for one in answered:
            name = sample_name(self.asked.name, one.job.sample, self.asked.samples)
            path = self.asked.out / PREDICTIONS / one.job.problem.dialect / f"{name}.jsonl"
            record = {"instance_id": one.job.problem.question, "response": one.text}
            lines.setdefault(path, []).append(f"{as_json(record)}\n")
        for path, found in lines.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, found)
        return list(lines)


def own_prompts(asked: PredictRequest, prompts: PromptsOfSet) -> Mapping[Problem, str]:
    """Return the prompt of each task that is asked for.

    Raises:
        BadInput: an option has no meaning for tasks, or a file that prompts show is missing.
    """
    where = asked.request.set_name
    refuse_meaningless(asked.request, _READ, where)
    usual = PredictRequest(asked.request, asked.predictor, asked.name, asked.out)
    for flag in ("method", "options", "corrections"):
        if getattr(asked, flag) != getattr(usual, flag):
            raise BadInput(
                f"--{flag}: means nothing for tasks of {where}, whose prompts are ready; leave it out"
            )
    found = prompts(where, dialects=asked.request.dialects, family=asked.family, databases=asked.databases)
    left = list(dict.fromkeys(problem.question for problem, _ in found))[: asked.request.limit]
    return {problem: text for problem, text in found if problem.question in left}


def predict_tasks(asked: PredictRequest, prompts: PromptsOfSet, say: Say, console: Console) -> PredictResult:
    """Ask for every task on every engine, and write files of answers, as `predict` does for questions.

    Raises:
        BadInput: an option, the set or the predictor is wrong.
    """
    texts = own_prompts(asked, prompts)
    ready = _TaskSetup(asked, list(texts))
    method = _OwnPrompts("ready", open_prompter(PromptOptions(), token_counter(asked.tokens)), texts)
    with opened(asked, say) as (journal, meter):
        predictor = open_predictor(
            asked.predictor, asked.settings, meter, questions=None, dialects=ready.dialects
        )
        with closing(predictor):
            runner = JobRunner(predictor, method, journal, Extract.NONE, asked.settings.concurrency)
            return ask_all(ready, runner, meter, say, console)


def judging(asked: PredictRequest) -> str:
    """Return the command that judges the answers."""
    where = asked.out / PREDICTIONS
    if asked.family is not None:
        return (
            f"bird-harness lab tasks {asked.request.set_name} --family {asked.family} --answers {where}/..."
        )
    more = f" --dialect {','.join(asked.request.dialects)}" if asked.request.dialects else ""
    return f"bird-harness eval --set {asked.request.set_name} --predictions {where} --extract answer-1{more}"


def score_tasks(asked: PredictRequest) -> int:
    """Judge the answers on every engine, print the tables and return the exit code.

    Raises:
        EngineUnavailable: a server is not up.
    """
    extract = asked.extract or Extract.ANSWER_1
    request = replace(asked.request, predictions=[asked.out / PREDICTIONS], extract=extract)
    code: int = evaluation_of_set(request.set_name)(request)
    return code

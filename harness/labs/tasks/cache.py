"""Judged answers of earlier runs, in the result cache of questions.

A verdict is used again for the same statements to the same task, on the same version and settings of the
engine with a database from the same files, by the same code. What may depend on the clock or on chance, or
on how busy the machine was, is judged anew: a text that asks for the time, a test case that can, a limit that
was reached.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dialects.errors import BadInput
from harness.labs.tasks.engine import engine_of
from harness.labs.tasks.judging import GOLD, TaskResult, answered
from harness.labs.tasks.layouts import Task, TaskAnswers, TaskSet
from harness.labs.tasks.outcomes import as_record, result_in
from harness.scoring.cache import Code, Lifetime, code, lifetime
from loaders.base.digests import digests
from loaders.base.files import as_json, parse_json
from loaders.base.store import EntryKind, Store

CODE = Code.read(Path(__file__).parents[1], ["tasks"])
"""Of the lab, read when it is imported, because the process judges with the code of that moment."""

_CHANCE = re.compile(
    r"\b(?:today|now|utcnow|import|random|urandom|environ|perf_counter|monotonic)\b"
    r"|\b(?:id|hash|open|time)[ ]?\("
)
"""Words of a test case whose verdict may be another one tomorrow."""

_BUSY = re.compile(
    r"interrupt|time ?out|timed out|cancel|not judged within|process ended|lock|memory|too many|connection",
    re.IGNORECASE,
)
"""Words of a message about something that may not happen again."""

Known = Mapping[tuple[str, str], TaskResult]
"""Results by predictor and task."""


class VerdictCache:
    """The stored verdicts on answers to the tasks of one set.

    Args:
        tasks: the tasks.
        version: of the engine, with its settings that decide results.
        store: keeps verdicts for later runs.
    """

    def __init__(self, tasks: TaskSet, version: str, store: Store) -> None:
        self._tasks, self._version, self._store = tasks, version, store
        self._by_id = {task.id: task for task in tasks.tasks}
        self._files: dict[str, Sequence[str] | None] = {}

    def known(self, predictors: Sequence[TaskAnswers]) -> Known:
        """Return the stored results of golds and of answers."""
        keys = {
            (name, task.id): key
            for name, answers in answered(self._tasks, predictors).items()
            for task in self._tasks.tasks
            if (key := self._key(task, answers.get(task.id))) is not None
        }
        values = self._store.get(set(keys.values()))
        found = {}
        for whose, key in keys.items():
            if key in values:
                _, result = result_in(parse_json(values[key].decode()))
                found[whose] = replace(result, predictor=whose[0])
        return found

    def keep(self, result: TaskResult, answer: Sequence[str] | None) -> None:
        """Store the result of an answer, None of one that is missing, if it is the same in any run."""
        said = f"{result.official.message} {result.strict.message}"
        if not CODE.is_unchanged or _BUSY.search(said):
            return
        if (key := self._key(self._by_id[result.task], answer)) is not None:
            value = as_json(as_record(result, self._tasks.family.name)).encode()
            self._store.put({key: value}, EntryKind.JUDGEMENT)

    def find(self, task: Task, answer: Sequence[str]) -> TaskResult | None:
        """Return the stored result of one answer."""
        key = self._key(task, answer)
        value = None if key is None else self._store.get([key]).get(key)
        return None if value is None else result_in(parse_json(value.decode()))[1]

    def _key(self, task: Task, answer: Sequence[str] | None) -> bytes | None:
        """Return the key of an answer, None of one that is missing; None if it is not kept."""
        files = self._sources(task.database)
        texts = (*task.preprocess, *task.gold, *task.issue, *(answer or ()))
        if files is None or any(lifetime(text) is not Lifetime.ALWAYS for text in texts):
            return None
        if any(_CHANCE.search(str(test)) for test in task.test_cases):
            return None
        facts = [
            "task",
            code(),
            CODE.digest,
            task.family.name,
            self._version,
            files,
            task.record,
            task.phase_conditions,
            None if answer is None else list(answer),
        ]
        return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).digest()

    def _sources(self, database: str) -> Sequence[str] | None:
        """Return the digests of the files that a database is made of; None if they are unknown."""
        if database not in self._files:
            try:
                paths = engine_of(self._tasks.family).sources(self._tasks.databases, database)
                self._files[database] = [*digests(paths).values()]
            except BadInput:
                self._files[database] = None
        return self._files[database]


def to_judge(
    tasks: TaskSet, predictors: Sequence[TaskAnswers], known: Known
) -> tuple[TaskSet, Sequence[TaskAnswers]]:
    """Return the tasks with an answer whose verdicts are not known, and the answers to judge.

    Gold takes the place of an answer that is known: equal answers are judged once.
    """
    names = [GOLD, *(one.predictor for one in predictors)]
    left = [task for task in tasks.tasks if any((name, task.id) not in known for name in names)]
    answers = [
        replace(
            one,
            answers={
                task.id: task.gold if (one.predictor, task.id) in known else one.answers[task.id]
                for task in left
                if (one.predictor, task.id) in known or task.id in one.answers
            },
        )
        for one in predictors
    ]
    return replace(tasks, tasks=left), answers

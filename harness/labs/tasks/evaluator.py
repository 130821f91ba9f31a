"""An evaluator of answers to tasks: batches, deadlines and counts as those of questions."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import signature
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.outcomes import Judgement, Outcome
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of, kinds_by_name
from harness.labs.tasks import OFFICIAL, VERDICTS
from harness.labs.tasks.cache import VerdictCache
from harness.labs.tasks.evaluation import check_databases, engine_facts, server_of
from harness.labs.tasks.judging import TaskJudge, TaskResult
from harness.labs.tasks.layouts import Phase, Task, TaskSet, read_tasks, statements_in
from harness.labs.tasks.outcomes import judgement_of, questions_of, shown_text
from harness.labs.tasks.prompts import prompt_of
from harness.labs.tasks.responses import TaskExtract
from harness.labs.tasks.sample import sample_families, sample_tasks
from harness.session.batches import Batch, BatchEvaluator, Prepared
from harness.session.evaluator import Evaluator
from harness.session.request import check_range
from harness.session.resolver import Answer, Triple, check_text, one_of
from loaders.base.processes import processors
from loaders.base.store import Store, allowed_bytes, default_path

_ZERO: Mapping[str, float] = dict.fromkeys(VERDICTS, 0.0)


@dataclass(frozen=True)
class _Asked:
    """An answer to judge: on which engine, to which task, with which statements."""

    engine: str
    task: Task
    statements: Sequence[str]

    @property
    def key(self) -> tuple[str, str, tuple[str, ...]]:
        """The same for equal answers."""
        return self.engine, self.task.id, tuple(self.statements)


@dataclass(frozen=True)
class _Engine:
    """What judges on one engine, and what is known there."""

    judge: TaskJudge
    cache: VerdictCache | None


class TaskEvaluator(BatchEvaluator):
    """Scores answers to tasks by the three verdicts; see `harness.Evaluator`.

    An answer is a list of statements, or one text: what `pred_sqls` may be, or a response that an extraction
    takes them out of. Its workers are spawned, as those of `TaskJudge`.

    Args:
        sets: the tasks, one set an engine.
        workers: processes that judge on each engine; default: one per core.
        extract: how statements are taken out of answers that are one text: `none`, `official` or `answer-1`.
        cache: True to use and fill the result cache.

    Raises:
        BadInput: two sets are for one engine, or an option is wrong.
        EngineUnavailable: a server is not up.
    """

    outcome_metric = OFFICIAL.name
    has_tasks = True
    metrics = VERDICTS
    policies = (Extract.NONE.value, *TaskExtract)

    def __init__(
        self,
        sets: Sequence[TaskSet],
        *,
        workers: int | None = None,
        extract: str = Extract.NONE,
        cache: bool = True,
    ) -> None:
        check_range("workers", workers, "workers")
        self._given = partial(TaskEvaluator, sets, workers=workers, extract=extract, cache=cache)
        self._name = next((tasks.called for tasks in sets), "tasks")
        self._sets = {str(tasks.family.dialect): tasks for tasks in sets}
        if len(self._sets) < len(sets):
            raise BadInput("sets: two are for the same engine; make an evaluator of each")
        self._tasks = {name: {task.id: task for task in tasks.tasks} for name, tasks in self._sets.items()}
        self._servers = {name: server_of(tasks) for name, tasks in self._sets.items()}
        self._workers = workers or processors()
        self._extract = one_of(self.policies, "extract", extract)
        self._caches = cache
        self._stack = ExitStack()
        self._engines: dict[str, _Engine] | None = {}
        self._cached = self._judged = 0
        self._count()

    def __reduce__(self) -> tuple[Callable[[], "TaskEvaluator"], tuple[()]]:
        return self._given, ()

    @cached_property
    def questions(self) -> Sequence[Question]:
        """The tasks, as questions."""
        return questions_of([*self._sets.values()])

    def own_prompt(self, key: str, dialect: EngineName | None = None) -> str:
        """Return the prompt of a task, as `lab tasks --prompts` writes it.

        Raises:
            BadInput: there is no such task or engine, or a file that the prompt shows is missing.
        """
        engine, task = self._found(key, dialect)
        return prompt_of(task, self._sets[engine].databases)

    @property
    def name(self) -> str:
        """The name of its set."""
        return self._name

    @property
    def dialects(self) -> Sequence[str]:
        """The engines that answers are for."""
        return tuple(self._sets)

    @property
    def extract(self) -> str:
        """How statements are taken out of answers that are one text, unless a batch says otherwise."""
        return self._extract

    def prepare(self, answers: Sequence[Answer | Triple], extract: str | None = None) -> Prepared:
        """Find the tasks and engines of answers, and take the statements out of them.

        Raises:
            BadInput: as in `score`.
        """
        asked = [self._asked(each, extract) for each in answers]
        return Prepared(asked, [shown_text(each.statements) if each.statements else None for each in asked])

    def _asked(self, answer: Answer | Triple, extract: str | None) -> _Asked:
        if isinstance(answer, Triple):
            raise BadInput("tasks have their own databases and test cases; name a task as the question")
        where = f"task {answer.question}"
        engine, task = self._found(str(answer.question), answer.dialect)
        policy = one_of(self.policies, "extract", extract or self._extract)
        if isinstance(answer.sql, list | tuple):
            for each in answer.sql:
                check_text(where, "statement", each)
            return _Asked(engine, task, task.family.statements([*answer.sql]))
        text = check_text(where, "answer", answer.sql)
        if policy == Extract.NONE:
            return _Asked(engine, task, task.family.statements(text))
        return _Asked(engine, task, statements_in(text, task.family, TaskExtract(policy), where))

    def _found(self, name: str, dialect: EngineName | None) -> tuple[str, Task]:
        """Return the engine and the task that are named.

        Raises:
            BadInput: there is no such task or engine, or one of several has to be named.
        """
        where, engines = f"task {name}", ", ".join(self._sets)
        if dialect is None and len(self._sets) > 1:
            raise BadInput(f"{where}: no dialect given; choose from {engines}")
        engine = dialect or next(iter(self._sets))
        if engine not in self._sets:
            raise BadInput(f"{where}: no tasks are judged on {engine!r}; choose from {engines}")
        task = self._tasks[engine].get(name)
        if task is None:
            raise BadInput(f"{where}: the set has none of this name; it has {len(self._tasks[engine]):,}")
        return engine, task

    def _start(self, prepared: Prepared, deadline: float | None) -> Batch:
        asked: Sequence[_Asked] = prepared.asked
        until = None if deadline is None else time.monotonic() + deadline
        judging: dict[Future[Judgement], Future[TaskResult]] = {}
        found: dict[object, Future[Judgement]] = {}
        for each in asked:
            if each.key not in found:
                judged: Future[Judgement] = Future()
                judged.set_running_or_notify_cancel()
                found[each.key] = judged
                result = self._begun(each)
                judging[judged] = result
                result.add_done_callback(partial(_finish, judged))

        def stop(late: set[Future[Judgement]], why: str) -> None:
            del why
            for future in late:
                judging[future].cancel()

        return Batch([found[each.key] for each in asked], [_ZERO] * len(asked), deadline, until, stop)

    def _begun(self, asked: _Asked) -> Future[TaskResult]:
        """Look an answer up, or begin to judge it."""
        engine = self._engine(asked.engine)
        result = None if engine.cache is None else engine.cache.find(asked.task, asked.statements)
        with self._lock:
            self._cached += result is not None
            self._judged += result is None
        if result is None:
            judging = engine.judge.submit(asked.task, asked.statements)
            if engine.cache is not None:
                judging.add_done_callback(partial(_keep, engine.cache, asked))
            return judging
        known: Future[TaskResult] = Future()
        known.set_result(result)
        return known

    def _engine(self, name: str) -> _Engine:
        with self._lock:
            if self._engines is None:
                raise BadInput("this evaluator is closed; create another one")
            if name not in self._engines:
                tasks, server = self._sets[name], self._servers[name]
                cache = None
                if self._caches:
                    store = self._stack.enter_context(Store(default_path(), allowed_bytes()))
                    cache = VerdictCache(tasks, engine_facts(server)[1], store)
                judge = self._stack.enter_context(TaskJudge(tasks, self._workers, server))
                self._engines[name] = _Engine(judge, cache)
            return self._engines[name]

    @property
    def _executed(self) -> tuple[int, int]:
        return self._cached, self._judged

    def close(self) -> None:
        """Stop its workers; answers that other threads wait for become harness errors."""
        with self._lock:
            self._engines = None
        self._stack.close()

    def __repr__(self) -> str:
        some = "; ".join(f"{name}: {len(tasks)} tasks" for name, tasks in self._tasks.items())
        return f"<TaskEvaluator {some}; extract {self._extract}; {self.statistics}>"


def _keep(cache: VerdictCache, asked: _Asked, done: Future[TaskResult]) -> None:
    if not done.cancelled() and done.exception() is None:
        cache.keep(done.result(), asked.statements)


def _finish(judged: Future[Judgement], done: Future[TaskResult]) -> None:
    """Give a judgement to who waits for it."""
    fault = "it was not judged: the evaluator was closed" if done.cancelled() else done.exception()
    if fault is not None:
        judged.set_result(Judgement(Outcome.HARNESS_ERROR, _ZERO, error=str(fault)))
    else:
        judged.set_result(judgement_of(done.result()))


def sample_evaluator(
    set_name: str,
    *,
    dialects: str | Sequence[str] = (Dialect.SQLITE,),
    workers: int | None = None,
    extract: str = Extract.NONE,
    cache: bool = True,
    **others: Any,
) -> TaskEvaluator:
    """Return an evaluator of the project's own tasks, with the options of `harness.Evaluator`.

    Raises:
        BadInput: an option has no meaning for tasks, or none are judged on an engine.
        EngineUnavailable: a server is not up.
    """
    _check_meaning(set_name, others)
    families = sample_families()
    named = [each.strip() for each in dialects.split(",")] if isinstance(dialects, str) else [*dialects]
    for each in named:
        if dialect_of(one_of(kinds_by_name(), "dialects", each)) not in families:
            raise BadInput(f"dialects: {set_name} is judged on {', '.join(families)}; choose from these")
    sets = [sample_tasks(families[dialect_of(each)]) for each in dict.fromkeys(named)]
    return TaskEvaluator(sets, workers=workers, extract=extract, cache=cache)


def file_evaluator(  # noqa: PLR0913 - the options of an evaluator
    set_name: str,
    *,
    family: str,
    phase: str | None = None,
    databases: Path | str | None = None,
    gold: Path | str | None = None,
    dialects: str | Sequence[str] | None = None,
    workers: int | None = None,
    extract: str = Extract.NONE,
    cache: bool = True,
    say: Callable[[str], None] | None = None,
    **others: Any,
) -> TaskEvaluator:
    """Return an evaluator of a file of tasks, with the options of `harness.Evaluator`.

    Args:
        set_name: the path of the file.
        family: the script family that judges them.
        phase: one of `Phase`, the first by default.
        databases: the folder of their databases.
        gold: the file with what their authors send by mail.
        dialects: None, or the family's.
        workers: as of `TaskEvaluator`.
        extract: the same.
        cache: the same.
        say: called with one line at a time about what is missing.
        others: mean nothing for tasks, and are at their defaults.

    Raises:
        BadInput: the file or its databases are wrong, or an option has no meaning for tasks.
        EngineUnavailable: the server is not up.
    """
    _check_meaning(set_name, others)
    place = None if databases is None else Path(databases)
    part = Phase(one_of(list(Phase), "phase", phase or Phase.FIRST))
    tasks = read_tasks(Path(set_name), family, place, None if gold is None else Path(gold), part)
    own = str(tasks.family.dialect)
    if dialects not in (None, own, [own]):
        raise BadInput(f"dialects: tasks of {family} are judged on {own}; leave it out")
    if say is not None:
        for note in tasks.notes:
            say(note)
    check_databases(tasks)
    return TaskEvaluator([tasks], workers=workers, extract=extract, cache=cache)


def _check_meaning(set_name: str, others: Mapping[str, Any]) -> None:
    """Refuse options of `harness.Evaluator` that mean nothing for tasks.

    Raises:
        BadInput: one is not at its default.
    """
    usual = signature(Evaluator).parameters
    for name, value in others.items():
        given, default = ([*value] if isinstance(value, list | tuple) else value), usual[name].default
        if name != "say" and given not in (default, _joined(default)):
            raise BadInput(f"{name}: means nothing for tasks of {set_name}; leave it out")


def _joined(value: Any) -> Any:
    """Return several words as one with commas."""
    return ",".join(value) if isinstance(value, list | tuple) else value

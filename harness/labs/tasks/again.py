"""Judge a run of tasks again from its answers, as whoever verifies a bundle does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.outcomes import PairResult
from harness.engines import EngineName, in_order
from harness.labs.tasks.evaluation import judged_tasks
from harness.labs.tasks.layouts import Phase, TaskAnswers, TaskSet, read_tasks
from harness.labs.tasks.outcomes import FILE, TaskRequest, outcomes_of, read_statements
from harness.labs.tasks.sample import SET_NAME, sample_families, sample_tasks
from harness.runs.reader import Run, key_of
from harness.runs.summary import Key
from harness.session.request import Request, check_range
from loaders.base.files import refuse
from loaders.base.processes import processors
from loaders.base.records import to_record


@dataclass(frozen=True)
class _Facts:
    """What of a run's manifest decides verdicts."""

    families: Mapping[str, str]
    phase: Phase


Answers = Mapping[Key, Sequence[str] | None]


def answers_in(run: Run) -> Answers:
    """Return the statements of each answer of a run, None for one that is missing.

    Raises:
        BadInput: it is of golds alone, or has no statements.
    """
    if not run.manifest.get("predictions"):
        refuse(run.folder, "is of golds alone", "name a run of answers")
    found = read_statements(run.folder / FILE)
    return {key: found[key] for key in map(key_of, run.results)}


def judged_again(
    request: Request, databases: Path | None, facts: Mapping[str, Any], answers: Answers, *, is_whole: bool
) -> tuple[dict[str, Any], list[PairResult]]:
    """Judge answers without the cache; return the manifest and the results of their run.

    Args:
        request: its set is the name of the sample or a file of tasks, whose ground truth is its gold; its
            workers hold, too.
        databases: the folder of the databases of such a file.
        facts: the script family of each engine, and the phase.
        answers: what to judge.
        is_whole: whether they are to all tasks of the set.

    Raises:
        BadInput: the set, its databases or an answer is wrong, or an option has no meaning.
        EngineUnavailable: a server is not up, or failed.
    """
    check_range("workers", request.workers, unit="processes")
    try:
        known = to_record(_Facts, facts)
    except ValueError as fault:
        raise BadInput(f"the run's families or phase are damaged: {fault}; get it again") from None
    workers = request.workers or processors()
    asked, judged, whole = {question for *_, question in answers}, [], 0
    for dialect in in_order({dialect for dialect, *_ in answers}):
        tasks = _tasks(request, databases, known, dialect)
        whole = len(tasks.tasks)
        if not is_whole:
            tasks = replace(tasks, tasks=[task for task in tasks.tasks if task.id in asked])
        given: dict[str, dict[str, Sequence[str]]] = {}
        for (engine, predictor, question), statements in answers.items():
            own = given.setdefault(predictor, {}) if engine == dialect else {}
            if statements is not None:
                own[question] = statements
        predictors = [TaskAnswers(name, own) for name, own in given.items()]
        judged.append(judged_tasks(tasks, predictors, workers))
    run = TaskRequest(
        set_name=request.set_name, extract=Extract.NONE, workers=workers, phase=known.phase, set_tasks=whole
    )
    manifest, _, results = outcomes_of(judged, run)
    return manifest, results


def _tasks(request: Request, databases: Path | None, facts: _Facts, dialect: EngineName) -> TaskSet:
    """Read the tasks that the answers are to.

    Raises:
        BadInput: they cannot be read, or an option is missing or has no meaning.
    """
    family = facts.families.get(dialect, "none")
    own = {str(of): name for of, name in sample_families().items()}
    if request.set_name == SET_NAME:
        if databases is not None or request.golds:
            raise BadInput(f"--databases, --gold: mean nothing for {SET_NAME}; leave them out")
        if own.get(dialect) != family:
            raise BadInput(f"{SET_NAME}: is not judged by the scripts of {family}; name its file with --set")
        return sample_tasks(own[dialect])
    truth = Path(request.golds[0]) if request.golds else None
    return read_tasks(Path(request.set_name), family, databases, truth, facts.phase)

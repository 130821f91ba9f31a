"""One evaluation of tasks: judge all answers, print the tables, and keep results and tables in a folder."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from sqlite3 import sqlite_version

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness import provision
from harness.cli.console import give_json, messages, say
from harness.data.answers import Extract
from harness.engines import dialect_of, on_server
from harness.labs.tasks.cache import VerdictCache, to_judge
from harness.labs.tasks.engine import engine_of
from harness.labs.tasks.judging import GOLD, TaskResult, answered, judge
from harness.labs.tasks.layouts import TaskAnswers, TaskSet, read_answers
from harness.labs.tasks.outcomes import FILE, JudgedTasks, TaskRequest, as_record, read_verdicts, write_run
from harness.labs.tasks.report import task_tables
from harness.labs.tasks.responses import TaskExtract
from harness.labs.tasks.sample import SET_NAME, sample_answers, sample_families, sample_tasks
from harness.report.console import console_text, print_grids
from harness.report.files import reports_fault
from harness.report.table_model import TableModel
from harness.session.request import Request, check_range, refuse_meaningless, refuse_unwritable
from loaders.base.errors import EngineUnavailable, terminable, to_start
from loaders.base.files import as_json
from loaders.base.files import replace as replace_file
from loaders.base.processes import processors
from loaders.base.store import Store, allowed_bytes, default_path
from loaders.server import Server

TABLES = "tables.txt"
"""The tables of a run as they were printed, with published rates and rewards if they were asked for."""


def check_answers(tasks: TaskSet, predictors: Sequence[TaskAnswers]) -> None:
    """Say which answers or solutions are missing, and which answers are to no task.

    Raises:
        BadInput: two predictors have one name, or gold's, or all answers of one are to other tasks.
    """
    for note in tasks.notes:
        say(note)
    names = [one.predictor for one in predictors]
    if twice := sorted({name for name in names if names.count(name) > 1 or name == GOLD}):
        raise BadInput(f"--answers: several are called {twice[0]!r}, or it is gold's name; rename the file")
    for one in predictors:
        if one.unknown and len(one.unknown) == len(one.answers):
            raise BadInput(
                f"{one.path or one.predictor}: no answer is to a task of {tasks.path}, as the first, to"
                f" {one.unknown[0]!r}; check which set the answers are for"
            )
        lacking = len({task.id for task in tasks.tasks} - one.answers.keys())
        if lacking:
            say(f"{one.predictor}: {lacking} tasks have no answer, which counts as an empty one")
        if one.unknown:
            say(
                f"{one.predictor}: {len(one.unknown)} answers are to no task of {tasks.path}:"
                f" {one.unknown[0]}, ..."
            )


def check_databases(tasks: TaskSet) -> None:
    """Find the files of all databases.

    Raises:
        BadInput: some are missing or damaged; the message names a task that needs them.
    """
    for name, task in {task.database: task for task in reversed(tasks.tasks)}.items():
        try:
            engine_of(tasks.family).sources(tasks.databases, name)
        except BadInput as error:
            raise BadInput(f"{error} ({tasks.path}: task {task.id})") from error


def server_of(tasks: TaskSet) -> Server | None:
    """Return the server that the family's engine needs; None if it needs none.

    Raises:
        EngineUnavailable: it is not up.
    """
    if not engine_of(tasks.family).has_server:
        return None
    dialect = tasks.family.dialect
    if (server := provision.find(dialect)) is None:
        raise EngineUnavailable(f"{dialect}: no server is up; {to_start()}")
    return server


def engine_facts(server: Server | None) -> tuple[str, str]:
    """Return the version of an engine, and that with what decides a result on a server of one's own."""
    version = sqlite_version if server is None else on_server(server).version()
    return version, as_json([version, {} if server is None else on_server(server).settings()])


def judged_tasks(
    tasks: TaskSet,
    answers: Sequence[TaskAnswers],
    workers: int,
    store: Store | None = None,
    *,
    is_silent: bool = False,
) -> JudgedTasks:
    """Judge golds and answers, unless their verdicts are known, and show on the terminal how far it is.

    Raises:
        BadInput: a database is missing, or names of predictors are ambiguous.
        EngineUnavailable: the server is not up, or failed.
    """
    check_answers(tasks, answers)
    check_databases(tasks)
    server = server_of(tasks)
    version, facts = engine_facts(server)
    cache = None if store is None else VerdictCache(tasks, facts, store)
    known = {} if cache is None else cache.known(answers)
    left, unknown = to_judge(tasks, answers, known)
    found: dict[tuple[str, str], TaskResult] = {}
    total, of = len(left.tasks) * (1 + len(answers)), answered(tasks, answers)
    with terminable(), nullcontext() if is_silent else messages.status("judging") as status:
        for result in judge(left, unknown, workers, server) if left.tasks else ():
            found[result.predictor, result.task] = result
            if cache is not None and (result.predictor, result.task) not in known:
                cache.keep(result, of[result.predictor].get(result.task))
            if status is not None:
                status.update(f"{tasks.family.dialect}: {len(found):,} of {total:,} verdicts")
    found |= known
    names = [GOLD, *(one.predictor for one in answers)]
    results = [found[name, task.id] for task in tasks.tasks for name in names]
    return JudgedTasks(tasks, answers, results, version)


def give(
    judged: Sequence[JudgedTasks],
    out: Path,
    request: TaskRequest,
    more: Sequence[TableModel] = (),
    *,
    as_json: bool = False,
) -> None:
    """Write a run and its reports; print the tables with more of them, or all results as JSON.

    Raises:
        BadInput: they cannot be written.
    """
    folder = write_run(out, judged, request)
    grids = [*task_tables({one.family: one.results for one in judged}), *more]
    replace_file(folder / TABLES, console_text(grids))
    if as_json:
        give_json(
            {
                "run_id": folder.name,
                "families": [one.family for one in judged],
                "results": [as_record(result, one.family) for one in judged for result in one.results],
            }
        )
    else:
        print_grids(grids)
    if (fault := reports_fault(folder)) is not None:
        say(fault)
    say(f"results: {folder}")


def first_phase(path: Path) -> Mapping[str, Mapping[str, bool]]:
    """Read what passed officially in a first phase, by predictor and task.

    Args:
        path: its run folder, or the file of verdicts in it.

    Raises:
        BadInput: the file cannot be read, or is none of these.
    """
    found: dict[str, dict[str, bool]] = {}
    for results in read_verdicts(path / FILE if path.is_dir() else path).values():
        for one in results:
            found.setdefault(one.predictor, {})[one.task] = one.official.passes
    return found


_READ = (
    *("set_name", "predictions", "dialects", "extract", "workers", "limit", "out", "bird_home"),
    *("cache", "store"),
)
"""The fields of a request that mean something here."""


def evaluate_sample(request: Request, *, as_json: bool = False) -> int:
    """Judge answers to the project's own tasks on every engine that is asked for and has them.

    Args:
        request: of its fields, those of the set, the engines, the answers and their extraction, the number of
            workers and of tasks and the folder hold here.
        as_json: whether JSON is printed instead of tables.

    Raises:
        BadInput: an option has no meaning for tasks, or no engine is left.
        EngineUnavailable: a server that was asked for is not up.
    """
    _check(request)
    policy = TaskExtract.ANSWER_1 if request.extract is Extract.ANSWER_1 else TaskExtract.OFFICIAL
    families = sample_families()
    asked = request.dialects
    left_out = []
    if asked is not None:
        if not any(dialect_of(name) in families for name in asked):
            raise BadInput(f"--dialect: {SET_NAME} is judged on {', '.join(families)}; choose from these")
        left_out = [
            f"{name}: no tasks are judged on it" for name in asked if dialect_of(name) not in families
        ]
        families = {dialect: family for dialect, family in families.items() if dialect in asked}
    judged, whole = [], 0
    workers = request.workers or processors()
    store = Store(request.store or default_path(), allowed_bytes(), say) if request.cache else None
    for dialect, family in families.items():
        tasks = sample_tasks(family)
        whole = len(tasks.tasks)
        if request.limit is not None:
            tasks = replace(tasks, tasks=tasks.tasks[: request.limit])
        if asked is None and engine_of(tasks.family).has_server and provision.find(dialect) is None:
            left_out.append(f"{dialect}: no server is up; {to_start()}")
            continue
        files = (
            _answer_files(request.predictions, dialect) if request.predictions else sample_answers(dialect)
        )
        answers = [read_answers(path, tasks, policy) for path in files]
        judged.append(judged_tasks(tasks, answers, workers, store, is_silent=as_json))
    for line in left_out:
        say(f"left out: {line}")
    run = TaskRequest(
        set_name=SET_NAME,
        extract=policy,
        workers=workers,
        command=request.command,
        set_tasks=whole,
        left_out=left_out,
    )
    if store is not None:
        store.close()
    give(judged, request.out, run, as_json=as_json)
    return 0


def _check(request: Request) -> None:
    """Reject what means nothing for tasks.

    Raises:
        BadInput: an option has no meaning, or a value is wrong.
    """
    refuse_meaningless(request, _READ, SET_NAME)
    if request.extract is Extract.FENCES:
        raise BadInput(f"--extract fences: is no rule for tasks of {SET_NAME}; use answer-1, or leave it out")
    check_range("workers", request.workers, unit="processes")
    check_range("limit", request.limit)
    refuse_unwritable("--out", request.out)


def _answer_files(paths: Sequence[Path], dialect: Dialect) -> list[Path]:
    """Return the files of answers on an engine; of a folder all, or all of its folder for the engine."""
    own = [path / dialect if (path / dialect).is_dir() else path for path in paths]
    return [each for path in own for each in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]

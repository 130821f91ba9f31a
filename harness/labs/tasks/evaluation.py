"""One evaluation of tasks: judge all answers, print the tables, and keep results and tables in a folder."""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path

from dialects.errors import BadInput
from harness import provision
from harness.cli.console import give_json, messages, say
from harness.data.answers import Extract
from harness.engines import dialect_of
from harness.labs.tasks.engine import engine_of
from harness.labs.tasks.judging import GOLD, TaskResult, judge
from harness.labs.tasks.layouts import TaskAnswers, TaskSet, read_answers
from harness.labs.tasks.report import as_record, task_tables
from harness.labs.tasks.responses import TaskExtract
from harness.labs.tasks.sample import SET_NAME, sample_answers, sample_families, sample_tasks
from harness.report.console import console_text, print_grids
from harness.report.table_model import TableModel
from harness.session.options import OPTIONS
from harness.session.request import Request, check_range, refuse_unwritable
from loaders.base.errors import EngineUnavailable, terminable, to_start
from loaders.base.files import read_text
from loaders.base.files import replace as replace_file
from loaders.base.processes import processors
from loaders.server import Server

RESULTS = "results.jsonl"
TABLES = "tables.txt"

Judged = Mapping[str, Sequence[TaskResult]]
"""Results by script family."""


def check_answers(tasks: TaskSet, predictors: Sequence[TaskAnswers]) -> None:
    """Say which answers are missing, or are to no task.

    Raises:
        BadInput: two predictors have one name, or gold's.
    """
    names = [one.predictor for one in predictors]
    if twice := sorted({name for name in names if names.count(name) > 1 or name == GOLD}):
        raise BadInput(f"--answers: several are called {twice[0]!r}, or it is gold's name; rename the file")
    for one in predictors:
        lacking = len({task.id for task in tasks.tasks} - one.answers.keys())
        if lacking:
            say(f"{one.predictor}: {lacking} tasks have no answer, which counts as an empty one")
        if one.unknown:
            say(
                f"{one.predictor}: {len(one.unknown)} answers are to no task of {tasks.path}:"
                f" {one.unknown[0]}, ..."
            )


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


def results_of(
    tasks: TaskSet, predictors: Sequence[TaskAnswers], workers: int | None, *, is_silent: bool = False
) -> list[TaskResult]:
    """Judge golds and answers, and show on the terminal how far it is.

    Raises:
        BadInput: a database is missing, or names of predictors are ambiguous.
        EngineUnavailable: the server is not up, or failed.
    """
    check_answers(tasks, predictors)
    server = server_of(tasks)
    results: list[TaskResult] = []
    total = len(tasks.tasks) * (1 + len(predictors))
    with terminable(), nullcontext() if is_silent else messages.status("judging") as status:
        for result in judge(tasks, predictors, workers or processors(), server):
            results.append(result)
            if status is not None:
                status.update(f"{tasks.family.dialect}: {len(results):,} of {total:,} verdicts")
    return results


def give(judged: Judged, out: Path, more: Sequence[TableModel] = (), *, as_json: bool = False) -> None:
    """Print the tables with more of them, or all results as JSON, and write both to a folder."""
    grids = [*task_tables(judged), *more]
    records = [as_record(result, name) for name, results in judged.items() for result in results]
    out.mkdir(parents=True, exist_ok=True)
    replace_file(out / RESULTS, (json.dumps(record) + "\n" for record in records))
    replace_file(out / TABLES, console_text(grids))
    if as_json:
        give_json({"families": list(judged), "results": records})
    else:
        print_grids(grids)
    say(f"results: {out / RESULTS}")


def first_phase(path: Path) -> Mapping[str, Mapping[str, bool]]:
    """Read what passed officially in a first phase, by predictor and task, from its `results.jsonl`.

    Raises:
        BadInput: the file cannot be read, or is none of these.
    """
    found: dict[str, dict[str, bool]] = {}
    for number, line in enumerate(read_text(path).text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            passes = record["official"]["passes"]
            found.setdefault(str(record["predictor"]), {})[str(record["task"])] = bool(passes)
        except (ValueError, LookupError, TypeError) as error:
            raise BadInput(f"{path}:{number}: is no result of `lab tasks`; name its {RESULTS}") from error
    return found


_READ = ("set_name", "predictions", "dialects", "extract", "workers", "limit", "out", "bird_home")
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
    out = request.out / SET_NAME
    families = sample_families()
    asked = request.dialects
    if asked is not None:
        if not any(dialect_of(name) in families for name in asked):
            raise BadInput(f"--dialect: {SET_NAME} is judged on {', '.join(families)}; choose from these")
        for name in asked:
            if dialect_of(name) not in families:
                say(f"{name}: no tasks are judged on it, so it is left out")
        families = {dialect: family for dialect, family in families.items() if dialect in asked}
    judged = {}
    for dialect, family in families.items():
        tasks = sample_tasks(family)
        if request.limit is not None:
            tasks = replace(tasks, tasks=tasks.tasks[: request.limit])
        if asked is None and engine_of(tasks.family).has_server and provision.find(dialect) is None:
            say(f"{dialect}: no server is up, so it is left out; {to_start()}")
            continue
        files = _answer_files(request.predictions) if request.predictions else sample_answers(dialect)
        judged[family] = results_of(
            tasks, [read_answers(path, tasks, policy) for path in files], request.workers, is_silent=as_json
        )
    give(judged, out, as_json=as_json)
    return 0


def _check(request: Request) -> None:
    """Reject what means nothing for tasks.

    Raises:
        BadInput: an option has no meaning, or a value is wrong.
    """
    usual = Request()
    for one in fields(request):
        given, default = getattr(request, one.name), getattr(usual, one.name)
        if one.name not in _READ and given != default and given != list(default or ()):
            raise BadInput(f"--{OPTIONS[one.name].flag}: means nothing for tasks of {SET_NAME}; leave it out")
    if request.extract is Extract.FENCES:
        raise BadInput(f"--extract fences: is no rule for tasks of {SET_NAME}; use answer-1, or leave it out")
    check_range("workers", request.workers, unit="processes")
    check_range("limit", request.limit)
    refuse_unwritable("--out", request.out)


def _answer_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files of answers, those in folders in the order of their names."""
    return [each for path in paths for each in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]

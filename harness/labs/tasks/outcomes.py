"""Results of tasks as a run: the outcomes in its folder, the verdicts in full, and tables of its report.

The run folder of questions holds tasks, too: a task is a question, an answer a prediction, and the three
verdicts are metrics. What a pair has no room for, each verdict's words and what differs in the database, is
in a file of the lab's own, with the golds as answers.
"""

import dataclasses
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.outcomes import GoldOrigin, Judgement, Outcome, PairResult
from harness.data.questions import Level, Question
from harness.engines import EngineName
from harness.labs.tasks import VERDICTS
from harness.labs.tasks.engine import engine_of
from harness.labs.tasks.families import FAMILIES, TaskCategory
from harness.labs.tasks.judging import GOLD, STATEMENT_SECONDS, TaskResult, answered
from harness.labs.tasks.layouts import Task, TaskAnswers, TaskSet
from harness.labs.tasks.official import OfficialStatus
from harness.labs.tasks.report import task_tables
from harness.report.table_model import TableModel
from harness.runs.folder import RunFolder
from harness.runs.reader import AGAIN, Run
from harness.runs.summary import Extent, Key
from loaders.base.digests import digests
from loaders.base.files import as_json, replace
from loaders.base.records import read_records, to_record

FILE = "verdicts.jsonl"
"""The results of a run's tasks, with those of golds: a line for each answer."""

UNRATED = "unrated"
"""The difficulty of tasks that have none."""

_TIERS = ("Simple", "Moderate", "Challenging")
"""The tiers of the family's sets, in their order; others follow in alphabetical order."""

_OUTCOMES: Mapping[OfficialStatus, Outcome] = {
    OfficialStatus.PASSED: Outcome.MATCH,
    OfficialStatus.EXECUTION_ERROR: Outcome.PREDICTION_ERROR,
    OfficialStatus.TIMEOUT: Outcome.PREDICTION_TIMEOUT,
    OfficialStatus.ASSERTION_ERROR: Outcome.MISMATCH,
    OfficialStatus.ISSUE_PASSES: Outcome.MISMATCH,
}


@dataclass(frozen=True)
class JudgedTasks:
    """The tasks of one script family, the answers to them, and the results of both golds and answers."""

    tasks: TaskSet
    answers: Sequence[TaskAnswers]
    results: Sequence[TaskResult]
    version: str = ""
    """Of the engine."""

    @property
    def family(self) -> str:
        """The name of the script family."""
        return self.tasks.family.name

    @property
    def dialect(self) -> Dialect:
        """The engine."""
        return self.tasks.family.dialect


@dataclass(frozen=True, kw_only=True)
class TaskRequest:
    """What a run of tasks was asked for, as its manifest says it.

    `set_tasks` is the number of tasks of the whole set, and `command` the words that repeat the run.
    """

    set_name: str
    extract: str
    workers: int
    command: Sequence[str] = ()
    phase: str = "first"
    set_tasks: int | None = None
    left_out: Sequence[str] = ()


def write_run(parent: Path, judged: Sequence[JudgedTasks], request: TaskRequest) -> Path:
    """Write the folder of a run of tasks, and point `latest` to it; return the folder.

    Raises:
        BadInput: it cannot be written.
    """
    manifest, questions, results = outcomes_of(judged, request)
    folder = RunFolder(parent, manifest, VERDICTS, questions)
    with folder:
        replace(folder.path / FILE, (json.dumps(record) + "\n" for record in _records(judged)))
        for result in results:
            folder.add(result)
        folder.finish()
    return folder.path


def outcomes_of(
    judged: Sequence[JudgedTasks], request: TaskRequest
) -> tuple[dict[str, Any], list[Question], list[PairResult]]:
    """Return the manifest of a run of tasks, its questions, and the outcome of each pair."""
    questions = questions_of([one.tasks for one in judged])
    levels = tuple(dict.fromkeys(scale for each in questions for scale in _scale(each.difficulty)))
    results = [result for one in judged for result in _pair_results(one, levels)]
    extent = Extent(
        {
            (name, one.dialect): len(one.tasks.tasks)
            for one in judged
            for name in dict.fromkeys(result.predictor for result in results if result.dialect == one.dialect)
        },
        len(questions),
        request.set_tasks or len(questions),
    )
    manifest = _manifest(judged, request, questions, levels) | {"planned": extent.to_json()}
    return manifest, questions, results


def _records(judged: Sequence[JudgedTasks]) -> Iterator[dict[str, Any]]:
    """Yield the lines of the lab's file: each result, with the statements of the answer."""
    for one in judged:
        texts = answered(one.tasks, one.answers)
        for result in one.results:
            answer = texts[result.predictor].get(result.task)
            yield as_record(result, one.family) | {"answer": None if answer is None else list(answer)}


def _manifest(
    judged: Sequence[JudgedTasks], request: TaskRequest, questions: Sequence[Question], levels: Sequence[str]
) -> dict[str, Any]:
    asked = as_json([request.phase, *sorted([each.key, each.db_id] for each in questions)])
    paths = [path for one in judged for path in (one.tasks.path, one.tasks.ground_truth) if path is not None]
    files = {path.name: digest for path, digest in digests(paths).items()}
    return {
        "command": list(request.command),
        "set": request.set_name,
        # The same tasks on another engine are the same collection, so that the two can be compared.
        "collection": f"{request.set_name}_{_sha256(asked)[:8]}",
        "questions": len(questions),
        "levels": list(levels),
        "types": list(TaskCategory),
        "set_files": files,
        "databases": {name: digest for one in judged for name, digest in _databases(one).items()},
        "families": {one.dialect: one.family for one in judged},
        "phase": request.phase,
        "metrics": list(VERDICTS),
        "variants": None,
        "limits": {"seconds": STATEMENT_SECONDS},
        "workers": request.workers,
        "extract": request.extract,
        "allow_missing": True,
        "predictions": [
            {
                "file": answers.path.name,
                "sha256": digests([answers.path])[answers.path],
                "predictor": answers.predictor,
                "dialect": one.dialect,
            }
            for one in judged
            for answers in one.answers
            if answers.path is not None
        ],
        "engines": {one.dialect: {"version": one.version, "settings": {}} for one in judged},
        "left_out": list(request.left_out),
    }


def _databases(judged: JudgedTasks) -> dict[str, str | None]:
    """Return a digest of what each database holds, None where its files cannot be read."""
    tasks, engine = judged.tasks, engine_of(judged.tasks.family)
    found: dict[str, str | None] = {}
    for name in sorted({task.database for task in tasks.tasks}):
        own: str | None = None
        with suppress(BadInput, sqlite3.Error):
            if engine.contents is None:
                own = as_json([*digests(engine.sources(tasks.databases, name)).values()])
            else:
                own = engine.contents(tasks.databases, name)
        found[f"{judged.dialect}/{name}"] = None if own is None else _sha256(own)
    return found


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def questions_of(sets: Sequence[TaskSet]) -> list[Question]:
    """Return each task once, with its golds on all engines."""
    found: dict[str, list[Task]] = {}
    for one in sets:
        for task in one.tasks:
            found.setdefault(task.id, []).append(task)
    levels = _levels(task for each in found.values() for task in each)
    return [
        Question(
            key=name,
            question_id=name,
            db_id=task.database,
            text=str(task.record.get("query", task.record.get("amb_user_query", ""))),
            evidence="",
            difficulty=Level(task.difficulty or UNRATED, levels),
            gold={own.family.dialect: shown_text(own.gold) for own in (task, *others)},
            own_types=(Level(task.category, tuple(TaskCategory)),),
        )
        for name, (task, *others) in found.items()
    ]


def _levels(tasks: Iterator[Task]) -> tuple[str, ...]:
    there = {task.difficulty or UNRATED for task in tasks}
    return (*(tier for tier in _TIERS if tier in there), *sorted(there - {*_TIERS}))


def _scale(difficulty: str) -> Sequence[str]:
    return difficulty.scale if isinstance(difficulty, Level) else (difficulty,)


def _pair_results(judged: JudgedTasks, levels: Sequence[str]) -> Iterator[PairResult]:
    """Yield the outcome of each answer; those of golds if nothing else was judged."""
    texts = answered(judged.tasks, judged.answers)
    for one in judged.results:
        if one.predictor == GOLD and judged.answers:
            continue
        yield pair_result(one, judged.dialect, texts[one.predictor].get(one.task), levels)


def pair_result(
    result: TaskResult, dialect: EngineName, answer: Sequence[str] | None, levels: Sequence[str]
) -> PairResult:
    """Return a result as the outcome of a pair."""
    judged = judgement_of(result, is_missing=answer is None)
    return PairResult(
        **vars(judged),
        dialect=dialect,
        predictor=result.predictor,
        question=result.task,
        question_id=result.task,
        db_id=result.database,
        difficulty=Level(result.difficulty or UNRATED, levels),
        gold_origin=GoldOrigin.DATASET,
        sql=None if answer is None else shown_text(answer),
    )


def judgement_of(result: TaskResult, *, is_missing: bool = False) -> Judgement:
    """Return a result as a judgement: the official verdict's outcome, with the verdicts as scores.

    A verdict that decides nothing has no score.
    """
    verdicts = (result.official.passes, result.strict.passes, result.state)
    said = [result.official.message] if not result.official.passes else []
    said += [result.strict.message] if result.strict.passes is False else []
    said += [f"other than after gold: {', '.join(result.changed)}"] if result.state is False else []
    is_missing = is_missing and not result.official.passes
    return Judgement(
        outcome=Outcome.MISSING if is_missing else _OUTCOMES[result.official.status],
        scores={
            name: float(passes) for name, passes in zip(VERDICTS, verdicts, strict=True) if passes is not None
        },
        error=next(filter(None, said), None),
    )


def shown_text(statements: Sequence[str]) -> str:
    """Return statements as one text, each but the last with a semicolon at its end."""
    *firsts, last = statements or ("",)
    return "\n".join([*(f"{each.rstrip().removesuffix(';')};" for each in firsts), last])


def as_record(result: TaskResult, family: str) -> dict[str, Any]:
    """Return the line of a result."""
    found = {"family": family, **asdict(result)}
    found["official"]["passes"], found["strict"]["passes"] = result.official.passes, result.strict.passes
    return found


def read_verdicts(path: Path) -> Mapping[str, Sequence[TaskResult]]:
    """Read the results in the lab's file of a run, by script family.

    Raises:
        BadInput: the file cannot be read, or a line is no result.
    """
    found: dict[str, list[TaskResult]] = {}
    for family, result in read_records(path, result_in, AGAIN):
        found.setdefault(family, []).append(result)
    return found


def result_in(record: Any) -> tuple[str, TaskResult]:
    """Read what `as_record` makes: the script family, and the result.

    Raises:
        BadInput, ValueError: it is no result.
    """
    given = to_record(dict[str, Any], record)
    for name in ("official", "strict"):
        verdict = to_record(dict[str, Any], given.get(name))
        given = {**given, name: {key: verdict[key] for key in verdict if key != "passes"}}
    given.pop("answer", None)
    family, result = str(given.pop("family", "")), to_record(TaskResult, given)
    return family, dataclasses.replace(result, changed=tuple(result.changed))


def read_statements(path: Path) -> Mapping[Key, Sequence[str] | None]:
    """Return the statements of each answer in the lab's file of a run, None for one that is missing.

    Raises:
        BadInput: the file cannot be read, or was written without them.
    """

    def read(record: Any) -> tuple[Key, Sequence[str] | None]:
        given = to_record(dict[str, Any], record)
        family, result = result_in(given)
        if "answer" not in given:
            raise BadInput("it has no statements")
        answer = None if given["answer"] is None else to_record(list[str], given["answer"])
        return (FAMILIES[family].dialect, result.predictor, result.task), answer

    return dict(read_records(path, read, AGAIN))


def run_tables(run: Run) -> list[TableModel]:
    """Return the tables that a report of a run of tasks has after its own; none of other runs."""
    path = run.folder / FILE
    return task_tables(read_verdicts(path)) if path.exists() else []

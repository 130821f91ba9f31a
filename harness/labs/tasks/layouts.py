"""Read task sets: JSON lines of tasks, ground truth that comes by mail, answers, and databases on disk."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from harness.data.responses import Response, SeveralAnswers, read_response
from harness.labs.tasks.families import FAMILIES, ScriptFamily, TaskCategory
from harness.labs.tasks.responses import TaskExtract, own_statements
from loaders.base.errors import brief
from loaders.base.files import Faults, is_text, json_type, read_text, refuse

GROUND_TRUTH = ("sol_sql", "test_cases", "external_knowledge")
"""The fields that public files leave empty, and that come by mail."""

SCHEMAS = ("preprocess_schema", "original_schema")
"""The fields of BIRD-CRITIC's file of schemas."""


class Phase(StrEnum):
    """The part of a task that is judged. Only BIRD-Interact's tasks have a second one."""

    FIRST = "first"
    FOLLOW_UP = "follow-up"


@dataclass(frozen=True)
class Task:
    """One task: what the scripts of its family read of its record.

    `phase_conditions` are those of a second phase, for which the scripts take the first's.
    """

    record: Mapping[str, Any] = field(repr=False)
    family: ScriptFamily = field(repr=False)
    phase_conditions: Mapping[str, Any] | None = field(default=None, repr=False)

    @cached_property
    def id(self) -> str:
        """Its id as text."""
        return str(self.record["instance_id"])

    @cached_property
    def database(self) -> str:
        """The name of its database."""
        return str(_database(self.record))

    @cached_property
    def category(self) -> TaskCategory:
        """Its category; a record without one is a query. In BIRD-Interact `_M_` in the id decides."""
        if self.family.calls_every_function:
            return TaskCategory.MANAGEMENT if "_M_" in self.id else TaskCategory.QUERY
        name = self.record.get("category", TaskCategory.QUERY)
        return TaskCategory(name) if name in list(TaskCategory) else TaskCategory.PERSONALIZATION

    @cached_property
    def difficulty(self) -> str | None:
        """Its tier, if it has one."""
        tier = self.record.get("difficulty_tier")
        return None if tier is None else str(tier)

    @cached_property
    def gold(self) -> Sequence[str]:
        """The statements of its solution."""
        return self.family.statements(self.record.get("sol_sql"))

    @cached_property
    def preprocess(self) -> Sequence[str]:
        """The statements before an answer."""
        return self.family.statements(self.record.get("preprocess_sql"))

    @cached_property
    def issue(self) -> Sequence[str]:
        """The user's faulty statements, BIRD-CRITIC's."""
        return self.family.statements(self.record.get("issue_sql", self.record.get("error_sql")))

    @cached_property
    def failing(self) -> Sequence[str]:
        """The statements that have to fail first, where the family has such: the scripts read one field."""
        has_phase = self.family.has_issue
        return self.family.statements(self.record.get("issue_sql")) if has_phase else ()

    @cached_property
    def test_cases(self) -> Sequence[str]:
        """The texts of its test cases; one text is one of them."""
        found = self.record.get("test_cases")
        if isinstance(found, str):
            return (found,) if found else ()
        return tuple(found) if isinstance(found, list | dict) else ()

    @cached_property
    def conditions(self) -> Mapping[str, Any]:
        """How rows are compared."""
        found = self.record.get("conditions")
        return found if isinstance(found, dict) else {}

    @property
    def given_conditions(self) -> Any:
        """What the record says of comparing rows, whatever it is: the scripts take it as it is."""
        return self.record.get("conditions", {})

    @property
    def own_conditions(self) -> Mapping[str, Any]:
        """How rows of this phase are to be compared."""
        return self.conditions if self.phase_conditions is None else self.phase_conditions

    @property
    def is_efficiency(self) -> bool:
        """True if its test compares costs."""
        return bool(self.record.get("efficiency"))


@dataclass(frozen=True)
class TaskSet:
    """The tasks of a file, all of one family, with the folder of their databases.

    `ground_truth` is the file that their solutions came with, if it is another. `notes` tell a user what is
    missing.
    """

    path: Path
    family: ScriptFamily
    tasks: Sequence[Task]
    databases: Path
    ground_truth: Path | None = None
    notes: Sequence[str] = ()
    name: str = ""

    @property
    def called(self) -> str:
        """Its name; that of the file, if it has none."""
        return self.name or self.path.stem


@dataclass(frozen=True)
class TaskAnswers:
    """The answers of one predictor, by id: lists of statements.

    `unknown` are ids that no task has. `path` is the file that they were read from.
    """

    predictor: str
    answers: Mapping[str, Sequence[str]]
    unknown: Sequence[str] = ()
    path: Path | None = None


def read_tasks(  # noqa: PLR0913 - the files, and what is read of them
    path: Path,
    family_name: str,
    databases: Path | None,
    ground_truth: Path | None = None,
    phase: Phase = Phase.FIRST,
    *,
    needs_gold: bool = True,
) -> TaskSet:
    """Read a file of tasks.

    Args:
        path: JSON lines.
        family_name: the script family that judges them.
        databases: the folder with a folder or a file for each database; None is an error.
        ground_truth: JSON lines by `instance_id` with the fields that the public file leaves empty, or with
            BIRD-CRITIC's schemas.
        phase: which part of the tasks; those without a second one are left out of it.
        needs_gold: True to judge answers.

    Raises:
        BadInput: a file cannot be read, a line is no task, two have one id, or one names no database; or all
            golds are missing, or of other tasks, or no task has the phase.
    """
    if family_name not in FAMILIES:
        raise BadInput(f"--family {family_name}: unknown; choose from {', '.join(FAMILIES)}")
    if databases is None:
        raise BadInput(f"{path}: name the folder of the databases of its tasks with --databases")
    family = FAMILIES[family_name]
    records = {name: record for _, name, record in _records(path)}
    faults = Faults(path, "task")
    for name, record in records.items():
        if not _is_name(_database(record)):
            remedy = "give the name of its database as selected_database, or db_id in BIRD-CRITIC"
            faults.add(name, "names no database", remedy)
    faults.stop()
    notes = [] if ground_truth is None else _merge(records, ground_truth, path)
    tasks = [Task(record, family) for record in records.values()]
    if phase is Phase.FOLLOW_UP:
        tasks = [_second(task) for task in tasks if _follow_up(task.record)]
        if not tasks:
            raise BadInput(f"{path}: no task has a follow-up; leave out --phase")
    if needs_gold and not any(task.gold for task in tasks):
        raise BadInput(
            f"{path}: no task has a solution: public files leave them out; ask its authors by mail, and name"
            " the file that they send with --ground-truth; with --gold where that is the option's name"
        )
    if needs_gold and (without := [task.id for task in tasks if not task.gold]):
        notes.append(
            f"{ground_truth or path}: has no solution of {_listed(without)}; no rate leaves them out"
        )
    return TaskSet(path, family, tasks, databases, ground_truth, notes)


def _merge(records: Mapping[str, dict[str, Any]], ground_truth: Path, path: Path) -> list[str]:
    """Copy what came by mail into the records of a file; return notes for the user.

    Raises:
        BadInput: it cannot be read, or is of another set.
    """
    mailed = {name: found for _, name, found in _records(ground_truth)}
    others = [name for name in mailed if name not in records]
    if len(others) == len(mailed):
        refuse(
            ground_truth, f"is of another set: none of its tasks is in {path}", "name what came for this set"
        )
    for name in mailed.keys() & records.keys():
        found = mailed[name]
        records[name] |= {key: found[key] for key in (*GROUND_TRUTH, *SCHEMAS) if key in found}
        if more := _follow_up(found):
            own = {key: more[key] for key in GROUND_TRUTH if key in more}
            records[name]["follow_up"] = {**_follow_up(records[name]), **own}
    return [f"{ground_truth}: left out what is of no task of {path}: {_listed(others)}"] if others else []


def _listed(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > _SHOWN else ""
    return f"{len(names)} tasks ({', '.join(map(brief, names[:_SHOWN]))}{more})"


_SHOWN = 5


def _database(record: Mapping[str, Any]) -> object:
    return record.get("selected_database") or record.get("db_id")


def _is_name(value: object) -> bool:
    """Return True for what can be the name of a file."""
    return is_text(value) and value not in {"", ".."} and value == Path(value).name


def _follow_up(record: Mapping[str, Any]) -> Mapping[str, Any]:
    found = record.get("follow_up")
    return found if isinstance(found, dict) else {}


def _second(task: Task) -> Task:
    """Return the second phase of a task: it begins where the gold of the first one has left the database."""
    record, more = task.record, _follow_up(task.record)
    read = task.family.statements
    clean_up = read(record.get("clean_up_sqls", record.get("clean_up_sql")))
    conditions = more.get("conditions")
    own = {
        "query": more.get("query"),
        "amb_user_query": more.get("query"),
        "sol_sql": more.get("sol_sql"),
        "test_cases": more.get("test_cases"),
        "external_knowledge": more.get("external_knowledge"),
        "preprocess_sql": [*task.preprocess, *task.gold, *clean_up],
        "clean_up_sqls": [],
    }
    return Task({**record, **own}, task.family, conditions if isinstance(conditions, dict) else None)


def _records(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield the number of each line, the id in it, and the record."""
    seen = set()
    for number, line in enumerate(read_text(path).text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{path}:{number}: is no JSON ({error}); give one object a line") from error
        found = record.get("instance_id") if isinstance(record, dict) else None
        if found == "" or not (is_text(found) or isinstance(found, int)):
            raise BadInput(f"{path}:{number}: has no instance_id; give one object a line with that field")
        name = str(found)
        if name in seen:
            raise BadInput(f"{path}:{number}: instance_id {brief(name)} stands there twice")
        seen.add(name)
        yield number, name, record


def read_answers(path: Path, tasks: TaskSet, policy: TaskExtract = TaskExtract.OFFICIAL) -> TaskAnswers:
    """Read the answers of a predictor, named for the file.

    They are JSON lines with `instance_id` and `pred_sqls`, or `predicted_sql` as LiveSQLBench-CLI writes it;
    or with a model's `response`, as a text or as its interface returned it.

    Args:
        path: the file.
        tasks: the tasks.
        policy: what takes statements out of responses.

    Raises:
        BadInput: the file cannot be read, a line has no answer or one that is no text, or no script takes
            one out.
    """
    known = {task.id for task in tasks.tasks}
    answers: dict[str, Sequence[str]] = {}
    faults = Faults(path, "line")
    for number, name, record in _records(path):
        given = next((key for key in ("pred_sqls", "predicted_sql", "response") if key in record), None)
        value = None if given is None else record[given]
        if given is None:
            faults.add(f"{number} ({name})", "has no pred_sqls and no response", _ANSWER)
        elif given == "response" and isinstance(value, str | list | dict | None):
            answers[name] = _taken_out(value, tasks.family, policy, f"{path}: {name}")
        elif isinstance(value, str | list | None):
            answers[name] = tasks.family.statements(value)
        else:
            faults.add(f"{number} ({name})", f"{given} is {json_type(value)}", _ANSWER)
    faults.stop()
    return TaskAnswers(path.stem, answers, sorted(answers.keys() - known), path)


_ANSWER = "give a list of statements, or one text; an empty list, or null, is no answer"


def _taken_out(value: Any, family: ScriptFamily, policy: TaskExtract, where: str) -> list[str]:
    try:
        found = Response(value) if isinstance(value, str) else read_response(value)
    except SeveralAnswers as error:
        raise BadInput(f"{where}: {error}; keep one") from error
    return statements_in((None if found is None else found.text) or "", family, policy, where)


def statements_in(text: str, family: ScriptFamily, policy: TaskExtract, where: str) -> list[str]:
    """Take the statements out of a model's response; `where` begins the message of an error.

    Raises:
        BadInput: no script of the family does.
    """
    if policy is TaskExtract.ANSWER_1:
        return own_statements(text, family.dialect)
    if family.extract is None:
        raise BadInput(
            f"{where}: no script of {family.name} takes statements out of responses; use --extract answer-1"
        )
    return family.extract(text)

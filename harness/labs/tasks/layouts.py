"""Read task sets: JSON lines of tasks, ground truth that comes by mail, answers, and databases on disk."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from harness.labs.tasks.families import FAMILIES, ScriptFamily, TaskCategory
from loaders.base.errors import brief
from loaders.base.files import read_text

GROUND_TRUTH = ("sol_sql", "test_cases", "external_knowledge")
"""The fields that public files leave empty, and that come by mail."""


@dataclass(frozen=True)
class Task:
    """One task: what the scripts of its family read of its record."""

    record: Mapping[str, Any] = field(repr=False)
    family: ScriptFamily = field(repr=False)

    @cached_property
    def id(self) -> str:
        """Its id as text."""
        return str(self.record["instance_id"])

    @cached_property
    def database(self) -> str:
        """The name of its database."""
        return str(self.record.get("selected_database", self.record.get("db_id", "")))

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
    def test_cases(self) -> Sequence[str]:
        """The texts of its test cases."""
        return tuple(self.record.get("test_cases") or ())

    @cached_property
    def conditions(self) -> Mapping[str, Any]:
        """How rows are compared."""
        found = self.record.get("conditions")
        return found if isinstance(found, dict) else {}

    @property
    def is_efficiency(self) -> bool:
        """True if its test compares costs."""
        return bool(self.record.get("efficiency"))


@dataclass(frozen=True)
class TaskSet:
    """The tasks of a file, all of one family, with the folder of their databases."""

    path: Path
    family: ScriptFamily
    tasks: Sequence[Task]
    databases: Path


@dataclass(frozen=True)
class TaskAnswers:
    """The answers of one predictor, by id: lists of statements. `unknown` are ids that no task has."""

    predictor: str
    answers: Mapping[str, Sequence[str]]
    unknown: Sequence[str] = ()


def read_tasks(path: Path, family_name: str, databases: Path, ground_truth: Path | None = None) -> TaskSet:
    """Read a file of tasks.

    Args:
        path: JSON lines.
        family_name: the script family that judges them.
        databases: the folder with a folder or a file for each database.
        ground_truth: JSON lines by `instance_id` with the fields that the public file leaves empty.

    Raises:
        BadInput: a file cannot be read, a line is no task, or two have one id; or all golds are missing.
    """
    if family_name not in FAMILIES:
        raise BadInput(f"--family {family_name}: unknown; choose from {', '.join(FAMILIES)}")
    family = FAMILIES[family_name]
    records = dict(_records(path))
    if not records:
        raise BadInput(f"{path}: has no tasks")
    if ground_truth is not None:
        mailed = dict(_records(ground_truth))
        if absent := sorted(mailed.keys() - records.keys()):
            raise BadInput(f"{ground_truth}: {absent[0]!r} and {len(absent) - 1} more are no tasks of {path}")
        for name, found in mailed.items():
            records[name] |= {key: found[key] for key in GROUND_TRUTH if key in found}
    tasks = [Task(record, family) for record in records.values()]
    if not any(task.gold for task in tasks):
        raise BadInput(
            f"{path}: no task has a solution: public files leave them out; ask its authors by mail, and name"
            " the file that they send with --ground-truth"
        )
    return TaskSet(path, family, tasks, databases)


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    seen = set()
    for number, line in enumerate(read_text(path).text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{path}:{number}: is no JSON ({error}); give one object a line") from error
        if not isinstance(record, dict) or "instance_id" not in record:
            raise BadInput(f"{path}:{number}: has no instance_id; give one object a line with that field")
        name = str(record["instance_id"])
        if name in seen:
            raise BadInput(f"{path}:{number}: instance_id {brief(name)} stands there twice")
        seen.add(name)
        yield name, record


def read_answers(path: Path, tasks: TaskSet) -> TaskAnswers:
    """Read the answers of a predictor, named for the file: JSON lines with `instance_id` and `pred_sqls`.

    `predicted_sql`, as LiveSQLBench-CLI writes it, is read as well.

    Raises:
        BadInput: the file cannot be read, or a line has no answer.
    """
    known = {task.id for task in tasks.tasks}
    answers: dict[str, Sequence[str]] = {}
    for name, record in _records(path):
        value = record.get("pred_sqls", record.get("predicted_sql"))
        if value is None and not {"pred_sqls", "predicted_sql"} & record.keys():
            raise BadInput(f"{path}: {name} has no pred_sqls; give a list of statements, or a text")
        answers[name] = tasks.family.statements(value)
    return TaskAnswers(path.stem, answers, sorted(answers.keys() - known))

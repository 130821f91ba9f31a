"""Prompts for tasks, single turn, with the parts that the baselines of each benchmark show, in their order.

LiveSQLBench: the schema with three rows of each table, the meaning of every column, all of the knowledge
base, and the question. BIRD-Interact: schema, the knowledge that is not hidden, and the ambiguous question.
BIRD-CRITIC: the schema, the issue, and the user's faulty statements. The words are our own.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from harness.engines import TITLES, EngineName
from harness.labs.tasks.layouts import Task, TaskSet, read_tasks
from harness.labs.tasks.sample import sample_families, sample_tasks
from harness.predictors.base import DatabaseText, Problem
from loaders.base.files import parse_json, read_text

_SHOWN = ("id", "knowledge", "description", "definition")
"""The members of an entry of a knowledge base that a model sees."""


def prompts(tasks: TaskSet) -> Iterator[dict[str, str]]:
    """Yield the prompt of each task: `instance_id` and `prompt`.

    Raises:
        BadInput: a file that a prompt shows is missing, or a task has no question.
    """
    for task in tasks.tasks:
        yield {"instance_id": task.id, "prompt": prompt_of(task, tasks.databases)}


def prompts_of_set(
    set_name: str,
    *,
    dialects: Sequence[EngineName] | None = None,
    family: str | None = None,
    databases: Path | None = None,
) -> list[tuple[Problem, str]]:
    """Return each task with its prompt, on every engine that is asked for, as `Lab.prompts` says.

    Raises:
        BadInput: the file is wrong, a file that a prompt shows is missing, or no tasks are for an engine.
    """
    if family is None:
        sets = [sample_tasks(name) for name in sample_families().values()]
    else:
        sets = [read_tasks(Path(set_name), family, databases, needs_gold=False)]
    able = [tasks.family.dialect for tasks in sets]
    if others := [each for each in dialects or () if each not in able]:
        raise BadInput(
            f"--dialect {others[0]}: tasks of {set_name} are for {', '.join(able)}; choose from these"
        )
    found = []
    for tasks in sets:
        engine = tasks.family.dialect
        for task in tasks.tasks if dialects is None or engine in dialects else ():
            text = str(task.record.get("query", ""))
            problem = Problem(task.id, text, "", DatabaseText(task.database, engine, ()))
            found.append((problem, prompt_of(task, tasks.databases)))
    return found


def prompt_of(task: Task, databases: Path) -> str:
    """Return the prompt of a task; args and errors are those of `prompts`."""
    record, database = task.record, task.database
    if task.family.has_talks:
        question = record.get("amb_user_query", record.get("query"))
    else:
        question = record.get("query")
    if not isinstance(question, str):
        raise BadInput(f"{task.id}: has no query, so no prompt asks for it")
    # A file of BIRD-CRITIC has tasks in several languages.
    language = str(record.get("dialect") or task.family.dialect).lower()
    title = TITLES.get(language, str(record.get("dialect")))
    if task.issue:
        shown = record.get("preprocess_schema") or record.get("original_schema")
        end = _NO_SEMICOLONS if language == _ORACLE else ""
        return _headed(
            {
                "Database schema": str(shown) if shown else _schema(databases, database),
                "Issue": question,
                "Faulty SQL": "\n".join(f"```sql\n{text}\n```" for text in task.issue),
                "Answer": f"{_CORRECT.format(title=title)}{end}",
            }
        )
    hidden = {str(each) for each in _hidden(record)} if task.family.has_talks else set()
    parts = {
        "Database schema": _schema(databases, database),
        "Column meanings": "" if task.family.has_talks else _meanings(databases, database),
        "Knowledge": _knowledge(databases, database, frozenset(hidden)),
        "Task": question,
        "Answer": f"Write {title} statements that do the task, with semicolons, and close the block.",
    }
    return f"{_headed(parts)}\n```{language}\n"


_CORRECT = "Correct the SQL for {title}. Give each statement in a block of its own, ```sql."
_ORACLE = "oracle"
_NO_SEMICOLONS = " No statement may end with a semicolon or a slash: its driver refuses both."


def _hidden(record: Mapping[str, Any]) -> Iterator[object]:
    """Yield the ids of the knowledge that the model is not to see."""
    given = record.get("knowledge_ambiguity")
    for each in given if isinstance(given, list) else ():
        if isinstance(each, dict) and each.get("deleted_knowledge") is not None:
            yield each["deleted_knowledge"]


def _headed(parts: dict[str, str]) -> str:
    return "\n\n".join(f"# {head}\n{text}" for head, text in parts.items() if text)


@cache
def _schema(databases: Path, database: str) -> str:
    return read_text(_file(databases, database, "schema.txt")).text.strip()


@cache
def _meanings(databases: Path, database: str) -> str:
    path = _file(databases, database, "column_meaning_base.json")
    found = _parsed(read_text(path).text, str(path))
    return json.dumps({key.lower(): value for key, value in found.items()}, ensure_ascii=False, indent=1)


@cache
def _knowledge(databases: Path, database: str, hidden: AbstractSet[str]) -> str:
    path = _file(databases, database, "kb.jsonl")
    lines = read_text(path).text.split("\n")
    entries = [_parsed(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    shown = [
        {key: entry[key] for key in _SHOWN if key in entry}
        for entry in entries
        if str(entry.get("id")) not in hidden
    ]
    return json.dumps(shown, ensure_ascii=False, indent=1)


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        found = parse_json(text)
    except ValueError as error:
        raise BadInput(f"{where}: is no JSON ({error}); correct it") from error
    if not isinstance(found, dict):
        raise BadInput(f"{where}: is no JSON object; correct it")
    return found


def _file(databases: Path, database: str, ending: str) -> Path:
    path = databases / database / f"{database}_{ending}"
    if not path.is_file():
        raise BadInput(f"{path}: does not exist, and prompts show what is in it; get it with the set")
    return path

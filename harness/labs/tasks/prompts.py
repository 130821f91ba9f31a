"""Prompts for tasks, single turn, with the parts that the baselines of each benchmark show, in their order.

LiveSQLBench and BIRD-Interact: the schema with three rows of each table, the meaning of every column, all of
the knowledge base, and the question. BIRD-CRITIC: the schema, the issue, and the user's faulty statements.
The words are our own.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from harness.engines import TITLES
from harness.labs.tasks.layouts import Task, TaskSet
from loaders.base.files import parse_json, read_text

_SHOWN = ("id", "knowledge", "description", "definition")
"""The members of an entry of a knowledge base that a model sees."""


def prompts(tasks: TaskSet) -> Iterator[dict[str, str]]:
    """Yield the prompt of each task: `instance_id` and `prompt`.

    Raises:
        BadInput: a file that a prompt shows is missing, or a task has no question.
    """
    for task in tasks.tasks:
        yield {"instance_id": task.id, "prompt": _prompt(task, tasks.databases)}


def _prompt(task: Task, databases: Path) -> str:
    question = task.record.get("query")
    if not isinstance(question, str):
        raise BadInput(f"{task.id}: has no query, so no prompt asks for it")
    language = task.family.dialect
    title = TITLES[language]
    if task.issue:
        shown = task.record.get("preprocess_schema") or task.record.get("original_schema")
        parts = {
            "Database schema": str(shown) if shown else _schema(databases, task.database),
            "Issue": question,
            "Faulty SQL": "\n".join(f"```sql\n{text}\n```" for text in task.issue),
            "Answer": f"Correct the SQL for {title}. Give each statement in a block of its own, ```sql.",
        }
        return _headed(parts)
    parts = {
        "Database schema": _schema(databases, task.database),
        "Column meanings": _meanings(databases, task.database),
        "Knowledge": _knowledge(databases, task.database),
        "Task": question,
        "Answer": f"Write {title} statements that do the task, with semicolons, and close the block.",
    }
    return f"{_headed(parts)}\n```{language}\n"


def _headed(parts: dict[str, str]) -> str:
    return "\n\n".join(f"# {head}\n{text}" for head, text in parts.items())


@cache
def _schema(databases: Path, database: str) -> str:
    return read_text(_file(databases, database, "schema.txt")).text.strip()


@cache
def _meanings(databases: Path, database: str) -> str:
    path = _file(databases, database, "column_meaning_base.json")
    found = _parsed(read_text(path).text, str(path))
    return json.dumps({key.lower(): value for key, value in found.items()}, ensure_ascii=False, indent=1)


@cache
def _knowledge(databases: Path, database: str) -> str:
    path = _file(databases, database, "kb.jsonl")
    lines = read_text(path).text.split("\n")
    entries = [_parsed(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    shown = [{key: entry[key] for key in _SHOWN if key in entry} for entry in entries]
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

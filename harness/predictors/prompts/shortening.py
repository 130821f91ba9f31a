"""In which order a prompt that is too long loses parts.

Each goes wholly, and only if the prompt is still too long:

1. the sample rows;
2. what is published of columns' values;
3. what else is published of columns;
4. the worked example;
5. tables, the last first: those that the question and its external knowledge name neither by the table's name
   nor by one of its columns', then those that are named by a column only.

A table that is named, the last table that is left, the question, its external knowledge and the instruction
stay whatever happens: what is too long with these is refused.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from harness.engines.tables import ColumnText, TableText
from harness.predictors.base import Problem


def shorter(problem: Problem, *, has_example: bool) -> Iterator[tuple[str | None, Problem, bool]]:
    """The problem as it is, then shorter by one part after the other: what it lost, and the rest."""
    yield None, problem, has_example
    parts: tuple[tuple[str, Callable[[TableText], TableText]], ...] = (
        ("sample rows", lambda table: replace(table, rows=())),
        ("descriptions of values", partial(_described, change=_without_values)),
        ("descriptions of columns", partial(_described, change=_without_descriptions)),
    )
    for what, without in parts:
        tables = tuple(without(table) for table in problem.database.tables)
        if tables != problem.database.tables:
            problem = _with(problem, tables)
            yield what, problem, has_example
    if has_example:
        yield "worked example", problem, False
    for name in _dispensable(problem):
        tables = tuple(table for table in problem.database.tables if table.name != name)
        if tables:
            problem = _with(problem, tables)
            yield f"table {name}", problem, False


def _described(table: TableText, change: Callable[[ColumnText], ColumnText]) -> TableText:
    return replace(table, columns=tuple(map(change, table.columns)))


def _without_values(column: ColumnText) -> ColumnText:
    return replace(column, values=None)


def _without_descriptions(column: ColumnText) -> ColumnText:
    return replace(column, title=None, description=None)


def _with(problem: Problem, tables: tuple[TableText, ...]) -> Problem:
    return replace(problem, database=replace(problem.database, tables=tables))


def _dispensable(problem: Problem) -> list[str]:
    """The tables that the question does not name, in the order in which they are left out."""
    text = f"{problem.text} {problem.evidence}"
    # So that PostgreSQL's `loandate` is named by `loanDate`, too.
    said = f" {_words(text)} {_words(text.lower())} "
    tables = [table for table in reversed(problem.database.tables) if not _says(said, table.name)]
    unnamed = [
        table.name for table in tables if not any(_says(said, column.name) for column in table.columns)
    ]
    return unnamed + [table.name for table in tables if table.name not in unnamed]


def _says(said: str, name: str) -> bool:
    """Whether words have a name, whatever its case and number, with blanks for underscores or without."""
    words = _words(name)
    return bool(words) and (f" {words} " in said or f" {words.replace(' ', '')} " in said)


def _words(text: str) -> str:
    """The words of a text in lower case, of which `loanDate` has two, without the ends of plurals."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return " ".join(_singular(word) for word in re.findall(r"[^\W_]+", apart.lower()))


def _singular(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s").removesuffix("e")

"""The baseline knows English and no data set: no name of a table or a column stands in its code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness.predictors.offline as package
from harness.data.sets.loading import load_set

FOLDER = Path(package.__file__).parent

# Words that are names in some data set, and why the code has them all the same.
ENGLISH = {
    "count": "aggregate, and `count the` asks for it",
    "cross": "a kind of join",
    "group": "`GROUP BY`",
    "name": "what rows are called by",
    "number": "`number of`",
    "order": "`ORDER BY`",
    "stop": "why a reply ended",
    "text": "type",
    "title": "what rows are called by",
}


def literals() -> Iterator[str]:
    """The text of every string in the code that is not documentation."""
    for path in sorted(FOLDER.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        shown = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in shown:
                yield node.value.lower()


def names(set_name: str, home: Path | None = None) -> set[str]:
    schemas = load_set(set_name, home).schemas.values()
    tables = {table for schema in schemas for table in schema.tables}
    columns = {column.name for schema in schemas for column in schema.columns}
    return {name.lower() for name in {*tables, *columns, *(schema.db_id for schema in schemas)}}


def found(names: set[str]) -> set[str]:
    words = {word for text in literals() for word in (text, *re.findall(r"\w+", text))}
    return words & names


def test_no_name_of_the_sample_is_in_the_code() -> None:
    assert found(names("sample")) - set(ENGLISH) == set()


@pytest.mark.bird
@pytest.mark.parametrize("set_name", ["mini_dev", "mini_dev_2025"])
def test_no_name_of_the_published_data_is_in_the_code(bird_home: Path, set_name: str) -> None:
    assert found(names(set_name, bird_home)) - set(ENGLISH) == set()


def test_a_name_in_the_code_would_be_found() -> None:
    assert found({"percentage", "share", "no such name"}) == {"percentage", "share"}

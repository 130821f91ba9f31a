"""What is timed for the tutorial is what the tutorial says."""

import json

from benchmarks import first_table
from tests.docs.blocks import ROOT, blocks
from tests.docs.test_commands import of_page

PAGE = ROOT / "docs" / "tutorials" / "first-table.md"


def test_the_answers_are_those_of_the_page() -> None:
    [shown] = [block.text for block in blocks(PAGE) if block.title == first_table._OWN]
    assert [json.loads(line) for line in shown.splitlines()] == list(first_table._ANSWERS)


def test_the_steps_are_those_of_the_page_with_fewer_servers() -> None:
    page = {command.replace('"', "") for command in of_page(PAGE)}
    timed = {" ".join(command) for commands in first_table._PATHS.values() for command in commands}
    assert timed - page == {"make up NATIVE=1 DIALECT=postgresql"}

"""The README's table is what the harness prints today."""

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from harness.engines.server import Server
from harness.figures.summary import summarize
from harness.judging.sheets import Setup
from harness.predictions import read_predictions
from harness.readers.question_sets import load_set
from harness.report.console import print_tables
from harness.words import Dialect
from loaders.load import load
from loaders.sample import PREDICTIONS
from tests.evaluating import results

pytestmark = pytest.mark.engine

README = Path(__file__).parents[2] / "README.md"


def test_the_table_in_the_readme_is_real(mysql_server: Server, postgresql_server: Server) -> None:
    questions = load_set("sample")
    servers = {
        Dialect.SQLITE: (),
        Dialect.MYSQL: (mysql_server,),
        Dialect.POSTGRESQL: (postgresql_server,),
    }
    for server in (mysql_server, postgresql_server):
        load([questions.database(db_id) for db_id in questions.db_ids], server)
    found = results(Setup(questions, servers), read_predictions([PREDICTIONS], questions))
    output = StringIO()
    print_tables(summarize(found, ["ex"]), ["ex"], Console(file=output))
    shown = re.search(r"^```text\n(EX.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert shown
    lines = [line.rstrip() for line in output.getvalue().splitlines()]
    table = lines[: lines.index("Outcomes (pairs)")]
    assert [line for line in shown[1].splitlines() if line] == [line for line in table if line]

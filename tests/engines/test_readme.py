"""The README's table is what the harness prints today."""

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from harness.engines import on_server
from harness.engines.server import Server
from harness.engines.sqlite import SQLiteEngine
from harness.evaluation import Evaluation
from harness.predictions import read_predictions
from harness.readers.question_sets import load_set
from harness.report.console import print_tables
from harness.report.summary import summarize
from harness.words import Dialect
from loaders.load import load
from loaders.sample import PREDICTIONS

pytestmark = pytest.mark.engine

README = Path(__file__).parents[2] / "README.md"


def test_the_table_in_the_readme_is_real(mysql_server: Server, postgresql_server: Server) -> None:
    questions = load_set("sample")
    engines = {Dialect.SQLITE: SQLiteEngine()} | {
        server.dialect: on_server(server) for server in (mysql_server, postgresql_server)
    }
    for server in (mysql_server, postgresql_server):
        load([questions.database(db_id) for db_id in questions.db_ids], server)
    evaluation = Evaluation(questions, read_predictions([PREDICTIONS], questions), engines)
    output = StringIO()
    print_tables(summarize(evaluation.run(workers=2), ["ex"]), ["ex"], Console(file=output))
    shown = re.search(r"^```text\n(EX.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert shown
    lines = [line.rstrip() for line in output.getvalue().splitlines()]
    table = lines[: lines.index("Outcomes (pairs)")]
    assert [line for line in shown[1].splitlines() if line] == [line for line in table if line]

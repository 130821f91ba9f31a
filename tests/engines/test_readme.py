"""The README's table is what the harness prints today."""

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from dialects.enums import Dialect
from harness.data.predictions import read_predictions
from harness.data.sets.loader import load_set
from harness.report.overview import print_scores
from harness.runs.summary import summarize
from harness.scoring.tasks import Setup
from loaders.bulk_load import load
from loaders.sample import PREDICTIONS
from loaders.server import Server
from tests.evaluating import results

pytestmark = pytest.mark.engine

README = Path(__file__).parents[2] / "README.md"


def test_the_table_in_the_readme_is_real(
    mysql_server: Server, postgresql_server: Server, duckdb_server: Server
) -> None:
    questions = load_set("sample")
    servers: dict[str, tuple[Server, ...]] = {
        Dialect.SQLITE: (),
        Dialect.MYSQL: (mysql_server,),
        Dialect.POSTGRESQL: (postgresql_server,),
        Dialect.DUCKDB: (duckdb_server,),
    }
    for server in (mysql_server, postgresql_server, duckdb_server):
        load([questions.database(db_id) for db_id in questions.db_ids], server)
    files = [path for dialect in servers for path in PREDICTIONS.glob(f"*_{dialect}.json")]
    found = results(Setup(questions, servers), read_predictions(files, questions))
    output = StringIO()
    metrics = ["ex", "soft_f1"]
    print_scores(summarize(found, metrics), metrics, everything=False, console=Console(file=output))
    shown = of_readme("Totals")
    assert [line.rstrip() for line in output.getvalue().splitlines() if line][: len(shown)] == shown


def of_readme(title: str) -> list[str]:
    """The lines of the table with this title."""
    [block] = re.findall(
        rf"^```text\n({title} .*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    return [line for line in block.splitlines() if line]

"""Queries as applications send them, with parameters that drivers bind, return SQLite's rows on every engine.

The suite is a folder for each application; its schemas, rows and queries were written for these tests.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.labs.conformance.command import RESULTS, ConformanceRequest, measure
from harness.labs.conformance.comparison import OURS, QueryVerdict
from loaders.base.files import parse_json
from loaders.server import Server
from tests.every_engine import LOADED

SERVERS = LOADED
SUITE = Path(__file__).parent / "applications"
QUERIES = 200
LEAST_SAME = 0.97
ANSWERED = (QueryVerdict.SAME, QueryVerdict.WARNED_SAME)

BEYOND = "a sum or product beyond 64 bits: SQLite compares it rounded"
REFUSED: Mapping[str, str] = {"home/queries.sql:8": BEYOND}
"""Reviewed: a product of a cast real."""


@pytest.mark.engine
def test_the_queries_of_applications_return_the_rows_of_sqlite(server: Server, tmp_path: Path) -> None:
    board = measure(ConformanceRequest(SUITE, tmp_path, workers=2), {server.dialect: server}).board
    lines = map(parse_json, (tmp_path / RESULTS).read_text(encoding="utf-8").splitlines())
    refused = {
        line["query"]: answer["detail"]
        for line in lines for answer in line.get("answers", ()) if answer["verdict"] not in ANSWERED
    }  # fmt: skip
    found = board.counts[OURS, server.dialect].verdicts
    assert (board.queries, board.compared, board.faults) == (QUERIES, QUERIES, 0)
    assert refused.items() <= REFUSED.items()
    assert sum(found[each] for each in ANSWERED) >= LEAST_SAME * QUERIES

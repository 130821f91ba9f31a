"""Texts that would hang or fill a process that runs them itself, or change a database."""

from harness.engines.execution import Ending
from tests.harness.serve.served import ENDLESS

CROSS_JOIN = "SELECT a.* FROM books a, books b, books c, books d, books e, books f, books g"

HOSTILE = {
    ENDLESS: Ending.TIMEOUT,
    "SELECT instr(zeroblob(6000000), CAST(zeroblob(3000000) || x'01' AS BLOB))": Ending.TIMEOUT,
    CROSS_JOIN: Ending.TOO_LARGE,
    "SELECT randomblob(900000000)": Ending.TOO_LARGE,
    "DELETE FROM books": Ending.ERROR,
    "ATTACH '/tmp/other.sqlite' AS other": Ending.ERROR,
}
"""On the sample's library in SQLite: how each ends, within a few seconds."""

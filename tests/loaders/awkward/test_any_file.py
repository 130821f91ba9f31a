"""Files of any values at all load exactly, or stop where the inventory says that they would."""

import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialects.enums import Profile
from dialects.errors import BadInput
from loaders.inventory import inventory
from loaders.load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.loaders.awkward.comparing import require_same

pytestmark = pytest.mark.engine

DECLARED = ("", "INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC", "DATE", "DATETIME", "BOOLEAN", "VARCHAR(5)")
EDGES = (0, 1, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63))
INTEGERS = st.sampled_from(EDGES) | st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)
FRACTIONS = st.floats(allow_nan=False) | st.sampled_from((-0.0, 0.5, 1e39, float("inf"), 5e-324))
CHARACTERS = st.characters(codec="utf-8") | st.sampled_from("\0\t\n\r\\\x1a'\"\x08\x1b%é😀")
TEXTS = st.text(CHARACTERS, max_size=20) | st.sampled_from(
    ("", " ", "\\N", "NULL", "12", "1e5", "inf", "-0.0")
)
DAYS = st.dates().map(str) | st.dates().map(lambda day: day.strftime("%m/%d/%Y")) | st.just("0000-00-00")
MOMENTS = st.datetimes().map(lambda moment: moment.isoformat(" ")) | st.dates().map(str)
BYTES = st.binary(max_size=20)

KINDS = (
    INTEGERS,
    FRACTIONS,
    TEXTS,
    DAYS,
    MOMENTS,
    BYTES,
    INTEGERS | FRACTIONS,
    INTEGERS | TEXTS,
    DAYS | TEXTS,
)
COLUMNS = st.sampled_from(KINDS).flatmap(
    lambda kind: st.tuples(st.sampled_from(DECLARED), st.lists(st.none() | kind, min_size=1, max_size=6))
)
FILES = st.lists(COLUMNS, min_size=1, max_size=4)


@settings(
    derandomize=True, deadline=None, max_examples=15, suppress_health_check=list(HealthCheck), database=None
)
@given(columns=FILES)
def test_any_values_load_exactly_or_stop_where_they_are_said_to(
    server: Server, collection: str, profile: Profile, tmp_path: Path, columns: list[tuple[str, list[object]]]
) -> None:
    path = tmp_path / f"{uuid4().hex}.sqlite"
    database = Database(collection, "shop", path, profile)
    with closing(sqlite3.connect(path)) as file:
        for number, (declared, values) in enumerate(columns):
            file.execute(f"CREATE TABLE t{number} (v {declared})")
            file.executemany(f"INSERT INTO t{number} VALUES (?)", [(value,) for value in values])
        file.commit()
    stops = [
        stop.where
        for table in inventory(path).tables
        for column in table.columns
        for stop in column.stops
        if (server.dialect, profile) in stop.on
    ]
    if not stops:
        [done] = load([database], server)
        assert require_same(server, database, done.notes) == done.rows
        return
    with pytest.raises(BadInput) as error:
        load([database], server)
    assert any(f"{path}: {where}: " in str(error.value) for where in stops)

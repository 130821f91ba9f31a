"""Witnesses merged into few small databases: a test suite, on which every question's answers can be tried."""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from harness.data.witnesses import Witness
from harness.engines.execution import Ending
from harness.scoring.chance.search import Data, in_memory, stored
from harness.scoring.chance.shape import Shape
from harness.scoring.chance.witness import data_of

_PAGE = 512
"""Bytes of a page: most tables have a few rows."""

Texts = tuple[str, Sequence[str]]
"""An answer, and the golds of its question."""


def packed(shape: Shape, witnesses: Iterable[Witness]) -> tuple[list[Data], int]:
    """Merge witnesses into few databases, on which each answer still differs from its golds.

    Rows that several witnesses have are there once. What cannot be merged into the first database, because
    keys clash or an answer agrees with gold then, goes into the next one. A witness that needs another order
    of rows than they are read in is left out.

    Args:
        shape: of the database, from its file.
        witnesses: those of SQLite against answers about it.

    Returns:
        The databases, and the number of witnesses that are left out.
    """
    suite: list[Data] = []
    waiting = sorted(witnesses, key=lambda one: one.rows)
    while waiting:
        data: Data = {table.key: [] for table in shape.tables}
        inside: list[Texts] = []
        rest = []
        for each in waiting:
            rows_of = data_of(each)
            more = {
                key: [*rows, *(row for row in rows_of.get(key, ()) if row not in rows)]
                for key, rows in data.items()
            }
            asked = [*inside, (each.sql, each.golds)]
            if all(told_apart(shape, more, asked)):
                data, inside = more, asked
            else:
                rest.append(each)
        if not inside:
            return suite, len(rest)
        suite.append(data)
        waiting = rest
    return suite, 0


def told_apart(shape: Shape, data: Data, pairs: Iterable[Texts]) -> list[bool]:
    """Return for each answer whether it returns other rows than each of its golds; False if one fails."""
    with in_memory(shape, data) as scratch:

        def is_apart(sql: str, golds: Sequence[str]) -> bool:
            if scratch is None:
                return False
            ours, *theirs = (scratch.run(text) for text in (sql, *golds))
            return ours.ending is Ending.ROWS and all(
                one.ending is Ending.ROWS and set(one.rows) != set(ours.rows) for one in theirs
            )

        return [is_apart(*pair) for pair in pairs]


def write(shape: Shape, data: Data, path: Path) -> None:
    """Write a small database as a SQLite file, whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with closing(sqlite3.connect(new)) as connection:
        connection.execute(f"PRAGMA page_size = {_PAGE}")
        stored(connection, shape, data)
        connection.commit()
    new.replace(path)


def remove_suite(folder: Path) -> None:
    """Remove what `write_suite` wrote."""
    for path in folder.glob("witnesses-*.sqlite"):
        path.unlink()


def write_suite(shape: Shape, witnesses: Sequence[Witness], folder: Path) -> tuple[int, int]:
    """Write the merged witnesses of a database as `witnesses-<n>.sqlite`, in place of earlier ones.

    Returns:
        The number of files, and of the witnesses that are in them.
    """
    suite, left_out = packed(shape, witnesses)
    remove_suite(folder)
    for number, data in enumerate(suite, 1):
        write(shape, data, folder / f"witnesses-{number}.sqlite")
    return len(suite), len(witnesses) - left_out

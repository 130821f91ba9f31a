"""Statements sent to PostgreSQL one at a time, and their rows as they arrive.

psycopg's own `Cursor.stream` cancels at the end of every result, which takes a connection each time, and
reads a value of any size before anybody can look at it.
"""

import contextlib
import os
import socket
import sys
from collections.abc import Iterator

import psycopg
from psycopg import abc, generators
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.waiting import Wait

from harness.engines.base import BATCH_ROWS, Row, SqlUnreadable

AT_ONCE_BYTES = 128 * 2**20
"""What may arrive for one batch of rows; libpq holds it two to three times over."""

_LOOKED_AT_FROM = 4
"""Looking at what has arrived begins with this read of a batch: most results take fewer."""

_BYTES_RECEIVED = slice(128, 136)
"""`tcpi_bytes_received` within Linux's `struct tcp_info`, <linux/tcp.h>, which only ever grows at its end."""


class ReceivedTooMuch(Exception):
    """More arrived for one batch than `AT_ONCE_BYTES`; the rest is still on its way."""


def results(connection: psycopg.Connection, text: bytes) -> Iterator[list[Row] | None]:
    """Run one statement and yield its rows, at most `BATCH_ROWS` at a time; None if it is of a kind without.

    Raises:
        psycopg.Error: of the server, after which the connection can be used; or of the connection.
        ReceivedTooMuch: the statement goes on running.
        SqlUnreadable: the same, perhaps.
    """
    transformer = Transformer(connection)
    for result in _arriving(connection, text):
        if result is None:
            yield None
        elif rows := _made(transformer, result):
            yield rows


def run(connection: psycopg.Connection, text: bytes) -> None:
    """Run one statement and drop its rows, of which no values are made. Raises what `results` does."""
    for _ in _arriving(connection, text):
        pass


def _made(transformer: abc.Transformer, result: PGresult) -> list[Row]:
    """The rows of a result, in Python's values."""
    try:
        transformer.set_pgresult(result)
        return transformer.load_rows(0, result.ntuples, tuple)
    except MemoryError:
        raise
    except Exception as error:  # nothing is asked of the server here, so whatever is raised is about a value
        raise SqlUnreadable(error) from error


def _arriving(connection: psycopg.Connection, text: bytes) -> Iterator[PGresult | None]:
    """Run one statement and yield what comes of it, rows in their bytes; see `results`."""
    connection.pgconn.send_query_params(text, None)
    connection.pgconn.set_chunked_rows_mode(BATCH_ROWS)
    connection.wait(generators.send(connection.pgconn))
    failed = None
    while result := connection.wait(_fetched(connection.pgconn)):
        if result.status in (ExecStatus.TUPLES_CHUNK, ExecStatus.TUPLES_OK):
            yield result
        elif result.status == ExecStatus.FATAL_ERROR:
            failed = failed or error_from_result(result, encoding="utf-8")
        else:
            yield None
    if failed:
        raise failed


def parse(connection: psycopg.Connection, text: bytes) -> None:
    """Let the server read one statement and forget it. Raises what it says if it is none."""
    pgconn = connection.pgconn
    pgconn.send_prepare(b"", text)
    for result in connection.wait(generators.execute(pgconn)):
        if result.status == ExecStatus.FATAL_ERROR:
            raise error_from_result(result, encoding="utf-8")


def _fetched(pgconn: psycopg.pq.abc.PGconn) -> abc.PQGen[PGresult | None]:
    """The next result of the statement that runs; see `psycopg.generators.fetch`, which has no bound."""
    reads, most = 0, None
    while pgconn.is_busy():
        while not (yield Wait.R):
            pass
        pgconn.consume_input()
        reads += 1
        if reads >= _LOOKED_AT_FROM:
            received = _received(pgconn.socket)
            most = most or received + AT_ONCE_BYTES
            if received > most:
                raise ReceivedTooMuch(f"more than {AT_ONCE_BYTES:,} bytes in {BATCH_ROWS:,} rows or fewer")
    return pgconn.get_result()


def _received(descriptor: int) -> int:
    """Bytes that have arrived by a connection since it was made; 0 where that is not counted."""
    if sys.platform != "linux":
        return 0
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as tcp:
        counted = tcp.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _BYTES_RECEIVED.stop)
        return int.from_bytes(counted[_BYTES_RECEIVED], "little")
    return 0

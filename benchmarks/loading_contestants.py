"""The loaders that are compared: each is a command that loads one or more SQLite files into a server.

Every run has databases of its own, which are dropped when it has ended. The rows that have arrived are
counted on the server. Creating an empty database for a loader that needs one, counting and dropping are not
timed.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import quote

import duckdb
import psycopg
import pymysql

from benchmarks.loading_statement import told, written
from benchmarks.memory import below, peak
from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from loaders.duckdb.session import path_of
from loaders.namespace import Database
from loaders.server import Server

ROOT = Path(__file__).parents[1]
_EVERY_SECONDS = 0.05


class Loader(StrEnum):
    """Who loads."""

    OURS = "ours"
    PGLOADER = "pgloader"
    SQLITE3_TO_MYSQL = "sqlite3-to-mysql"
    CSV = "CSV or its own reader"
    STATEMENT = "statement alone"


THEIRS = {
    Dialect.POSTGRESQL: Loader.PGLOADER,
    Dialect.MYSQL: Loader.SQLITE3_TO_MYSQL,
    Dialect.MARIADB: Loader.SQLITE3_TO_MYSQL,
    Dialect.DUCKDB: Loader.CSV,
}
"""Whom we are compared with on each engine."""

SQLITE3_TO_MYSQL = "sqlite3-to-mysql==2.6.1"


@dataclass(frozen=True)
class Loading:
    """One run of one of them over all files."""

    seconds: float
    """Of the commands, from their start to their end."""
    cpu: float
    """Seconds of processors that the loader took, without the server's."""
    rows: int
    """That have arrived."""
    megabytes: float
    """The largest resident sizes of all processes of the loader added up, in MB (10^6 bytes)."""


@dataclass(frozen=True)
class Asked:
    """What is to be loaded where, and how."""

    server: Server
    files: Sequence[Path]
    profile: Profile
    jobs: int | None
    program: Path | None
    """That of the other loader; None without one."""


def run(loader: Loader, asked: Asked, name: str) -> Loading:
    """Load all files into databases whose names begin with `name`, count the rows, and drop them.

    Raises:
        BadInput: the loader failed; with its last words.
    """
    try:
        if loader is Loader.OURS:
            databases = [Database(name, path.stem, path, asked.profile) for path in asked.files]
            command = [sys.executable, "-m", "benchmarks.loading_ours"]
            runs = [_timed(command, _told(asked, databases))]
        elif loader is Loader.STATEMENT:
            runs = [_alone(asked, path, f"{name}_{path.stem}".lower()) for path in asked.files]
        else:
            runs = [_theirs(asked, path, f"{name}_{path.stem}".lower()) for path in asked.files]
        return Loading(
            seconds=sum(run.seconds for run in runs),
            cpu=sum(run.cpu for run in runs),
            megabytes=max(run.megabytes for run in runs),
            rows=sum(_rows(asked.server, place) for place in _places(asked.server, name)),
        )
    finally:
        for place in _places(asked.server, name):
            if asked.server.dialect is Dialect.DUCKDB:
                path_of(asked.server, place).unlink()
            else:
                ask(asked.server, f"DROP DATABASE {place}")


@contextmanager
def other_program(dialect: Dialect) -> Iterator[Path]:
    """The program of the loader that we are compared with.

    pgloader is that of the system. sqlite3-to-mysql is installed into an environment of its own, which goes
    in the end.

    Raises:
        BadInput: it is not there, or cannot be installed.
    """
    if dialect is Dialect.POSTGRESQL:
        found = shutil.which("pgloader")
        if found is None:
            raise BadInput(
                "pgloader is not on this machine; install its Debian package: apt-get install pgloader"
            )
        yield Path(found)
        return
    if dialect is Dialect.DUCKDB:
        yield Path(sys.executable)
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [f"{folder}/bin/python", "-m", "pip", "install", "--quiet", SQLITE3_TO_MYSQL]
        if subprocess.run(pip, check=False).returncode:
            raise BadInput(f"{SQLITE3_TO_MYSQL} cannot be installed; pip has said why")
        yield Path(folder, "bin", "sqlite3mysql")


def _theirs(asked: Asked, path: Path, place: str) -> "_Command":
    _create(asked.server, place)
    of_dialect = {Dialect.POSTGRESQL: _pgloader, Dialect.DUCKDB: _csv}.get(
        asked.server.dialect, _sqlite3_to_mysql
    )
    return _timed(of_dialect(asked, path, place))


def _create(server: Server, place: str) -> None:
    if server.dialect is not Dialect.DUCKDB:  # a file is there when it is written
        ask(server, f"CREATE DATABASE {place}")


def _csv(asked: Asked, path: Path, place: str) -> list[str]:
    return [
        str(asked.program), "-m", "benchmarks.loading_csv",
        str(path.absolute()), str(path_of(asked.server, place)),
    ]  # fmt: skip


def _alone(asked: Asked, path: Path, place: str) -> "_Command":
    _create(asked.server, place)
    with tempfile.TemporaryDirectory() as folder:
        tables = written(path, Path(folder), asked.server.dialect)
        for table in tables:
            ask(asked.server, table.create, place)
        command = [sys.executable, "-m", "benchmarks.loading_statement"]
        return _timed(command, told(asked.server, place, tables))


def _told(asked: Asked, databases: Sequence[Database]) -> str:
    server = asdict(asked.server)
    named = [{**asdict(database), "sqlite_path": str(database.sqlite_path)} for database in databases]
    return json.dumps({"server": server, "databases": named, "jobs": asked.jobs})


def _pgloader(asked: Asked, path: Path, place: str) -> list[str]:
    """Batches of fewer rows than by default, with which it runs out of memory on long texts."""
    server = asked.server
    account = f"{quote(server.user, safe='')}:{quote(server.password, safe='')}"
    small = ["--with", "prefetch rows = 5000", "--with", "batch rows = 5000"]
    return [
        str(asked.program), *small, f"sqlite://{path.absolute()}",
        f"pgsql://{account}@{server.host}:{server.port}/{place}",
    ]  # fmt: skip


def _sqlite3_to_mysql(asked: Asked, path: Path, place: str) -> list[str]:
    """Without foreign keys, at which it ends where they refer to texts."""
    server = asked.server
    return [
        str(asked.program), "--quiet", "--without-foreign-keys",
        "--sqlite-file", str(path.absolute()), "--mysql-database", place, "--mysql-user", server.user,
        "--mysql-password", server.password, "--mysql-host", server.host, "--mysql-port", str(server.port),
    ]  # fmt: skip


@dataclass(frozen=True)
class _Command:
    """See `Loading`."""

    seconds: float
    cpu: float
    megabytes: float


def _timed(command: Sequence[str], told: str = "") -> _Command:
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryFile() as log,
        tempfile.TemporaryFile() as text,
    ):
        text.write(told.encode())
        text.seek(0)
        peaks: dict[int, float] = {}
        is_over = Event()
        before, started = _cpu(), time.perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=text, stdout=log, stderr=log,
            # Nothing is remembered from run to run, and what pgloader leaves behind goes.
            env={**os.environ, "BIRD_STORE": f"{folder}/store.sqlite", "TMPDIR": folder},
        )  # fmt: skip

        def watch() -> None:
            while not is_over.wait(_EVERY_SECONDS):
                for number in (process.pid, *below(process.pid)):
                    peaks[number] = max(peaks.get(number, 0.0), peak(number))

        watcher = Thread(target=watch, daemon=True)
        watcher.start()
        code = process.wait()
        seconds = time.perf_counter() - started
        is_over.set()
        watcher.join()
        if code:
            log.seek(0)
            raise BadInput(f"{Path(command[0]).name} failed: {log.read().decode(errors='replace')[-2000:]}")
    return _Command(seconds, _cpu() - before, sum(peaks.values()))


def _cpu() -> float:
    """What the processes that have ended took, and those that these had waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def ask(server: Server, sql: str, place: str | None = None) -> list[Any]:
    """Run a statement as the administrator and return its rows."""
    if server.dialect is Dialect.DUCKDB:
        with duckdb.connect(path_of(server, place or "")) as file:
            return file.execute(sql).fetchall()
    if server.dialect is Dialect.POSTGRESQL:
        with psycopg.connect(
            host=server.host, port=server.port, user=server.user, password=server.password,
            dbname=place or "postgres", autocommit=True,
        ) as session:  # fmt: skip
            found = session.execute(sql.encode())
            return found.fetchall() if found.description else []
    with (
        closing(
            pymysql.connect(
                host=server.host,
                port=server.port,
                user=server.user,
                password=server.password,
                database=place,
                autocommit=True,
            )
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)
        return list(cursor.fetchall())


def _places(server: Server, name: str) -> list[str]:
    """The databases whose names begin with `name`."""
    if server.dialect is Dialect.DUCKDB:
        return [path.stem for path in Path(server.host).glob(f"{name}*.duckdb")]
    every = "SELECT datname FROM pg_database" if server.dialect is Dialect.POSTGRESQL else "SHOW DATABASES"
    return [place for (place,) in ask(server, every) if place.startswith(name)]


def _rows(server: Server, place: str) -> int:
    """Rows of all tables that a loader has filled."""
    is_standard = server.dialect in {Dialect.POSTGRESQL, Dialect.DUCKDB}
    mark = '"' if is_standard else "`"
    where = (
        "table_schema NOT LIKE 'pg\\_%' AND table_schema NOT IN ('information_schema', 'bird_harness')"
        if is_standard
        else f"table_schema = '{place}'"
    )
    tables = ask(
        server,
        "SELECT table_schema, table_name FROM information_schema.tables"  # noqa: S608 - our own
        f" WHERE table_type = 'BASE TABLE' AND {where}",
        place,
    )
    names = [f"{mark}{schema}{mark}.{mark}{table}{mark}" for schema, table in tables]
    return sum(ask(server, f"SELECT count(*) FROM {name}", place)[0][0] for name in names)  # noqa: S608

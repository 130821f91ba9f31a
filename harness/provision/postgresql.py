"""PostgreSQL servers: the `ServerKind`, and how a private server is found, initialised and started."""

import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from dialects.enums import Dialect
from harness.provision import packages
from harness.provision.servers import ENTRANCE, Home, Program, ServerKind

_PACKAGES = ("postgresql-18", "libc-bin")
"""libc-bin provides the locale C.UTF-8."""

INITDB_OPTIONS = ("--encoding=UTF8", "--locale=C", "--lc-ctype=C.UTF-8")
"""Sort by bytes, as SQLite does; upper() and ILIKE handle non-ASCII letters, as in the official image."""

BACKEND_BYTES = 2**30
"""Memory limit of each server process, shared memory excluded.

PostgreSQL itself has no such limit. A statement that reaches it ends with "out of memory", and the others
continue. https://www.postgresql.org/docs/current/runtime-config-resource.html#RUNTIME-CONFIG-RESOURCE-MEMORY
"""

_LEAST_MAJOR = 13
_LIBRARIES = ("lib", "lib/postgresql", "lib/postgresql@*", "lib64/pgsql", "lib/pgsql")
"""Where the server's libraries are, below the folder that has its programs in `bin`."""

_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin")


def _find() -> Program:
    return _installed() or _unpacked()


def _installed() -> Program | None:
    """Find the newest PostgreSQL of the distribution on this machine, else one on PATH."""
    placed = sorted(_programs(_distributed()), key=_major)
    return placed[-1] if placed else next(_programs(_elsewhere()), None)


def _distributed() -> Iterator[Path]:
    for pattern in _PLACES:
        yield from Path("/").glob(pattern.removeprefix("/"))


def _elsewhere() -> Iterator[Path]:
    if shutil.which("pg_config"):
        said = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=False).stdout
        if said.strip():
            yield Path(said.strip())
    path = shutil.which("postgres")
    if path:
        yield Path(path).resolve().parent


def _programs(folders: Iterator[Path]) -> Iterator[Program]:
    """Yield the programs of `folders` that hold a complete server that is recent enough."""
    for folder in folders:
        if shutil.which("postgres", path=folder) and shutil.which("initdb", path=folder):
            program = Program(folder / "postgres", _version(folder / "postgres"))
            if _major(program) >= _LEAST_MAJOR:
                yield program


def _version(path: Path) -> str:
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\(PostgreSQL\) (\S+)", said)
    return found[1] if found else ""


def _major(program: Program) -> int:
    found = re.match(r"\d+", program.version)
    return int(found[0]) if found else 0


def _unpacked() -> Program:
    programs = ("usr/lib/postgresql/*/bin/postgres", "usr/lib/postgresql/*/bin/initdb")
    root = packages.unpacked("PostgreSQL", _PACKAGES, programs=programs)
    return max(_programs(root.folder.glob("usr/lib/postgresql/*/bin")), key=_major)


def _secret(program: Program, password: str) -> str:
    del program
    return f"{password}\n"


def _initialise(program: Program, home: Home, data: Path, secret: Path) -> list[str]:
    del home
    return [
        str(program.path.with_name("initdb")),
        f"--pgdata={data}",
        "--username=postgres",
        f"--pwfile={secret}",
        "--auth=scram-sha-256",
        "--no-sync",
        "--no-instructions",
        *INITDB_OPTIONS,
    ]


def _serve(program: Program, home: Home, port: int) -> list[str]:
    settings = {
        "config_file": home.configuration,
        "listen_addresses": "127.0.0.1",
        "port": port,
        "unix_socket_directories": "",
    }
    if not _has_statistics(program):
        settings["shared_preload_libraries"] = ""
    return [
        str(program.path),
        "-D",
        str(home.data),
        *(f"--{name}={value}" for name, value in settings.items()),
    ]


def _has_statistics(program: Program) -> bool:
    """True if pg_stat_statements, which the configuration names, is installed: some package it separately."""
    prefix = program.path.resolve().parents[1]
    return any(True for place in _LIBRARIES for _ in prefix.glob(f"{place}/pg_stat_statements.*"))


KIND = ServerKind(
    dialect=Dialect.POSTGRESQL,
    title="PostgreSQL",
    schemes=("postgresql", "postgres"),
    port=5432,
    prefix="POSTGRES",
    container_port=25432,
    password="POSTGRES_PASSWORD",  # noqa: S106 - its name
    account="postgres",
    configuration=("postgresql/bird.conf", "/etc/postgresql/bird.conf"),
    command=("postgres", "-c", "config_file=/etc/postgresql/bird.conf", "-c", "listen_addresses=*"),
    variables={"POSTGRES_INITDB_ARGS": " ".join((*INITDB_OPTIONS, "--auth=scram-sha-256"))},
    most_processes=256,
    most_data=BACKEND_BYTES,
    official="postgres",
    versions=("14", "15", "16", "17", "18"),
    packages=("postgresql-18",),
    mount="/var/lib/postgresql",
    data="/var/lib/postgresql/bird",
    loaded_files={"loaded/postgresql.sh": ENTRANCE},
    system_accounts=("postgres", "nobody"),
    leftovers=("postmaster.pid",),
    stop_signal=signal.SIGINT,
    abort_signal=signal.SIGQUIT,
    find=_find,
    secret=_secret,
    initialise=_initialise,
    serve=_serve,
)

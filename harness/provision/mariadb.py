"""MariaDB servers: the `ServerKind`, and how a private server is found, initialised and started."""

import re
import signal
import subprocess
from pathlib import Path

from dialects.enums import Dialect
from harness.provision import mysql, packages
from harness.provision.servers import Home, Program, ServerKind

_LEAST = (11, 8)
"""It has MySQL's collations by their names, and limits the memory and the disk of a session."""
_PLACES = (
    Path("/usr/sbin/mariadbd"),
    Path("/usr/libexec/mariadbd"),
    Path("/opt/homebrew/opt/mariadb/bin/mariadbd"),
)
_SYSTEM = ("mariadb_system_tables.sql", "mariadb_system_tables_data.sql", "mariadb_performance_tables.sql")
"""The statements that `mariadb-install-db` gives to a server that it starts for them."""


def _find() -> Program:
    return _installed() or _unpacked()


def _installed() -> Program | None:
    for path in _PLACES:
        if path.exists() and (version := _version(path)) and _share(path).is_dir():
            return Program(path, version)
    return None


def _version(path: Path) -> str | None:
    said = subprocess.run(
        [path, "--no-defaults", "--version"], capture_output=True, text=True, check=False
    ).stdout
    found = re.search(r"Ver (?P<version>(?P<major>\d+)\.(?P<minor>\d+)[\d.]*)-MariaDB", said)
    if not found or (int(found["major"]), int(found["minor"])) < _LEAST:
        return None
    return found["version"]


def _share(path: Path) -> Path:
    """Return the folder of the program's statements and messages."""
    prefix = path.parents[1]
    return next((one for one in (prefix / "share/mariadb", prefix / "share/mysql") if one.is_dir()), prefix)


def _unpacked() -> Program:
    root = packages.unpacked("MariaDB", ("mariadb-server-core",), programs=("usr/sbin/mariadbd",))
    path = root.folder / "usr/sbin/mariadbd"
    return Program(path, root.version, mysql.unpacked_options(root.folder, _share(path)))


def _secret(program: Program, password: str) -> str:
    """Return the statements that make the system's tables, with one account that can log in."""
    share = _share(program.path)
    return "\n".join(
        [
            "CREATE DATABASE mysql;",
            "USE mysql;",
            *((share / name).read_text("utf-8") for name in _SYSTEM),
            "DELETE FROM mysql.global_priv WHERE User = 'root';",
            "FLUSH PRIVILEGES;",
            f"CREATE USER 'root'@'%' IDENTIFIED BY '{password}';",
            "GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;\n",
        ]
    )


def _initialise(program: Program, home: Home, data: Path, secret: Path) -> list[str]:
    """https://mariadb.com/kb/en/mariadbd-options/#-bootstrap."""
    command = [*mysql.command(program, home, data), _files(home), "--bootstrap"]
    return ["/bin/sh", "-c", 'secret=$1; shift; exec "$@" < "$secret"', "sh", str(secret), *command]


def _serve(program: Program, home: Home, port: int) -> list[str]:
    return [*mysql.serve(program, home, port), _files(home)]


def _files(home: Home) -> str:
    """Files on the server's side stay out of reach."""
    return f"--secure-file-priv={home.temporary}"


KIND = ServerKind(
    dialect=Dialect.MARIADB,
    title="MariaDB",
    schemes=("mariadb",),
    port=3306,
    prefix="MARIADB",
    container_port=23307,
    password="MARIADB_ROOT_PASSWORD",  # noqa: S106 - its name
    account="root",
    configuration=("mariadb/bird.cnf", "/etc/mysql/conf.d/bird.cnf"),
    command=("mariadbd",),
    most_processes=mysql.KIND.most_processes,
    official="mariadb",
    versions=("11.8",),
    packages=("mariadb-server-core", "mariadb-client-core"),
    mount="/var/lib/mysql",
    data="/var/lib/mysql",
    loaded_files={},
    system_accounts=mysql.KIND.system_accounts,
    leftovers=mysql.KIND.leftovers,
    stop_signal=signal.SIGTERM,
    abort_signal=signal.SIGKILL,
    find=_find,
    secret=_secret,
    initialise=_initialise,
    serve=_serve,
)

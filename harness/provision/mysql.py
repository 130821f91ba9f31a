"""MySQL servers: the `ServerKind`, and how a private server is found, initialised and started."""

import re
import shutil
import signal
import subprocess
from pathlib import Path

from dialects.enums import Dialect
from harness.provision import packages
from harness.provision.servers import ENTRANCE, Home, Program, ServerKind

_PACKAGES = ("mysql-server-core", "tzdata", "tzdata-legacy")
_SOCKET = "mysqld.sock"
_TIME_ZONES = "mysql_tzinfo_to_sql"
_LEAST_MAJOR = 8
_PLACES = (
    "/usr/sbin",
    "/usr/libexec",
    "/usr/local/mysql/bin",
    "/opt/homebrew/opt/mysql/bin",
    "/usr/local/opt/mysql/bin",
)


def _find() -> Program:
    return _installed() or _unpacked()


def _installed() -> Program | None:
    """Find a MySQL on the machine that is recent enough and not MariaDB."""
    for place in (None, *_PLACES):
        path = shutil.which("mysqld", path=place)
        version = _version(Path(path)) if path else None
        if path and version:
            return Program(Path(path), version)
    return None


def _version(path: Path) -> str | None:
    said = subprocess.run(
        [path, "--no-defaults", "--version"], capture_output=True, text=True, check=False
    ).stdout
    found = re.search(r"Ver (?P<version>(?P<major>\d+)\.[\d.]+)", said)
    if not found or "mariadb" in said.lower() or int(found["major"]) < _LEAST_MAJOR:
        return None
    return found["version"]


def _unpacked() -> Program:
    root = packages.unpacked("MySQL", _PACKAGES, programs=("usr/sbin/mysqld", f"usr/bin/{_TIME_ZONES}"))
    share = root.folder / "usr/share/mysql"
    return Program(root.folder / "usr/sbin/mysqld", root.version, unpacked_options(root.folder, share))


def unpacked_options(folder: Path, share: Path) -> tuple[str, ...]:
    """Return where a server in a folder finds its files; `share` has its messages."""
    return (
        f"--basedir={folder / 'usr'}",
        f"--lc-messages-dir={share}",
        f"--character-sets-dir={share / 'charsets'}",
        f"--plugin-dir={folder / 'usr/lib/mysql/plugin'}",
    )


def _secret(program: Program, password: str) -> str:
    """Let root log in by TCP, from wherever the server's address can be reached."""
    return (
        f"ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}';\n"
        f"CREATE USER 'root'@'%' IDENTIFIED BY '{password}';\n"
        "GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;\n"
    ) + _time_zones(program)


def _time_zones(program: Program) -> str:
    """Return statements that load the named time zones, as the official image's entry point does.

    One per line, as an initialisation file requires. Empty if the machine has no time zones or the server
    came without the program that reads them.
    """
    prefix = program.path.parents[1]
    tool = prefix / "bin" / _TIME_ZONES
    zones = prefix / "share/zoneinfo"
    if not zones.is_dir():
        zones = Path("/usr/share/zoneinfo")
    if not tool.exists() or not zones.is_dir():
        return ""
    said = subprocess.run([tool, zones], capture_output=True, text=True, check=False).stdout
    return "USE mysql;\n" + "".join(
        f"{' '.join(line.split())};\n" for line in said.split(";") if line.strip()
    )


def _initialise(program: Program, home: Home, data: Path, secret: Path) -> list[str]:
    """https://dev.mysql.com/doc/refman/9.7/en/data-directory-initialization.html."""
    return [*command(program, home, data), "--initialize-insecure", f"--init-file={secret}"]


def serve(program: Program, home: Home, port: int) -> list[str]:
    """Return the command of a server for this machine alone."""
    return [*command(program, home, home.data), "--bind-address=127.0.0.1", f"--port={port}"]


def command(program: Program, home: Home, data: Path) -> list[str]:
    """Return the command of a server with its data, and without an address."""
    # A socket's path may have at most 107 characters; in the working folder its name is enough.
    return [
        str(program.path),
        f"--defaults-file={home.configuration}",
        *program.options,
        f"--datadir={data}",
        f"--tmpdir={home.temporary}",
        f"--socket={_SOCKET}",
        "--pid-file=mysqld.pid",
    ]


KIND = ServerKind(
    dialect=Dialect.MYSQL,
    title="MySQL",
    schemes=("mysql",),
    port=3306,
    prefix="MYSQL",
    container_port=23306,
    password="MYSQL_ROOT_PASSWORD",  # noqa: S106 - its name
    account="root",
    configuration=("mysql/bird.cnf", "/etc/mysql/conf.d/bird.cnf"),
    command=("mysqld",),
    most_processes=512,
    official="mysql",
    versions=("8.4", "9.7"),
    packages=("mysql-server-core", "mysql-client-core"),
    mount="/var/lib/mysql",
    data="/var/lib/mysql",
    # MySQL refuses its data under other settings, so these apply even if no file is mounted.
    loaded_files={"loaded/mysql.sh": ENTRANCE, "mysql/bird.cnf": "/etc/mysql/conf.d/bird.cnf"},
    system_accounts=("mysql", "nobody"),
    leftovers=(_SOCKET, f"{_SOCKET}.lock"),
    stop_signal=signal.SIGTERM,
    abort_signal=signal.SIGKILL,
    find=_find,
    secret=_secret,
    initialise=_initialise,
    serve=serve,
)

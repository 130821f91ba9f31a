"""Private MySQL and PostgreSQL servers that need neither Docker nor root.

A server has its own folder, listens only on 127.0.0.1, requires a generated password, and is configured by
the same files as the containers. It keeps running when the process that started it ends, and later processes
find it; `throwaway` provides one that ends with its caller instead.
"""

import atexit
import contextlib
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from signal import Signals

from filelock import FileLock

from dialects.enums import Dialect
from harness.engines.base import EngineLost
from harness.provision import envfile
from harness.provision.servers import (
    LOOPBACK,
    SERVERS,
    Home,
    Program,
    ServerKind,
    ServerState,
    assets,
    last_words,
    say,
    version_of,
    wait_for,
    write_secret,
)
from loaders.base import paths
from loaders.base.errors import EngineUnavailable
from loaders.base.processes import working_in
from loaders.server import Server

_STOP_SECONDS = 20
"""Seconds until a server that was asked to stop is ended: it may wait for a statement that never looks."""
_READY_SECONDS = 120
_PAUSE_SECONDS = 0.05
_STARTED_FIELD = 19  # of /proc/PID/stat, counted from the state, which is the first after the name

_GUARD = r"""
read -r _ && exit
kill -9 -- "-$(sed -n 's/^ *"pid": \([1-9][0-9]*\),$/\1/p' "$1/server.json")"
for process in /proc/[0-9]*; do
    [ "$(readlink "$process/cwd")" = "$1/data" ] && kill -9 "${process#/proc/}"
done
rm -rf -- "$2"
"""
"""Waits for a line from its starter. If none comes, ends the server of folder 1 and removes folder 2."""

_LIMITED = 'ulimit -d "$0" 2>/dev/null; exec "$@"'
"""Some systems have no such limit."""

_children: dict[int, subprocess.Popen[bytes]] = {}
"""Servers that this process started: only their parent can reap them when they end."""


@atexit.register
def _let_go() -> None:
    """Keep Popen from warning about servers that keep running on purpose."""
    for child in _children.values():
        child.returncode = 0


def start(dialect: Dialect, *, home: Path | None = None) -> Server:
    """Start the private server of `dialect`, or find it running.

    Args:
        dialect: MySQL or PostgreSQL.
        home: the server's folder; created, and initialised once. Default: in the user's `paths.state`.

    Returns:
        A server that answers queries. It runs until `stop`.

    Raises:
        EngineUnavailable: there is no server program, or it does not start; with the end of its log.
    """
    at = _home(dialect, home)
    at.folder.mkdir(parents=True, exist_ok=True)
    with _lock(at):
        return _found_or_started(dialect, at)


def _found_or_started(dialect: Dialect, at: Home) -> Server:
    """Do the work of `start` under the folder's lock."""
    found = running(dialect, home=at.folder)
    if found:
        return found
    kind = SERVERS[dialect]
    _end(at, kind.stop_signal)
    program = kind.find()
    runs_as = _runs_as(kind)
    say(f"starting {kind.title} {program.version} as a private server ...")
    return _launch(kind, program, at, runs_as).server(dialect, at)


def running(dialect: Dialect, *, home: Path | None = None) -> Server | None:
    """Return the private server of `dialect` if it runs and answers a query."""
    at = _home(dialect, home)
    known = ServerState.read(at.state)
    if known is None or identity(known.pid) != known.identity:
        return None
    server = known.server(dialect, at)
    return server if version_of(server) else None


def stop(dialect: Dialect, *, home: Path | None = None) -> bool:
    """Stop the private server of `dialect` and keep its data. Return True if one was running."""
    at = _home(dialect, home)
    if not at.folder.is_dir():
        return False
    with _lock(at):
        ended = _end(at, SERVERS[dialect].stop_signal)
        if (known := ServerState.read(at.state)) is not None:
            replace(known, pid=0, identity="").write(at.state)
        return ended


def revive(dialect: Dialect, *, home: Path) -> bool:
    """Start a private server again that has died. Return False if it was stopped on purpose.

    Raises:
        EngineUnavailable: it does not start.
    """
    at = _home(dialect, home)
    if not at.folder.is_dir():
        return False
    with _lock(at):
        known = ServerState.read(at.state)
        if known is None or known.pid == 0:
            return False
        _found_or_started(dialect, at)
    return True


def destroy(dialect: Dialect, *, home: Path | None = None) -> bool:
    """End the private server of `dialect` at once and remove its data. Return True if there was any."""
    at = _home(dialect, home)
    if not at.folder.is_dir():
        return False
    with _lock(at):
        _end(at, SERVERS[dialect].abort_signal)
        shutil.rmtree(at.folder)
    return True


@contextlib.contextmanager
def throwaway(dialect: Dialect) -> Iterator[Server]:
    """Provide a server that is stopped and removed when the context, or at the latest the process, ends.

    If the process is killed, the server ends as well.
    """
    folder = Path(tempfile.mkdtemp(prefix="bird-harness-"))
    folder.chmod(0o755)  # the account that root starts the server as must be able to enter it
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        guard = subprocess.Popen(
            ["sh", "-c", _GUARD, "guard", str(folder / dialect), str(folder)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        stack.callback(guard.communicate, b"\n")
        stack.callback(destroy, dialect, home=folder / dialect)
        atexit.register(stack.close)
        stack.callback(atexit.unregister, stack.close)
        yield start(dialect, home=folder / dialect)


def _home(dialect: Dialect, home: Path | None) -> Home:
    return Home((home or paths.state() / dialect).absolute())


def _lock(at: Home) -> FileLock:
    return FileLock(at.folder.with_name(f"{at.folder.name}.lock"))


def _end(at: Home, signal: Signals) -> bool:
    """End the server that runs in the folder, with every process that an earlier one has left there.

    A backend of PostgreSQL that is in a long function outlives its server, keeps the shared memory, and so
    prevents the next start. Return True if there was any process.
    """
    known = ServerState.read(at.state)
    has_run = known is not None and identity(known.pid) == known.identity
    if known is not None and has_run:
        end_process(known.pid, known.identity, signal, _STOP_SECONDS)
    left = {pid: identity(pid) for pid in working_in(at.data)}
    for pid, its in left.items():
        end_process(pid, its or "", Signals.SIGKILL, _STOP_SECONDS)
    return has_run or bool(left)


def _runs_as(kind: ServerKind) -> pwd.struct_passwd | None:
    """Return the account that root starts the server as."""
    if not paths.is_root():
        return None
    for name in kind.system_accounts:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise EngineUnavailable(
        f"{kind.title} does not run as root, and this machine has none of the accounts "
        f"{', '.join(kind.system_accounts)}; run as another user, or create one of them"
    )


def _launch(kind: ServerKind, program: Program, home: Home, runs_as: pwd.struct_passwd | None) -> ServerState:
    """Start a server in an existing folder in which none runs; initialise its data folder the first time.

    Args:
        kind: how it is initialised and started.
        program: the server program.
        home: the folder.
        runs_as: the account that the server runs as, or None for the current one.

    Returns:
        The state of a server that answers queries, already written to `home`.

    Raises:
        EngineUnavailable: the server does not start; with the last lines of its log.
    """
    home.folder.chmod(0o755 if runs_as else 0o700)
    shutil.copyfile(assets() / "docker" / kind.configuration[0], home.configuration)
    home.configuration.chmod(0o644)
    _give(home.temporary, runs_as)
    known = ServerState.read(home.state) if home.data.is_dir() else None
    if known is None:
        known = _initialise(kind, program, home, runs_as)
    for name in kind.leftovers:
        (home.data / name).unlink(missing_ok=True)
    port = known.port if _is_free(known.port) else _free_port()
    most = str((kind.most_data or envfile.memory(kind)) // 1024)
    command = ["/bin/sh", "-c", _LIMITED, most, *kind.serve(program, home, port)]
    pid = _run(kind, command, home, home.data, runs_as).pid
    started = identity(pid) or ""
    launched = ServerState(port, known.user, known.password, pid, started, program.version)
    launched.write(home.state)

    def check() -> None:
        if identity(pid) != started:
            raise _failed(kind, home, "stopped while it was starting")

    try:
        wait_for(launched.server(kind.dialect, home), _READY_SECONDS, check)
    except BaseException as error:
        end_process(pid, started, kind.stop_signal, _STOP_SECONDS)
        if isinstance(error, EngineLost):
            raise _failed(kind, home, str(error)) from error
        raise
    return launched


def _initialise(
    kind: ServerKind, program: Program, home: Home, runs_as: pwd.struct_passwd | None
) -> ServerState:
    """Make the data folder; it appears under its name only when it is complete."""
    shutil.rmtree(home.data, ignore_errors=True)
    data = home.folder / "data.new"
    shutil.rmtree(data, ignore_errors=True)
    _give(data, runs_as)
    secret = home.folder / "secret"
    new = ServerState(0, kind.account, secrets.token_urlsafe(24), 0, "", program.version)
    write_secret(secret, kind.secret(program, new.password))
    if runs_as:
        os.chown(secret, runs_as.pw_uid, runs_as.pw_gid)
    try:
        child = _run(kind, kind.initialise(program, home, data, secret), home, data, runs_as)
        code = _children.pop(child.pid).wait()
    finally:
        secret.unlink()
    if code != 0:
        raise _failed(kind, home, f"could not initialise its data folder (exit code {code})")
    new.write(home.state)
    data.rename(home.data)
    return new


def _run(
    kind: ServerKind, command: Sequence[str], home: Home, folder: Path, runs_as: pwd.struct_passwd | None
) -> "subprocess.Popen[bytes]":
    """Start a command of `kind` in a new session, with `folder` as its working folder.

    Its output replaces the log of `home`.
    """
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "MYSQL_", "LC_", "LANG"))}
    try:
        with home.log.open("wb") as output:
            child = subprocess.Popen(
                command,
                cwd=folder,
                env={**inherited, "HOME": str(folder), "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=runs_as.pw_uid if runs_as else None,
                group=runs_as.pw_gid if runs_as else None,
                extra_groups=[] if runs_as else None,
            )
    except OSError as error:
        who = runs_as.pw_name if runs_as else "this account"
        raise EngineUnavailable(
            f"private {kind.title} server: {who} cannot run {command[0]} ({error.strerror}); choose "
            "folders that it can enter with BIRD_CACHE and BIRD_STATE, or use Docker"
        ) from error
    _children[child.pid] = child
    return child


def _give(folder: Path, owner: pwd.struct_passwd | None) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    if owner:
        os.chown(folder, owner.pw_uid, owner.pw_gid)


def _failed(kind: ServerKind, home: Home, what: str) -> EngineUnavailable:
    said = home.log.read_text("utf-8", errors="replace") if home.log.exists() else ""
    return EngineUnavailable(f"private {kind.title} server: {what}; {last_words(said)} (from {home.log})")


def _is_free(port: int) -> bool:
    if port == 0:
        return False
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def identity(pid: int) -> str | None:
    """Return what distinguishes a process from a later one with the same id; None if it is not running.

    A zombie process is not running.
    """
    child = _children.get(pid)
    if child and child.poll() is not None:
        del _children[pid]
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except (FileNotFoundError, ProcessLookupError):
        return _identity_by_ps(pid)
    if fields[0] in "ZX":
        if pid in _children:
            _children.pop(pid).wait()
        return None
    return f"{boot} {fields[_STARTED_FIELD]}"


def _identity_by_ps(pid: int) -> str | None:
    """Return the same on a system without /proc."""
    if Path("/proc/self/stat").exists():
        return None
    said = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return said.stdout.strip() or None


def end_process(pid: int, expected: str, signal: Signals, seconds: float) -> None:
    """End the process whose `identity` was `expected`: cleanly if it does so in time, else by force."""
    for each in (signal, Signals.SIGKILL):
        if identity(pid) != expected:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, each)
        deadline = time.monotonic() + seconds
        while identity(pid) == expected and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)

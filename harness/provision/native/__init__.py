"""Private MySQL and PostgreSQL servers that need neither Docker nor root.

A server lives in a folder of its own, listens on 127.0.0.1 alone, asks for a generated password, and is
configured by the same files as the containers. It goes on running when the process that started it ends, and
later processes find it; `throwaway` gives one that ends with its caller instead.
"""

import atexit
import contextlib
import importlib
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from signal import Signals

from filelock import FileLock

from dialects.enums import Dialect
from harness.engines.base import EngineLost
from harness.provision import assets, readiness
from harness.provision.native import process
from harness.provision.native.process import SystemAccount
from harness.provision.native.recipe import LOOPBACK, Home, Program, ServerRecipe, State, write_secret
from harness.provision.readiness import last_words, say
from loaders.base import paths
from loaders.base.errors import EngineUnavailable
from loaders.server import Server

_STOP_SECONDS = 60
_READY_SECONDS = 120


def start(dialect: Dialect, *, home: Path | None = None) -> Server:
    """Start the private server of `dialect`, or find it running.

    Args:
        dialect: MySQL or PostgreSQL.
        home: the server's folder; created, and initialised once. Default: the user's own, in `paths.state`.

    Returns:
        A server that answers queries. It runs until `stop`.

    Raises:
        EngineUnavailable: there is no server program, or it does not start; with its last words.
    """
    recipe = _recipe(dialect)
    at = _home(dialect, home)
    at.folder.mkdir(parents=True, exist_ok=True)
    with _lock(at):
        found = running(dialect, home=home)
        if found:
            return found
        _end(at, recipe.stop_signal)
        program = recipe.find()
        runs_as = _runs_as(recipe)
        say(f"starting {recipe.title} {program.version} as a private server ...")
        return _launch(dialect, recipe, program, at, runs_as).server(dialect)


def running(dialect: Dialect, *, home: Path | None = None) -> Server | None:
    """The private server of `dialect` if it runs and answers a query."""
    known = State.read(_home(dialect, home).state)
    if known is None or process.identity(known.pid) != known.identity:
        return None
    server = known.server(dialect)
    return server if readiness.version(server) else None


def stop(dialect: Dialect, *, home: Path | None = None) -> bool:
    """Stop the private server of `dialect` and keep its data. Whether there was one to stop."""
    at = _home(dialect, home)
    if not at.folder.is_dir():
        return False
    with _lock(at):
        return _end(at, _recipe(dialect).stop_signal)


def destroy(dialect: Dialect, *, home: Path | None = None) -> bool:
    """End the private server of `dialect` at once and remove its data. Whether there was any."""
    at = _home(dialect, home)
    if not at.folder.is_dir():
        return False
    with _lock(at):
        _end(at, _recipe(dialect).abort_signal)
        shutil.rmtree(at.folder)
    return True


@contextlib.contextmanager
def throwaway(dialect: Dialect) -> Iterator[Server]:
    """A server that is stopped and removed when the context, or at the latest the process, ends."""
    folder = Path(tempfile.mkdtemp(prefix="bird-harness-"))
    folder.chmod(0o755)  # the account that root starts the server as has to enter it
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        stack.callback(destroy, dialect, home=folder / dialect)
        atexit.register(stack.close)
        stack.callback(atexit.unregister, stack.close)
        yield start(dialect, home=folder / dialect)


def _recipe(dialect: Dialect) -> ServerRecipe:
    """The recipe in the module of that name."""
    found: ServerRecipe = importlib.import_module(f"{__name__}.{dialect}").RECIPE
    return found


def _home(dialect: Dialect, home: Path | None) -> Home:
    return Home((home or paths.state() / dialect).absolute())


def _lock(at: Home) -> FileLock:
    return FileLock(at.folder.with_name(f"{at.folder.name}.lock"))


def _end(at: Home, signal: Signals) -> bool:
    """End the server that runs in the folder by a signal of its recipe, if one does."""
    known = State.read(at.state)
    if known is None or process.identity(known.pid) != known.identity:
        return False
    process.stop(known.pid, known.identity, signal, _STOP_SECONDS)
    return True


def _runs_as(recipe: ServerRecipe) -> SystemAccount | None:
    """Who root starts the server as."""
    if not paths.is_root():
        return None
    found = process.account(recipe.system_accounts)
    if found is None:
        raise EngineUnavailable(
            f"{recipe.title} does not run as root, and this machine has none of the accounts "
            f"{', '.join(recipe.system_accounts)}; run as another user, or create one of them"
        )
    return found


def _launch(
    dialect: Dialect, recipe: ServerRecipe, program: Program, home: Home, runs_as: SystemAccount | None
) -> State:
    """Start the server in `home`, with its data folder initialised the first time.

    Args:
        dialect: what the server speaks.
        recipe: how it is initialised and started.
        program: the server program.
        home: an existing folder in which no server runs.
        runs_as: who the server runs as, or None for the account that we run as.

    Returns:
        The state of a server that answers queries, already written down in `home`.

    Raises:
        EngineUnavailable: the server does not start; with the last lines of its log.
    """
    home.folder.chmod(0o755 if runs_as else 0o700)
    shutil.copyfile(assets.folder() / "docker" / recipe.configuration, home.configuration)
    home.configuration.chmod(0o644)
    _give(home.temporary, runs_as)
    known = State.read(home.state) if home.data.is_dir() else None
    if known is None:
        known = _initialise(recipe, program, home, runs_as)
    for name in recipe.leftovers:
        (home.data / name).unlink(missing_ok=True)
    port = known.port if _is_free(known.port) else _free_port()
    pid = _run(recipe, recipe.serve(program, home, port), home, home.data, runs_as)
    identity = process.identity(pid) or ""
    launched = State(port, known.user, known.password, pid, identity, program.version)
    launched.write(home.state)

    def check() -> None:
        if process.identity(pid) != identity:
            raise _failed(recipe, home, "stopped while it was starting")

    try:
        readiness.wait(launched.server(dialect), _READY_SECONDS, check)
    except BaseException as error:
        process.stop(pid, identity, recipe.stop_signal, _STOP_SECONDS)
        if isinstance(error, EngineLost):
            raise _failed(recipe, home, str(error)) from error
        raise
    return launched


def _initialise(recipe: ServerRecipe, program: Program, home: Home, runs_as: SystemAccount | None) -> State:
    """Make the data folder; it appears under its name only when it is complete."""
    shutil.rmtree(home.data, ignore_errors=True)
    data = home.folder / "data.new"
    shutil.rmtree(data, ignore_errors=True)
    _give(data, runs_as)
    secret = home.folder / "secret"
    new = State(0, recipe.account, secrets.token_urlsafe(24), 0, "", program.version)
    write_secret(secret, recipe.secret(program, new.password))
    if runs_as:
        os.chown(secret, runs_as.user, runs_as.group)
    try:
        code = process.wait(_run(recipe, recipe.initialise(program, home, data, secret), home, data, runs_as))
    finally:
        secret.unlink()
    if code != 0:
        raise _failed(recipe, home, f"could not initialise its data folder (exit code {code})")
    new.write(home.state)
    data.rename(home.data)
    return new


def _run(
    recipe: ServerRecipe, command: list[str], home: Home, folder: Path, runs_as: SystemAccount | None
) -> int:
    """Start a command of `recipe` in `folder`; its process id."""
    try:
        return process.start(command, folder, home.log, runs_as)
    except OSError as error:
        who = runs_as.name if runs_as else "this account"
        raise EngineUnavailable(
            f"private {recipe.title} server: {who} cannot run {command[0]} ({error.strerror}); choose "
            "folders that it can enter with BIRD_CACHE and BIRD_STATE, or use Docker"
        ) from error


def _give(folder: Path, owner: SystemAccount | None) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    if owner:
        os.chown(folder, owner.user, owner.group)


def _failed(recipe: ServerRecipe, home: Home, what: str) -> EngineUnavailable:
    said = home.log.read_text("utf-8", errors="replace") if home.log.exists() else ""
    return EngineUnavailable(f"private {recipe.title} server: {what}; {last_words(said)} (from {home.log})")


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

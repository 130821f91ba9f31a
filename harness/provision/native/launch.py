"""Initialising and starting one private server in its folder."""

import os
import secrets
import shutil
import socket
from pathlib import Path

from dialects.enums import Dialect
from harness.engines.base import EngineLost
from harness.provision import assets, readiness
from harness.provision.native import process, state
from harness.provision.native.process import Account
from harness.provision.native.recipe import Home, Program, Recipe
from harness.provision.native.state import State
from harness.provision.progress import last_words
from loaders.errors import EngineUnavailable

STOP_SECONDS = 60
_READY_SECONDS = 120


def launch(dialect: Dialect, recipe: Recipe, program: Program, home: Home, runs_as: Account | None) -> State:
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
    known = state.read(home.state) if home.data.is_dir() else None
    if known is None:
        known = _initialise(recipe, program, home, runs_as)
    for name in recipe.leftovers:
        (home.data / name).unlink(missing_ok=True)
    port = known.port if _is_free(known.port) else _free_port()
    pid = _run(recipe, recipe.serve(program, home, port), home, home.data, runs_as)
    identity = process.identity(pid) or ""
    launched = State(port, known.user, known.password, pid, identity, program.version)
    state.write(home.state, launched)

    def check() -> None:
        if process.identity(pid) != identity:
            raise _failed(recipe, home, "stopped while it was starting")

    try:
        readiness.wait(launched.server(dialect), _READY_SECONDS, check)
    except BaseException as error:
        process.stop(pid, identity, recipe.stop_signal, STOP_SECONDS)
        if isinstance(error, EngineLost):
            raise _failed(recipe, home, str(error)) from error
        raise
    return launched


def _initialise(recipe: Recipe, program: Program, home: Home, runs_as: Account | None) -> State:
    """Make the data folder; it appears under its name only when it is complete."""
    shutil.rmtree(home.data, ignore_errors=True)
    data = home.folder / "data.new"
    shutil.rmtree(data, ignore_errors=True)
    _give(data, runs_as)
    secret = home.folder / "secret"
    new = State(0, recipe.account, secrets.token_urlsafe(24), 0, "", program.version)
    state.write_secret(secret, recipe.secret(program, new.password))
    if runs_as:
        os.chown(secret, runs_as.user, runs_as.group)
    try:
        code = process.wait(_run(recipe, recipe.initialise(program, home, data, secret), home, data, runs_as))
    finally:
        secret.unlink()
    if code != 0:
        raise _failed(recipe, home, f"could not initialise its data folder (exit code {code})")
    state.write(home.state, new)
    data.rename(home.data)
    return new


def _run(recipe: Recipe, command: list[str], home: Home, folder: Path, runs_as: Account | None) -> int:
    """Start a command of `recipe` in `folder`; its process id."""
    try:
        return process.start(command, folder, home.log, runs_as)
    except OSError as error:
        who = runs_as.name if runs_as else "this account"
        raise EngineUnavailable(
            f"private {recipe.title} server: {who} cannot run {command[0]} ({error.strerror}); choose "
            "folders that it can enter with BIRD_CACHE and BIRD_STATE, or use Docker"
        ) from error


def _give(folder: Path, owner: Account | None) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    if owner:
        os.chown(folder, owner.user, owner.group)


def _failed(recipe: Recipe, home: Home, what: str) -> EngineUnavailable:
    said = home.log.read_text("utf-8", errors="replace") if home.log.exists() else ""
    return EngineUnavailable(f"private {recipe.title} server: {what}; {last_words(said)} (from {home.log})")


def _is_free(port: int) -> bool:
    if port == 0:
        return False
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((state.LOOPBACK, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((state.LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port

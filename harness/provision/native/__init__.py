"""Private MySQL and PostgreSQL servers that need neither Docker nor root.

A server lives in a folder of its own, listens on 127.0.0.1 alone, asks for a generated password, and is
configured by the same files as the containers. It goes on running when the process that started it ends, and
later processes find it; `throwaway` gives one that ends with its caller instead.
"""

import atexit
import contextlib
import importlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock

from dialects.enums import Dialect
from harness.provision import readiness
from harness.provision.native import process, state
from harness.provision.native.launch import STOP_SECONDS, launch
from harness.provision.native.recipe import Home, Recipe
from harness.provision.progress import say
from loaders import paths
from loaders.errors import EngineUnavailable
from loaders.server import Server


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
        _end(recipe, at)
        program = recipe.find()
        runs_as = _runs_as(recipe)
        say(f"starting {recipe.title} {program.version} as a private server ...")
        return launch(dialect, recipe, program, at, runs_as).server(dialect)


def running(dialect: Dialect, *, home: Path | None = None) -> Server | None:
    """The private server of `dialect` if it runs and answers a query."""
    known = state.read(_home(dialect, home).state)
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
        return _end(_recipe(dialect), at)


def destroy(dialect: Dialect, *, home: Path | None = None) -> bool:
    """Stop the private server of `dialect` and remove its data. Whether there was any."""
    at = _home(dialect, home)
    if not at.folder.is_dir():
        return False
    with _lock(at):
        _end(_recipe(dialect), at)
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


def _recipe(dialect: Dialect) -> Recipe:
    """The recipe in the module of that name."""
    found: Recipe = importlib.import_module(f"{__name__}.{dialect}").RECIPE
    return found


def _home(dialect: Dialect, home: Path | None) -> Home:
    return Home((home or paths.state() / dialect).absolute())


def _lock(at: Home) -> FileLock:
    return FileLock(at.folder.with_name(f"{at.folder.name}.lock"))


def _end(recipe: Recipe, at: Home) -> bool:
    """Stop the server that runs in the folder, if one does."""
    known = state.read(at.state)
    if known is None or process.identity(known.pid) != known.identity:
        return False
    process.stop(known.pid, known.identity, recipe.stop_signal, STOP_SECONDS)
    return True


def _runs_as(recipe: Recipe) -> process.Account | None:
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

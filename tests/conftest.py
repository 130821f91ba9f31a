"""Real servers for the tests, found or started by the project's own code, one per engine and session."""

import os
import re
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from dialects.enums import Dialect
from harness import provision
from harness.engines import on_server
from harness.provision import compose, dsn, envfile
from harness.provision.servers import SERVERS
from loaders.base import paths
from loaders.base.errors import EngineUnavailable
from loaders.server import Origin, Server
from tests import forked
from tests.every_engine import SERVED
from tests.longest import longest, ran_on
from tests.reasons import Reason, not_tested, skip

# What `make test ARGS=...` was given is none of the business of a `make` that a test runs.
for _name in ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "ARGS"):
    os.environ.pop(_name, None)
# In the processes of pytest-xdist they are set for no terminal; readline, which pytest imports, sets them
# where `os.environ` does not see it. The tables of a command obey them.
for _name in ("COLUMNS", "LINES"):
    os.environ.pop(_name, None)
    os.unsetenv(_name)
# Where the environment forbids to keep bytecode, each of the hundreds of commands that tests start would
# compile the project anew, which takes as long as the rest of it; `make clean` removes what is kept.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Commands started from here inherit an ignored SIGINT (background jobs, some CI), and tests send it to them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_OWN = Path(tempfile.mkdtemp(prefix="bird-harness-tests-"))
"""What this process's tests have instead of the user's folders; removed at the end."""


def _leave_the_users_alone() -> None:
    """Give tests, and the commands that they run, other folders and servers than the user's.

    `BIRD_PROVISION` names the user's own wish: `dsn` or `compose` tests on the servers that the user named or
    started. Else neither is seen: commands of tests load and drop databases, and some stop servers. The cache
    is kept for the next session, since the servers' programs are unpacked there.
    """
    asked = os.environ.get("BIRD_PROVISION", "")
    if asked != Origin.DSN:
        for name in [name for name in os.environ if re.fullmatch("BIRD_.*_DSN", name)]:
            del os.environ[name]
    if asked != Origin.COMPOSE:
        values = envfile.read(envfile.default_path())
        for kind in SERVERS.values():
            # Which image a container has is no harm, and `make images` may have built the only one.
            envfile.write(_OWN / ".env", kind.image_variable, values[kind.image_variable])
        for name in envfile.NAMES:
            os.environ.pop(name, None)
        os.environ["COMPOSE_ENV_FILES"] = str(_OWN / ".env")
    cache = paths.cache_path()
    if not cache.name.endswith("-tests"):
        os.environ["BIRD_CACHE"] = str(cache.with_name(f"{cache.name}-tests"))
    os.environ["BIRD_STATE"] = str(_OWN / "state")


_leave_the_users_alone()

# Each run draws the same examples; `make check` and `make test` draw fewer than `make test-all`.
for _name, _examples in (("quick", 10), ("all", 100)):
    settings.register_profile(_name, max_examples=_examples, derandomize=True, deadline=None, database=None)


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples a property is tried with."""
    settings.load_profile("quick" if "not thorough" in config.getoption("markexpr") else "all")


_OF_A_MODULE = re.compile(r"^pytestmark = (\[[^\]]*\]|.*)", re.MULTILINE)
_MARKERS = frozenset({"bird", "engine", "slow", "thorough", "hypothesis"})
"""Those by which the Makefile and `.ci/run` choose; Hypothesis sets its own."""


def may_choose(expression: str, path: Path) -> bool:
    """Return False if `-m` chooses no test of a module: whatever markers it may have, they do not fit.

    A test has those of its module's `pytestmark`, and may have any that the text of the module, or of a
    `conftest.py` of its folder, has a word of: `tests.every_engine` for `engine`.
    """
    own = _OF_A_MODULE.search(path.read_text(encoding="utf-8"))
    sure = _MARKERS & set(re.findall(r"pytest\.mark\.(\w+)", own[1])) if own else frozenset()
    possible = [*(mentioned(path) - sure), *(set(re.findall(r"\w+", expression)) - _MARKERS)]
    return any(
        chooses(expression, {*sure, *some})
        for count in range(len(possible) + 1)
        for some in combinations(possible, count)
    )


def chooses(expression: str, markers: Collection[str]) -> bool:
    """Return whether `-m` may choose a test that has these markers: certain where it only names markers."""
    try:
        has = defaultdict(bool, dict.fromkeys(markers, True))
        return bool(eval(expression, {"__builtins__": {}}, has))  # noqa: S307 - the caller's own words
    except (SyntaxError, TypeError):
        # Markers with arguments, or what pytest itself refuses later.
        return True


@cache
def mentioned(path: Path) -> set[str]:
    """Return the markers that the tests of a module can have."""
    near = [each for each in (path, path.with_name("conftest.py")) if each.exists()]
    texts = " ".join(each.read_text(encoding="utf-8") for each in near)
    return {name for name in _MARKERS if name in texts}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a module of which no test is chosen before it is imported, with what it imports."""
    expression = config.getoption("markexpr")
    if not expression or not collection_path.match("test_*.py"):
        return None
    return None if may_choose(expression, collection_path) else True


@pytest.fixture(scope="session", autouse=True)
def _own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests and the commands that they run neither know what the user's runs have found nor add to it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIRD_STORE", str(tmp_path_factory.mktemp("store") / "store.sqlite"))
        yield


@pytest.fixture(scope="session")
def _stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


_SERVERS: list[str] = []
"""What the tests of this process, or of those of pytest-xdist, ran on."""


def _throwaway(request: pytest.FixtureRequest, dialect: Dialect, stack: ExitStack) -> Server:
    chosen = request.config.getoption("markexpr")
    assert "not engine" not in chosen, "a test that asks for a server has no marker `engine`"
    try:
        found = stack.enter_context(provision.throwaway(dialect))
    except EngineUnavailable as error:
        skip(Reason[f"NO_{dialect.name}"], str(error))
    _SERVERS.append(f"{dialect} {on_server(found).version()}, {found.origin}")
    return found


@pytest.fixture(scope="session")
def mysql_server(request: pytest.FixtureRequest, _stack: ExitStack) -> Server:
    return _throwaway(request, Dialect.MYSQL, _stack)


@pytest.fixture(scope="session")
def postgresql_server(request: pytest.FixtureRequest, _stack: ExitStack) -> Server:
    return _throwaway(request, Dialect.POSTGRESQL, _stack)


@pytest.fixture(scope="session")
def duckdb_server(request: pytest.FixtureRequest, _stack: ExitStack) -> Server:
    return _throwaway(request, Dialect.DUCKDB, _stack)


@pytest.fixture(scope="session")
def mariadb_server(request: pytest.FixtureRequest, _stack: ExitStack) -> Server:
    return _throwaway(request, Dialect.MARIADB, _stack)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test of `server` on every server, or on what its module has as `SERVERS`."""
    marks = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "server" in metafunc.fixturenames and not any("server" in names for names in marks):
        metafunc.parametrize("server", getattr(metafunc.module, "SERVERS", SERVED), indirect=True)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Server:
    """Each engine in turn that databases are loaded into."""
    found = request.getfixturevalue(f"{request.param}_server")
    assert isinstance(found, Server)
    return found


BIRD_FOLDERS = ("MINIDEV", "MINIDEV_2025", "predictions", "schema", "expected")


@pytest.fixture(scope="session")
def bird_home() -> Path:
    """The published data with predictions, schemas and the figures that are expected of it."""
    named = os.environ.get("BIRD_HOME")
    if named is None:
        skip(Reason.NO_BIRD_DATA, "it is not set")
    missing = [folder for folder in BIRD_FOLDERS if not (Path(named) / folder).is_dir()]
    if missing:
        skip(Reason.NO_BIRD_DATA, f"{named} has no {', '.join(missing)}")
    return Path(named)


MOST_PROCESSES = 8
"""Each has servers of its own, of about a gigabyte."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """What `-n auto` of the Makefile is: a process for each core that this one may use.

    One alone where servers run already: tests load and drop the same databases and change settings. Half as
    many again for thorough tests, which wait for servers that start and end, and for limits.
    """
    if any(map(_runs_already, provision.SERVED)):
        return 0
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if "not thorough" not in config.getoption("markexpr"):
        usable += (usable + 1) // 2
    return min(usable, MOST_PROCESSES)


def _runs_already(dialect: Dialect) -> bool:
    allowed = provision._allowed()
    is_named = Origin.DSN in allowed and bool(os.environ.get(dsn.variable(dialect)))
    return is_named or (Origin.COMPOSE in allowed and compose.running(dialect) is not None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put first what loads the published data, so that not every process loads all of them."""
    for item in items:
        unseen = {mark.name for mark in item.iter_markers()} & _MARKERS - mentioned(item.path)
        assert not unseen, f"{item.nodeid} has a marker that its module has no word of: {unseen}"
    items.sort(key=lambda item: not all(map(item.get_closest_marker, ("bird", "engine"))))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that prints the summary what this one ran on."""
    forked.close()
    shutil.rmtree(_OWN, ignore_errors=True)
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["servers"] = _SERVERS


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a process of pytest-xdist ran on; one that died has said nothing."""
    _SERVERS.extend(getattr(node, "workeroutput", {}).get("servers", ()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what the tests ran on, what took longest, and what could not be tested: a line for each reason."""
    reports = [each for some in terminalreporter.stats.values() for each in some if hasattr(each, "duration")]
    for line in longest((report.nodeid, report.duration) for report in reports):
        terminalreporter.write_line(line)
    terminalreporter.write_line(ran_on(_SERVERS))
    skipped = terminalreporter.stats.get("skipped", [])
    said = [report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple)]
    for line in not_tested(said):
        terminalreporter.write_line(line, yellow=True)

"""Provide engines: found by address, started in a container, or as a native process.

Servers are searched for in the order of `Origin`. The environment variable `BIRD_PROVISION` (dsn, compose,
testcontainers or native) restricts the search to one origin.
"""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from tempfile import TemporaryDirectory

from dialects.enums import Dialect
from dialects.errors import BadInput, HarnessError
from harness.engines import EngineName, kind_of, on_server, served
from harness.engines.base import EngineLost
from harness.provision import compose, containers, dsn, envfile, native
from harness.provision.servers import Home, ServerState, say
from loaders.base import paths
from loaders.base.errors import EngineUnavailable
from loaders.base.files import one_line
from loaders.server import Origin, Server

_FORCE = "BIRD_PROVISION"
SERVED = tuple(kind.dialect for kind in served())
"""The dialects that need a server."""


def find(dialect: Dialect) -> Server | None:
    """Find the server of `dialect` that is already running: named by a DSN, in a container, or native.

    Raises:
        BadInput: the DSN or `BIRD_PROVISION` is malformed.
        EngineUnavailable: the environment names a server that does not answer. No other one replaces it.
    """
    if (embedded := kind_of(dialect).embedded) is not None:
        return embedded()
    allowed = _allowed()
    if Origin.DSN in allowed and (named := dsn.server_from_environment(dialect)):
        return _answering(named)
    if Origin.COMPOSE in allowed and (started := compose.running(dialect)):
        return started
    return native.running(dialect) if Origin.NATIVE in allowed else None


def find_all(dialect: Dialect) -> tuple[Server, ...]:
    """Find the servers of `dialect` that are already running and share the work; only DSNs name several.

    They must be equal in everything that decides results.

    Raises:
        BadInput: see `find`; or two servers differ in version or settings.
        EngineUnavailable: see `find`.
    """
    is_embedded = kind_of(dialect).embedded is not None
    if is_embedded or Origin.DSN not in _allowed() or not (named := dsn.servers_from_environment(dialect)):
        found = find(dialect)
        return (found,) if found else ()
    for server in named:
        _answering(server)
    for place, server in enumerate(named[1:], start=2):
        _require_equal(named[0], server, place)
    return named


def up(
    dialects: Sequence[Dialect],
    *,
    native_processes: bool = False,
    set_name: str | None = None,
    plain: bool = False,
) -> list[Server]:
    """Make sure that a persistent server runs for each of `dialects`.

    Args:
        dialects: any; SQLite needs no server and is skipped.
        native_processes: start missing servers as private processes instead of containers.
        set_name: the question set whose databases a new container should have inside, if there is an image of
            them (`compose.up`). Default: any.
        plain: start new containers empty.

    Returns:
        Servers that answer queries, in the order of `dialects`.

    Raises:
        BadInput: a DSN or `BIRD_PROVISION` is malformed, or there is no such question set.
        EngineUnavailable: a server cannot be started, or does not answer; the message says what to do.
    """
    allowed = _allowed()
    wanted = [dialect for dialect in dialects if dialect in SERVED]
    named = {dialect: dsn.server_from_environment(dialect) for dialect in wanted if Origin.DSN in allowed}
    servers = {dialect: _answering(server) for dialect, server in named.items() if server}
    missing = [dialect for dialect in wanted if dialect not in servers]
    if native_processes or Origin.COMPOSE not in allowed:
        _require(Origin.NATIVE, allowed, missing)
        servers |= {dialect: native.start(dialect) for dialect in missing}
    elif missing:
        servers |= {server.dialect: server for server in compose.up(missing, set_name=set_name, plain=plain)}
    return [servers[dialect] for dialect in wanted]


def down(*, volumes: bool = False) -> list[tuple[Origin, Dialect]]:
    """Stop every persistent server that `up` has started, in containers and native.

    Args:
        volumes: whether to remove their data, too.

    Returns:
        What was stopped or removed.
    """
    stopped = [(Origin.COMPOSE, dialect) for dialect in compose.down(volumes=volumes)]
    end = native.destroy if volumes else native.stop
    return stopped + [(Origin.NATIVE, dialect) for dialect in SERVED if end(dialect)]


def data_place(origin: Origin, dialect: Dialect) -> str:
    """Return where a server of `up` keeps its databases: a volume of Compose's, or a folder of the user's."""
    if origin is Origin.COMPOSE:
        return f"volume {compose.volume(dialect, envfile.read(envfile.default_path())[envfile.PROJECT])}"
    return f"folder {paths.state() / dialect}, which all checkouts of a user share"


@contextlib.contextmanager
def throwaway(dialect: Dialect) -> Iterator[Server]:
    """Provide a server for tests: a running one, by DSN or compose, else one that ends with the context.

    The latter is a container if a Docker engine answers and has, or can pull, the image; else a native
    process.

    Raises:
        BadInput: the DSN or `BIRD_PROVISION` is malformed.
        EngineUnavailable: none can be provided.
    """
    allowed = _allowed()
    if (embedded := kind_of(dialect).embedded) is not None:
        with TemporaryDirectory(prefix="bird-harness-") as folder:
            yield replace(embedded(), host=folder)
    elif Origin.DSN in allowed and (named := dsn.server_from_environment(dialect)):
        yield _answering(named)
    elif Origin.COMPOSE in allowed and (started := compose.running(dialect)):
        yield started
    elif Origin.TESTCONTAINERS in allowed and _has_image(dialect, forced=len(allowed) == 1):
        with containers.throwaway(dialect) as container:
            yield container
    else:
        _require(Origin.NATIVE, allowed, [dialect])
        with native.throwaway(dialect) as process:
            yield process


def _allowed() -> tuple[Origin, ...]:
    forced = os.environ.get(_FORCE)
    if not forced:
        return tuple(Origin)
    try:
        return (Origin(forced),)
    except ValueError:
        raise BadInput(f"{_FORCE} is {forced!r}; set it to one of {', '.join(Origin)}, or unset it") from None


def _require(origin: Origin, allowed: tuple[Origin, ...], dialects: Sequence[Dialect]) -> None:
    if dialects and origin not in allowed:
        raise EngineUnavailable(
            f"no running {' or '.join(dialects)} server was found, and {_FORCE}={allowed[0]} allows no other "
            f"way; start or name one, or unset {_FORCE}"
        )


def _require_equal(first: Server, other: Server, place: int) -> None:
    """Reject two servers that may answer differently; `place` is the second's, counted from 1."""
    facts = [{"version": on_server(s).version(), **on_server(s).settings()} for s in (first, other)]
    for name in sorted(facts[0].keys() | facts[1].keys()):
        here, there = (fact.get(name, "nothing") for fact in facts)
        if here != there:
            raise BadInput(
                f"{dsn.variable(first.dialect)}: servers 1 ({first.address}) and {place} ({other.address}) "
                f"differ in {name}: {here} and {there}; use equal servers, or results differ, too"
            )


def _answering(server: Server) -> Server:
    try:
        on_server(server).version()
    except EngineLost as error:
        variable = dsn.variable(server.dialect)
        raise EngineUnavailable(f"{error}; correct or unset {variable}, or start the server") from error
    return server


def _has_image(dialect: Dialect, *, forced: bool) -> bool:
    """Return True if a container can be started; raise the reason if nothing else is allowed."""
    try:
        containers.require_image(dialect)
    except EngineUnavailable as error:
        if forced:
            raise
        say(f"{error}; trying a native process")
        return False
    return True


_LONGEST = 300
_TAIL_BYTES = 64 * 1024
_SECRET = re.compile(r"(PASSWORD|IDENTIFIED\s+BY)(\s+)('(?:[^']|'')*'?)", re.IGNORECASE)
_HIDDEN = "[hidden]"


def last_lines(server: Server, count: int = 20) -> list[str]:
    """Return the last `count` lines of a server's log, oldest first, whether it still runs or not.

    Passwords are hidden, a line is cut after 300 characters. Empty for a server known only by its address (a
    DSN), or whose log cannot be read; never raises for it.
    """
    try:
        text = _text(server, count)
    except (HarnessError, OSError):
        return []
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return [_shown(line, server) for line in lines[-count:]]


def _text(server: Server, count: int) -> str:
    match server.origin:
        case Origin.COMPOSE:
            return compose.logs(count, server.dialect)
        case Origin.TESTCONTAINERS:
            return containers.logs(server)
        case Origin.NATIVE:
            return _native_log(server)
        case Origin.DSN | Origin.EMBEDDED:
            return ""


def _native_log(server: Server) -> str:
    """Return the log of the private server, which is elsewhere if it is a throw-away one."""
    home = Home(paths.state() / server.dialect)
    known = ServerState.read(home.state)
    if known is None or known.port != server.port:
        return ""
    with home.log.open("rb") as log:
        log.seek(0, 2)
        log.seek(max(0, log.tell() - _TAIL_BYTES))
        return log.read().decode(errors="replace")


def _shown(line: str, server: Server) -> str:
    for secret in (server.password, server.reader_password):
        if secret:
            line = line.replace(secret, _HIDDEN)
    line = _SECRET.sub(rf"\1\2{_HIDDEN}", line)
    return one_line(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}...")


def failures(failed: Mapping[EngineName, str], servers: Mapping[EngineName, Sequence[Server]]) -> list[str]:
    """Return one line for each engine, and its last log lines indented, if available."""
    lines: list[str] = []
    for dialect, why in failed.items():
        lines.append(f"{dialect} failed repeatedly, so the remaining queries were not run: {why}")
        for server in servers.get(dialect, ()):
            lines += [f"  {line}" for line in last_lines(server)]
    return lines

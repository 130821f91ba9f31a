"""What a server logged last, to be shown when it broke; without what nobody may see."""

import re
from collections.abc import Mapping, Sequence

from dialects.errors import HarnessError
from harness.engines import EngineName
from harness.provision import compose
from harness.provision.native.recipe import Home, State
from loaders.base import paths
from loaders.base.files import one_line
from loaders.server import Origin, Server

_LONGEST = 300
_TAIL_BYTES = 64 * 1024
_SECRET = re.compile(r"(PASSWORD|IDENTIFIED\s+BY)(\s+)('(?:[^']|'')*'?)", re.IGNORECASE)
_HIDDEN = "[hidden]"


def last_lines(server: Server, count: int = 20) -> list[str]:
    """The last `count` lines of a server's log, oldest first, whether it still runs or not.

    Passwords are hidden, a line is cut after 300 characters. Nothing for a server that is only known by its
    address (a DSN), or whose log cannot be had; never raises for it.
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
            return compose.logs(server.dialect, count)
        case Origin.TESTCONTAINERS:
            from harness.provision import containers  # noqa: PLC0415 - slow to import, and needed by tests only

            return containers.logs(server)
        case Origin.NATIVE:
            return _native(server)
        case Origin.DSN:
            return ""


def _native(server: Server) -> str:
    """The log of the private server, which lies in a place of its own unless it is a throw-away one."""
    home = Home(paths.state() / server.dialect)
    known = State.read(home.state)
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
    """One line for each engine, and its last log lines indented, where they can be had."""
    lines: list[str] = []
    for dialect, why in failed.items():
        lines.append(f"{dialect} failed again and again, so that the rest was not run: {why}")
        for server in servers.get(dialect, ()):
            lines += [f"  {line}" for line in last_lines(server)]
    return lines

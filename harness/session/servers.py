"""Which servers are up, of the engines that a command is to use."""

from collections.abc import Callable, Sequence

from harness import provision
from harness.engines import EngineName, kind_of
from loaders.errors import EngineUnavailable, to_start
from loaders.server import Server


def find_servers(
    dialects: Sequence[EngineName], *, required: bool, say: Callable[[str], None]
) -> dict[EngineName, tuple[Server, ...]]:
    """The running servers of `dialects`, one or, named by DSNs, several of each; files need none.

    Args:
        dialects: what to look for.
        required: whether one that is not up is an error; else a line to `say`.
        say: takes one line at a time.

    Raises:
        BadInput: servers that are to share the work differ.
        EngineUnavailable: a server that is required is not up.
    """
    servers: dict[EngineName, tuple[Server, ...]] = {}
    for dialect in dialects:
        kind = kind_of(dialect)
        if not kind.has_server:
            continue
        found = provision.find_all(kind.dialect)
        if found:
            servers[dialect] = found
        elif required:
            raise EngineUnavailable(f"{dialect}: no server is up; {to_start()}")
        else:
            say(f"{dialect}: no server is up, so it is left out; {to_start()}")
    return servers

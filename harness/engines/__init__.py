"""The engines that predictions run on: one folder each, with a record of all that others ask about it.

`registry` has the records; `base` is the Protocol of a running engine. A driver is imported where its engine
is used.
"""

from harness.engines.base import Engine
from harness.engines.registry import (
    TITLES,
    EngineKind,
    kind_of,
    kinds,
    kinds_by_name,
    register,
    registered,
    served,
)
from loaders.server import Server

__all__ = [
    "TITLES",
    "Engine",
    "EngineKind",
    "kind_of",
    "kinds",
    "kinds_by_name",
    "on_server",
    "register",
    "registered",
    "served",
]


def on_server(server: Server) -> Engine:
    """The engine that speaks to `server`."""
    return kind_of(server.dialect).make(server, pooled=True)

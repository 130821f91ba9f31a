"""The engines that predictions run on: one folder each, with a record of all that others ask about it.

`registry` has the records; `base` is the Protocol of a running engine. A driver is imported where its engine
is used.
"""

from harness.engines import (
    TITLES,
    EngineKind,
    EngineName,
    dialect_of,
    in_order,
    kind_of,
    kinds,
    kinds_by_name,
    packages,
    served,
)
from harness.engines.base import Engine
from loaders.server import Server

__all__ = [
    "TITLES",
    "Engine",
    "EngineKind",
    "EngineName",
    "dialect_of",
    "in_order",
    "kind_of",
    "kinds",
    "kinds_by_name",
    "on_server",
    "packages",
    "served",
]


def on_server(server: Server) -> Engine:
    """The engine that speaks to `server`."""
    return kind_of(server.dialect).make(server, pooled=True)

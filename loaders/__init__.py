"""Load SQLite files into the other engines: all rows and values, or nothing.

`load` is the entry point; `census` describes a file, as `dialects.translate` needs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loaders.bulk_load import load
    from loaders.file_census import census
    from loaders.namespace import Database
    from loaders.server import Server

__all__ = ["Database", "Server", "census", "load"]

_MODULES = {
    "Database": "loaders.namespace",
    "Server": "loaders.server",
    "census": "loaders.file_census",
    "load": "loaders.bulk_load",
}


def __getattr__(name: str) -> object:
    """Import an exported name on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)

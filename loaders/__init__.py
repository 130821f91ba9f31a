"""Load SQLite files into the other engines: all rows and values, or nothing.

`load` is the entry point; `census` describes a file, as `dialects.translate` needs it.
"""

from typing import TYPE_CHECKING

from dialects import exported

if TYPE_CHECKING:
    from loaders.bulk_load import load
    from loaders.file_census import census
    from loaders.namespace import Database
    from loaders.server import Server

__all__ = ["Database", "Server", "census", "load"]

__getattr__ = exported(
    __name__,
    {
        "loaders.bulk_load": "load",
        "loaders.file_census": "census",
        "loaders.namespace": "Database",
        "loaders.server": "Server",
    },
)

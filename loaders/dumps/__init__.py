"""The published dumps (`BIRD_dev.sql`): into profile official of a server, instead of the SQLite files."""

from loaders.dumps.load import DumpLoaded, load_dump

__all__ = ["DumpLoaded", "load_dump"]

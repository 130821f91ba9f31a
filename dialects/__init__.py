"""Translate SQLite SQL to other dialects such that it returns the same rows."""

import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType


class _SqlglotSources:
    """Finds sqlglot's modules in Python, next to which `sqlglot[c]` installs compiled ones.

    No class of ours could extend theirs, and a text that is nested deeply ends the process that reads it.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith("sqlglot."):
            return None
        return next((found for folder in path or () if (found := _sources(folder).find_spec(name))), None)


@cache
def _sources(folder: str) -> FileFinder:
    return FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES))


sys.meta_path.insert(0, _SqlglotSources)

"""Translate SQLite SQL to other dialects such that it returns the same rows.

from dialects import Dialect, translate
from loaders import census

print(translate("SELECT 7 / 2", census(Path("database.sqlite")), Dialect("duckdb")).sql)

README.md in this folder tells where to look for what.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dialects.enums import Dialect, Profile
    from dialects.translation import Translation, Untranslatable, translate

__all__ = ["Dialect", "Profile", "Translation", "Untranslatable", "translate"]


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


def exported(package: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package that imports each name on first use.

    Args:
        package: its name.
        names: the exported names of each module, separated by blanks.
    """
    modules = {name: module for module, words in names.items() for name in words.split()}

    def attribute(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name]), name)

    return attribute


__getattr__ = exported(
    __name__,
    {"dialects.enums": "Dialect Profile", "dialects.translation": "Translation Untranslatable translate"},
)

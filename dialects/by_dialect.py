"""Tables with an entry for each dialect, which its own folders hold: `dialects/<name>`, `loaders/<name>`.

So a dialect is added where it is described, and no table is changed for it.
"""

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from dialects.enums import Dialect

Entry = TypeVar("Entry")


class ByDialect(Mapping[Dialect, Entry]):
    """What the modules of the dialects have under one name; a module is imported when it is first asked."""

    def __init__(self, module: str, name: str, *, with_sqlite: bool = False) -> None:
        """Name the table's entries.

        Args:
            module: the module of a dialect; `{}` is the dialect.
            name: the entry's name in it.
            with_sqlite: SQLite has an entry, too. Any other dialect has one if it has the module.
        """
        self._module, self._name, self._with_sqlite = module, name, with_sqlite
        self._entries: dict[Dialect, Entry] = {}

    @cached_property
    def _dialects(self) -> Sequence[Dialect]:
        return [
            each
            for each in Dialect
            if (self._with_sqlite or each is not Dialect.SQLITE)
            and importlib.util.find_spec(self._module.format(each)) is not None
        ]

    def __getitem__(self, dialect: Dialect) -> Entry:
        if dialect not in self._entries:
            if dialect not in self._dialects:
                raise KeyError(dialect)
            module = importlib.import_module(self._module.format(dialect))
            self._entries[dialect] = getattr(module, self._name)
        return self._entries[dialect]

    def __contains__(self, dialect: object) -> bool:
        return dialect in self._dialects

    def __iter__(self) -> Iterator[Dialect]:
        return iter(self._dialects)

    def __len__(self) -> int:
        return len(self._dialects)

"""What is known already: from this run in memory, from earlier ones in the store."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock

from loaders.base.store import EntryKind, Store

_ROOM = 64 * 2**20

_WRITTEN_AT_ONCE = 200
"""A transaction takes as long as a short query, so values share one. A kill loses them."""


class Lookup:
    """Values by their keys; thread-safe.

    Args:
        store: where they are kept for later runs; None to forget them with this one.
        room: how many bytes are kept in memory, those used last.
    """

    def __init__(self, store: Store | None, room: int = _ROOM) -> None:
        self._store = store
        self._room = room
        self._lock = Lock()
        self._memory: OrderedDict[bytes, bytes] = OrderedDict()
        self._unwritten: dict[EntryKind, dict[bytes, bytes]] = {}

    @property
    def has_store(self) -> bool:
        """Whether anything can be known from earlier runs."""
        return self._store is not None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Those that are known."""
        found: dict[bytes, bytes] = {}
        missing: list[bytes] = []
        with self._lock:
            for cache_key in keys:
                value = self._memory.get(cache_key)
                if value is None:
                    missing.append(cache_key)
                else:
                    self._memory.move_to_end(cache_key)
                    found[cache_key] = value
        if self._store is not None and missing:
            stored = self._store.get(missing)
            self.note(stored)
            found |= stored
        return found

    def store(self, values: Mapping[bytes, bytes], kind: EntryKind) -> None:
        """Keep values of a kind, which have been noted, for later runs; now or with others that come."""
        if self._store is None:
            return
        with self._lock:
            self._unwritten.setdefault(kind, {}).update(values)
            if sum(map(len, self._unwritten.values())) < _WRITTEN_AT_ONCE:
                return
            unwritten, self._unwritten = self._unwritten, {}
        self._write(unwritten)

    def _write(self, unwritten: Mapping[EntryKind, Mapping[bytes, bytes]]) -> None:
        for kind, values in unwritten.items():
            if self._store is not None and values:
                self._store.put(values, kind)

    def note(self, values: Mapping[bytes, bytes]) -> None:
        """Remember values for this run; quick."""
        with self._lock:
            for cache_key, value in values.items():
                if cache_key not in self._memory:
                    self._memory[cache_key] = value
                    self._room -= len(value)
            while self._room < 0 and self._memory:
                _, forgotten = self._memory.popitem(last=False)
                self._room += len(forgotten)

    def close(self) -> None:
        """Write what is not written, and close the store."""
        with self._lock:
            unwritten, self._unwritten = self._unwritten, {}
        self._write(unwritten)
        if self._store is not None:
            self._store.close()

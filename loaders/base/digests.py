"""Digests of files, cached while a file is unchanged, so that a gigabyte is read only once.

A file is unchanged if its path, size, inode and times are the same. The system sets the time of change at
every change, so a change is missed only if two fall into one tick of the clock. So the digest of a file
that changed moments ago is not cached; https://git-scm.com/docs/racy-git explains why.
"""

import hashlib
import os
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from dialects.errors import BadInput
from loaders.base.store import EntryKind, Store, allowed_bytes, default_path

_SETTLED_SECONDS = 5.0
_LEAST_BYTES = 4 * 2**20
"""Smaller files are read in a few milliseconds, as long as a look into the store takes."""
_REMEDY = "give the path of a SQLite file"
_HERE: dict[bytes, str] = {}
"""Digests that this process has read or found."""


def sha256(path: Path) -> str:
    """Return the file's SHA-256 in hexadecimal.

    Raises:
        BadInput: the file can't be read.
    """
    return digests([path])[path]


def digests(paths: Iterable[Path], *, trust: bool = True) -> dict[Path, str]:
    """Return the SHA-256 of each file in hexadecimal, by its path.

    Args:
        paths: of files that can be read.
        trust: whether to use cached digests; if not, every file is read.

    Raises:
        BadInput: a file can't be read.
    """
    looks = {path: _look(path) for path in paths}
    keys = {path: _key(path, look) for path, look in looks.items()}
    found = {path: _HERE[key] for path, key in keys.items() if trust and key in _HERE}
    large = {path for path in looks if path not in found and looks[path].st_size >= _LEAST_BYTES}
    with ExitStack() as stack:
        # The evaluation's own store reports why nothing is cached.
        store = stack.enter_context(Store(default_path(), allowed_bytes(), lambda _: None)) if large else None
        if store and trust:
            known = store.get(keys[path] for path in large)
            cached = {path: known[keys[path]].hex() for path in large if keys[path] in known}
            _HERE.update((keys[path], digest) for path, digest in cached.items())
            found |= cached
        fresh: dict[bytes, bytes] = {}
        for path in looks.keys() - found.keys():
            found[path] = read_sha256(path, _REMEDY)
            if _is_settled(looks[path]) and _key(path, _look(path)) == keys[path]:
                _HERE[keys[path]] = found[path]
                if path in large:
                    fresh[keys[path]] = bytes.fromhex(found[path])
        if store:
            store.put(fresh, EntryKind.DIGEST)
    return {path: found[path] for path in looks}


def read_sha256(path: Path, remedy: str = "check the path") -> str:
    """Read the file now and return its SHA-256 in hexadecimal.

    Raises:
        BadInput: the file can't be read; the message ends with `remedy`.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, error, remedy) from error


def _look(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise _unreadable(path, error, _REMEDY) from error


def _unreadable(path: Path, error: OSError, remedy: str) -> BadInput:
    return BadInput(f"{path}: cannot be read ({error.strerror}); {remedy}")


def _key(path: Path, look: os.stat_result) -> bytes:
    facts = (look.st_size, look.st_mtime_ns, look.st_ctime_ns, look.st_ino, look.st_dev)
    return hashlib.sha256(f"digest of {path.resolve()} {facts}".encode("utf-8", "surrogateescape")).digest()


def _is_settled(look: os.stat_result) -> bool:
    return max(look.st_mtime, look.st_ctime) < time.time() - _SETTLED_SECONDS

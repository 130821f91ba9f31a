"""Digests of files, remembered for as long as a file is unchanged, so that a gigabyte is read once.

A file is unchanged if it has the path, size, inode and times that it had. Its time of change is set by the
system alone, at every change, and hides one only where two fall into one tick of the clock. So what changed
moments ago is not remembered, for the reason that https://git-scm.com/docs/racy-git gives.
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
"""Smaller files are read in a few milliseconds, which is what asking takes."""
_REMEDY = "give the path of a SQLite file"
_HERE: dict[bytes, str] = {}
"""What this process has read, or found."""


def sha256(path: Path) -> str:
    """The file's SHA-256 in hexadecimal.

    Raises:
        BadInput: the file can't be read.
    """
    return digests([path])[path]


def digests(paths: Iterable[Path], *, trust: bool = True) -> dict[Path, str]:
    """The SHA-256 of each file in hexadecimal, by its path.

    Args:
        paths: of files that can be read.
        trust: whether what is remembered is used; else every file is read.

    Raises:
        BadInput: a file can't be read.
    """
    looks = {path: _look(path) for path in paths}
    keys = {path: _key(path, look) for path, look in looks.items()}
    found = {path: _HERE[key] for path, key in keys.items() if trust and key in _HERE}
    large = {path for path in looks if path not in found and looks[path].st_size >= _LEAST_BYTES}
    with ExitStack() as stack:
        # Whoever wants to know why nothing is remembered hears it from the evaluation's own store.
        store = stack.enter_context(Store(default_path(), allowed_bytes(), lambda _: None)) if large else None
        if store and trust:
            known = store.get(keys[path] for path in large)
            told = {path: known[keys[path]].hex() for path in large if keys[path] in known}
            _HERE.update((keys[path], digest) for path, digest in told.items())
            found |= told
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
    """The file's SHA-256 in hexadecimal, read now.

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

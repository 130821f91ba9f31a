"""The folders for downloads, computed values, and the data of native servers.

For root they are outside root's home: PostgreSQL refuses to run as root, and the account that it uses instead
must be able to enter them.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs

from dialects.errors import BadInput
from loaders.base.errors import brief, said

_ROOT_CACHE = Path("/var/cache/bird-harness")
_ROOT_STATE = Path("/var/lib/bird-harness")

FIGURES = Path(__file__).parents[2] / "benchmarks" / "figures"
"""The project's expectations and judgements of published golds. In checkouts only, not in wheels."""

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def is_root() -> bool:
    """True if servers must be started under another account."""
    return os.geteuid() == 0


def cache() -> Path:
    """Return the folder for data that can be fetched or computed again: `BIRD_CACHE`; created if missing.

    Raises:
        BadInput: it cannot be created or written.
    """
    return _made("BIRD_CACHE", cache_path())


def cache_path() -> Path:
    """Return the path of `cache` without creating it."""
    default = _ROOT_CACHE if is_root() else platformdirs.user_cache_path("bird-harness")
    return chosen("BIRD_CACHE") or default


def state() -> Path:
    """Return the folder for native servers' data and passwords: `BIRD_STATE`; created if missing.

    Raises:
        BadInput: it cannot be created or written.
    """
    default = _ROOT_STATE if is_root() else platformdirs.user_state_path("bird-harness")
    return _made("BIRD_STATE", chosen("BIRD_STATE") or default)


def chosen(variable: str) -> Path | None:
    """Return the path in an environment variable; None if it is not set.

    Raises:
        BadInput: it begins with a home folder that does not exist.
    """
    named = os.environ.get(variable)
    try:
        return Path(named).expanduser().absolute() if named else None
    except RuntimeError as error:
        raise BadInput(f"{variable}={named!a}: there is no such home folder; give the whole path") from error


def room(variable: str, usual: int, least: int, otherwise: str = "") -> int:
    """Return the size in an environment variable, e.g. `500MB` or `4GiB`, or else `usual`, in bytes.

    Raises:
        BadInput: it is not a size, or less than `least`; `otherwise` is an alternative for the message.
    """
    text = os.environ.get(variable, "").strip()
    if not text:
        return usual
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,3})?)\s*(|[kmgt]i?)b?", text.lower())
    size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    if size < least:
        asked = f"not a size of at least {least // 10**6}MB; write one like 500MB or 4GiB"
        raise BadInput(f"{variable}={brief(text)}: {asked}{otherwise}")
    return size


def _made(variable: str, folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fault = f"cannot be created ({said(error)})"
    else:
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
        fault = "cannot be written"
    raise BadInput(f"folder {str(folder)!a}: {fault}; set {variable} to a writable folder")


@contextmanager
def making(folder: Path) -> Iterator[None]:
    """Create a folder for the block; at the end, remove created folders that are empty.

    Raises:
        OSError: it cannot be created.
    """
    fresh = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        with suppress(OSError):
            for path in fresh:
                path.rmdir()

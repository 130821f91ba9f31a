"""How files are written: whole or not at all, and a folder by one process at a time."""

import fcntl
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from loaders.textfiles import refuse

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


def locked(folder: Path) -> int:
    """A descriptor that keeps other processes from writing the same folder, until it is closed.

    Raises:
        BadInput: another process writes it.
        OSError: there is no such folder.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        refuse(folder, "another process is writing it", "wait until it has ended, or stop it")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON document, as `replace` does."""
    replace(path, as_json(content, indent=2) + "\n")


def as_json(content: Mapping[str, Any], indent: int | None = None) -> str:
    """A JSON document that UTF-8 can hold; texts as they are, unless they hold half of a surrogate pair."""
    text = _encode(content) if indent is None else json.dumps(content, indent=indent, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(content, indent=indent)
    return text


def replace(path: Path, text: str | Iterable[str]) -> None:
    """Write a file, a text or its parts, so that a reader sees the old one or the new one, never a part."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - it is open already
            file.writelines((text,) if isinstance(text, str) else text)
        os.chmod(name, 0o644)  # noqa: PTH101 - a temporary file is private, a result is not
        os.replace(name, path)  # noqa: PTH105 - the name comes as a string
    except BaseException:
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - the same
        raise


def point(link: Path, target: str) -> None:
    """Make `link` a symbolic link to `target` beside it, unless something else has its name."""
    if link.is_symlink() or not link.exists():
        fresh = link.with_name(f".{link.name}.{target}")
        fresh.symlink_to(target, target_is_directory=True)
        fresh.replace(link)


def write_folder_of(parent: Path, kind: str, files: Mapping[str, str]) -> Path:
    """Write files into a new folder `<kind>-<time>-<digits>` below `parent`, all or nothing.

    Raises:
        BadInput: the folder can't be written.
    """
    name = f"{kind}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    unfinished, path = parent / f".{name}", parent / name
    try:
        unfinished.mkdir(parents=True)
        for file_name, text in files.items():
            (unfinished / file_name).write_text(text, encoding="utf-8")
        os.replace(unfinished, path)  # noqa: PTH105 - the one call that is atomic on every system
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise BadInput(
            f"--out {parent}: {kind} cannot be written there ({error.strerror}); choose another folder"
        ) from error
    return path


def replace_section(path: Path, name: str, text: str) -> None:
    """Write the section of that name anew; the rest of the page stays.

    Raises:
        BadInput: the page is not there, or has no such section.
    """
    first, last = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    try:
        page = path.read_text(encoding="utf-8")
        before, found, rest = page.partition(first)
        _, closed, after = rest.partition(last)
        if not (found and closed):
            raise BadInput(
                f"{path}: has no section '{first} ... {last}'; add it where the figures are to stand"
            )
        path.write_text(f"{before}{first}\n{text}{last}{after}", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}); --update needs a checkout") from error

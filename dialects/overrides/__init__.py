"""Hand-written translations of single golds for which no general rule of the compiler is right.

Each is a file `<target>/<question set>/<question key>.sql`. Comments at its beginning say which gold it
replaces and why; README.md describes them. Any other file is an error.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from dialects.enums import Dialect
from dialects.errors import BadInput

HOME = Path(__file__).parent
"""The folder of the project's own overrides."""

MOST = 10
"""Most overrides of a target in one question set: more call for a rule of the compiler."""


class OverrideReason(StrEnum):
    """Why the automatic translation is not enough."""

    UNTRANSLATABLE = "untranslatable"
    """The compiler rejects the gold, but an exact translation exists for this database."""
    DIFFERENT = "different"
    """The translation returns other rows because of a known fault upstream."""
    UNSPECIFIED = "unspecified"
    """SQLite leaves the rows of the gold open; the override returns those that it does return."""


@dataclass(frozen=True)
class Override:
    """One hand-written translation. `gold_sha256` is the digest of the question set's gold in UTF-8."""

    question: str
    target: Dialect
    gold_sha256: str
    reason: OverrideReason
    note: str
    sql: str
    ticket: str | None = None

    def replaces(self, gold: str) -> bool:
        """True if it was written for exactly this text."""
        return self.gold_sha256 == digest(gold)


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def overrides(
    question_set: str, target: Dialect, home: Path = HOME, own: Path | None = None
) -> Mapping[str, Override]:
    """Return all overrides of a question set for a target, by question key.

    Args:
        question_set: the name of the set.
        target: the dialect.
        home: the folder of the project's overrides.
        own: a folder of the user's, in the same layout, whose overrides win.

    Raises:
        BadInput: a file is not an override.
    """
    folders = (each / target / question_set for each in (home, own) if each is not None)
    found = [
        read_override(path, target)
        for folder in folders
        if folder.is_dir()
        for path in sorted(folder.glob("*"))
    ]
    return {override.question: override for override in found}


def check_folder(own: Path, question_set: str) -> None:
    """Reject a folder of a user's overrides that has none for a set.

    Raises:
        BadInput: it is no folder, or another layout.
    """
    if not own.is_dir():
        raise BadInput(f"--overrides {own}: not a folder; name one with <target>/<question set>/<key>.sql")
    if not any((own / target / question_set).is_dir() for target in Dialect):
        raise BadInput(
            f"--overrides {own}: has no override of {question_set}; a file is"
            f" {own}/<target>/{question_set}/<question key>.sql"
        )


_HEADER = re.compile(r"--\s*([a-z0-9-]+)\s*:\s*(\S.*)")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_REQUIRED = ("question", "gold-sha256", "reason", "note")
_KNOWN = (*_REQUIRED, "ticket")


def read_override(path: Path, target: Dialect) -> Override:
    """Read one file.

    Raises:
        BadInput: the file is unreadable, or a field of its header is missing, repeated, unknown or invalid.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise BadInput(
            f"{path}: cannot be read as UTF-8 text ({error}); an override is a .sql file"
        ) from error
    if path.suffix != ".sql":
        raise BadInput(f"{path}: not a .sql file; rename it to <question key>.sql or remove it")
    header, sql = _parts(path, text)
    for name in _REQUIRED:
        if name not in header:
            raise BadInput(f"{path}: the header lacks the line '-- {name}: ...'; add it")
    if header["question"] != path.stem:
        raise BadInput(f"{path}: for question {header['question']}; rename it to {header['question']}.sql")
    if not _DIGEST.fullmatch(header["gold-sha256"]):
        raise BadInput(f"{path}: gold-sha256 must be 64 hexadecimal digits; `coverage` prints the right ones")
    if header["reason"] not in list(OverrideReason):
        choices = ", ".join(OverrideReason)
        raise BadInput(f"{path}: {header['reason']!r} is not a reason; choose from {choices}")
    if not header.get("ticket", "https://").startswith("https://"):
        raise BadInput(f"{path}: the ticket is not an https:// address; give the address of the issue")
    if not sql:
        raise BadInput(f"{path}: no SQL below the header; write the translation there")
    return Override(
        question=header["question"],
        target=target,
        gold_sha256=header["gold-sha256"],
        reason=OverrideReason(header["reason"]),
        note=header["note"],
        sql=sql,
        ticket=header.get("ticket"),
    )


def _parts(path: Path, text: str) -> tuple[dict[str, str], str]:
    """Return the header's fields, and the SQL below."""
    lines = text.splitlines()
    fields = dict(_fields(path, lines))
    return fields, "\n".join(lines[len(fields) :]).strip()


def _fields(path: Path, lines: list[str]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        if not line.startswith("--"):
            return
        found = _HEADER.fullmatch(line.rstrip())
        if not found:
            raise BadInput(f"{path}, line {number}: not '-- name: value'; move comments below the header")
        name, value = found.groups()
        if name not in _KNOWN:
            raise BadInput(f"{path}, line {number}: unknown field {name!r}; choose from {', '.join(_KNOWN)}")
        if name in seen:
            raise BadInput(f"{path}, line {number}: {name!r} is given twice; keep one")
        seen.add(name)
        yield name, value

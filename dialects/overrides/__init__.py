"""Hand-written translations of single golds, where no rule of the compiler can be right for all queries.

Each is a file `<target>/<question set>/<question key>.sql` whose first lines are comments that say which gold
it replaces and why; README.md describes them. A file that is not exactly that is refused.
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
"""Where the project's own are."""

MOST = 10
"""Overrides that a target may have in one question set: more call for a rule of the compiler."""


class OverrideReason(StrEnum):
    """Why the automatic translation is not enough."""

    UNTRANSLATABLE = "untranslatable"
    """The compiler refuses the gold, and knowledge of these data makes an exact text possible."""
    DIFFERENT = "different"
    """The translation returns other rows, a fault that is known upstream."""
    TOO_SLOW = "too_slow"
    """The translation is right and takes longer than the limit."""


@dataclass(frozen=True)
class Override:
    """One hand-written translation. `gold_sha256` is of the gold's UTF-8 text as the question set has it."""

    question: str
    target: Dialect
    gold_sha256: str
    reason: OverrideReason
    note: str
    sql: str
    ticket: str | None = None

    def replaces(self, gold: str) -> bool:
        """Whether it was written for this very text."""
        return self.gold_sha256 == digest(gold)


def digest(text: str) -> str:
    """The sha256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def overrides(question_set: str, target: Dialect, home: Path = HOME) -> Mapping[str, Override]:
    """All overrides of a question set for a target, by question key.

    Raises:
        BadInput: a file is no override.
    """
    folder = home / target / question_set
    found = [read_override(path, target) for path in sorted(folder.glob("*"))] if folder.is_dir() else []
    return {override.question: override for override in found}


_HEADER = re.compile(r"--\s*([a-z0-9-]+)\s*:\s*(\S.*)")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_REQUIRED = ("question", "gold-sha256", "reason", "note")
_KNOWN = (*_REQUIRED, "ticket")


def read_override(path: Path, target: Dialect) -> Override:
    """Read one file.

    Raises:
        BadInput: it can't be read, its header lacks a field, has one twice or one that is not known, or a
            value is not what it has to be.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise BadInput(
            f"{path}: cannot be read as UTF-8 text ({error}); an override is a .sql file"
        ) from error
    if path.suffix != ".sql":
        raise BadInput(f"{path}: is no .sql file; name it <question key>.sql or take it away")
    header, sql = _parts(path, text)
    for name in _REQUIRED:
        if name not in header:
            raise BadInput(f"{path}: the header has no line '-- {name}: ...'; add it")
    if header["question"] != path.stem:
        raise BadInput(f"{path}: is about question {header['question']}; name it {header['question']}.sql")
    if not _DIGEST.fullmatch(header["gold-sha256"]):
        raise BadInput(f"{path}: gold-sha256 is not 64 hexadecimal digits; `coverage` names the right ones")
    if header["reason"] not in list(OverrideReason):
        choices = ", ".join(OverrideReason)
        raise BadInput(f"{path}: {header['reason']!r} is not a reason; choose from {choices}")
    if not header.get("ticket", "https://").startswith("https://"):
        raise BadInput(f"{path}: the ticket is no https:// address; give the address of the issue")
    if not sql:
        raise BadInput(f"{path}: there is no SQL below the header; write the translation there")
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
    """The header's fields, and the SQL below."""
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
            raise BadInput(f"{path}, line {number}: is not '-- name: value'; put comments below the header")
        name, value = found.groups()
        if name not in _KNOWN:
            raise BadInput(f"{path}, line {number}: {name!r} is not known; choose from {', '.join(_KNOWN)}")
        if name in seen:
            raise BadInput(f"{path}, line {number}: {name!r} is there twice; keep one")
        seen.add(name)
        yield name, value

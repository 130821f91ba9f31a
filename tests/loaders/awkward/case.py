"""One SQLite file that is hard to load, and what has to become of it on every server and in every profile."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from dialects.enums import Dialect, Profile

Place = tuple[Dialect, Profile]

MYSQL = tuple((Dialect.MYSQL, profile) for profile in Profile)
POSTGRESQL = tuple((Dialect.POSTGRESQL, profile) for profile in Profile)
EVERYWHERE = (*MYSQL, *POSTGRESQL)
POSTGRESQL_OFFICIAL = ((Dialect.POSTGRESQL, Profile.OFFICIAL),)
MYSQL_OFFICIAL = ((Dialect.MYSQL, Profile.OFFICIAL),)

_SCRIPT = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())"
"""In a process of its own: see `Case.large`."""

Build = str | Callable[[Path], None]


@dataclass(frozen=True)
class Case:
    """One file: it loads exactly and with these notes, or it is refused with these words."""

    name: str
    build: Build
    """An SQL script, or what writes the file."""
    notes: tuple[str, ...] = ()
    """The notes of the load everywhere; of each, how it begins."""
    more: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)
    """The notes on some servers alone, after those."""
    refused: Mapping[Place, str] = field(default_factory=dict)
    """Where it is refused: a regular expression that the message has behind the file's name."""
    large: bool = False
    """Whether SQLite needs more memory than it has in a process that has scored."""

    def write(self, path: Path) -> None:
        """Make the file."""
        if not isinstance(self.build, str):
            self.build(path)
            return
        if self.large:
            subprocess.run([sys.executable, "-c", _SCRIPT, path], input=self.build, text=True, check=True)
            return
        with closing(sqlite3.connect(path)) as connection:
            # Each statement of a script would wait for the disk, and nobody needs the file after a crash.
            connection.execute("PRAGMA synchronous = OFF")
            connection.executescript(self.build)


def at(places: tuple[Place, ...], words: str) -> dict[Place, str]:
    """The same refusal in several places."""
    return dict.fromkeys(places, words)


def noted(places: tuple[Place, ...], *notes: str) -> dict[Place, tuple[str, ...]]:
    """The same notes in several places."""
    return dict.fromkeys(places, notes)

"""A witness: a small database on which a prediction and its golds differ, as a file that can be replayed."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dialects.enums import Profile
from dialects.errors import BadInput
from harness.data.outcomes import Difference, Preview
from harness.engines import EngineName
from loaders.base.files import as_json, content_digest, parse_json, read_text, write_json
from loaders.base.records import to_plain, to_record

WITNESSES = "witnesses"
"""Folder of the files of witnesses."""


@dataclass(frozen=True)
class WitnessTable:
    """One table: CREATE TABLE as the SQLite file has it, and its rows; a blob is `{"hex": "..."}`."""

    name: str
    create: str
    columns: tuple[str, ...]
    rows: list[Any]


@dataclass(frozen=True)
class Witness:
    """A database on which `sql` differs from each of `golds`.

    `dialect` is the engine that ran them, on tables of `profile`. `plausible`: see `Distinction.PLAUSIBLE`;
    otherwise the declared schema allows it, but nobody has seen such rows.
    """

    schema_version: int
    dialect: EngineName
    profile: Profile
    db_id: str
    sql: str
    golds: tuple[str, ...]
    difference: Difference
    plausible: bool
    tables: tuple[WitnessTable, ...]
    views: tuple[str, ...] = ()
    preview: Preview | None = None
    """The rows of the prediction and the first gold when it was found."""

    @property
    def rows(self) -> int:
        """The number of rows in all tables."""
        return sum(len(table.rows) for table in self.tables)

    def to_text(self) -> str:
        """Return it as JSON that UTF-8 can hold."""
        return as_json(to_plain(self))

    @staticmethod
    def from_text(text: str) -> "Witness":
        """Parse the result of `to_text`.

        Raises:
            ValueError, TypeError: it is not one.
        """
        return to_record(Witness, parse_json(text))

    @property
    def relevant_tables(self) -> list[WitnessTable]:
        """The tables with rows, if any, and of their columns those that a text names."""
        asked = " ".join((self.sql, *self.golds)).lower()
        found = []
        for one in [table for table in self.tables if table.rows] or self.tables[:1]:
            at = [place for place, name in enumerate(one.columns) if name.lower() in asked] or [0]
            columns = tuple(one.columns[place] for place in at)
            found.append(
                replace(one, columns=columns, rows=[[row[place] for place in at] for row in one.rows])
            )
        return found

    @property
    def about(self) -> tuple[EngineName, str, str]:
        """What its question is known by: the engine, the database and the first gold."""
        return self.dialect, self.db_id, self.golds[0]


def file_of(*key: str) -> str:
    """Return the path of the witness against an answer, within the folder of its run or search.

    Args:
        key: the engine, the predictor and the question.
    """
    return f"{WITNESSES}/{content_digest(key)[:16]}.json"


def save(witness: Witness, path: Path) -> None:
    """Write a witness as JSON.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, to_plain(witness))


def load(path: Path) -> Witness:
    """Read a witness.

    Raises:
        BadInput: it is not one.
    """
    text = read_text(path, remedy="find it again").text
    try:
        return Witness.from_text(text)
    except (ValueError, TypeError) as error:
        raise BadInput(f"{path}: is not a witness ({error}); find it again") from error

"""What can be wrong with a loaded database, and how it is said."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dialects.enums import Dialect
from loaders.namespace import Database


class Kind(StrEnum):
    """The closed vocabulary of differences between a file and what stands on a server."""

    MISSING_TABLE = "missing table"
    EXTRA_TABLE = "extra table"
    MISSING_COLUMN = "missing column"
    EXTRA_COLUMN = "extra column"
    TYPE = "type"
    ROWS = "rows"
    VALUES = "values"


@dataclass(frozen=True)
class Difference:
    """One thing that is not on the server as it is in the file."""

    kind: Kind
    table: str
    """The file's name for it; an extra table has the server's alone."""
    column: str | None
    """None where it is about the whole table."""
    text: str
    """What is different, as a part of a sentence."""
    rows: tuple[str, ...] = ()
    """The first rows that differ, a sentence each."""

    def lines(self, where: str) -> Iterator[str]:
        """What people are told; `where` names engine, profile and database."""
        column = f", column {self.column}" if self.column is not None else ""
        yield f"{where}: table {self.table}{column}: {self.text}"
        for row in self.rows:
            yield f"    {row}"


@dataclass(frozen=True)
class Verified:
    """One database, held against its file."""

    database: Database
    dialect: Dialect
    tables: int
    rows: int
    values: int
    """Rows times columns, of all tables that were compared."""
    seconds: float
    differences: tuple[Difference, ...]

    @property
    def is_clean(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


def verified_lines(verified: Sequence[Verified]) -> list[str]:
    """One line of figures about databases in one profile on one engine, and every difference below it."""
    if not verified:
        return []
    first = verified[0]
    wrong = sum(not one.is_clean for one in verified)
    verdict = (
        f"{wrong} of {len(verified)} databases differ" if wrong else f"{len(verified)} databases are equal"
    )
    line = (
        f"{first.dialect}, {first.database.profile}: {verdict} to their files:"
        f" {sum(one.tables for one in verified)} tables, {sum(one.rows for one in verified):,} rows,"
        f" {sum(one.values for one in verified):,} values compared in"
        f" {sum(one.seconds for one in verified):.1f} s"
    )
    return [
        line.replace("differ to", "differ from"),
        *(
            text
            for one in verified
            for difference in one.differences
            for text in difference.lines(f"{one.dialect}, {one.database.profile}, {one.database.db_id}")
        ),
    ]

"""Rules of each dialect for names, equal values and keys, as far as rewriting needs: one record each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dialects.by_dialect import ByDialect
from dialects.enums import Profile
from dialects.schema import Column, Table

if TYPE_CHECKING:
    from sqlglot import exp  # slow


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One dialect."""

    title: str
    fold: "Callable[[exp.Expr], str]"
    """An identifier as it is compared with others."""
    table: Callable[[Table], str]
    """Returns the name of a stored table for comparisons."""
    column: Callable[[Column], str]
    spelled: Callable[[Column], str]
    """A stored column in quotes."""
    is_exact: Callable[[Column, Profile], bool]
    """Whether values of a column that are equal are the same value, whichever of them a query shows."""
    enforces: bool
    """Whether declared foreign keys, and NOT NULL of primary keys, hold for any data."""
    merges: Callable[[Column, Profile], bool]
    """Whether values that differ in SQLite can be equal here, so that a key of them may not hold."""
    dates: Callable[[Column, Profile], str | None]
    """The type in which days and moments of a column are kept: `text`, `date`, `datetime`, `timestamptz`."""


FACTS = ByDialect[Facts]("dialects.{}", "FACTS", with_sqlite=True)

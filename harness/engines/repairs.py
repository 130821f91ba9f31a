"""What may be wrong with a text that an engine refuses, and which one small edit would mend it.

Each engine has its own table, by its error codes, in its folder (`EngineKind.repairs`); what an edit does to
a text is the same everywhere and stands in `harness.gap`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class EditKind(StrEnum):
    """One small edit of a text."""

    UNESCAPE = "unescape"
    """Backslashes that Markdown puts before signs are taken away."""
    REQUOTE = "requote"
    """Names in another engine's quotes get this engine's."""
    QUOTE = "quote"
    """The word at which the engine stops is a name: it is put in quotes."""
    TEXT_QUOTES = "text_quotes"
    """What stands in double quotes and is no name is a text: it gets single quotes."""
    RESPELL = "respell"
    """Names that the engine has in another spelling (case, signs between words) are spelled as there."""
    RENAME = "rename"
    """A name that the engine does not have gives way to one that it has in these tables."""
    QUALIFY = "qualify"
    """A name that two tables have gets one of them before it."""
    UNQUALIFY = "unqualify"
    """The database before a table is taken away."""
    FUNCTION = "function"
    """A function gets the name that it has here."""
    READ_AS = "read_as"
    """The text is read in another dialect and written in this one."""
    GROUP = "group"
    """A column that stands beside aggregates is grouped by, or the least of its values is taken."""
    FIRST_ROW = "first_row"
    """A subquery that stands for a value is cut to one row."""
    CAST = "cast"
    """An operand or argument is cast."""
    PRECISION = "precision"
    """A cast to a number of single precision, or to an exact one, becomes one to double precision."""
    NULLS = "nulls"
    """NULL is sorted to the other end."""
    COLLATE = "collate"
    """Texts are compared by another collation."""
    LIKE_CASE = "like_case"
    """LIKE regards case where it did not, or the other way round."""
    DIVISION = "division"
    """A quotient of integers is a real number, or the other way round."""
    ZERO = "zero"
    """Something divided by 0 is NULL."""
    CONCAT = "concat"
    """Texts that `||` stands between are put together."""


Casts = Mapping[str, str]
"""Names of types for sqlglot, by what an edit is said to cast to."""


@dataclass(frozen=True, kw_only=True)
class Repairs:
    """What one engine's errors ask for.

    `of_error` gives the edits that are tried for an error, by its code and its words, likeliest first.
    `of_rows` are those that are tried where a text runs and returns other rows: what engines do differently
    without a word. `names` find in an error's words the name that it is about. `near` finds the text at which
    a parser stopped. `functions` are what functions of other engines are called here, in lower case.
    `casts` are the types that operands are cast to. `collation` is one under which texts compare as they do
    not by default. `like` is how LIKE regards case the other way: `ilike`, `glob`, or by a collation.
    """

    of_error: Callable[[str | None, str], tuple[EditKind, ...]]
    of_rows: tuple[EditKind, ...]
    names: tuple[re.Pattern[str], ...] = ()
    near: Callable[[str], str | None] = field(default=lambda _: None)
    functions: Mapping[str, str] = field(default_factory=dict)
    casts: tuple[str, ...] = ()
    real: str = "double precision"
    """The type of double precision."""
    collation: str | None = None
    like: str | None = None
    divides_integers: bool = True
    """A quotient of two integers is an integer."""

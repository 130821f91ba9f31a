"""Closed lists of the error classes of a text, and of the small edits that may repair it.

Each engine knows its errors by their codes (`ErrorTable`) or by how their messages begin (`Beginnings`). The
edits are the same for all engines and are implemented in `harness.labs.gap`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class ErrorClass(StrEnum):
    """Why a prediction does not match, by the rules of `harness.sqltree.diagnosis`."""

    SYNTAX = "syntax"
    """The engine cannot read the text, does not have the function, or refuses a statement of this kind."""
    UNKNOWN_TABLE = "unknown_table"
    """A table's name is unknown or ambiguous."""
    UNKNOWN_COLUMN = "unknown_column"
    """A column's name is unknown or ambiguous."""
    TYPE_ERROR = "type_error"
    """An operator, function or value does not fit the types, or a function the number of its arguments."""
    WRONG_TABLES = "wrong_tables"
    """It reads other tables than gold."""
    WRONG_COLUMNS = "wrong_columns"
    """It selects other columns, or in another order."""
    WRONG_CONDITION = "wrong_condition"
    """A condition or join is missing, additional or different."""
    WRONG_LITERAL = "wrong_literal"
    """The same conditions with other values."""
    WRONG_AGGREGATION = "wrong_aggregation"
    """Other aggregate functions, DISTINCT in them, grouping, or arithmetic with them."""
    WRONG_ORDER = "wrong_order"
    """Other rows are cut by ORDER BY and LIMIT."""
    OTHER = "other"
    """Nothing that the rules examine differs, or a text that runs cannot be parsed."""


class EditKind(StrEnum):
    """One small edit of a text."""

    UNESCAPE = "unescape"
    """Remove backslashes that Markdown puts before punctuation."""
    REQUOTE = "requote"
    """Replace another engine's quotes around names by this engine's."""
    QUOTE = "quote"
    """Quote the word at which the parser stops, as a name."""
    TEXT_QUOTES = "text_quotes"
    """Replace double quotes around anything but a name by single quotes."""
    RESPELL = "respell"
    """Spell names as the engine does (case, characters between words)."""
    RENAME = "rename"
    """Replace an unknown name by a known one of these tables."""
    QUALIFY = "qualify"
    """Qualify a name that two tables have by one of them."""
    UNQUALIFY = "unqualify"
    """Remove the database before a table."""
    FUNCTION = "function"
    """Replace a function's name by this engine's."""
    READ_AS = "read_as"
    """Parse the text in another dialect and write it in this one."""
    GROUP = "group"
    """Group by a column selected with aggregates, or take its least value."""
    FIRST_ROW = "first_row"
    """Limit a scalar subquery to one row."""
    CAST = "cast"
    """Cast an operand or argument."""
    PRECISION = "precision"
    """Cast to double precision instead of single precision or an exact number."""
    NULLS = "nulls"
    """Sort NULL to the other end."""
    COLLATE = "collate"
    """Compare texts by another collation."""
    LIKE_CASE = "like_case"
    """Make LIKE case-sensitive, or the other way round."""
    DIVISION = "division"
    """Make a quotient of integers a real number, or the other way round."""
    ZERO = "zero"
    """Make a division by 0 NULL."""
    CONCAT = "concat"
    """Make `||` concatenate texts."""


@dataclass(frozen=True)
class ErrorCode:
    """One error of an engine, by the engine's own name.

    `edits` that may mend it are names of `EditKind`, likeliest first; by default the text is read in another
    dialect. `reason` is the `harness.analyses.coverage.answers.DifferenceReason` for which a translated gold
    has no rows.
    """

    name: str = ""
    edits: str = ""
    reason: str | None = None


class ErrorTable:
    """The errors of an engine by their class.

    An error that depends on the rows (a division by zero, a subquery with several rows) is of no class: there
    the text of the query says more.

    Args:
        codes: by class, the errors by their codes.
    """

    def __init__(self, codes: Mapping[ErrorClass | None, Mapping[str, ErrorCode]]) -> None:
        self.codes = codes
        known = [(code, kind, each) for kind, of_kind in codes.items() for code, each in of_kind.items()]
        self._classes = {code: kind for code, kind, _ in known}
        self._edits = {
            code: tuple(map(EditKind, each.edits.split())) for code, _, each in known if each.edits
        }
        self.reasons = {code: each.reason for code, _, each in known if each.reason}

    def class_of(self, code: str | None) -> ErrorClass | None:
        """Return the class of an error; None if its code has none."""
        return self._classes.get(code or "")

    def edits_of(self, code: str | None, message: str = "") -> tuple[EditKind, ...]:
        """Return the edits that an error suggests; see `Repairs.of_error`."""
        del message
        return self._edits.get(code or "", (EditKind.READ_AS,))


Beginnings = Sequence[tuple[re.Pattern[str], ErrorClass, tuple[EditKind, ...]]]
"""How the messages of an engine without codes begin, with class and edits; the first that fits counts."""


def beginnings(*rows: tuple[ErrorClass, str, str]) -> Beginnings:
    """Return the beginnings of messages from classes, patterns and names of edits."""
    return tuple(
        (re.compile(rf"\A(?:{start})"), kind, tuple(map(EditKind, edits.split())))
        for kind, start, edits in rows
    )


def class_by_words(known: Beginnings, _code: str | None, message: str) -> ErrorClass | None:
    """Return the class of an error of such an engine; None if it has none."""
    return next((kind for start, kind, _ in known if start.match(message)), None)


def edits_by_words(known: Beginnings, _code: str | None, message: str) -> tuple[EditKind, ...]:
    """Return the edits that such an error suggests; see `Repairs.of_error`."""
    return next((edits for start, _, edits in known if edits and start.match(message)), (EditKind.READ_AS,))


@dataclass(frozen=True, kw_only=True)
class Repairs:
    """The edits that one engine's errors suggest.

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


_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, kw_only=True)
class Troubles:
    """Errors that are the server's fault and not the SQL's; patterns of whole codes."""

    refused: re.Pattern[str] = _NEVER
    """An account or a database that is not there: on an open connection, one that the text itself names."""
    refused_words: tuple[str, ...] = ()
    """The same, where a driver keeps the codes to itself while it connects."""
    full: Mapping[str, str] = field(default_factory=dict)
    """A disk without room, by code, and the words that the message has then."""
    full_when_lost: re.Pattern[str] = _NEVER
    """The same, of an error with which the connection went."""

    shared: re.Pattern[str] = _NEVER
    """Memory of the whole server is used up, which another text may have taken."""

    def is_full(self, code: str | None, message: str) -> bool:
        """Return True if an error says that a disk is full."""
        words = self.full.get(code or "")
        return words is not None and words in message

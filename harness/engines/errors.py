"""What can be wrong with a text, as closed lists: its error class, and the small edits that may mend it.

Each engine has one table of its errors (`ErrorTable`) in its record; what an edit does to a text is the same
everywhere and stands in `harness.analyses.gap`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ErrorClass(StrEnum):
    """What is wrong with a prediction that does not match, by the rules of `harness.sqltree.diagnosis`."""

    SYNTAX = "syntax"
    """The engine cannot read the text, does not have the function, or refuses a statement of this kind."""
    UNKNOWN_TABLE = "unknown_table"
    """The name of a table means none, or two."""
    UNKNOWN_COLUMN = "unknown_column"
    """The name of a column means none, or several."""
    TYPE_ERROR = "type_error"
    """An operator, function or value does not fit the types, or a function the number of its arguments."""
    WRONG_TABLES = "wrong_tables"
    """It reads other tables than gold."""
    WRONG_COLUMNS = "wrong_columns"
    """It selects other columns, or in another order."""
    WRONG_CONDITION = "wrong_condition"
    """A condition or join is missing, is one more, or is another one."""
    WRONG_LITERAL = "wrong_literal"
    """The same conditions with other values."""
    WRONG_AGGREGATION = "wrong_aggregation"
    """Other aggregate functions, DISTINCT in them, grouping, or arithmetic with them."""
    WRONG_ORDER = "wrong_order"
    """Other rows are cut by ORDER BY and LIMIT."""
    OTHER = "other"
    """Nothing that the rules look at differs, or a text that runs cannot be read."""


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


@dataclass(frozen=True)
class ErrorCode:
    """One error of an engine, by the engine's own name, and what it means where the name is not enough.

    `edits` that may mend it are names of `EditKind`, likeliest first; by default the text is read in another
    dialect. `reason` is the `harness.analyses.coverage.answers.Reason` for which a translated gold has no
    rows.
    """

    name: str = ""
    edits: str = ""
    reason: str | None = None


class ErrorTable:
    """The errors of an engine by what they say of a statement.

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
        """The class of an error; None where the code is in none."""
        return self._classes.get(code or "")

    def edits_of(self, code: str | None, message: str = "") -> tuple[EditKind, ...]:
        """The edits that an error asks for; see `Repairs.of_error`."""
        del message
        return self._edits.get(code or "", (EditKind.READ_AS,))


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


_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, kw_only=True)
class Troubles:
    """Which errors of a server are nobody's SQL to blame; patterns of whole codes."""

    refused: re.Pattern[str] = _NEVER
    """An account or a database that is not there: on an open connection, one that the text itself names."""
    refused_words: tuple[str, ...] = ()
    """The same, where a driver keeps the codes to itself while it connects."""
    full: Mapping[str, str] = field(default_factory=dict)
    """A disk without room, by code, and the words that the message has then."""
    full_when_lost: re.Pattern[str] = _NEVER
    """The same, of an error with which the connection went."""

    def is_full(self, code: str | None, message: str) -> bool:
        """Whether an error says that a disk has no room."""
        words = self.full.get(code or "")
        return words is not None and words in message

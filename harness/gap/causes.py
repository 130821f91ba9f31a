"""The closed list of causes for which a question scores otherwise on another engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from harness.engines.errors import EditKind, ErrorClass


class Cause(StrEnum):
    """Why one of two engines alone calls a predictor right; `ABOUT` says what each means."""

    NO_QUERY = "no_query"
    TIME = "time"
    GOLD = "gold"
    PROFILE = "profile"
    TIES = "ties"
    SYNTAX = "syntax"
    NAMES = "names"
    TYPES = "types"
    SEMANTICS = "semantics"
    REASONING = "reasoning"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class AboutCause:
    """What a cause is called where people read, what it means, and which execution decides it."""

    title: str
    meaning: str
    decided_by: str
    is_dialect: bool = False
    """Whether it is the predictor's command of the dialect: an edit of the answer would mend it."""


ABOUT: Mapping[Cause, AboutCause] = {
    Cause.NO_QUERY: AboutCause(
        "no query",
        "the predictor gave no answer for one of the engines, or a text that no engine reads as a query",
        "there is no text to run; or both engines refuse to read it, and so does every parser here",
    ),
    Cause.TIME: AboutCause(
        "time or size",
        "a limit of time or size was reached on one engine alone, or the text asks the clock",
        "the answer or its gold ends in a timeout or too large a result",
    ),
    Cause.GOLD: AboutCause(
        "gold differs",
        "the gold of the dialect asks something else than SQLite's",
        "the dialect's gold returns other rows than SQLite's, in both profiles, and the answer is right by"
        " one of the two alone",
    ),
    Cause.PROFILE: AboutCause(
        "profile",
        "the columns of the published dump have other types than SQLite's",
        "the unchanged text, or the dialect's gold, returns the rows of SQLite's gold where columns are as"
        " SQLite stores them, and not where they are as in the dump",
    ),
    Cause.TIES: AboutCause(
        "ties",
        "ORDER BY or LIMIT leaves a choice, and the engines choose otherwise",
        "the rows are another answer that the text of gold allows, or gold's rows one that the answer allows",
    ),
    Cause.SYNTAX: AboutCause(
        "syntax or function",
        "syntax, a function or a leniency of another dialect, or signs of another notation",
        "an edit of syntax or function makes the text right; or the engine refuses it so, and taken to the"
        " other engine it is right or cannot be run",
        is_dialect=True,
    ),
    Cause.NAMES: AboutCause(
        "names and quoting",
        "a name in other letters, quotes or words than the engine has it, or a text in the quotes of names",
        "an edit of names or quotes makes the text right; or the engine knows no such name, and taken to the"
        " other engine the text is right",
        is_dialect=True,
    ),
    Cause.TYPES: AboutCause(
        "types and casts",
        "values or operands of types that the engine does not mix, or compares otherwise",
        "a cast makes the text right; or the rows are gold's by value and not by type",
        is_dialect=True,
    ),
    Cause.SEMANTICS: AboutCause(
        "NULL order, collation, division",
        "what the engine does by default with NULL in an order, with case in texts, with quotients",
        "an edit that says what the other engine does by default makes the text right",
        is_dialect=True,
    ),
    Cause.REASONING: AboutCause(
        "reasoned differently",
        "the two answers are different questions, in whichever dialect",
        "taken to the other engine the wrong answer is wrong there, too, or names what no engine has; or the"
        " right answer, written for this engine, is right here",
    ),
    Cause.UNDECIDED: AboutCause(
        "not decided", "none of the executions tells", "all of the above were run, and none decides"
    ),
}
"""In the order of tables and of the waterfall."""

OF_EDIT: Mapping[EditKind, Cause] = {
    EditKind.UNESCAPE: Cause.SYNTAX,
    EditKind.FUNCTION: Cause.SYNTAX,
    EditKind.READ_AS: Cause.SYNTAX,
    EditKind.GROUP: Cause.SYNTAX,
    EditKind.FIRST_ROW: Cause.SYNTAX,
    EditKind.CONCAT: Cause.SYNTAX,
    EditKind.REQUOTE: Cause.NAMES,
    EditKind.QUOTE: Cause.NAMES,
    EditKind.TEXT_QUOTES: Cause.NAMES,
    EditKind.RESPELL: Cause.NAMES,
    EditKind.RENAME: Cause.NAMES,
    EditKind.QUALIFY: Cause.NAMES,
    EditKind.UNQUALIFY: Cause.NAMES,
    EditKind.CAST: Cause.TYPES,
    EditKind.PRECISION: Cause.TYPES,
    EditKind.NULLS: Cause.SEMANTICS,
    EditKind.COLLATE: Cause.SEMANTICS,
    EditKind.LIKE_CASE: Cause.SEMANTICS,
    EditKind.DIVISION: Cause.SEMANTICS,
    EditKind.ZERO: Cause.SEMANTICS,
}
"""What an edit mends."""

OF_ERROR: Mapping[ErrorClass | None, Cause] = {
    ErrorClass.UNKNOWN_TABLE: Cause.NAMES,
    ErrorClass.UNKNOWN_COLUMN: Cause.NAMES,
    ErrorClass.TYPE_ERROR: Cause.TYPES,
}
"""What an error is about where no edit mends it; all others are SYNTAX."""

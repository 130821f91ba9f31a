"""Constructs of a gold query: joins, subqueries, aggregation and so on, from its text alone.

docs/how-to/reports.md says what each word means. A query is of several, so groups of questions by construct
overlap.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from dialects.enums import Dialect
from dialects.targets import SQLGLOT

# What an SQL text is made of, word by word: tokens, JOINs, keywords in seven categories, n-grams,
# functions.
#
# The categories and their keywords are those of BIRD's paper, appendix B.10, and of Mini-Dev's README
# (https://github.com/bird-bench/mini_dev#keywords-statistic). A text is cut into words and not parsed, so
# that any dialect's can be counted, and one that is wrong, too.

CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "main body": (
        "SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "IN", "EXISTS", "IS", "NULL", "IIF", "CASE",
        "CASE WHEN",
    ),
    "join": ("INNER JOIN", "LEFT JOIN", "ON", "AS"),
    "clause": (
        "BETWEEN", "LIKE", "LIMIT", "ORDER BY", "ASC", "DESC", "GROUP BY", "HAVING", "UNION", "ALL", "EXCEPT",
        "PARTITION BY", "OVER",
    ),
    "aggregation": ("AVG", "COUNT", "MAX", "MIN", "ROUND", "SUM"),
    "scalar": ("ABS", "LENGTH", "STRFTIME", "JULIANDAY", "NOW", "CAST", "SUBSTR", "INSTR"),
    "comparison": ("=", ">", "<", ">=", "<=", "!="),
    "computing": ("-", "+", "*", "/"),
}  # fmt: skip
"""The keywords of each category, in the order of the paper."""

KEYWORDS: tuple[str, ...] = tuple(word for words in CATEGORIES.values() for word in words)

FUNCTIONS: Mapping[str, frozenset[str]] = {
    "date": frozenset({
        "AGE", "CURDATE", "CURRENT_DATE", "DATE", "DATEDIFF", "DATETIME", "DATE_ADD", "DATE_DIFF",
        "DATE_FORMAT", "DATE_PART", "DATE_SUB", "DATE_TRUNC", "DAY", "DAYOFMONTH", "DAYOFWEEK",
        "DAYOFYEAR", "EXTRACT", "FROM_UNIXTIME", "HOUR", "JULIANDAY", "LAST_DAY", "MAKE_DATE", "MINUTE",
        "MONTH", "NOW", "QUARTER", "SECOND", "STRFTIME", "STRPTIME", "STR_TO_DATE", "TIME", "TIMEDIFF",
        "TIMESTAMP", "TIMESTAMPDIFF", "TO_DATE", "TO_TIMESTAMP", "UNIXEPOCH", "UNIX_TIMESTAMP", "WEEK",
        "WEEKDAY", "YEAR",
    }),
    "conversion": frozenset({
        "ASCII", "CAST", "CHAR", "CHR", "CONVERT", "HEX", "TO_CHAR", "TO_NUMBER", "TRY_CAST", "TYPEOF",
        "UNHEX", "UNICODE",
    }),
    "math": frozenset({
        "ABS", "ACOS", "ASIN", "ATAN", "ATAN2", "CEIL", "CEILING", "COS", "DEGREES", "DIV", "EXP",
        "FLOOR", "LN", "LOG", "LOG10", "LOG2", "MOD", "PI", "POW", "POWER", "RADIANS", "RAND", "RANDOM",
        "ROUND", "SIGN", "SIN", "SQRT", "TAN", "TRUNC", "TRUNCATE",
    }),
    "string": frozenset({
        "CHAR_LENGTH", "CONCAT", "CONCAT_WS", "FORMAT", "INITCAP", "INSTR", "LEFT", "LENGTH", "LOCATE",
        "LOWER", "LPAD", "LTRIM", "PRINTF", "REPEAT", "REPLACE", "REVERSE", "RIGHT", "RPAD", "RTRIM",
        "SPLIT_PART", "STRPOS", "SUBSTR", "SUBSTRING", "SUBSTRING_INDEX", "TRANSLATE", "TRIM", "UPPER",
    }),
}  # fmt: skip
"""The functions that BIRD's paper counts, by kind, in the spellings of every dialect.

Window functions are those with OVER, whatever they are called; aggregates without it are none."""

WINDOW = "window"
"""The kind of functions with OVER."""


def function_kinds(counts: "SqlCounts") -> frozenset[str]:
    """Return the kinds of functions that a text calls, as BIRD's paper divides them."""
    kinds = {kind for kind, names in FUNCTIONS.items() if names & counts.functions.keys()}
    return frozenset(kinds | ({WINDOW} if counts.keywords.get("OVER") else set()))


NGRAM = 3
"""How many tokens in a row the paper counts as one n-gram."""

_FUNCTION_WORDS = frozenset({*CATEGORIES["aggregation"], *CATEGORIES["scalar"], "IIF"})
"""Keywords only where they are called: a column may have the same name."""
_SAME = {"==": "=", "<>": "!=", "SUBSTRING": "SUBSTR"}
_PAIRS = frozenset({"ORDER BY", "GROUP BY", "PARTITION BY", "CASE WHEN"})
_OUTER = frozenset({"RIGHT", "FULL", "CROSS", "NATURAL"})
_SIGNS = frozenset({"-", "+", "*"})
"""Tokens that are operators only between two operands: else a sign, or the star of all columns."""
_NO_FUNCTIONS = frozenset(
    {
        "ALL", "AND", "ANY", "AS", "BETWEEN", "BY", "CASE", "DISTINCT", "ELSE", "EXCEPT", "EXISTS", "FILTER",
        "FROM", "GLOB", "HAVING", "IN", "INTERSECT", "INTERVAL", "IS", "JOIN", "LIKE", "LIMIT", "NOT",
        "OFFSET", "ON", "OR", "OVER", "SELECT", "SOME", "THEN", "UNION", "USING", "VALUES", "WHEN", "WHERE",
        "WITH",
    }
)  # fmt: skip
"""Words that may precede a parenthesis without being called."""


@dataclass(frozen=True)
class SqlCounts:
    """One text: every figure is a count of occurrences.

    `joins` are the words JOIN; a comma between tables is none. `ngrams` are the different sequences of
    `NGRAM` tokens. `functions` are by their names in upper case.
    """

    tokens: int
    joins: int
    ngrams: int
    keywords: Mapping[str, int]
    functions: Mapping[str, int]


@dataclass(frozen=True)
class _Token:
    """One word, literal or sign; `word` is its upper case, empty where it is quoted or a literal."""

    text: str
    word: str
    is_literal: bool


_NOTHING = _Token("", "(", is_literal=False)
"""The token before the first."""


def count(sql: str, dialect: Dialect = Dialect.SQLITE) -> SqlCounts | None:
    """Count what a text is made of; None where it cannot be cut into words: a quote that is not closed."""
    from sqlglot.errors import SqlglotError  # noqa: PLC0415 - slow to import, and few commands need it

    try:
        tokens = list(_tokens(sql.strip().rstrip(";"), dialect))
    except SqlglotError:
        return None
    texts = [token.text for token in tokens]
    return SqlCounts(
        tokens=len(tokens),
        joins=sum(token.word == "JOIN" for token in tokens),
        ngrams=len({tuple(texts[at : at + NGRAM]) for at in range(len(texts) - NGRAM + 1)}),
        keywords=Counter(_keywords(tokens)),
        functions=Counter(_called(tokens)),
    )


def _tokens(sql: str, dialect: Dialect) -> Iterator[_Token]:
    """Yield words one by one: a token of several words, in sqlglot, is several here."""
    import sqlglot  # noqa: PLC0415 - as above
    from sqlglot.tokenizer_core import TokenType  # noqa: PLC0415 - as above

    for token in sqlglot.tokenize(sql, read=SQLGLOT[dialect]):
        if token.token_type in {TokenType.STRING, TokenType.IDENTIFIER, TokenType.NUMBER}:
            yield _Token(token.text, "", is_literal=token.token_type is not TokenType.IDENTIFIER)
            continue
        for word in token.text.split():
            plain = word.upper()
            yield _Token(plain, _SAME.get(plain, plain), is_literal=False)


def _keywords(tokens: Sequence[_Token]) -> Iterator[str]:
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else _NOTHING
        after = tokens[at + 1].word if at + 1 < len(tokens) else ")"
        if token.is_literal and token.text.upper() == "NOW":
            yield "NOW"
        elif token.word == "JOIN":
            yield from _joins([one.word for one in tokens[max(0, at - 2) : at]])
        elif token.word in _SIGNS:
            if _is_operand(before) and not _is_star(token.word, before, after):
                yield token.word
        elif f"{token.word} {after}" in _PAIRS:
            yield f"{token.word} {after}"
            if token.word == "CASE":
                yield "CASE"
        elif token.word in KEYWORDS and (token.word not in _FUNCTION_WORDS or after == "("):
            yield token.word


def _joins(before: Sequence[str]) -> Iterator[str]:
    """Yield the kind of a JOIN by the words before it; other kinds are not keywords of the list."""
    side = before[-2] if before and before[-1] == "OUTER" and len(before) > 1 else (before or [""])[-1]
    if side == "LEFT":
        yield "LEFT JOIN"
    elif side not in _OUTER:
        yield "INNER JOIN"


def _is_operand(token: _Token) -> bool:
    """True if a value may end with this token."""
    return (
        not token.word
        or token.word in {")", "END", "NULL"}
        or (token.word[0].isalnum() and token.word not in _NO_FUNCTIONS | {"RETURN"} | set(KEYWORDS))
    )


def _is_star(word: str, before: _Token, after: str) -> bool:
    """True if it is the star of a table's columns, after a point, or of all, before FROM or the like."""
    return word == "*" and (before.word == "." or after in {"FROM", ")", ","})


def _called(tokens: Sequence[_Token]) -> Iterator[str]:
    for token, following in pairwise(tokens):
        if following.word == "(" and token.word[:1].isalpha() and token.word not in _NO_FUNCTIONS:
            yield token.word


if TYPE_CHECKING:
    from sqlglot import exp


class Construct(StrEnum):
    """One thing that a query uses."""

    JOIN = "join"
    """Two sources or more in one FROM, by JOIN or by a comma."""
    OUTER_JOIN = "outer_join"
    """LEFT, RIGHT or FULL JOIN."""
    SUBQUERY = "subquery"
    """A query inside the query, anywhere but in WITH or as a side of a set operation."""
    WITH = "with"
    AGGREGATION = "aggregation"
    """COUNT, SUM, AVG, MIN, MAX, TOTAL or GROUP_CONCAT, not as a window function."""
    DISTINCT = "distinct"
    """SELECT DISTINCT, or DISTINCT in an aggregate function."""
    GROUP_BY = "group_by"
    HAVING = "having"
    ORDER_BY = "order_by"
    """Of a query; not that of a window."""
    LIMIT = "limit"
    SET_OPERATION = "set_operation"
    """UNION, INTERSECT or EXCEPT."""
    WINDOW = "window"
    CASE = "case"
    """CASE or IIF."""
    CAST = "cast"
    ARITHMETIC = "arithmetic"
    """+, -, *, / or % between two operands."""
    LIKE = "like"
    """LIKE or GLOB."""
    DATE_FUNCTION = "date_function"
    """STRFTIME, DATE, TIME, DATETIME, JULIANDAY, UNIXEPOCH, TIMEDIFF, or CURRENT_DATE and the like."""
    TEXT_FUNCTION = "text_function"
    """SUBSTR, INSTR, REPLACE, LENGTH, UPPER, LOWER, TRIM, PRINTF and the like, or `||`."""
    PLAIN = "plain"
    """None of the above."""
    UNREADABLE = "unreadable"
    """The text is not a single SQLite query, or cannot be read here."""


class QuestionType(StrEnum):
    """The types of a question in BIRD's paper: `harness.sqltree.question_types`."""

    MATCH = "match"
    """Rows with a given value."""
    RANKING = "ranking"
    """The first or last of an order."""
    COMPARISON = "comparison"
    """Rows above, below or between."""
    COUNTING = "counting"
    """How many there are."""
    AGGREGATION = "aggregation"
    """A sum, an average, a least or greatest value."""
    DOMAIN_KNOWLEDGE = "domain_knowledge"
    """A formula or threshold that only the evidence defines."""
    NUMERIC_COMPUTATION = "numeric_computation"
    """Arithmetic."""
    SYNONYM = "synonym"
    """A word of the question that the evidence translates into a column of another name."""
    VALUE_ILLUSTRATION = "value_illustration"
    """A stored value that the evidence names."""


OF_EVIDENCE = (QuestionType.DOMAIN_KNOWLEDGE, QuestionType.SYNONYM, QuestionType.VALUE_ILLUSTRATION)
"""The types that only evidence decides."""

_AGGREGATES = frozenset({"COUNT", "SUM", "AVG", "MIN", "MAX", "TOTAL", "GROUP_CONCAT", "STRING_AGG"})
_OF_TWO = frozenset({"MIN", "MAX"})
"""Aggregate functions of one argument; of several they take the least or greatest of these.

https://sqlite.org/lang_corefunc.html#max_scalar
"""
_FUNCTIONS = {
    **dict.fromkeys(
        ("STRFTIME", "DATE", "TIME", "DATETIME", "JULIANDAY", "UNIXEPOCH", "TIMEDIFF"),
        Construct.DATE_FUNCTION,
    ),
    **dict.fromkeys(
        ("SUBSTR", "SUBSTRING", "INSTR", "REPLACE", "LENGTH", "UPPER", "LOWER", "TRIM", "LTRIM", "RTRIM",
         "PRINTF", "FORMAT", "CONCAT", "CONCAT_WS"),
        Construct.TEXT_FUNCTION,
    ),
    "IIF": Construct.CASE,
    "IF": Construct.CASE,
    "LIKE": Construct.LIKE,
    "GLOB": Construct.LIKE,
}  # fmt: skip


def constructs(sql: str) -> tuple[Construct, ...]:
    """Return the constructs of a SQLite query, in the order of `Construct`; never empty.

    Args:
        sql: the gold text for SQLite.

    Returns:
        UNREADABLE alone where it cannot be read, PLAIN alone where it uses nothing else.
    """
    from dialects.source import parse  # noqa: PLC0415 - sqlglot is slow to import, and few reports need it

    try:
        found = set(_found(parse(sql)))
    except Exception:  # noqa: BLE001 - what reading raises for texts that are no SQL is of many kinds
        return (Construct.UNREADABLE,)
    return tuple(construct for construct in Construct if construct in found) or (Construct.PLAIN,)


def _found(tree: "exp.Expr") -> Iterator[Construct]:
    for node in tree.walk():
        yield from _of(node)


@cache
def _kinds() -> "Mapping[type[exp.Expr], Construct]":
    from sqlglot import exp  # noqa: PLC0415 - as above

    return {
        exp.Join: Construct.JOIN,
        exp.With: Construct.WITH,
        exp.Distinct: Construct.DISTINCT,
        exp.Group: Construct.GROUP_BY,
        exp.Having: Construct.HAVING,
        exp.Limit: Construct.LIMIT,
        exp.SetOperation: Construct.SET_OPERATION,
        exp.Window: Construct.WINDOW,
        exp.Case: Construct.CASE,
        exp.Cast: Construct.CAST,
        exp.Like: Construct.LIKE,
        exp.Glob: Construct.LIKE,
        exp.CurrentDate: Construct.DATE_FUNCTION,
        exp.CurrentTime: Construct.DATE_FUNCTION,
        exp.CurrentTimestamp: Construct.DATE_FUNCTION,
        exp.DPipe: Construct.TEXT_FUNCTION,
        **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod), Construct.ARITHMETIC),
    }


def _of(node: "exp.Expr") -> Iterator[Construct]:
    from sqlglot import exp  # noqa: PLC0415 - as above

    yield from (construct for kind, construct in _kinds().items() if isinstance(node, kind))
    if isinstance(node, exp.Join) and node.side:
        yield Construct.OUTER_JOIN
    if isinstance(node, exp.Order) and not isinstance(node.parent, exp.Window):
        yield Construct.ORDER_BY
    if isinstance(node, exp.Query) and not isinstance(node, exp.Subquery) and _is_inside(node):
        yield Construct.SUBQUERY
    if isinstance(node, exp.Anonymous):
        yield from _function(node)


def _is_inside(query: "exp.Expr") -> bool:
    """True if a query is nested, and is neither in WITH, nor a side of a set operation, nor the whole."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    parent = query.parent
    while isinstance(parent, exp.Subquery) and isinstance(parent.parent, exp.SetOperation | exp.CTE | None):
        parent = parent.parent
    return not (parent is None or isinstance(parent, exp.SetOperation | exp.CTE))


def _function(call: "exp.Expr") -> Iterator[Construct]:
    from sqlglot import exp  # noqa: PLC0415 - as above

    name, arguments = call.name.upper(), len(call.expressions)
    if name in _FUNCTIONS:
        yield _FUNCTIONS[name]
    over = call.parent.parent if isinstance(call.parent, exp.Filter) else call.parent
    if name in _AGGREGATES and not isinstance(over, exp.Window) and (name not in _OF_TWO or arguments == 1):
        yield Construct.AGGREGATION

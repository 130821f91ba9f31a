"""Operations that mean the same on every target; each target's generator writes them as SQL.

SQLite's operators depend on the types of their values. Here each node means one thing for operands of known
type, so that `dialects.base_generator` and `dialects.generator` only write it.
"""

from collections.abc import Iterable

from sqlglot import exp


class Whole(exp.Expression):
    """INTEGER / INTEGER, truncated toward zero; NULL where the divisor is zero."""

    arg_types = {"this": True, "expression": True}


class Quotient(exp.Expression):
    """REAL / REAL; NULL where the divisor is zero."""

    arg_types = {"this": True, "expression": True}


class Remainder(exp.Expression):
    """INTEGER % INTEGER with the sign of the dividend; NULL where the divisor is zero."""

    arg_types = {"this": True, "expression": True}


class Joined(exp.Expression):
    """TEXT || TEXT ..., NULL where one is NULL."""

    arg_types = {"expressions": True}


class AsInteger(exp.Expression):
    """A condition as 1, 0 or NULL."""

    arg_types = {"this": True}


class Bigint(exp.Expression):
    """An exact number without fraction as a 64-bit integer."""

    arg_types = {"this": True}


class Truncated(exp.Expression):
    """A REAL within 64 bits as an INTEGER, its fraction cut off."""

    arg_types = {"this": True}


class Double(exp.Expression):
    """A number of any type in double precision."""

    arg_types = {"this": True}


class Exact(exp.Expression):
    """A number as an exact decimal number."""

    arg_types = {"this": True}


class Text(exp.Expression):
    """An INTEGER, or a NULL, as a text."""

    arg_types = {"this": True}


class Lower(exp.Expression):
    """A TEXT with A-Z, and nothing else, in lower case."""

    arg_types = {"this": True}


class Upper(exp.Expression):
    """A TEXT with a-z, and nothing else, in upper case."""

    arg_types = {"this": True}


class Matches(exp.Expression):
    """A TEXT LIKE a pattern, case-sensitive; without `escape` there is no escape character."""

    arg_types = {"this": True, "expression": True, "escape": False}


class Characters(exp.Expression):
    """The number of characters of a TEXT, as a 64-bit integer."""

    arg_types = {"this": True}


class Position(exp.Expression):
    """The position of the first `expression` in the TEXT `this`, counted from 1; 0 if it does not occur."""

    arg_types = {"this": True, "expression": True}


class Slice(exp.Expression):
    """Characters of the TEXT `this`, or `octets` of a BLOB, from `start` >= 1 on: `length` >= 0, or all."""

    arg_types = {"this": True, "start": True, "length": False, "octets": False}


class Hexadecimal(exp.Expression):
    """The UTF-8 bytes of a TEXT, or those of a BLOB (`blob`), in upper-case hexadecimal."""

    arg_types = {"this": True, "blob": False}


class Bytes(exp.Expression):
    """The UTF-8 bytes of a TEXT as a BLOB."""

    arg_types = {"this": True}


class Unhexed(exp.Expression):
    """The bytes that a TEXT gives in hexadecimal, as a BLOB."""

    arg_types = {"this": True}


class Decoded(exp.Expression):
    """A BLOB decoded from UTF-8; if `loose`, any BLOB as a TEXT that reads as the same number."""

    arg_types = {"this": True, "loose": False}


class JSONString(exp.Expression):
    """A TEXT as a string of JSON, in quotes."""

    arg_types = {"this": True}


class JSONNumber(exp.Expression):
    """A REAL as a number of JSON, with all its digits and a fraction or an exponent."""

    arg_types = {"this": True}


class BoundValue(exp.Expression):
    """A value that the driver binds: `this` stands for it, `kind` its storage class if it is cast.

    Of a term of GROUP BY and ORDER BY, and of a result, which they may name, the kind is `term` in place of
    `integer`.
    """

    arg_types = {"this": True, "kind": True}


class Random(exp.Expression):
    """A random INTEGER, different on each evaluation."""

    arg_types = {}


class JSONText(exp.Expression):
    """The TEXT value of a quoted JSON string."""

    arg_types = {"this": True}


class JSONRows(exp.Expression):
    """A source in FROM: one row per object, with members k, v, n, p, f and q, of a JSON list `this`."""

    arg_types = {"this": True, "alias": True}


class UtcNow(exp.Expression):
    """The statement's UTC clock as text, 'YYYY-MM-DD HH:MM:SS'."""

    arg_types = {}


class AnyOf(exp.Expression):
    """Aggregate: the value that all rows of a group have in common."""

    arg_types = {"this": True}


class Whichever(exp.Expression):
    """Aggregate: the value of one row of a group, the same row for all columns."""

    arg_types = {"this": True}


class FirstOf(exp.Expression):
    """Aggregate: `this` of the group's first row in the order of `expressions`; PostgreSQL only."""

    arg_types = {"this": True, "expressions": False}


class Listed(exp.Expression):
    """Aggregate: the TEXTs of a group, separated by a constant TEXT; `distinct`, or in `order`."""

    arg_types = {"this": True, "separator": True, "distinct": False, "order": False}


class Framed(exp.Window):
    """A window with a frame or aggregate that the target lacks: it is computed from numbered rows.

    `ties` are the ORDER BY terms that order rows tied in the window's order.
    """

    arg_types = {**exp.Window.arg_types, "ties": False}


class Picked(exp.Expression):
    """`lag`, `lead` or `nth_value` over numbered rows: a value, a number of rows, and maybe a default."""

    arg_types = {"this": True, "expressions": True}


AGGREGATES = (exp.AggFunc, AnyOf, Whichever, FirstOf, Listed)
"""Nodes that return one value for several rows, unless OVER follows."""


class ServerCall(exp.Expression):
    """A call of a stored function in `FUNCTIONS_NAMESPACE`; `loaders/functions` defines them."""

    arg_types = {"this": True, "expressions": False}


def server(name: str, *arguments: exp.Expr) -> ServerCall:
    """Call a stored function."""
    return ServerCall(this=name, expressions=list(arguments))


def number(value: float) -> exp.Expr:
    """Return a literal INTEGER."""
    return exp.Neg(this=exp.Literal.number(-value)) if value < 0 else exp.Literal.number(value)


def string(value: str) -> exp.Expr:
    """Return a literal TEXT."""
    return exp.Literal.string(value)


def is_constant(node: exp.Expr) -> bool:
    """True for a literal: in GROUP BY and ORDER BY it counts as a position, or is rejected."""
    while isinstance(node, exp.Paren | exp.Neg | exp.Not | Double | Text | Bigint | AsInteger):
        node = node.this
    return isinstance(node, exp.Literal | exp.Null | exp.Boolean | exp.HexString)


def case(*branches: tuple[exp.Expr, exp.Expr], default: exp.Expr | None = None) -> exp.Case:
    """Return CASE WHEN condition THEN value ... ELSE default END."""
    return exp.Case(ifs=[exp.If(this=test, true=value) for test, value in branches], default=default)


def unless(node: exp.Expr, other: exp.Expr) -> exp.Expr:
    """Return `node`, or NULL where it equals `other`.

    Over a derived table of one row, NULLIF makes MySQL 9.7 compute a window function twice and double a sum.
    """
    if node.find(exp.Window):
        return case((exp.NEQ(this=grouped(node.copy()), expression=other), node))
    return exp.Nullif(this=node, expression=other)


def is_null(node: exp.Expr) -> exp.Expr:
    """Return `node` IS NULL."""
    return exp.Is(this=grouped(node.copy()), expression=exp.Null())


def is_not_null(node: exp.Expr) -> exp.Expr:
    """Return `node` IS NOT NULL."""
    return exp.Not(this=is_null(node))


def every(conditions: Iterable[exp.Expr]) -> exp.Expr:
    """Join the conditions with AND; TRUE if there are none."""
    return _chain(exp.And, conditions, empty=True)


def some(conditions: Iterable[exp.Expr]) -> exp.Expr:
    """Join the conditions with OR; FALSE if there are none."""
    return _chain(exp.Or, conditions, empty=False)


def _chain(kind: type[exp.Binary], conditions: Iterable[exp.Expr], *, empty: bool) -> exp.Expr:
    result: exp.Expr | None = None
    for condition in conditions:
        part = grouped(condition)
        result = part if result is None else kind(this=result, expression=part)
    return exp.Boolean(this=empty) if result is None else result


_OPERATORS = (
    exp.Binary, exp.Not, exp.Neg, exp.In, exp.Between, exp.Is, exp.BitwiseNot,
    Whole, Quotient, Remainder, Joined, Matches,
)  # fmt: skip


def grouped(node: exp.Expr) -> exp.Expr:
    """Put an operator in parentheses, so that no target's precedence matters."""
    return exp.Paren(this=node) if isinstance(node, _OPERATORS) else node


class Alternatives(exp.Expression):
    """A value whose kind depends on the row, each alternative with a node of its own: `value_types.OneOf`.

    No target spells it, so that what takes the node for the value is a fault and never NULL.
    """

    arg_types = {}


class Wide(exp.Expression):
    """A TEXT of unlimited length: the first rows of a recursive query give its columns their types."""

    arg_types = {"this": True}


class DayNumber(exp.Expression):
    """The days from 2000-01-01 to the day that a TEXT YYYY-MM-DD names, as an INTEGER."""

    arg_types = {"this": True}


class Fits(exp.Expression):
    """The whole TEXT matches the regular expression `expression`, a constant valid in POSIX and ICU."""

    arg_types = {"this": True, "expression": True}


class Trimmed(exp.Expression):
    """A TEXT without the character `expression` at its ends; `side` is BOTH, LEADING or TRAILING."""

    arg_types = {"this": True, "expression": True, "side": True}


class Tail(exp.Expression):
    """The last `length` >= 1 characters of a TEXT."""

    arg_types = {"this": True, "length": True}


def reads_outer_rows(query: exp.Expr) -> bool:
    """Whether a compiled subquery has columns of the query around it."""
    own = {
        each.alias_or_name.lower()
        for each in query.find_all(exp.Table, exp.Subquery, JSONRows)
        if each is not query
    }
    return any(each.table and each.table.lower() not in own for each in query.find_all(exp.Column))

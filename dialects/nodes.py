"""Operations that mean the same on every target, and what each target writes for them (`SPELLINGS`).

SQLite's operators depend on the types of their values. Here each node means one thing for operands of known
type, so that `dialects.base_generator` only writes it. A node has one operand, `this`, unless its `arg_types`
say otherwise.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from sqlglot import exp

from dialects.identifiers import FUNCTIONS_NAMESPACE
from dialects.trees import find_all, has


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


class Bigint(exp.Expression):
    """An exact number without fraction as a 64-bit integer."""


class Digits(Bigint):
    """The INTEGER that a TEXT of digits reads as.

    DuckDB computes it for other texts, too, which a join's condition makes equal: there it is NULL.
    """


class Truncated(exp.Expression):
    """A REAL within 64 bits as an INTEGER, its fraction cut off."""


class WithoutFraction(exp.Expression):
    """A REAL without its fraction, still a REAL."""


class HexadecimalInteger(exp.Expression):
    """The hexadecimal digits of an INTEGER's 64 bits."""


class Thousands(exp.Expression):
    """The decimal digits of an INTEGER with commas between the thousands."""


class Octets(exp.Expression):
    """The number of bytes of a TEXT or BLOB."""


class Double(exp.Expression):
    """A number of any type in double precision."""


class Exact(exp.Expression):
    """A number as an exact decimal number."""


class Text(exp.Expression):
    """An INTEGER, or a NULL, as a text."""


class Lower(exp.Expression):
    """A TEXT with A-Z, and nothing else, in lower case."""


class Upper(exp.Expression):
    """A TEXT with a-z, and nothing else, in upper case."""


class Matches(exp.Expression):
    """A TEXT LIKE a pattern; without `escape` there is no escape character.

    It is case-sensitive, but for ASCII letters if it `folds`, where the target has ILIKE.
    """

    arg_types = {"this": True, "expression": True, "escape": False, "folds": False}


class Characters(exp.Expression):
    """The number of characters of a TEXT, as a 64-bit integer."""


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


class Unhexed(exp.Expression):
    """The bytes that a TEXT gives in hexadecimal, as a BLOB."""


class Decoded(exp.Expression):
    """A BLOB decoded from UTF-8; if `loose`, any BLOB as a TEXT that reads as the same number."""

    arg_types = {"this": True, "loose": False}


class JSONString(exp.Expression):
    """A TEXT as a string of JSON, in quotes."""


class JSONNumber(exp.Expression):
    """A REAL as a number of JSON, with all its digits and a fraction or an exponent."""


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


class JSONRows(exp.Expression):
    """A source in FROM: one row per object, with members k, v, n, p, f and q, of a JSON list `this`."""

    arg_types = {"this": True, "alias": True}


class UtcNow(exp.Expression):
    """The statement's UTC clock as text, 'YYYY-MM-DD HH:MM:SS'."""

    arg_types = {}


class AnyOf(exp.Expression):
    """Aggregate: the value that all rows of a group have in common."""


class Whichever(exp.Expression):
    """Aggregate: the value of one row of a group, the same row for all columns."""


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


_SIGNED = "signed"
_Node = TypeVar("_Node", bound=exp.Expr)


def signed(node: _Node) -> _Node:
    """Note that a double may be -0.0, which SQLite takes for the same value as 0.0."""
    node.meta[_SIGNED] = True
    return node


def is_signed(node: exp.Expr) -> bool:
    """Return whether a double is one that may be -0.0, as is what a text says."""
    if isinstance(node, ServerCall):
        return bool(node.this == "to_real")
    return bool(node._meta and node.meta.get(_SIGNED))  # noqa: SLF001 - `meta` would create one in each


def server(name: str, *arguments: exp.Expr) -> ServerCall:
    """Call a stored function."""
    return ServerCall(this=name, expressions=list(arguments))


def builtin(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """Call a function of the target's own."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def coalesced(node: exp.Expr, *others: exp.Expr) -> exp.Coalesce:
    """Return the first of several values that is not NULL."""
    return exp.Coalesce(this=node, expressions=list(others))


def select(items: Sequence[exp.Expr], source: exp.Expr, where: exp.Expr | None = None) -> exp.Select:
    """Return SELECT `items` FROM `source` [WHERE `where`]."""
    condition = None if where is None else exp.Where(this=where)
    return exp.Select(expressions=list(items), from_=exp.From(this=source), where=condition)


def number(value: float) -> exp.Expr:
    """Return a literal INTEGER."""
    return exp.Neg(this=exp.Literal.number(-value)) if value < 0 else exp.Literal.number(value)


def string(value: str) -> exp.Expr:
    """Return a literal TEXT."""
    return exp.Literal.string(value)


def identifier(name: str) -> exp.Identifier:
    """Return a name in quotes; `plain_names` drops those that a target does not need."""
    return exp.Identifier(this=name, quoted=True)


def column_of(name: str, source: str | None = None) -> exp.Column:
    """Return a column, of a source if it is given."""
    return exp.Column(this=identifier(name), table=None if source is None else identifier(source))


def aliased(item: exp.Expr, name: str) -> exp.Alias:
    """Return `item` AS `name`."""
    return exp.Alias(this=item, alias=identifier(name))


def source_alias(name: str) -> exp.TableAlias:
    """Return the alias of a source."""
    return exp.TableAlias(this=identifier(name))


def subquery(query: exp.Expr, name: str) -> exp.Subquery:
    """Return a query as a source of that name."""
    return exp.Subquery(this=query, alias=source_alias(name))


def kept_apart(node: exp.Expr) -> exp.Expr:
    """Return COALESCE of a value and NULL: the optimizers of MySQL and MariaDB do not look into it."""
    return coalesced(node, exp.null())


def numbering(name: str, keys: Iterable[exp.Expr], terms: Sequence[exp.Expr]) -> exp.Window:
    """Return ROW_NUMBER or a rank (`name`) of the rows with the same keys."""
    order = exp.Order(expressions=[term.copy() for term in terms]) if terms else None
    return exp.Window(
        this=exp.Anonymous(this=name), partition_by=[key.copy() for key in keys], order=order, over="OVER"
    )


def unknown() -> exp.Expr:
    """Return the condition that is neither true nor false."""
    return exp.Cast(this=exp.Null(), to=exp.DataType(this=exp.DType.BOOLEAN))


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
    if has(node, exp.Window):
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
    """A TEXT cast to a type without a practical limit of its length.

    The first rows of a recursive query give its columns their types; MySQL also needs it for REPLACE.
    """


class DayNumber(exp.Expression):
    """The days from 2000-01-01 to the day that a TEXT YYYY-MM-DD names, as an INTEGER."""


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
        for each in find_all(query, exp.Table, exp.Subquery, JSONRows)
        if each is not query
    }
    return any(each.table and each.table.lower() not in own for each in find_all(query, exp.Column))


_COLLATION = " COLLATE utf8mb4_0900_bin"

_WIDE = 67_108_864
"""Characters of such a text on MySQL, which keeps it outside of the row: a row has 65,535 bytes."""

_FOLDED = (
    f"CONVERT(CAST(%s(CONVERT(CAST({{this}} AS BINARY) USING tis620)) AS BINARY) USING utf8mb4){_COLLATION}"
)
"""ASCII letters alone change: TIS-620 has no others with case, and reads UTF-8 beyond ASCII as Thai letters.

A stored function would take 20 times as long.
"""

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

# fmt: off
SPELLINGS: Mapping[type[exp.Expr], Mapping[str, str]] = {
    exp.BitwiseXor: {"mysql": "{this!o} ^ {expression!o}", "postgresql": "{this!o} # {expression!o}",
                     "duckdb": "XOR({this}, {expression})"},
    exp.CTE: {"mysql": "{alias} AS ({this})"},
    exp.HexString: {"mysql": "X'{this}'", "postgresql": "'\\x{this}'::bytea", "duckdb": "UNHEX('{this}')"},
    exp.NullSafeEQ: {"mysql": "{this!o} <=> {expression!o}",
                     "postgresql": "{this!o} IS NOT DISTINCT FROM {expression!o}"},
    AnyOf: {"any": "MIN({this})"},
    AsInteger: {"mysql": "{this!u}", "postgresql": "CAST({this!u} AS INTEGER)"},
    Bigint: {"mysql": "CAST({this} AS SIGNED)", "postgresql": "CAST({this} AS BIGINT)"},
    BoundValue: {"any": "bound"},
    Bytes: {"mysql": "CAST({this} AS BINARY)", "postgresql": "CONVERT_TO({this}, 'UTF8')",
            "duckdb": "ENCODE({this})"},
    Characters: {"mysql": "CHAR_LENGTH({this})", "postgresql": "CAST(CHAR_LENGTH({this}) AS BIGINT)",
                 "duckdb": "LENGTH({this})"},
    WithoutFraction: {"mysql": "TRUNCATE({this}, 0)", "postgresql": "TRUNC({this})"},
    DayNumber: {"mysql": "(TO_DAYS({this}) - 730485)",
                "postgresql": "CAST({this}::date - DATE '2000-01-01' AS BIGINT)"},
    Decoded: {"any": "decoded"},
    Digits: {"mysql": "CAST({this} AS SIGNED)", "postgresql": "CAST({this} AS BIGINT)",
             "duckdb": "TRY_CAST({this} AS BIGINT)"},
    Double: {"any": "double"},
    Exact: {"mysql": "CAST({this} AS DECIMAL(65, 0))", "postgresql": "CAST({this} AS NUMERIC)",
            "duckdb": "CAST({this} AS HUGEINT)"},
    FirstOf: {"postgresql": "(ARRAY_AGG({this}{expressions: ORDER BY }))[1]"},
    Fits: {"any": "fits", "duckdb": "REGEXP_FULL_MATCH({this}, {expression})"},
    Hexadecimal: {"mysql": "HEX({this})", "postgresql": "hexadecimal", "duckdb": "HEX({this})"},
    HexadecimalInteger: {"mysql": "HEX({this})", "postgresql": "TO_HEX({this})"},
    Joined: {"mysql": "CONCAT({expressions})", "postgresql": "joined"},
    JSONNumber: {"mysql": "CAST(CAST({this} AS JSON) AS CHAR)" + _COLLATION,
                 # Its JSON is text, and a number is JSON in an array alone; 2.0 is 2 there beside a window.
                 "mariadb": "REGEXP_REPLACE(NULLIF(TRIM(TRAILING ']' FROM TRIM(LEADING '[' FROM"
                            " JSON_ARRAY({this}))), 'null'), '^(-?[0-9]+)$', '\\\\1.0')" + _COLLATION,
                 "postgresql": "REGEXP_REPLACE(REPLACE(CAST({this} AS TEXT), 'Infinity', '1e999'),"
                               " '^(-?[0-9]+)$', '\\1.0')",
                 "duckdb": "REPLACE(CAST({this} AS TEXT), 'inf', '1e999')"},
    JSONRows: {"mysql": "json_rows",
               "postgresql": "JSONB_TO_RECORDSET(CAST({this} AS JSONB)) AS {alias}"
                             "(k TEXT, v TEXT, n BIGINT, p BIGINT, f TEXT, q TEXT)",
               "duckdb": "(SELECT UNNEST(CAST(CAST({this} AS JSON) AS STRUCT(k VARCHAR, v VARCHAR, n BIGINT,"
                         " p BIGINT, f VARCHAR, q VARCHAR)[]), recursive := true)) AS {alias}"},
    # MariaDB writes capital hexadecimal digits.
    JSONString: {"mysql": "JSON_QUOTE({this})" + _COLLATION,
                 "mariadb": f"{FUNCTIONS_NAMESPACE}.json_quoted({{this}})",
                 "postgresql": "CAST(TO_JSON(CAST({this} AS TEXT)) AS TEXT)",
                 "duckdb": f"{FUNCTIONS_NAMESPACE}_json_quote({{this}})"},
    JSONText: {"mysql": "JSON_UNQUOTE({this})" + _COLLATION,
               "postgresql": "(CAST({this} AS JSON) #>> '{{}}')",
               "duckdb": "(CAST({this} AS JSON) ->> '$')"},
    Listed: {"mysql": "GROUP_CONCAT({distinct:DISTINCT }{this}{order} SEPARATOR {separator})",
             "postgresql": "STRING_AGG({distinct:DISTINCT }{this}, {separator}{order})"},
    Lower: {"mysql": _FOLDED % "LOWER", "postgresql": "LOWER({this})",
            "duckdb": f"TRANSLATE({{this}}, '{_UPPER}', '{_UPPER.lower()}')"},
    Octets: {"any": "OCTET_LENGTH({this})", "duckdb": "(LENGTH(HEX({this})) // 2)"},
    Position: {"mysql": "LOCATE({expression}, {this})",
               "postgresql": "CAST(STRPOS({this}, {expression}) AS BIGINT)",
               "duckdb": "INSTR({this}, {expression})"},
    Quotient: {"any": "{this!o} / {expression!o}"},
    Random: {"mysql": "CAST(FLOOR((RAND() - 0.5e0) * 18446744073709549568e0) AS SIGNED)",
             "postgresql": "CAST(FLOOR((RANDOM() - 0.5) * 18446744073709549568::float8) AS BIGINT)",
             "duckdb": "CAST(FLOOR((RANDOM() - 0.5::DOUBLE) * 18446744073709549568::DOUBLE) AS BIGINT)"},
    Remainder: {"any": "{this!o} % {expression!o}"},
    ServerCall: {"any": f"{FUNCTIONS_NAMESPACE}.{{this}}({{expressions}})",
                 "duckdb": f"{FUNCTIONS_NAMESPACE}_{{this}}({{expressions}})"},
    Slice: {"mysql": "SUBSTRING({this}, {start}{length:, })",
            "postgresql": "SUBSTR({this}, {start}{length:, })",
            "duckdb": "slice"},
    Tail: {"any": "RIGHT({this}, {length})"},
    Text: {"mysql": "CAST({this} AS CHAR)", "postgresql": "CAST({this} AS TEXT)"},
    Thousands: {"mysql": "FORMAT({this}, 0, 'en_US')",
                "postgresql": "TO_CHAR({this}, 'FM9,999,999,999,999,999,999')",
                "duckdb": "FORMAT('{{:,}}', {this})"},
    Trimmed: {"mysql": "TRIM({side} {expression} FROM {this})", "postgresql": "trimmed"},
    Truncated: {"mysql": "CAST(TRUNCATE({this}, 0) AS SIGNED)",
                "postgresql": "CAST(TRUNC({this}) AS BIGINT)"},
    Unhexed: {"mysql": "UNHEX({this})", "postgresql": "DECODE({this}, 'hex')", "duckdb": "UNHEX({this})"},
    Upper: {"mysql": _FOLDED % "UPPER", "postgresql": "UPPER({this})",
            "duckdb": f"TRANSLATE({{this}}, '{_UPPER.lower()}', '{_UPPER}')"},
    UtcNow: {"mysql": "DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%d %H:%i:%s')",
             "postgresql": "TO_CHAR(STATEMENT_TIMESTAMP() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')",
             "duckdb": "STRFTIME(NOW() AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S')"},
    Whichever: {"mysql": "ANY_VALUE({this})", "mariadb": "{this}", "postgresql": "(ARRAY_AGG({this}))[1]"},
    Whole: {"mysql": "{this!o} DIV {expression!o}", "postgresql": "{this!o} / {expression!o}",
            "duckdb": "{this!o} // {expression!o}"},
    Wide: {"mysql": f"CAST({{this}} AS CHAR({_WIDE}))", "postgresql": "CAST({this} AS TEXT)"},
}
# fmt: on
"""What each node is written as, by column: `any`, or that of one or more targets (`TargetGenerator.COLUMNS`).

A cell is the name of a method of the generator, or a template. In a template, `{this}` is an argument of
the node, a list with commas; `{this!o}` an operand, in parentheses where precedence asks for them; `{this!u}`
one without parentheses around it; `{length:, }` one that may be missing, after a comma. Of an argument that
is True, only what stands before it is written.
"""


def _keys(matches: str) -> Mapping[str, str]:
    """Return the functions for join keys: a cast for most texts, and the call for the rest.

    A text is matched before it is cast: truncation is an error where a subquery stores its rows. Searching
    for any other character takes a quarter of the time of a match from end to end.

    Args:
        matches: how the target matches a text with a regular expression.
    """
    digits = f"CHAR_LENGTH({{text}}) BETWEEN 1 AND 18 AND NOT {matches % '[^0-9]'}"
    plain = matches % r"^(0|-?[1-9][0-9]{{0,17}})\\z"
    short = matches % r"^ *[+-]?[0-9]{{1,9}}([.][0-9]{{0,4}})? *\\z"
    space = r"[\\t-\\r ]*"
    numeric = rf"^{space}[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?{space}\\z"
    rest = f" WHEN {matches % numeric} THEN {{call}}"
    shortly = "CAST({text} AS DECIMAL(13, 4))"
    whole = f"{shortly} = FLOOR({shortly})"
    return {
        "as_integer": f"CASE WHEN {digits} OR {plain} THEN CAST({{text}} AS SIGNED)"
        f" WHEN {short} THEN CASE WHEN {whole} THEN CAST({shortly} AS SIGNED) END{rest} END",
        "as_real": f"CASE WHEN ({digits} OR {plain}) AND CHAR_LENGTH({{text}}) < 16 OR {short}"
        f" THEN CAST({{text}} AS DOUBLE) + 0e0{rest} END",
        "as_key": f"CASE WHEN {{text}} >= '1' AND {digits} OR {plain} THEN {{text}}"
        f" WHEN {short} THEN CASE WHEN {whole} THEN CAST(CAST({shortly} AS SIGNED) AS CHAR)"
        f" ELSE CAST(CAST({{text}} AS DOUBLE) AS CHAR) END{_COLLATION}{rest} ELSE {{text}} END",
    }


OF_COLUMNS: Mapping[str, Mapping[str, str]] = {
    "mysql": _keys("REGEXP_LIKE({text}, '%s')"),
    "mariadb": {
        **_keys("({text} REGEXP '%s')"),
        JSONString.key: r"CASE WHEN {text} REGEXP '[\\x0b\\x0e\\x0f\\x1a-\\x1f]' THEN {call}"
        f" ELSE JSON_QUOTE({{text}}){_COLLATION} END",
    },
}
"""What is written for a column in place of a call, which takes 20 times as long: `{text}` is the column.

By the name of an installed function, or the key of a node.
"""

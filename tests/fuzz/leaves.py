"""What an expression ends in: names of columns, in all the ways to write them, and literals of all kinds."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.fuzz.catalog import Column, Kind
from tests.fuzz.tree import Node, construct, expression

if TYPE_CHECKING:
    from tests.fuzz.generator import Generator

construct(
    "quoted-name", "backtick-name", "bracket-name", "double-quoted-literal", "null-literal", "true-false",
    *(f"{kind}-literal" for kind in Kind), "alias-in-where", "order-by-alias",
)  # fmt: skip

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RESERVED = frozenset({"order", "group", "at", "index", "key"})
"""Names of columns that are words of SQL."""
_LITERALS: dict[Kind, tuple[str, ...]] = {
    Kind.INTEGER: (
        "0", "1", "2", "3", "5", "10", "12", "100", "-1", "-3", "7", "4", "1", "2", "3",
        "0x1A", "9223372036854775807", "-9223372036854775808", "2147483648", "4503599627370497",
        "9007199254740993", "1234567890123456789", "-9007199254740993",
    ),
    Kind.REAL: (
        "0.5", "1.5", "2.0", "-0.25", "1e3", ".5", "2.", "1E-2", "100.0", "0.1", "1e15", "-7.5", "1e100",
    ),
    Kind.TEXT: (
        "''", "'a'", "'A'", "'Anna'", "'anna'", "'12'", "'12abc'", "' 12'", "'1e3'", "'0x1A'", "'-'", "'é'",
        "'Änne'", "'O''Neil'", "'%'", "'b'", "'10'", "'9'", "'1.5'", "'a b'", "'red'", "'-7'", "'2020'",
        "'9007199254740993'",
    ),
    Kind.DATE: (
        "'2020-02-29'", "'2020-01-01'", "'2019-12-31 23:59:59'", "'2000-01-01'", "'2021-03-31T10:20:30'",
        "'2020-02-30'", "'2020-13-01'", "'12:30'", "'12:30:15.25'", "'2020-06-15 10:11:12+02:00'",
        "'2024-12-30 00:00:00.5'", "'20200101'", "''", "'1969-07-20'", "'2020-01-01Z'", "'2459000.5'",
    ),
    Kind.JSON: (
        """'{"a": 1, "b": [1, 2, 3]}'""", """'[1, 2.5, "x", null, true]'""",
        "'{}'", """'"text"'""", "'null'", "'12'", """'{"id": 1234567890123456789}'""",
    ),
    Kind.BLOB: ("x''", "x'41'", "X'6162'", "x'3132'"),
    Kind.CONDITION: ("1", "0", "TRUE", "FALSE", "true", "false"),
}  # fmt: skip
_QUOTED = ("zebra", "Anna", "no such name", "12", "a-b")
"""Texts in double quotes that name no column of any database."""


@dataclass(frozen=True)
class Ref:
    """A column that an expression can name, or an expression that stands for one (`node`)."""

    column: Column
    qualifier: str = ""
    alone: bool = False
    """Whether the name is enough."""
    node: Node | None = None
    tag: str = ""
    """The construct that naming it is, if it is one."""


def identifier(gen: "Generator", name: str) -> str:
    """A name, quoted in one of the ways that SQLite takes, in any case."""
    if not _PLAIN.fullmatch(name) or name.lower() in RESERVED:
        return gen.pick((f'"{name}"', f"`{name}`", f"[{name}]", f'"{name}"'))
    styles = (f'"{name}"', f"`{name}`", f"[{name}]", name.upper(), f'"{name.swapcase()}"')
    return gen.pick(styles) if gen.chance(0.2) else name


def spelled(gen: "Generator", ref: Ref) -> Node:
    """The column as an expression names it."""
    if ref.node is not None:
        return ref.node
    name = identifier(gen, ref.column.name)
    if not ref.qualifier or (ref.alone and gen.chance(0.6)):
        return Node(expression().role, (name,), ref.tag or _style(name))
    return Node(expression().role, (f"{identifier(gen, ref.qualifier)}.{name}",), ref.tag or _style(name))


def _style(name: str) -> str:
    return {'"': "quoted-name", "`": "backtick-name", "[": "bracket-name"}.get(name[0], "")


def column(gen: "Generator", kind: Kind) -> Node | None:
    """A column of the kind, if there is one in sight; of a similar kind if not."""
    refs = gen.refs(kind, Kind.INTEGER) if kind is Kind.CONDITION else gen.refs(kind)
    if not refs and kind is Kind.REAL:
        refs = gen.refs(Kind.INTEGER)
    return spelled(gen, gen.pick(refs)) if refs else None


def literal(gen: "Generator", kind: Kind) -> Node:
    """A literal: often a value that is stored in a column in sight."""
    if gen.chance(0.04):
        return Node(expression().role, ("NULL",), "null-literal")
    if kind is Kind.TEXT and gen.chance(0.06):
        return Node(expression().role, (f'"{gen.pick(_QUOTED)}"',), "double-quoted-literal")
    if kind in (Kind.INTEGER, Kind.REAL) and gen.chance(0.03):
        return Node(expression().role, (gen.pick(("TRUE", "FALSE")),), "true-false")
    values = [value for ref in gen.refs(kind) for value in ref.column.values]
    if values and gen.chance(0.6):
        return value_literal(gen.pick(values))
    text = gen.pick(_LITERALS[kind])
    return Node(expression().role, (text,), f"{kind}-literal")


def value_literal(value: object) -> Node:
    """A stored value as a literal."""
    if isinstance(value, bytes):
        return Node(expression().role, (f"x'{value.hex()}'",), "blob-literal")
    if isinstance(value, str):
        return Node(expression().role, ("'" + value.replace("'", "''") + "'",), "text-literal")
    return Node(
        expression().role, (repr(value),), "integer-literal" if isinstance(value, int) else "real-literal"
    )

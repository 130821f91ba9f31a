"""Texts as trees and back: what a predictor wrote, read in one dialect and written in another.

This is no exact translation, which `dialects.translate` is: a native answer has no SQLite meaning that could
be kept. What comes of it is run, and counts only by its rows.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from sqlglot import exp

from dialects.enums import Dialect
from dialects.targets import SQLGLOT
from harness.sqltree.parsing import statements

_LONGEST = 20_000
"""Characters of a text that is read; answers are shorter."""


@lru_cache(maxsize=512)
def read(sql: str, dialect: Dialect) -> exp.Query | None:
    """The tree of one query as it stands in a dialect; None where it cannot be read. Copy before changing."""
    if len(sql) > _LONGEST:
        return None
    try:
        trees = statements(sql, dialect)
    except Exception:  # noqa: BLE001 - sqlglot raises whatever it meets in texts that nobody foresaw
        return None
    return trees[0] if len(trees) == 1 and isinstance(trees[0], exp.Query) else None


def write(tree: exp.Expr, dialect: Dialect) -> str | None:
    """A tree as a text of a dialect; None where it cannot be written."""
    try:
        return tree.sql(dialect=SQLGLOT[dialect])
    except Exception:  # noqa: BLE001 - as above
        return None


def unescaped(sql: str) -> str:
    """A text without the backslashes that Markdown puts before signs."""
    return re.sub(r"\\([_*%#<>\[\]()])", r"\1", sql)


def crossed(sql: str, source: Dialect, target: Dialect) -> str | None:
    """A text of one dialect as one would write it in another: None where it cannot be read or written."""
    tree = read(sql, source)
    if tree is None:
        return None
    copied = tree.copy()
    try:
        return write(copied.transform(_for_sqlite) if target is Dialect.SQLITE else copied, target)
    except Exception:  # noqa: BLE001 - as above
        return None


_PARTS: Mapping[str, str] = {
    "YEAR": "%Y", "MONTH": "%m", "DAY": "%d", "HOUR": "%H", "MINUTE": "%M", "SECOND": "%S", "DOW": "%w",
    "DOY": "%j",
}  # fmt: skip


def _part(value: exp.Expr, part: str) -> exp.Expr | None:
    """A part of a time as the number that it is: SQLite has texts alone."""
    if part.upper() not in _PARTS:
        return None
    text = exp.Anonymous(this="STRFTIME", expressions=[exp.Literal.string(_PARTS[part.upper()]), value])
    return exp.Cast(this=text, to=exp.DataType.build("BIGINT"))


def _plain_time(node: exp.Expr) -> exp.Expr:
    """What is inside of what sqlglot puts around a time."""
    while isinstance(node, exp.TsOrDsToDate | exp.TsOrDsToTimestamp):
        node = node.this
    return node


def _of_extract(node: exp.Extract) -> exp.Expr | None:
    value = node.expression
    if isinstance(value, exp.Anonymous) and value.name.upper() == "AGE":
        return _years_between(node, value.expressions)
    if str(node.this.name).upper() == "EPOCH":
        return exp.Anonymous(this="UNIXEPOCH", expressions=[value])
    return _part(value.copy(), str(node.this.name))


def _years_between(node: exp.Extract, times: list[exp.Expr]) -> exp.Expr | None:
    if str(node.this.name).upper() != "YEAR" or not times:
        return None
    now = exp.Literal.string("now")
    later, earlier = (times[0], times[1]) if len(times) > 1 else (now, times[0])
    return _age(later, earlier)


def _age(later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
    """Whole years between two times."""

    def strftime(form: str, time: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="STRFTIME", expressions=[exp.Literal.string(form), time.copy()])

    years = exp.Sub(
        this=exp.Cast(this=strftime("%Y", later), to=exp.DataType.build("BIGINT")),
        expression=exp.Cast(this=strftime("%Y", earlier), to=exp.DataType.build("BIGINT")),
    )
    is_before = exp.LT(this=strftime("%m-%d", later), expression=strftime("%m-%d", earlier))
    return exp.Paren(this=exp.Sub(this=years, expression=exp.Paren(this=is_before)))


def _of_difference(node: exp.Expr) -> exp.Expr | None:
    unit = str(node.args["unit"].name).upper() if node.args.get("unit") else "DAY"
    later, earlier = _plain_time(node.this), _plain_time(node.expression)
    if unit == "YEAR":
        return _age(later, earlier)
    if unit != "DAY":
        return None
    days = (exp.Anonymous(this="JULIANDAY", expressions=[time.copy()]) for time in (later, earlier))
    return exp.Cast(
        this=exp.Paren(this=exp.Sub(this=next(days), expression=next(days))), to=exp.DataType.build("BIGINT")
    )


def _of_left(node: exp.Left) -> exp.Expr:
    return exp.Anonymous(this="SUBSTR", expressions=[node.this, exp.Literal.number(1), node.expression])


def _of_right(node: exp.Right) -> exp.Expr:
    return exp.Anonymous(this="SUBSTR", expressions=[node.this, exp.Neg(this=node.expression)])


def _of_cast(node: exp.Cast) -> exp.Expr | None:
    to = node.to
    if to.is_type(exp.DataType.Type.DATE):
        return exp.Anonymous(this="DATE", expressions=[node.this])
    if to.is_type(*exp.DataType.TEMPORAL_TYPES) and not to.is_type(exp.DataType.Type.TIME):
        return exp.Anonymous(this="DATETIME", expressions=[node.this])
    if to.is_type(exp.DataType.Type.DECIMAL):
        return exp.Cast(this=node.this, to=exp.DataType.build("DOUBLE"))
    return None


_Rewrite = Callable[..., exp.Expr | None]

_REWRITES: Mapping[type[exp.Expr], _Rewrite] = {
    exp.Extract: _of_extract,
    exp.Year: lambda node: _part(_plain_time(node.this), "YEAR"),
    exp.Month: lambda node: _part(_plain_time(node.this), "MONTH"),
    exp.Day: lambda node: _part(_plain_time(node.this), "DAY"),
    exp.TimestampDiff: _of_difference,
    exp.DateDiff: _of_difference,
    exp.StrToDate: lambda node: exp.Anonymous(this="DATE", expressions=[node.this]),
    exp.StrToTime: lambda node: exp.Anonymous(this="DATETIME", expressions=[node.this]),
    exp.CurrentTimestamp: lambda _: exp.Anonymous(this="DATETIME", expressions=[exp.Literal.string("now")]),
    exp.Left: _of_left,
    exp.Right: _of_right,
    exp.Cast: _of_cast,
    exp.AnyValue: lambda node: exp.Anonymous(this="MIN", expressions=[node.this]),
}
"""What sqlglot leaves as it is, or turns into what SQLite reads otherwise: CAST to a date makes a number."""


def _for_sqlite(node: exp.Expr) -> exp.Expr:
    rewrite = _REWRITES.get(type(node))
    found = None if rewrite is None else rewrite(node)
    return node if found is None else found

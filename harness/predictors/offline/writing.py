"""How a tree is written in each dialect."""

from collections.abc import Callable, Mapping

from sqlglot import exp

from dialects.enums import Dialect
from harness.predictors.offline.catalog import Catalog, Sort
from harness.predictors.offline.fitting import sort
from harness.predictors.offline.operations import Operation, Tree, operation, rewritten

SQLGLOT = {Dialect.SQLITE: "sqlite", Dialect.MYSQL: "mysql", Dialect.POSTGRESQL: "postgres"}
"""What sqlglot calls the dialects."""


def spell(tree: Tree, catalog: Catalog, dialect: Dialect) -> str:
    """The text of a tree; the tree is used up."""
    spelled = rewritten(tree, lambda node: _spelled(node, catalog, dialect))
    return spelled.sql(SQLGLOT[dialect])


def _spelled(node: Tree, catalog: Catalog, dialect: Dialect) -> Tree:
    called = operation(node)
    if called is not None:
        arguments = node.expressions
        return _SPELLINGS[called](arguments, sort(arguments[0], catalog) if arguments else Sort.TEXT, dialect)
    if isinstance(node, exp.Like) and dialect is Dialect.POSTGRESQL:
        # SQLite's LIKE, and MySQL's by its collation, take capital and small letters for the same.
        return exp.ILike(this=node.this, expression=node.expression)
    if isinstance(node, exp.Round) and dialect is Dialect.POSTGRESQL and node.args.get("decimals"):
        node.set("this", _cast(node.this, "NUMERIC"))
    if isinstance(node, exp.Div):
        node.set("typed", dialect is not Dialect.MYSQL)
        node.set("safe", dialect is not Dialect.POSTGRESQL)
    return node


def _cast(tree: Tree, to: str) -> exp.Cast:
    return exp.Cast(this=tree, to=exp.DataType.build(to))


def _call(name: str, *arguments: Tree) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _text(value: str) -> exp.Literal:
    return exp.Literal.string(value)


def _number(value: float) -> Tree:
    return exp.Literal.number(value)


_PLACES = {
    "%Y": (1, 4), "%m": (6, 2), "%d": (9, 2), "%H": (12, 2), "%M": (15, 2), "%S": (18, 2), "%Y-%m": (1, 7),
    "%Y-%m-%d": (1, 10), "%m-%d": (6, 5), "%H:%M": (12, 5),
}  # fmt: skip
"""Where a part stands in a date that is written as ISO 8601 has it, and how long it is."""

_MYSQL = {"%M": "%i", "%S": "%s"}
_POSTGRESQL = {"%Y": "YYYY", "%m": "MM", "%d": "DD", "%H": "HH24", "%M": "MI", "%S": "SS", "%j": "DDD"}


def _replaced(form: str, words: Mapping[str, str]) -> str:
    for directive, word in words.items():
        form = form.replace(directive, word)
    return form


def _part(arguments: list[Tree], of: Sort, dialect: Dialect) -> Tree:
    value, form = arguments[0], arguments[1].name
    if dialect is Dialect.SQLITE:
        return _call("STRFTIME", _text(form), value)
    if of is Sort.TEXT and form in _PLACES:
        start, length = _PLACES[form]
        return _call("SUBSTR", value, _number(start), _number(length))
    if dialect is Dialect.MYSQL:
        return _call("DATE_FORMAT", value, _text(_replaced(form, _MYSQL)))
    moment = value if of in {Sort.DAY, Sort.MOMENT} else _call("TO_TIMESTAMP", _numeric([value], of, dialect))
    return _call("TO_CHAR", moment, _text(_replaced(form, _POSTGRESQL)))


def _days(arguments: list[Tree], of: Sort, dialect: Dialect) -> Tree:
    value = arguments[0]
    if dialect is Dialect.SQLITE:
        return _call("JULIANDAY", value)
    if dialect is Dialect.MYSQL:
        seconds = _call("TIMESTAMPDIFF", exp.var("SECOND"), _text("1970-01-01"), value)
        return exp.Div(this=seconds, expression=exp.Literal(this="86400e0", is_string=False))
    if of in {Sort.TEXT, Sort.NUMBER}:
        value = _postgresql_day(_cast(value, "TEXT"))
    epoch = exp.Extract(this=exp.var("EPOCH"), expression=value)
    return exp.Div(this=epoch, expression=_number(86400.0), typed=True)


def _epoch(arguments: list[Tree], of: Sort, dialect: Dialect) -> Tree:
    value = arguments[0]
    if dialect is Dialect.SQLITE:
        return _call("STRFTIME", _text("%s"), value)
    if dialect is Dialect.MYSQL:
        return _call("TIMESTAMPDIFF", exp.var("SECOND"), _text("1970-01-01"), value)
    if of in {Sort.TEXT, Sort.NUMBER}:
        value = _postgresql_day(_cast(value, "TEXT"))
    return _cast(exp.Extract(this=exp.var("EPOCH"), expression=value), "BIGINT")


def _postgresql_day(value: Tree) -> Tree:
    """The date at the beginning of a text; NULL where there is none, as the other two have it."""
    begins = exp.RegexpLike(this=value, expression=_text(r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9])"))
    written = _call("TO_DATE", _call("SUBSTR", value.copy(), _number(1), _number(10)), _text("YYYY-MM-DD"))
    return exp.Case(ifs=[exp.If(this=begins, true=written)])


def _day(arguments: list[Tree], of: Sort, dialect: Dialect) -> Tree:
    value = arguments[0]
    if of is Sort.TEXT and dialect is not Dialect.SQLITE:
        return _call("SUBSTR", value, _number(1), _number(10))
    if dialect is Dialect.POSTGRESQL:
        return _cast(value if of is not Sort.NUMBER else _call("TO_TIMESTAMP", value), "DATE")
    return _call("DATE", value)


def _epoch_day(arguments: list[Tree], of: Sort, dialect: Dialect) -> Tree:
    value = arguments[0] if of is Sort.NUMBER else _numeric(arguments, of, dialect)
    if dialect is Dialect.SQLITE:
        return _call("DATE", value, _text("unixepoch"))
    if dialect is Dialect.MYSQL:
        return _call("DATE", _call("FROM_UNIXTIME", value))
    return _cast(_call("TO_TIMESTAMP", value), "DATE")


def _today(arguments: list[Tree], of: Sort, dialect: Dialect) -> Tree:
    del arguments, of
    return _call("DATE", _text("now")) if dialect is Dialect.SQLITE else exp.CurrentDate()


def _numeric(arguments: list[Tree], of: Sort, dialect: Dialect) -> Tree:
    value = (
        arguments[0] if of is Sort.TEXT or dialect is not Dialect.POSTGRESQL else _cast(arguments[0], "TEXT")
    )
    if dialect is Dialect.SQLITE:
        return _cast(value, "REAL")
    if dialect is Dialect.MYSQL:
        return _cast(value, "DOUBLE")
    return _cast(_call("SUBSTRING", value, _text(r"^-?[0-9]+(?:\.[0-9]+)?")), "DOUBLE PRECISION")


def _as_text(arguments: list[Tree], of: Sort, dialect: Dialect) -> Tree:
    del of
    return _cast(arguments[0], "CHAR" if dialect is Dialect.MYSQL else "TEXT")


def _ratio(arguments: list[Tree], of: Sort, dialect: Dialect) -> Tree:
    del of
    above, below = (
        exp.paren(item, copy=False) if isinstance(item, exp.Binary) else item for item in arguments
    )
    # The cast goes to the number itself, before it is multiplied, as people write it.
    if isinstance(arguments[0], exp.Mul):
        above = exp.Mul(this=_real(arguments[0].this, dialect), expression=arguments[0].expression)
    else:
        above = _real(above, dialect)
    if dialect is Dialect.POSTGRESQL:
        below = exp.Nullif(this=below, expression=_number(0))
    return exp.Div(
        this=above,
        expression=below,
        typed=dialect is not Dialect.MYSQL,
        safe=dialect is not Dialect.POSTGRESQL,
    )


def _real(tree: Tree, dialect: Dialect) -> exp.Cast:
    return _cast(tree, {Dialect.SQLITE: "REAL", Dialect.MYSQL: "DOUBLE"}.get(dialect, "DOUBLE PRECISION"))


def _whole(arguments: list[Tree], of: Sort, dialect: Dialect) -> Tree:
    del of
    above, below = (
        exp.paren(item, copy=False) if isinstance(item, exp.Binary) else item for item in arguments
    )
    if dialect is Dialect.MYSQL:
        return exp.IntDiv(this=above, expression=below)
    if dialect is Dialect.POSTGRESQL:
        below = exp.Nullif(this=below, expression=_number(0))
    return exp.Div(this=above, expression=below, typed=True, safe=dialect is Dialect.SQLITE)


_SPELLINGS: Mapping[Operation, Callable[[list[Tree], Sort, Dialect], Tree]] = {
    Operation.PART: _part,
    Operation.DAYS: _days,
    Operation.EPOCH: _epoch,
    Operation.DAY: _day,
    Operation.EPOCH_DAY: _epoch_day,
    Operation.TODAY: _today,
    Operation.NUMERIC: _numeric,
    Operation.TEXT: _as_text,
    Operation.RATIO: _ratio,
    Operation.WHOLE: _whole,
}

"""Parts of dates, compared as ranges of the column itself, so that an index can be used."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from sqlglot import exp

from dialects.schema import affinity
from harness.labs.study.rewriting.statement import Attempt, RewrittenQuery
from harness.sqltree.parser import aggregates, arguments, called, is_grouped
from harness.sqltree.query import Fact, Named, Refused, is_before_results

_FORMATS: Mapping[str, str] = {"%Y": "year", "%Y-%m": "month", "%Y-%m-%d": "day"}
_LENGTHS: Mapping[int, str] = {4: "year", 7: "month", 10: "day"}
_WRAPPERS = (exp.TsOrDsToDate, exp.TsOrDsToTimestamp, exp.Paren)
_LAST_YEAR = 9_999
_LAST_ASCII = "~"


@dataclass(frozen=True)
class _Part:
    """The first part of a column: so many characters (`length`), or of a day (`unit`), as text or number."""

    column: exp.Column
    unit: str | None
    is_text: bool
    length: int | None = None


def date_part_to_range(statement: RewrittenQuery) -> Iterator[Attempt]:
    """See the rule date-part-to-range."""
    for node in list(statement.tree.find_all(exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)):
        part, literals, kind = _comparison(node)
        if part is not None:
            yield partial(_bound, statement, node, part, literals, kind)


def _bound(
    statement: RewrittenQuery, node: exp.Expr, part: _Part, literals: list[exp.Expr], kind: type[exp.Expr]
) -> list[Fact]:
    _may_stand(node)
    ranges, facts = _ranges(statement, part, literals)
    new = _BOUNDS[kind](part.column, ranges)
    node.replace(exp.paren(new) if isinstance(new, exp.And) else new)
    return facts


_MIRRORED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ, exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE,
}  # fmt: skip


def _comparison(node: exp.Expr) -> tuple[_Part | None, list[exp.Expr], type[exp.Expr]]:
    kind = type(node)
    if isinstance(node, exp.Between):
        part = None if node.args.get("symmetric") else _part(node.this)
        return part, [node.args["low"], node.args["high"]], kind
    part = _part(node.this)
    if part is not None:
        return part, [node.expression], kind
    return _part(node.expression), [node.this], _MIRRORED[kind]


def _part(node: exp.Expr) -> _Part | None:
    """Return the part of a column that an expression is; None for any other."""
    node = node.unnest()
    if isinstance(node, exp.Cast) and _is_integer(node):
        inner = _part(node.this)
        return _Part(inner.column, inner.unit, is_text=False) if inner and inner.unit == "year" else None
    found: _Part | None = None
    name, given = called(node), arguments(node)
    if isinstance(node, exp.Year):
        found = _of(node.this, "year", is_text=False)
    elif isinstance(node, exp.Extract) and node.name.upper() == "YEAR":
        found = _of(node.expression, "year", is_text=False)
    elif isinstance(node, exp.TimeToStr):
        found = _of(node.this, _FORMATS.get(node.text("format")), is_text=True)
    elif isinstance(node, exp.Substring | exp.Left):
        found = _prefix(_cut(node))
    elif isinstance(node, exp.Anonymous) and name == "STRFTIME" and len(given) == 2:  # noqa: PLR2004
        found = _of(given[1], _FORMATS.get(given[0].name), is_text=True)
    elif isinstance(node, exp.Anonymous) and name in {"SUBSTR", "SUBSTRING"}:
        found = _prefix(given)
    elif isinstance(node, exp.Anonymous) and name == "DATE" and len(given) == 1:
        found = _of(given[0], "day", is_text=True)
    return found


def _cut(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Left):
        return [node.this, exp.Literal.number(1), node.expression]
    return [one for one in (node.this, node.args.get("start"), node.args.get("length")) if one is not None]


def _is_integer(node: exp.Cast) -> bool:
    kind = node.to
    return kind.is_type(*exp.DataType.INTEGER_TYPES) or str(kind.args.get("kind")).upper() in {
        "INTEGER",
        "INT",
    }


def _of(node: exp.Expr, unit: str | None, *, is_text: bool) -> _Part | None:
    while isinstance(node, _WRAPPERS) or (isinstance(node, exp.Cast) and _is_moment(node)):
        node = node.this
    return _Part(node, unit, is_text) if isinstance(node, exp.Column) and unit is not None else None


def _is_moment(node: exp.Cast) -> bool:
    kinds = (exp.DType.DATE, exp.DType.DATETIME, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ)
    return bool(node.to.is_type(*kinds))


def _prefix(given: list[exp.Expr]) -> _Part | None:
    if len(given) != 3 or given[1].name != "1" or not given[2].name.isdigit():  # noqa: PLR2004
        return None
    node = given[0].unnest()
    if isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.TEXT_TYPES):
        node = node.this
    length = int(given[2].name)
    return (
        _Part(node, _LENGTHS.get(length), is_text=True, length=length)
        if isinstance(node, exp.Column)
        else None
    )


def _may_stand(node: exp.Expr) -> None:
    """Refuse a place in a query that groups by the text of an expression."""
    select = node.find_ancestor(exp.Select)
    if select is None:
        raise Refused("it stands outside of a SELECT")
    own = {id(call) for call in aggregates(select)}
    place = node
    while id(place) not in own and place.parent is not select and place.parent is not None:
        place = place.parent
    if id(place) in own:
        return
    if is_before_results(place, select) and not (place.arg_key == "expressions" and is_grouped(select)):
        return
    raise Refused("the comparison is a part of what groups or sorts")


Range = tuple[exp.Expr, exp.Expr]
"""From the first bound, to before the second."""


def _ranges(
    statement: RewrittenQuery, part: _Part, literals: list[exp.Expr]
) -> tuple[list[Range], list[Fact]]:
    named = statement.named(part.column)
    if named is None or named.stored is None:
        raise Refused("it is a part of what is no stored column")
    texts = [_literal(node, is_text=part.is_text) for node in literals]
    kept = statement.engine.dates(named.stored, statement.profile)
    facts, type_ = _known_days(named, kept)
    if type_ is not None and part.unit is not None:
        days = [_days(text, part.unit) for text in texts]
        return [(_day(first, type_), _day(behind, type_)) for first, behind in days], facts
    if part.length is None:
        raise Refused(f"not every value of {named.title} is known to be a day or a moment")
    column = named.stored
    if affinity(column.declared) != "TEXT" or column.type != "text" or column.mixed:
        raise Refused(f"{named.title} is no column of texts alone")
    if not statement.engine.is_exact(column, statement.profile) or column.collation != "BINARY":
        raise Refused(f"texts of {named.title} are not compared letter by letter")
    return [_letters(text, part.length) for text in texts], [
        Fact(f"{named.title} holds texts alone", declared=False)
    ]


def _known_days(named: Named, kept: str | None) -> tuple[list[Fact], exp.DataType | None]:
    """Return the type in which a column keeps days, with what that relies on; None if it has other values."""
    column = named.stored
    if column is None or kept is None:
        return [], None
    if kept in _TYPES:
        return [Fact(f"{named.title} holds days from year 1 to 9999", declared=False)], _TYPES[kept]
    if column.days or column.moments:
        said = Fact(f"each value of {named.title} is a day or a moment", declared=False)
        return [said], exp.DataType.build("text")
    return [], None


_TYPES: Mapping[str, exp.DataType] = {
    "date": exp.DataType(this=exp.DType.DATE),
    "datetime": exp.DataType(this=exp.DType.DATETIME),
    "timestamptz": exp.DataType(this=exp.DType.TIMESTAMPTZ),
}


def _literal(node: exp.Expr, *, is_text: bool) -> str:
    node = node.unnest()
    if not isinstance(node, exp.Literal) or node.is_string != is_text:
        raise Refused("it is not compared with a literal of its own type")
    return node.name


_PATTERNS = {
    "year": re.compile(r"\d{4}"),
    "month": re.compile(r"\d{4}-\d\d"),
    "day": re.compile(r"\d{4}-\d\d-\d\d"),
}


def _days(text: str, unit: str) -> tuple[date, date]:
    """Return the first day of a year, month or day, and the first one after."""
    if not _PATTERNS[unit].fullmatch(text):
        raise Refused(f"{text!r} is not how a {unit} is written")
    try:
        year, month, day = (*map(int, text.split("-")), 1, 1)[:3]
        first = date(year, month, day)
        if first.year >= _LAST_YEAR:
            raise Refused("the range has no end")
        if unit == "year":
            return first, date(year + 1, 1, 1)
        if unit == "month":
            return first, date(year + month // 12, month % 12 + 1, 1)
        return first, first + timedelta(days=1)
    except ValueError as error:
        raise Refused(f"{text!r} is no {unit}") from error


def _day(day: date, type_: exp.DataType) -> exp.Expr:
    literal = exp.Literal.string(day.isoformat())
    return literal if type_.is_type("text") else exp.Cast(this=literal, to=type_.copy())


def _letters(text: str, length: int) -> Range:
    """Return the range of texts with a prefix: up to the next in the order of code points."""
    if len(text) != length or not text.isascii() or not " " <= text[-1] < _LAST_ASCII:
        raise Refused(f"{text!r} has not {length} plain characters")
    behind = text[:-1] + chr(ord(text[-1]) + 1)
    return exp.Literal.string(text), exp.Literal.string(behind)


def _within(column: exp.Expr, first: exp.Expr, behind: exp.Expr) -> exp.Expr:
    return exp.And(
        this=exp.GTE(this=column.copy(), expression=first),
        expression=exp.LT(this=column.copy(), expression=behind),
    )


_BOUNDS: Mapping[type[exp.Expr], Callable[[exp.Expr, list[Range]], exp.Expr]] = {
    exp.EQ: lambda column, of: _within(column, of[0][0], of[0][1]),
    exp.LT: lambda column, of: exp.LT(this=column.copy(), expression=of[0][0]),
    exp.LTE: lambda column, of: exp.LT(this=column.copy(), expression=of[0][1]),
    exp.GT: lambda column, of: exp.GTE(this=column.copy(), expression=of[0][1]),
    exp.GTE: lambda column, of: exp.GTE(this=column.copy(), expression=of[0][0]),
    exp.Between: lambda column, of: _within(column, of[0][0], of[1][1]),
}

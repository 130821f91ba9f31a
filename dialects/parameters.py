"""The parameters of a query, and how drivers write them.

SQLite takes `?`, `?7`, `:name`, `@name` and `$name` (https://sqlite.org/lang_expr.html#varparam). Drivers of
Python take one of the styles of PEP 249, or the server's own.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from dialects.enums import ParamStyle
from dialects.errors import Untranslatable
from dialects.source import COMMENT, QUOTED
from dialects.value_types import Kind

_WRITTEN: Mapping[ParamStyle, Callable[[str, int], str]] = {
    ParamStyle.FORMAT: lambda _name, _number: "%s",
    ParamStyle.PYFORMAT: lambda name, _number: f"%({name})s",
    ParamStyle.QMARK: lambda _name, _number: "?",
    ParamStyle.NUMERIC: lambda _name, number: f"${number}",
    ParamStyle.NAMED: lambda name, _number: f":{name}",
    ParamStyle.DOLLAR: lambda name, _number: f"${name}",
}


@dataclass(frozen=True)
class BoundParameter:
    """A parameter of a translation: its name in SQLite's text, or its number, and the kind of its values."""

    name: str
    kind: Kind

    @property
    def key(self) -> str:
        """The name in a translation, where a number is no name: `p7` for `?7`."""
        return f"p{self.name}" if self.name.isdecimal() else self.name


_TOKEN = re.compile(
    rf"{QUOTED}|{COMMENT}|"
    r"[A-Za-z_\x80-\U0010ffff][\w$]*+|\?(?P<number>\d*+)|(?<!:)[:@$](?P<name>[A-Za-z_]\w*+|\d++)"
)
"""A literal, name or comment, in which nothing counts; or a parameter."""
_PLACE = re.compile("\0(\\d+)\0")
_KINDS = ((bool, Kind.INTEGER), (int, Kind.INTEGER), (float, Kind.REAL), (str, Kind.TEXT), (bytes, Kind.BLOB))


@dataclass
class Parameters:
    """The parameters of one query, by the order in which they first occur.

    Args:
        names: their names, or numbers.
        samples: their sample values.
        kinds: those that are known, by a sample value or by the place of a parameter; rewrites add to them.
    """

    names: Sequence[str] = ()
    kinds: dict[str, Kind] = field(default_factory=dict)
    samples: Mapping[str, object] = field(default_factory=dict)
    decided: dict[str, object] = field(default_factory=dict)
    """Those whose place needs a constant, with the values that the translation is for."""
    unknown: dict[str, None] = field(default_factory=dict)
    """Those whose place has not told their kind."""

    def decide_missing(self) -> bool:
        """Take NULL for those of no known kind whose sample value it is; return whether there are any."""
        found = [name for name in self.unknown if name not in self.kinds and name in self.samples]
        self.decided |= dict.fromkeys(found)
        return bool(found)

    def of(self, marker: str) -> str:
        """Return the name of a parameter, by what `numbered` has written for it."""
        return self.names[int(marker.removeprefix(_MARKER))]

    def bound(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return values, by name or number, by what `numbered` has written for each."""
        return {f"{_MARKER}{at}": values[name] for at, name in enumerate(self.names)}

    def place(self, marker: str) -> str:
        """Return the text that stands for a parameter until `placed` writes it."""
        return f"\0{int(marker.removeprefix(_MARKER))}\0"


_MARKER = "p_"


def numbered(sql: str, samples: Mapping[str, object]) -> tuple[str, Parameters]:
    """Return a query whose parameters are written alike, `:p_0` and so on, and the parameters.

    Args:
        sql: SQLite's text.
        samples: values by name or number, whose types are those of all values; None tells no type.

    Raises:
        Untranslatable: a sample is of no type of SQLite's, or names no parameter.
    """
    if "?" not in sql and ":" not in sql and "@" not in sql and "$" not in sql:
        found = Parameters()
        return sql, _with_samples(found, samples)
    places: dict[str, int] = {}
    highest = 0

    def written(token: re.Match[str]) -> str:
        nonlocal highest
        if token["number"] is None and token["name"] is None:
            return token[0]
        name = token["name"] or str(int(token["number"] or highest + 1))
        if token["name"] is None:
            highest = max(highest, int(name))
        elif name not in places:
            highest += 1
        # `?AND` is a parameter and a word.
        apart = " " if token["name"] is None and sql[token.end() : token.end() + 1].isidentifier() else ""
        return f":{_MARKER}{places.setdefault(name, len(places))}{apart}"

    text = _TOKEN.sub(written, sql)
    return text, _with_samples(Parameters(tuple(places)), samples)


def with_literals(sql: str, values: Mapping[str, object]) -> str:
    """Return a query with the value of each parameter in its place, as SQLite's literal.

    Where an integer has a meaning of its own, in ORDER BY and GROUP BY, it is another query.

    Raises:
        KeyError: a parameter has no value.
    """
    text, parameters = numbered(sql, {})
    bound = parameters.bound(values)
    return _TOKEN.sub(
        lambda token: token[0] if token["name"] is None else f" {literal(bound[token['name']])} ", text
    )


def literal(value: object) -> str:
    """Return SQLite's literal of a value, of a type that it stores."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float):
        return f"{value!r}" if isfinite(value) else f"{'-' if value < 0 else ''}9e999"
    return f"{value:d}"


def _with_samples(parameters: Parameters, samples: Mapping[str, object]) -> Parameters:
    parameters.samples = samples
    for name, value in samples.items():
        if name not in parameters.names:
            shown = ", ".join(parameters.names) or "it has none"
            raise Untranslatable(f"the parameter {name}", f"it is not in the query ({shown})")
        kind = next((kind for kinds, kind in _KINDS if isinstance(value, kinds)), None)
        if kind is not None:
            parameters.kinds[name] = kind
        elif value is not None:
            raise Untranslatable(f"the parameter {name}", f"{type(value).__name__} is no type of SQLite's")
    return parameters


def placed(text: str, parameters: Parameters, style: ParamStyle) -> tuple[str, tuple[BoundParameter, ...]]:
    """Return a translation with its parameters in a style, and the parameters in the order of binding.

    By place, one may occur several times; by name or number, each occurs once.
    """
    if not parameters.names:
        return text, ()
    known = [BoundParameter(name, parameters.kinds.get(name, Kind.NULL)) for name in parameters.names]
    order = [int(number) for number in _PLACE.findall(text)]
    text = text.replace("%", "%%") if style.doubles_percent else text
    used = [at for at, one in enumerate(known) if at in order or one.name not in parameters.decided]
    text = _PLACE.sub(
        lambda place: _WRITTEN[style](known[int(place[1])].key, used.index(int(place[1])) + 1), text
    )
    return text, tuple(known[at] for at in (order if style.is_by_place else used))

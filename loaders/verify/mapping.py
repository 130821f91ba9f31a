"""What a column's type has to be on a server, and in which form its values are compared.

Written down from what docs/architecture.md and docs/verification.md say, apart from `dialects.server_schema`,
which the loaders follow: what is proved is that both say the same.
"""

import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from enum import StrEnum

from dialects.enums import Dialect, Profile
from loaders.verify.forms import Form


class Holding(StrEnum):
    """What a column of a SQLite file holds apart from NULL."""

    INTEGERS = "integers"
    REALS = "reals"
    """Alone, or with integers."""
    TEXTS = "texts"
    """Alone, or with numbers."""
    DAYS = "days"
    """Texts in a column declared DATE, each the text of a day."""
    MOMENTS = "moments"
    """Texts in a column declared DATE, DATETIME or TIMESTAMP, each the text of a plain day or a moment."""
    BLOBS = "blobs"
    HUGE = "reals beyond the type of others"
    """Where values may be escaped."""
    NOTHING = "nothing"
    MIXTURE = "blobs and other values"


Types = Mapping[Holding, tuple[str, Form]]
"""The pattern of the right types, in the server's syntax, and the form of their values."""

_POSTGRESQL: Types = {
    Holding.INTEGERS: ("bigint", Form.INTEGER),
    Holding.REALS: ("double precision", Form.DOUBLE),
    Holding.TEXTS: ("text", Form.TEXT),
    Holding.BLOBS: ("bytea", Form.BLOB),
}
_MYSQL: Types = {
    Holding.INTEGERS: ("bigint", Form.INTEGER),
    Holding.REALS: ("double", Form.DOUBLE),
    Holding.TEXTS: (r"text|longtext|varchar\(\d+\)", Form.TEXT),
    Holding.BLOBS: ("longblob", Form.BLOB),
}
TYPES: Mapping[tuple[Dialect, Profile], Types] = {
    (Dialect.POSTGRESQL, Profile.FAITHFUL): _POSTGRESQL,
    (Dialect.POSTGRESQL, Profile.OFFICIAL): {
        **_POSTGRESQL,
        Holding.REALS: ("real", Form.SINGLE),
        Holding.DAYS: ("date", Form.DAY),
        Holding.MOMENTS: ("timestamp with time zone", Form.MOMENT),
    },
    (Dialect.MYSQL, Profile.FAITHFUL): _MYSQL,
    (Dialect.MYSQL, Profile.OFFICIAL): {
        **_MYSQL,
        Holding.DAYS: ("date", Form.DAY),
        Holding.MOMENTS: (r"datetime(\(6\))?", Form.MOMENT),
    },
}

ESCAPING: Mapping[tuple[Dialect, Profile], Types] = {
    **TYPES,
    (Dialect.POSTGRESQL, Profile.OFFICIAL): {
        **TYPES[Dialect.POSTGRESQL, Profile.OFFICIAL],
        Holding.HUGE: _POSTGRESQL[Holding.REALS],
    },
}
"""Those where values may be escaped."""

_NUMBERS = (
    r"(tiny|small|medium|big)?int(\(\d+\))?( unsigned)?|smallint|integer|real|double precision"
    r"|(float|double|decimal|numeric)\b.*"
)
_READABLE: Mapping[Form, str] = {
    Form.DOUBLE: _NUMBERS,
    Form.SINGLE: _NUMBERS,
    Form.BLOB: r"bytea|.*blob|(var)?binary.*",
    Form.MOMENT: r"(timestamp|datetime)\b.*|date",
}
"""Types that are not right, yet any value of them can be written in the form. The other forms take all."""

_DATE_WORDS = {"DATE": (Holding.DAYS, Holding.MOMENTS), "DATETIME": (Holding.MOMENTS,),
               "TIMESTAMP": (Holding.MOMENTS,)}  # fmt: skip

_PLAIN_NAME = re.compile("[A-Za-z_][A-Za-z0-9_$]*")


def _folded(name: str) -> str:
    return name.lower() if _PLAIN_NAME.fullmatch(name) else name


_TABLE_NAMES: Mapping[Dialect, Callable[[str], str]] = {
    Dialect.MYSQL: str.lower,
    Dialect.POSTGRESQL: _folded,
}
_COLUMN_NAMES: Mapping[Dialect, Callable[[str], str]] = {Dialect.MYSQL: str, Dialect.POSTGRESQL: _folded}

PLACED = frozenset({(Dialect.MYSQL, Profile.FAITHFUL)})
"""Where tables have a column with the rowid besides."""


def table_name(name: str, dialect: Dialect) -> str:
    """What a table of the file is called on the server."""
    return _TABLE_NAMES[dialect](name)


def column_name(name: str, dialect: Dialect) -> str:
    """What a column of the file is called on the server."""
    return _COLUMN_NAMES[dialect](name)


def holding(classes: AbstractSet[type]) -> Holding:
    """What a column holds whose values came from SQLite as these types; a bytearray is a text."""
    if not classes:
        return Holding.NOTHING
    if bytes in classes:
        return Holding.BLOBS if classes == {bytes} else Holding.MIXTURE
    if bytearray in classes:
        return Holding.TEXTS
    return Holding.REALS if float in classes else Holding.INTEGERS


def dates_of(declared: str) -> tuple[Holding, ...]:
    """Which kinds of dates texts in a column of that declaration may be, the narrower first."""
    words = declared.upper().replace("(", " ").split()
    return _DATE_WORDS.get(words[0], ()) if words else ()


def form_of(actual: str, types: Types) -> Form | None:
    """The form of a type that the profile has; None for any other type."""
    return next((form for pattern, form in types.values() if re.fullmatch(pattern, actual)), None)


def is_readable(actual: str, form: Form) -> bool:
    """Whether any value of a type that the profile does not have can be written in that form."""
    return form not in _READABLE or re.fullmatch(_READABLE[form], actual) is not None


def is_right(actual: str, found: Holding, types: Types) -> bool:
    """Whether a column that holds `found` has the right type; what holds nothing has any of the profile's."""
    if found is Holding.NOTHING:
        return form_of(actual, types) is not None
    return found in types and re.fullmatch(types[found][0], actual) is not None


def right_type(found: Holding, types: Types) -> str:
    """The right type as it is said to people."""
    if found not in types:
        return "a type that there is not"
    return types[found][0].replace("|", ", ").replace(r"\(\d+\)", "").replace(r"(\(6\))?", "")

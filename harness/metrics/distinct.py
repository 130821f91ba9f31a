"""Find the distinct rows of results in time linear in their number, whatever the values.

Python compares two rows of a set only if their hashes are equal. Its hashes of numbers are public: 1, 2**61
and every other number that differs by a multiple of 2**61 - 1 share one, and so do rows built for it. A set
of 100,000 such rows takes minutes, in a loop that nothing can stop. Here colliding rows are told apart by
*names* instead: texts, whose hashes cannot be predicted, that are equal exactly if the values are.

Promise: only Python's `==` and `is` decide what is the same, as in a set. The clock decides when to look for
collisions, and never affects the result.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from ipaddress import IPv4Interface, IPv4Network, IPv6Interface, IPv6Network
from itertools import chain, repeat
from operator import itemgetter, ne
from struct import Struct
from time import perf_counter
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable
from uuid import UUID

Row = tuple[object, ...]
"""One row of a result, with the values as the driver returns them."""


class TooManyRows(Exception):
    """The best order of the rows would take more memory to find than is allowed."""


Item = TypeVar("Item", bound=Hashable)

_AT_A_TIME = 256
"""Items added between two looks at the clock: few enough to compare pairwise."""

_SECONDS_EACH = 5e-6
"""Adding an item rarely takes a tenth of this; if it takes more, hashes may collide."""

_MOST_ALIKE = 100
"""How many different items may share a hash."""

_BITS = Struct("<d").pack
_POSITIVE = (0.0).__add__
"""Maps both zeros to the same one, and every other number to itself."""
_WHOLE = 2**53
"""Up to here every integer is a float."""

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


@runtime_checkable
class Range(Protocol):
    """A PostgreSQL range, as psycopg returns it: its hash is made from those of its ends."""

    lower: Hashable
    upper: Hashable
    bounds: str


class Crowded(Exception):
    """Many items that differ have the same hash."""


class Gathered(NamedTuple):
    """A result's items, or their names, in its order, and a set of them."""

    names: Sequence[Hashable]
    distinct: set[Hashable]


def gathered(*results: Sequence[Hashable]) -> list[Gathered]:
    """Return each result with a set of it, by items in all or by names in all, so that they compare.

    Raises:
        TypeError: an item cannot be hashed.
    """
    try:
        return [Gathered(result, _gathered(result)) for result in results]
    except Crowded:
        names = [_names(result) for result in results]
        return [Gathered(each, set(each)) for each in names]


def named(*results: Sequence[Hashable]) -> list[Sequence[Hashable]]:
    """Return each result's items or, if these would crowd a set of all, their names in the same order.

    Raises:
        TypeError: as in `gathered`.
    """
    try:
        _gathered(list(chain.from_iterable(results)) if len(results) > 1 else results[0])
    except Crowded:
        return [_names(result) for result in results]
    return list(results)


def firsts(result: Sequence[Item]) -> list[Item]:
    """Return the items without those that equal an earlier one.

    Raises:
        TypeError: as in `gathered`.
    """
    names = result if len(result) <= _AT_A_TIME else named(result)[0]
    if names is result:
        return list(dict.fromkeys(result))
    found: dict[Hashable, Item] = {}
    for item, known_as in zip(result, names, strict=True):
        found.setdefault(known_as, item)
    return list(found.values())


def _gathered(items: Sequence[Hashable]) -> set[Hashable]:
    """Return a set of the items.

    Raises:
        Crowded: they crowd it.
        TypeError: as in `gathered`.
    """
    if len(items) <= _AT_A_TIME:
        return set(items)
    found: set[Hashable] = set()
    spent = due = 0.0
    for start in range(0, len(items), _AT_A_TIME):
        began = perf_counter()
        found.update(items[start : start + _AT_A_TIME])
        now = perf_counter()
        spent += now - began
        if spent > due and spent > (start + _AT_A_TIME) * _SECONDS_EACH:
            if _is_crowded(found):
                raise Crowded
            due = spent + 4 * (perf_counter() - now)
    return found


def _is_crowded(items: Iterable[Hashable]) -> bool:
    [(_, alike)] = Counter(map(hash, items)).most_common(1)
    return alike > _MOST_ALIKE


def _names(items: Sequence[Hashable]) -> Sequence[Hashable]:
    """Return the `name` of each, computed column by column: most have values of one type."""
    widths = {len(item) if type(item) is tuple else 0 for item in items}
    if len(widths) != 1 or widths == {0}:
        return list(map(name, items))
    rows: Any = items
    columns = [_column(list(map(itemgetter(place), rows))) for place in range(*widths)]
    return list(zip(zip(*columns, strict=True), repeat(None), strict=False))


def _column(values: Sequence[Any]) -> Sequence[Hashable]:
    """Return the `name` of each, if C functions alone can compute it."""
    kinds = set(map(type, values))
    if kinds == {float} and not any(map(ne, values, values)):
        return list(map(_BITS, map(_POSITIVE, values)))
    if kinds == {int} and min(values) >= -_WHOLE and max(values) <= _WHOLE:
        return list(map(_BITS, values))
    find = _WRITERS.get
    if len(kinds) == 1:
        return list(map(find(kinds.pop(), _named), values))
    return [find(type(value), _named)(value) for value in values]


def name(value: Hashable) -> Hashable:
    """Return a key that is equal for two driver values, or rows of them, if and only if they are equal.

    A value of a type that no driver returns is its own key.

    Raises:
        TypeError: the value cannot be hashed.
    """
    write: Callable[[Any], Hashable] = _WRITERS.get(type(value), _named)
    return write(value)


def _named(value: Hashable) -> Hashable:
    if isinstance(value, Range):
        return "range", value.bounds, name(value.lower), name(value.upper)
    hash(value)
    return value


def _row(value: tuple[Hashable, ...]) -> Hashable:
    find = _WRITERS.get
    # Of two elements, since a text's name has one.
    return tuple([find(type(each), _named)(each) for each in value]), None


def _itself(value: Hashable) -> Hashable:
    hash(value)
    return value


def _float(value: float) -> Hashable:
    # NaN equals only itself, as an object.
    return _BITS(_POSITIVE(value)) if value == value else _not_a_number(value)  # noqa: PLR0124


def _exact(value: int | Decimal) -> Hashable:
    hash(value)  # a signaling NaN has none
    if value != value:  # noqa: PLR0124
        return _not_a_number(value)
    try:
        nearest = float(value)
    except OverflowError:
        nearest = 0.0
    return _BITS(_POSITIVE(nearest)) if nearest == value else str(Decimal(value).normalize(_EXACT))


def _not_a_number(value: float | Decimal) -> Hashable:
    return "nan", hex(id(value))


def _text(value: object) -> Hashable:
    return type(value).__name__, str(value)


_WRITERS: dict[type, Callable[[Any], Hashable]] = {
    tuple: _row,
    bool: _exact,
    int: _exact,
    float: _float,
    Decimal: _exact,
    str: lambda value: (value,),
    bytes: lambda value: (value,),
    **dict.fromkeys((type(None), date, datetime, time), _itself),
    **dict.fromkeys((UUID, IPv4Network, IPv6Network, IPv4Interface, IPv6Interface, timedelta), _text),
}
"""Numbers are named by bytes or a text that no text or bytes value has as its name.

Times are their own names, like every type that no driver returns: their hashes cannot be predicted either.
Values of the types in the last line are equal if their texts are.
"""

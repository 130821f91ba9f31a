"""The distinct rows of results, in time that grows with their number whatever the values are.

Python compares two rows of a set only where their hashes are equal. Its hashes of numbers are known to
everybody: 1, 2**61 and every other power of 2**61 - 1 more than another share one, and so do rows that are
made for it. A set of 100,000 such rows takes minutes, in a loop that nothing can stop. Here rows that crowd
together are told apart by *names* instead: texts, whose hashes nobody can foresee, that are equal where the
values are.

Promise: what is the same is decided by Python's `==` and `is` alone, as in a set. The clock says where it is
worth to look for crowds, and never what comes out.
"""

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import timedelta
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from ipaddress import IPv4Interface, IPv4Network, IPv6Interface, IPv6Network
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable
from uuid import UUID

Item = TypeVar("Item", bound=Hashable)

_AT_A_TIME = 256
"""Items that are added before the clock is looked at: few enough to compare each with each."""

_SECONDS_EACH = 5e-6
"""Adding an item seldom takes a tenth of this; where it takes more, it is perhaps compared with many."""

_MOST_ALIKE = 100
"""So many different items may share a hash."""

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


@runtime_checkable
class Range(Protocol):
    """A range of PostgreSQL's, as psycopg has it: its hash is made of its ends'."""

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
    """Each result with a set of it, by items in all or by names in all: to be held against each other.

    Raises:
        TypeError: an item cannot be hashed.
    """
    try:
        return [Gathered(result, _gathered(result)) for result in results]
    except Crowded:
        names = [list(map(name, result)) for result in results]
        return [Gathered(each, set(each)) for each in names]


def named(*results: Sequence[Hashable]) -> list[Sequence[Hashable]]:
    """For each result its items or, where these would crowd a set of all, their names in the same order.

    Raises:
        TypeError: as in `gathered`.
    """
    try:
        _gathered(list(chain.from_iterable(results)) if len(results) > 1 else results[0])
    except Crowded:
        return [list(map(name, result)) for result in results]
    return list(results)


def firsts(result: Sequence[Item]) -> list[Item]:
    """The items without those that equal an earlier one.

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
    """A set of the items.

    Raises:
        Crowded: they crowd it.
        TypeError: as in `gathered`.
    """
    if len(items) <= _AT_A_TIME:
        return set(items)
    found: set[Hashable] = set()
    spent = due = 0.0
    for start in range(0, len(items), _AT_A_TIME):
        began = time.perf_counter()
        found.update(items[start : start + _AT_A_TIME])
        now = time.perf_counter()
        spent += now - began
        if spent > due and spent > (start + _AT_A_TIME) * _SECONDS_EACH:
            if _is_crowded(found):
                raise Crowded
            due = spent + 4 * (time.perf_counter() - now)
    return found


def _is_crowded(items: Iterable[Hashable]) -> bool:
    [(_, alike)] = Counter(map(hash, items)).most_common(1)
    return alike > _MOST_ALIKE


def name(value: Hashable) -> Hashable:
    """What is equal for two values of a driver, or rows of them, if and only if they are.

    A value of a type that no driver returns is its own name.

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


def _float(value: float) -> Hashable:
    # What is no number equals itself alone.
    return value.hex() if value == value and value else _nothing(value)  # noqa: PLR0124


def _exact(value: int | Decimal) -> Hashable:
    hash(value)  # a signaling NaN has none
    if not value or value != value:  # noqa: PLR0124
        return _nothing(value)
    try:
        nearest = float(value)
    except OverflowError:
        nearest = 0.0
    return nearest.hex() if nearest == value else str(Decimal(value).normalize(_EXACT))


def _nothing(value: float | Decimal) -> Hashable:
    """The name of a zero, or of what is no number, which equals itself alone."""
    hash(value)
    return ("nan", hex(id(value))) if value else "0"


def _text(value: object) -> Hashable:
    return type(value).__name__, str(value)


_WRITERS: dict[type, Callable[[Any], Hashable]] = {
    tuple: _row,
    bool: _exact,
    int: _exact,
    float: _float,
    Decimal: _exact,
    str: lambda value: (value,),
    **dict.fromkeys((UUID, IPv4Network, IPv6Network, IPv4Interface, IPv6Interface, timedelta), _text),
}
"""Numbers are named by a text, which is not that of a text's name; these types are equal where texts are."""

"""The table of SQLite's scalar functions: a name leads to the rewrite of its calls.

https://sqlite.org/lang_corefunc.html https://sqlite.org/lang_datefunc.html https://sqlite.org/lang_mathfunc.html
"""

from collections.abc import Callable
from dataclasses import dataclass

from dialects.rules import Context
from dialects.typed import Typed

Call = Callable[[Context, list[Typed]], Typed]


@dataclass(frozen=True)
class Function:
    """How calls of one function are rewritten."""

    rewrite: Call
    least: int
    most: int | None
    """The number of arguments; None is any."""


FUNCTIONS: dict[str, Function] = {}


def function(*names: str, least: int = 1, most: int | None = 1) -> Callable[[Call], Call]:
    """Enter a rewrite into the table under each name, for calls with `least` to `most` arguments."""

    def enter(rewrite: Call) -> Call:
        for name in names:
            FUNCTIONS[name] = Function(rewrite, least, most)
        return rewrite

    return enter

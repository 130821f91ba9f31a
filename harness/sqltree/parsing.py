"""Parsing in bounded time: with each level of `DATE(DATE(...` sqlglot reads what is inside twice as often."""

from functools import cache

import sqlglot
from sqlglot.parser import Parser

_MOST_STEPS = 10_000
"""Steps of a parser, which takes about one for each token unless it tries a part of the text again."""


class TooMuch(Exception):
    """A text that takes too long to parse."""


class _Bounded(Parser):
    """A parser that gives up."""

    _steps = 0

    def _advance(self, times: int = 1) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooMuch
        super()._advance(times)


def parser(speaker: sqlglot.Dialect) -> Parser:
    """A new parser of a dialect for one text, of which it raises `TooMuch` where it would take too long."""
    made: Parser = _bounded(speaker.parser_class)(dialect=speaker)
    return made


@cache
def _bounded(parser_class: type[Parser]) -> type[Parser]:
    return type("BoundedParser", (_Bounded, parser_class), {})

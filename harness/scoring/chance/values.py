"""Draw values for a column: like its samples, near the literals of golds, and beyond."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random

from harness.scoring.chance.shape import ColumnShape, Value

_DATE = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})(.*)", re.DOTALL)
_MONTH = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])")
_GIVEN = re.compile(r"((?:1[5-9]|20)\d\d)(?:[-/]?(\d{1,2})(?:[-/](\d{1,2})(.*))?)?", re.DOTALL)
_CLOCK = re.compile(r"(\d\d?):(\d\d)(?::(\d\d))?(\.\d+)?")
_FIRST, _LAST = date(1970, 1, 1), date(2023, 12, 31)
_WORDS = (
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "haven",
    "iris",
    "juniper",
    "kestrel",
    "linden",
)
_FEW = 8
_HUGE = 1e15
"""Larger numbers are used as given, without arithmetic."""
_LAST_YEAR = 9_990
_TEXT_SHARE, _NUMBER_SHARE = 0.55, 0.3


@dataclass
class Values:
    """The values of one column; `fresh` never draws NULL.

    `literals` are those that golds compare the column with, `parts` those that they compare with a part of it
    (a year, a prefix).
    """

    column: ColumnShape
    literals: list[Value] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        texts = [value for value in self.column.samples if isinstance(value, str) and value]
        self.literals = [value for value in self.literals if self.column.admits(value)]
        self.texts = texts
        shapes = texts or [value for value in self.literals if isinstance(value, str)]
        self._dates = bool(shapes) and sum(_DATE.match(text) is not None for text in shapes) * 2 > len(shapes)
        self._months = bool(shapes) and all(_MONTH.fullmatch(text) for text in shapes)
        if not shapes and any(word in self.column.declared.upper() for word in ("DATE", "TIME")):
            self._dates = True
        self._pattern = next((text for text in texts if _DATE.match(text)), "2000-01-01")
        self._ends = self._range() if self.column.numeric else (0.0, 0.0)

    def fresh(self, rng: Random) -> Value:
        """Return a value like the existing ones."""
        column = self.column
        if column.complete and column.samples:
            return rng.choice(column.samples)
        pool = self.pool
        if column.numeric:
            return rng.choice(pool) if pool and rng.random() < _NUMBER_SHARE else self._number(rng)
        if self._dates:
            return self._date(rng)
        if self._months:
            return self._month(rng)
        if pool and rng.random() < _TEXT_SHARE:
            return rng.choice(pool)
        return self.made_up(rng)

    @property
    def pool(self) -> list[Value]:
        """Return the known values: samples and literals."""
        return list(dict.fromkeys([*self.column.samples, *self.literals]))

    def candidates(self, rng: Random, more: int = 40, *, wide: bool = False) -> list[Value]:
        """Return distinct values to try a condition on, those named by golds first.

        Args:
            rng: makes the choices.
            more: number of values to draw in addition to those from samples and golds.
            wide: whether a column with completely known values may get others.
        """
        column = self.column
        found: list[Value] = list(self.literals)
        if column.numeric:
            step: float = 1 if column.whole else 0.1
            for literal in self.literals:
                if isinstance(literal, int | float) and abs(literal) < _HUGE:
                    found += [column.stored(round(literal + by * step, 6)) for by in (-1, 1, -2, 2)]
                    found += [column.stored(literal * 2), column.stored(round(literal / 2))]
            found += [0, 1]
        else:
            found += self._around_texts(rng)
        found += column.samples
        if wide:
            found += self._far(rng)
        found += [self.fresh(rng) for _ in range(more)]
        if column.complete and column.samples and not column.numeric and not wide:
            known = {*column.samples, *self.literals}
            found = [value for value in found if value in known]
        made = map(column.made, found)
        stored = (value for value in made if column.admits(value))
        return list(dict.fromkeys(value for value in stored if value is not None))

    def beyond(self, present: Iterable[Value], rng: Random) -> list[Value]:
        """Return values below and above all present ones."""
        column = self.column
        if column.numeric:
            numbers = [value for value in present if isinstance(value, int | float) and abs(value) < _HUGE]
            low, high = (min(numbers), max(numbers)) if numbers else self._ends
            step = rng.randint(1, 3) if column.whole else round(rng.uniform(0.5, 2), 2)
            found: list[Value] = [high + step]
            # Years, counts and prices get no negative values, unless there are some.
            found.append(
                low - step if low - step >= 0 or low < 0 else max(low, 0) / (1 if column.whole else 2)
            )
            return [column.stored(round(v, 4)) for v in found if isinstance(v, int | float)]
        texts = [value for value in present if isinstance(value, str)]
        if self._dates and texts:
            found = []
            for text, days in ((max(texts), rng.randint(1, 9)), (min(texts), -rng.randint(1, 9))):
                match = _DATE.match(text)
                if match:
                    found.append(self._written(_day(match) + timedelta(days=days), rng))
            return found
        if texts and _CLOCK.match(min(texts)):
            found = [_turned(min(texts), -1, rng), _turned(max(texts), 1, rng)]
            return [text for text in found if text is not None]
        return []

    def made_up(self, rng: Random) -> str:
        """Return a text written like the samples."""
        if not self.texts:
            return f"{rng.choice(_WORDS)} {rng.choice(_WORDS)} {rng.randint(1, 999)}"
        first, second = rng.choice(self.texts), rng.choice(self.texts)
        if any(letter.isdigit() for letter in first):
            return _other_digits(first, rng)
        if " " in first and " " in second:
            left, right = first.split(" "), second.split(" ")
            return " ".join([*left[: rng.randint(1, len(left))], *right[-rng.randint(1, len(right)) :]])[:200]
        return (first[: rng.randint(1, len(first))] + second[rng.randint(0, len(second) - 1) :].lower())[:200]

    # Each of the following methods makes one kind of value.

    def _far(self, rng: Random) -> list[Value]:
        """Return arbitrary values, for conditions that no other value meets."""
        if self.column.numeric:
            return [self.column.stored(sign * 10**power) for power in range(1, 7) for sign in (1, -1)]
        if self._dates:
            return [self._written(date(year, rng.randint(1, 12), 1), rng) for year in range(1890, 2030, 10)]
        return []

    def _range(self) -> tuple[float, float]:
        column = self.column
        known = [
            float(value)
            for value in (column.low, column.high, *column.samples, *self.literals)
            if isinstance(value, int | float) and abs(value) < _HUGE
        ]
        if not known:
            return (0.0, 100.0)
        low, high = min(known), max(known)
        if column.high is None:
            high += (high - low) / 2 or max(abs(high), 1.0)
        return low, high

    def _number(self, rng: Random) -> Value:
        low, high = self._ends
        # Half of the values are below a quarter of the range: amounts and counts are skewed.
        value = low + (high - low) * rng.random() ** 2
        return self.column.stored(round(value) if self.column.whole else round(value, 2))

    def _date(self, rng: Random) -> str:
        known = [match for text in (*self.texts, *self._strings()) if (match := _DATE.match(text))]
        days = [_day(match) for match in known]
        low, high = (min(days), max(days)) if days else (_FIRST, _LAST)
        return self._written(low + timedelta(days=rng.randint(0, max((high - low).days, 1))), rng)

    def _strings(self) -> Iterator[str]:
        return (value for value in self.literals if isinstance(value, str))

    def _written(self, day: date, rng: Random, time: str = "") -> str:
        match = _DATE.match(self._pattern)
        separator, tail = (match[2], match[5]) if match else ("-", "")
        padded = match is None or (len(match[3]) == 2 and len(match[4]) == 2)  # noqa: PLR2004 - digits
        if any(letter in "123456789" for letter in tail):
            clock = f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}"
            tail = re.sub(r"\d\d:\d\d:\d\d", clock, tail)
        if time and tail:
            tail = (time + tail[len(time) :])[: max(len(tail), len(time))]
        month, number = (f"{day.month:02}", f"{day.day:02}") if padded else (day.month, day.day)
        return f"{day.year:04}{separator}{month}{separator}{number}{tail}"

    def _month(self, rng: Random) -> str:
        years = sorted(int(text[:4]) for text in (*self.texts, *self._strings()) if _MONTH.fullmatch(text))
        return f"{rng.randint(years[0], years[-1]):04}{rng.randint(1, 12):02}"

    def _around_texts(self, rng: Random) -> Iterator[Value]:
        """Yield texts with a literal at one end or inside, in another case, or for a day that it names."""
        given = [*self._strings(), *self.parts]
        for text in given:
            if self._dates or self._months:
                yield from self._days_of(text, rng)
                continue
            yield text
            for sample in rng.sample(self.texts, min(4, len(self.texts))):
                yield text + sample[len(text) :]
                yield sample[: max(len(sample) - len(text), 1)] + text
            yield from (f"{text} {rng.choice(_WORDS)}", f"{rng.choice(_WORDS)} {text}", f"a {text} b")
            if text != text.lower():
                yield text.lower()
            if text != text.upper():
                yield text.upper()
            yield _other_digits(text, rng) if any(letter.isdigit() for letter in text) else text[:-1]
        if self._dates and any(len(text) <= 2 and text.isdigit() for text in self.parts):  # noqa: PLR2004
            years = sorted({match[1] for text in given if (match := _GIVEN.match(text))}) or [
                str(_FIRST.year)
            ]
            for year in years:
                for month in range(1, 13):
                    yield self._written(date(int(year), month, rng.randint(1, 28)), rng)

    def _days_of(self, text: str, rng: Random) -> Iterator[Value]:
        match = _GIVEN.match(text)
        if match is None:
            if _CLOCK.match(text):
                yield self._written(_FIRST, rng, " " + text)
            return
        year, month = int(match[1]), int(match[2] or 0)
        day = int(match[3] or 0)
        if not 0 <= month <= 12 or not 0 <= day <= 31:  # noqa: PLR2004 - a calendar
            return
        for _ in range(1 if day else _FEW):
            at = date(year, month or rng.randint(1, 12), min(day or rng.randint(1, 28), 28))
            yield f"{at.year:04}{at.month:02}" if self._months else self._written(at, rng, match[4] or "")
        if day and not self._months:
            yield text
            yield from (self._written(at + timedelta(days=by), rng) for by in (-1, 1, 400, -400))
        for other in (year - 1, year + 1):
            at = date(other, month or rng.randint(1, 12), rng.randint(1, 28))
            yield f"{at.year:04}{at.month:02}" if self._months else self._written(at, rng)


def _day(match: re.Match[str]) -> date:
    return date(
        min(max(int(match[1]), 1), _LAST_YEAR), min(max(int(match[3]), 1), 12), min(max(int(match[4]), 1), 28)
    )


def _other_digits(text: str, rng: Random) -> str:
    """Return the text with other digits; those after a colon stay minutes and seconds."""

    def other(match: re.Match[str]) -> str:
        digits = match[0]
        first = (
            rng.choice("012345")
            if text[match.start() - 1 : match.start()] == ":"
            else rng.choice("123456789")
        )
        return first + "".join(rng.choice("0123456789") for _ in digits[1:])

    return re.sub(r"\d+", other, text) if len(text) < 12 or ":" in text else _last_digits(text, rng)  # noqa: PLR2004


def _last_digits(text: str, rng: Random) -> str:
    keep = len(text) // 3
    return text[:keep] + re.sub(r"\d", lambda _: rng.choice("0123456789"), text[keep:])


def _turned(text: str, by: int, rng: Random) -> str | None:
    """Return a time of day, or of a lap, a little earlier or later."""
    match = _CLOCK.match(text)
    if match is None:
        return None
    seconds = int(match[2]) + by
    if not 0 <= seconds <= 59:  # noqa: PLR2004 - a clock
        return None
    start, end = match.span(2)
    return f"{text[:start]}{seconds:02}" + re.sub(
        r"(?<=\.)\d+", lambda m: f"{rng.randint(0, 10 ** len(m[0]) - 1):0{len(m[0])}}", text[end:]
    )

"""Texts that make a pattern try again and again: made of the pattern itself, and of what SQL has."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

PIECES = (
    " ", "\n", "\t", "(", ")", "()", "((", "'", '"', "`", "''", "/*", "*/", "/**/", "/* x */", "--", "--\n",
    "-- x\n",
    "#", ";", "; ", ";/*", ";--", ",", ", ", ".", "*", "**", "-", "```", "\\", "$", "$$", "[", "]", "{", "%",
    "=", ":",
    "a", "A", "0", "1.", "_", "é", "a ", "a,", "a.", "a(", "'a'", "select ", "SELECT", "as ", "x'", "e'",
    "<think>",
)  # fmt: skip
"""What is repeated, whatever the pattern."""

ENDS = ("", "\0", "!", "\n", "** set")
"""What may follow; a NUL fits into hardly any pattern."""

_SIGNS = [chr(code) for code in range(1, 127)] + list("éÀß\u2019“”\u2003")
_FEW = 2
_MOST_ATTACKS = 600
"""On one pattern: some have dozens of repetitions."""


class Sampler:
    """Random texts that a parsed pattern, or a part of one, matches; roughly: looks around are left out."""

    def __init__(self, seed: int, flags: int, *, is_bytes: bool) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - no secret
        self._flags = flags
        self._is_bytes = is_bytes
        self._groups: dict[int, str] = {}
        self._choices: dict[str, list[str]] = {}

    def sample(self, tree: Sequence[tuple[Any, Any]], fits: Callable[[Any, Any, int], Any]) -> str:  # noqa: C901 - a case for each kind of node
        """A text that `tree` matches; `fits` makes the test of single characters."""
        text = ""
        for operation, value in tree:
            match str(operation):
                case "LITERAL":
                    text += chr(value)
                case "NOT_LITERAL" | "ANY" | "IN":
                    text += self._chance.choice(self._fitting(operation, value, fits))
                case "BRANCH":
                    text += self.sample(self._chance.choice(value[1]), fits)
                case "SUBPATTERN":
                    inner = self.sample(value[3], fits)
                    if value[0] is not None:
                        self._groups[value[0]] = inner
                    text += inner
                case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                    least, most, inner = value
                    for _ in range(min(int(most), least + self._chance.randrange(_FEW + 1))):
                        text += self.sample(inner, fits)
                case "ATOMIC_GROUP":
                    text += self.sample(value, fits)
                case "GROUPREF":
                    text += self._groups.get(value, "")
        return text

    def _fitting(self, operation: Any, value: Any, fits: Callable[[Any, Any, int], Any]) -> list[str]:
        key = repr((str(operation), value))
        if key not in self._choices:
            test = fits(operation, value, self._flags)
            self._choices[key] = [sign for sign in _SIGNS if test(sign)] or [""]
        return self._choices[key]


def repeats(tree: Sequence[tuple[Any, Any]], before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Every repetition without a bound, or with a high one: what comes before it, and itself."""
    passed: list[tuple[Any, Any]] = list(before)
    for operation, value in tree:
        name = str(operation)
        if name.endswith("_REPEAT"):
            if int(value[1]) > _FEW:
                yield tuple(passed), value[2]
            yield from repeats(value[2], tuple(passed))
        elif name == "BRANCH":
            for branch in value[1]:
                yield from repeats(branch, tuple(passed))
        elif name == "SUBPATTERN":
            yield from repeats(value[3], tuple(passed))
        elif name == "ATOMIC_GROUP":
            yield from repeats(value, tuple(passed))
        elif name in {"ASSERT", "ASSERT_NOT"}:
            yield from repeats(value[1], tuple(passed))
        passed.append((operation, value))


Attack = Callable[[int], str]


def attacks(pattern: "re.Pattern[Any]", tree: Any, fits: Callable[[Any, Any, int], Any]) -> list[Attack]:
    """Texts of any length: something is repeated, after a beginning and before an end."""
    sampler = Sampler(1, pattern.flags, is_bytes=isinstance(pattern.pattern, bytes))
    parts: dict[tuple[str, str, str], None] = {}
    whole = [sampler.sample(tree, fits) for _ in range(4)]
    for text in whole:
        for cut in (text, text[:-1], text[1:], text[: len(text) // 2]):
            parts |= {("", cut, end): None for end in ENDS[:2]}
    for before, body in repeats(tree):
        begins = {"", *(sampler.sample(before, fits) for _ in range(2))}
        bodies = {sampler.sample(body, fits) for _ in range(4)}
        bodies |= {first + second for first in bodies for second in list(bodies)[:2]}
        for begin in begins:
            for one in bodies:
                parts |= {(begin, one, end): None for end in ENDS}
                parts |= {("", begin + one, end): None for end in ENDS[:2]}
            parts |= {("", begin, end): None for end in ENDS[:2]}
            parts |= {(begin, piece, "\0"): None for piece in PIECES}
            parts |= {("", begin + piece, "\0"): None for piece in PIECES}
    parts |= {("", piece, end): None for piece in PIECES for end in ENDS[:3]}
    chosen = list(parts)
    if len(chosen) > _MOST_ATTACKS:
        chosen = random.Random(2).sample(chosen, _MOST_ATTACKS)  # noqa: S311 - no secret
    return [
        lambda times, begin=begin, one=one, end=end: begin + one * times + end  # type: ignore[misc]
        for begin, one, end in chosen
        if one
    ]

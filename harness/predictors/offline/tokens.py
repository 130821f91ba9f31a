"""A question's text as tokens, and words reduced to stems, so that plural and past tense are one word."""

# ruff: noqa: RUF001, PLR2004 - quotes as people type them; lengths of endings

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

LONGEST = 4000
"""How much of a text is read, in characters: what stands behind it is not looked at."""


class Kind(StrEnum):
    """What a token is."""

    WORD = "word"
    NUMBER = "number"
    DATE = "date"
    QUOTED = "quoted"
    MARK = "mark"


@dataclass(frozen=True)
class Token:
    """One token; `text` of a quoted one is without its quotes, of a number without thousands separators."""

    text: str
    kind: Kind
    stem: str

    @property
    def capital(self) -> bool:
        """Whether it is written like a name: with a capital, or with a digit among letters."""
        return self.kind is Kind.WORD and (
            self.text[0].isupper() or (self.text[0].isalpha() and any(sign.isdigit() for sign in self.text))
        )


_TOKEN = re.compile(
    r"""
    "(?P<double>[^"]+)" | “(?P<curled>[^”]+)” | (?<!\w)‘(?P<single>[^’]+)’
    | (?<!\w)'(?P<plain>[^']+(?:'\w[^']*)*)'(?!\w)
    | (?P<date>\b\d{4}-\d{1,2}(?:-\d{1,2})?\b | \b\d{1,2}/\d{1,2}/\d{2,4}\b | \b\d{4}/\d{1,2}(?:/\d{1,2})?\b)
    | (?P<number>(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w))
    | (?P<word>\w+(?:[-'’.]\w+)*)
    | (?P<mark>[^\w\s])
    """,
    re.VERBOSE,
)


def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text in their order."""
    return tuple(_token(found) for found in _TOKEN.finditer(text[:LONGEST]))


def _token(found: re.Match[str]) -> Token:
    kind = found.lastgroup or "mark"
    text = found[kind]
    if kind in {"double", "curled", "single", "plain"}:
        return Token(text, Kind.QUOTED, "")
    if kind == "number":
        return Token(text.replace(",", ""), Kind.NUMBER, text)
    return Token(text, Kind(kind), stem(text) if kind == "word" else text)


_PIECES = re.compile(r"[A-ZÀ-Þ]+(?=[A-ZÀ-Þ][a-zß-ÿ])|[A-ZÀ-Þ]?[a-zß-ÿ]+|[A-ZÀ-Þ]+|\d+|[^\W\d_]+")


@lru_cache(maxsize=8192)
def pieces(name: str) -> tuple[str, ...]:
    """The stems of the words that a name is made of, split at case, digits and signs."""
    return tuple(stem(word) for word in _PIECES.findall(name))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """What is left of a word without its English endings: equal for words that mean one thing."""
    word = word.lower().removesuffix("'s").removesuffix("’s")
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 4 and word.endswith(("sses", "ches", "shes", "xes", "zes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            word = word.removesuffix(ending)
            if word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    return word.removesuffix("e") if len(word) > 3 else word


NUMBERS = {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
    )
}
"""Numbers in words."""

ORDINALS = {
    word: number
    for number, word in enumerate(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
        start=1,
    )
}
"""Places in words."""

_NTH = re.compile(r"(\d{1,4})(?:st|nd|rd|th)", re.IGNORECASE)


def number(token: Token) -> int | None:
    """The whole number that a token says, in digits or as a word."""
    if token.kind is Kind.NUMBER and token.text.isdecimal() and len(token.text) < 10:
        return int(token.text)
    return NUMBERS.get(token.text.lower())


def place(token: Token) -> int | None:
    """The place that a token says: 2 for `second` and `2nd`."""
    found = _NTH.fullmatch(token.text)
    return int(found[1]) if found and found[1].isdecimal() else ORDINALS.get(token.text.lower())

"""Where a question says what is wanted."""

import re
from dataclasses import dataclass
from itertools import pairwise

from harness.predictors.offline.lexicon import IMPERATIVES, LEADS, QUESTIONS
from harness.predictors.offline.tokens import Kind, Token

_APOSTROPHE = re.compile("['’]s$")  # noqa: RUF001 - as people type it


@dataclass(frozen=True)
class Zone:
    """Where a question says what is wanted: tokens from `start` up to `end` behind its word `lead`."""

    lead: str
    start: int
    end: int


def _sentences(found: tuple[Token, ...]) -> list[tuple[int, int]]:
    sentences, start = [], 0
    for place, token in enumerate(found):
        if (token.kind is Kind.MARK and token.text in ".?!;") or place == len(found) - 1:
            if place + 1 > start:
                sentences.append((start, place + 1))
            start = place + 1
    return sentences


def zones(found: tuple[Token, ...]) -> list[Zone]:
    """Where a question says what is wanted; an order (`Give ...`) has the last word over a question."""
    asked: list[Zone] = []
    ordered: list[Zone] = []
    for start, end in _sentences(found):
        words = [_APOSTROPHE.sub("", token.text.lower()) for token in found[start:end]]
        at = _imperative(words)
        if at is not None:
            ordered.append(Zone("give", start + at + 1, end))
            continue
        places = _questions(words)
        for place, following in pairwise([*places, len(words)]):
            asked.append(Zone(words[place], start + place + 1, start + following))
    return [*ordered, *asked]


def _imperative(words: list[str]) -> int | None:
    starts = [0, *(place + 1 for place, word in enumerate(words) if word in {",", ":"})]
    for start in starts:
        at = start
        while at < len(words) and words[at] in LEADS:
            at += 1
        if at < len(words) - 1 and words[at] in IMPERATIVES:
            return at
    return None


def _questions(words: list[str]) -> list[int]:
    """Where question words stand that ask, and don't only join a clause."""
    all_of_them = [place for place, word in enumerate(words) if word in QUESTIONS]
    asking = [
        place
        for place in all_of_them
        if place <= 1
        or words[place - 1] in {",", "and", ":"}
        or words[place : place + 2] in (["how", "many"], ["how", "much"])
    ]
    # `Among those who ...`: what stands after the comma asks.
    first = next(
        (place for place in asking if place == 0 or words[place] == "how" or words[place - 1] != "those"),
        None,
    )
    if first is None:
        return all_of_them[:1]
    return [place for place in asking if place >= first]

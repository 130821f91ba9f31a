"""Counts the tokens of a prompt: an estimate, or by a function that the user names."""

import importlib
import os
import sys
from collections.abc import Callable, Sized
from dataclasses import dataclass

from dialects.errors import BadInput

_BYTES_PER_TOKEN = 4
"""What English prose and SQL come to with the common vocabularies, about; other scripts take more tokens.

https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them
"""

_TRIED = "SELECT 1"


@dataclass(frozen=True)
class Tokens:
    """A counter: the tokens of a text, by name; `estimated` where it guesses.

    What an endpoint puts around messages is counted by none.
    """

    name: str
    count: Callable[[str], int]
    estimated: bool


def _estimate(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


ESTIMATE = Tokens("estimate (UTF-8 bytes / 4)", _estimate, estimated=True)
"""A token for every four bytes of UTF-8, rounded up."""


def token_counter(named: str | None) -> Tokens:
    """The counter that is asked for.

    Args:
        named: `module:function` of a function that takes a text and returns the number of its tokens, or the
            tokens themselves, as `encode` of tiktoken and transformers does; the folder in which the command
            runs is searched, too. None for the estimate.

    Raises:
        BadInput: there is no such function, or it does not count.
    """
    if named is None:
        return ESTIMATE
    function = _imported(named)

    def count(text: str) -> int:
        try:
            counted = function(text)
        except Exception as error:
            raise BadInput(f"--tokenizer {named}: {type(error).__name__}: {error}; correct it") from error
        number = len(counted) if isinstance(counted, Sized) else counted
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise BadInput(
                f"--tokenizer {named}: returned {type(counted).__name__} {counted!r:.40}; it has to return"
                " how many tokens a text has, or a list of them"
            )
        return number

    count(_TRIED)
    return Tokens(named, count, estimated=False)


def _imported(named: str) -> Callable[[str], object]:
    module, _, path = named.partition(":")
    if not module or not path:
        raise BadInput(f"--tokenizer {named}: is not MODULE:FUNCTION, such as my_tokens:count")
    here = os.getcwd()  # noqa: PTH109 - as Python writes it there
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    try:
        found: object = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except Exception as error:
        raise BadInput(f"--tokenizer {named}: {type(error).__name__}: {error}; name a function") from error
    if not callable(found):
        raise BadInput(f"--tokenizer {named}: is no function")
    return found

"""Whether what a pattern does grows with the length of a text, or faster."""

from tests.linear.attacks import attacks
from tests.linear.found import Found
from tests.linear.steps import Machine, TooMuch

_FIRST, _SECOND = 6, 20
"""So often something is repeated at first; almost everything is linear at a glance."""
_SUSPECTED = 1.6
_LONG = (200, 400)
"""So often for what grew; counted repetitions have come to their ends by then."""
_SHORT = (30, 60)
"""The same, where much is done with a text of any length."""
LINEAR = 1.5
QUADRATIC = 2.7
"""Steps per character in a text of twice the length: 1 if work is linear, 2 if quadratic, 4 if cubic."""
_MOST_STEPS = 500_000
_ALL_STEPS = 1_500_000
"""On one pattern: some have so many attacks that not all of them are tried."""


def worst(found: Found, *, is_bounded: bool = False) -> str | None:
    """A text, with what it takes, for which a pattern does more than it may; None if none is found.

    Where the length of texts is bounded, work may grow with its square.
    """
    most_growth, long_ones = (QUADRATIC, _SHORT) if is_bounded else (LINEAR, _LONG)
    machine = Machine(found.pattern)
    spent = 0

    def per_character(text: str) -> float:
        nonlocal spent
        try:
            work = machine.work(text, anchored=found.anchored, most=_MOST_STEPS)
        except TooMuch:
            work = _MOST_STEPS
            spent += work
            return float("inf")
        spent += work
        return work / len(text)

    for attack in attacks(found.pattern, machine.tree, machine.fits):
        first, second = (per_character(attack(times)) for times in (_FIRST, _SECOND))
        if second >= _SUSPECTED * first:
            short, long = (per_character(attack(times)) for times in long_ones)
            if short == float("inf"):
                # Much work is no growth: shorter texts tell them apart.
                short, long = (per_character(attack(times)) for times in _SHORT)
            if long >= most_growth * short:
                return f"{attack(2)!r} and longer: {short:.0f} steps a character, {long:.0f} in twice as many"
        if spent > _ALL_STEPS:
            break
    return None

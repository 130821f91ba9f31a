"""Where the phrases of external knowledge stand in a question."""

from dataclasses import dataclass

from harness.predictors.offline.knowledge import Definition
from harness.predictors.offline.tokens import Token, stem

_MOSTLY = 0.6


@dataclass(frozen=True)
class Placed:
    """A definition and where its phrase stands; `start` is -1 where it doesn't."""

    definition: Definition
    start: int
    end: int
    again: tuple[tuple[int, int], ...] = ()
    """Everywhere the phrase stands word by word, or its last word alone."""

    def at(self, place: int) -> int | None:
        """Where a phrase ends that begins at a place, if one does."""
        if place == self.start:
            return self.end
        return next((end for start, end in self.again if start == place), None)


def placed_in(definition: Definition, found: tuple[Token, ...]) -> Placed:
    """Where the words of a phrase stand closest together."""
    wanted = set(definition.stems)
    at = [place for place, token in enumerate(found) if (token.stem or stem(token.text)) in wanted]
    best, reach = (0, -1, -1), len(definition.stems) + 4
    for start in at:
        inside = [place for place in at if start <= place < start + reach]
        distinct = len({found[place].stem or found[place].text for place in inside})
        if distinct > best[0]:
            best = distinct, start, inside[-1] + 1
    if not wanted or best[0] < _MOSTLY * len(wanted):
        return Placed(definition, -1, -1)
    _, start, end = best
    while start < end and (found[end - 1].stem or found[end - 1].text) in {
        found[place].stem or found[place].text for place in at if start <= place < end - 1
    }:
        end = max(place for place in at if place < end - 1) + 1
    return Placed(definition, start, end, _again(definition, found))


def _again(definition: Definition, found: tuple[Token, ...]) -> tuple[tuple[int, int], ...]:
    stems, length = tuple(token.stem for token in found), len(definition.stems)
    whole = [(at, at + length) for at in range(len(stems)) if stems[at : at + length] == definition.stems]
    last = [(at, at + 1) for at, one in enumerate(stems) if one == definition.stems[-1]]
    return (*whole, *(one for one in last if not any(start < one[1] <= end for start, end in whole)))

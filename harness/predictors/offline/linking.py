"""Which tables and columns the words of a question mean."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from harness.predictors.offline.catalog import Catalog, Entity, Field
from harness.predictors.offline.lexicon import VACANT
from harness.predictors.offline.tokens import ORDINALS, Kind, Token

_LONGEST = 5
_SHORTEST = 2
_ENOUGH = 0.3


@dataclass(frozen=True)
class Mention:
    """Tokens from `start` up to `end` that mean a table, or one of several columns of like names."""

    start: int
    end: int
    entity: Entity | None = None
    fields: tuple[Field, ...] = ()
    score: float = 1.0


class Linker:
    """The names of a schema, by their stems."""

    def __init__(self, catalog: Catalog) -> None:
        self._exact: dict[str, tuple[list[Entity], list[Field]]] = defaultdict(lambda: ([], []))
        self._partial: dict[str, list[tuple[Entity | Field, int]]] = defaultdict(list)
        for entity in catalog.entities:
            self._exact["".join(entity.words)][0].append(entity)
            for word in set(entity.words):
                self._partial[word].append((entity, len(entity.words)))
            for field in entity.fields:
                for words in {field.words, field.others, _without_unit(field.words)} - {()}:
                    self._exact["".join(words)][1].append(field)
                for word in {*field.words, *field.others}:
                    self._partial[word].append((field, len(field.words)))

    def mentions(self, tokens: Sequence[Token]) -> list[Mention]:
        """What the tokens mention, in their order, without overlaps; exact names before parts of names."""
        found: list[Mention] = []
        taken = [token.kind is not Kind.WORD for token in tokens]
        for length in range(_LONGEST, 0, -1):
            for start in range(len(tokens) - length + 1):
                if not any(taken[start : start + length]):
                    mention = self._named(tokens, start, start + length)
                    if mention is not None:
                        found.append(mention)
                        taken[start : start + length] = [True] * length
        start = 0
        while start < len(tokens):
            end = start
            while end < len(tokens) and not taken[end] and self._parts(tokens[end]):
                end += 1
            if end > start:
                found.extend(self._best(tokens, start, end))
            start = max(end, start + 1)
        return sorted(found, key=lambda mention: mention.start)

    def _named(self, tokens: Sequence[Token], start: int, end: int) -> Mention | None:
        entities, fields = self._exact.get("".join(token.stem for token in tokens[start:end]), ([], []))
        if end == start + 1 and tokens[start].stem in VACANT:
            return None
        if entities:
            return Mention(start, end, entities[0])
        return Mention(start, end, fields=tuple(fields)) if fields else None

    def _parts(self, token: Token) -> list[tuple[Entity | Field, int]]:
        return (
            []
            if token.stem in VACANT | ORDINALS.keys() | {"last"} or len(token.stem) < _SHORTEST
            else self._partial.get(token.stem, [])
        )

    def _best(self, tokens: Sequence[Token], start: int, end: int) -> list[Mention]:
        """The names that a row of words is most of."""
        scores: dict[int, tuple[Entity | Field, float]] = {}
        for token in tokens[start:end]:
            for one, length in self._parts(token):
                _, so_far = scores.get(id(one), (one, 0.0))
                scores[id(one)] = one, so_far + 1 / max(length, 1)
        best = max(score for _, score in scores.values())
        if best < _ENOUGH:
            return []
        winners = [one for one, score in scores.values() if score > best - 0.01]
        entity = next((one for one in winners if isinstance(one, Entity)), None)
        if entity is not None:
            return [Mention(start, end, entity, score=best)]
        return [
            Mention(start, end, fields=tuple(one for one in winners if isinstance(one, Field)), score=best)
        ]


def _without_unit(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a name without a unit at its end."""
    return (
        words[:-1]
        if len(words) > 1
        and len(words[-1]) <= _SHORTEST
        and words[-1] not in {"id", "no", "up", "by", "to", "of"}
        else words
    )

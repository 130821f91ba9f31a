"""How much of a run was scored: what was planned, what chose among it, and what every table says of it.

A run plans a pair for each question, predictor and engine. pytest may choose among them (`-k`, node ids,
`--lf`, a plugin that drops items); then the figures are of a selection, and whatever shows them says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from harness.engines import EngineName, kind_of
from loaders.base.records import to_plain, to_record

Whose = tuple[str, EngineName]
"""A predictor, and the engine that it is scored on."""

Key = tuple[EngineName, str, str]
"""What tells a pair from the others of a run: dialect, predictor and the question's key."""

_NAMED = 10
"""How many predictors a line names before it only counts."""


@dataclass(frozen=True)
class Extent:
    """What a run was to score.

    `planned` has the number of questions of each predictor on each engine; it is empty where a run does not
    say. `questions` and `set_questions` are how many questions the run and its question set have. `chosen`
    says what chose among the pairs, such as `-k 'simple'`.
    """

    planned: Mapping[Whose, int] = field(default_factory=dict)
    questions: int = 0
    set_questions: int = 0
    chosen: Sequence[str] = ()
    by: str = ""
    """The options that chose among the questions of the set."""

    @property
    def pairs(self) -> int:
        """How many pairs were planned."""
        return sum(self.planned.values())

    def to_json(self) -> dict[str, Any]:
        """`planned` in a manifest."""
        return {
            "pairs": self.pairs,
            "questions": self.questions,
            "set_questions": self.set_questions,
            **({"by": self.by} if self.by else {}),
            "scores": to_plain([Count(*whose, questions) for whose, questions in self.planned.items()]),
        }

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any]) -> Self:
        """What a manifest says; nothing is planned where it says nothing.

        Raises:
            BadInput, ValueError: it is not as it was written.
        """
        if manifest.get("planned") is None:
            return cls()
        planned = to_record(_Planned, manifest["planned"])
        return cls(
            {one.whose: one.questions for one in planned.scores},
            planned.questions,
            planned.set_questions,
            tuple(map(str, manifest.get("chosen", ()))),
            planned.by,
        )

    def is_complete(self, completed: Mapping[Whose, int]) -> bool:
        """Whether every planned pair is there."""
        return all(completed.get(whose, 0) >= questions for whose, questions in self.planned.items())

    def lines(self, completed: Mapping[Whose, int], names: Mapping[str, str]) -> list[str]:
        """What has to stand beside the figures of a run that is not the whole set; nothing where it is.

        Args:
            completed: how many pairs of each predictor on each engine have a result.
            names: what engines are called.
        """
        lines = []
        if 0 < self.questions < self.set_questions:
            first, by = ("", self.by) if self.by else ("The first ", "--limit")
            lines.append(
                f"{first}{self.questions:,} of {self.set_questions:,} questions:"
                f" a selection by {by}, not the set."
            )
        if not self.is_complete(completed):
            done = sum(completed.get(whose, 0) for whose in self.planned)
            by = f" by {' and '.join(self.chosen)}" if self.chosen else ""
            lines.append(f"{done:,} of {self.pairs:,} pairs: a selection{by}, not the set.")
            without = [
                f"{predictor} on {names[dialect]} (0 of {questions:,})"
                for (predictor, dialect), questions in self.planned.items()
                if not completed.get((predictor, dialect))
            ]
            if without:
                more = f" and {len(without) - _NAMED:,} more" if len(without) > _NAMED else ""
                lines.append(f"Not scored at all: {', '.join(without[:_NAMED])}{more}.")
        return lines


@dataclass(frozen=True)
class Count:
    """How many questions of a predictor on an engine, as manifest and summary have it."""

    predictor: str
    dialect: EngineName
    questions: int

    @property
    def whose(self) -> Whose:
        """The predictor and the engine.

        Raises:
            BadInput: the engine is not known.
        """
        return self.predictor, kind_of(self.dialect).name


@dataclass(frozen=True)
class _Planned:
    """`planned` in a manifest."""

    pairs: int
    questions: int
    set_questions: int
    scores: Sequence[Count]
    by: str = ""


@dataclass(frozen=True)
class _Pair:
    dialect: EngineName
    predictor: str
    question: str


def key_in(record: Any) -> Key:
    """The pair that a line of a run folder is about, whatever else it says.

    Raises:
        BadInput, ValueError: it names none.
    """
    pair = to_record(_Pair, record, others=True)
    return kind_of(pair.dialect).name, pair.predictor, pair.question


def how_far(judged: int, planned: int) -> str:
    """How many pairs a run has that was broken off: `339 of 4,500 pairs`."""
    of = f" of {planned:,}" if planned else ""
    return f"{judged:,}{of} {'pair' if (planned or judged) == 1 else 'pairs'}"

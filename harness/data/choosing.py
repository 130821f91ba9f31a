"""Which questions of a set are asked: by database, difficulty or name, a sample of them, or the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from dialects.errors import BadInput
from harness.data.questions import Question, QuestionSet, chosen
from loaders.base.errors import brief


@dataclass(frozen=True)
class Choice:
    """What chooses among the questions of a set; each part among those that the parts before it leave.

    `sample` is how many, drawn by `seed` so that databases and difficulties keep their shares.
    """

    db_ids: Sequence[str] = ()
    difficulties: Sequence[str] = ()
    keys: Sequence[str] = ()
    sample: int | None = None
    seed: int = 0
    limit: int | None = None

    def __str__(self) -> str:
        """The options that make it; empty where it is every question."""
        parts = [f"--db {name}" for name in self.db_ids]
        parts += [f"--difficulty {name}" for name in self.difficulties]
        parts += [f"--question {name}" for name in self.keys]
        if self.sample is not None:
            parts.append(f"--sample {self.sample} --seed {self.seed}")
        if self.limit is not None:
            parts.append(f"--limit {self.limit}")
        return " ".join(parts)

    @property
    def beyond_limit(self) -> str:
        """The same, but empty where the first questions are all that is chosen."""
        return str(self) if any((self.db_ids, self.difficulties, self.keys, self.sample)) else ""

    def of(self, questions: QuestionSet) -> QuestionSet:
        """The chosen questions of a set, in its order.

        Raises:
            BadInput: a name is none of the set's, or nothing is left.
        """
        _check("--db", self.db_ids, questions.db_ids, questions.name)
        _check("--difficulty", self.difficulties, questions.levels, questions.name)
        keys = {questions.key_of(key) for key in self.keys}
        left = [
            question
            for question in questions.questions
            if (not self.db_ids or question.db_id in self.db_ids)
            and (not self.difficulties or question.difficulty in self.difficulties)
            and (not keys or question.key in keys)
        ]
        if self.sample is not None:
            drawn = {question.key for question in _sample(left, self.sample, self.seed)}
            left = [question for question in left if question.key in drawn]
        if not left:
            raise BadInput(f"{self}: no question of {questions.name} is left; choose otherwise")
        whole = questions if len(left) == len(questions.questions) else chosen(questions, left)
        return whole if self.limit is None else whole.limit(self.limit)


def _sample(questions: Sequence[Question], count: int, seed: int) -> list[Question]:
    """A systematic sample over the questions by database and difficulty, at random within each.

    Every such group has its share of the sample, rounded up or down.
    """
    if count >= len(questions):
        return list(questions)
    chance = Random(seed)  # noqa: S311 - it has to come out the same again
    mixed = sorted(questions, key=lambda question: question.key)
    chance.shuffle(mixed)
    mixed.sort(key=lambda question: (question.db_id, str(question.difficulty)))
    step, start = len(mixed) / count, chance.random()
    return [mixed[int((place + start) * step)] for place in range(count)]


def _check(option: str, wanted: Sequence[str], known: Sequence[str], name: str) -> None:
    for each in wanted:
        if each not in known:
            raise BadInput(f"{option} {brief(repr(each))}: {name} has none such; it has {', '.join(known)}")

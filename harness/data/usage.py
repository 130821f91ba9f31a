"""What answers took: tokens, seconds and cost, from the lines of a prediction file or from `predict`.

`bird-harness predict` keeps its answers beside its prediction files (`harness.predictors.predict`). What
nobody told is None, and never 0.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from harness.data.prediction_files import ANSWERS, JOURNAL, MANIFEST, PREDICTIONS
from harness.engines import EngineName
from loaders.base.records import RecordFault, read_record, read_records, to_object, to_plain, to_record

_MOST = 1e15
"""Beyond it figures are no measurements, and sums of them would not be exact."""
_REMEDY = "let predict write its folder again, or move the prediction file out of it"


@dataclass(frozen=True)
class AnswerUsage:
    """What one answer took, each None where it is not known.

    Tokens as the predictor counted them; `seconds` of wall-clock time; `cost` in the currency of the prices.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: int | float | None = None
    cost: int | float | None = None

    @property
    def tokens(self) -> int | None:
        """Of prompt and completion; None where one of them is not known."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "AnswerUsage") -> "AnswerUsage":
        """What both took; what is not known of one is not known of both."""
        mine, others = asdict(self), asdict(other)
        both = {
            name: None if value is None or others[name] is None else value + others[name]
            for name, value in mine.items()
        }
        return AnswerUsage(**both)

    def to_json(self) -> dict[str, float]:
        """What is known, as plain values."""
        known: dict[str, float] = to_plain(self, known_only=True)
        return known

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """What a record says under the names of the fields; null and what is not there is not known.

        Raises:
            RecordFault: a value is no such figure.
        """
        found = to_record(cls, {name: record[name] for name in USAGE if name in record})
        for name, value in found.to_json().items():
            if not 0 <= value <= _MOST:
                wanted = "a whole number" if name.endswith("_tokens") else "a number"
                raise RecordFault(f"{name} is not {wanted} from 0 to {_MOST:g}")
        return found


USAGE = tuple(AnswerUsage.__dataclass_fields__)
"""The names of the figures, in files too."""


def usage_beside(path: Path, dialect: EngineName) -> dict[str, AnswerUsage]:
    """What the answers of a prediction file took, by the question's key, where `predict` has written it.

    The answer that most samples agree with took what all the samples took.

    Args:
        path: the prediction file.
        dialect: that of its answers.

    Raises:
        BadInput: the answers or the manifest of such a folder are damaged.
    """
    folder = path.parent.parent
    if path.parent.name != PREDICTIONS or not all(
        (folder / name).is_file() for name in (ANSWERS, JOURNAL, MANIFEST)
    ):
        return {}
    manifest = read_record(folder / MANIFEST, to_object, _REMEDY)
    stem = f"predict_{manifest.get('set')}_{manifest.get('name')}"
    end = f"_{dialect}.jsonl"
    if not path.name.startswith(stem) or not path.name.endswith(end):
        return {}
    which = path.name.removeprefix(stem).removesuffix(end)
    changed = (folder / ANSWERS).stat().st_mtime_ns
    answers = _answers(folder / ANSWERS, changed)
    found: dict[str, AnswerUsage] = {}
    for (question, of_dialect, sample), usage in answers.items():
        if of_dialect != dialect or which not in {"", "@majority", f"@{sample + 1}"}:
            continue
        found[question] = found[question] + usage if question in found else usage
    return found


@lru_cache(maxsize=1)
def _answers(path: Path, changed: int) -> Mapping[tuple[str, str, int], AnswerUsage]:
    """Usage by question, dialect and sample; `changed` is when the file was, so that it is read once."""
    del changed
    return dict(read_records(path, _answer, _REMEDY))


def _answer(record: Any) -> tuple[tuple[str, str, int], AnswerUsage]:
    whose = to_record(_Answer, record, others=True)
    return (whose.question, whose.dialect, whose.sample), AnswerUsage.from_json(record)


@dataclass(frozen=True)
class _Answer:
    """Which answer a line of `predict`'s is about."""

    question: str
    dialect: str
    sample: int

"""What answers took: tokens, seconds and cost, from the lines of a prediction file or from `predict`.

`bird-harness predict` keeps its answers beside its prediction files (`harness.predictors.output`). What
nobody told is None, and never 0.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from harness.data.prediction_names import ANSWERS, JOURNAL, MANIFEST, PREDICTIONS
from harness.engines import EngineName
from loaders.base.files import json_type, parse_json, read_json, read_lines, read_text, refuse

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
    seconds: float | None = None
    cost: float | None = None

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
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """What a record says under the names of the fields; null and what is not there is not known.

        Raises:
            UsageFault: a value is no such figure.
        """
        return cls(**{name: _figure(name, record[name]) for name in USAGE if record.get(name) is not None})


USAGE = tuple(AnswerUsage.__dataclass_fields__)
"""The names of the figures, in files too."""


class UsageFault(ValueError):
    """A value is no figure of usage; the message says which, and what it should be."""


def _figure(name: str, value: Any) -> Any:
    is_count = name.endswith("_tokens")
    wanted = "a whole number" if is_count else "a number"
    kinds = (int,) if is_count else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise UsageFault(f"{name} is {json_type(value)}, not {wanted}")
    if not 0 <= value <= _MOST:
        raise UsageFault(f"{name} is not {wanted} from 0 to {_MOST:g}")
    return value


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
    manifest = read_json(read_text(folder / MANIFEST))
    if not isinstance(manifest, dict):
        refuse(folder / MANIFEST, "is not a JSON object", _REMEDY)
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
    found = {}
    for number, line in read_lines(path):
        try:
            record = parse_json(line)
            whose = str(record["question"]), str(record["dialect"]), int(record["sample"])
            found[whose] = AnswerUsage.from_json(record)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            why = str(error) if isinstance(error, UsageFault) else "no answer"
            refuse(path, f"line {number}: {why}", _REMEDY)
    return found

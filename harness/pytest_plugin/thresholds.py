"""What a run under pytest has to come to: which outcomes fail an item, and which totals fail the run."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dialects.errors import BadInput
from harness.data.outcomes import Outcome, PairResult
from harness.data.preview import Preview, Side
from harness.data.questions import Question
from harness.metrics import METRICS
from harness.runs.summary import TOTAL, Score
from harness.session.evaluation import Pair

_MOST_ROWS = 3
_MOST_CHARACTERS = 300


@dataclass(frozen=True)
class Thresholds:
    """`fail_under` maps a metric to the least percent that each total may have; `fail_on` fails items."""

    fail_under: Mapping[str, float] = field(default_factory=dict)
    fail_on: Collection[Outcome] = ()

    def failure(self, pair: Pair, result: PairResult) -> str | None:
        """Why a pair fails, in a few lines; None where it does not. A harness error always does."""
        if result.outcome is Outcome.HARNESS_ERROR:
            return f"{pair.name}: {result.error}"
        return explained(pair.question, result) if result.outcome in self.fail_on else None

    def unmet(self, scores: Sequence[Score]) -> str | None:
        """One line about all totals that are too low; None where there is none."""
        found = list(self._unmet(scores))
        return f"--fail-under: {'; '.join(found)}" if found else None

    def _unmet(self, scores: Sequence[Score]) -> Iterator[str]:
        for name, percent in self.fail_under.items():
            totals = [score.metrics[name][TOTAL] for score in scores]
            for score, total in zip(scores, totals, strict=True):
                if total is not None and total < percent:
                    yield (
                        f"{METRICS[name].title} of {score.predictor} on {score.dialect} is {total:.2f},"
                        f" below {percent:g}"
                    )
            if all(total is None for total in totals):
                yield f"no pair has a score of {METRICS[name].title}"


def parse_fail_on(text: str) -> list[Outcome]:
    """Outcomes separated by commas.

    Raises:
        BadInput: one is none.
    """
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in list(Outcome)]
    if unknown:
        raise BadInput(
            f"--bird-fail-on {text}: {unknown[0]!r} is not an outcome; choose from {', '.join(Outcome)}"
        )
    return [Outcome(name) for name in names]


def explained(question: Question, result: PairResult) -> str:
    """What a reader needs to see why a pair failed; the first line is short enough for a summary."""
    words = str(result.outcome).replace("_", " ")
    about = "" if result.error_class is None else f" ({str(result.error_class).replace('_', ' ')})"
    lines = [
        f"{words}{about}: {' '.join(question.text.split())}",
        f"database: {question.db_id}",
        f"predicted: {_short(result.sql)}",
    ]
    if result.error is not None:
        lines.append(f"error: {_short(result.error)}")
    if result.preview is not None:
        lines += _rows(Preview.from_text(result.preview))
    return "\n".join(lines)


def _rows(preview: Preview) -> Iterator[str]:
    """Lines about the rows that differ."""
    is_compared = preview.predicted is not None and preview.gold.only is not None
    for name, side in (("gold", preview.gold), ("prediction", preview.predicted)):
        if side is not None:
            yield from _side(name, side, is_compared=is_compared)


def _side(name: str, side: Side, *, is_compared: bool) -> Iterator[str]:
    alone = f", {side.only} of them not in the other result" if is_compared else ""
    yield f"{name}: {side.count} row{'' if side.count == 1 else 's'}{alone}"
    for row in side.rows[: min(side.marked, _MOST_ROWS) if is_compared else _MOST_ROWS]:
        yield f"  {_short(', '.join(_value(value) for value in row))}"


def _value(value: object) -> str:
    return value[1] if isinstance(value, tuple) else repr(value)


def _short(text: str | None) -> str:
    """The text in one line."""
    line = " ".join((text or "none").split())
    return line if len(line) <= _MOST_CHARACTERS else line[: _MOST_CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"

"""Encode pairs as columns of small numbers: each text and row is stored once, and long ones are cut."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dialects.enums import Dialect
from harness.data.outcomes import AnswerUsage, GoldOrigin, Outcome, PairResult, Preview, Side
from harness.data.questions import Question, cached_types, levels_of
from harness.data.witnesses import Witness
from harness.engines import TITLES, dialect_of, kinds_by_name
from harness.engines.errors import ErrorClass
from harness.engines.plans import PlanComparison, StepMark, compare_plans, numbered, steps_of
from harness.metrics.efficiency import Timing
from harness.metrics.work import WorkRatio
from harness.runs.plans import ExplainedText, TextKey
from harness.runs.summary import By
from loaders.base.files import ascii_json, parse_json
from loaders.base.records import to_plain

MOST_CHARACTERS = 20_000
"""Maximum characters of a text in the page, which marks a cut; the run folder has all of it."""

NOTHING = -1
"""Index that stands for None."""

_OUTCOMES, _CLASSES, _ORIGINS = (
    {member: place for place, member in enumerate(kind)} for kind in (Outcome, ErrorClass, GoldOrigin)
)


class Numbering:
    """Numbers values in the order of first appearance."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.values: list[str] = []
        self._places: dict[str, int] = {}
        for value in values:
            self.of(value)

    def of(self, value: str) -> int:
        """Return the index of `value` in `values`, appending it if missing."""
        place = self._places.setdefault(value, len(self.values))
        if place == len(self.values):
            self.values.append(value)
        return place


class Texts:
    """SQL texts and error messages, each once."""

    def __init__(self) -> None:
        self._whole = Numbering()

    def of(self, text: str | None) -> int:
        """Return the index of a text, `NOTHING` for None."""
        return NOTHING if text is None else self._whole.of(text)

    def to_json(self) -> dict[str, Any]:
        """Return the texts as shown, and the original lengths of cut ones by index."""
        whole = self._whole.values
        return {
            "texts": [text[:MOST_CHARACTERS] for text in whole],
            "cut": {place: len(text) for place, text in enumerate(whole) if len(text) > MOST_CHARACTERS},
        }


class Questions:
    """The questions of pairs, by key; whatever a run folder lacks of one is empty."""

    def __init__(
        self, known: Mapping[str, Question], databases: Iterable[str], difficulties: Iterable[str]
    ) -> None:
        self._known = known
        self.levels = levels_of(difficulties)
        """The levels of difficulty, in the order of the tables."""
        self._databases = Numbering(sorted(databases))
        self._keys = Numbering()
        self._types = cached_types([*known.values()])
        self.types = By.TYPE.order(name for types in self._types.values() for name in types)
        """The types of questions that any has, in the order of the tables."""
        self._columns: dict[str, list[Any]] = {
            "key": self._keys.values, "db": [], "difficulty": [], "types": [], "text": [], "evidence": []
        }  # fmt: skip

    def of(self, result: PairResult) -> int:
        """Return the index of a result's question."""
        place = self._keys.of(result.question)
        if place == len(self._columns["db"]):
            known = self._known.get(result.question)
            self._columns["db"].append(self._databases.of(result.db_id))
            self._columns["difficulty"].append(self.levels.index(result.difficulty))
            types = self._types.get(result.question, ())
            self._columns["types"].append([self.types.index(name) for name in types])
            self._columns["text"].append(known.text[:MOST_CHARACTERS] if known else "")
            self._columns["evidence"].append(known.evidence[:MOST_CHARACTERS] if known else "")
        return place

    def gold(self, result: PairResult) -> str | None:
        """Return the gold that a result was compared with, from the question set or a pack."""
        known = self._known.get(result.question)
        if known is None:
            return None
        language = dialect_of(result.dialect)
        language = Dialect.SQLITE if language in known.by_rows else language
        return known.each(language)[result.gold_index].gold.get(language)

    def to_json(self) -> dict[str, Any]:
        """Return the questions, and the names of their databases."""
        return {"questions": self._columns, "databases": self._databases.values}


_SIDES = ("gold_side", "predicted_side")


@dataclass
class Pairs:
    """The columns of all pairs; `details` are those that only the view of one pair needs."""

    questions: Questions
    predictors: Numbering
    metrics: Sequence[str]
    _texts: Texts = field(default_factory=Texts)
    _rows: Numbering = field(default_factory=Numbering)

    def __post_init__(self) -> None:
        names = ("predictor", "dialect", "question", "outcome", "error_class", "origin")
        times = ("seconds", "gold_seconds", "ratio")
        self._core: dict[str, list[Any]] = {name: [] for name in (*names, *times)}
        self._scores: dict[str, list[float | None]] = {name: [] for name in self.metrics}
        self._details: dict[str, list[Any]] = {name: [] for name in ("gold", "sql", "error", "code", *_SIDES)}
        self._more: dict[int, Any] = {}

    def add(
        self,
        result: PairResult,
        preview: Preview | None,
        usage: AnswerUsage | None = None,
        witness: Witness | None = None,
    ) -> int:
        """Append a pair and return its index; `usage` and `witness` are those of its answer, if known."""
        place = len(self._core["outcome"])
        self._add_core(result)
        for name, column in self._scores.items():
            score = result.scores.get(name)
            column.append(score if score is not None and math.isfinite(score) else None)
        values: tuple[Any, ...] = (
            self._texts.of(self.gold(result, preview)),
            self._texts.of(result.sql),
            self._texts.of(result.error),
            self._texts.of(result.code),
            self._side(preview.gold if preview else None),
            self._side(preview.predicted if preview else None),
        )
        for column, value in zip(self._details.values(), values, strict=True):
            column.append(value)
        more = _more(result, usage, witness)
        if more:
            self._more[place] = more
        return place

    def gold(self, result: PairResult, preview: Preview | None) -> str | None:
        """Return the text of the gold that a result was compared with; None if unknown."""
        translated = preview.gold_sql if preview else None
        return translated if translated is not None else self.questions.gold(result)

    def _add_core(self, result: PairResult) -> None:
        values: tuple[Any, ...] = (
            self.predictors.of(result.predictor),
            list(kinds_by_name()).index(result.dialect),
            self.questions.of(result),
            _OUTCOMES[result.outcome],
            NOTHING if result.error_class is None else _CLASSES[result.error_class],
            _ORIGINS[result.gold_origin],
            short(result.prediction_seconds),
            short(result.gold_seconds),
            short(time_ratio(result)),
        )
        for column, value in zip(self._core.values(), values, strict=True):
            column.append(value)

    def _side(self, side: Side | None) -> list[int | None] | None:
        if side is None:
            return None
        rows = self._rows.of(ascii_json([[_finite(value) for value in row] for row in side.rows]))
        return [side.count, side.columns, side.only, side.marked, rows]

    def core(self) -> dict[str, Any]:
        """Return the part of the page's data that every view needs."""
        return {
            "dialects": list(kinds_by_name()),
            "titles": dict(TITLES),
            "difficulties": list(self.questions.levels),
            "types": self.questions.types,
            "outcomes": list(Outcome),
            "error_classes": list(ErrorClass),
            "origins": list(GoldOrigin),
            "predictors": self.predictors.values,
            **self.questions.to_json(),
            "pairs": {**self._core, "scores": self._scores},
        }

    def details(self) -> dict[str, Any]:
        """Return the part that the view of one pair needs."""
        rows = [parse_json(rows) for rows in self._rows.values]
        return {**self._details, **self._texts.to_json(), "rows": rows, "more": self._more}


def time_ratio(result: PairResult) -> float | None:
    """Return the prediction's time divided by gold's: as measured, else of the single execution of each."""
    for method in ("stable", "official"):
        timing = result.timings.get(method)
        if timing is not None and timing.error is None and timing.tau > 0:
            return 1 / timing.tau
    ours, gold = result.prediction_seconds, result.gold_seconds
    return ours / gold if ours is not None and gold else None


def short(value: float | None) -> float | None:
    """Round to four digits; None if it is not a finite number."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.4g}")


def _finite(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _more(result: PairResult, usage: AnswerUsage | None, witness: Witness | None) -> dict[str, Any]:
    """Return the data that few pairs have."""
    found: dict[str, Any] = {}
    if usage is not None:
        found["usage"] = usage.to_json()
    if result.work is not None:
        found["work"] = _plain(result.work)
    if result.timings:
        found["timings"] = {method: _plain(timing) for method, timing in result.timings.items()}
    if result.compared_variants is not None:
        found["compared_variants"] = result.compared_variants
    if result.failed_variant is not None:
        found["failed_variant"] = result.failed_variant
    if result.tested is not None:
        found["tested"] = to_plain(result.tested)
    if witness is not None:
        found["witness"] = dict(_tables(witness))
    if result.structure is not None:
        found["hardness"] = result.structure.hardness
    return found


def _tables(witness: Witness) -> Iterator[tuple[str, Any]]:
    """Yield the tables with rows, and the rows of both texts."""
    yield (
        "tables",
        [
            [table.name, table.columns, [[_short_value(value) for value in row] for row in table.rows]]
            for table in witness.relevant_tables
        ],
    )
    if witness.preview is not None:
        for name, side in (("gold", witness.preview.gold), ("predicted", witness.preview.predicted)):
            yield name, None if side is None else to_plain(side)


def _short_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ["bytes", value["hex"][:_LONGEST]]
    return value[:_LONGEST] if isinstance(value, str) else _finite(value)


def _plain(measured: Timing | WorkRatio) -> dict[str, Any]:
    return {
        name: short(value) if isinstance(value, float) else value for name, value in asdict(measured).items()
    }


# Execution plans in the page: each once, as rows of small numbers, up to a maximum size.

MOST_PLAN_CHARACTERS = 6_000_000
"""Maximum bytes of all plans as JSON. Packed, they take about a twelfth of it, in pages of at most 8 MB."""

_LONGEST = 300
"""Maximum characters of a condition; a longer one is cut."""

_MARKS = tuple(StepMark)


class Plans:
    """The plans of the pairs of a page; if there is not room for all, differing plans take precedence."""

    def __init__(self, known: Mapping[TextKey, ExplainedText]) -> None:
        self._known = known
        self._pairs: list[tuple[int, ExplainedText, ExplainedText, PlanComparison | None]] = []
        self._left_out = 0

    def add(self, place: int, result: PairResult, gold: str | None) -> None:
        """Add a pair, if its plans were kept.

        Args:
            place: the index of the pair in the page.
            result: the pair.
            gold: the text of its gold.
        """
        if not self._known or gold is None or result.sql is None:
            return
        ours, theirs = (self._known.get((result.dialect, result.db_id, text)) for text in (gold, result.sql))
        if ours is None or theirs is None:
            return
        roots = ours.plan.root, theirs.plan.root
        comparison = None
        if roots[0] is not None and roots[1] is not None:
            comparison = compare_plans(roots[0], roots[1])
        self._pairs.append((place, ours, theirs, comparison))

    def to_json(self) -> dict[str, Any]:
        """Return the plans, and the plans of each pair with their aligned steps."""
        strings = Numbering()
        places: dict[TextKey, int] = {}
        plans: list[Any] = []
        pairs: dict[int, Any] = {}
        room = MOST_PLAN_CHARACTERS
        self._left_out = 0
        for place, gold, prediction, comparison in sorted(
            self._pairs, key=lambda each: each[3] is not None and each[3].is_same
        ):
            both = [text for text in (gold, prediction) if text.key not in places]
            packed = {text.key: _packed_plan(text, strings) for text in both}
            steps = None if comparison is None or comparison.is_same else list(_steps(comparison))
            room -= len(ascii_json([list(packed.values()), steps], is_compact=True))
            if room < 0:
                self._left_out += 1
                continue
            for key, plan in packed.items():
                places[key] = len(plans)
                plans.append(plan)
            is_same = comparison is not None and comparison.is_same
            pairs[place] = [places[gold.key], places[prediction.key], int(is_same), steps]
        return {"strings": strings.values, "plans": plans, "pairs": pairs}

    def notes(self) -> list[str]:
        """Return the notes about plans that the page lacks; call it after `to_json`."""
        if not self._left_out:
            return []
        left = f"{self._left_out:,} of {len(self._pairs):,}"
        where = "the run folder has all of them, and `bird-harness lab explain` shows them"
        return [f"Plans of {left} pairs are left out of this page, those that do not differ first: {where}."]


def _packed_plan(text: ExplainedText, strings: Numbering) -> list[Any]:
    """Return the messages of a plan, its counters, and its steps as rows."""
    plan = text.plan
    rows = []
    for step in steps_of(plan.root) if plan.root else ():
        node = step.node
        condition = node.condition
        if condition is not None and len(condition) > _LONGEST:
            condition = f"{condition[:_LONGEST]}..."
        loops = node.loops or 1
        estimated = None if node.estimated_rows is None else node.estimated_rows * loops
        rows.append([
            step.depth, strings.of(node.label), strings.of(node.words),
            NOTHING if condition is None else strings.of(condition),
            short(estimated), short(node.all_rows), short(node.loops), short(node.cost),
        ])  # fmt: skip
    said = plan.error if plan.error is not None else plan.uncounted
    counters = None if plan.counters is None else dict(plan.counters)
    return [NOTHING if said is None else strings.of(said), counters, rows]


def _steps(comparison: PlanComparison) -> Iterator[list[int]]:
    """Yield aligned steps, each as its index in its plan, with the index of the mark."""
    for gold, prediction, mark in numbered(comparison.steps):
        yield [
            NOTHING if gold is None else gold,
            NOTHING if prediction is None else prediction,
            _MARKS.index(mark),
        ]

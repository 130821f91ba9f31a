"""Run predictions written for one engine on a neighbour whose dialect is nearly its own, as they are.

    python -m benchmarks.neighbours --of postgresql --on duckdb --predictions "$BIRD_HOME/predictions"

The databases have the types of the published dumps on both, and the reference is the set's gold for the first
engine. Questions count whose gold returns the same rows on both, so that only answers can differ. Prints
Markdown: how many golds do, EX of each predictor on both, and why answers come out otherwise. `--page` renews
the section of docs/measurements/dialect-gap.md.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, TypeGuard

import typer

from benchmarks.figures.pages import DOCS, replace_section
from dialects.enums import Profile
from dialects.errors import BadInput
from harness import Evaluator, Triple
from harness.data.answers import Extract
from harness.data.outcomes import Judgement, Outcome
from harness.data.predictions import read_predictions
from harness.data.questions import Question, QuestionSet
from harness.data.sets.loader import load_set
from harness.engines import EngineKind, kind_of
from harness.engines.base import Engine
from harness.engines.errors import ErrorClass
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.metrics.statistics import mcnemar
from harness.provision import find
from harness.report.texts import markdown_line
from loaders.bulk_load import load_each

PAGE = DOCS / "dialect-gap.md"
_MOST_IDS = 6
"""Questions that a row names."""

_REFUSALS = frozenset(
    {ErrorClass.SYNTAX, ErrorClass.UNKNOWN_TABLE, ErrorClass.UNKNOWN_COLUMN, ErrorClass.TYPE_ERROR}
)
"""Classes that say why an engine refuses a text; the others compare it with gold."""
Rows = Sequence[Sequence[object]]
SAME = "same rows"


@dataclass(frozen=True)
class Pair:
    """One text on both engines, the one that it is written for first."""

    predictor: str
    question: Question
    sql: str
    judged: Sequence[Judgement]


class Neighbours:
    """What came of the same texts on two engines.

    Raises:
        BadInput: a server is not up, or no prediction is for the first engine.
    """

    def __init__(
        self, questions: QuestionSet, kinds: Sequence[EngineKind], predictions: Sequence[Path]
    ) -> None:
        self.kinds, self._questions = kinds, questions
        self._engines = [_engine(kind, questions) for kind in kinds]
        first = kinds[0]
        self.golds = {question.key: self._gold(question) for question in questions.questions}
        found = read_predictions(
            predictions, questions, dialects=[first.name], extract=Extract.FENCES, allow_missing=True
        )
        texts = [
            (file.predictor, question, sql)
            for file in found
            for question in questions.questions
            if self.golds[question.key] == SAME and (sql := file.predictions[question.key]) is not None
        ]
        with ExitStack() as stack:
            evaluators = [
                stack.enter_context(
                    Evaluator(databases=questions.databases, dialects=kind.name, diagnose=True)
                )
                for kind in kinds
            ]
            triples = [
                Triple(question.db_id, question.gold[first.dialect], sql) for _, question, sql in texts
            ]
            sides = [evaluator.score(triples) for evaluator in evaluators]
        self.pairs = [
            Pair(predictor, question, sql, judged)
            for (predictor, question, sql), *judged in zip(texts, *sides, strict=True)
        ]

    def _gold(self, question: Question) -> str:
        """Return what becomes of a gold on the neighbour, in words."""
        here, there = self._executions(question, question.gold[self.kinds[0].dialect])
        for kind, one in zip(self.kinds, (here, there), strict=True):
            if one.ending is not Ending.ROWS:
                return (
                    f"refused by {kind.title}"
                    if one.ending is Ending.ERROR
                    else f"{one.ending} on {kind.title}"
                )
        differing = _difference(here.rows, there.rows)
        return SAME if differing is None else f"other {differing}"

    def cause(self, pair: Pair) -> str:
        """Return why two results of one text differ, in words."""
        failed = [
            f"{_failure(one)} on {kind.title}"
            for kind, one in zip(self.kinds, pair.judged, strict=True)
            if one.outcome not in (Outcome.MATCH, Outcome.MISMATCH)
        ]
        if failed:
            return "; ".join(failed)
        here, there = self._executions(pair.question, pair.sql)
        differing = _difference(here.rows, there.rows)
        return "rows differ beyond six digits" if differing is None else f"rows differ in {differing}"

    def _executions(self, question: Question, sql: str) -> list[Execution]:
        database = self._questions.database(question.db_id, Profile.OFFICIAL)
        return [execute(engine, database, sql, Limits()) for engine in self._engines]


def _engine(kind: EngineKind, questions: QuestionSet) -> Engine:
    if not kind.has_server:
        return kind.make(None, pooled=True)
    if (server := find(kind.dialect)) is None:
        raise BadInput(f"{kind.title} is not up: make up")
    load_each([questions.database(db_id, Profile.OFFICIAL) for db_id in questions.db_ids], server)
    return kind.make(server, pooled=True)


def _failure(judged: Judgement) -> str:
    if judged.outcome is Outcome.PREDICTION_ERROR:
        words = judged.error_class if judged.error_class in _REFUSALS else "other error"
        return f"refused ({words.replace('_', ' ')})"
    return judged.outcome.replace("_", " ")


def _difference(first: Rows, second: Rows) -> str | None:
    """Return in what two results differ as sets of rows; None if in nothing."""
    if {tuple(map(_plain, row)) for row in first} == {tuple(map(_plain, row)) for row in second}:
        return None
    if len(first) != len(second):
        return "number"
    kept = [Counter(tuple(map(_without_number, row)) for row in rows) for rows in (first, second)]
    return "numbers" if kept[0] == kept[1] else "values"


def _plain(value: object) -> object:
    if not _is_number(value):
        return str(value)
    # A REAL has six digits for sure, and one driver hands out more of them than the other.
    return value if value == value // 1 else f"{value:.6g}"


def _without_number(value: object) -> object:
    return None if _is_number(value) else str(value)


def _is_number(value: object) -> TypeGuard[int | float | Decimal]:
    return isinstance(value, int | float | Decimal)


def golds(found: Neighbours) -> Iterator[str]:
    """Yield a table: what becomes of the first engine's golds on the second."""
    yield markdown_line(["gold", "questions"])
    yield "|---|--:|"
    for words, count in Counter(found.golds.values()).most_common():
        yield markdown_line([words, str(count)])


def scores(found: Neighbours) -> Iterator[str]:
    """Yield a table: EX of each predictor on both engines, and what changed."""
    first, second = (kind.title for kind in found.kinds)
    yield markdown_line(["predictor", f"EX, {first}", f"EX, {second}", "lost", "won", "p", "other outcome"])
    yield "|---" + "|--:" * 6 + "|"
    by_predictor = defaultdict(list)
    for pair in found.pairs:
        by_predictor[pair.predictor].append(pair)
    for predictor, pairs in [*by_predictor.items(), ("all", found.pairs)]:
        a, b = ([pair.judged[side].outcome is Outcome.MATCH for pair in pairs] for side in (0, 1))
        test = mcnemar(a, b)
        percents = [f"{100 * sum(side) / len(side):.2f}" for side in (a, b)]
        # The predictors answer the same questions: all together are no sample of independent pairs.
        p = "" if predictor == "all" else "< 0.001" if test.p < 0.001 else f"{test.p:.3f}"  # noqa: PLR2004
        other = sum(pair.judged[0].outcome is not pair.judged[1].outcome for pair in pairs)
        yield markdown_line(
            [predictor, *percents, str(test.only_first), str(test.only_second), p, str(other)]
        )


def causes(found: Neighbours) -> Iterator[str]:
    """Yield a table: why outcomes differ, and how many right answers each cause takes and gives."""
    rows = defaultdict(list)
    for pair in found.pairs:
        if pair.judged[0].outcome is not pair.judged[1].outcome:
            rows[found.cause(pair)].append(pair)
    yield markdown_line(["cause", "pairs", "lost", "won", "questions"])
    yield "|---" + "|--:" * 3 + "|---|"
    for cause, pairs in sorted(rows.items(), key=lambda row: (-len(row[1]), row[0])):
        lost, won = (sum(pair.judged[side].outcome is Outcome.MATCH for pair in pairs) for side in (0, 1))
        common = Counter(str(pair.question.question_id) for pair in pairs).most_common()
        named = [key for key, _ in common[:_MOST_IDS]]
        more = f", {len(common) - len(named)} more" if len(common) > len(named) else ""
        yield markdown_line([cause, str(len(pairs)), str(lost), str(won), ", ".join(named) + more])


def main(
    of: Annotated[str, typer.Option(help="Engine that the predictions are written for.")],
    on: Annotated[str, typer.Option(help="Its neighbour.")],
    predictions: Annotated[list[Path], typer.Option(help="Prediction file or folder; repeatable.")],
    set_name: Annotated[
        str, typer.Option("--set", help="Question set with gold for the first.")
    ] = "mini_dev",
    *,
    page: Annotated[bool, typer.Option("--page", help="Renew the section of the page.")] = False,
) -> None:
    """Print both tables."""
    found = Neighbours(load_set(set_name), [kind_of(of), kind_of(on)], predictions)
    text = "".join(f"{line}\n" for line in ("", *golds(found), "", *scores(found), "", *causes(found), ""))
    print(text, end="")
    if page:
        replace_section(PAGE, f"{of} on {on}", text)
        print(PAGE)


if __name__ == "__main__":
    typer.run(main)

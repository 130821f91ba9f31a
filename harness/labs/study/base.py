"""The analyses of `study`: what one is, and its input.

An analysis is a record. `of_units` makes one of three functions: which units there are, what one of them
comes to, and which tables and charts show them all.

    ANALYSIS = of_units("empty", "Golds without rows", units, measure, tables)

Where later units hang on earlier ones, `run` does it all: it measures, and yields a `TableModel` or a
`BarChart` as soon as one is whole. A chart belongs to the table before it.

`harness.analyses.units` keeps what is measured.

Texts of a table (verdicts, names of indexes) are labels of its rows; cells are figures. `TableRow.level` says
in `tables.json` and `tables.csv` which row it is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from harness.analyses.bench import Bench
from harness.analyses.units import Units
from harness.data.outcomes import Outcome, PairResult
from harness.data.predictions import PredictionFile
from harness.data.published_sets import Provenance
from harness.data.questions import Question, QuestionSet
from harness.engines import EngineName, dialect_of
from harness.engines.base import Engine
from harness.report.table_model import TableModel
from harness.scoring.golds import NoGold
from harness.scoring.tasks import Setup
from harness.session.evaluation import Evaluation
from loaders.base.processes import Memo
from loaders.server import Server

Item = TypeVar("Item")


# What an analysis shows next to tables.


class ChartBar(NamedTuple):
    """One bar: `figure` is printed next to it; the interval encloses its value, None if unknown."""

    name: str
    value: float
    figure: str
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class BarChart:
    """Horizontal bars on one axis that begins at 0; a line marks the value `reference`."""

    title: str
    bars: tuple[ChartBar, ...]
    reference: float | None = None


Output = TableModel | BarChart


# What units are measured on.


@dataclass(frozen=True)
class RightPair:
    """A prediction whose rows are its gold's, with both texts as the engine runs them."""

    dialect: EngineName
    predictor: str
    question: Question
    sql: str
    gold: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The name under which its units are stored."""
        return self.dialect, self.predictor, self.question.key


@dataclass(frozen=True, kw_only=True)
class StudyContext(Bench, Units):
    """The input of an analysis.

    `sets`: the first is `questions`, those that were chosen, whose databases are loaded in `profile`; of the
    others only the databases matter, which are the same at other scales, and who looks at them brings them
    onto the engines (`harness.labs.study.copies`). `whole` are the same with all questions of the
    first. `timed_engine` has an engine whose sessions are new, as times are taken. `servers` has the
    administrating account of each engine that has servers. `files` are the predictions, for the engines alone
    that are here; they may be none. `with_times`: whether the user wants times where counted work would do.
    """

    sets: Sequence[QuestionSet]
    whole: Sequence[QuestionSet]
    setup: Setup
    servers: Mapping[EngineName, Server]
    files: Sequence[PredictionFile]
    evaluation: Evaluation
    provenance: Mapping[str, Provenance]
    folder: Path
    with_times: bool = False
    _shared: Memo = field(default_factory=Memo, repr=False)

    def timed_engine(self, name: EngineName) -> Engine:
        """Return the engine as times are taken on it: see `harness.scoring.timing.measure`."""
        return self.setup.engine(name)

    def gold(self, question: Question, name: EngineName) -> str | None:
        """Return the text of a question's first gold on an engine; None if there is none, or no database.

        It is the published one, or SQLite's translated.
        """
        if (name, question.db_id) in self.missing_databases:
            return None
        try:
            return self.evaluation.plan.golds.text(question.each(dialect_of(name))[0], name)
        except NoGold:
            return None

    def results(self) -> Sequence[PairResult]:
        """Return the outcome of every prediction (`ex`), judged once for all analyses and stored."""
        found: Sequence[PairResult] = self._shared("results", self._judged)
        return found

    def _judged(self) -> list[PairResult]:
        pairs = self.evaluation.pairs
        with self.progress.judging(len(pairs)) as judged:
            return list(self.evaluation.results(pairs, lambda *_: judged()))

    def right_pairs(self) -> list[RightPair]:
        """Return the predictions with gold's rows, in the order of engines, predictors and questions."""
        found = []
        for one in self.results():
            question = self.questions.by_key[one.question]
            if one.outcome is Outcome.MATCH and one.sql is not None:
                gold = question.each(dialect_of(one.dialect))[one.gold_index]
                text = self.evaluation.plan.golds.text(gold, one.dialect)
                found.append(RightPair(one.dialect, one.predictor, question, one.sql, text))
        return found


# The contract.


@dataclass(frozen=True)
class Analysis:
    """One analysis.

    Args:
        name: what the command line calls it.
        title: heads its tables.
        run: measures and yields what is to be shown.
        needs_predictions: it means nothing without prediction files.
        needs_quiet: it takes times, so nothing else should run on the machine and the servers.
    """

    name: str
    title: str
    run: Callable[[StudyContext], Iterator[Output]]
    needs_predictions: bool = False
    needs_quiet: bool = False


def of_units(
    name: str,
    title: str,
    units: Callable[[StudyContext], Iterable[tuple[Sequence[str], Item]]],
    measure: Callable[[StudyContext, Item], Any],
    tables: Callable[[StudyContext, Sequence[tuple[Item, Any]]], Iterable[Output]],
    **needs: bool,
) -> Analysis:
    """Return an analysis whose units are independent; they are measured in parallel.

    Args:
        name: see `Analysis`.
        title: see `Analysis`.
        units: the keys of all units, each with what is measured.
        measure: takes the measurement of one unit; plain values, which JSON holds.
        tables: what is shown of all units, in their order, each with its value.
        needs: `needs_predictions` and `needs_quiet`; see `Analysis`.
    """

    def run(context: StudyContext) -> Iterator[Output]:
        measured = context.all(units(context), partial(measure, context), context.workers)
        yield from tables(context, measured)

    return Analysis(name, title, run, **needs)

"""The contract between the study and its parts.

A part is a module in `harness.analyses.study.parts` with a record `PART`; nothing else lists it. Its `run`
is a generator: it measures, and yields a `TableModel` or a `BarChart` as soon as one is whole. A chart stands
with the table before it. On the page, columns of kind PERCENT of short tables are drawn by themselves.

    def run(context: StudyContext) -> Iterator[StudyOutput]:
        pairs = context.right_pairs()
        context.expect(len(pairs))
        for pair in pairs:
            work = context.unit(("work", *pair.key), lambda: measure(...))
        yield TableModel(...)

    PART = Part("e6", "Counted work", run, needs_predictions=True)

Everything that is measured goes through `StudyContext.unit`: its value is on disk before it returns, and a
study that goes on returns it without measuring again. A value is what JSON holds, and comes back as JSON
gives it (tuples as lists), whether it was measured now or then. What follows from units is computed anew.
So a part may be broken off at any unit: by Ctrl-C, by an engine that is lost, by the end of its process.

Texts of a table (verdicts, names of indexes) are labels of its rows; cells are figures. `TableRow.level` says
in `tables.json` and `tables.csv` which row it is.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.analyses.study.journal import Journal, StudyProgress
from harness.data.outcomes import Outcome, PairResult
from harness.data.predictions import PredictionFile
from harness.data.questions import Question, QuestionSet
from harness.engines import EngineName, dialect_of
from harness.engines.base import Engine
from harness.engines.execution import Limits
from harness.report.table_model import TableModel
from harness.scoring.tasks import Golds, NoGold, Setup
from harness.session.evaluation import Evaluation
from loaders.namespace import Database
from loaders.server import Server


@dataclass(frozen=True)
class Bar:
    """One bar: `figure` is printed beside it; `low` and `high` enclose its value where that is known."""

    name: str
    value: float
    figure: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class BarChart:
    """Horizontal bars on one axis that begins at 0; `reference` is a value at which a line stands."""

    title: str
    bars: tuple[Bar, ...]
    reference: float | None = None


StudyOutput = TableModel | BarChart


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
        """What its units are filed under."""
        return self.dialect, self.predictor, self.question.key


class Shared:
    """What parts of one study have in common, computed when the first of them asks."""

    _results: Sequence[PairResult] | None = None

    def results(self, evaluation: Evaluation, progress: StudyProgress) -> Sequence[PairResult]:
        """See `StudyContext.results`."""
        if self._results is None:
            with progress.judging(len(evaluation.pairs)) as judged:
                futures = evaluation.begin(evaluation.pairs, lambda *_: judged())
                self._results = list(evaluation.results(evaluation.pairs, futures))
        return self._results


@dataclass(frozen=True)
class StudyContext:
    """What a part is given.

    `sets`: the first is the one that is studied, with the questions that were chosen, whose databases are
    loaded in `profile`; of the others only the databases matter, which are the same at other scales, and a
    part that looks at them brings them onto the engines itself (`harness.efficiency.indexing.copies`).
    `whole` are the same with all questions of the first. `engines` use connections again; `timed_engine` has
    one whose sessions are new, as times are taken. `servers` has the administrating account of each engine
    that has servers.
    `files` are the predictions, for the engines alone that are here; they may be none.
    `with_times`: whether the user wants times where counted work would do.
    """

    part: str
    sets: Sequence[QuestionSet]
    whole: Sequence[QuestionSet]
    setup: Setup
    engines: Mapping[EngineName, Engine]
    servers: Mapping[EngineName, Server]
    files: Sequence[PredictionFile]
    evaluation: Evaluation
    synthetic: frozenset[str]
    journal: Journal
    progress: StudyProgress
    folder: Path
    say: Callable[[str], None]
    with_times: bool = False
    shared: Shared = field(default_factory=Shared)

    @property
    def questions(self) -> QuestionSet:
        """The set that is studied, with the chosen questions."""
        return self.sets[0]

    @property
    def limits(self) -> Limits:
        """What one SQL text may use."""
        return self.setup.limits

    def database(self, db_id: str) -> Database:
        """A database of the set, where it stands on every engine."""
        return self.questions.database(db_id, self.setup.profile)

    def timed_engine(self, name: EngineName) -> Engine:
        """The engine as times are taken on it: see `harness.scoring.timing.measure`."""
        return self.setup.engine(name)

    def gold(self, question: Question, name: EngineName) -> str | None:
        """The text of a question's first gold on an engine; None where there is none, or no database.

        It is the published one, or SQLite's translated.
        """
        if (name, question.db_id) in self.setup.unloaded:
            return None
        try:
            return self.golds.text(question.each(dialect_of(name))[0], name)
        except NoGold:
            return None

    @property
    def golds(self) -> Golds:
        """The references of the set, by engine."""
        return self.evaluation.golds

    def expect(self, units: int) -> None:
        """Say how many more units the part is going to ask for."""
        self.progress.expect(units)

    def unit(self, key: Sequence[str], measure: Callable[[], Any]) -> Any:
        """A value that is measured once in the life of a study.

        Args:
            key: names it within the part.
            measure: takes the measurement; what it returns is plain values, which JSON holds.

        Returns:
            What it returned, as JSON gives it back.
        """
        found = self.journal.find(self.part, key)
        if found is None:
            found = self.journal.add(self.part, key, json.loads(json.dumps(measure())))
        self.progress.advance()
        return found.value

    def has(self, key: Sequence[str]) -> bool:
        """Whether a unit has been measured, so that nothing has to be prepared for it."""
        return self.journal.find(self.part, key) is not None

    def results(self) -> Sequence[PairResult]:
        """What became of every prediction (`ex`); judged once for all parts, with the result store."""
        return self.shared.results(self.evaluation, self.progress)

    def right_pairs(self) -> list[RightPair]:
        """The predictions whose rows are their gold's, in the order of engines, predictors and questions."""
        found = []
        for one in self.results():
            question = self.questions.by_key[one.question]
            if one.outcome is Outcome.MATCH and one.sql is not None:
                gold = question.each(dialect_of(one.dialect))[one.gold_index]
                text = self.golds.text(gold, one.dialect)
                found.append(RightPair(one.dialect, one.predictor, question, one.sql, text))
        return found


@dataclass(frozen=True)
class Part:
    """One part of the study.

    Args:
        name: `e1`, `e2`, ...: what `--part` calls it.
        title: heads its tables.
        run: measures and yields what is to be shown.
        needs_predictions: it means nothing without prediction files.
        needs_quiet: it takes times, so nothing else should run on the machine and the servers.
    """

    name: str
    title: str
    run: Callable[[StudyContext], Iterator[StudyOutput]]
    needs_predictions: bool = False
    needs_quiet: bool = False

    @cached_property
    def head(self) -> str:
        """What stands before the titles of its tables."""
        return f"{self.name.upper()} {self.title}"

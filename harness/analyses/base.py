"""What an analysis is, and what all analyses share beside `bench`: progress, the journal, the context.

An analysis is a record. `of_units` makes one of three functions: which units there are, what one of them
comes to, and which tables and charts show them all.

    ANALYSIS = of_units("empty", "Golds without rows", units, measure, tables)

Where later units hang on earlier ones, `run` does it all: it measures, and yields a `TableModel` or a
`BarChart` as soon as one is whole. A chart stands with the table before it.

Whatever goes through `Context.unit` is on disk before it returns, and an analysis that goes on returns it
without measuring again. A value is what JSON holds, and comes back as JSON gives it (tuples as lists),
whether it was measured now or then. What follows from units is computed anew. So an analysis may be broken
off at any unit: by Ctrl-C, by an engine that is lost, by the end of its process.

Texts of a table (verdicts, names of indexes) are labels of its rows; cells are figures. `TableRow.level` says
in `tables.json` and `tables.csv` which row it is.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Self, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from dialects.errors import BadInput
from harness.analyses.bench import Bench
from harness.data.outcomes import Outcome, PairResult
from harness.data.predictions import PredictionFile
from harness.data.questions import Question, QuestionSet
from harness.engines import EngineName, dialect_of
from harness.engines.base import Engine
from harness.report.table_model import TableModel
from harness.scoring.tasks import NoGold, Setup
from harness.session.evaluation import Evaluation
from loaders.base.files import locked
from loaders.base.processes import Memo
from loaders.base.records import Recorder, to_record
from loaders.server import Server

Item = TypeVar("Item")


# What an analysis shows beside tables.


class Bar(NamedTuple):
    """One bar: `figure` is printed beside it; the interval encloses its value where that is known."""

    name: str
    value: float
    figure: str
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class BarChart:
    """Horizontal bars on one axis that begins at 0; `reference` is a value at which a line stands."""

    title: str
    bars: tuple[Bar, ...]
    reference: float | None = None


Output = TableModel | BarChart


# Progress.


_TENTHS = 10
"""Where there is no terminal, a line is said so many times a stage."""


class Progress:
    """How far an analysis is: a bar with the time left on a terminal, a line now and then elsewhere.

    Args:
        console: shows the bar, if it is a terminal.
        say: takes the lines where it is none.
    """

    def __init__(self, console: Console, say: Callable[[str], None]) -> None:
        self._say = say
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None
        self._lock = Lock()
        self.stage = ""
        self.done = self.expected = 0

    def begin(self, stage: str, title: str) -> None:
        """Go on to a stage."""
        self.end()
        self.stage, self.done, self.expected = stage, 0, 0
        self._task = self._bars.add_task(f"{stage}: {title}", total=None)
        if self._bars.disable:
            self._say(f"{stage}: {title}")

    def end(self) -> None:
        """The stage is done."""
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None

    def expect(self, units: int) -> None:
        """So many more units are to come."""
        self.expected += units
        if self._task is not None:
            self._bars.update(self._task, total=self.expected)

    def advance(self) -> None:
        """One unit is done; thread-safe."""
        with self._lock:
            self.done += 1
            if self._task is not None:
                self._bars.update(self._task, completed=self.done)
            if self._bars.disable and self.expected >= self.done:
                before, now = (_TENTHS * done // self.expected for done in (self.done - 1, self.done))
                if now > before:
                    self._say(f"{self.stage}: {self.done} of {self.expected}")

    @contextmanager
    def judging(self, total: int) -> Iterator[Callable[[], None]]:
        """While predictions are judged; what it gives is called for each of them."""
        task = self._bars.add_task("judging predictions", total=total)
        if self._bars.disable:
            self._say(f"judging {total} predictions")
        try:
            yield lambda: self._bars.update(task, advance=1)
        finally:
            self._bars.remove_task(task)

    @property
    def far(self) -> str:
        """How far it came, for who breaks it off."""
        if not self.stage:
            return "before the first part"
        return f"in {self.stage}, after {self.done} of {max(self.expected, self.done)} units"

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()


# The journal: every measured unit is on disk before anything is made of it.

JOURNAL = "journal.jsonl"
"""In the folder of an analysis: a line a unit, `part`, `key` and `value`."""


@dataclass(frozen=True)
class Unit:
    """One measured unit; the value may be None."""

    part: str
    key: Sequence[str]
    value: Any


class Journal:
    """The journal of one folder, written by one process at a time; thread-safe.

    A last line that was cut off is dropped.

    Args:
        folder: of the analysis; it has to be there.

    Raises:
        BadInput: a line is no unit, or another process writes it.
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = locked(folder)
        try:
            self._recorder = Recorder(folder / JOURNAL)
            remedy = "delete that line, and it is measured again"
            units = self._recorder.read(partial(to_record, Unit), remedy, "measured unit")
            self._units = {(unit.part, *unit.key): unit for unit in units}
        except BaseException:
            os.close(self._lock)
            raise

    def find(self, part: str, key: Sequence[str]) -> Unit | None:
        """A unit that has been measured."""
        return self._units.get((part, *key))

    def add(self, unit: Unit) -> Unit:
        """Keep a unit.

        Raises:
            BadInput: it cannot be written.
        """
        try:
            self._recorder.add({"part": unit.part, "key": list(unit.key), "value": unit.value})
        except OSError as error:
            why = f"cannot be written ({error.strerror}); make room, and go on with --resume"
            raise BadInput(f"{self._recorder.path}: {why}") from error
        self._units[unit.part, *unit.key] = unit
        return unit

    def close(self) -> None:
        """Let others write the folder."""
        self._recorder.close()
        os.close(self._lock)


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
        """What its units are filed under."""
        return self.dialect, self.predictor, self.question.key


@dataclass(frozen=True, kw_only=True)
class Context(Bench):
    """What an analysis is given.

    `sets`: the first is `questions`, those that were chosen, whose databases are loaded in `profile`; of the
    others only the databases matter, which are the same at other scales, and who looks at them brings them
    onto the engines (`harness.analyses.study.copies`). `whole` are the same with all questions of the
    first. `timed_engine` has an engine whose sessions are new, as times are taken. `servers` has the
    administrating account of each engine that has servers. `files` are the predictions, for the engines alone
    that are here; they may be none. `with_times`: whether the user wants times where counted work would do.
    """

    part: str
    sets: Sequence[QuestionSet]
    whole: Sequence[QuestionSet]
    setup: Setup
    servers: Mapping[EngineName, Server]
    files: Sequence[PredictionFile]
    evaluation: Evaluation
    synthetic: frozenset[str]
    journal: Journal
    progress: Progress
    folder: Path
    with_times: bool = False
    _shared: Memo = field(default_factory=Memo, repr=False)

    def timed_engine(self, name: EngineName) -> Engine:
        """The engine as times are taken on it: see `harness.scoring.timing.measure`."""
        return self.setup.engine(name)

    def gold(self, question: Question, name: EngineName) -> str | None:
        """The text of a question's first gold on an engine; None where there is none, or no database.

        It is the published one, or SQLite's translated.
        """
        if (name, question.db_id) in self.unloaded:
            return None
        try:
            return self.evaluation.golds.text(question.each(dialect_of(name))[0], name)
        except NoGold:
            return None

    def expect(self, units: int) -> None:
        """Say how many more units the analysis is going to ask for."""
        self.progress.expect(units)

    def unit(self, key: Sequence[str], measure: Callable[[], Any]) -> Any:
        """A value that is measured once in the life of an analysis.

        Args:
            key: names it within the analysis.
            measure: takes the measurement; what it returns is plain values, which JSON holds.

        Returns:
            What it returned, as JSON gives it back.
        """
        found = self.journal.find(self.part, key)
        if found is None:
            found = self.journal.add(Unit(self.part, key, json.loads(json.dumps(measure()))))
        self.progress.advance()
        return found.value

    def has(self, key: Sequence[str]) -> bool:
        """Whether a unit has been measured, so that nothing has to be prepared for it."""
        return self.journal.find(self.part, key) is not None

    def results(self) -> Sequence[PairResult]:
        """What became of every prediction (`ex`); judged once for all analyses, with the result store."""
        found: Sequence[PairResult] = self._shared("results", self._judged)
        return found

    def _judged(self) -> list[PairResult]:
        pairs = self.evaluation.pairs
        with self.progress.judging(len(pairs)) as judged:
            futures = self.evaluation.begin(pairs, lambda *_: judged())
            return list(self.evaluation.results(pairs, futures))

    def right_pairs(self) -> list[RightPair]:
        """The predictions whose rows are their gold's, in the order of engines, predictors and questions."""
        found = []
        for one in self.results():
            question = self.questions.by_key[one.question]
            if one.outcome is Outcome.MATCH and one.sql is not None:
                gold = question.each(dialect_of(one.dialect))[one.gold_index]
                text = self.evaluation.golds.text(gold, one.dialect)
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
    run: Callable[[Context], Iterator[Output]]
    needs_predictions: bool = False
    needs_quiet: bool = False


def of_units(
    name: str,
    title: str,
    units: Callable[[Context], Iterable[tuple[Sequence[str], Item]]],
    measure: Callable[[Context, Item], Any],
    tables: Callable[[Context, Sequence[tuple[Item, Any]]], Iterable[Output]],
    **needs: bool,
) -> Analysis:
    """An analysis whose units do not hang on each other; they are measured side by side.

    Args:
        name: see `Analysis`.
        title: see `Analysis`.
        units: the keys of all units, each with what is measured.
        measure: takes the measurement of one unit; plain values, which JSON holds.
        tables: what is shown of all units, in their order, each with its value.
        needs: `needs_predictions` and `needs_quiet`; see `Analysis`.
    """

    def run(context: Context) -> Iterator[Output]:
        asked = list(units(context))
        context.expect(len(asked))

        def one(keyed: tuple[Sequence[str], Item]) -> tuple[Item, Any]:
            key, item = keyed
            return item, context.unit(key, lambda: measure(context, item))

        yield from tables(context, list(context.each(one, asked)))

    return Analysis(name, title, run, **needs)

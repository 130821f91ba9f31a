"""What parts measure of right predictions beside their golds: work and times, once for all parts."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Any

from harness.analyses.base import Context, RightPair
from harness.engines import EngineName, dialect_of
from harness.engines.base import Engine, SqlError, SqlTimeout, SqlTooLarge
from harness.engines.execution import Ending, Limits, NotCounted, count_work, execute
from harness.engines.plans import PlanNode, explain
from harness.metrics.efficiency import Timing, same_text
from harness.metrics.work import ratio, units
from harness.scoring.tasks import TimingTask
from harness.scoring.timing import Method
from harness.scoring.workers import LocalWorkers
from loaders.namespace import Database

# What parts measure of a text, as plain values: counted work, its plan, its rows as a digest.


def counted(engine: Engine, database: Database, text: str, limits: Limits) -> dict[str, Any]:
    """The counters of one execution (`counters`), or the ending it came to (`ending`) and why (`error`).

    Raises:
        EngineLost: the engine is to blame.
    """
    try:
        work = count_work(engine, database, text, limits)
    except SqlTimeout as error:
        return {"ending": Ending.TIMEOUT, "error": error.message}
    except SqlTooLarge as error:
        return {"ending": Ending.TOO_LARGE, "error": error.message}
    except SqlError as error:
        return {"ending": Ending.ERROR, "error": error.message}
    if isinstance(work, NotCounted):
        return {"ending": Ending.ERROR, "error": work.reason}
    return {"counters": dict(work.counters)}


def work_of(engine: EngineName, record: Mapping[str, Any]) -> float | None:
    """The work that `counted` has found, in `units`; None where the text did not come to its end."""
    counters = record.get("counters")
    return None if counters is None else units(dialect_of(engine), counters)


def plan_of(engine: Engine, database: Database, text: str, limits: Limits) -> PlanNode | None:
    """The plan as the optimizer estimates it, without running the text; None where there is none."""
    return explain(engine, database, text, limits, is_run=False).root


def indexes_of(root: PlanNode | None) -> frozenset[str]:
    """The names of the indexes in a plan."""
    return frozenset() if root is None else frozenset(node.index for node in root.walk() if node.index)


def outline(root: PlanNode | None) -> str:
    """A plan in one line: its steps by the words that are the same for every engine, tables and indexes."""
    if root is None:
        return "none"
    on = " ".join(filter(None, (root.table, f"by {root.index}" if root.index else None)))
    children = ", ".join(map(outline, root.children))
    return f"{root.operator}{f' {on}' if on else ''}{f' ({children})' if children else ''}"


def rows_digest(engine: Engine, database: Database, text: str, limits: Limits) -> str:
    """A digest of the rows as a bag, or the ending; of fractions nine digits: sums depend on their order."""
    execution = execute(engine, database, text, limits)
    if execution.ending is not Ending.ROWS:
        return execution.ending.value
    rows = sorted(
        repr([f"{value:.9g}" if isinstance(value, float) else str(value) for value in row])
        for row in execution.rows
    )
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]


UNITS = "pairs"
"""What the units are filed under in the journal, whichever part asks for them first."""


def text_digest(sql: str) -> str:
    """What a text is called in keys and files."""
    return sha256(sql.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class CountedText:
    """A text whose work is counted, on an engine and a database."""

    dialect: EngineName
    db_id: str
    sql: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What its units are filed under."""
        return self.dialect, self.db_id, text_digest(self.sql)


@dataclass
class PairMeasures:
    """Measures pairs; `close` it, and the process that takes times ends.

    Equal texts about one question are measured once, whosever they are.
    """

    context: Context
    _workers: list[LocalWorkers] = field(default_factory=list)
    _engines: dict[EngineName, Engine] = field(default_factory=dict)

    @property
    def pairs(self) -> list[RightPair]:
        """The right predictions, but for those whose gold runs on another engine."""
        return [
            pair
            for pair in self.context.right_pairs()
            if dialect_of(pair.dialect) not in pair.question.by_rows
        ]

    def counters(self, text: CountedText, count: int = 0) -> dict[str, Any]:
        """What `measuring.counted` finds in a new session; `count` tells repeated counts apart, from 0."""
        units = replace(self.context, part=UNITS)
        found: dict[str, Any] = units.unit(("work", str(count), *text.key), partial(self._counted, text))
        return found

    def tau(self, pair: RightPair) -> float | None:
        """Gold's work divided by the prediction's; None where either cannot be counted or weighed."""
        if same_text(pair.sql, pair.gold):
            return 1.0
        prediction, gold = (self.counters(text).get("counters") for text in texts_of(pair))
        if prediction is None or gold is None:
            return None
        try:
            return ratio(dialect_of(pair.dialect), prediction, gold).tau
        except LookupError:
            return None

    def timing(self, pair: RightPair, method: Method) -> Timing:
        """The times of a pair, taken in a process of its own."""
        prediction, gold = texts_of(pair)
        key = ("time", method.value, *prediction.key, text_digest(gold.sql))
        return Timing(**replace(self.context, part=UNITS).unit(key, partial(self._timed, pair, method)))

    def close(self) -> None:
        """End the process that takes times."""
        while self._workers:
            self._workers.pop().close()

    def _counted(self, text: CountedText) -> dict[str, Any]:
        if text.dialect not in self._engines:
            self._engines[text.dialect] = self.context.timed_engine(text.dialect)
        database = self.context.database(text.db_id)
        return counted(self._engines[text.dialect], database, text.sql, self.context.limits)

    def _timed(self, pair: RightPair, method: Method) -> dict[str, Any]:
        if not self._workers:
            self._workers.append(LocalWorkers(self.context.setup, 1))
        task = TimingTask(pair.dialect, pair.question.db_id, pair.sql, pair.gold, method)
        return asdict(self._workers[0].time(task).result())


def texts_of(pair: RightPair) -> tuple[CountedText, CountedText]:
    """The prediction and its gold."""
    db_id = pair.question.db_id
    return CountedText(pair.dialect, db_id, pair.sql), CountedText(pair.dialect, db_id, pair.gold)


def counted_for_tau(pairs: Sequence[RightPair]) -> int:
    """How many units `PairMeasures.tau` asks for, over all pairs."""
    return 2 * sum(not same_text(pair.sql, pair.gold) for pair in pairs)

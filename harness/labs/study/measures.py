"""The measurements of the study's parts: texts, right predictions and golds, rewritten texts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from math import floor
from typing import Any

from scipy.stats import rankdata

from harness.engines import EngineName, dialect_of
from harness.engines.base import Engine, SqlError, SqlTimeout, SqlTooLarge
from harness.engines.execution import Ending, Limits, NotCounted, count_work, execute
from harness.engines.plans import PlanNode, compare_plans, explain
from harness.labs.study.base import RightPair, StudyContext
from harness.labs.study.rewriting import RewritingProof, Rewritten, consider_all, held_keys, proven
from harness.metrics.efficiency import Timing, same_text
from harness.metrics.work import ratio, units
from harness.scoring.tasks import TimeTask, TimingMethod
from harness.scoring.timing import measure
from harness.scoring.workers import LocalWorkers
from harness.sqltree.query import HeldKeys
from loaders.namespace import Database

# What parts measure of a text, as plain values: counted work, its plan, its rows as a digest.


def counted(engine: Engine, database: Database, text: str, limits: Limits) -> dict[str, Any]:
    """Return the counters of one execution (`counters`), or how it failed (`ending`) and why (`error`).

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
    """Return the work that `counted` found, in `units`; None where the text did not finish."""
    counters = record.get("counters")
    return None if counters is None else units(dialect_of(engine), counters)


def plan_of(engine: Engine, database: Database, text: str, limits: Limits) -> PlanNode | None:
    """Return the plan as the optimizer estimates it, without running the text; None if there is none."""
    return explain(engine, database, text, limits, is_run=False).root


def indexes_of(root: PlanNode | None) -> frozenset[str]:
    """Return the names of the indexes in a plan."""
    return frozenset() if root is None else frozenset(node.index for node in root.walk() if node.index)


def outline(root: PlanNode | None) -> str:
    """Return a plan in one line: its steps in words that all engines share, tables and indexes."""
    if root is None:
        return "none"
    on = " ".join(filter(None, (root.table, f"by {root.index}" if root.index else None)))
    children = ", ".join(map(outline, root.children))
    return f"{root.operator}{f' {on}' if on else ''}{f' ({children})' if children else ''}"


def rows_digest(engine: Engine, database: Database, text: str, limits: Limits) -> str:
    """Return a digest of the rows as a bag, or the ending; fractions have nine digits: sums vary."""
    execution = execute(engine, database, text, limits)
    if execution.ending is not Ending.ROWS:
        return execution.ending.value
    rows = sorted(
        repr([f"{value:.9g}" if isinstance(value, float) else str(value) for value in row])
        for row in execution.rows
    )
    return sha256("\n".join(rows).encode()).hexdigest()[:16]


# Statistics of plans.


def q_error(estimated: float, real: float) -> float:
    """By which factor an estimate is wrong, in either direction: 1 is right.

    Less than one row counts as one, so that an empty result makes no infinity. Moerkotte, Neumann and
    Steidl 2009, "Preventing Bad Plans by Bounding the Impact of Cardinality Estimation Errors",
    doi:10.14778/1687627.1687738.

    Args:
        estimated: rows, of one execution of a step or of all.
        real: rows, of the same.
    """
    expected, came = max(estimated, 1.0), max(real, 1.0)
    return max(expected / came, came / expected)


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return the least value that at least so large a share of values does not exceed; None if there is none.

    Args:
        values: in any order.
        share: in (0, 1].
    """
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -floor(-share * len(ordered)) - 1))]


def rank_correlation(ones: Sequence[float], others: Sequence[float]) -> float | None:
    """Spearman's coefficient of pairs of values, in [-1, 1], equal values with their mean rank.

    None for fewer than three pairs, and where all values of a side are the same.

    Args:
        ones: one value of each pair.
        others: the other ones, in the same order.
    """
    if len(ones) != len(others):
        raise ValueError("both sides of a correlation have as many values")
    if len(ones) < 3 or len(set(ones)) == 1 or len(set(others)) == 1:  # noqa: PLR2004 - two lie on a line
        return None
    x, y = rankdata(ones), rankdata(others)
    x, y = x - x.mean(), y - y.mean()
    return float((x @ y) / ((x @ x) * (y @ y)) ** 0.5)


# Right predictions and their golds.

UNITS = "pairs"
"""The name of the units in the journal, for all parts."""


def text_digest(sql: str) -> str:
    """Return the name of a text in keys and files."""
    return sha256(sql.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class CountedText:
    """A text whose work is counted, on an engine and a database."""

    dialect: EngineName
    db_id: str
    sql: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The name under which its units are stored."""
        return self.dialect, self.db_id, text_digest(self.sql)


@dataclass
class PairMeasures:
    """Measures pairs; `close` it, and the process that takes times ends.

    Equal texts about one question are measured once, whosever they are.
    """

    context: StudyContext
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
        """Return `measuring.counted` of a new session; `count` numbers repeated counts from 0."""
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

    def timing(self, pair: RightPair, method: TimingMethod) -> Timing:
        """Return the times of a pair, taken in a process of its own."""
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

    def _timed(self, pair: RightPair, method: TimingMethod) -> dict[str, Any]:
        if not self._workers:
            self._workers.append(LocalWorkers(self.context.setup, 1))
        task = TimeTask(pair.dialect, pair.question.db_id, pair.sql, pair.gold, method)
        return asdict(self._workers[0].submit(task).result())


def texts_of(pair: RightPair) -> tuple[CountedText, CountedText]:
    """Return the prediction and its gold."""
    db_id = pair.question.db_id
    return CountedText(pair.dialect, db_id, pair.sql), CountedText(pair.dialect, db_id, pair.gold)


def counted_for_tau(pairs: Sequence[RightPair]) -> int:
    """Count the units that `PairMeasures.tau` needs, over all pairs."""
    return 2 * sum(not same_text(pair.sql, pair.gold) for pair in pairs)


# Texts that are rewritten, and what both cost an engine: a text is rewritten, run and counted once.

TOGETHER = "all together"
"""The name of all rules together."""


@dataclass(frozen=True)
class Variant:
    """A text that a rule made of another; `holds`: proven to return the same rows on the loaded data."""

    rule: str
    sql: str
    rules: tuple[str, ...]
    declared: bool
    """True if it holds for any data: all that it relies on is declared."""
    holds: bool
    relation: str
    """How the rows relate, in a word, or why there are none."""


@dataclass(frozen=True)
class RewrittenForms:
    """All that a text is rewritten to; `refused` are the rules that could apply somewhere and do not."""

    made: tuple[Variant, ...]
    refused: Mapping[str, tuple[str, ...]]

    @property
    def together(self) -> Variant | None:
        """The text that all rules together make of it, if it is proven."""
        return next((one for one in self.made if one.rule == TOGETHER and one.holds), None)


@dataclass
class Rewriting:
    """Rewriting and its costs as units of one part: a text is rewritten, run and counted once."""

    context: StudyContext
    _held: dict[tuple[EngineName, str], HeldKeys] = field(default_factory=dict)

    def variants(self, engine: EngineName, db_id: str, sql: str) -> RewrittenForms:
        """Return all that a text is rewritten to."""
        found = self._unit("rewritten", self._rewritten, engine, db_id, sql)
        made = [Variant(**{**one, "rules": tuple(one["rules"])}) for one in found["made"]]
        return RewrittenForms(tuple(made), {name: tuple(why) for name, why in found["refused"].items()})

    def work(self, engine: EngineName, db_id: str, sql: str) -> float | None:
        """Return units of work of a text; None if it cannot be counted."""
        return work_of(engine, self._unit("work", self._counted, engine, db_id, sql))

    def tau(self, engine: EngineName, db_id: str, sql: str, other: str) -> float | None:
        """Work of a text divided by that of another one."""
        first, second = self.work(engine, db_id, sql), self.work(engine, db_id, other)
        return first / second if first is not None and second else None

    def is_same_plan(self, engine: EngineName, db_id: str, sql: str, other: str) -> bool | None:
        """True if the optimizer makes the same plan of two texts; None if it returns none."""
        found: bool | None = self._unit("same plan", self._is_same_plan, engine, db_id, sql, other)
        return found

    def timing(self, engine: EngineName, db_id: str, sql: str, other: str) -> Mapping[str, Any]:
        """Return the `Timing` of a second text and a first one as plain values: `tau`, `reward` and so on."""
        found: Mapping[str, Any] = self._unit("time", self._timing, engine, db_id, sql, other)
        return found

    def _unit(
        self, what: str, measure: Callable[..., Any], engine: EngineName, db_id: str, *texts: str
    ) -> Any:
        key = what, engine, db_id, *(sha256(text.encode()).hexdigest()[:16] for text in texts)
        return self.context.unit(key, partial(measure, engine, db_id, *texts))

    def _counted(self, engine: EngineName, db_id: str, sql: str) -> dict[str, Any]:
        return counted(self.context.engines[engine], self.context.database(db_id), sql, self.context.limits)

    def _rewritten(self, engine: EngineName, db_id: str, sql: str) -> dict[str, Any]:
        dialect, schema = dialect_of(engine), self.context.schema(db_id, engine)
        held = self._held_keys(engine, db_id)
        profile = self.context.setup.profile
        found, last = consider_all(sql, schema, dialect, profile=profile, held=held)
        texts = [(one.rule.name, one.rewritten) for one in found if one.rewritten is not None]
        if last is not None:
            texts.append((TOGETHER, last))
        refused = {one.rule.name: one.refused for one in found if one.refused and one.rewritten is None}
        made = []
        before = None
        for rule, text in texts:
            proof = self._proof(engine, db_id, text, before)
            before = proof.original
            made.append(asdict(_variant(rule, text, proof)))
        return {"made": made, "refused": refused}

    def _proof(self, engine: EngineName, db_id: str, text: Rewritten, before: Any) -> RewritingProof:
        database = self.context.database(db_id)
        return proven(
            self.context.engines[engine], database, text.original, text, self.context.limits, before
        )

    def _is_same_plan(self, engine: EngineName, db_id: str, sql: str, other: str) -> bool | None:
        database, limits = self.context.database(db_id), self.context.limits
        plans = [plan_of(self.context.engines[engine], database, text, limits) for text in (sql, other)]
        if plans[0] is None or plans[1] is None:
            return None
        return compare_plans(plans[0], plans[1]).is_same

    def _timing(self, engine: EngineName, db_id: str, sql: str, other: str) -> dict[str, Any]:
        database, limits = self.context.database(db_id), self.context.limits
        timed = self.context.timed_engine(engine)
        return asdict(measure(timed, database, other, sql, TimingMethod.STABLE, limits))

    def _held_keys(self, engine: EngineName, db_id: str) -> HeldKeys:
        if (engine, db_id) not in self._held:
            self._held[engine, db_id] = held_keys(
                self.context.engines[engine],
                self.context.database(db_id),
                self.context.schema(db_id, engine),
                self.context.limits,
            )
        return self._held[engine, db_id]


def _variant(rule: str, text: Rewritten, proof: RewritingProof) -> Variant:
    relation = proof.error or (
        "same order"
        if proof.same_order
        else "same bag"
        if proof.same_bag
        else "same set"
        if proof.same_set
        else "other rows"
    )
    return Variant(rule, text.sql, text.rules, text.holds_for_any_data, proof.holds, relation)

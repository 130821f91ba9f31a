"""What parts measure of rewriting: a text with all that it is rewritten to, and what both cost an engine."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any

from dialects.schema import Schema
from harness.analyses.base import Context
from harness.analyses.rewriting import Proof, Rewritten, consider_all, held_keys, proven
from harness.analyses.study.pair_measures import counted, plan_of, work_of
from harness.engines import EngineName, dialect_of
from harness.engines.plans import compare_plans
from harness.scoring.timing import Method, measure
from harness.sqltree.query import HeldKeys
from loaders.census import census

TOGETHER = "all together"
"""What stands for the rule where all have been applied."""


@dataclass(frozen=True)
class Variant:
    """A text that a rule made of another; `holds`: proven to return the same rows on the loaded data."""

    rule: str
    sql: str
    rules: tuple[str, ...]
    declared: bool
    """Whether it holds for any data: all that it relies on is declared."""
    holds: bool
    relation: str
    """How the rows relate, in a word, or why there are none."""


@dataclass(frozen=True)
class Variants:
    """All that a text is rewritten to; `refused` are the rules that could apply somewhere and do not."""

    made: tuple[Variant, ...]
    refused: Mapping[str, tuple[str, ...]]

    @property
    def together(self) -> Variant | None:
        """What all rules together make of it, if it is proven."""
        return next((one for one in self.made if one.rule == TOGETHER and one.holds), None)


@dataclass
class Rewriting:
    """Rewriting and its costs as units of one part: a text is rewritten, run and counted once."""

    context: Context
    _known: dict[str, Schema] = field(default_factory=dict)
    _held: dict[tuple[EngineName, str], HeldKeys] = field(default_factory=dict)

    def variants(self, engine: EngineName, db_id: str, sql: str) -> Variants:
        """All that a text is rewritten to."""
        found = self.context.unit(
            _key("rewritten", engine, db_id, sql), partial(self._rewritten, engine, db_id, sql)
        )
        made = [Variant(**{**one, "rules": tuple(one["rules"])}) for one in found["made"]]
        return Variants(tuple(made), {name: tuple(why) for name, why in found["refused"].items()})

    def work(self, engine: EngineName, db_id: str, sql: str) -> float | None:
        """Units of work of a text; None where it cannot be counted."""
        target, database = self.context.engines[engine], self.context.database(db_id)
        record = self.context.unit(
            _key("work", engine, db_id, sql), partial(counted, target, database, sql, self.context.limits)
        )
        return work_of(engine, record)

    def tau(self, engine: EngineName, db_id: str, sql: str, other: str) -> float | None:
        """Work of a text divided by that of another one."""
        first, second = self.work(engine, db_id, sql), self.work(engine, db_id, other)
        return first / second if first is not None and second else None

    def is_same_plan(self, engine: EngineName, db_id: str, sql: str, other: str) -> bool | None:
        """Whether the optimizer makes the same plan of two texts; None where it tells none."""
        found: bool | None = self.context.unit(
            _key("same plan", engine, db_id, sql, other),
            partial(self._is_same_plan, engine, db_id, sql, other),
        )
        return found

    def timing(self, engine: EngineName, db_id: str, sql: str, other: str) -> Mapping[str, Any]:
        """The `Timing` of a second text beside a first one, as plain values: `tau`, `reward` and so on."""
        found: dict[str, Any] = self.context.unit(
            _key("time", engine, db_id, sql, other), partial(self._timing, engine, db_id, sql, other)
        )
        return found

    def _rewritten(self, engine: EngineName, db_id: str, sql: str) -> dict[str, Any]:
        dialect, schema = dialect_of(engine), self._schema(db_id)
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

    def _proof(self, engine: EngineName, db_id: str, text: Rewritten, before: Any) -> Proof:
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
        return asdict(measure(timed, database, other, sql, Method.STABLE, limits))

    def _schema(self, db_id: str) -> Schema:
        if db_id not in self._known:
            self._known[db_id] = census(self.context.database(db_id).sqlite_path)
        return self._known[db_id]

    def _held_keys(self, engine: EngineName, db_id: str) -> HeldKeys:
        if (engine, db_id) not in self._held:
            self._held[engine, db_id] = held_keys(
                self.context.engines[engine],
                self.context.database(db_id),
                self._schema(db_id),
                self.context.limits,
            )
        return self._held[engine, db_id]


def _variant(rule: str, text: Rewritten, proof: Proof) -> Variant:
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


def _key(what: str, engine: EngineName, db_id: str, *texts: str) -> tuple[str, ...]:
    return what, engine, db_id, *(sha256(text.encode()).hexdigest()[:16] for text in texts)

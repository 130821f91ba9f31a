"""E2: each rule of rewriting on the golds: where it applies, whether the rows stay, and what it saves.

tau is the gold's work, or time, divided by that of the rewritten text: 2 is half as much.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from harness.engines import TITLES, EngineName
from harness.labs.study.base import Analysis, BarChart, ChartBar, Output, StudyContext
from harness.labs.study.measures import TOGETHER, Rewriting, Variant
from harness.labs.study.rewriting import RULES
from harness.metrics.efficiency import TOLERANCE
from harness.report.table_model import Cell, CellKind, TableModel, columns, row, table

TWICE = 2.0
_MOST_REASONS = 3


@dataclass
class _Found:
    """The results of a rule on the golds of one engine."""

    applied: int = 0
    proven: int = 0
    declared: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    taus: list[float] = field(default_factory=list)
    times: list[tuple[float, float | None, float | None]] = field(default_factory=list)
    same_plans: list[bool] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """Golds whose rewritten text is not proven, with why."""


def run(context: StudyContext) -> Iterator[Output]:
    """Apply every rule to every gold on every engine."""
    golds = [
        (engine, question, gold)
        for engine in context.engines
        for question in context.questions.questions
        if (gold := context.gold(question, engine)) is not None
    ]
    rewriting = Rewriting(context)
    context.expect(len(golds))
    texts = [(one, rewriting.variants(one[0], one[1].db_id, one[2])) for one in golds]
    each = 4 if context.with_times else 3
    context.expect(each * sum(variant.holds for _, found in texts for variant in found.made))
    by_rule: dict[tuple[EngineName, str], _Found] = defaultdict(_Found)
    for (engine, question, gold), found in texts:
        for rule, reasons in found.refused.items():
            by_rule[engine, rule].refused.update([reasons[0]])
        for variant in found.made:
            one = by_rule[engine, variant.rule]
            one.applied += 1
            if variant.holds:
                _add(rewriting, one, variant, (engine, question.db_id, gold, variant.sql))
            else:
                one.others.append(f"{question.key}: {variant.relation}")
    yield _table(context, by_rule)
    for engine in context.engines:
        yield _chart(engine, by_rule)
    if context.with_times:
        yield _timed(context, by_rule)
    yield _refusals(context, by_rule)


def _add(
    rewriting: Rewriting, one: _Found, variant: Variant, where: tuple[EngineName, str, str, str]
) -> None:
    """Measure a gold and its rewritten text."""
    one.proven += 1
    one.declared += variant.declared
    if (tau := rewriting.tau(*where)) is not None:
        one.taus.append(tau)
    if (same := rewriting.is_same_plan(*where)) is not None:
        one.same_plans.append(same)
    if rewriting.context.with_times:
        timing = rewriting.timing(*where)
        if not timing["error"]:
            one.times.append((timing["tau"], timing["low"], timing["high"]))


def _rules() -> list[tuple[str, str]]:
    return [*((rule.name, rule.title) for rule in RULES.values()), (TOGETHER, "all together")]


def _share(values: Sequence[bool]) -> Cell:
    return Cell(100 * sum(values) / len(values) if values else None)


def _rows(
    context: StudyContext, by_rule: dict[tuple[EngineName, str], _Found]
) -> Iterator[tuple[EngineName, str, str, _Found]]:
    for rule, title in _rules():
        for engine in context.engines:
            found = by_rule.get((engine, rule), _Found())
            yield engine, rule, title, found


def _table(context: StudyContext, by_rule: dict[tuple[EngineName, str], _Found]) -> TableModel:
    heads = columns(
        "rule",
        ("golds", "golds", CellKind.COUNT),
        ("proven", "proven", CellKind.COUNT),
        ("for any data", "declared", CellKind.COUNT),
        ("refused", "refused", CellKind.COUNT),
        ("median tau", "tau_work"),
        ("% twice as fast", "twice"),
        ("% slower", "slower"),
        ("% same plan", "same_plan"),
    )
    rows, notes = [], list[str]()
    for engine, rule, title, found in _rows(context, by_rule):
        values = (
            found.applied,
            found.proven,
            found.declared,
            sum(found.refused.values()),
            Cell(median(found.taus) if found.taus else None, questions=len(found.taus)),
            _share([tau >= TWICE for tau in found.taus]),
            _share([tau < 1 / TOLERANCE for tau in found.taus]),
            _share(found.same_plans),
        )
        rows.append(row([title, TITLES[engine]], values, rule, dialect=engine))
        notes += [f"{title} on {TITLES[engine]}, not the same rows: {one}" for one in found.others]
    return table(
        "Rules on the golds, by counted work",
        ["rule", "engine"],
        heads,
        rows,
        "golds: a rule applies. proven: both texts return the same rows, as often, and in order.",
        "for any data: all that the rule relies on is declared.",
        "refused: a rule has a place, but its precondition does not hold or the answer is open.",
        f"tau: the gold's work by that of the rewritten text. slower: {TOLERANCE:g} times the work.",
        "same plan: the same operators on the same tables by the same indexes.",
        *notes,
    )


def _chart(engine: EngineName, by_rule: dict[tuple[EngineName, str], _Found]) -> BarChart:
    bars = [
        ChartBar(title, median(found.taus), f"{median(found.taus):.2f} ({len(found.taus)} golds)")
        for rule, title in _rules()
        if (found := by_rule.get((engine, rule))) is not None and found.taus
    ]
    return BarChart(f"Median tau by counted work on {TITLES[engine]}", tuple(bars), 1.0)


def _timed(context: StudyContext, by_rule: dict[tuple[EngineName, str], _Found]) -> TableModel:
    heads = columns(
        "rule",
        ("timed", "timed", CellKind.COUNT),
        ("median tau", "tau_time"),
        ("% surely faster", "surely_faster"),
        ("% twice as fast", "twice_time"),
        ("% surely slower", "surely_slower"),
    )
    rows = []
    for engine, rule, title, found in _rows(context, by_rule):
        taus = [tau for tau, _, _ in found.times]
        values = (
            len(taus),
            Cell(median(taus) if taus else None, questions=len(taus)),
            _share([low is not None and low > 1 for _, low, _ in found.times]),
            _share([tau >= TWICE for tau in taus]),
            _share([high is not None and high < 1 for _, _, high in found.times]),
        )
        rows.append(row([title, TITLES[engine]], values, rule, dialect=engine))
    return table(
        "Rules on the golds, by time",
        ["rule", "engine"],
        heads,
        rows,
        "Timed as in R-VES stable. surely: the whole interval of tau is above 1, or below.",
    )


def _refusals(context: StudyContext, by_rule: dict[tuple[EngineName, str], _Found]) -> TableModel:
    rows = [
        row([title, TITLES[engine], reason], [count], rule, dialect=engine)
        for engine, rule, title, found in _rows(context, by_rule)
        for reason, count in _grouped(found.refused).most_common(_MOST_REASONS)
    ]
    heads, labels = columns("rule", ("golds", "refused_for", CellKind.COUNT)), ("rule", "engine")
    return table("Why rules do not apply where they could", [*labels, "most common reasons"], heads, rows)


def _grouped(reasons: Counter[str]) -> Counter[str]:
    """Return reasons without the tables and columns that they name."""
    found: Counter[str] = Counter()
    for reason, count in reasons.items():
        words = reason.split(": ")
        kept = words[-1] if len(words) > 1 and " " not in words[0] else words[0]
        found[" ".join(word if not _is_name(word) else "..." for word in kept.split())] += count
    return found


def _is_name(word: str) -> bool:
    bare = word.strip(",;'")
    return "." in bare.rstrip(".") or "_" in bare


PART = Analysis("e2", "Rules of rewriting", run)

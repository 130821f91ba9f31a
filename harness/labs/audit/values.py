"""Probes of literals, arithmetic and the clock."""

import difflib
from collections.abc import Iterator, Sequence
from datetime import datetime

from sqlglot import exp

from dialects.enums import Dialect
from dialects.volatility import is_volatile
from harness.analyses.coverage.answers import DifferenceReason
from harness.analyses.coverage.comparison import of_failure
from harness.engines.execution import Ending
from harness.labs.audit.gold import AuditedGold, Evidence, Finding, FindingBasis, Severity
from harness.metrics.comparison import Tolerance, compare
from harness.sqltree.parser import aggregates, arguments, called, is_distinct
from harness.sqltree.query import StoredColumn

_MOST_VALUES = 3_000
_NEAR = 0.8
"""Similarity by difflib's measure from which one text may be a misspelling of the other."""


_LOOKS_LIKE = str.maketrans("1I0O5", "lloos")
"""Characters that are taken for each other: 'c1' may be meant to be 'cl'."""


def fails(gold: AuditedGold) -> Iterator[Finding]:
    """Find a gold that its engine does not answer: an error, or more time than a text may use."""
    ending = gold.answer.ending
    if ending is not Ending.ROWS:
        words = " ".join((gold.answer.error or "").split()).rstrip(".")
        says = f"The gold returns no rows: {ending.replace('_', ' ')}{f' ({words})' if words else ''}."
        # What cannot be planned is refused whatever is stored, unless planning has run a part of it.
        because_of_rows = of_failure(gold.dialect, gold.answer) in {
            DifferenceReason.SEVERAL_ROWS,
            DifferenceReason.BAD_VALUE,
        }
        is_planned = gold.asked(f"EXPLAIN {gold.sql}") is not None
        is_refused = ending is Ending.ERROR and not because_of_rows and not is_planned
        yield Finding(says, basis=FindingBasis.TEXT if is_refused else FindingBasis.ROWS)


_SINGLE = Tolerance(1e-5)
"""Numbers of 32 bits have seven digits; multiplication by 1.0 shows more of them."""


def integer_division(gold: AuditedGold) -> Iterator[Finding]:
    """Find a ratio of integers that is cut off."""
    divisions = list(gold.tree.find_all(exp.Div))
    if not divisions or gold.asked("SELECT 1 / 2") != ((0,),):
        # The engine does not cut quotients off.
        return
    for division in divisions:
        if isinstance(division.parent, exp.Mul) or _is_decade(division):
            continue
        exact = division.copy()
        exact.set("this", exp.Mul(this=exp.paren(division.this.copy()), expression=exp.Literal.number("1.0")))
        text = gold.with_change(division, exact)
        rows = gold.asked(text)
        if rows is None or gold.answer.ending is not Ending.ROWS:
            continue
        if compare(rows, gold.rows, tolerance=_SINGLE).same_bag:
            continue
        yield Finding(
            f"{gold.text(division)} divides integers, and what is behind the point is cut off.",
            (
                Evidence.of("the gold's answer", compare(gold.rows, rows).only_left or gold.rows),
                Evidence.of("with the whole quotient", compare(gold.rows, rows).only_right or rows),
            ),
            text,
        )
        return


def _is_decade(division: exp.Expr) -> bool:
    """True if the truncation is meant: the quotient is multiplied by its divisor again."""
    around = division.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    return isinstance(around, exp.Mul) and around.expression.unnest() == division.args["expression"].unnest()


def empty(gold: AuditedGold) -> Iterator[Finding]:
    """Find an answer of no rows or of NULL alone."""
    if gold.answer.ending is not Ending.ROWS:
        return
    values = [value for row in gold.rows for value in row]
    if not gold.rows:
        says = "The answer has no rows."
    elif all(value is None for value in values):
        says = "The answer is NULL and nothing else."
    else:
        return
    evidence = (Evidence.of("the gold's answer", gold.rows),)
    yield Finding(says, evidence, hint=True)


def absent_literal(gold: AuditedGold) -> Iterator[Finding]:
    """Find a text that no row has, where some row has it in another case, spacing or spelling."""
    seen: set[tuple[str, str]] = set()
    for column, literal in _equal_texts(gold):
        stored, wanted = gold.stored(column), literal.name
        if stored is None or (stored.title, wanted) in seen:
            continue
        seen.add((stored.title, wanted))
        there = (
            exp.select("1")
            .from_(gold.source(stored))
            .where(exp.column(gold.named(stored.column.name), quoted=True).eq(literal.copy()))
        )
        if gold.asked(gold.text(there.limit(1))) != ():
            continue
        values = [value for value in gold.values(stored, _MOST_VALUES) if isinstance(value, str)]
        yield from _nearest(gold, stored, literal, values)


def _equal_texts(gold: AuditedGold) -> Iterator[tuple[exp.Expr, exp.Literal]]:
    """Yield columns that are compared for equality with texts."""
    for node in gold.tree.find_all(exp.EQ, exp.NEQ):
        for one, other in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(other, exp.Literal) and other.is_string:
                yield one, other
    for within in gold.tree.find_all(exp.In):
        yield from (
            (within.this, one) for one in within.expressions if isinstance(one, exp.Literal) and one.is_string
        )


def _nearest(
    gold: AuditedGold, stored: StoredColumn, literal: exp.Literal, values: Sequence[str]
) -> Iterator[Finding]:
    wanted = literal.name
    folded = "".join(wanted.lower().split())
    same = [value for value in values if "".join(value.lower().split()) == folded]
    near = same or [
        value for value in values if value.translate(_LOOKS_LIKE) == wanted.translate(_LOOKS_LIKE)
    ]
    near = near or difflib.get_close_matches(wanted, values, n=1, cutoff=_NEAR)
    if not near or not folded:
        return
    text = gold.with_change(literal, exp.Literal.string(near[0]))
    rows = gold.asked(text)
    yield Finding(
        f"No row has {wanted!r} in {stored.title}; {near[0]!r} is there.",
        (
            Evidence.of("the gold's answer", gold.rows),
            Evidence.of("the nearest value that is stored", [(value,) for value in near[:3]]),
            *([Evidence.of("the answer with it", rows)] if rows is not None else []),
        ),
        text if rows is not None and same else None,
        hint=not same,
        severity=Severity.HIGH if same else Severity.MEDIUM,
    )


_MOMENTS = (datetime(2024, 2, 29, 12, 0, 0), datetime(2027, 11, 1, 12, 0, 0))  # noqa: DTZ001 - as engines write them
"""Two moments that a gold is asked at."""

_DAYS = frozenset({"CURRENT_DATE", "CURDATE"})
_TIMES = frozenset({"CURRENT_TIMESTAMP", "NOW", "LOCALTIMESTAMP", "SYSDATE"})


def clock(gold: AuditedGold) -> Iterator[Finding]:
    """Find an answer that changes with the date."""
    if not is_volatile(gold.sql):
        return
    read = [node for node in gold.tree.walk() if _reads_clock(node)]
    if not read:
        return
    answers = []
    for moment in _MOMENTS:
        fixed = gold.with_changes({id(node): _fixed(node, moment, gold.dialect) for node in read})
        answers.append(gold.asked(fixed))
    evidence = tuple(
        Evidence.of(f"on {moment:%Y-%m-%d}", rows)
        for moment, rows in zip(_MOMENTS, answers, strict=True)
        if rows is not None
    )
    same = None not in answers and compare(answers[0] or (), answers[1] or ()).same_bag
    yield Finding(
        f"The gold asks for the date ({gold.text(read[0])}), so that its answer can change from day to day.",
        evidence,
        severity=Severity.LOW if same else Severity.HIGH,
        basis=FindingBasis.TEXT,
    )


def _reads_clock(node: exp.Expr) -> bool:
    if isinstance(node, exp.Literal):
        around = node.parent
        return node.is_string and node.name.lower() == "now" and around is not None and called(around) != ""
    if isinstance(node, exp.CurrentDate | exp.CurrentTimestamp | exp.CurrentDatetime | exp.CurrentTime):
        return True
    return called(node) in _DAYS | _TIMES and not isinstance(node, exp.Column)


def _fixed(node: exp.Expr, moment: datetime, dialect: Dialect) -> exp.Expr:
    is_day = isinstance(node, exp.CurrentDate) or called(node) in _DAYS
    text = exp.Literal.string(f"{moment:%Y-%m-%d}" if is_day else f"{moment:%Y-%m-%d %H:%M:%S}")
    if dialect is Dialect.SQLITE:
        return text
    return exp.Cast(this=text, to=exp.DataType.build("DATE" if is_day else "TIMESTAMP"))


def floating_order(gold: AuditedGold) -> Iterator[Finding]:
    """Find a sum of fractions that is another number when the same rows are added in another order."""
    for select in gold.selects:
        for call in aggregates(select):
            if called(call) not in {"SUM", "AVG", "TOTAL"} or is_distinct(call) or select.args.get("group"):
                continue
            sums = [_summed(gold, select, call, descending=down) for down in (False, True)]
            if None in sums or sums[0] == sums[1]:
                continue
            shown = _is_shown(call, select) and select is gold.tree
            yield Finding(
                f"{gold.text(call)} gives other digits when the same rows are added in another order, and EX"
                " compares all digits.",
                (
                    Evidence.of("added from the least on", [(sums[0],)]),
                    Evidence.of("added from the greatest on", [(sums[1],)]),
                ),
                hint=not shown,
                severity=Severity.MEDIUM if shown else Severity.LOW,
            )
            return


def _is_shown(call: exp.Expr, select: exp.Select) -> bool:
    """True if the sum reaches the answer unrounded."""
    node: exp.Expr | None = call.parent
    while node is not None and node is not select:
        if called(node) in {"ROUND", "FORMAT", "PRINTF"} or isinstance(node, exp.Predicate | exp.Cast):
            return False
        node = node.parent
    return True


def _summed(gold: AuditedGold, select: exp.Select, call: exp.Expr, *, descending: bool) -> float | None:
    """Return an aggregate over the same rows in one order."""
    value = exp.alias_(arguments(call)[0].copy(), "bird_value")
    body = gold.body(select, [value])
    text = f"{gold.text(body)} ORDER BY bird_value {'DESC' if descending else 'ASC'} LIMIT 1000000"
    rows = gold.asked(f"SELECT {called(call)}(bird_value) FROM ({text}) AS bird_rows")  # noqa: S608 - a tree's
    found = rows[0][0] if rows else None
    return found if isinstance(found, float) else None

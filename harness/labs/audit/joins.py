"""Probes of what joins do to the rows that are counted and added."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dialects.clauses import bare_table, where_of
from dialects.schema import Table
from harness.engines.base import Row
from harness.labs.audit.gold import AuditedGold, Evidence, Finding, Severity
from harness.metrics.comparison import compare
from harness.sqltree.parser import aggregates, arguments, called, is_distinct, with_argument

_ADDING = frozenset({"SUM", "AVG", "TOTAL", "COUNT"})


def fan_out(gold: AuditedGold) -> Iterator[Finding]:
    """Find aggregates over columns of a table whose rows a join repeats."""
    for select in gold.selects:
        if not gold.query.joined(select):
            continue
        told: set[str] = set()
        for call in aggregates(select):
            repeated = _repeated(gold, select, call)
            if repeated is None or repeated.alias in told:
                continue
            finding = _fan_out(gold, select, call, repeated)
            if finding is not None:
                told.add(repeated.alias)
                yield finding


@dataclass(frozen=True)
class _Repeated:
    """A table in FROM whose rows the join repeats: how many rows it returns, and how many differ."""

    alias: str
    table: Table
    key: Sequence[exp.Expr]
    given: int
    different: int


def _repeated(gold: AuditedGold, select: exp.Select, call: exp.Expr) -> _Repeated | None:
    """Return the one table that an aggregate reads, if the join repeats its rows."""
    if called(call) not in _ADDING or is_distinct(call):
        return None
    columns = [column for one in arguments(call) for column in one.find_all(exp.Column)]
    found = [gold.stored(column) for column in columns]
    if not found or any(one is None or one.select is not select for one in found):
        return None
    [*aliases] = {one.alias for one in found if one is not None}
    if len(aliases) != 1 or found[0] is None:
        return None
    key = gold.key(aliases[0], found[0].table)
    if not key:
        return None
    known = [each.is_(exp.null()).not_() for each in key]
    body = gold.body(select, key).where(*known)
    given, different = gold.count(body), gold.count(body, distinct=True)
    if not given or not different or given == different:
        return None
    return _Repeated(aliases[0], found[0].table, key, given, different)


def _fan_out(gold: AuditedGold, select: exp.Select, call: exp.Expr, repeated: _Repeated) -> Finding | None:
    """Describe the effect of repeated rows on an aggregate; None if there is none."""
    group = select.args.get("group")
    keys = [key for key in group.expressions if not isinstance(key, exp.Literal)] if group is not None else []
    if any(isinstance(key, exp.Column) and gold.stored(key) is None for key in keys):
        return None
    value = arguments(call)[0]
    name = called(call)
    columns = [
        *(exp.alias_(key.copy(), f"bird_group_{at}") for at, key in enumerate(keys)),
        *(exp.alias_(key.copy(), f"bird_key_{at}") for at, key in enumerate(repeated.key)),
        exp.alias_(value.copy(), "bird_value"),
    ]
    body = gold.body(select, columns)
    once = body.copy()
    once.set("distinct", exp.Distinct())
    groups = [f"bird_group_{at}" for at, _ in enumerate(keys)]
    grouped = f" GROUP BY {', '.join(groups)}" if groups else ""
    shown = ", ".join([*groups, f"{name}(bird_value)"])
    found = [
        gold.asked(f"SELECT {shown} FROM ({gold.text(each)}) AS bird_rows{grouped}")  # noqa: S608 - a tree's
        for each in (body, once)
    ]
    if found[0] is None or found[1] is None:
        return None
    compared = compare(found[0], found[1])
    if compared.same_bag:
        return None
    sure = True
    if _counts(name, value):
        asked = _asks(gold, select, repeated.table, repeated.given)
        if asked is None:
            return None
        sure = asked
    example = _most_repeated(gold, body)
    title = f"{name}({gold.text(value)})"
    return Finding(
        f"The join gives {repeated.given} rows for {repeated.different} rows of {repeated.table.name},"
        f" and {name} takes each as often as it comes.",
        (
            Evidence.of(f"{title}, as written", _pair(compared.only_left)),
            Evidence.of(f"{title}, each row of {repeated.table.name} once", _pair(compared.only_right)),
            Evidence.of("a row that comes several times: key, value, how often", example),
        ),
        hint=not sure,
        severity=Severity.HIGH if name != "COUNT" else Severity.MEDIUM,
    )


def _pair(rows: Sequence[Row]) -> Sequence[Row]:
    return sorted(rows, key=repr)


def _counts(name: str, value: exp.Expr) -> bool:
    """True if an aggregate counts rows, one way or the other."""
    if name == "COUNT":
        return True
    ends = [node.args.get("true") for node in value.find_all(exp.If)]
    ends += [arguments(node)[1] for node in value.find_all(exp.Anonymous) if called(node) == "IIF"]
    return isinstance(value.unnest(), exp.Predicate) or (
        bool(ends) and all(isinstance(end, exp.Literal) and end.name == "1" for end in ends)
    )


def _most_repeated(gold: AuditedGold, body: exp.Select) -> Sequence[Row]:
    names = [column.alias for column in body.selects if not column.alias.startswith("bird_group")]
    listed = ", ".join(names)
    return (
        gold.asked(
            f"SELECT {listed}, COUNT(*) FROM ({gold.text(body)}) AS bird_rows"  # noqa: S608 - a tree's
            f" GROUP BY {listed} ORDER BY COUNT(*) DESC LIMIT 2"
        )
        or ()
    )


def _asks(gold: AuditedGold, select: exp.Select, table: Table, given: int) -> bool | None:
    """True if the question counts rows of a table: "how many schools", of `schools`.

    False where it may; None where it does not name the table, or names another whose rows come once.
    """
    question = gold.question.text.lower()
    if not question.strip("? "):
        return False
    words = _WORD.findall(question)
    named = _named(words, table)
    counted = [place for at in range(len(words)) if (place := _after_counting(words, at)) is not None]
    if any(place <= at < place + _NEAR for place in counted for at in named):
        return True
    if not named:
        return None
    for source in gold.query.sources(select):
        other = source.table
        key = [] if other is None else gold.key(source.alias, other)
        if other is None or other is table or not key or not _named(words, other):
            continue
        if gold.count(gold.body(select, key), distinct=True) == given:
            return None
    return False


_WORD = re.compile(r"\w+")
_NEAR = 5
"""How many words after "how many", the first among them, may name what is counted."""
_COUNTING = frozenset({("how", "many"), ("number", "of"), ("proportion", "of"), ("ratio", "of")})
_COUNTS = frozenset({"count", "average", "total"})


def _after_counting(words: Sequence[str], at: int) -> int | None:
    """Return the place behind words that ask for a count and begin at `at`; None if none do."""
    if tuple(words[at : at + 2]) in _COUNTING:
        return at + 2
    return at + 1 if words[at] in _COUNTS or words[at].startswith("percent") else None


def _named(words: Sequence[str], table: Table) -> list[int]:
    """Find where a question names the rows of a table: words that begin as its name does."""
    *first, last = _WORD.findall(table.name.lower()) or [""]
    stem = last.rstrip("s").removesuffix("ie")
    length = len(first) + 1
    return [
        at
        for at in range(len(words) - length + 1)
        if list(words[at : at + length - 1]) == first and words[at + length - 1].startswith(stem)
    ]


_DIFFERENT = re.compile(r"\b(distinct|different|unique|kinds? of|types? of)\b", re.IGNORECASE)


def duplicates(gold: AuditedGold) -> Iterator[Finding]:
    """Find values that are counted or listed several times."""
    yield from _counted_twice(gold)
    yield from _listed_twice(gold)


def _counted_twice(gold: AuditedGold) -> Iterator[Finding]:
    asks = _DIFFERENT.search(gold.question.text)
    for select in gold.selects if asks else ():
        for call in aggregates(select):
            values = arguments(call)
            if called(call) != "COUNT" or is_distinct(call) or not values or gold.stored(values[0]) is None:
                continue
            changed = with_argument(call, exp.Distinct(expressions=[values[0].copy()]))
            text = gold.with_change(call, changed)
            rows = gold.asked(text)
            if rows is None or compare(rows, gold.rows).same_bag:
                continue
            word = asks.group(0).lower() if asks else ""
            yield Finding(
                f'The question says "{word}", and COUNT counts a value as often as it comes.',
                (
                    Evidence.of("the gold's answer", gold.rows),
                    Evidence.of(f"with COUNT(DISTINCT {gold.text(values[0])})", rows),
                ),
                text,
                hint=True,
            )


_YES_OR_NO = re.compile(
    r"\s*(is|was|are|were|do|does|did|has|have|had|can)\b(?!.*\b(and|or|if|which|what|how)\b)", re.IGNORECASE
)


def _listed_twice(gold: AuditedGold) -> Iterator[Finding]:
    """Find a list with repeated values because of a join; several answers of yes or no."""
    top = gold.tree
    if not isinstance(top, exp.Select):
        return
    counts: dict[str, tuple[Row, int]] = {}
    for row in gold.rows:
        counts[repr(row)] = (row, counts.get(repr(row), (row, 0))[1] + 1)
    several = sorted((one for one in counts.values() if one[1] > 1), key=lambda one: -one[1])
    evidence = Evidence.of("a row, and how often it comes", [(*row, count) for row, count in several])
    if len(gold.rows) > 1 and _YES_OR_NO.match(gold.question.text):
        yield Finding(
            f"The question is one of yes or no, and the answer has {len(gold.rows)} rows.",
            (Evidence.of("the gold's answer", gold.rows),),
            severity=Severity.MEDIUM,
        )
    elif several and _is_repeated_by_join(gold, top):
        changed = top.copy()
        changed.set("distinct", exp.Distinct())
        text = gold.text(changed)
        rows = gold.asked(text)
        yield Finding(
            f"The answer has {len(gold.rows)} rows, {len(counts)} of them different: a join repeats them.",
            (evidence,),
            text if rows is not None and compare(rows, gold.rows).same_set else None,
            severity=Severity.LOW,
        )


def _is_repeated_by_join(gold: AuditedGold, select: exp.Select) -> bool:
    """True if all columns of a plain list are of one table, and the joins repeat rows of that table."""
    if select.args.get("distinct") or select.args.get("limit") or select.args.get("group"):
        return False
    found = [gold.stored(column.unalias()) for column in select.selects]
    if not found or any(one is None or one.select is not select for one in found) or found[0] is None:
        return False
    key = gold.key(found[0].alias, found[0].table)
    if len({one.alias for one in found if one is not None}) > 1 or not key:
        return False
    body = gold.body(select, key)
    given, different = gold.count(body), gold.count(body, distinct=True)
    return given is not None and different is not None and given > different


def broken_key(gold: AuditedGold) -> Iterator[Finding]:
    """Find a join by a column that is a key in the published schema and not unique in the data."""
    for select in gold.selects:
        equal = _joined_by(gold, select)
        for source in gold.query.sources(select) if equal else ():
            table = source.table
            columns = _columns_of(gold, equal, source.alias)
            if table is None or not columns or not gold.declares(table.name, columns):
                continue
            listed = ", ".join(gold.text(exp.column(gold.named(name), quoted=True)) for name in columns)
            several = gold.asked(
                f"SELECT {listed}, COUNT(*) FROM {gold.text(bare_table(source.node))}"  # noqa: S608 - a tree's
                f" GROUP BY {listed} HAVING COUNT(*) > 1 ORDER BY COUNT(*) DESC LIMIT 3"
            )
            if several:
                yield Finding(
                    f"The schema calls {', '.join(columns)} the key of {table.name}, by which the gold joins;"
                    " the data repeat it.",
                    (Evidence.of("a key, and how many rows have it", several),),
                    severity=Severity.MEDIUM,
                )


def _joined_by(gold: AuditedGold, select: exp.Select) -> list[exp.EQ]:
    """Return the equalities of columns by which a SELECT joins."""
    joined = gold.query.joined(select)
    conditions = [one for source in joined for one in source.on] + where_of(select)
    return [
        one
        for one in conditions
        if joined
        and isinstance(one, exp.EQ)
        and isinstance(one.this, exp.Column)
        and isinstance(one.expression, exp.Column)
    ]


def _columns_of(gold: AuditedGold, equal: Sequence[exp.Expr], alias: str) -> tuple[str, ...]:
    """Return the columns of one table in equalities with other tables."""
    names: dict[str, None] = {}
    for one in equal:
        sides = [gold.stored(one.this), gold.stored(one.expression)]
        if None not in sides and len({side.alias for side in sides if side is not None}) > 1:
            names |= {side.column.name: None for side in sides if side is not None and side.alias == alias}
    return tuple(names)

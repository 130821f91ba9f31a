"""Probes of what ORDER BY and LIMIT leave open, and of what they decide by the wrong values."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from sqlglot import exp

from dialects.enums import Dialect
from harness.engines.base import Row
from harness.labs.audit.gold import AuditedGold, Evidence, Finding, RankedRow, Severity
from harness.metrics.comparison import Ranking, compare
from harness.scoring.ties import different, rank, rankings
from harness.sqltree.parser import OF_LISTS, aggregates, arguments, called
from harness.sqltree.query import StoredColumn, cut_of

_MOST_VALUES = 3_000
"""Different values of a column that are looked at."""

_ALIKE = 0.9
"""The share of values of one form from which on a column of texts holds values of that form."""


def cut_at_tie(gold: AuditedGold) -> Iterator[Finding]:
    """LIMIT among equal sort keys: several answers are right, and one of them counts."""
    for query in gold.cuts:
        if not query.args.get("order"):
            continue
        ranking = rank(gold.alone(query), gold.dialect, gold.run)
        tied = () if ranking is None else _choice(ranking)
        if ranking is None or not tied:
            continue
        is_top = query is gold.tree
        if not is_top and not _matters(gold):
            continue
        places, before = _taken(ranking)
        yield Finding(
            f"{before} rows have the same sort key at the cut{'' if is_top else ' of a subquery'},"
            f" {len(tied)} of them different, for {places} {'place' if places == 1 else 'places'}.",
            (Evidence.of("rows with the key at the cut", tied), Evidence.of("the gold's answer", gold.rows)),
            _all_first(gold, query, ranking) if is_top else None,
        )


def _choice(ranking: Ranking) -> list[Row]:
    """Return the different rows of the group that the cut goes through; none where all are the same."""
    found = different(ranking.chosen_from)
    return found if len(found) > 1 else []


def _taken(ranking: Ranking) -> tuple[int, int]:
    """Return how many rows of the last group the cut keeps, and how many there are."""
    first, found = 0, (0, 0)
    for group in ranking.groups:
        kept = min(first + len(group), ranking.end) - max(first, ranking.start)
        first += len(group)
        if 0 < kept < len(group):
            found = kept, len(group)
    return found


def _matters(gold: AuditedGold) -> bool:
    """True if another choice in a subquery changes the whole answer."""
    known = rankings(gold.sql, gold.dialect, gold.run)
    written = next(known, None)
    return written is not None and any(not other.allows(gold.rows) for other in known)


def _all_first(gold: AuditedGold, query: exp.Query, ranking: Ranking) -> str | None:
    """Return the query with all rows of the first place, for a cut that keeps one row."""
    if cut_of(query) != (0, 1) or not isinstance(query, exp.Select) or query.args.get("distinct"):
        return None
    if any(column.is_star for column in query.selects):
        return None
    inner = query.copy()
    inner.set("limit", None)
    inner.set("offset", None)
    order = inner.args["order"]
    if any(isinstance(key.this.unnest(), exp.Literal) for key in order.expressions):
        return None
    by_name = {column.alias.lower(): column.unalias() for column in query.selects if column.alias}
    keys = order.copy()
    for column in list(keys.find_all(exp.Column)):
        if not column.table and column.name.lower() in by_name:
            column.replace(exp.paren(by_name[column.name.lower()].copy()))
    names = [f"column_{at}" for at, _ in enumerate(query.selects, start=1)]
    columns = [
        exp.alias_(column.unalias().copy(), name) for column, name in zip(query.selects, names, strict=True)
    ]
    place = exp.alias_(exp.Window(this=exp.Anonymous(this="RANK"), order=keys), "place")
    inner.set("order", None)
    inner.set("expressions", [*columns, place])
    outer = exp.select(*names).from_(inner.subquery("ranked")).where("place = 1")
    text = gold.text(outer)
    rows = gold.asked(text)
    return text if rows is not None and compare(rows, ranking.groups[0]).same_bag else None


def null_first(gold: AuditedGold) -> Iterator[Finding]:
    """Find a sort that puts NULL first, so that the cut keeps a row with an unknown key."""
    for query in gold.cuts:
        ranked = gold.ranked(query) if query.args.get("order") else None
        cut = cut_of(query)
        if not ranked or cut is None:
            continue
        kept = ranked[cut[0] : cut[1]]
        without = [row for row in ranked if row.keys[0] is not None]
        known = sum(row.keys[0] is not None for row in kept)
        if known == len(kept) or known == len(without) or ranked[0].keys[0] is not None:
            # NULL is not kept, takes no place of another row, or comes last.
            continue
        instead = without[cut[0] : cut[1]]
        yield Finding(
            "NULL sorts first, so that the cut keeps a row whose sort key is NULL.",
            (
                Evidence.of("kept: row, then sort keys", [(*row.row, *row.keys) for row in kept]),
                Evidence.of("the first without NULL", [(*row.row, *row.keys) for row in instead]),
            ),
            _without_null(gold, query, instead) if query is gold.tree else None,
        )


def _without_null(gold: AuditedGold, query: exp.Query, instead: Sequence[RankedRow]) -> str | None:
    """Return the query without the rows whose first key is NULL."""
    if not isinstance(query, exp.Select) or query.args.get("distinct"):
        return None
    key = query.args["order"].expressions[0].this.unnest().copy()
    if isinstance(key, exp.Literal):
        return None
    if isinstance(key, exp.Column) and not key.table:
        named = {column.alias.lower(): column.unalias() for column in query.selects if column.alias}
        key = named.get(key.name.lower(), key).copy()
    changed = query.copy()
    known = exp.paren(key).is_(exp.null()).not_()
    grouped = bool(query.args.get("group"))
    changed = (
        changed.having(known, copy=False)
        if grouped and _aggregated(key)
        else changed.where(known, copy=False)
    )
    text = gold.text(changed)
    rows = gold.asked(text)
    return text if rows is not None and compare(rows, [row.row for row in instead]).same_bag else None


def _aggregated(node: exp.Expr) -> bool:
    return any(
        called(one) in {"COUNT", "SUM", "AVG", "MIN", "MAX", "TOTAL"} for one in node.find_all(exp.Func)
    )


def storage_order(gold: AuditedGold) -> Iterator[Finding]:
    """Find an answer that depends on the order in which rows happen to be found."""
    yield from _unordered_cuts(gold)
    yield from _bare_columns(gold)
    yield from _unordered_lists(gold)
    yield from _first_of_several(gold)


def _unordered_cuts(gold: AuditedGold) -> Iterator[Finding]:
    for query in gold.cuts:
        if query.args.get("order"):
            continue
        ranking = rank(gold.alone(query), gold.dialect, gold.run)
        others = [] if ranking is None else _choice(ranking)
        if not others or (query is not gold.tree and not _matters(gold)):
            continue
        yield Finding(
            "LIMIT without ORDER BY: which rows are kept depends on how they happen to be stored.",
            (
                Evidence.of("the gold's answer", gold.rows),
                Evidence.of("all rows that LIMIT chooses from", others[::-1]),
            ),
        )


def _bare_columns(gold: AuditedGold) -> Iterator[Finding]:
    """Find columns that are neither grouped nor in an aggregate, and differ within a group."""
    for select in gold.selects:
        calls = list(aggregates(select))
        group = select.args.get("group")
        if group is None or (len(calls) == 1 and called(calls[0]) in {"MIN", "MAX"}):
            # With one MIN or MAX, SQLite takes the row where that is found. https://sqlite.org/lang_select.html#bareagg
            continue
        bare = list(_bare(select, group.expressions))
        low, high = (
            gold.asked(
                gold.with_changes(
                    {id(one): exp.Anonymous(this=name, expressions=[one.copy()]) for one in bare}
                )
            )
            for name in ("MIN", "MAX")
        )
        if bare and low is not None and high is not None and not compare(low, high).same_set:
            names = ", ".join(dict.fromkeys(one.name for one in bare))
            yield Finding(
                f"{names} is neither grouped nor in an aggregate, and any row of a group may give it.",
                (
                    Evidence.of("with the least value of each group", compare(low, high).only_left),
                    Evidence.of("with the greatest", compare(low, high).only_right),
                ),
                severity=Severity.MEDIUM,
            )


def _unordered_lists(gold: AuditedGold) -> Iterator[Finding]:
    """Find an aggregate that makes a list of different values, in whatever order its rows come."""
    for select in gold.selects:
        if any(
            isinstance(source.node, exp.Subquery) and _is_ordered(source.node)
            for source in gold.query.sources(select)
        ):
            continue
        for call in aggregates(select):
            values = arguments(call)
            if called(call) not in OF_LISTS - {"MODE"} or not values or call.find(exp.Order) is not None:
                continue
            if isinstance(call.parent, exp.WithinGroup) or called(call.parent) in {
                "LENGTH",
                "JSON_ARRAY_LENGTH",
            }:
                continue
            listed = values[0]
            value = listed.expressions[0] if isinstance(listed, exp.Distinct) else listed
            low, high = (
                gold.asked(gold.with_change(call, exp.Anonymous(this=name, expressions=[value.copy()])))
                for name in ("MIN", "MAX")
            )
            if low is None or high is None or compare(low, high).same_set:
                continue
            yield Finding(
                f"{called(call)} has no ORDER BY: its values come in the order that rows are stored in.",
                (
                    Evidence.of("the gold's answer", gold.rows),
                    Evidence.of("the least value instead of the list", compare(low, high).only_left),
                    Evidence.of("the greatest", compare(low, high).only_right),
                ),
            )


def _is_ordered(subquery: exp.Subquery) -> bool:
    return subquery.this.args.get("order") is not None


def _bare(select: exp.Select, keys: Sequence[exp.Expr]) -> Iterator[exp.Column]:
    """Yield the columns of the result that are neither in aggregates nor grouped."""
    aliases = {key.name.lower() for key in keys if isinstance(key, exp.Column) and not key.table}
    numbers = {int(key.name) for key in keys if isinstance(key, exp.Literal) and key.is_int}
    for at, expression in enumerate(select.expressions, start=1):
        if at in numbers or expression.alias.lower() in aliases - {""}:
            continue
        for column in expression.find_all(exp.Column):
            around = column.find_ancestor(exp.Select)
            grouped = any(_same_name(node, key) for key in keys for node in _upwards(column, expression))
            inside = any(called(node) in _AGGREGATING for node in _upwards(column, expression))
            if around is select and not grouped and not inside and not column.is_star:
                yield column


_AGGREGATING = frozenset(
    {"COUNT", "SUM", "AVG", "MIN", "MAX", "TOTAL", "GROUP_CONCAT", "STRING_AGG", "ANY_VALUE"}
)


def _upwards(node: exp.Expr, last: exp.Expr) -> Iterator[exp.Expr]:
    at: exp.Expr | None = node
    while at is not None:
        yield at
        if at is last:
            return
        at = at.parent


def _same_name(one: exp.Expr, other: exp.Expr) -> bool:
    if isinstance(one, exp.Column) and isinstance(other, exp.Column):
        tables = {one.table.lower(), other.table.lower()}
        return one.name.lower() == other.name.lower() and (len(tables) == 1 or "" in tables)
    return one == other


def _first_of_several(gold: AuditedGold) -> Iterator[Finding]:
    """Find a subquery where one value is wanted, which has several rows: SQLite takes the first."""
    if gold.dialect != Dialect.SQLITE:
        return
    for subquery in gold.tree.find_all(exp.Subquery):
        inner = subquery.this
        wanted = isinstance(subquery.parent, exp.Binary | exp.Between | exp.Paren) and not isinstance(
            subquery.parent, exp.In
        )
        if not wanted or not isinstance(inner, exp.Select) or inner.args.get("limit"):
            continue
        rows = gold.asked(gold.text(gold.alone(inner).limit(1_000)))
        returned = different(rows or ())
        if len(returned) > 1:
            yield Finding(
                "A subquery has several values where one is wanted: SQLite takes the first it finds.",
                (
                    Evidence.of("what the subquery returns", returned),
                    Evidence.of("the gold's answer", gold.rows),
                ),
            )


def text_order(gold: AuditedGold) -> Iterator[Finding]:
    """Find texts that hold numbers, times or dates, and are sorted or compared letter by letter."""
    seen: set[tuple[str, str]] = set()
    for node, operand, how in _compared(gold):
        stored = gold.stored(operand)
        if stored is None or (stored.title, how) in seen:
            continue
        seen.add((stored.title, how))
        values = [
            value for value in gold.values(stored, _MOST_VALUES) if isinstance(value, str) and value.strip()
        ]
        form = _form(values)
        pair = None if form is None else _crossed(values, form[1])
        if form is None or pair is None:
            continue
        yield _text_finding(gold, (node, operand, how), stored, form[0], pair)


def _compared(gold: AuditedGold) -> Iterator[tuple[exp.Expr, exp.Expr, str]]:
    """Yield sorts and comparisons: the node, the operand, and the word for it."""
    for node in gold.tree.walk():
        if isinstance(node, exp.Ordered):
            yield node, node.this.unnest(), "sorted"
        elif called(node) in {"MIN", "MAX"} and len(arguments(node)) == 1:
            yield node, arguments(node)[0], f"put through {called(node)}"
        elif isinstance(node, exp.LT | exp.LTE | exp.GT | exp.GTE):
            sides = (node.this, node.expression)
            for one, other in (sides, sides[::-1]):
                if isinstance(other, exp.Literal | exp.Column | exp.Neg):
                    yield node, one, "compared"
        elif isinstance(node, exp.Between):
            yield node, node.this, "compared"


def _text_finding(
    gold: AuditedGold,
    where: tuple[exp.Expr, exp.Expr, str],
    stored: StoredColumn,
    form: str,
    pair: tuple[str, str],
) -> Finding:
    _, operand, how = where
    says = f"{stored.title} is text that holds {form}s, and is {how} letter by letter."
    evidence = [Evidence.of(f"as text the first comes before the second, as a {form} it does not", [pair])]
    suggestion = None
    differs: bool | None = None
    if form == "number":
        changed = gold.with_change(operand, _as_number(operand))
        rows = gold.asked(changed)
        differs = rows is not None and not compare(rows, gold.rows).same_set
        if rows is not None and differs:
            evidence += [Evidence.of("the gold's answer", gold.rows), Evidence.of("as numbers", rows)]
            suggestion = changed
    severity = Severity.LOW if differs is False else Severity.HIGH if differs else Severity.MEDIUM
    return Finding(says, tuple(evidence), suggestion, hint=differs is False, severity=severity)


def _as_number(operand: exp.Expr) -> exp.Expr:
    return exp.Cast(this=operand.copy(), to=exp.DataType(this=exp.DType.USERDEFINED, kind="REAL"))


_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_DAY = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})\b.*")
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{2,4})\b.*")
_TIME = re.compile(r"\d+(:\d{1,2})+(\.\d+)?")


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def _day(text: str) -> float | None:
    whole, slashed = _DAY.fullmatch(text), _SLASHED.fullmatch(text)
    try:
        if whole:
            return float(date(*map(int, whole.groups())).toordinal())
        if slashed:
            month, day, year = map(int, slashed.groups())
            return float(date(year, month, day).toordinal())
    except ValueError:
        pass
    return None


def _time(text: str) -> float | None:
    if not _TIME.fullmatch(text.strip()):
        return None
    seconds = 0.0
    for part in text.split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


Measure = Callable[[str], float | None]

_FORMS: tuple[tuple[str, Measure], ...] = (("number", _number), ("date", _day), ("time", _time))


def _form(values: Sequence[str]) -> tuple[str, Measure] | None:
    """Return the kind of most of the texts, and how to measure them; None if they are just texts."""
    for name, measure in _FORMS:
        fitting = sum(measure(value) is not None for value in values)
        if fitting > 1 and fitting >= _ALIKE * len(values):
            return name, measure
    return None


def _crossed(values: Sequence[str], measure: Measure) -> tuple[str, str] | None:
    """Two texts whose order as texts is not that of what they measure; None where there are none."""
    measured = sorted((value, found) for value in values if (found := measure(value)) is not None)
    greatest: tuple[str, float] | None = None
    for value, found in measured:
        if greatest is not None and greatest[1] > found:
            return greatest[0], value
        if greatest is None or found > greatest[1]:
            greatest = value, found
    return None

"""Aggregate functions. https://sqlite.org/lang_aggfunc.html."""

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from sqlglot import exp

from dialects.coercions import (
    BIGGEST,
    EXACT,
    SEVERAL_TYPES,
    as_double,
    as_integer,
    as_number,
    as_text,
    choose,
    integral,
    is_beyond_double,
    literal,
    plain,
    spread,
    value,
)
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.functions import Role, find
from dialects.nodes import (
    AGGREGATES,
    AsInteger,
    Bigint,
    Characters,
    Double,
    Hexadecimal,
    Joined,
    Listed,
    Lower,
    Slice,
    Unhexed,
    Whole,
    case,
    coalesced,
    every,
    is_not_null,
    is_null,
    number,
    server,
    string,
)  # fmt: skip
from dialects.rewrites.comparison import RANK, compare, keyed
from dialects.rewrites.group_by import reached
from dialects.rewrites.json import element, label
from dialects.rewrites.operators import whole
from dialects.scope import Scope
from dialects.trees import find_all, has
from dialects.value_types import Affinity, Collation, Kind, NumberFacts, Typed, boolean, integer, real, text

Finish = Callable[[exp.Expr], exp.Expr]
"""Adds FILTER and OVER to the call of an aggregate."""

UNORDERED = "{}() joins the rows of a group in an order that SQLite does not define"


def is_aggregate(name: str, arguments: Sequence[exp.Expr]) -> bool:
    """True if a call is an aggregate's; min() and max() are aggregates with one argument."""
    row = find(name, len(arguments))
    return row is not None and row.role is Role.AGGREGATE


def aggregate(
    c: Compiler, node: exp.Expr, scope: Scope, where: exp.Expr | None, over: Finish | None = None
) -> Typed:
    """Compile a call of an aggregate, with its FILTER and as a window function."""
    name, arguments = node.name.lower(), list(node.expressions)
    distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
    if distinct:
        arguments = [*arguments[0].expressions, *arguments[1:]]
    if arguments and isinstance(arguments[-1], exp.Order):
        raise Untranslatable(f"{name}() with ORDER BY", "SQLite 3.40 has none")
    if (owner := owner_of(node, scope)) is not None:
        scope = _grouped(c, node, owner)
    # In a grouped SELECT, an aggregate over a window aggregates groups.
    with nullcontext() if over and scope.grouping else c.ungrouped(scope):
        condition = None if where is None else c.condition(where, scope)
        if name == "count" and (not arguments or isinstance(arguments[0], exp.Star)):
            _refuse_outer_filter(name, condition, set(), scope)
            return _count_rows(c, condition, over).with_number(most=most_rows(scope))
        earlier = len(c.found_in)
        found = [c.expression(argument, scope) for argument in arguments]

    if distinct and name in {"sum", "total", "avg"} and found[0].kind in {Kind.TEXT, Kind.ANY}:
        raise Untranslatable(f"{name}(DISTINCT)", "texts that differ may be read as the same number")
    _refuse_outer_names(name, c.found_in[earlier:], scope)
    named = {source for part in found for source in reached(part.node)}
    _refuse_outer_filter(name, condition, named, scope)

    filters = _filters(c, condition, over)

    def finish(call: exp.Expr) -> exp.Expr:
        if condition is not None and filters:
            call = exp.Filter(this=call, expression=exp.Where(this=condition.copy()))
        return over(call) if over else call

    if condition is not None:
        c.applies("aggregate-filter")
    kept = _kept(None if filters else condition)
    first = found[0]
    match name:
        case "count":
            key = kept(_countable(c, first, distinct=distinct))
            counted = exp.Count(this=_distinct(key, distinct=distinct))
            return integer(finish(counted), 0, nullable=False, most=most_rows(scope))
        case "sum":
            total = _sum(c, first, kept, finish, distinct=distinct, over=over is not None)
            return total.with_number(most=_most_summed(first, scope))
        case "total":
            c.applies("total")
            double = _within_doubles("total()", as_double(c, first))
            summed = finish(exp.Sum(this=_distinct(kept(double.node), distinct=distinct)))
            zero = Double(this=exp.Literal.number("0.0"))
            return real(coalesced(summed, zero), nullable=False)
        case "avg":
            read = _within_doubles("avg()", as_number(c, first))
            return _average(c, read, kept, finish, distinct=distinct)
        case "min" | "max":
            return _extreme(c, name, first, kept, finish)
        case "json_group_array" | "json_group_object":
            part = _json_part(c, name, arguments, found, scope)
            return _listed_as_json(
                c, name, part, scope, kept, finish, distinct=distinct, over=over is not None
            )
        case _:
            # Over a window, the list is in the window's order.
            order = None if over or distinct else _order_of_rows(scope)
            if order is None and over is None:
                c.warn(UNORDERED.format("group_concat"))
            return _listed(c, first, found[1:], kept, finish, order, distinct=distinct)


class OuterAggregate(Exception):
    """An aggregate belongs to an outer SELECT, which must be grouped for it."""

    def __init__(self, scope: Scope, call: exp.Anonymous) -> None:
        super().__init__(call.name)
        self.scope = scope
        self.call = call


def _grouped(c: Compiler, node: exp.Expr, owner: Scope) -> Scope:
    """Return the scope of the outer SELECT that an aggregate belongs to, if known to be grouped.

    Raises:
        OuterAggregate: this SELECT is not yet known to be grouped.
        Untranslatable: a subquery in FROM is between them, or a window.
    """
    if node.find_ancestor(exp.From, exp.Join, exp.Window, exp.Filter):
        raise Untranslatable(f"{node.name}()", "its argument belongs to an outer SELECT")
    if owner.grouping is None:
        assert isinstance(node, exp.Anonymous)  # noqa: S101 - by the table of handlers
        raise OuterAggregate(owner, node)
    c.applies("outer-aggregate")
    return owner


def _refuse_outer_names(name: str, read: list[Scope], scope: Scope) -> None:
    """Refuse arguments that read outer SELECTs alone, even in a part that was left out as never taken."""
    around = list(scope.parent.outward()) if scope.parent else []
    if not any(place is scope for place in read) and any(place is one for place in read for one in around):
        raise Untranslatable(f"{name}()", "its argument belongs to an outer SELECT")


def owner_of(call: exp.Expr, scope: Scope) -> Scope | None:
    """Return the scope of the outer SELECT that an aggregate's columns come from; None if from its own."""
    if scope.parent is None:
        return None
    # A column of a query inside the argument may belong to that query.
    queries = [query for query in find_all(call, exp.Query) if query is not call]
    inside = {id(column) for query in queries for column in find_all(query, exp.Column)}
    columns = [column for column in find_all(call, exp.Column) if id(column) not in inside]

    def knows(place: Scope, column: exp.Column) -> bool:
        qualifier = column.table.lower()
        return any(
            source.column(column.name) is not None
            for source in place.sources
            if not qualifier or source.name.lower() == qualifier
        )

    if any(knows(scope, column) or column.name.lower() in scope.aliases for column in columns):
        return None
    return next(
        (place for place in scope.parent.outward() if any(knows(place, column) for column in columns)), None
    )


def _of_nulls(finish: Finish) -> Typed:
    """Return the aggregate of NULLs only: still one row per group."""
    return Typed(finish(exp.Max(this=exp.Null())), Kind.NULL)


def _count_rows(c: Compiler, condition: exp.Expr | None, over: Finish | None) -> Typed:
    call: exp.Expr = exp.Count(this=exp.Star())
    if condition is not None:
        c.applies("aggregate-filter")
        if _filters(c, condition, over):
            call = exp.Filter(this=call, expression=exp.Where(this=condition))
        else:
            call = exp.Count(this=case((condition, number(1))))
    return integer(over(call) if over else call, 0, nullable=False)


def _filters(c: Compiler, condition: exp.Expr | None, over: Finish | None) -> bool:
    """True if FILTER can express a condition; only SQLite allows aggregates in a window function's."""
    return not c.lowers("aggregate-filter") and not (
        over and condition is not None and has(condition, *AGGREGATES)
    )


def _kept(condition: exp.Expr | None) -> Callable[[exp.Expr], exp.Expr]:
    """Return the argument, with NULL for rows that FILTER should leave out but cannot."""
    if condition is None:
        return lambda node: node
    return lambda node: case((condition.copy(), node))


def _distinct(node: exp.Expr, *, distinct: bool) -> exp.Expr:
    return exp.Distinct(expressions=[node]) if distinct else node


def _countable(c: Compiler, t: Typed, *, distinct: bool) -> exp.Expr:
    if t.kind is Kind.ANY and isinstance(t.node, exp.Column) and (t.is_stored_once or not distinct):
        return t.node
    if t.tagged is not None and not distinct:
        return t.node
    if t.kind is Kind.ANY and distinct:
        return keyed(c, t)
    if t.is_split:
        return _there(c, t).node
    return keyed(c, t) if distinct else value(c, t)


def _there(c: Compiler, t: Typed) -> Typed:
    """Return 1 if a value is not NULL, else NULL."""
    if t.is_split:
        return spread(c, t, lambda part: _there(c, part))
    return integer(case((is_not_null(t.node), number(1))))


def _sum(
    c: Compiler, t: Typed, kept: Callable[[exp.Expr], exp.Expr], finish: Finish, *, distinct: bool, over: bool
) -> Typed:
    whole_values = _counts_as_integer(c, t)
    read, t = t, _within_doubles("sum()", as_number(c, t))
    if t.is_split and whole_values is not None and not distinct and not over:
        is_whole = _all_integers(c, read, whole_values, kept, finish)
        exact, rounded = (
            _sum(c, part, kept, finish, distinct=False, over=False)
            for part in (_integers(c, read), as_double(c, t))
        )
        exact = exact.with_number(low=-BIGGEST - 1, high=BIGGEST)
        return choose(c, [(is_whole, exact)], rounded).of(nullable=True)
    if t.kind is Kind.ANY:
        raise Untranslatable("sum()", "integers beyond 2^53 are added to reals")
    if t.kind is Kind.NULL:
        return _of_nulls(finish)
    if t.kind is Kind.INTEGER:
        call = finish(exp.Sum(this=_distinct(kept(value(c, t)), distinct=distinct)))
        if c.lowers("exact-sums"):
            c.applies("integer-sum")
            call = Bigint(this=call)
        return integer(call)
    call = finish(exp.Sum(this=_distinct(kept(as_double(c, t).node), distinct=distinct)))
    if t.kind is Kind.REAL:
        return real(call)
    if whole_values is None:
        return Typed(call, Kind.NUMBER)
    all_whole = _all_integers(c, t, whole_values, kept, finish)
    return Typed(call, Kind.NUMBER, number=NumberFacts(integral=all_whole, vanishing=t.number.vanishing))


def _all_integers(
    c: Compiler, t: Typed, whole_values: exp.Expr, kept: Callable[[exp.Expr], exp.Expr], finish: Finish
) -> exp.Expr:
    """Return a condition that sum() treats each value as INTEGER."""
    there = case((is_not_null(_there(c, t).node if t.is_split else t.node), AsInteger(this=whole_values)))
    return exp.EQ(this=finish(exp.Min(this=kept(there))), expression=number(1))


def most_rows(scope: Scope) -> int | None:
    """Return the most rows that SQLite can read in a SELECT of stored tables; None if it reads others."""
    if any(source.table is None for source in scope.sources):
        return None
    rows = math.prod(max(1, source.table.rows) for source in scope.sources if source.table is not None)
    return min(rows, EXACT)


def _most_summed(t: Typed, scope: Scope) -> float | None:
    rows = most_rows(scope)
    if t.kind is not Kind.INTEGER or t.number.greatest is None:
        return None
    if rows is None:
        return math.inf if is_beyond_double(t) else None
    return rows * t.number.greatest


_SUMMABLE = 1e290
"""The sum of as many such numbers as SQLite can have rows is less than the greatest double."""


def _within_doubles(name: str, t: Typed) -> Typed:
    """Return a number whose sums are finite.

    Raises:
        Untranslatable: they may be infinite, as SQLite allows and other engines do not.
    """
    if any(abs(bound) > _SUMMABLE for bound in (t.number.low, t.number.high) if bound is not None):
        raise Untranslatable(name, "it may be infinite")
    return t


def _average(
    c: Compiler, t: Typed, kept: Callable[[exp.Expr], exp.Expr], finish: Finish, *, distinct: bool
) -> Typed:
    if t.kind is Kind.NULL:
        return _of_nulls(finish)
    c.applies("real-average")
    averaged = finish(exp.Avg(this=_distinct(kept(as_double(c, t).node), distinct=distinct)))
    return real(averaged, t.number.low, t.number.high)


def _counts_as_integer(c: Compiler, t: Typed) -> exp.Expr | None:
    """Return a condition that sum() treats a value as INTEGER; a text only if all of it is one."""
    if t.is_split:
        if any(_counts_as_integer(c, part) is None for part in t.alternatives):
            return None
        return spread(c, t, lambda part: boolean(_counts_as_integer(c, part) or exp.Null())).node
    if t.kind is Kind.TEXT:
        return every([is_not_null(server("as_number", t.node.copy())), server("is_integer", t.node.copy())])
    return exp.Boolean(this=False) if t.kind is Kind.BLOB else integral(t)


def _extreme(c: Compiler, name: str, t: Typed, kept: Callable[[exp.Expr], exp.Expr], finish: Finish) -> Typed:
    if t.kind is Kind.NULL:
        return _of_nulls(finish)
    if t.kind is Kind.ANY:
        return _extreme_of_several(c, name, t, kept, finish)
    if t.kind is Kind.BLOB:
        # PostgreSQL has no min() of blobs; their hexadecimal digits sort as the bytes do.
        digits = Hexadecimal(this=value(c, t), blob=True)
        call = finish((exp.Min if name == "min" else exp.Max)(this=kept(digits)))
        return Typed(Unhexed(this=call), Kind.BLOB)
    if t.kind is Kind.TEXT and t.text.collation is Collation.NOCASE:
        return _extreme_without_case(c, name, t, kept, finish)
    if t.kind is Kind.TEXT and t.text.collation not in {None, Collation.BINARY}:
        raise Untranslatable(
            f"{name}() under {t.text.collation}", "which of the equal texts is returned is not defined"
        )
    t = plain(c, t)
    call = finish((exp.Min if name == "min" else exp.Max)(this=kept(value(c, t))))
    found = t.of(node=call, affinity=Affinity.NONE, nullable=True, constant=None)
    found = found.with_text(collation=None, collates=False)
    if t.kind is Kind.NUMBER:
        # A column of REALs, or one without a type, can contain a REAL without fraction.
        is_own = t.stored.mixed and t.affinity is Affinity.NUMERIC
        return found.with_number(integral=whole(call) if is_own else None)
    return found


ANY_CASE = "of texts that differ in case alone, min() and max() return any"


def _extreme_without_case(
    c: Compiler, name: str, t: Typed, kept: Callable[[exp.Expr], exp.Expr], finish: Finish
) -> Typed:
    """Return the extreme of the text in lower case followed by the text, and cut off the first half."""
    c.applies("collation")
    c.warn(ANY_CASE)
    both = Joined(expressions=[Lower(this=t.node.copy()), string("\x01"), t.node.copy()])
    found = finish((exp.Min if name == "min" else exp.Max)(this=kept(both)))
    start = Whole(
        this=exp.Paren(this=exp.Add(this=Characters(this=found), expression=number(3))), expression=number(2)
    )
    return text(Slice(this=found.copy(), start=start))


def _extreme_of_several(
    c: Compiler, name: str, t: Typed, kept: Callable[[exp.Expr], exp.Expr], finish: Finish
) -> Typed:
    """Return the least number if there is one, else the least text or blob; max() the other way round."""
    parts = [_alone(c, t, rank) for rank in (1, 2, 3)]
    sides = [
        _extreme_number(c, name, part, kept, finish)
        if part.kind is Kind.ANY
        else _extreme(c, name, part.of(stored=t.stored, affinity=t.affinity), kept, finish)
        for part in parts
        if part.kind is not Kind.NULL
    ] or [_of_nulls(finish)]
    *earlier, last = sides if name == "min" else reversed(sides)
    c.applies("choice-of-types")
    there = [is_not_null(_there(c, side).node if side.is_split else side.node) for side in earlier]
    return choose(c, list(zip(there, earlier, strict=True)), last).of(nullable=True)


def _extreme_number(
    c: Compiler, name: str, t: Typed, kept: Callable[[exp.Expr], exp.Expr], finish: Finish
) -> Typed:
    """Return the extreme of INTEGERs beyond 2^53 and REALs, which are compared exactly."""
    whole, double = (_extreme(c, name, _only(c, t, kind), kept, finish) for kind in (Kind.INTEGER, Kind.REAL))
    beats = compare(c, exp.LT if name == "min" else exp.GT, double, whole).node
    alone = case((is_null(whole.node), exp.Boolean(this=True)), default=beats)
    is_double = every([is_not_null(double.node), alone])
    return choose(c, [(is_double, double)], whole)


def _only(c: Compiler, t: Typed, kind: Kind) -> Typed:
    """Return only the INTEGERs or the REALs of a number of both kinds, NULL for the others."""
    if t.is_split:
        return spread(c, t, lambda part: _only(c, part, kind))
    if t.kind is Kind.NUMBER:
        raise Untranslatable(SEVERAL_TYPES, "it is unknown whether one is an integer or a real")
    return t if t.kind is kind else literal(None)


def _integers(c: Compiler, t: Typed) -> Typed:
    """Return what sum() treats as INTEGERs; anything for the other values."""
    if t.is_split:
        return spread(c, t, lambda part: _integers(c, part))
    return as_integer(c, t) if t.kind in {Kind.INTEGER, Kind.TEXT, Kind.NUMBER} else literal(None)


def _alone(c: Compiler, t: Typed, rank: int) -> Typed:
    """Return only the numbers, texts or blobs of a value of several kinds, NULL for the others."""
    if t.kind is Kind.ANY:
        return spread(c, t, lambda part: _alone(c, part, rank))
    return t if RANK.get(t.kind, rank) == rank else literal(None)


def _listed(
    c: Compiler, first: Typed, rest: Sequence[Typed], kept: Callable[[exp.Expr], exp.Expr], finish: Finish,
    order: list[exp.Expr] | None, *, distinct: bool,
) -> Typed:  # fmt: skip
    c.applies("group-concat")
    separator = ","
    if rest:
        found = rest[0]
        if found.constant is None:
            raise Untranslatable("group_concat()", "its separator is not a constant")
        shown = as_text(c, found).constant
        separator = str(shown.value) if shown is not None and shown.value is not None else ""
    listed = _list(c, kept(as_text(c, first).node), separator, order, distinct=distinct)
    return text(finish(listed))


def _list(
    c: Compiler, node: exp.Expr, separator: str, order: list[exp.Expr] | None, *, distinct: bool = False
) -> exp.Expr:
    c.hint("list-limit")
    return Listed(
        this=node,
        separator=exp.Literal.string(separator),
        distinct=distinct,
        order=None if order is None else exp.Order(expressions=[part.copy() for part in order]),
    )


def _order_of_rows(scope: Scope) -> list[exp.Expr] | None:
    """Return the order of the only source's rows; None if it has none."""
    return scope.sources[0].order if len(scope.sources) == 1 else None


def _refuse_outer_filter(name: str, condition: exp.Expr | None, named: set[str], scope: Scope) -> None:
    """Reject a FILTER of outer columns only: PostgreSQL would assign the aggregate to the outer SELECT."""
    within = set() if condition is None or named else reached(condition)
    if within and not within & {source.alias for source in scope.sources}:
        raise Untranslatable(f"{name}()", "its FILTER belongs to an outer SELECT")


def _json_part(
    c: Compiler, name: str, arguments: list[exp.Expr], found: list[Typed], scope: Scope
) -> exp.Expr:
    value = element(c, arguments[-1], found[-1], scope)
    return (
        value if name == "json_group_array" else Joined(expressions=[label(c, found[0]), string(":"), value])
    )


def _listed_as_json(
    c: Compiler, name: str, node: exp.Expr, scope: Scope, kept: Callable[[exp.Expr], exp.Expr],
    finish: Finish, *, distinct: bool, over: bool,
) -> Typed:  # fmt: skip
    """Compile json_group_array() or json_group_object(), which are empty without rows."""
    if distinct:
        raise Untranslatable(f"{name}(DISTINCT)", "no target lists each value once in SQLite's order")
    # Over a window, the list is in the window's order.
    order = None if over else _order_of_rows(scope)
    if order is None and not over:
        c.warn(UNORDERED.format(name))
    listed = _list(c, kept(node), ",", order)
    c.documents.append(scope)
    empty = coalesced(finish(listed), string(""))
    c.applies("json-text")
    begin, end = "[]" if name == "json_group_array" else "{}"
    return text(Joined(expressions=[string(begin), empty, string(end)]), nullable=False)

"""Compile window functions and their frames. https://sqlite.org/windowfunctions.html."""

import math
from collections.abc import Iterable
from contextlib import nullcontext

from sqlglot import exp

from dialects.coercions import (
    BIGGEST,
    as_double,
    bounded,
    bounds,
    is_beyond_double,
    literal,
    most_of,
    plain,
    value,
    within,
)
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.functions import Role, find
from dialects.lowerings import Nodes
from dialects.nodes import (
    AsInteger,
    Bigint,
    Exact,
    Framed,
    Picked,
    Text,
    builtin,
    case,
    identifier,
    is_constant,
    is_null,
    number,
)
from dialects.rewrites.aggregates import aggregate, is_aggregate, most_rows
from dialects.rewrites.comparison import direction, keyed, ordered
from dialects.rewrites.group_by import Name, determined, is_fixed, name_of, reached, scan_order
from dialects.scope import Scope
from dialects.tagged_values import from_tagged, to_tagged, together
from dialects.trees import find_all, windows_of
from dialects.value_types import Affinity, Kind, NumberFacts, Typed, integer, null


def compile_frame(c: Compiler, spec: exp.WindowSpec, scope: Scope, *, sorted_: bool) -> exp.WindowSpec:
    """Compile a frame, its bounds as constants; `sorted_` is True if the window has an order."""
    frame = spec.copy()
    for part in ("kind", "start_side", "end_side"):
        if frame.args.get(part):
            frame.set(part, str(frame.args[part]).upper())
    kind = frame.args.get("kind")
    if kind == "GROUPS" and not sorted_:
        raise Untranslatable("GROUPS in a frame", "it is sorted by a constant")
    if kind == "GROUPS" or frame.args.get("exclude"):
        c.applies("window-frame")
    for side in ("start", "end"):
        bound = frame.args.get(side)
        if isinstance(bound, exp.Expr) and not isinstance(bound, exp.Var):
            frame.set(side, _distance(c.expression(bound, scope), kind))
    return frame


def needs_numbers(c: Compiler, frame: exp.WindowSpec | None) -> bool:
    """True if the target lacks such a frame; replaces one that it has under another name."""
    if frame is None or not c.lowers("group-frames"):
        return False
    if str(frame.args.get("exclude") or "").upper() == "NO OTHERS":
        frame.set("exclude", None)
    counted = any(isinstance(frame.args.get(side), exp.Expr) for side in ("start", "end"))
    if frame.args.get("kind") == "GROUPS" and not counted:
        frame.set("kind", "RANGE")
    return frame.args.get("kind") == "GROUPS" or bool(frame.args.get("exclude"))


def _distance(t: Typed, kind: str | None) -> exp.Expr:
    """Return the constant of `n PRECEDING`; SQLite rejects others only at the first row."""
    found = None if t.constant is None else t.constant.value
    if t.constant is None:
        raise Untranslatable("a frame", "its bound is not a constant")
    if not isinstance(found, int | float) or found < 0 or (kind != "RANGE" and found != int(found)):
        raise Untranslatable("a frame", "SQLite refuses its bound at the first row")
    return literal(int(found) if found == int(found) else found).node


def distances(frame: exp.WindowSpec | None) -> list[exp.Expr]:
    """Return the bounds of a RANGE frame that are distances."""
    if frame is None or frame.args.get("kind") != "RANGE":
        return []
    bounds = (frame.args.get("start"), frame.args.get("end"))
    return [bound for bound in bounds if isinstance(bound, exp.Expr) and not isinstance(bound, exp.Var)]


def ordered_by_distance(
    c: Compiler, t: Typed, term: exp.Expr, frame: exp.WindowSpec
) -> tuple[Typed, exp.Expr]:
    """Return the sort key and ORDER BY term of a RANGE frame with distances; changes `frame` for texts."""
    if t.kind in {Kind.TEXT, Kind.BLOB}:
        c.applies("range-frame")
        for side in ("start", "end"):
            if isinstance(frame.args.get(side), exp.Expr) and not isinstance(frame.args[side], exp.Var):
                frame.set(side, "CURRENT ROW")
                frame.set(f"{side}_side", None)
        return t, term
    if not t.kind.is_numeric or t.stored.mixed:
        raise Untranslatable("RANGE in a frame", "it counts from values of several types")
    if any(not bound.name.isdigit() for bound in distances(frame)) or t.number.decimal:
        if t.kind is not Kind.REAL and is_beyond_double(t):
            raise Untranslatable("RANGE in a frame", "it counts fractions from integers beyond 2^53")
        c.applies("range-frame")
        t = as_double(c, t)
    farthest = max((int(bound.name) for bound in distances(frame) if bound.name.isdigit()), default=0)
    exact = t.kind is Kind.INTEGER and t.number.low is not None and not within(t, BIGGEST - farthest)
    if exact:
        # The target fails where a distance leads beyond 64 bits.
        c.applies("range-frame")
        t = t.of(node=Exact(this=t.node)).with_number(low=None, high=None)
    descending, first = direction(term)
    if c.target.has_null_order or not t.nullable or first != descending:
        return t, term
    if t.kind is Kind.INTEGER and not exact and (t.number.low is None or t.number.low <= -(2**63)):
        raise Untranslatable(
            "RANGE in a frame", f"{c.target.title} cannot sort NULL the other way round there"
        )
    c.applies("range-frame")
    return t.of(node=exp.Neg(this=t.node)), exp.Ordered(this=term.this, desc=not descending)


_BACKWARDS = {"lag": "lead", "lead": "lag"}

UNFILTERED = "SQLite 3.40 ignores the FILTER of min() and max() where rows leave the frame"

OUTGROWN = "SQLite 3.40 can lose the least or greatest value of a frame of many rows where rows leave it"

_PAGE, _NUMBER_WIDTH, _TEXT_WIDTH = 4000, 24, 1000
"""It is right while the values of a frame fit a page, which takes so many bytes of each."""

EMPTY = "SQLite 3.40 loses a separator of group_concat() beside an empty text where rows leave the frame"

TIES = "rows that tie in the window's order come in an order that SQLite does not define"


def named_windows(written: Iterable[exp.Expr]) -> dict[str, exp.Expr]:
    """Return the windows of a WINDOW clause by name (lower case), each with its inherited parts."""
    result: dict[str, exp.Expr] = {}
    for window in written:
        base = window.args.get("alias")
        result[window.name.lower()] = (
            window if base is None else _based(window, result.get(base.name.lower()))
        )
    return result


def _based(window: exp.Expr, base: exp.Expr | None) -> exp.Expr:
    """Return a window with its missing parts taken from `base`.

    Raises:
        Untranslatable: there is no such base.
    """
    if base is None:
        raise Untranslatable("OVER", f"there is no window {window.args['alias'].name}")
    result = window.copy()
    for part in ("partition_by", "order", "spec"):
        if not result.args.get(part) and base.args.get(part):
            found = base.args[part]
            result.set(part, [item.copy() for item in found] if isinstance(found, list) else found.copy())
    return result


def warn_of_peers(c: Compiler, scope: Scope, tree: exp.Select) -> None:
    """Warn if rows tied in a window differ in the SELECT's results or sort keys."""
    if not scope.peers:
        return
    own = {source.alias for source in scope.sources}
    parts = [*tree.expressions, *([tree.args["order"]] if tree.args.get("order") else [])]
    used = {
        (column.table, column.name)
        for part in parts for column in find_all(part, exp.Column) if column.table in own
    }  # fmt: skip
    # Two windows can number even identical rows in different orders.
    several = len(scope.peers) > 1 and len({
        exp.Window(partition_by=window.args.get("partition_by"), order=window.args.get("order"))
        for part in parts for window in find_all(part, exp.Window)
    }) > 1  # fmt: skip
    if several or any(not used <= common for common in scope.peers):
        c.warn(TIES)


_WINDOWS = 8
"""From more windows in a SELECT on, equal ones are one by name where each takes memory of its own."""


def share_windows(c: Compiler, nodes: Nodes) -> bool:
    """Name the windows of each SELECT that has many, if the target allows only so many; True if it has.

    Raises:
        Untranslatable: too many of them are different.
    """
    most = c.most("windows-in-a-select")
    if most is None or len(nodes[exp.Window]) <= _WINDOWS:
        return False
    for select in nodes[exp.Select]:
        own = windows_of(select)
        if len(own) <= _WINDOWS:
            continue
        names: dict[exp.Expr, exp.Identifier] = {}
        for window in own:
            shape = exp.Window(**{part: window.args.get(part) for part in ("partition_by", "order", "spec")})
            name = names.setdefault(shape.copy(), identifier(f"_w{len(names) + 1}"))
            window.replace(exp.Window(this=window.this, alias=name.copy(), over="OVER"))
        if len(names) > most:
            raise Untranslatable("the statement", f"{c.target.title} takes {most} windows in a SELECT")
        select.set("windows", [exp.Window(**{**shape.args, "this": name}) for shape, name in names.items()])
    return True


def filtered(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    """Compile aggregate(...) FILTER (WHERE condition)."""
    call = node.this
    if not isinstance(call, exp.Anonymous) or not is_aggregate(call.name.lower(), call.expressions):
        raise Untranslatable("FILTER", "only aggregates have one")
    return aggregate(c, call, scope, node.expression.this)


def window(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    """Compile function(...) [FILTER (...)] OVER (...)."""
    call, where = node.this, None
    if isinstance(call, exp.Filter):
        call, where = call.this, call.expression.this
    if not isinstance(call, exp.Anonymous):
        raise Untranslatable("OVER", f"{call.key} is not a window function")
    name = call.name.lower()
    row = find(name, len(call.expressions))
    if row is None or row.role not in {Role.AGGREGATE, Role.WINDOW}:
        raise Untranslatable(f"{name}() OVER", "SQLite 3.40 has no such window function")
    spec = _Specification(c, node, scope, framed=row.framed)
    if row.role is Role.AGGREGATE:
        if call.expressions and isinstance(call.expressions[0], exp.Distinct):
            raise Untranslatable("DISTINCT in a window function", "SQLite has none")
        lists = row.lists
        spec.numbered = spec.numbered or (lists and c.lowers("list-windows"))
        if spec.counts_rows() or lists:
            spec.note_ties()
        if lists and not name.startswith("json") and spec.slides() and not spec.excludes():
            c.warn(EMPTY)
        if where is not None and name in {"min", "max"} and spec.slides() and not spec.excludes():
            c.warn(UNFILTERED)
        found = aggregate(c, call, scope, where, spec.over)
        if name in {"min", "max"} and spec.slides() and not spec.excludes():
            width = 0 if found.kind.is_numeric else min(2 * c.longest_text, _TEXT_WIDTH)
            if spec.most_rows() * (_NUMBER_WIDTH + width) > _PAGE:
                c.warn(OUTGROWN)
        if name in {"sum", "total", "avg"} and spec.slides() and not spec.excludes():
            _warn_of_remainders(c, call.expressions, scope)
        # SQLite's sum stays a REAL even after the last REAL has left the frame.
        return found.with_number(integral=None) if name == "sum" and spec.slides() else found
    arguments = [c.expression(argument, scope) for argument in call.expressions]
    if row.form is not None:
        if name == "row_number":
            spec.note_ties()
        ranked: exp.Expr = spec.over(builtin(str(row.form)))
        ranked = _signed(c, ranked) if row.result is Kind.INTEGER else ranked
        return Typed(ranked, row.result, nullable=False, number=NumberFacts(row.low, row.high))
    spec.note_ties()
    if name == "ntile":
        numbered = spec.over(builtin("NTILE", number(_count(arguments[0], name))))
        return integer(_signed(c, numbered), 1)
    return _pick(c, name, arguments, spec)


def _warn_of_remainders(c: Compiler, arguments: list[exp.Expr], scope: Scope) -> None:
    """Warn if subtracting the reals that leave a frame can leave a visible remainder: SQLite 3.40 does so."""
    with nullcontext() if scope.grouping else c.ungrouped(scope):
        added = c.expression(arguments[0], scope) if arguments else null()
    if added.kind not in {Kind.INTEGER, Kind.NULL} and not within(added, _UNSEEN):
        c.warn(REMAINDER)


REMAINDER = "SQLite 3.40 subtracts reals that leave the frame, and keeps what it rounded away"

_UNSEEN = 1e6
"""The sum of such reals, with fractions as people write them, is rounded by less than the comparison sees."""


def _signed(c: Compiler, node: exp.Expr) -> exp.Expr:
    """Cast a row number to signed: MySQL's are unsigned, and a negative difference is an error."""
    return Bigint(this=node) if c.lowers("unsigned-bits") else node


def _count(t: Typed, name: str, least: int = 1) -> int:
    """Return a constant number of rows; SQLite rejects fewer than `least` only at the first row."""
    if t.constant is None or not isinstance(t.constant.value, int):
        raise Untranslatable(f"{name}()", "how many rows is not a constant")
    if t.constant.value < least:
        raise Untranslatable(f"{name}()", f"{t.constant.value} rows: SQLite refuses it at the first row")
    return t.constant.value


def _pick(c: Compiler, name: str, arguments: list[Typed], spec: "_Specification") -> Typed:
    first = plain(c, arguments[0])
    if first.kind is Kind.NULL and len(arguments) <= 2:  # noqa: PLR2004 - lag(value, offset, default)
        return null()
    first = null() if first.kind is Kind.NULL else first
    default = plain(c, arguments[2]) if len(arguments) > 2 else null()  # noqa: PLR2004 - lag(value, offset, default)
    kinds = {first.kind, default.kind} - {Kind.NULL}
    if len(kinds) > 1:
        first, default = bounded(first), bounded(default)
    if kinds == {Kind.INTEGER, Kind.REAL} and not any(is_beyond_double(one) for one in (first, default)):
        first, default = (as_double(c, one).of(kind=Kind.NUMBER) for one in (first, default))
    elif len(kinds) > 1 or Kind.ANY in kinds:
        first, default = _both_carried(c, first, default)
    shown = first.node if first.tagged else value(c, first)
    if (
        c.lowers("narrow-arithmetic")
        and first.kind is default.kind is Kind.INTEGER
        and (is_constant(shown) or isinstance(shown, AsInteger))
    ):
        # A literal or a condition has 32 bits, and the default is converted to its type.
        shown = Bigint(this=shown)
    # PostgreSQL assigns no type to a literal argument of a polymorphic function.
    parts = [Text(this=shown) if first.kind is Kind.TEXT and is_constant(shown) else shown]
    if len(arguments) > 1 and arguments[1].constant is None:
        return _pick_computed(c, name, parts[0], arguments[1], first, default, spec)
    if len(arguments) > 1:
        # Backwards means the other function: not every target allows negative offsets.
        count = _count(arguments[1], name, 1 if name == "nth_value" else -BIGGEST)
        name = name if count >= 0 else _BACKWARDS[name]
        parts.append(number(abs(count)))
    if len(arguments) > 2:  # noqa: PLR2004 - lag(value, offset, default)
        parts.append(default.node if default.tagged else value(c, default))
    return _picked(c, spec.over(builtin(name.upper(), *parts)), first, default)


def _picked(c: Compiler, node: exp.Expr, first: Typed, default: Typed) -> Typed:
    """Return a value or its default with what is known of both."""
    low, high = bounds([first, default])
    result = first if default.kind is Kind.NULL else default
    result = result.of(node=node, nullable=True, affinity=Affinity.NONE, constant=None)
    result = result.with_number(integral=None, low=low, high=high, most=most_of([first, default]))
    result = result.with_text(collation=None, form=None)
    return result if result.tagged is None else from_tagged(c, result.of(several=result.tagged))


_FARTHEST = 2**31 - 1
"""The greatest offset of a window function on PostgreSQL."""


def _pick_computed(
    c: Compiler, name: str, shown: exp.Expr, count: Typed, first: Typed, default: Typed,
    spec: "_Specification",
) -> Typed:  # fmt: skip
    """Compile lag(), lead() or nth_value() with a number of rows computed per row."""
    if count.kind is not Kind.INTEGER:
        raise Untranslatable(f"{name}()", "how many rows is not an integer")
    c.applies("computed-offset")
    rows: exp.Expr = value(c, count)
    other = None if default.kind is Kind.NULL else default.node if default.tagged else value(c, default)
    if c.lowers("computed-offsets"):
        found = spec.picked(name, shown, rows, other)
    else:
        near = exp.Least(this=Bigint(this=rows.copy()), expressions=[number(_FARTHEST)])
        limited = exp.Greatest(this=near, expressions=[number(-_FARTHEST)])
        arguments = [shown, exp.Cast(this=limited, to=exp.DataType.build("int"))]
        arguments += [] if other is None else [other]
        found = spec.over(builtin(name.upper(), *arguments))
        if other is not None and count.nullable:
            found = case((is_null(rows), other.copy()), default=found)
    return _picked(c, found, first, default)


def _both_carried(c: Compiler, first: Typed, default: Typed) -> tuple[Typed, Typed]:
    """Return a value and its default, of several kinds, as JSON with the same facts about both."""
    first = to_tagged(c, first)
    default = null() if default.kind is Kind.NULL else to_tagged(c, default)
    known = together(one.tagged for one in (first, default) if one.tagged is not None)
    return first.of(several=known), default if default.tagged is None else default.of(several=known)


def _varies(node: exp.Expr, scope: Scope) -> bool:
    """True if an expression in OVER differs between rows; on MySQL it cannot have outer columns.

    Raises:
        Untranslatable: it does, and has such columns.
    """
    own = {source.alias for source in scope.sources}
    named = reached(node)
    if named - own and named & own:
        raise Untranslatable("OVER", "MySQL takes no column of an outer SELECT there")
    return not named or bool(named & own)


class _Specification:
    """The contents of OVER, with named windows expanded."""

    def __init__(self, c: Compiler, node: exp.Expr, scope: Scope, *, framed: bool) -> None:
        self.c, self.scope, self.node = c, scope, node
        if (base := node.args.get("alias")) is not None:
            node = _based(node, scope.windows.get(base.name.lower()))
        keys = [keyed(c, c.expression(part, scope)) for part in node.args.get("partition_by") or []]
        self.keys = [key for key in keys if not is_constant(key)]
        order, spec = node.args.get("order"), node.args.get("spec") if framed else None
        parts = [] if order is None else order.expressions
        compiled = [(c.expression(part.this, scope), part) for part in parts]
        sorting = [(found, part) for found, part in compiled if found.constant is None]
        self.frame = None if spec is None else compile_frame(c, spec, scope, sorted_=bool(sorting))
        if self.frame is not None and distances(self.frame):
            if len(sorting) != 1:
                raise Untranslatable("RANGE in a frame", "it is sorted by a constant")
            sorting = [ordered_by_distance(c, *sorting[0], self.frame)]
        self.numbered = needs_numbers(c, self.frame)
        """True if the rows must be numbered for it."""
        self.terms = [term for found, part in sorting for term in ordered(c, found, part)]
        self.terms = [term for term in self.terms if not is_constant(term.this)]
        if c.lowers("window-constants"):
            self.keys = [key for key in self.keys if _varies(key, scope)]
            self.terms = [term for term in self.terms if _varies(term, scope)]

    def slides(self) -> bool:
        """True if rows leave the frame."""
        return self.frame is not None and self.frame.args.get("start") != "UNBOUNDED"

    def most_rows(self) -> float:
        """Return the most rows that a frame may have."""
        most = most_rows(self.scope)
        bounds = [] if self.frame is None else [self.frame.args.get(side) for side in ("start", "end")]
        counted = [int(each.name) for each in bounds if isinstance(each, exp.Literal)]
        if self.frame is None or self.frame.args.get("kind") != "ROWS" or "UNBOUNDED" in bounds:
            return math.inf if most is None else most
        return sum(counted) + 1 if most is None else min(sum(counted) + 1, most)

    def excludes(self) -> bool:
        """True if it has EXCLUDE, even NO OTHERS."""
        return self.frame is not None and bool(self.frame.args.get("exclude"))

    def counts_rows(self) -> bool:
        """True if the frame can end or begin between tied rows."""
        if self.frame is None or self.frame.args.get("kind") != "ROWS":
            return False
        return any(self.frame.args.get(side) not in {None, "UNBOUNDED"} for side in ("start", "end")) or (
            self.frame.args.get("end") is None
        )

    def note_ties(self) -> None:
        """Record the columns that tied rows share, unless none can tie, for `warn_of_peers`."""
        fixed = [*self.keys, *(term.this for term in self.terms)]
        known = self._common(fixed)
        grouping = self.scope.grouping
        if grouping is not None:
            if not all(key.node in fixed or name_of(key.node) in known for _, key in grouping.keys):
                self.scope.peers.append(set())
            return
        if not all(is_fixed(source, known, alike=True) for source in self.scope.sources):
            self.scope.peers.append(known)

    def _common(self, fixed: list[exp.Expr]) -> set[Name]:
        """Return the columns that are fixed if the expressions are."""
        names = [name for node in fixed if (name := name_of(node))]
        return determined(self.scope.sources, self.scope.holding, names, alike=True)

    def over(self, call: exp.Expr) -> exp.Expr:
        """Add OVER to a call."""
        window = exp.Window(
            this=call,
            partition_by=[key.copy() for key in self.keys],
            order=exp.Order(expressions=[term.copy() for term in self.terms]) if self.terms else None,
            spec=None if self.frame is None else self.frame.copy(),
            over="OVER",
        )
        if self.numbered:
            return self._numbered(window)
        if not self.c.lowers("single-row-frames") or not self._leaves_out_the_row():
            return window
        # MySQL 9.7 ignores the frame over a single row; this frame is then empty.
        rows = exp.Window(this=exp.Count(this=exp.Star()), over="OVER")
        empty = number(0) if isinstance(call, exp.Count) else exp.Null()
        return case((exp.GT(this=rows, expression=number(1)), window), default=empty)

    def picked(self, name: str, shown: exp.Expr, rows: exp.Expr, default: exp.Expr | None) -> exp.Expr:
        """Return the value of the row at a distance, or at a position in the frame, by numbered rows.

        Raises:
            Untranslatable: the frame's first row is not the first one of its partition.
        """
        if name == "nth_value" and (self.slides() or self.leaves_rows_out()):
            raise Untranslatable("nth_value()", f"{self.c.target.title} has no computed number of rows")
        self.numbered = True
        arguments = [shown, rows] if default is None else [shown, rows, default]
        return self.over(Picked(this=name, expressions=arguments))

    def leaves_rows_out(self) -> bool:
        """True if EXCLUDE leaves rows out."""
        written = "" if self.frame is None else str(self.frame.args.get("exclude") or "")
        return written.upper() not in {"", "NO OTHERS"}

    def _numbered(self, window: exp.Window) -> exp.Expr:
        """Return the window for `dialects.rewrites.emulation`."""
        self.c.applies("window-frame")
        if distances(self.frame):
            raise Untranslatable(
                "EXCLUDE or a list in a frame", f"{self.c.target.title} has none within distances"
            )
        written = self.node.find_ancestor(exp.Select) or self.node
        ties = scan_order(self.c, written, self.scope, self.scope.holding).terms
        return Framed(**{**window.args, "ties": [term.copy() for term in ties]})

    def _leaves_out_the_row(self) -> bool:
        """True if the frame begins after the row or ends before it."""
        bounds = () if self.frame is None else (("start", "FOLLOWING"), ("end", "PRECEDING"))
        return self.frame is not None and any(
            self.frame.args.get(f"{bound}_side") == side and self.frame.args[bound].name != "0"
            for bound, side in bounds
        )

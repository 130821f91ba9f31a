"""Frames of windows. https://sqlite.org/windowfunctions.html#frame_specifications."""

from sqlglot import exp

from dialects.coercions import as_double, is_beyond_double, literal
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.rules import Rule
from dialects.scope import Scope
from dialects.typed import Kind, Typed

RULES = (
    Rule(
        "window-frame",
        "Frames can count GROUPS and EXCLUDE rows.",
        "https://sqlite.org/windowfunctions.html#frame_specifications",
        "PostgreSQL alike; MySQL: a subquery over the rows, numbered by ROW_NUMBER and DENSE_RANK. Lists over"
        " a window, too.",
    ),
    Rule(
        "range-frame",
        "RANGE counts from any value: of a text only the rows with the same text are within a distance.",
        "https://sqlite.org/windowfunctions.html#frame_specifications",
        "CURRENT ROW for a text, double precision for a distance with a fraction; MySQL sorts by the negative"
        " value where NULL stands at the other end.",
    ),
)


def compile_frame(c: Compiler, spec: exp.WindowSpec, scope: Scope, *, sorted_: bool) -> exp.WindowSpec:
    """The frame with its bounds as constants; `sorted_` is whether the window has an order."""
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
    """Whether the target has no such frame; one that it has by another name gets that."""
    if frame is None or c.target.has_group_frames:
        return False
    if str(frame.args.get("exclude") or "").upper() == "NO OTHERS":
        frame.set("exclude", None)
    counted = any(isinstance(frame.args.get(side), exp.Expr) for side in ("start", "end"))
    if frame.args.get("kind") == "GROUPS" and not counted:
        frame.set("kind", "RANGE")
    return frame.args.get("kind") == "GROUPS" or bool(frame.args.get("exclude"))


def _distance(t: Typed, kind: str | None) -> exp.Expr:
    """The constant of `n PRECEDING`; SQLite refuses others only when it gets to a row."""
    found = None if t.constant is None else t.constant.value
    if t.constant is None:
        raise Untranslatable("a frame", "its bound is not a constant")
    if not isinstance(found, int | float) or found < 0 or (kind != "RANGE" and found != int(found)):
        raise Untranslatable("a frame", "SQLite refuses its bound at the first row")
    return literal(int(found) if found == int(found) else found).node


def distances(frame: exp.WindowSpec | None) -> list[exp.Expr]:
    """The bounds of a RANGE frame that are distances."""
    if frame is None or frame.args.get("kind") != "RANGE":
        return []
    bounds = (frame.args.get("start"), frame.args.get("end"))
    return [bound for bound in bounds if isinstance(bound, exp.Expr) and not isinstance(bound, exp.Var)]


def ordered_by_distance(
    c: Compiler, t: Typed, term: exp.Expr, frame: exp.WindowSpec
) -> tuple[Typed, exp.Expr]:
    """What a RANGE frame with distances is sorted by, and the ORDER BY term; `frame` is changed for texts."""
    if t.kind in {Kind.TEXT, Kind.BLOB}:
        c.applies("range-frame")
        for side in ("start", "end"):
            if isinstance(frame.args.get(side), exp.Expr) and not isinstance(frame.args[side], exp.Var):
                frame.set(side, "CURRENT ROW")
                frame.set(f"{side}_side", None)
        return t, term
    if not t.kind.is_numeric or t.mixed:
        raise Untranslatable("RANGE in a frame", "it counts from values of several types")
    if any(not bound.name.isdigit() for bound in distances(frame)) or t.decimal:
        if t.kind is not Kind.REAL and is_beyond_double(t):
            raise Untranslatable("RANGE in a frame", "it counts fractions from integers beyond 2^53")
        c.applies("range-frame")
        t = as_double(c, t)
    descending, first = bool(term.args.get("desc")), term.args.get("nulls_first")
    if c.target.has_null_order or not t.nullable or first is None or bool(first) is not descending:
        return t, term
    if t.kind is Kind.INTEGER and (t.low is None or t.low <= -(2**63)):
        raise Untranslatable(
            "RANGE in a frame", f"{c.target.title} cannot sort NULL the other way round there"
        )
    c.applies("range-frame")
    return t.of(node=exp.Neg(this=t.node)), exp.Ordered(this=term.this, desc=not descending)

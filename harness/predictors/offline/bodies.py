"""The SQL-like expressions of external knowledge as trees: names become columns, words become operations.

Whatever is no expression over the schema's columns, or has in it what engines write in different ways and
`operations` doesn't know, is not read at all.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from harness.predictors.offline.masking import Masked
from harness.predictors.offline.operations import (
    Operation,
    Tree,
    call,
    counted,
    is_predicate,
    operation,
    part,
    ratio,
    rewritten,
    times,
)

_LONGEST = 400
"""Longer expressions are not read: a parser needs a stack for what is nested."""
_TRIES = 5
_DEEPEST = 30
_AGGREGATES = frozenset({"count", "sum", "avg", "max", "min"})
_KEPT = frozenset({
    *_AGGREGATES, "cast", "round", "abs", "lower", "upper", "length", "substr", "substring", "iif", "in",
    "and", "or", "not", "between", "like", "when", "then", "else", "case", "distinct", "is",
})  # fmt: skip
_FUNCTION = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_WHERE = re.compile(
    r"\b(count|sum|avg|max|min)\s*+\(\s*+([^()]*?)(?<!\s)\s++where\s++((?:[^()]|\([^()]*\))*)\)",
    re.IGNORECASE,
)
_BARE = re.compile(r"(c\d+_)\s*(=|!=|<>)\s*([^\W\d][\w .'’/-]*)")  # noqa: RUF001 - as people type it
_LISTED = re.compile(
    r"(c\d+_)\s*(?:=|in)\s*\(?\s*(s\d+_(?:\s*(?:,|and|or|&)+\s*s\d+_)+)\s*\)?", re.IGNORECASE
)
_PROSE = re.compile(r"(?<![\w.])(?![cs]\d+_|f_)[^\W\d]\w*(?!\w|\s*\()")
_WORDS = frozenset(
    {*_KEPT, "null", "true", "false", "as", "end", "real", "integer", "int", "float", "text", "now"}
)
_CLAUSE = re.compile(
    r",\s*(?:and|where|but|with|if|in|of|for)\b|\s+(?:in any|in different|in all|in whatever)\b"
)
_ALLOWED = (
    exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.And, exp.Or, exp.Not,
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Like, exp.Is, exp.Add,
    exp.Sub, exp.Mul, exp.Neg, exp.Count, exp.Sum, exp.Avg, exp.Max, exp.Min, exp.Distinct, exp.Star,
    exp.Round, exp.Abs, exp.Lower, exp.Upper, exp.Length, exp.Substring, exp.Case, exp.If, exp.Cast,
    exp.DataType,
)  # fmt: skip


def read(masked: Masked, text: str, defined: Mapping[str, str], *, whole: bool = False) -> Tree | None:
    """The tree of a piece of a masked text; None where there is none.

    Columns that several tables have carry no table yet. `defined` has the bodies of other definitions by
    their phrases, `whole` says that `/` means whole numbers.
    """
    text = text.strip(" .,:")
    for phrase, body in defined.items():
        if phrase in text and len(text) <= _LONGEST:
            text = f"({body})".join(re.split(rf"(?<![\w']){re.escape(phrase)}(?![\w'])", text))
    text = _WHERE.sub(lambda found: f"{found[1]}(CASE WHEN {found[3]} THEN {found[2]} END)", text)
    text = _LISTED.sub(lambda found: f"{found[1]} IN ({', '.join(re.findall(r's[0-9]+_', found[2]))})", text)
    if len(text) > _LONGEST:
        return None
    if bare := _BARE.fullmatch(text):
        masked.strings.append(bare[3])
        if not re.match(r"(?:[cs]\d+_|null|true|false)\b", bare[3], re.IGNORECASE):
            text = f"{bare[1]} {bare[2]} s{len(masked.strings) - 1}_"
    text = _FUNCTION.sub(
        lambda found: found[0] if found[1].lower() in _KEPT else f"f_{found[1].lower()}(", text
    )
    words = text.split(" ")
    tries = [" ".join(words[:end]) for end in range(len(words), max(0, len(words) - _TRIES), -1)]
    if "," in text:
        tries.append(text.split(",")[0] if "(" not in text else _CLAUSE.split(text)[0])
    for one in tries:
        tree = _parsed(one)
        if tree is not None:
            found = _translated(tree.copy(), masked, whole=whole)
            if found is not None:
                return found
    return None


def trimmed(text: str) -> str:
    """A body without the prose behind it."""
    return _CLAUSE.split(text)[0]


@lru_cache(maxsize=2048)
def _parsed(text: str) -> Tree | None:
    """The tree of an expression with placeholders, which many have in common; it is not to be changed."""
    if not re.search(r"[cs]\d+_|\bcount\s*\(\s*\*", text, re.IGNORECASE) or text.count("(") > _DEEPEST:
        return None
    if sum(word.lower() not in _WORDS for word in _PROSE.findall(text)) > 1:
        return None
    try:
        # In parentheses nothing is taken for a command.
        tree = sqlglot.parse_one(f"({text})", read="sqlite")
    except (SqlglotError, RecursionError):
        return None
    return tree


class _Unknown(Exception):
    """Something in a tree is not known."""


def _translated(tree: Tree, masked: Masked, *, whole: bool) -> Tree | None:
    def change(node: Tree) -> Tree:
        return _change(node, masked, whole=whole)

    try:
        found = rewritten(exp.paren(tree, copy=False), change).unnest()
    except _Unknown:
        return None
    unknown = any(not isinstance(node, _ALLOWED) and operation(node) is None for node in found.walk())
    # The greatest of sums is what rows are ranked by, and only by itself.
    top = found.expression if isinstance(found, exp.EQ) else found
    nested = any(
        inner is not outer
        for outer in found.find_all(exp.AggFunc)
        if outer is not top or not isinstance(outer, exp.Max | exp.Min)
        for inner in outer.find_all(exp.AggFunc)
    )
    return None if unknown or nested or not _sound(found) else found


def _sound(tree: Tree) -> bool:
    """Whether what has to be true or false is so."""
    return (
        all(is_predicate(node) for node in tree.find_all(exp.And, exp.Or, exp.Not))
        and all(isinstance(node.expression, exp.Null) for node in tree.find_all(exp.Is))
        and all(node.expressions for node in tree.find_all(exp.In))
    )


def _change(node: Tree, masked: Masked, *, whole: bool) -> Tree:
    if isinstance(node, exp.Column):
        return _named(node, masked)
    if isinstance(node, exp.Sum | exp.Count) and is_predicate(node.this):
        return counted(node.this)
    if isinstance(node, exp.If) and is_predicate(node.args["true"]):
        node.set("this", exp.and_(node.this, node.args["true"]))
        node.set("true", exp.Literal.number(1))
    if isinstance(node, exp.Div):
        above, below = node.this.unnest(), node.expression.unnest()
        return call(Operation.WHOLE, above, below) if whole else ratio(above, below)
    if isinstance(node, exp.Mul):
        for one, other in ((node.this.unnest(), node.expression), (node.expression.unnest(), node.this)):
            if (
                isinstance(other, exp.Literal)
                and operation(one) is Operation.RATIO
                and other.this.isdecimal()
            ):
                return times(one, int(other.this))
    if isinstance(node, exp.CurrentTimestamp | exp.CurrentDate):
        return call(Operation.TODAY)
    if isinstance(node, exp.Binary) and isinstance(
        node, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE
    ):
        node.set("expression", node.expression.unnest())
    return _called(node) if isinstance(node, exp.Anonymous) else node


def _named(node: exp.Column, masked: Masked) -> Tree:
    found = re.fullmatch(r"([cs])(\d+)_", node.name)
    if found is not None:
        kept = masked.columns if found[1] == "c" else masked.strings
        if int(found[2]) < len(kept):
            one = kept[int(found[2])]
            return one.copy() if isinstance(one, exp.Expr) else exp.Literal.string(one)
    parent = node.parent
    if isinstance(parent, exp.EQ | exp.NEQ) and parent.expression is node and not node.table:
        return exp.Literal.string(node.name)
    raise _Unknown


_PARTS = {"f_year": "%Y", "f_month": "%m", "f_day": "%d"}


def _called(node: exp.Anonymous) -> Tree:  # noqa: C901, PLR0911, PLR0912 - one case for each function
    arguments = node.expressions
    match node.name, len(arguments):
        case "f_divide", 2:
            return ratio(arguments[0].unnest(), arguments[1].unnest())
        case "f_multiply", 2:
            return _change(exp.Mul(this=arguments[0], expression=arguments[1]), _NOTHING, whole=False)
        case "f_subtract", 2:
            return exp.paren(exp.Sub(this=arguments[0], expression=arguments[1]), copy=False)
        case "f_add", 2:
            return exp.paren(exp.Add(this=arguments[0], expression=arguments[1]), copy=False)
        case "f_strftime", 2:
            if any(one.name == "%s" for one in arguments):
                return call(Operation.EPOCH, next(one for one in arguments if one.name != "%s"))
            form, value = arguments if isinstance(arguments[0], exp.Literal) else reversed(arguments)
            if isinstance(form, exp.Literal) and re.fullmatch(r"%[YmdHMSj](?:[-:]%[YmdHMS])*", form.name):
                return part(value, form.name)
        case "f_year" | "f_month" | "f_day", 1:
            return part(arguments[0], _PARTS[node.name])
        case "f_julianday", 1:
            return call(Operation.DAYS, arguments[0])
        case "f_date", 1:
            return call(Operation.DAY, arguments[0])
        case "f_date", 2 if arguments[1].name == "unixepoch":
            return call(Operation.EPOCH_DAY, arguments[0].unnest())
        case "f_average", 1:
            return exp.Avg(this=arguments[0])
        case ("f_now", 0) | ("f_curdate", 0) | ("f_current_timestamp", 0):
            return call(Operation.TODAY)
        case "f_distinct", 1:
            return exp.Distinct(expressions=arguments)
    if operation(node) is not None:
        return node
    raise _Unknown


class _Nothing(Masked):
    """No placeholders."""

    def __init__(self) -> None:
        self.strings, self.columns, self.text = [], [], ""


_NOTHING = _Nothing()

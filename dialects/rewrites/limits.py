"""LIMIT and OFFSET. https://sqlite.org/lang_select.html#the_limit_clause."""

from sqlglot import exp

from dialects.coercions import BIGGEST
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.nodes import number
from dialects.numbers import well_formed
from dialects.rules import Rule
from dialects.scope import Scope
from dialects.source import position

RULES = (
    Rule(
        "limit-forms",
        "LIMIT and OFFSET are expressions; a negative LIMIT is none, `LIMIT a, b` skips a rows.",
        "https://sqlite.org/lang_select.html#the_limit_clause",
        "LIMIT b OFFSET a with numbers.",
    ),
)


def limit_rows(c: Compiler, node: exp.Expr, tree: exp.Expr) -> None:
    """LIMIT and OFFSET of `node` onto `tree`."""
    if node.args.get("limit") is None and node.args.get("offset") is None:
        return
    most, skip = row_counts(c, node)
    if most < 0:
        c.applies("limit-forms")
    set_limit(c, tree, most, skip)


def set_limit(c: Compiler, tree: exp.Expr, most: int, skip: int) -> None:
    """LIMIT and OFFSET onto `tree`: how many rows, below 0 for all, behind how many."""
    if most < 0 and skip and not c.target.has_offset_alone:
        most = BIGGEST
    if most >= 0:
        tree.set("limit", exp.Limit(expression=number(most)))
    if skip:
        tree.set("offset", exp.Offset(expression=number(skip)))


def row_counts(c: Compiler, node: exp.Expr) -> tuple[int, int]:
    """How many rows LIMIT leaves, below 0 for all, and how many OFFSET skips."""
    written, skipped = node.args.get("limit"), node.args.get("offset")
    most = _count(c, written.expression) if written is not None else -1
    return most, max(0, _count(c, skipped.expression)) if skipped is not None else 0


def _count(c: Compiler, node: exp.Expr) -> int:
    found = c.expression(node, Scope())
    if found.constant is None or found.constant.value is None:
        raise Untranslatable("LIMIT", "it is not a constant", position(node))
    count = found.constant.value
    if isinstance(count, str):
        count = well_formed(count) or count
    if not isinstance(count, int | float) or count != int(count):
        raise Untranslatable("LIMIT", "it is not an integer", position(node))
    return int(count)

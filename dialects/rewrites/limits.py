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
    written, skipped = node.args.get("limit"), node.args.get("offset")
    if written is None and skipped is None:
        return
    most = _count(c, written.expression) if written is not None else -1
    skip = max(0, _count(c, skipped.expression)) if skipped is not None else 0
    if most < 0 and not skip:
        c.applies("limit-forms")
        return
    if most < 0:
        c.applies("limit-forms")
        most = -1 if c.target.has_offset_alone else BIGGEST
    if most >= 0:
        tree.set("limit", exp.Limit(expression=number(most)))
    if skip:
        tree.set("offset", exp.Offset(expression=number(skip)))


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

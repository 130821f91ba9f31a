"""SQLite SQL to the same question in another dialect: the same rows, or a word of why not.

`translate` gives SQL that returns on the target, loaded in profile `faithful`, what the text returns on
SQLite: the same values, as often, in the same order where ORDER BY decides it. Where SQLite itself leaves the
answer open, and where something is assumed, it adds a warning; where the target cannot be exact it raises
`Untranslatable`.
"""

from dataclasses import dataclass

from sqlglot import exp

from dialects.compiler import Compiler, Rewrites
from dialects.enums import Dialect
from dialects.errors import Untranslatable
from dialects.generator import spell
from dialects.rewrites import queries
from dialects.rewrites.ctes import levels
from dialects.rewrites.expressions import HANDLERS, TRANSPARENT
from dialects.schema import Schema
from dialects.source import parse
from dialects.tables import Tables

__all__ = ["Translation", "Untranslatable", "translate"]

_REWRITES = Rewrites(HANDLERS, TRANSPARENT, queries.query)


@dataclass(frozen=True)
class Translation:
    """One SQL text in the target dialect."""

    sql: str
    target: Dialect
    rules: tuple[str, ...] = ()
    """The rewrites that were applied, in order; `dialects.table` describes each."""
    warnings: tuple[str, ...] = ()
    """What SQLite does not define or what was assumed, a sentence each; without any the rows are the same."""


def translate(sql: str, schema: Schema, target: Dialect) -> Translation:
    """Translate one SQLite query.

    Args:
        sql: a SELECT, VALUES or compound SELECT, as SQLite takes it.
        schema: the census of the database that it is for, from `loaders.census`.
        target: the dialect; SQLite's own is returned as it is.

    Raises:
        Untranslatable: the text is no such query, names what the schema has not, or means something that the
            target cannot say exactly.
    """
    if target is Dialect.SQLITE:
        return Translation(sql, target)
    tree = parse(sql)
    compiler = Compiler(_tables(schema, target), sql, tree, _REWRITES)
    try:
        relation = compiler.query(tree, None)
        # What SQLite itself refuses has no meaning to keep, even where the compiler has found one.
        _ = compiler.plan
        if compiler.target.planning_hint and len(list(relation.node.find_all(exp.Table))) > _FEW_TABLES:
            compiler.hints[compiler.target.planning_hint] = None
        if compiler.hints and isinstance(relation.node, exp.Select):
            relation.node.set("hint", exp.Hint(expressions=[exp.Var(this=hint) for hint in compiler.hints]))
        _refuse_depth(compiler, relation.node)
        text = spell(relation.node, target)
    except RecursionError as error:
        raise Untranslatable("the statement", "it is nested too deeply") from error
    return Translation(text, target, tuple(compiler.rules), tuple(compiler.warnings))


def _refuse_depth(c: Compiler, node: exp.Expr) -> None:
    most = c.target.most_levels
    if most is not None and c.queries > most and levels(node, {}) > most:
        raise Untranslatable("the statement", f"{c.target.title} nests no more than {most} SELECTs")


_FEW_TABLES = 10
"""MySQL 9.7 plans a join of 12 tables in 0.1 s, of 14 in 2.6 s, of 16 in more than 40 s."""

_KNOWN: dict[tuple[int, Dialect], tuple[Schema, Tables]] = {}
"""By identity: comparing schemas costs more than compiling a query. A schema kept keeps its identity."""

_MOST_KNOWN = 256


def _tables(schema: Schema, target: Dialect) -> Tables:
    """The tables as the target has them."""
    key = id(schema), target
    found = _KNOWN.get(key)
    if found is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[key] = schema, Tables(schema, target)
    return found[1]

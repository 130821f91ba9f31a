"""SQLite SQL to the same question in another dialect: the same rows, or a word of why not.

`translate` gives SQL that returns on the target, loaded in profile `faithful`, what the text returns on
SQLite: the same values, as often, in the same order where ORDER BY decides it. Where SQLite itself leaves the
answer open, and where something is assumed, it adds a warning; where the target cannot be exact it raises
`Untranslatable`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dialects.coercions import SEVERAL_TYPES
from dialects.compiler import Compiler, Rewrites
from dialects.enums import Dialect
from dialects.errors import Untranslatable
from dialects.generator import spell
from dialects.nodes import Random
from dialects.rewrites import queries
from dialects.rewrites.aggregates import OuterAggregate
from dialects.rewrites.ctes import levels
from dialects.rewrites.expressions import HANDLERS, TRANSPARENT
from dialects.rewrites.windows import share_windows
from dialects.schema import Schema
from dialects.scope import Relation
from dialects.source import parse
from dialects.tables import Tables
from dialects.tagged_values import read_rows

__all__ = ["Translation", "Untranslatable", "translate"]

_REWRITES = Rewrites(HANDLERS, TRANSPARENT, queries.query)


@dataclass(frozen=True)
class Translation:
    """One SQL text in the target dialect."""

    sql: str
    target: Dialect
    rules: tuple[str, ...] = ()
    """The rewrites that were applied, in order; docs/reference/rewrites.md describes each."""
    warnings: tuple[str, ...] = ()
    """What SQLite does not define or what was assumed, a sentence each; without any the rows are the same."""
    json_columns: tuple[int, ...] = ()
    """The result columns, counted from 0, that give each value as JSON, since they hold numbers and texts."""

    @property
    def leaves_open(self) -> bool:
        """Whether rows may be other than SQLite's: a warning says more than that values are given as JSON."""
        return len(self.warnings) > len(self.json_columns)

    def read(self, rows: Iterable[Sequence[object]]) -> tuple[tuple[object, ...], ...]:
        """Rows as a driver gives them, with the values that JSON stands for in `json_columns`."""
        return read_rows(rows, self.json_columns)


def translate(sql: str, schema: Schema, target: Dialect, *, as_json: bool = True) -> Translation:
    """Translate one SQLite query.

    Args:
        sql: a SELECT, VALUES or compound SELECT, as SQLite takes it.
        schema: the census of the database that it is for, from `loaders.census`.
        target: the dialect; SQLite's own is returned as it is.
        as_json: whether a result column that holds numbers and texts may give each value as JSON.

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
        first = relation.node
        while isinstance(first, exp.SetOperation | exp.Subquery):
            first = first.this
        if compiler.hints and isinstance(first, exp.Select):
            first.set("hint", exp.Hint(expressions=[exp.Var(this=hint) for hint in compiler.hints]))
        _refuse_depth(compiler, relation.node)
        _refuse_width(compiler, relation.node)
        _refuse_copies(tree, relation.node)
        share_windows(compiler, relation.node)
        columns = _json_columns(compiler, relation, as_json=as_json)
        text = spell(relation.node, target)
    except OuterAggregate as error:
        raise Untranslatable(f"{error}()", "its argument belongs to an outer SELECT") from error
    except RecursionError as error:
        raise Untranslatable("the statement", "it is nested too deeply") from error
    return Translation(text, target, tuple(compiler.rules), tuple(compiler.warnings), columns)


def _json_columns(c: Compiler, relation: Relation, *, as_json: bool) -> tuple[int, ...]:
    columns = tuple(at for at, column in enumerate(relation.columns) if column.value.carried is not None)
    if columns and not as_json:
        raise Untranslatable(SEVERAL_TYPES, "a column of the target holds numbers or texts, not both")
    for at in columns:
        c.warn(f"column {at + 1} holds numbers and texts: each value is given as JSON")
    return columns


def _refuse_depth(c: Compiler, node: exp.Expr) -> None:
    most = c.target.most_levels
    if most is not None and c.queries > most and levels(node, {}) > most:
        raise Untranslatable("the statement", f"{c.target.title} nests no more than {most} SELECTs")


def _refuse_copies(written: exp.Expr, node: exp.Expr) -> None:
    """Refuse an expression with random() that stands twice in the translation: it would have two values."""
    calls = [call for call in written.find_all(exp.Anonymous) if call.name.lower() == "random"]
    if len(list(node.find_all(Random))) > len(calls):
        raise Untranslatable("random()", "its value is needed more than once")


def _refuse_width(c: Compiler, node: exp.Expr) -> None:
    most = c.target.most_joined
    if most is not None and any(
        len(one.args.get("joins") or []) >= most for one in node.find_all(exp.Select)
    ):
        raise Untranslatable("FROM", f"{c.target.title} joins no more than {most} tables")


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

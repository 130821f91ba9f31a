"""Proof that other rows than SQLite's are a valid answer of the same query, or that their order is."""

from collections.abc import Sequence

from sqlglot import exp

from dialects.enums import Dialect
from dialects.errors import Untranslatable
from dialects.source import parse
from harness.metrics.comparison import compare
from harness.metrics.distinct import Row
from harness.scoring import ties
from harness.scoring.ranking import Run


def is_ordered(sql: str) -> bool:
    """Whether the outermost query has an ORDER BY; False where the text cannot be read."""
    return ties.is_ordered(sql, Dialect.SQLITE)


def is_valid(sql: str, rows: Sequence[Row], run: Run) -> bool:
    """Whether rows, in their order, are proven to be a valid answer of a SQLite query.

    Args:
        sql: the query as it was written.
        rows: what another engine answered.
        run: runs a text on SQLite.
    """
    return any(ranking.allows(rows) for ranking in ties.rankings(sql, Dialect.SQLITE, run))


def are_in_order(sql: str, reference: Sequence[Row], rows: Sequence[Row]) -> bool:
    """Whether rows have the sort keys of SQLite's rows, one by one: then ORDER BY allows their order.

    That can be told where every key is a column of the result, by its number or its name, or a constant. It
    needs nothing run, and reads what no ranking does: a number that counts columns behind a star.

    Args:
        sql: the query as it was written.
        reference: what SQLite answered.
        rows: the same rows in another order.
    """
    try:
        tree = parse(sql)
    except Untranslatable:
        return False
    order = tree.args.get("order")
    if order is None or not rows:
        return False
    places: list[int] = []
    for key in order.expressions:
        this = key.this.unnest()
        if isinstance(this, exp.Literal) and this.is_int:
            places.append(int(this.name) - 1)
        elif isinstance(this, exp.Column) and not this.table:
            names = [None if column.is_star else column.alias_or_name.lower() for column in _columns(tree)]
            if None in names or names.count(this.name.lower()) != 1:
                return False
            places.append(names.index(this.name.lower()))
        elif isinstance(tree, exp.SetOperation) or not isinstance(this, exp.Literal | exp.Null | exp.Boolean):
            return False
    if any(not 0 <= place < len(rows[0]) for place in places):
        return False
    ours, theirs = ([tuple(row[place] for place in places) for row in each] for each in (reference, rows))
    return compare(ours, theirs).same_order


def _columns(tree: exp.Expr) -> list[exp.Expr]:
    while isinstance(tree, exp.SetOperation):
        tree = tree.this
    return tree.selects if isinstance(tree, exp.Query) else []

"""The answers that a query as written allows, where it leaves a choice: rankings of the rows of its engine.

Of the outermost query, `harness.scoring.ranking` knows the valid answers. A LIMIT without ORDER BY allows
any choice of rows. A subquery that cuts among ties is shown to have another answer by a witness: its ORDER BY
is refined by one more term, so that every answer of the refined query is a valid one of the query as written.
"""

from collections.abc import Iterable, Iterator
from itertools import islice, product

from sqlglot import exp

from harness.engines import EngineName, dialect_of, kind_of
from harness.metrics.comparison import Ranking
from harness.metrics.distinct import Row
from harness.scoring.ranking import Run, rank
from harness.sqltree.parsing import read_query
from harness.sqltree.query import cuts

MOST_WITNESSES = 64
"""Refined queries that are run for one query."""

_MOST_ALTERNATIVES = 32
"""Rows of one tied group that are put first, one after the other."""


def is_ordered(sql: str, dialect: EngineName) -> bool:
    """Whether the outermost query has an ORDER BY; False where the text cannot be read."""
    tree = read_query(sql, dialect)
    return tree is not None and bool(tree.args.get("order"))


def rankings(sql: str, dialect: EngineName, run: Run) -> Iterator[Ranking]:
    """What a query allows: its ranking as it is written, then those with inner ties decided otherwise.

    Nothing is run for the next before it is asked for. There are none where the text cannot be read, where it
    neither orders nor cuts anything, and where the outermost query cannot be ranked.

    Args:
        sql: the query.
        dialect: the engine's, which decides how the text is read, and written again.
        run: runs a text on that engine: one text for the query, one or two for each inner query
            with a cut, and at most `MOST_WITNESSES` more.
    """
    tree = read_query(sql, dialect)
    if tree is None or not (tree.args.get("order") or cuts(tree)):
        return
    written = rank(tree, dialect_of(dialect), run)
    if written is None:
        return
    yield written
    for refined in _refined(tree, dialect, run):
        ranking = rank(refined, dialect_of(dialect), run)
        if ranking is not None:
            yield ranking


def _inner(tree: exp.Query) -> list[exp.Select]:
    return [query for query in cuts(tree) if query is not tree and isinstance(query, exp.Select)]


def _refined(tree: exp.Query, dialect: EngineName, run: Run) -> Iterator[exp.Query]:
    """The query with the cuts of its inner queries decided in every way that is worth trying."""
    inner = _inner(tree)
    if not inner:
        return
    choices = [[None, *_terms(query, tree, dialect, run)] for query in inner]
    for chosen in islice(product(*choices), 1, MOST_WITNESSES + 1):
        refined = tree.copy()
        for query, term in zip(_inner(refined), chosen, strict=True):
            if term is not None:
                _append(query, term)
        yield refined


def _append(query: exp.Select, term: exp.Expr) -> None:
    order = query.args.get("order")
    query.set("order", exp.Order(expressions=[*(order.expressions if order else ()), term.copy()]))


def _terms(query: exp.Select, tree: exp.Query, dialect: EngineName, run: Run) -> Iterator[exp.Expr]:
    """Sort terms that could decide a tie: each tied row first, then the row numbers in both directions."""
    alone = query.copy()
    if (tables := tree.args.get("with_")) is not None and alone.args.get("with_") is None:
        alone.set("with_", tables.copy())
    ranking = rank(alone, dialect_of(dialect), run)
    tied = [] if ranking is None else _distinct(ranking.chosen_from)
    if ranking is not None and len(tied) <= 1:
        return
    if not any(column.is_star for column in query.selects):
        for row in tied[:_MOST_ALTERNATIVES]:
            term = _first(query, row)
            if term is not None:
                yield term
    row_number = kind_of(dialect).row_number
    if row_number is not None:
        number = exp.column(row_number)
        for descending in (False, True):
            yield exp.Ordered(this=number, desc=descending, nulls_first=not descending)


def _distinct(rows: Iterable[Row]) -> list[Row]:
    return list({repr(row): row for row in rows}.values())


def _first(query: exp.Select, row: Row) -> exp.Ordered | None:
    """A sort term that puts the rows with these values before others; None if a value cannot be written."""
    try:
        same = [
            exp.NullSafeEQ(this=exp.paren(column.unalias().copy()), expression=_literal(value))
            for column, value in zip(query.selects, row, strict=True)
        ]
    except ValueError:
        return None
    return exp.Ordered(this=exp.paren(exp.and_(*same)), desc=True, nulls_first=False)


def _literal(value: object) -> exp.Expr:
    """A value in SQL.

    Raises:
        ValueError: it is of a type that sqlglot cannot write.
    """
    return exp.HexString(this=value.hex()) if isinstance(value, bytes) else exp.convert(value)

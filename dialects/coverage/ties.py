"""Proof that other rows than SQLite's are a valid answer of the same query, or that their order is.

Of the outermost query, `dialects.coverage.ranking` knows the valid answers. A subquery that cuts among ties
is shown to have another one by a witness: its ORDER BY is refined by one more term, so that every answer of
the refined query is a valid one of the query as written, and one refinement is found that gives these rows.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, product

from sqlglot import exp

from dialects.comparison import Row, compare
from dialects.coverage.ranking import Run, rank
from dialects.errors import Untranslatable
from dialects.source import parse
from harness.execution import Ending

_MOST_WITNESSES = 64
"""Refined queries that are tried for one answer."""

_MOST_ALTERNATIVES = 32
"""Rows of one tied group that are put first, one after the other."""


def is_ordered(sql: str) -> bool:
    """Whether the outermost query has an ORDER BY; False where the text cannot be read."""
    tree = _read(sql)
    return tree is not None and bool(tree.args.get("order"))


def is_valid(sql: str, rows: Sequence[Row], run: Run) -> bool:
    """Whether rows, in their order, are proven to be a valid answer of a SQLite query.

    Args:
        sql: the query as it was written.
        rows: what another engine answered.
        run: runs a text on SQLite.
    """
    tree = _read(sql)
    if tree is None:
        return False
    return _allowed(tree, rows, run) or any(_allowed(refined, rows, run) for refined in _refined(tree, run))


def _read(sql: str) -> exp.Query | None:
    try:
        tree = parse(sql)
    except Untranslatable:
        return None
    return tree if isinstance(tree, exp.Query) else None


def _allowed(tree: exp.Query, rows: Sequence[Row], run: Run) -> bool:
    """Whether rows are an answer of this very query, whose inner queries are taken as SQLite answers them."""
    if _is_free(tree):
        ranking = rank(tree, run)
        return ranking is not None and ranking.allows(rows)
    try:
        answer = run(tree.sql(dialect="sqlite"))
    except ValueError:
        return False
    return answer.ending is Ending.ROWS and compare(answer.rows, rows).same_bag


def _is_free(tree: exp.Query) -> bool:
    return any(tree.args.get(clause) for clause in ("order", "limit"))


def _refined(tree: exp.Query, run: Run) -> Iterator[exp.Query]:
    """The query with the cuts of its inner queries decided in every way that is worth trying."""
    inner = [query for query in tree.find_all(exp.Select) if query is not tree and query.args.get("limit")]
    if not inner:
        return
    choices = [[None, *_terms(query, tree, run)] for query in inner]
    for chosen in islice(product(*choices), 1, _MOST_WITNESSES + 1):
        refined = tree.copy()
        copies = [
            query
            for query in refined.find_all(exp.Select)
            if query is not refined and query.args.get("limit")
        ]
        for query, term in zip(copies, chosen, strict=True):
            if term is not None:
                _append(query, term)
        yield refined


def _append(query: exp.Select, term: exp.Expr) -> None:
    order = query.args.get("order")
    query.set("order", exp.Order(expressions=[*(order.expressions if order else ()), term.copy()]))


def _terms(query: exp.Select, tree: exp.Query, run: Run) -> Iterator[exp.Expr]:
    """Sort terms that could decide a tie: each tied row first, then the row numbers in both directions."""
    alone = query.copy()
    if (tables := tree.args.get("with_")) is not None and alone.args.get("with_") is None:
        alone.set("with_", tables.copy())
    ranking = rank(alone, run)
    tied = dict.fromkeys(ranking.at_the_cut) if ranking is not None else {}
    if ranking is not None and len(tied) <= 1:
        return
    if not any(column.is_star for column in query.selects):
        for row in islice(tied, _MOST_ALTERNATIVES):
            yield _first(query, row)
    for descending in (False, True):
        yield exp.Ordered(this=exp.column("rowid"), desc=descending, nulls_first=not descending)


def _first(query: exp.Select, row: Row) -> exp.Expr:
    """A sort term that puts the rows with these values before others."""
    same = [
        exp.Is(this=exp.paren(column.unalias().copy()), expression=_literal(value))
        for column, value in zip(query.selects, row, strict=True)
    ]
    return exp.Ordered(this=exp.paren(exp.and_(*same)), desc=True, nulls_first=False)


def _literal(value: object) -> exp.Expr:
    if isinstance(value, bytes):
        return exp.HexString(this=value.hex())
    return exp.convert(value)

"""Find all answers that a query allows if its text leaves a choice, on the engine that it runs on.

A query allows any order among rows with equal ORDER BY keys, any choice among them if its LIMIT cuts between
them, and any rows at all if it has a LIMIT without ORDER BY; the same holds in its subqueries. Other freedom
is ignored: bare columns of a group, the order within an aggregate, a ROW_NUMBER() among equals.

The outermost query is run without its LIMIT, and the engine decides which rows are equal, by its collations,
its order of NULLs and its types. Keys that are the same by `harness.metrics.comparison` are equal, too: two
ways to add up the same numbers may differ in the last digit. For a subquery that cuts among ties, a witness
shows other answers: its ORDER BY gets one more term, so that every answer of the refined query is a valid
answer of the original query.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import islice, product

from sqlglot import exp

from dialects.enums import Dialect
from dialects.without_limit import QueryWithoutLimit, without_limit
from harness.engines import EngineName, dialect_of, kind_of
from harness.engines.execution import Ending, Execution
from harness.metrics.accuracy import Answers
from harness.metrics.comparison import Ranking, compare
from harness.metrics.distinct import Row
from harness.sqltree.parser import read_query
from harness.sqltree.query import alone, cut_of, cuts

MOST_QUERIES = 40
"""Maximum number of texts run to find the other answers of one gold; most golds need one or none."""

MOST_WITNESSES = 64
"""Maximum number of refined queries run for one query."""

_KEPT = 256
"""Texts whose trees are kept."""

_MOST_ALTERNATIVES = 32
"""Maximum number of rows of one tied group that are put first in turn."""

Run = Callable[[str], Execution]
"""Runs a text on the engine of its dialect."""


def answers(sql: str, dialect: EngineName, run: Run, gold: Sequence[Row]) -> Answers:
    """Return the answers that a gold allows other than its own rows.

    A text from `dialects.translate` breaks ties as SQLite does: pass SQLite's own text and run it on SQLite.

    For a gold without ORDER BY and LIMIT, or one that cannot be parsed, nothing is run. Any other runs once
    more without its LIMIT, and one with a LIMIT in a subquery in up to `MOST_QUERIES` texts; after a text
    that takes too long or returns too much, no more are run. If no ranking allows gold's own rows, all are
    discarded: the query depends on more than its text and data, or was misread.

    Args:
        sql: the gold.
        dialect: the engine's.
        run: runs a text on the engine, on gold's database.
        gold: the rows that the engine returned for `sql`.

    Raises:
        EngineLost: `run` raised it.
    """
    found: list[Ranking] = []
    for ranking in rankings(sql, dialect, _bounded(run)):
        if ranking not in found:
            found.append(ranking)
    is_sound = any(ranking.allows(gold) for ranking in found)
    return Answers(is_ordered(sql, dialect), tuple(found) if is_sound else ())


def _bounded(run: Run) -> Run:
    left = MOST_QUERIES

    def bounded(text: str) -> Execution:
        nonlocal left
        if not left:
            return Execution(Ending.ERROR, error="enough has been run")
        found = run(text)
        left = 0 if found.ending in (Ending.TIMEOUT, Ending.TOO_LARGE) else left - 1
        return found

    return bounded


@lru_cache(_KEPT)
def _read(sql: str, dialect: EngineName) -> exp.Query | None:
    """Return the tree of a query, which nobody may change: the search for witnesses asks for it often."""
    return read_query(sql, dialect)


@lru_cache(_KEPT)
def _uncut(sql: str, dialect: EngineName) -> tuple[QueryWithoutLimit, ...]:
    tree = _read(sql, dialect)
    return () if tree is None else tuple(without_limit(tree, dialect_of(dialect)))


def is_ordered(sql: str, dialect: EngineName) -> bool:
    """Return True if the outermost query has an ORDER BY; False if the text cannot be parsed."""
    tree = _read(sql, dialect)
    return tree is not None and bool(tree.args.get("order"))


def rankings(sql: str, dialect: EngineName, run: Run) -> Iterator[Ranking]:
    """Yield the ranking of a query as written, then those with inner ties broken differently.

    Each is computed on demand. There are none if the text cannot be parsed, if it has neither ORDER BY nor
    LIMIT, and if the outermost query cannot be ranked.

    Args:
        sql: the query.
        dialect: the engine's, used to parse and render the text.
        run: runs a text on that engine: one text for the query, one or two for each inner query
            with a cut, and at most `MOST_WITNESSES` more.
    """
    tree = _read(sql, dialect)
    if tree is None or not (tree.args.get("order") or cuts(tree)):
        return
    written = rank(tree, dialect_of(dialect), run, _uncut(sql, dialect))
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
    """Yield the query with the cuts of its inner queries decided in each way worth trying."""
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
    """Yield sort terms that could break a tie: each tied row first, then row numbers in both directions."""
    ranking = rank(alone(query, tree), dialect_of(dialect), run)
    tied = [] if ranking is None else different(ranking.chosen_from)
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


def different(rows: Iterable[Row]) -> list[Row]:
    """Rows, each once."""
    return list({repr(row): row for row in rows}.values())


def _first(query: exp.Select, row: Row) -> exp.Ordered | None:
    """Return a sort term that puts rows with these values first; None if a value cannot be written in SQL."""
    try:
        same = [
            exp.NullSafeEQ(this=exp.paren(column.unalias().copy()), expression=_literal(value))
            for column, value in zip(query.selects, row, strict=True)
        ]
    except ValueError:
        return None
    return exp.Ordered(this=exp.paren(exp.and_(*same)), desc=True, nulls_first=False)


def _literal(value: object) -> exp.Expr:
    """Return a value as a SQL literal.

    Raises:
        ValueError: it is of a type that sqlglot cannot write.
    """
    return exp.HexString(this=value.hex()) if isinstance(value, bytes) else exp.convert(value)


def rank(
    tree: exp.Query, dialect: Dialect, run: Run, uncut: Sequence[QueryWithoutLimit] | None = None
) -> Ranking | None:
    """Return the ranking of a query, up to the group in which the cut ends.

    `uncut` has the texts without it, if they are known.
    None if it cannot be observed: the cut is not a literal number, a sort key cannot be added to the columns,
    or the query without its cut fails, takes too long or returns too much.
    """
    cut = cut_of(tree)
    if cut is None:
        return None
    for asked in without_limit(tree, dialect) if uncut is None else uncut:
        found = run(asked.sql)
        if found.ending is Ending.ROWS:
            groups = _groups(asked, found.rows, cut[1])
            return None if groups is None else Ranking(groups, *cut)
        if found.ending is not Ending.ERROR:
            return None
    return None


def _groups(asked: QueryWithoutLimit, rows: Sequence[Row], end: int) -> tuple[tuple[Row, ...], ...] | None:
    """Return rows in groups of equal keys, up to the group that reaches `end`; None if ranks are unusable."""
    if not asked.keys:
        return (tuple(rows),)
    width = asked.keys + 1
    own = [row[:-width] for row in rows]
    ranks: list[int] = [row[-1] for row in rows]  # type: ignore[misc]  # DENSE_RANK() is an integer
    places = sorted(range(len(rows)), key=ranks.__getitem__)
    if asked.in_order and places != list(range(len(rows))):
        return None
    if asked.once and len(set(map(repr, own))) < len(own):
        return None
    groups: list[list[Row]] = []
    last: int | None = None
    for count, place in enumerate(places):
        tied = last is not None and (
            ranks[place] == ranks[last] or _same(rows[place][-width:-1], rows[last][-width:-1])
        )
        if not tied and count >= end:
            break
        if not tied:
            groups.append([])
        groups[-1].append(own[place])
        last = place
    return tuple(map(tuple, groups))


def _same(one: Row, other: Row) -> bool:
    """Return True if sort keys that the engine distinguishes are the same number within the tolerance."""
    differing = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return (
        all(isinstance(value, int | float | Decimal) for pair in differing for value in pair)
        and compare([one], [other]).same_bag
    )

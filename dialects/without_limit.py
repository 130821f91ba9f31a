"""Remove a query's LIMIT and OFFSET, and add each row's sort keys and rank as columns.

The text is for the query's own engine. The rank is DENSE_RANK() over the query's ORDER BY. Computing it
before DISTINCT is harmless: rows with equal keys have equal ranks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dialects.enums import Dialect
from dialects.targets import SQLGLOT
from dialects.trees import find_all, has


@dataclass(frozen=True)
class QueryWithoutLimit:
    """A query without LIMIT; its own columns come first, then `keys` sort keys, then the rank.

    Without keys there is no rank. `in_order`: rows are in the query's own order, so ranks never decrease.
    `once`: each row of its own columns must occur only once, or its place is undefined.
    """

    sql: str
    keys: int
    in_order: bool = True
    once: bool = False


def without_limit(tree: exp.Query, dialect: Dialect) -> Iterator[QueryWithoutLimit]:
    """Yield the texts to try until the engine accepts one; none if a sort key cannot be added as a column.

    There are two if a name inside a sort key can be a column or an alias: engines look for columns first.
    """
    if not isinstance(tree, exp.Select | exp.SetOperation):
        return
    tree = tree.copy()
    for ordered in _order(tree):
        # Unary plus is a Paren that sqlglot cannot write. It changes no key's value or collation.
        while isinstance(ordered.this, exp.Paren):
            ordered.set("this", ordered.this.this)
    doubtful = [column for ordered in _order(tree) for column in _aliases(ordered.this, tree.selects)]
    ways = [False, True] if doubtful else [False]
    if dialect is Dialect.SQLITE and any(column.this.quoted for column in doubtful):
        # A quoted name of no column would be a text in SQLite. https://sqlite.org/quirks.html#dblquote
        ways = [True]
    for with_aliases in ways:
        keys = _keys(tree, with_aliases=with_aliases)
        if keys is None:
            continue
        try:
            yield _render(tree, keys, dialect)
        except ValueError:
            return


@dataclass(frozen=True)
class _Key:
    """A sort key; `column` is its index in the SELECT list, None if it is not in it."""

    ordered: exp.Ordered
    column: int | None


def _keys(tree: exp.Query, *, with_aliases: bool) -> list[_Key] | None:
    """Return the sort keys that can distinguish rows; None if one is unknown."""
    keys = [_key(tree, ordered, with_aliases=with_aliases) for ordered in _order(tree)]
    found = [key for key in keys if key is not None]
    if len(found) < len(keys):
        return None
    if isinstance(tree, exp.SetOperation):
        return found
    constant = (exp.Literal, exp.Null, exp.Boolean)
    return [key for key in found if not isinstance(key.ordered.this.unnest(), constant)]


def _key(tree: exp.Query, ordered: exp.Ordered, *, with_aliases: bool) -> _Key | None:
    """Resolve a sort key given by number, by name in the result, or as an expression.

    https://sqlite.org/lang_select.html#orderby
    https://dev.mysql.com/doc/refman/9.7/en/select.html
    https://www.postgresql.org/docs/current/queries-order.html
    """
    columns, this = tree.selects, ordered.this.unnest()
    collate = this if isinstance(tree, exp.SetOperation) and isinstance(this, exp.Collate) else None
    this = collate.this.unnest() if collate else this
    column = _place(tree, this)
    if column is None and (
        isinstance(tree, exp.SetOperation) or (isinstance(this, exp.Literal) and this.is_int)
    ):
        return None
    resolved = ordered.copy()
    if column is not None:
        found = columns[column].unalias().copy()
        resolved.set("this", exp.Collate(this=found, expression=collate.expression) if collate else found)
    elif with_aliases:
        for alias in list(_aliases(resolved.this, columns)):
            meant = next(it for it in columns if it.alias.lower() == alias.name.lower())
            alias.replace(exp.paren(meant.unalias(), copy=True))
    return _Key(resolved, column)


def _place(tree: exp.Query, key: exp.Expr) -> int | None:
    """Return the result column that a sort key is; None if it is none, or behind a star."""
    columns = tree.selects
    if isinstance(key, exp.Literal) and key.is_int:
        place = int(key.name) - 1
        known = 0 <= place < len(columns) and not any(before.is_star for before in columns[: place + 1])
        return place if known else None
    if isinstance(key, exp.Column) and not key.table:
        for part in _parts(tree):
            names = [it.output_name.lower() for it in part.selects]
            if key.name.lower() in names:
                return names.index(key.name.lower())
    return next((place for place, it in enumerate(columns) if it.unalias() == key), None)


def _parts(tree: exp.Query) -> Iterator[exp.Query]:
    """Yield the SELECTs of a compound SELECT from the left: SQLite looks for names in each."""
    if isinstance(tree, exp.SetOperation):
        yield from _parts(tree.left)
        yield from _parts(tree.right)
    else:
        yield tree


def _aliases(key: exp.Expr, columns: Sequence[exp.Expr]) -> Iterator[exp.Column]:
    """Yield the names inside a sort key that may be aliases; none if the whole key is a name."""
    names = {column.alias.lower() for column in columns if column.alias}
    if isinstance(key.unnest(), exp.Column):
        return
    for column in find_all(key, exp.Column):
        if not column.table and column.name.lower() in names:
            yield column


def _render(tree: exp.Query, keys: Sequence[_Key], dialect: Dialect) -> QueryWithoutLimit:
    """Render the query with its keys.

    Raises:
        ValueError: sqlglot cannot write a part of it.
    """
    bare = tree.copy()
    bare.set("limit", None)
    bare.set("offset", None)
    distinct = bare.args.get("distinct") if isinstance(bare, exp.Select) else None
    is_plain = distinct is not None and not distinct.args.get("on")
    nested = any(has(key.ordered.this, exp.Window, exp.Query) for key in keys)
    starred = any(column.is_star for column in tree.selects)
    if not keys:
        ready = bare
    elif isinstance(bare, exp.Select) and (starred or not nested):
        ready = _beside(bare, keys)
    else:
        ready = _around(bare, keys, dialect)
    return QueryWithoutLimit(
        ready.sql(dialect=SQLGLOT[dialect], comments=False),
        len(keys),
        in_order=ready is bare,
        once=is_plain and any(key.column is None for key in keys),
    )


def _beside(bare: exp.Select, keys: Sequence[_Key]) -> exp.Query:
    """Add the keys and the rank to the query's own columns."""
    beside = [exp.alias_(key.ordered.this.copy(), f"bird_key_{n}") for n, key in enumerate(keys)]
    bare.set("expressions", [*bare.expressions, *beside, _rank([key.ordered for key in keys])])
    return bare


def _around(bare: exp.Query, keys: Sequence[_Key], dialect: Dialect) -> exp.Query:
    """Return a query that ranks the query's rows, for keys that a window of the query itself cannot use.

    Raises:
        ValueError: a star hides the number of columns.
    """
    columns = bare.selects
    if any(column.is_star for column in columns):
        raise ValueError("a star")
    bare.set("order", None)
    own = [f"bird_column_{n}" for n in range(len(columns))]
    names = [own[key.column] if key.column is not None else f"bird_key_{n}" for n, key in enumerate(keys)]
    hidden = [key.ordered.this.copy() for key in keys if key.column is None]
    if hidden:
        bare.set("expressions", [*bare.expressions, *hidden])
    if dialect is Dialect.SQLITE and isinstance(bare, exp.SetOperation):
        _keep_collations(bare)
    alias = exp.TableAlias(
        this=exp.to_identifier("bird_uncut"),
        columns=[exp.to_identifier(name) for name in (*own, *(n for n in names if n not in own))],
    )
    ordered = [key.ordered.copy() for key in keys]
    for one, name in zip(ordered, names, strict=True):
        if isinstance(one.this, exp.Collate):
            one.this.set("this", exp.column(name))
        else:
            one.set("this", exp.column(name))
    return exp.Select(
        with_=exp.With(expressions=[exp.CTE(this=bare, alias=alias)]),
        expressions=[*map(exp.column, own), *map(exp.column, names), _rank(ordered)],
        from_=exp.From(this=exp.to_table("bird_uncut")),
    )


def _keep_collations(bare: exp.SetOperation) -> None:
    """Begin a compound SELECT with an empty part that has the collations by which SQLite sorts its rows.

    It sorts a column by the collation of the first part that has one, but reads it from outside by that of
    the first part of all. One that removes duplicates is left as it is: it may keep other ones of equal rows.
    """
    if any(not isinstance(it, exp.Union) or it.args["distinct"] for it in find_all(bare, exp.SetOperation)):
        return
    parts = list(_parts(bare))
    places = range(len(bare.selects))
    sorts = [next((n for n, it in enumerate(parts) if _has_collation(it.selects[at])), 0) for at in places]
    if not any(sorts):
        return
    names = [f"bird_column_{place}" for place in places]
    empty = exp.select(*(exp.column(name, f"bird_part_{n}") for n, name in zip(sorts, names, strict=True)))
    for n in sorted(set(sorts)):
        part = exp.to_table(f"bird_part_{n}")
        empty = empty.join(part) if "from_" in empty.args else empty.from_(part)
        bare.with_(f"bird_part_{n}({', '.join(names)})", as_=parts[n].copy(), copy=False)
    parts[0].replace(exp.union(empty.where(exp.false()), parts[0].copy(), distinct=False))


def _has_collation(column: exp.Expr) -> bool:
    """Say whether a result column has a collation of its own.

    https://sqlite.org/datatype3.html#assigning_collating_sequences_from_sql
    """
    column = column.unalias()
    while isinstance(column, exp.Cast | exp.Paren):
        column = column.this
    return isinstance(column, exp.Column) or has(column, exp.Collate)


def _rank(ordered: Sequence[exp.Ordered]) -> exp.Expr:
    order = exp.Order(expressions=[one.copy() for one in ordered])
    return exp.alias_(exp.Window(this=exp.Anonymous(this="DENSE_RANK"), order=order), "bird_rank")


def _order(tree: exp.Query) -> Sequence[exp.Ordered]:
    order = tree.args.get("order")
    return order.expressions if order else ()

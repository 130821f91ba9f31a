"""Whole statements: a query, perhaps behind common table expressions. https://sqlite.org/lang_with.html."""

from random import Random

from tests.fuzz.catalog import Catalog, Column, Kind, Table
from tests.fuzz.generator import Generator
from tests.fuzz.grammar import (  # noqa: F401 - their rules are registered
    aggregates,
    choices,
    conditions,
    dates,
    documents,
    numbers,
    subqueries,
    texts,
    windows,
)
from tests.fuzz.grammar.items import Wanted
from tests.fuzz.grammar.ordering import TOTAL
from tests.fuzz.grammar.selects import query
from tests.fuzz.leaves import RESERVED, identifier
from tests.fuzz.tree import Node, construct, frozen, optional, plain

construct(
    "with", "with-nested", "with-columns", "with-materialized", "with-recursive", "recursive-hierarchy",
    "recursive-union", "recursive-limit", "recursive-overflow", "recursive-long-text", "with-name-of-table",
)  # fmt: skip


def columns(**kinds: Kind) -> tuple[Column, ...]:
    return tuple(Column(name, kind) for name, kind in kinds.items())


_RECURSIONS = (
    (
        3,
        "n",
        "select 1 union all select n + 1 from REC where n < N",
        columns(n=Kind.INTEGER),
        "with-recursive",
    ),
    (3, "n", "select N union select (n * 3 + 1) % 7 from REC", columns(n=Kind.INTEGER), "recursive-union"),
    (
        3,
        "n, s",
        "select 1, 'a' union all select n + 1, s || 'xy' from REC where n < N",
        columns(n=Kind.INTEGER, s=Kind.TEXT),
        "with-recursive",
    ),
    (
        3,
        "d",
        "select '2020-02-27' union all select date(d, '+1 day') from REC where d < '2020-03-0N'",
        columns(d=Kind.DATE),
        "with-recursive",
    ),
    (
        0.5,
        "n, s",
        "select 1, 'ab' union all select n + 1, s || s || n from REC where n < 14",
        columns(n=Kind.INTEGER, s=Kind.TEXT),
        "recursive-long-text",
    ),
    (
        0.5,
        "n",
        "values (1) union all select n * 2 from REC limit N",
        columns(n=Kind.INTEGER),
        "recursive-limit",
    ),
    (
        1,
        "n, f",
        "select 1, 1 union all select n + 1, f * (n + 1) from REC where n < 2N",
        columns(n=Kind.INTEGER, f=Kind.INTEGER),
        "recursive-overflow",
    ),
)
"""Weights, columns and bodies of recursions: REC is their name, N a digit."""


def statement(random: Random, catalog: Catalog, *, even: bool = False) -> Node:
    """A query over the database of `catalog`; equal random numbers give equal queries."""
    gen = Generator(random, catalog, even=even)
    common: list[Node | str] = []
    recursive = gen.chance(0.06)
    if recursive:
        common.append(_recursive(gen))
    elif gen.chance(0.1):
        if gen.chance(0.2):
            gen.hidden.add(gen.pick(catalog.tables).name.lower())
        common.append(_common(gen))
        if gen.chance(0.3):
            common += [", ", _common(gen)]
    word = ["WITH RECURSIVE " if recursive or gen.chance(0.1) else "WITH "] if common else []
    gen.selects = max(gen.selects, 2)
    found = query(gen, Wanted())
    first = optional(*word, *common, " ") if common else plain()
    return plain(first, found.node, found.tail)


def is_ordered(root: Node) -> bool:
    """Whether the rows of a statement have one order."""
    last = root.parts[-1]
    return isinstance(last, Node) and last.tag == TOTAL


def _common(gen: Generator) -> Node:
    outside = list(gen.common)
    inner = [_nested(gen)] if gen.selects > 1 and gen.chance(0.25) else []
    found = query(gen, Wanted(named=True, ordered=True))
    gen.common[:] = outside
    name, tag = gen.name("cte"), "with"
    if free := [name for name in sorted(gen.hidden) if name not in {table.name for table in outside}]:
        name, tag = free[0], "with-name-of-table"
    columns = found.columns
    header = name
    if gen.chance(0.25):
        names: list[str] = []
        for _column in columns:
            names.append(gen.colliding({*map(str.lower, names), *RESERVED}.__contains__) or gen.name("n"))
        columns = tuple(
            Column(name, column.kind, column.values) for name, column in zip(names, columns, strict=True)
        )
        header = f"{name}({', '.join(names)})"
        tag = "with-columns"
    how = gen.pick((" AS (", " AS (", " AS (", " AS MATERIALIZED (", " AS NOT MATERIALIZED ("))
    gen.common.append(Table(name, columns))
    return plain(
        plain(header, tag=tag),
        plain(how, tag="with-materialized" if "MATERIALIZED" in how else ""),
        *inner,
        found.node,
        ")",
    )


def _nested(gen: Generator) -> Node:
    """WITH inside a common table expression, which can hide one from outside by its name."""
    hidden = gen.pick(gen.common).name if gen.common and gen.chance(0.5) else gen.name("cte")
    # In its own body it would be itself, and not the one that it hides.
    gen.common[:] = [table for table in gen.common if table.name != hidden]
    found = query(gen, Wanted(named=True, ordered=True))
    gen.common.append(Table(hidden, found.columns))
    return plain("WITH ", plain(hidden, tag="with-nested"), " AS (", found.node, ") ")


def _recursive(gen: Generator) -> Node:
    hierarchies = [
        (table, column)
        for table in gen.catalog.tables
        for column in table.columns
        if column.target and column.target[0] == table.name
    ]
    if hierarchies and gen.chance(0.4):
        return _hierarchy(gen, *gen.pick(hierarchies))
    name = gen.name("rec")
    _, header, body, columns, tag = gen.weighted([(recursion[0], recursion) for recursion in _RECURSIONS])
    text = body.replace("REC", name).replace("N", gen.pick("13579"))
    gen.common.append(Table(name, columns))
    return frozen(f"{name}({header}) AS ({text})", tag=tag)


def _hierarchy(gen: Generator, table: Table, parent: Column) -> Node:
    name = gen.name("rec")
    if parent.target is None:
        raise AssertionError
    key, own, up = parent.target[1], identifier(gen, table.name), identifier(gen, parent.name)
    values = [value for column in table.columns if column.name == key for value in column.values]
    start = gen.pick((f"{up} IS NULL", f"{key} = {gen.pick(values)}"))
    if gen.chance(0.5):
        step = f"SELECT t.{key}, r.level + 1 FROM {own} AS t JOIN {name} AS r ON t.{up} = r.id"
    else:
        step = f"SELECT {own}.{key}, level + 1 FROM {own}, {name} WHERE {own}.{up} = {name}.id AND level < 4"
    gen.common.append(Table(name, columns(id=Kind.INTEGER, level=Kind.INTEGER)))
    return frozen(
        f"{name}(id, level) AS (SELECT {key}, 0 FROM {own} WHERE {start} UNION ALL {step})",
        tag="recursive-hierarchy",
    )

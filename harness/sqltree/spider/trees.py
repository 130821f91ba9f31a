"""SQL text -> the clauses that Spider compares, on the tree of sqlglot, which no other module need import.

Spider's own reader knows a small grammar; on that, this one reads what Spider reads. What goes beyond it
(names for queries, outer joins, functions, CASE, groups of conditions) is read in the same spirit, as
docs/spider.md says.
"""

from collections.abc import Iterator
from dataclasses import replace

import sqlglot
from sqlglot import exp

from harness.sqltree.spider.block import Block, Named, Place, digest_of, renamed
from harness.sqltree.spider.names import Schema, Source, Unreadable
from harness.sqltree.spider.parsing import parser
from harness.sqltree.spider.query import Query

_SPEAKER = sqlglot.Dialect.get_or_raise("sqlite")


def query_of(sql: str, schema: Schema) -> Query | None:
    """Read one SELECT or compound SELECT of SQLite's dialect; None where the text cannot be read."""
    try:
        parsed = parser(_SPEAKER).parse(_SPEAKER.tokenize(sql), sql)
        trees = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
        if len(trees) != 1 or not isinstance(trees[0], exp.Query):
            return None
        return _query(trees[0], Place(schema, sql, _query, {}, None, is_nested=False))[0]
    except Exception:  # noqa: BLE001 - what sqlglot raises for texts that are no SQL is of many kinds
        return None


def _query(tree: exp.Query, place: Place) -> tuple[Query, Named]:
    """A query with its set operations, and what it is in FROM."""
    arms = list(_arms(tree, ""))
    for node in (tree, *(select for _, select in arms if select is not tree)):
        place = _with_ctes(node, place)
    blocks: list[Block] = []
    for _, select in arms:
        blocks.append(Block(select, place, blocks[0] if blocks else None))
    # What sorts and cuts a compound SELECT belongs to its last one, where Spider's reader finds it.
    whole = blocks[-1].clauses((tree, blocks[-1].select))
    for number in reversed(range(len(blocks) - 1)):
        alone = blocks[number].clauses((blocks[number].select,))
        whole = replace(alone, following=(arms[number + 1][0], whole))
    digest = digest_of(repr(whole))
    return whole, Named(f"query {digest}", blocks[0].offers(digest))


def _arms(tree: exp.Expr, operator: str) -> Iterator[tuple[str, exp.Select]]:
    """The SELECTs of a compound one in the order of the text, each with the operator before it."""
    while isinstance(tree, exp.Subquery):
        tree = tree.this
    if isinstance(tree, exp.SetOperation):
        yield from _arms(tree.this, operator)
        yield from _arms(tree.expression, tree.key if tree.args.get("distinct") else f"{tree.key} all")
    elif isinstance(tree, exp.Select):
        yield operator, tree
    else:
        raise Unreadable(f"{tree.key} instead of a SELECT")


def _with_ctes(node: exp.Query, place: Place) -> Place:
    clause = node.args.get("with_")
    for cte in clause.expressions if clause is not None else ():
        name = cte.alias.lower()
        found = Named("itself", Source(name, is_open=True))
        if isinstance(cte.this, exp.Query):
            inner = replace(place, named={**place.named, name: found}, is_nested=True)
            found = renamed(_query(cte.this, inner)[1], cte)
        place = replace(place, named={**place.named, name: found})
    return place

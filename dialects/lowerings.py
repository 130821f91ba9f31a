"""What a target cannot do, or does otherwise than SQLite, with a name, a reason and a query that shows it.

A rewrite asks `lowers("name")`, or `lower` makes the lowering's own `change` in the compiled query. The list
of a dialect is `LOWERINGS` of `dialects/<name>/lowerings.py`. A test runs the query of each lowering on the
engine, with and without it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, get_args, get_type_hints

from sqlglot import exp

from dialects.by_dialect import ByDialect
from dialects.enums import Dialect

Nodes = Mapping[type[exp.Expr], Sequence[Any]]
"""The nodes of a query by type."""
MEASURED = "measured"
"""The source where no page or bug report of the server is known: the query shows it."""

EXAMPLE = """
CREATE TABLE item (id INTEGER PRIMARY KEY, kind TEXT, n INTEGER, x REAL, t TEXT);
INSERT INTO item VALUES
    (1, 'a', 1, 0.5, 'xaxy'), (2, 'a', NULL, 1.5, 'b'), (3, 'b', -3, NULL, NULL), (4, 'c', 9, 2.5, 'é');
CREATE TABLE part (item INTEGER, n INTEGER, name TEXT);
CREATE INDEX part_item ON part (item);
INSERT INTO part VALUES (1, 1, 'p'), (1, 2, 'q'), (3, NULL, 'p'), (7, 4, NULL);
CREATE TABLE visit (day TEXT);
INSERT INTO visit VALUES ('2020-02-29'), ('2020-03-01'), ('2021-03-01'), ('2022-03-01'), ('2023-03-01');
CREATE TABLE essay (id INTEGER PRIMARY KEY, big INTEGER, text TEXT);
INSERT INTO essay VALUES
    (1, -9223372036854775808, replace(hex(zeroblob(150000)), '00', 'abcd')),
    (2, 9223372036854775807, replace(hex(zeroblob(140000)), '00', 'efgh'));
"""
"""The database of the queries, in SQLite."""


def holding(*kinds: type[exp.Expr]) -> Callable[[Nodes], bool]:
    """Return what is true for a query with a node of one of the types; see `Lowering.needs`."""
    return lambda nodes: any(nodes.get(kind) for kind in kinds)


@dataclass(frozen=True)
class Lowering:
    """Something that a query needs on one target and that is written otherwise there.

    Without it, the query fails on the target or has other rows than SQLite's.
    """

    name: str
    why: str
    source: str
    """The page or bug report that says so, or `MEASURED`."""
    query: str
    """The smallest query that needs it, on the database `EXAMPLE`."""
    instead: str | None
    """What is written; None where the query is refused."""
    since: str | None = None
    """The first version of the server that needs it, if known."""
    until: str | None = None
    """The first version of the server that no longer needs it, if known; translations keep it."""
    crashes: bool = False
    """True if the server crashes without it, which no test tries."""
    most: int | None = None
    """The number that is the target's limit."""
    hint: str | None = None
    """The optimizer hint that is written."""
    change: Callable[[Any], exp.Expr | None] | None = None
    """Changes a node of its parameter's type, in place or by returning another; may refuse."""
    needs: Callable[[Nodes], bool] | None = None
    """Whether a query with such nodes may need the change; None for any query."""

    @cached_property
    def changes(self) -> tuple[type[exp.Expr], ...]:
        """Return the types of nodes that `change` takes."""
        if self.change is None:
            return ()
        kind = next(iter(get_type_hints(self.change).values()))
        return get_args(kind) or (kind,)


LOWERINGS = ByDialect[tuple[Lowering, ...]]("dialects.{}.lowerings", "LOWERINGS")


@cache
def lowerings(target: Dialect, without: frozenset[str] = frozenset()) -> Mapping[str, Lowering | None]:
    """Return the lowerings of all targets by name: None for those that this one does without.

    A name that no target has is missing, so that a misspelt one is an error.
    """
    own = {each.name: each for each in LOWERINGS[target]}
    names = {each.name for one in LOWERINGS.values() for each in one}
    if unknown := without - names:
        raise ValueError(f"no lowering has the name {min(unknown)}")
    return {name: None if name in without else own.get(name) for name in names}


@cache
def _changing(target: Dialect, without: frozenset[str]) -> Sequence[Lowering]:
    return [each for each in LOWERINGS[target] if each.change and each.name not in without]


def lower(tree: exp.Expr, target: Dialect, nodes: Nodes, without: frozenset[str] = frozenset()) -> exp.Expr:
    """Make the changes of a target's lowerings in a compiled query with these nodes, outer ones first.

    A node is changed until one of its lowerings returns another one; what that is made of is visited, too.

    Returns:
        The query.

    Raises:
        Untranslatable: a lowering refuses the query.
    """
    changes: dict[type[exp.Expr], list[Callable[[Any], exp.Expr | None]]] = {}
    for each in _changing(target, without):
        if each.change and (each.needs is None or each.needs(nodes)):
            for kind in each.changes:
                changes.setdefault(kind, []).append(each.change)
    return _lowered(tree, changes) if any(nodes.get(kind) for kind in changes) else tree


def _lowered(
    tree: exp.Expr, changes: Mapping[type[exp.Expr], Sequence[Callable[[Any], exp.Expr | None]]]
) -> exp.Expr:
    done: dict[int, exp.Expr] = {}  # with the nodes, or a new one could get the identity of one that is gone
    waiting: list[tuple[exp.Expr, exp.Expr | None, str, int | None]] = [(tree, None, "", None)]
    while waiting:
        node, parent, key, index = waiting.pop()
        if parent is not None and (node.parent is not parent or node.arg_key != key or node.index != index):
            # The compiler put the node in two places: each has its own from here on.
            node = node.copy()
            parent.set(key, node, index)
        for change in changes.get(type(node), ()) if id(node) not in done else ():
            done[id(node)] = node
            other = change(node)
            if other is not None:
                if parent is None:
                    tree = other
                else:
                    parent.set(key, other, index)
                node = other
                break
        for key, value in reversed(node.args.items()):
            if type(value) is exp.Identifier:
                continue
            if isinstance(value, exp.Expr):
                waiting.append((value, node, key, None))
            elif isinstance(value, list):
                waiting += [
                    (value[at], node, key, at)
                    for at in reversed(range(len(value))) if isinstance(value[at], exp.Expr)
                ]  # fmt: skip
    return tree

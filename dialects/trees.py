"""Search trees, in half the time of sqlglot's own `find_all` and `find`."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from sqlglot import exp

_Node = TypeVar("_Node", bound=exp.Expr)


def walked(tree: exp.Expr) -> list[exp.Expr]:
    """Return the nodes of a tree, those of a level before the next."""
    nodes = [tree]
    add = nodes.append
    for node in nodes:
        for value in node.args.values():
            if not value or value is True or type(value) is str:
                continue
            if isinstance(value, exp.Expr):
                add(value)
            elif type(value) is list:
                nodes += [each for each in value if isinstance(each, exp.Expr)]
    return nodes


def find_all(tree: exp.Expr, *kinds: type[_Node]) -> Iterator[_Node]:
    """Yield the nodes of some types that a tree has now, those of a level before the next."""
    return (node for node in walked(tree) if isinstance(node, kinds))


def has(tree: exp.Expr, *kinds: type[exp.Expr]) -> bool:
    """True if a tree has a node of one of the types."""
    return any(isinstance(node, kinds) for node in walked(tree))


def by_type(tree: exp.Expr) -> Mapping[type[exp.Expr], list[Any]]:
    """Return the nodes of a tree by their types; subclasses are types of their own."""
    found: dict[type[exp.Expr], list[Any]] = defaultdict(list)
    for node in walked(tree):
        found[type(node)].append(node)
    return found


def copied(tree: _Node) -> _Node:
    """Return a copy of a compiled tree, which has no comments."""
    top = type(tree)()
    waiting: list[tuple[exp.Expr, exp.Expr]] = [(tree, top)]
    for node, copy in waiting:
        if node._meta:  # noqa: SLF001 - `meta` would create one in each
            copy.meta.update(node.meta)
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                part = copy.args[key] = type(value)()
                part.parent, part.arg_key = copy, key
                waiting.append((value, part))
            elif type(value) is list:
                copy.set(key, [type(each)() if isinstance(each, exp.Expr) else each for each in value])
                waiting += [
                    pair for pair in zip(value, copy.args[key], strict=True) if pair[0] is not pair[1]
                ]
            else:
                copy.args[key] = value
    return top


def first_select(query: exp.Expr) -> exp.Expr:
    """Return the first SELECT of a compound or parenthesized query."""
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    return query


def windows_of(select: exp.Select) -> list[exp.Window]:
    """Return the windows of a SELECT outside its subqueries."""
    return [each for each in find_all(select, exp.Window) if each.parent_select is select]

"""Makes a query smaller for as long as it stays interesting."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.tree import Node, Role

_LEAVES: dict[Role, tuple[str, ...]] = {
    Role.EXPRESSION: ("1", "NULL", "'a'", "0.5"),
    Role.EXACT: ("1",),
}


def shrink(root: Node, interesting: Callable[[Node], bool], attempts: int = 250) -> Node:
    """The smallest of the variants found that is still interesting.

    Args:
        root: an interesting query.
        interesting: says whether a variant shows the same fault.
        attempts: how often it may be asked.
    """
    tried = {str(root)}
    left = attempts
    improved = True
    while improved:
        improved = False
        for variant in smaller(root):
            text = str(variant)
            if text in tried:
                continue
            tried.add(text)
            if left == 0:
                return root
            left -= 1
            if interesting(variant):
                root, improved = variant, True
                break
    return root


def smaller(root: Node) -> Iterator[Node]:
    """Variants with a shorter text, the shortest first."""
    size = len(str(root))
    variants = {str(variant): variant for variant in _variants(root)}
    yield from (variants[text] for text in sorted(variants, key=len) if len(text) < size)


def _within(node: Node) -> Iterator[Node]:
    """What is below a node and can leave its place."""
    for part in node.parts:
        if isinstance(part, Node) and part.role not in (Role.APART, Role.FROZEN):
            yield part
            yield from _within(part)


def _variants(node: Node) -> Iterator[Node]:
    if node.role is Role.FROZEN:
        return
    if node.role is Role.OPTIONAL and node.parts:
        yield replace(node, parts=(), tag="")
    if node.role in (Role.EXPRESSION, Role.EXACT, Role.SELECT):
        yield from (below for below in _within(node) if below.role is node.role)
    if node.role in _LEAVES:
        yield from (Node(node.role, (leaf,)) for leaf in _LEAVES[node.role])
    if node.role is Role.LIST and len(node.parts) > 1:
        for at in range(len(node.parts)):
            yield replace(node, parts=node.parts[:at] + node.parts[at + 1 :])
    for at, part in enumerate(node.parts):
        if isinstance(part, Node):
            for variant in _variants(part):
                yield replace(node, parts=(*node.parts[:at], variant, *node.parts[at + 1 :]))

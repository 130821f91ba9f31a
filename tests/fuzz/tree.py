"""A SQL text as a tree whose every node can be tagged, counted, and made smaller.

Tags name the constructs that a text is made of. Kinds say what a node may be replaced with when a text is
made smaller: only with a node of the same kind, so that what makes an answer unique stays as it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

TAGS: set[str] = set()
"""The names of all constructs."""


def construct(*tags: str) -> None:
    """Register constructs."""
    TAGS.update(tags)


class Role(StrEnum):
    """What may take the place of a node."""

    PLAIN = "plain"
    """Nothing may; what is in it may be replaced."""
    APART = "apart"
    """Nothing may; what is in it may be replaced, but does not leave it."""
    FROZEN = "frozen"
    """Nothing may, nor may what is in it be replaced."""
    EXPRESSION = "expression"
    EXACT = "exact"
    """A number whose sums are exact in any order."""
    SELECT = "select"
    OPTIONAL = "optional"
    """Nothing at all may."""
    LIST = "list"
    """One with fewer parts may; the parts are separated by commas."""


@dataclass(frozen=True)
class Node:
    """Text and nodes in the order in which they are written; `tag` names a construct, if it is one."""

    role: Role
    parts: tuple["str | Node", ...]
    tag: str = ""

    def __str__(self) -> str:
        return (", " if self.role is Role.LIST else "").join(map(str, self.parts))

    def walk(self) -> Iterator["Node"]:
        """The node and all below it, from the outside in."""
        yield self
        for part in self.parts:
            if isinstance(part, Node):
                yield from part.walk()

    @property
    def tags(self) -> frozenset[str]:
        """The constructs that the text is made of."""
        return frozenset(node.tag for node in self.walk() if node.tag)


def expression(*parts: str | Node) -> Node:
    """A value, in parentheses where it needs them."""
    return Node(Role.EXPRESSION, parts)


def plain(*parts: str | Node, tag: str = "") -> Node:
    """What is there for the sake of its parts."""
    return Node(Role.PLAIN, parts, tag)


def apart(*parts: str | Node, tag: str = "") -> Node:
    """What belongs where it is, as the arguments of an aggregate do."""
    return Node(Role.APART, parts, tag)


def frozen(*parts: str | Node, tag: str = "") -> Node:
    """What stays as it is."""
    return Node(Role.FROZEN, parts, tag)


def optional(*parts: str | Node, tag: str = "") -> Node:
    """What can be left out."""
    return Node(Role.OPTIONAL, parts, tag)


def listed(parts: Sequence[Node]) -> Node:
    """What is separated by commas, and of which one is enough."""
    return Node(Role.LIST, tuple(parts))

"""A query as parts, before it is put together."""

from dataclasses import dataclass, field

from harness.predictors.offline.catalog import Entity, Field
from harness.predictors.offline.operations import Tree


@dataclass
class Order:
    """Which rows come first, and how many of them are wanted.

    `each`: those that come first within every group are wanted, not those of all.
    """

    by: Tree
    falling: bool
    limit: int | None = 1
    offset: int = 0
    each: bool = False


@dataclass
class Draft:
    """What a question seems to ask for.

    `subject` is the table that it is about; columns in the trees may not have their tables yet.
    """

    subject: Entity
    select: list[Tree] = field(default_factory=list)
    where: list[Tree] = field(default_factory=list)
    either: list[Tree] = field(default_factory=list)
    """Two conditions that no row meets at once: each is looked for by itself, and what both find is shown."""
    group: list[Field] = field(default_factory=list)
    group_by: list[Tree] = field(default_factory=list)
    having: list[Tree] = field(default_factory=list)
    order: Order | None = None
    distinct: bool = False
    places: int | None = None
    """How many decimal places numbers are rounded to."""

"""How the tables of a query hang together: the shortest ways along foreign keys."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from harness.predictors.offline.catalog import Catalog, Entity, Link


@dataclass(frozen=True)
class Step:
    """One join: `table` is added by a link; `many` where it may have several rows for one that is there."""

    table: str
    link: Link
    many: bool


def links(catalog: Catalog) -> tuple[Link, ...]:
    """The foreign keys; where a database has none, columns that are called as the key of another table."""
    if catalog.links:
        return catalog.links
    return tuple(
        Link(source.name, (field.name,), target.name, (target.keys[0].name,))
        for target in catalog.entities
        if len(target.keys) == 1
        for source in catalog.entities
        if source is not target
        for field in source.fields
        if field.name.lower() == target.keys[0].name.lower()
    )


def joined(catalog: Catalog, root: Entity, tables: Iterable[str]) -> list[Step]:
    """The joins that bring tables to a first one, in order; a table that nothing links is left out."""
    steps: list[Step] = []
    known = [root.name]
    edges = links(catalog)
    for table in tables:
        if table in known:
            continue
        for step in _path(edges, known, table):
            steps.append(step)
            known.append(step.table)
    return steps


def _path(edges: tuple[Link, ...], known: list[str], wanted: str) -> list[Step]:
    """The shortest way from any of the tables that are there; of equal ones that of the first link."""
    ways: dict[str, list[Step]] = {table: [] for table in known}
    queue = deque(known)
    while queue:
        here = queue.popleft()
        if here == wanted:
            return ways[here]
        for link in edges:
            for one, other, many in ((link.source, link.target, False), (link.target, link.source, True)):
                if one == here and other not in ways:
                    ways[other] = [*ways[here], Step(other, link, many)]
                    queue.append(other)
    return []

"""The house as its imports draw it: `python -m tests.docs.rooms` counts rooms, floors, arrows and circles.

A room is a library, or what stands directly in `harness`: a folder or a module. An arrow is one room that
imports another. A floor is how many arrows lead down from it at most.
"""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

import grimp

LIBRARIES = ("harness", "loaders", "dialects")


def room(module: str) -> str:
    """The room of a module."""
    library, *inner = module.split(".")
    return ".".join((library, *inner[:1])) if library == "harness" else library


def arrows() -> dict[str, set[str]]:
    """Every room, with those that it imports."""
    graph = grimp.build_graph(*LIBRARIES, cache_dir=None)
    found: dict[str, set[str]] = {room(module): set() for module in graph.modules}
    for module in graph.modules:
        found[room(module)] |= {room(other) for other in graph.find_modules_directly_imported_by(module)}
    return {name: below - {name} for name, below in found.items()}


def floors(below: Mapping[str, set[str]]) -> int:
    """How many floors there are.

    Raises:
        CycleError: rooms stand on each other.
    """
    floor: dict[str, int] = {}
    for name in TopologicalSorter(below).static_order():
        floor[name] = 1 + max((floor[other] for other in below[name]), default=0)
    return max(floor.values())


def counted() -> str:
    """What is counted, in a line."""
    below = arrows()
    try:
        high = f"{floors(below)} floors, no circle"
    except CycleError as error:
        high = f"a circle: {' -> '.join(error.args[1])}"
    return f"{len(below)} rooms, {sum(map(len, below.values()))} arrows, {high}"


if __name__ == "__main__":
    print(counted())  # noqa: T201 - what it is for

"""The house as its imports draw it: `python -m tests.docs.rooms` counts rooms, floors, arrows and circles.

A room is a library, or what stands directly in `harness`: a folder or a module. An arrow is one room that
imports another. A floor is how many arrows lead down from it at most. Beside them are counted modules of at
most 80 lines that one module alone imports, and names of classes that several modules give.
"""

import ast
from collections import Counter
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

LIBRARIES = ("harness", "loaders", "dialects")
ROOT = Path(__file__).parents[2]
_SMALL = 80
"""Lines."""


@cache
def graph() -> grimp.ImportGraph:
    """The modules of the libraries, and which imports which."""
    return grimp.build_graph(*LIBRARIES, cache_dir=None)


def room(module: str) -> str:
    """The room of a module."""
    library, *inner = module.split(".")
    return ".".join((library, *inner[:1])) if library == "harness" else library


def arrows() -> dict[str, set[str]]:
    """Every room, with those that it imports."""
    found: dict[str, set[str]] = {room(module): set() for module in graph().modules}
    for module in graph().modules:
        found[room(module)] |= {room(other) for other in graph().find_modules_directly_imported_by(module)}
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


def sources() -> dict[str, str]:
    """The text of every module."""
    found = {}
    for module in graph().modules:
        path = ROOT.joinpath(*module.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        found[module] = path.read_text(encoding="utf-8")
    return found


def small(texts: Mapping[str, str]) -> list[str]:
    """The modules that are small, and imported by one alone."""
    return sorted(
        module
        for module, text in texts.items()
        if text.count("\n") <= _SMALL and len(graph().find_modules_that_directly_import(module)) == 1
    )


def homonyms(texts: Mapping[str, str]) -> list[str]:
    """The names of classes that several modules give, but for names that begin with `_`."""
    named = Counter(
        name
        for text in texts.values()
        for name in {node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
        if not name.startswith("_")
    )
    return sorted(name for name, times in named.items() if times > 1)


def drawn() -> str:
    """Rooms, arrows, floors and circles, in a line."""
    below = arrows()
    try:
        high = f"{floors(below)} floors, no circle"
    except CycleError as error:
        high = f"a circle: {' -> '.join(error.args[1])}"
    return f"{len(below)} rooms, {sum(map(len, below.values()))} arrows, {high}"


def counted() -> str:
    """What is counted."""
    texts = sources()
    return (
        f"{drawn()}\n"
        f"{len(small(texts))} modules of at most {_SMALL} lines that one alone imports\n"
        f"{len(found := homonyms(texts))} names of classes in several modules: {', '.join(found)}"
    )


if __name__ == "__main__":
    print(counted())  # noqa: T201 - what it is for

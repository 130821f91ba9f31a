"""The house as its imports draw it, and what it weighs: `python -m tests.docs.rooms`.

`--update` draws the picture of docs/explanation/architecture.md anew.

A room is a library, or what stands directly in `harness`: a folder or a module. An arrow is one room that
imports another. A floor is how many arrows lead down from it at most. Beside them are counted modules of at
most 120 lines that one module alone imports, and names of classes that several modules give.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

LIBRARIES = ("harness", "loaders", "dialects")
ROOT = Path(__file__).parents[2]
_SMALL = 120
"""Lines."""
_JSON = re.compile(r"\bjson\.(?:loads?|dumps?)\b")
_LABS = "harness/labs/"
FENCE = "```text rooms\n"
"""What the picture of a page begins with."""


@cache
def graph() -> grimp.ImportGraph:
    """The modules of the libraries, and which imports which when it runs, not for its types alone."""
    return grimp.build_graph(*LIBRARIES, cache_dir=None, exclude_type_checking_imports=True)


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
        # A folder that git has left behind is no module.
        if path.exists():
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


def docstring_lines(tree: ast.Module) -> set[int]:
    """The numbers of the lines that docstrings of modules, classes and functions take."""
    bodies = (
        node.body[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node) is not None
    )
    return {line for node in bodies for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def weight(texts: Iterable[str]) -> dict[str, int]:
    """Lines, files, classes and other counts of Python files."""
    total = Counter[str]()
    for text in texts:
        tree, lines = ast.parse(text), text.splitlines()
        prose = docstring_lines(tree)
        blank = sum(not line.strip() for at, line in enumerate(lines, 1) if at not in prose)
        comments = sum(line.lstrip().startswith("#") for at, line in enumerate(lines, 1) if at not in prose)
        total += Counter(
            {
                "lines": len(lines),
                "files": 1,
                "code lines": len(lines) - len(prose) - blank - comments,
                "docstring lines": len(prose),
                "classes": sum(isinstance(node, ast.ClassDef) for node in ast.walk(tree)),
                "files that call json": bool(_JSON.search(text)),
            }
        )
    return total


def weights() -> str:
    """The weight of every library, of every room of the harness and of the tests, a line each."""
    tracked = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    folders: dict[str, list[str]] = {}
    for name in tracked:
        top, *inner = name.split("/")
        if (path := ROOT / name).exists() and top in {*LIBRARIES, "tests", "benchmarks"}:
            text = path.read_text(encoding="utf-8")
            folders.setdefault(top, []).append(text)
            if top in LIBRARIES:
                part = "labs" if name.startswith(_LABS) else "core"
                folders.setdefault(f"product: {part}", []).append(text)
            if top == "harness" and len(inner) > 1:
                folders.setdefault(f"{top}.{inner[0]}", []).append(text)
    folders["product"] = [text for library in LIBRARIES for text in folders[library]]
    rows = {name: weight(texts) for name, texts in folders.items()}
    columns = ("lines", "files", "code lines", "docstring lines", "classes", "files that call json")
    head = f"{'':22}" + "".join(f"{column:>22}" for column in columns)
    return "\n".join(
        [
            head,
            *(
                f"{name:22}" + "".join(f"{row.get(column, 0):22,}" for column in columns)
                for name, row in sorted(rows.items())
            ),
        ]
    )


def purpose(name: str) -> str:
    """What a room is for, as the first line of its docstring says."""
    path = ROOT.joinpath(*name.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def picture() -> str:
    """The rooms from the top floor down, each with its purpose and the rooms that it stands on directly.

    An arrow is left out where others lead to the same room: `session` brings what is below it.
    """
    below = arrows()
    reach: dict[str, set[str]] = {}
    floor: dict[str, int] = {}
    for name in TopologicalSorter(below).static_order():
        reach[name] = below[name].union(*(reach[other] for other in below[name]))
        floor[name] = 1 + max((floor[other] for other in below[name]), default=0)
    lines = []
    for high in range(max(floor.values()), 0, -1):
        for name in sorted(name for name in below if floor[name] == high and name != "harness.__main__"):
            direct = below[name] - set[str]().union(*(reach[other] for other in below[name]))
            names = ", ".join(sorted(other.removeprefix("harness.") for other in direct))
            lines.append(f"{high:2}  {name.removeprefix('harness.'):14} {purpose(name)}")
            lines += [f"{'':18} -> {names}"] if names else []
    return "\n".join(lines)


def update(page: Path) -> None:
    """Draw the picture of a page anew, between its fences."""
    before, after = page.read_text(encoding="utf-8").split(FENCE, 1)
    page.write_text(f"{before}{FENCE}{picture()}\n```{after.split('```', 1)[1]}", encoding="utf-8")


if __name__ == "__main__":
    if "--update" in sys.argv:
        update(ROOT / "docs" / "explanation" / "architecture.md")
    print(f"{picture()}\n\n{counted()}\n\n{weights()}")  # noqa: T201 - what it is for

"""What the code imports is declared, and comes with what is installed to run it."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

from tests.frameworks import FRAMEWORKS

ROOT = Path(__file__).parents[1]
ROOMS = ("harness", "dialects", "loaders")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_USERS = (
    "docs",
    "hf",
    "inspect",
    "lm-eval",
    "mcp",
    "mlflow",
    "models",
    "openenv",
    "pandas",
    "ray",
    "serve",
    "storage",
    "verifiers",
    "wandb",
)
"""The extras that are not for developing."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


def name_of(requirement: str) -> str:
    found = _NAME.match(requirement)
    assert found
    return re.sub(r"[-_.]+", "-", found[0]).lower()


@cache
def imports() -> Mapping[str, Sequence[str]]:
    """The top-level packages that the rooms import, each with the places."""
    found: dict[str, list[str]] = {}
    for path in (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = getattr(node, "module", None)
                for name in [module] if module else [each.name for each in node.names]:
                    found.setdefault(name.partition(".")[0], []).append(
                        f"{path.relative_to(ROOT)}:{node.lineno}"
                    )
    return found


def declared() -> set[str]:
    """The distributions that running asks for, directly."""
    extras = [each for extra in FOR_USERS for each in PROJECT["optional-dependencies"][extra]]
    return {name_of(each) for each in [*PROJECT["dependencies"], *extras]}


def installed_with(names: set[str]) -> set[str]:
    """These distributions and all that they ask for themselves."""
    found: set[str] = set()
    waiting = [(name, frozenset[str]()) for name in names] + [("psycopg", frozenset({"binary"}))]
    while waiting:
        name, extras = waiting.pop()
        if name in found and not extras:
            continue
        found.add(name)
        try:
            wanted = requires(name) or []
        except PackageNotFoundError:
            continue  # it is for another system or version of Python
        for requirement in wanted:
            conditions = set(_EXTRA.findall(requirement))
            if not conditions or conditions & extras:
                inner = re.search(r"\[([^\]]*)\]", requirement.partition(";")[0])
                own = frozenset(map(str.strip, inner[1].split(","))) if inner else frozenset[str]()
                if name_of(requirement) not in found or own:
                    waiting.append(
                        (name_of(requirement), own if name_of(requirement) not in found else frozenset())
                    )
    return found


def test_every_import_is_of_something_declared() -> None:
    of = packages_distributions()
    assert {
        name: places
        for name, places in imports().items()
        if name not in sys.stdlib_module_names
        and name not in ROOMS
        and not {name_of(each) for each in of.get(name, [name])} & declared()
    } == {}


def test_every_declared_dependency_is_imported_or_said_to_be_needed() -> None:
    of = packages_distributions()
    used = {name_of(each) for name in imports() for each in of.get(name, [])}
    by_others = {"cryptography", "zensical", "httptools"}  # PyMySQL's, a command, uvicorn's
    by_others |= {"datasets", *map(name_of, FRAMEWORKS)}  # not installed here
    assert declared() - used - by_others == set()


@pytest.mark.parametrize("name", ["psycopg", "pymysql", "httpx2", "sqlglot", "uvicorn"])
def test_what_is_used_beyond_its_public_interface_has_an_upper_bound(name: str) -> None:
    extras = PROJECT["optional-dependencies"]
    found = [
        each
        for each in [*PROJECT["dependencies"], *extras["models"], *extras["serve"], *extras["dev"]]
        if name_of(each) == name
    ]
    assert found
    assert [each for each in found if "<" not in each and "==" not in each] == []


_IMPORT_ALL = """
import importlib, pkgutil, sys
blocked = set(sys.argv[1].split(","))
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"{name} is for developing", name=name)
sys.meta_path.insert(0, Blocker())
count = 0
for room in sys.argv[3:]:
    package = importlib.import_module(room)
    for found in pkgutil.walk_packages(package.__path__, f"{room}."):
        if not found.name.endswith(("__main__", *sys.argv[2].split(","))):
            importlib.import_module(found.name)
            count += 1
print(count)
"""


@pytest.mark.slow
@pytest.mark.thorough
def test_every_module_can_be_imported_where_nothing_for_developing_is_installed() -> None:
    kept = installed_with(declared()) | {"bird-harness"}
    blocked = {
        package
        for package, distributions in packages_distributions().items()
        if not {name_of(each) for each in distributions} & kept and package not in sys.stdlib_module_names
    }
    assert {"hypothesis", "mypy", "xdist"} <= blocked
    assert not blocked & {"pymysql", "psycopg", "psycopg_binary", "openai", "pytest", "scipy"}
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT_ALL, ",".join(sorted(blocked)), ",".join(FRAMEWORKS), *ROOMS],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > 200

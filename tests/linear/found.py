"""Every pattern of the project, found by importing all of it and looking into everything that it has."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import dialects
import harness
import loaders
from tests.frameworks import FRAMEWORKS

PACKAGES = (harness, loaders, dialects)
ROOT = Path(harness.__file__).parents[1]
_DEEPEST = 6
_PLAIN = (str, bytes, int, float, type(None), ModuleType)
_OTHERS = frozenset({"escape", "purge", "Pattern", "Match"})


@dataclass(frozen=True)
class Found:
    """A pattern, and where it is."""

    where: str
    pattern: "re.Pattern[Any]"
    anchored: bool
    """Whether it is asked for a match at the beginning of a text alone."""


def modules() -> Iterator[ModuleType]:
    """All modules of the project, imported."""
    for package in PACKAGES:
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not info.name.endswith(("__main__", *FRAMEWORKS)):
                yield importlib.import_module(info.name)


def patterns() -> list[Found]:
    """Each pattern once, where it is found first."""
    found: dict[tuple[Any, int, bool], Found] = {}
    for module in modules():
        has_some = any(isinstance(value, re.Pattern) for value in vars(module).values())
        asked = _asked(Path(str(module.__file__))) if has_some else {}
        for name, value in vars(module).items():
            if getattr(value, "__module__", module.__name__) != module.__name__ and isinstance(
                value, type | FunctionType
            ):
                continue
            for pattern in () if isinstance(value, _PLAIN) else _within(value, module.__name__, 0):
                anchored = isinstance(value, re.Pattern) and asked.get(name, set()) <= {"match", "fullmatch"}
                # Other modules may import it, and ask more of it.
                anchored = anchored and name.startswith("_") and bool(asked.get(name))
                key = pattern.pattern, pattern.flags, anchored
                found.setdefault(key, Found(f"{module.__name__}.{name}", pattern, anchored))
    return list(found.values())


def _within(value: Any, module: str, depth: int) -> Iterator["re.Pattern[Any]"]:  # noqa: C901, PLR0912 - a case for each kind
    if depth > _DEEPEST:
        return
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping | list | tuple | set | frozenset):
        # Most are large tables of texts.
        inside = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
        for one in inside:
            if not isinstance(one, _PLAIN):
                yield from _within(one, module, depth + 1)
    elif isinstance(value, type):
        if value.__module__ == module:
            for one in list(vars(value).values()):
                yield from _within(one, module, depth + 1)
    elif isinstance(value, FunctionType):
        for one in (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()):
            yield from _within(one, module, depth + 1)
        for cell in value.__closure__ or ():
            yield from _within(cell.cell_contents, module, depth + 1)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _within(getattr(value, field.name, None), module, depth + 1)


def _asked(path: Path) -> dict[str, set[str]]:
    """By the name of a module's variable, its methods that are called; `used` for anything else."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    asked: dict[str, set[str]] = {}
    called = {
        id(node.value): node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            asked.setdefault(node.id, set()).add(called.get(id(node), "used"))
    return asked


def inline(path: Path) -> tuple[list[Found], list[str]]:
    """The patterns that a file's functions give to `re` themselves, and the calls without one."""
    text = path.read_text(encoding="utf-8")
    if not re.search(r"\bre\b", text):
        return [], []
    tree = ast.parse(text)
    place = path.relative_to(ROOT).as_posix()
    named = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "re"
        for alias in node.names
    }
    known: dict[str, Found] = {}
    unknown: dict[str, None] = {}
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.Lambda)]
    for node in (one for function in functions for one in ast.walk(function)):
        if not isinstance(node, ast.Call):
            continue
        method = _of_re(node.func, named)
        if method is None or method in _OTHERS:
            continue
        where = f"{place}: {ast.unparse(node)}"
        if isinstance(node.args[0], ast.Constant):
            flags = 0
            for one in (*node.args[1:], *(keyword.value for keyword in node.keywords)):
                for name in ast.walk(one):
                    if isinstance(name, ast.Attribute) and isinstance(
                        getattr(re, name.attr, None), re.RegexFlag
                    ):
                        flags |= getattr(re, name.attr)
            given: Any = node.args[0].value
            pattern = re.compile(given, flags)
            known[where] = Found(where, pattern, method in {"match", "fullmatch"})
        else:
            unknown[where] = None
    return list(known.values()), list(unknown)


def _of_re(called: ast.expr, named: AbstractSet[str]) -> str | None:
    """The function of `re` that is called, by its own name or one of those `named`; None for any other."""
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "re":
        return called.attr
    return called.id if isinstance(called, ast.Name) and called.id in named else None


def files() -> list[Path]:
    """All the project's own files of Python."""
    return [path for package in PACKAGES for path in sorted(Path(package.__path__[0]).rglob("*.py"))]

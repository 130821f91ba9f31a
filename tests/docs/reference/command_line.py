"""The pages of `bird-harness` and `make`."""

import enum
import re
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from harness.cli.commands import LAB, Group, ListedCommand, app, grouped
from harness.cli.commands import command as loaded
from tests.docs.blocks import ROOT
from tests.docs.reference.markdown import cell, one_line
from tests.docs.reference.written import WRITTEN

_HEAD = """\
`bird-harness COMMAND --help` prints the same. `make` calls these commands ([targets](#targets-of-make)).
Exit codes: 0 done, 1 a threshold or check failed, 2 bad usage or bad input, 3 an engine is missing or broke.
"""


def commands() -> Mapping[str, Any]:
    """Every command of the command line that is shown to users, by name."""
    return {name: loaded(name) for name in _listed()}


def _listed() -> Mapping[str, ListedCommand]:
    """Every command, in the order of the page."""
    every = {name: each for group in Group for name, each in grouped(group).items() if name != "doctor"}
    return dict(sorted(every.items(), key=_place))


def _place(entry: tuple[str, ListedCommand]) -> tuple[bool, str]:
    """Labs come after the other commands."""
    return entry[1].group is Group.LAB, entry[0]


def cli() -> str:
    parts = [
        WRITTEN,
        "# Commands and make targets\n",
        _HEAD,
    ]
    listed = _listed()
    for name, command in commands().items():
        words = f"{LAB} {name}" if listed[name].group is Group.LAB else name
        arguments = [param for param in command.params if param.param_type_name == "argument"]
        shown = "".join(f" {_argument(param)}" for param in arguments)
        parts += [
            f"## {words}\n",
            f"`bird-harness {words}{shown} [OPTIONS]`\n",
            f"{one_line(command.help)}\n",
        ]
        parts += [f"```console\nbird-harness {listed[name].example}\n```\n"]
        types = _types(name)
        rows = [
            _parameter(param, types[param.name])
            for param in command.params
            if param.name in types and not param.hidden
        ]
        if rows:
            parts.append("| option | default | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _argument(param: Any) -> str:
    name = str(param.metavar or param.name).upper()
    return name if param.required else f"[{name}]"


def _types(name: str) -> Mapping[str, Any]:
    """The types of a command's parameters, by name: those of the function that it calls."""
    for command in app.registered_commands:
        function = command.callback
        if function is not None and name == (command.name or function.__name__):
            return get_type_hints(function)
    raise LookupError(name)


def _parameter(param: Any, kind: Any) -> str:
    kinds = (
        [each for each in get_args(kind) if each is not NoneType] if get_origin(kind) is UnionType else [kind]
    )
    repeatable = get_origin(kinds[0]) is list
    innermost = get_args(kinds[0])[0] if repeatable else kinds[0]
    if param.param_type_name == "argument":
        names, value = _argument(param), ""
    else:
        names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
        value = "" if innermost is bool else f" {_value(param, innermost)}"
    repeated = " (repeatable)" if repeatable else ""
    return f"| {names}{value}{repeated} | {_default(param)} | {cell(param.help or '')} |"


def _value(param: Any, kind: Any) -> str:
    if param.metavar:
        return cell(str(param.metavar))
    if issubclass(kind, enum.Enum):
        return " or ".join(f"`{choice.value}`" for choice in kind)
    return {int: "N", float: "NUMBER", Path: "PATH"}.get(kind, "TEXT")


def _default(param: Any) -> str:
    default = param.default
    if param.required:
        return "required"
    if isinstance(default, bool):
        return "on" if default else ""
    if default is None:
        return ""
    shown = int(default) if isinstance(default, float) and default.is_integer() else default
    return f"`{getattr(shown, 'value', shown)}`"


def make() -> str:
    """The Makefile's own comments, which `make` alone prints, too."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):.*?## (.*)$", text, re.MULTILINE)
    variables = re.findall(r"^([A-Z]+) \?=# *(.*)$", text, re.MULTILINE)
    return "\n".join(
        [
            "## Targets of make\n",
            "Most targets call `bird-harness`. `make` alone prints this list.\n",
            "| target | what it does |\n|---|---|",
            *(f"| `make {name}` | {cell(meaning)} |" for name, meaning in targets),
            "\n### Variables\n",
            "For example `make eval DIALECT=postgresql WORKERS=4`.\n",
            "| variable | meaning |\n|---|---|",
            *(f"| `{name}` | {cell(meaning)} |" for name, meaning in variables),
            "",
        ]
    )

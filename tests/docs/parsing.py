"""Whether a command of the documentation is one that exists: parsed by what would run it, and not run."""

import importlib
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from typing import Any

import typer
import typer.main

from harness.cli.commands import LAB, Group, grouped
from harness.cli.commands import command as loaded
from tests.docs.blocks import ROOT
from tests.docs.reference.plugin import declared

_ASSIGNMENT = re.compile(r"[A-Z_]+=.*")
_VARIABLES = re.compile(r"^([A-Z]+) \?=", re.MULTILINE)


def fault(command: str) -> str | None:  # noqa: PLR0911 - a way to look at each program
    """What is wrong with a command; None where nothing is."""
    words = shlex.split(command)
    while words and _ASSIGNMENT.fullmatch(words[0]):
        words = words[1:]
    program, arguments = words[0].rpartition("/")[2], words[1:]
    if program == "bird-harness":
        return _of_group(arguments)
    if program == "make":
        return _of_make(arguments)
    if program.startswith("python"):
        return _of_module(arguments)
    if program == "pytest":
        return _of_pytest(arguments)
    if program in {"pip", "uv"}:
        return _of_install(arguments)
    if arguments[:2] == ["compose", "run"]:
        # `docker compose run OPTIONS harness COMMAND` is bird-harness in a container.
        return _of_group(arguments[arguments.index("harness") + 1 :])
    if program.endswith(".sh"):
        return None if (ROOT / words[0]).is_file() else f"there is no {words[0]}"
    return (
        None
        if program in {"git", "docker", "cd", "cp", "ls", "cat", "kubectl", "ray", "vf-eval"}
        else f"{program} is not known here"
    )


def _of_group(arguments: Sequence[str]) -> str | None:
    if arguments[:1] == ["--version"] or arguments[-1:] == ["--help"]:
        return None
    within = arguments[:1] == [LAB]
    name, *words = arguments[within:] or [""]
    if all(name not in grouped(group) for group in Group if (group is Group.LAB) is within):
        return f"bird-harness has no command {arguments[:2]}"
    return _parsed(loaded(name), words)


def _parsed(command: Any, arguments: Sequence[str]) -> str | None:
    try:
        command.make_context(command.name, list(arguments))
    except Exception as error:  # noqa: BLE001 - whatever the parser says is the fault
        return f"{type(error).__name__}: {getattr(error, 'message', error)}"
    return None


def _of_make(arguments: Sequence[str]) -> str | None:
    """The variables exist, and so do the options of what each target would call."""
    known = {*_VARIABLES.findall((ROOT / "Makefile").read_text(encoding="utf-8")), "PYTHON"}
    named = {argument.partition("=")[0] for argument in arguments if "=" in argument}
    if named - known:
        return f"make has no variable {', '.join(sorted(named - known))}"
    words = ("make", "-C", str(ROOT), "--no-print-directory", "-n", "-o", ".venv/.ready", "-o", ".venv/.dev")
    done = subprocess.run([*words, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr.strip()
    printed = re.sub(r"\\\n\s*", "", done.stdout)
    lines = (line.strip() for line in printed.splitlines())
    calls = (line for line in lines if line.startswith(".venv/bin/bird-harness"))
    return next((found for call in calls if (found := fault(call))), None)


def _of_module(arguments: Sequence[str]) -> str | None:
    if arguments[:1] != ["-m"]:
        return None if arguments and arguments[0].endswith(".py") else "python of what?"
    name = arguments[1]
    if name.partition(".")[0] != "benchmarks":
        return None if importlib.util.find_spec(name) else f"there is no module {name}"
    module = importlib.import_module(name)
    application = getattr(module, "app", None) or typer.Typer()
    if hasattr(module, "main"):
        application.command()(module.main)
    return _parsed(typer.main.get_command(application), arguments[2:])


def _of_pytest(arguments: Sequence[str]) -> str | None:
    """The plugin's options exist; others are pytest's own."""
    known = {name for names, _ in declared() for name in names}
    named = {argument.partition("=")[0] for argument in arguments if argument.startswith("--bird-")}
    return f"the plugin has no option {', '.join(sorted(named - known))}" if named - known else None


def _of_install(arguments: Sequence[str]) -> str | None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [
        extra for argument in arguments for extra in re.findall(rf"{project['name']}\[(\w+)\]", argument)
    ]
    missing = [extra for extra in extras if extra not in project["optional-dependencies"]]
    return f"there is no extra {', '.join(missing)}" if missing else None


if __name__ == "__main__":
    print(fault(" ".join(sys.argv[1:])))  # noqa: T201 - for trying a command

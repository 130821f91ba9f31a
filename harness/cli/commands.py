"""The commands. A command's module, with all that it needs, is imported when it is called.

`--version`, `--help` and the completion of a command's name read the table below, and import nothing else of
the project. Within the modules of commands imports are at the top, as everywhere.
"""

import gc
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info

import harness
from harness.lab import absent, lab_commands


class Group(StrEnum):
    """The purpose of a command: the headings of the help, in its order."""

    SCORE = "Score predictions"
    SERVE = "Prepare data and servers"
    PROVE = "Translate and analyze"
    LAB = "Labs"
    """The commands of `lab`."""


@dataclass(frozen=True)
class ListedCommand:
    """A command as the help lists it.

    `module` declares it; `summary` is the first sentence of its help; `example` is a call of it, without
    `bird-harness`.
    """

    module: str
    group: Group
    summary: str
    example: str
    hidden: bool = False


_STATUS = "Show which engines and databases are ready, and how to add the rest"

COMMANDS: Mapping[str, ListedCommand] = {
    "eval": ListedCommand(
        "harness.cli.evaluate",
        Group.SCORE,
        "Score prediction files and print the table",
        "eval --predictions predictions/ --dialect postgresql",
    ),
    "runs": ListedCommand(
        "harness.cli.reports", Group.SCORE, "List runs, newest first, with their best EX", "runs"
    ),
    "report": ListedCommand(
        "harness.cli.reports",
        Group.SCORE,
        "Print or write the tables of a run, or one table of runs of several sets",
        "report results/spider/latest results/spider-syn/latest --format latex",
    ),
    "compare": ListedCommand(
        "harness.cli.reports",
        Group.SCORE,
        "Compare runs, predictors or engines, question by question; exits 1 on a regression",
        "compare results/latest:sqlite/careless results/latest:sqlite/every-fifth-wrong",
    ),
    "cache": ListedCommand(
        "harness.cli.reports", Group.SCORE, "Show or clear the result cache", "cache --clear", hidden=True
    ),
    "data": ListedCommand(
        "harness.cli.databases",
        Group.SERVE,
        "Download a published question set and its databases",
        "data --set mini_dev",
    ),
    "describe": ListedCommand(
        "harness.cli.describe",
        Group.SERVE,
        "Describe question sets side by side, or with --columns what their databases store",
        "describe --set sample",
    ),
    "up": ListedCommand(
        "harness.cli.servers",
        Group.SERVE,
        "Start MySQL and PostgreSQL with Docker, or without it by --native, and wait until they answer",
        "up",
    ),
    "down": ListedCommand("harness.cli.servers", Group.SERVE, "Stop the servers that `up` started", "down"),
    "status": ListedCommand("harness.cli.servers", Group.SERVE, _STATUS, "status --set sample"),
    "doctor": ListedCommand("harness.cli.servers", Group.SERVE, _STATUS, "status --set sample", hidden=True),
    "load": ListedCommand(
        "harness.cli.databases",
        Group.SERVE,
        "Load the databases of a question set into the servers that are up",
        "load --set sample --dialect mysql",
    ),
    "serve": ListedCommand(
        "harness.cli.serve",
        Group.SERVE,
        "Serve scores over HTTP, for rewards in training: POST /score, GET /health, /metrics, /docs",
        "serve --set sample --metrics ex",
    ),
    "translate": ListedCommand(
        "harness.cli.translate",
        Group.PROVE,
        "Translate a SQLite query or the golds of a set; exits 1 if one is not exact or not proven",
        "translate --set sample --dialect mysql --out results/translated",
    ),
    "coverage": ListedCommand(
        "harness.cli.coverage",
        Group.PROVE,
        "Prove that golds return the same rows on servers as on SQLite; exits 1 on a regression",
        "coverage --set sample --dialect postgresql",
    ),
}
"""Every command by its name, in the order of the help."""

LAB = "lab"
"""The group of commands that labs bring."""
_LAB_SUMMARY = "Use a tool beside the evaluation: audits, studies and others; bird-harness lab lists them"

_ANALYZE = "analyze"
"""The group's old name."""

_MOVED = (
    "audit", "board", "chance", "conformance", "explain", "gap", "log", "matrix", "mcp", "predict", "replay",
    "reproduce", "study", "submit", "twins", "verify",
)  # fmt: skip
"""Commands of labs that once were at the top, or in the group of analyses."""

RENAMED: Mapping[str, tuple[str, ...]] = {
    **{name: (LAB, name) for name in _MOVED},
    "golds": ("compare", "--golds"),
    "census": ("describe", "--columns"),
    "images": ("up", "--build", "--no-start"),
}
"""New names of the commands of version 0.1, whose old names still work."""


def grouped(group: Group) -> Mapping[str, ListedCommand]:
    """Return the commands of a group by name, in the order of the help: the labs' own with those of `lab`."""
    found = {name: each for name, each in COMMANDS.items() if each.group is group}
    if group is not Group.LAB:
        return found
    brought = {
        name: ListedCommand(each.module, group, each.summary, each.example)
        for name, each in lab_commands().items()
    }
    return dict(sorted({**found, **brought}.items()))


class LazyGroup(TyperGroup):
    """Commands that are known by name and summary until one is called."""

    groups: Sequence[Group] = (Group.SCORE, Group.SERVE, Group.PROVE)

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for group in self.groups:
            for name, each in grouped(group).items():
                self.add_command(TyperCommand(name, short_help=each.summary, hidden=each.hidden))

    def listed(self, group: Group) -> list[tuple[str, str]]:
        """Return the names and summaries below a heading of the help."""
        return [(name, each.summary) for name, each in grouped(group).items() if not each.hidden]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the help's lists of commands, one for each group; no description is cut."""
        del ctx
        lists = {group: self.listed(group) for group in self.groups}
        widest = max(len(name) for listed in lists.values() for name, _ in listed)
        for group, listed in lists.items():
            with formatter.section(group):
                # Names are as wide in each group, so that the lists align.
                formatter.write_dl([(f"{name:<{widest}}", summary) for name, summary in listed])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that is called, with its options."""
        name, listed, rest = super().resolve_command(ctx, args)
        if not isinstance(listed, TyperCommand):
            return name, listed, rest
        called = command(args[0])
        known = {each for param in called.params for each in (*param.opts, *param.secondary_opts)}
        return name, called, resumed(rest, known) if "--resume" in known else rest


class LabGroup(LazyGroup):
    """The commands of `lab`."""

    groups = (Group.LAB,)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return a command; says which labs are not there where it is of none that is."""
        if args[0] not in self.commands and not args[0].startswith("-") and (gone := absent()):
            ctx.fail(f"No such command {args[0]!r}; not installed here: lab {', '.join(gone)}")
        return super().resolve_command(ctx, args)


class MainGroup(LazyGroup):
    """The commands of `bird-harness`, and the group of labs, which are looked for when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return [*super().list_commands(ctx), LAB]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or the group of labs."""
        if cmd_name != LAB:
            return super().get_command(ctx, cmd_name)
        return LabGroup(name=LAB, help=f"{_LAB_SUMMARY}.", no_args_is_help=True, rich_markup_mode=None)

    def listed(self, group: Group) -> list[tuple[str, str]]:
        """List the commands, with the group of labs below the last heading."""
        listed = super().listed(group)
        return [*listed, (LAB, _LAB_SUMMARY)] if group is Group.PROVE else listed

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return a command by its name or its old name, which says the new one."""
        new = (LAB,) if args[0] == _ANALYZE else RENAMED.get(args[0])
        if new is not None:
            old = args[:2] if args[0] == _ANALYZE else args[:1]
            now = " ".join((*new, *old[1:]))
            print(f"bird-harness {' '.join(old)}: now `bird-harness {now}`", file=sys.stderr)  # noqa: T201 - to the user
        return super().resolve_command(ctx, [*(new or args[:1]), *args[1:]])


_RESUME = "--resume"
_MANIFESTS = "manifest.json", "study.json", "chance.json", "journal.json"
"""Manifests of runs, studies and other analyses; the modules that write them are slow to import."""


def resumed(words: Sequence[str], known: Collection[str]) -> list[str]:
    """Return the words of a command that completes a run, with the run's own if they are not given.

    Args:
        words: as they were typed, such as `--resume results/latest`.
        known: the options that the command has.

    Returns:
        The same words where nothing is resumed, or the folder does not say what it is the run of: the run
        itself will be refused with the reason.
    """
    folder = _value(words, _RESUME)
    if folder is None:
        return list(words)
    from dialects.errors import BadInput  # noqa: PLC0415 - no part of the help
    from loaders.base.files import read_json, read_text  # noqa: PLC0415 - the same

    try:
        path = next(path for name in _MANIFESTS if (path := Path(folder) / name).is_file())
        command = read_json(read_text(path))["command"]
        earlier = [str(word) for word in command if str(word).startswith("--")]
    except (BadInput, OSError, KeyError, TypeError, StopIteration):
        return list(words)
    given = {_positive(word) for word in words}
    return [word for word in earlier if _name(word) in known and _positive(word) not in given] + list(words)


def _value(words: Sequence[str], option: str) -> str | None:
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == option:
            return value if equals else next(iter(words[place + 1 :]), None)
    return None


def _name(word: str) -> str:
    return word.partition("=")[0]


def _positive(word: str) -> str:
    """Return the name that an option and its opposite share."""
    return _name(word).replace("--no-", "--")


def command(name: str) -> Any:
    """Return a command with its options: imports its module, which registers it with `app`."""
    listed = COMMANDS.get(name) or grouped(Group.LAB)[name]
    import_module(listed.module)
    # What is imported stays to the end: not to be looked through by every collection.
    gc.freeze()
    for each in app.registered_commands:
        function = each.callback
        if function is not None and name == (each.name or function.__name__):
            each.epilog = f"Example: bird-harness {listed.example}"
            return get_command_from_info(each, pretty_exceptions_short=True, rich_markup_mode=None)
    raise LookupError(name)


app = typer.Typer(
    cls=MainGroup,
    name="bird-harness",
    help="Run text-to-SQL predictions on several database engines, side by side.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    # As wide as the terminal, without a limit of typer's own.
    context_settings={"max_content_width": 1000},
)


def _print_version(*, wanted: bool) -> None:
    if wanted:
        print(f"bird-harness {harness.__version__}")  # noqa: T201 - the answer itself
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print name and version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    del version

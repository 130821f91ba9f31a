"""Which commands there are. A command's module, with all that it needs, is imported when it is called.

`--version`, `--help` and the completion of a command's name read the table below, and import nothing else of
the project. Within the modules of commands imports stand at the top, as everywhere.
"""

import gc
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


class Group(StrEnum):
    """What a command is for: the headings of the help, in its order."""

    SCORE = "Score predictors"
    SERVE = "Data and servers"
    PROVE = "Prove translations"


@dataclass(frozen=True)
class ListedCommand:
    """A command as it is listed: the module that declares it, its group, the first sentence of its help."""

    module: str
    group: Group
    summary: str
    hidden: bool = False


_STATUS = "Say which engines are there, which databases are loaded, and what to do about the rest"

COMMANDS: Mapping[str, ListedCommand] = {
    "eval": ListedCommand("scoring", Group.SCORE, "Score prediction files and print the table"),
    "predict": ListedCommand(
        "predicting",
        Group.SCORE,
        "Ask a predictor for SQL, keep every answer, and write prediction files; with --eval, score them",
    ),
    "reproduce": ListedCommand(
        "reproduce",
        Group.SCORE,
        "Score the published predictions of Mini-Dev or dev and hold the figures against the published ones",
    ),
    "runs": ListedCommand(
        "reports", Group.SCORE, "List runs, the newest first: what was run, how it ended, the best EX"
    ),
    "report": ListedCommand("reports", Group.SCORE, "Make the reports of a run again, from its folder alone"),
    "compare": ListedCommand(
        "reports",
        Group.SCORE,
        "Hold two runs, predictors or engines against each other, question by question; 1 on a regression",
    ),
    "explain": ListedCommand(
        "explaining",
        Group.SCORE,
        "Show the execution plans of gold and prediction side by side: steps, rows, costs, counted work",
    ),
    "golds": ListedCommand(
        "reports",
        Group.SCORE,
        "Hold runs under several golds side by side: totals, ranks, and which questions moved",
    ),
    "study": ListedCommand(
        "studying",
        Group.SCORE,
        "Study efficiency: rewriting, indexes, plans, counted work; tables and a page, resumable",
    ),
    "gap": ListedCommand(
        "gap",
        Group.SCORE,
        "Explain by executions why predictors score otherwise on MySQL and PostgreSQL than on SQLite",
    ),
    "cache": ListedCommand(
        "reports", Group.SCORE, "Say what is kept from earlier runs, so that it need not be executed again"
    ),
    "data": ListedCommand(
        "databases",
        Group.SERVE,
        "Bring a published question set with its databases to where `eval` looks for it",
    ),
    "census": ListedCommand(
        "databases",
        Group.SERVE,
        "Say what the columns of SQLite files hold, which types they get, and what would stop a load",
    ),
    "describe": ListedCommand(
        "describing",
        Group.SERVE,
        "Say what question sets consist of, one beside the other: sizes, values, SQL, keywords",
    ),
    "twins": ListedCommand(
        "twins",
        Group.SERVE,
        "Make synthetic databases: the same tables, other rows, and an answer to every gold",
    ),
    "up": ListedCommand("servers", Group.SERVE, "Start MySQL and PostgreSQL and wait until they answer"),
    "down": ListedCommand("servers", Group.SERVE, "Stop what `up` started"),
    "status": ListedCommand("servers", Group.SERVE, _STATUS),
    "doctor": ListedCommand("servers", Group.SERVE, _STATUS, hidden=True),
    "images": ListedCommand(
        "servers",
        Group.SERVE,
        "Build server images from Debian packages, for where no registry can be reached",
    ),
    "load": ListedCommand(
        "databases", Group.SERVE, "Load a question set's databases into the servers that are up"
    ),
    "translate": ListedCommand(
        "translating",
        Group.PROVE,
        "Translate a SQLite query or a set's golds to MySQL or PostgreSQL; 1 if one is not exact or proven",
    ),
    "audit": ListedCommand(
        "audit",
        Group.PROVE,
        "Look for wrong and unclear golds without knowing right answers: evidence, and a page to decide on",
    ),
    "coverage": ListedCommand(
        "coverage",
        Group.PROVE,
        "Hold golds on servers against SQLite: same rows, as often, in the same order; 1 on a regression",
    ),
    "matrix": ListedCommand(
        "matrix",
        Group.PROVE,
        "Run `coverage` on a throw-away server of each engine version that is here; 1 on a regression",
    ),
    "conformance": ListedCommand(
        "conformance",
        Group.PROVE,
        "Run a suite's queries on SQLite and, translated, on the servers; 1 if any differs without a warning",
    ),
}
"""Every command by its name, in the order of the help."""


class LazyGroup(TyperGroup):
    """Commands that are known by name and summary until one is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, each in COMMANDS.items():
            self.add_command(TyperCommand(name, short_help=each.summary, hidden=each.hidden))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The help's lists of commands, a group each; no description is cut."""
        del ctx
        shown = {name: each for name, each in COMMANDS.items() if not each.hidden}
        widest = max(map(len, shown))
        for group in Group:
            of_group = [(name, each.summary) for name, each in shown.items() if each.group is group]
            with formatter.section(group):
                # Names are as wide in each group, so that the lists stand as one.
                formatter.write_dl([(f"{name:<{widest}}", summary) for name, summary in of_group])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is called, with its options."""
        name, listed, rest = super().resolve_command(ctx, args)
        if listed is None:
            return name, None, rest
        called = command(args[0])
        known = {each for param in called.params for each in (*param.opts, *param.secondary_opts)}
        return name, called, resumed(rest, known) if "--resume" in known else rest


_RESUME = "--resume"
_MANIFESTS = "manifest.json", "study.json"
"""Of runs and of studies; the modules that write them take longer to import than Python."""


def resumed(words: Sequence[str], known: Collection[str]) -> list[str]:
    """The words of a command that completes a run, with those of the run itself where they are not given.

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
    import json  # noqa: PLC0415 - no part of the help

    try:
        path = next(path for name in _MANIFESTS if (path := Path(folder) / name).is_file())
        command = json.loads(path.read_text(encoding="utf-8"))["command"]
        earlier = [str(word) for word in command if str(word).startswith("--")]
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
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
    """An option and its opposite are one."""
    return _name(word).replace("--no-", "--")


def command(name: str) -> Any:
    """A command with its options: imports its module, which registers it with `app`."""
    import_module(f"harness.cli.{COMMANDS[name].module}")
    # What is imported stays to the end: not to be looked through by every collection.
    gc.freeze()
    for each in app.registered_commands:
        function = each.callback
        if function is not None and name == (each.name or function.__name__):
            return get_command_from_info(each, pretty_exceptions_short=True, rich_markup_mode=None)
    raise LookupError(name)


app = typer.Typer(
    cls=LazyGroup,
    name="bird-harness",
    help="Run text-to-SQL predictions on SQLite, MySQL and PostgreSQL and print their scores side by side.",
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

"""What all commands share: output streams, and options that mean the same everywhere."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_type_hints

import typer
from rich.console import Console

from dialects.enums import Dialect
from dialects.targets import TARGETS
from harness.data.answers import Extract
from harness.engines import EngineName, kind_of, kinds_by_name
from harness.lab import lab_of_set
from harness.metrics import question_metrics
from harness.session.options import OPTIONS
from harness.session.plan import find_servers
from harness.session.request import AUTO, SPELLED, Request, parse_dialects
from loaders.base.errors import EngineUnavailable, command
from loaders.base.files import one_line, printable_json
from loaders.server import Server

# Without emoji: a name between colons is not to become a picture.
messages = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)

USUAL_METRICS = ",".join(Request.metrics)
"""The metrics if none are named."""


def option(field: str, *, more: str = "") -> Any:
    """Return an option of evaluations from `harness.session.options`; `more` is appended to its help."""
    one = OPTIONS[field]
    flag = f"--{one.flag}/--no-{one.flag}" if one.off else f"--{one.flag}"
    shown = None if one.kind is bool else one.metavar
    return typer.Option(flag, help=f"{one.help.removesuffix('.')}{more}.", metavar=shown)


SetName = Annotated[str, option("set_name")]
Dialects = Annotated[str, option("dialects")]
ExtractName = Annotated[Extract, option("extract")]
Limit = Annotated[int | None, option("limit")]
Keys = Annotated[list[str] | None, option("keys")]
Threads = Annotated[int | None, typer.Option("--workers", help="Number of threads. Default: one per core.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON to standard output and nothing else.")]


CHOICE = ("set_name", "limit", "db_ids", "difficulties", "types", "keys", "sample")
"""The fields of `Request` that say which questions are asked."""

_SPELLED = {"dialects": AUTO, "metrics": USUAL_METRICS}
"""The defaults of fields that a command takes as one word with commas."""

_MORE = {"metrics": f": {', '.join(question_metrics())}"}


def asks(*names: str, **defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `Request`, before those that it declares itself.

    The command takes the request as its first argument.

    Args:
        names: the fields, in the order of the help.
        defaults: by field, values without the option that differ from those of a request.
    """
    types, usual = get_type_hints(Request), {each.name: each.default for each in fields(Request)} | defaults

    def parameter(name: str) -> Parameter:
        kind, default = types[name], usual[name]
        if name in SPELLED:
            kind, default = (str, _SPELLED[name]) if name in _SPELLED else (str | None, None)
        elif OPTIONS[name].repeatable:
            kind, default = list[get_args(kind)[0]] | None, None  # type: ignore[misc]
        annotation = Annotated[kind, option(name, more=_MORE.get(name, ""))]  # type: ignore[valid-type]
        flag = OPTIONS[name].flag.replace("-", "_")
        return Parameter(flag, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    return takes({name: parameter(name) for name in names}, Request.of)


def takes(
    parameters: Mapping[str, Parameter], make: Callable[[dict[str, Any]], Any], into: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options, before those that it declares itself.

    Args:
        parameters: the options, in the order of the help, by what `make` calls them.
        make: makes what the command takes of their values.
        into: the parameter that it takes it as; its first one where None.
    """

    def declared(command: Callable[..., None]) -> Callable[..., None]:
        own = dict(signature(command, eval_str=True).parameters)
        made = into or next(iter(own))

        @wraps(command)
        def called(**given: Any) -> None:
            values = {name: given.pop(each.name) for name, each in parameters.items()}
            command(**{made: make(values)}, **given)

        del own[made]
        places = {name: each for name, each in own.items() if each.kind is not Parameter.KEYWORD_ONLY}
        options = [*parameters.values(), *(each for name, each in own.items() if name not in places)]
        whole = [*places.values(), *options]
        called.__signature__ = Signature(whole)  # type: ignore[attr-defined]
        called.__annotations__ = {each.name: each.annotation for each in whole}
        return called

    return declared


def say(line: str) -> None:
    """Print one line for the user, apart from the answer itself."""
    messages.print(one_line(line), markup=False)


def give_json(content: Any) -> None:
    """Print an answer as JSON."""
    typer.echo(printable_json(content))


def one_of_each(servers: Mapping[EngineName, tuple[Server, ...]]) -> dict[Dialect, Server]:
    """Return one server of each dialect, which is enough: they are equal."""
    return {found[0].dialect: found[0] for found in servers.values()}


def has_own_databases(set_name: str) -> bool:
    """Return True, and say so, if a lab evaluates a set with databases of its own: none are loaded for it."""
    lab = lab_of_set(set_name)
    if lab is not None:
        evaluating = command("eval", set=set_name)
        say(f"{set_name}: lab {lab} makes its databases when `{evaluating}` runs; none are loaded for it")
    return lab is not None


TARGET_NAMES = " or ".join(", ".join(TARGETS).rsplit(", ", 1))
"""The dialects of servers, for messages."""


def served_dialects(dialect: str) -> list[Dialect]:
    """Return the dialects of the selected servers; with `auto` all."""
    asked = map(kind_of, parse_dialects(dialect) or kinds_by_name())
    return [kind.dialect for kind in asked if kind.has_server]


def servers_up(dialect: str) -> Mapping[EngineName, tuple[Server, ...]]:
    """Return the selected servers that are up; with `auto` at least one."""
    asked = parse_dialects(dialect)
    servers = find_servers(asked or list(kinds_by_name()), required=asked is not None, say=say)
    if not servers and asked is None:
        raise EngineUnavailable("no server is up, so there is nothing to do")
    return servers

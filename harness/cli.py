"""The command line: parse, call, exit code.

Exit codes: 0 done, 1 a threshold or check failed, 2 bad usage or bad input, 3 an engine is missing or broke.
"""

import sys
from collections.abc import Mapping
from enum import StrEnum
from importlib.metadata import version as installed_version
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from harness import provision
from harness.compare import CompareRequest, parse_thresholds
from harness.compare import compare as compare_runs
from harness.drivers import run_directly, run_with_pytest
from harness.engines import on_server
from harness.engines.server import Server
from harness.errors import BadInput, EngineUnavailable, HarnessError
from harness.execution import Limits
from harness.known.store import Store, allowed_bytes, default_path
from harness.metrics import DEFAULT_METRICS, METRICS
from harness.plan import ALL, AUTO, Request, find_servers, parse_dialects, parse_metrics, prepare
from harness.predictions import Extract
from harness.provision.images import build
from harness.readers.question_sets import load_set
from harness.report.cache import cache_lines, cleared_lines
from harness.report.loading import loading_bar, loading_lines
from harness.status import print_status
from harness.words import Dialect, Profile
from loaders import load as loading

app = typer.Typer(
    name="bird-harness",
    help="Run text-to-SQL predictions on SQLite, MySQL and PostgreSQL and print their scores side by side.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_messages = Console(stderr=True, highlight=False, soft_wrap=True)


class Driver(StrEnum):
    """What runs the pairs."""

    PYTEST = "pytest"
    DIRECT = "direct"


class CoveredGold(StrEnum):
    """Which golds coverage is measured of."""

    TRANSLATED = "translated"
    DATASET = "dataset"


SetName = Annotated[str, typer.Option("--set", help="sample, mini_dev, mini_dev_2025 or dev.")]
Dialects = Annotated[
    str, typer.Option("--dialect", help="sqlite, mysql, postgresql, all, or auto: every engine that is up.")
]
ProfileName = Annotated[Profile, typer.Option("--profile", help="How the databases are loaded.")]

_OPERAND = "Run folder, or FOLDER:DIALECT, FOLDER:PREDICTOR, FOLDER:DIALECT/PREDICTOR for a part of it."


def _say(line: str) -> None:
    _messages.print(line, markup=False)


def _print_version(*, wanted: bool) -> None:
    if wanted:
        print(installed_version("bird-harness"))  # noqa: T201 - the answer itself
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    del version


def _servers(dialect: str) -> Mapping[Dialect, tuple[Server, ...]]:
    """The servers that are up, of those asked for; with `auto` at least one."""
    asked = parse_dialects(dialect)
    servers = find_servers(asked or list(Dialect), required=asked is not None, say=_say)
    if not servers and asked is None:
        raise EngineUnavailable("no server is up, so there is nothing to do")
    return servers


@app.command("eval")
def evaluate(  # noqa: PLR0913 - one parameter an option
    *,
    set_name: SetName = "sample",
    predictions: Annotated[
        list[Path] | None,
        typer.Option(help="Prediction file or folder; repeatable. Default: the sample's own."),
    ] = None,
    dialect: Dialects = AUTO,
    predictor: Annotated[
        str | None, typer.Option(help="Predictor of all files, instead of their names'.")
    ] = None,
    extract: Annotated[
        Extract, typer.Option(help="Take SQL out of Markdown fences, or run it as it is.")
    ] = Extract.NONE,
    allow_missing: Annotated[bool, typer.Option("--allow-missing", help="Score what is there.")] = False,
    metrics: Annotated[
        str, typer.Option(help=f"Metrics, separated by commas: {', '.join(METRICS)}.")
    ] = ",".join(DEFAULT_METRICS),
    variants: Annotated[
        str | None,
        typer.Option(help="For ts: a folder of variants of the databases, or how many to generate."),
    ] = None,
    profile: ProfileName = Profile.OFFICIAL,
    workers: Annotated[
        int | None, typer.Option(help="Processes that judge. Default: one a core, on Ray all of the cluster.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first N questions.")] = None,
    timeout: Annotated[
        float, typer.Option(help="Seconds for a prediction and its gold together.")
    ] = Limits.seconds,
    out: Annotated[Path, typer.Option(help="Parent of the run's folder.")] = Path("results"),
    resume: Annotated[
        Path | None,
        typer.Option(help="Complete the run in this folder; the rest of the command is the same."),
    ] = None,
    cache: Annotated[
        bool, typer.Option("--cache/--no-cache", help="Use and keep what is known from earlier runs.")
    ] = True,
    ray: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Spread the run over a Ray cluster, or `local`.")
    ] = None,
    driver: Annotated[
        Driver, typer.Option(help="Run the pairs as pytest items, or directly.")
    ] = Driver.PYTEST,
) -> None:
    """Score prediction files and print the table."""
    request = Request(
        set_name=set_name,
        predictions=predictions or (),
        dialects=parse_dialects(dialect),
        predictor=predictor,
        extract=extract,
        allow_missing=allow_missing,
        metrics=parse_metrics(metrics),
        variants=variants,
        profile=profile,
        limit=limit,
        seconds=timeout,
        out=out,
        resume=resume,
        cache=cache,
        ray=ray,
        workers=workers,
    )
    with loading_bar(_messages) as progress:
        plan = prepare(request, say=_say, progress=progress)
    raise typer.Exit(run_with_pytest(plan) if driver is Driver.PYTEST else run_directly(plan, _messages))


@app.command()
def load(
    *,
    set_name: SetName = "sample",
    dialect: Dialects = AUTO,
    profile: Annotated[Profile | None, typer.Option(help="Default: both.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Load again what is already there.")] = False,
) -> None:
    """Load a question set's databases into the servers that are up."""
    questions = load_set(set_name)
    servers = _servers(dialect)
    for server in chain.from_iterable(servers.values()):
        for each in [profile] if profile else list(Profile):
            databases = [questions.database(db_id, each) for db_id in questions.db_ids]
            with loading_bar(_messages) as progress:
                done = loading.load(databases, server, force=force, progress=progress)
            for line in loading_lines(server, each, done):
                _say(line)


@app.command()
def up(
    *,
    dialect: Dialects = ALL,
    native: Annotated[
        bool, typer.Option("--native", help="Private servers without Docker and root.")
    ] = False,
) -> None:
    """Start MySQL and PostgreSQL and wait until they answer."""
    for server in provision.up(parse_dialects(dialect) or list(Dialect), native_processes=native):
        _say(f"{server.dialect} {on_server(server).version()} is up at {server.address} ({server.origin})")


@app.command()
def down(
    *,
    volumes: Annotated[bool, typer.Option("--volumes", help="Remove the loaded databases, too.")] = False,
) -> None:
    """Stop what `up` started."""
    for origin, dialect in provision.down(volumes=volumes):
        _say(f"{dialect} stopped ({origin})")


@app.command()
def images(*, dialect: Dialects = ALL) -> None:
    """Build server images from Debian packages, for where no registry can be reached."""
    for tag in build(parse_dialects(dialect) or list(Dialect)):
        _say(f"{tag} is built; `make up` uses it")


@app.command()
def coverage(  # noqa: PLR0913 - one parameter an option
    *,
    set_name: SetName = "sample",
    dialect: Dialects = AUTO,
    gold: Annotated[
        CoveredGold, typer.Option(help="SQLite's golds as translated, or the dataset's own for the dialect.")
    ] = CoveredGold.TRANSLATED,
    profile: Annotated[
        Profile | None, typer.Option(help="Default: faithful; official with --gold dataset.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Threads. Default: one a core.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N questions.")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one SQL text.")] = Limits.seconds,
    out: Annotated[Path, typer.Option(help="Parent of the folder with the report.")] = Path("results"),
    update: Annotated[
        bool, typer.Option("--update", help="Make the result what is expected, and renew the documentation.")
    ] = False,
) -> None:
    """Hold golds on servers against SQLite: same rows, as often, in the same order; 1 on a regression."""
    # Translating is slow to import, and no other command needs it.
    from dialects.coverage import Origin  # noqa: PLC0415
    from harness.coverage import CoverageRequest, measure  # noqa: PLC0415

    if not timeout > 0:
        raise BadInput(f"--timeout {timeout:g}: has to be more than 0 seconds")
    optional: dict[str, Any] = {} if workers is None else {"workers": workers}
    request = CoverageRequest(
        set_name=set_name,
        origin=Origin(gold),
        profile=profile,
        limit=limit,
        seconds=timeout,
        out=out,
        update=update,
        **optional,
    )
    servers = _servers(dialect)
    if not servers:
        _say("SQLite is the reference: there is nothing to compare it with")
        return
    with loading_bar(_messages) as progress:
        # One of each is enough: they are equal.
        code = measure(request, {each: found[0] for each, found in servers.items()}, _say, progress)
    raise typer.Exit(code)


@app.command()
def compare(  # noqa: PLR0913 - one parameter an option
    a: Annotated[str, typer.Argument(metavar="A", help=_OPERAND)],
    b: Annotated[str, typer.Argument(metavar="B", help="The same for the other side.")],
    *,
    metrics: Annotated[str | None, typer.Option(help="Separated by commas. Default: all in both.")] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=PERCENT", help="Exit with 1 where B's total is below; repeatable."),
    ] = None,
    no_regression: Annotated[
        bool, typer.Option("--no-regression", help="Exit with 1 where a total of B is below A's.")
    ] = False,
    significant: Annotated[
        bool, typer.Option("--significant", help="With --no-regression: only where p is below 0.05.")
    ] = False,
    flips: Annotated[
        int | None, typer.Option(min=0, help="List so many flipped questions a direction. Default: all.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="File to write everything to.")] = None,
) -> None:
    """Hold two runs, predictors or engines against each other, question by question; 1 on a regression."""
    request = CompareRequest(
        a=a,
        b=b,
        metrics=metrics.split(",") if metrics is not None else (),
        fail_under=parse_thresholds(fail_under or ()),
        no_regression=no_regression,
        significant=significant,
        flips=flips,
        json=json,
    )
    raise typer.Exit(compare_runs(request, _say))


@app.command()
def cache(
    *, clear: Annotated[bool, typer.Option("--clear", help="Forget everything that is kept.")] = False
) -> None:
    """Say what is kept from earlier runs, so that it need not be executed again."""
    path = default_path()
    with Store(path, allowed_bytes(), _say) as store:
        for line in cleared_lines(store.clear(), path) if clear else cache_lines(store.figures(), path):
            _say(line)


@app.command()
@app.command("doctor", hidden=True)
def status(*, set_name: SetName = "sample") -> None:
    """Say which engines are there, which databases are loaded, and what to do about the rest."""
    print_status(set_name)


def main() -> None:
    """Entry point of `bird-harness` and `python -m harness`."""
    try:
        app(prog_name="bird-harness")
    except HarnessError as error:
        _messages.print(f"bird-harness: {error}", markup=False)
        sys.exit(error.exit_code)

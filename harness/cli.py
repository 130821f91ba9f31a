"""The command line: parse, call, exit code.

Exit codes: 0 done, 1 a threshold or check failed, 2 bad usage or bad input, 3 an engine is missing or broke.
"""

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from importlib.metadata import version as installed_version
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from harness import provision
from harness.benchmark import QuestionSet
from harness.compare import CompareRequest, parse_thresholds
from harness.compare import compare as compare_runs
from harness.drivers import run_directly, run_with_pytest
from harness.engines import on_server
from harness.engines.namespace import Database
from harness.engines.server import Server
from harness.errors import BadInput, EngineUnavailable, HarnessError
from harness.execution import Limits
from harness.known.store import Store, allowed_bytes, default_path
from harness.metrics import DEFAULT_METRICS, METRICS
from harness.plan import ALL, AUTO, Request, find_servers, parse_dialects, parse_metrics, prepare
from harness.predictions import Extract
from harness.provision.baking import bake
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
def data(
    *,
    set_name: Annotated[str, typer.Option("--set", help="mini_dev, mini_dev_2025 or dev.")] = "mini_dev",
    archive: Annotated[
        Path | None, typer.Option(help="The package or a folder with it. Default: from its official place.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="Folder of all published data. Default: BIRD_HOME, else ./data.")
    ] = None,
    allow_unknown: Annotated[
        bool, typer.Option("--allow-unknown", help="Take what has other digests than known ones.")
    ] = False,
) -> None:
    """Bring a published question set with its databases to where `eval` looks for it."""
    # Downloading is slow to import, and no other command needs it.
    from loaders.packages.bar import getting_bar  # noqa: PLC0415
    from loaders.packages.get import Request as Wanted  # noqa: PLC0415
    from loaders.packages.get import get  # noqa: PLC0415

    with getting_bar(_messages) as progress:
        lines = get(Wanted(set_name, to, archive, allow_unknown), progress)
    for line in lines:
        _say(line)


def _databases(set_name: str, db_id: str | None) -> list[Path]:
    questions = load_set(set_name)
    if db_id is not None and db_id not in questions.db_ids:
        raise BadInput(f"--db {db_id}: {set_name} has no such database; it has {', '.join(questions.db_ids)}")
    return [questions.database(each).sqlite_path for each in questions.db_ids if db_id in {None, each}]


@app.command()
def census(
    file: Annotated[Path | None, typer.Argument(help="A SQLite file. Default: those of a set.")] = None,
    *,
    set_name: SetName = "sample",
    database: Annotated[str | None, typer.Option("--db", help="One database of the set.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As a JSON array.")] = False,
) -> None:
    """Say what the columns of SQLite files hold, which types they get, and what would stop a load."""
    # Reading question sets and files through is for those who ask for it.
    from harness.report.census import census_json, census_lines  # noqa: PLC0415
    from loaders.inventory import inventory  # noqa: PLC0415

    paths = [file] if file is not None else _databases(set_name, database)
    found = map(inventory, paths)
    lines = [census_json(list(found))] if as_json else (line for one in found for line in census_lines(one))
    for line in lines:
        typer.echo(line)


@app.command()
def load(  # noqa: PLR0913 - one parameter an option
    *,
    set_name: SetName = "sample",
    dialect: Dialects = AUTO,
    profile: Annotated[Profile | None, typer.Option(help="Default: both.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Load again what is already there.")] = False,
    no_indexes: Annotated[
        bool, typer.Option("--no-indexes", help="Primary keys alone, for studies of efficiency.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(help="Tables loaded at once. Default: one a core, up to 8.", min=1)
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Then compare every value with the files; 1 if any differs.")
    ] = False,
    dump: Annotated[
        Path | None, typer.Option(help="The published dump for the one --dialect, for profile official.")
    ] = None,
) -> None:
    """Load a question set's databases into the servers that are up."""
    questions = load_set(set_name)
    if dump is not None:
        if force or no_indexes or verify or jobs is not None:
            raise BadInput("--dump: goes with --set, --dialect and --profile alone; leave the others out")
        _load_dump(questions, dump, dialect, profile)
        return
    servers = _servers(dialect)
    differs = False
    for server in chain.from_iterable(servers.values()):
        profiles = [profile] if profile else list(Profile)
        databases = [questions.database(db_id, each) for each in profiles for db_id in questions.db_ids]
        with loading_bar(_messages) as progress:
            done = loading.load(
                databases, server, force=force, indexes=not no_indexes, jobs=jobs, progress=progress
            )
        for each in profiles:
            of_profile = [one for one in done if one.database.profile is each]
            for line in loading_lines(server, each, of_profile):
                _say(line)
            if verify:
                differs |= _verify([one.database for one in of_profile], server)
    if differs:
        raise typer.Exit(1)


def _load_dump(questions: QuestionSet, dump: Path, dialect: str, profile: Profile | None) -> None:
    """Load a dump into every server of its dialect."""
    from loaders.dumps import load_dump  # noqa: PLC0415 - few need it
    from loaders.packages.bar import getting_bar  # noqa: PLC0415

    if dialect not in {Dialect.MYSQL, Dialect.POSTGRESQL}:
        raise BadInput(f"--dump {dump}: say whose dump it is, by --dialect mysql or --dialect postgresql")
    databases = [questions.database(db_id, profile or Profile.OFFICIAL) for db_id in questions.db_ids]
    for server in chain.from_iterable(_servers(dialect).values()):
        with getting_bar(_messages) as bar:
            done = load_dump(dump, databases, server, lambda sent, all_: bar(dump.name, sent, all_))
        _say(f"{server.dialect}, official: {done.tables} tables, {done.rows:,} rows, sha256 {done.sha256}")
        for note in done.notes:
            _say(f"  {note}")


def _verify(databases: Sequence[Database], server: Server) -> bool:
    """Say how databases on a server compare with their files; whether any differs."""
    from loaders import verify  # noqa: PLC0415 - no other command needs it

    found = list(verify.verify(databases, server))
    for line in verify.verified_lines(found):
        _say(line)
    return not all(one.is_clean for one in found)


@app.command()
def twins(  # noqa: PLR0913 - one parameter an option
    *,
    to: Annotated[Path, typer.Option(help="Folder to put them in, as <database>/<database>.sqlite.")],
    set_name: Annotated[
        str | None, typer.Option("--set", help="Question set with the golds; with its databases, too.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(help="SQLite file, or JSON file of a published schema.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="With --schema and without --set: a question file.")
    ] = None,
    scale: Annotated[float, typer.Option(help="Of the real row counts.")] = 0.02,
    seed: Annotated[int, typer.Option(help="Another seed, other rows.")] = 1,
    db: Annotated[list[str] | None, typer.Option(help="Only this database (repeatable).")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes. Default: one a core.")] = None,
) -> None:
    """Make synthetic databases: the same tables, other rows, and an answer to every gold."""
    # sqlglot is slow to import, and few other commands need it.
    from loaders.twins.making import made_lines, make  # noqa: PLC0415
    from loaders.twins.sources import of_files, of_set  # noqa: PLC0415

    if set_name is not None and questions is None:
        sources = of_set(load_set(set_name), schema, db or ())
    elif set_name is None and schema is not None and questions is not None:
        sources = of_files(schema, questions, db or ())
    else:
        raise BadInput("twins need golds: name --set, or --schema and --questions")
    with _messages.status("making twins") as status:
        made = make(
            sources,
            to,
            scale=scale,
            seed=seed,
            workers=workers,
            progress=lambda db_id, stage: status.update(f"making twins: {db_id}, {stage}"),
        )
    for line in made_lines(made):
        _say(line)


@app.command()
def up(
    *,
    dialect: Dialects = ALL,
    native: Annotated[
        bool, typer.Option("--native", help="Private servers without Docker and root.")
    ] = False,
    set_name: Annotated[
        str | None,
        typer.Option("--set", help="Start from an image with this set inside. Default: the newest."),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Start empty, whatever images there are.")] = False,
) -> None:
    """Start MySQL and PostgreSQL and wait until they answer."""
    asked = parse_dialects(dialect) or list(Dialect)
    for server in provision.up(asked, native_processes=native, set_name=set_name, plain=plain):
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
def images(
    *,
    dialect: Dialects = ALL,
    loaded: Annotated[
        bool, typer.Option("--loaded", help="Images with a set's databases inside, from the ones in use.")
    ] = False,
    set_name: SetName = "sample",
) -> None:
    """Build server images from Debian packages, for where no registry can be reached."""
    asked = parse_dialects(dialect) or list(Dialect)
    if not loaded:
        for tag in build(asked):
            _say(f"{tag} is built; `make up` uses it")
        return
    questions = load_set(set_name)
    with loading_bar(_messages) as progress:
        baked = bake(questions, asked, progress=progress)
    for tag in baked:
        _say(f"{tag} has {set_name} inside; `make up SET={set_name}` starts from it, unless there are data")


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

"""Commands about servers, their images, and the databases loaded there."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness import provision
from harness.cli.commands import app
from harness.cli.console import (
    AsJson,
    Dialects,
    SetName,
    give_json,
    has_own_databases,
    messages,
    say,
    served_dialects,
)
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.engines import EngineKind, kind_of, kinds, on_server
from harness.engines.base import Engine
from harness.lab import lab_of_set
from harness.provision import compose
from harness.provision.images import bake
from harness.provision.images import build as build_images
from harness.report.console import loading_bar, plain, print_line, print_table, wide
from harness.session.request import ALL
from loaders.base.errors import command
from loaders.bulk_load import loaded
from loaders.server import Origin, Server


@app.command()
def up(  # noqa: PLR0913 - one parameter an option
    *,
    dialect: Dialects = ALL,
    native: Annotated[
        bool, typer.Option("--native", help="Start private servers, without Docker and root.")
    ] = False,
    set_name: Annotated[
        str | None,
        typer.Option("--set", help="Start from an image with this set inside. Default: the newest."),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Start empty, whatever images there are.")] = False,
    build: Annotated[
        bool, typer.Option("--build", help="Build the images first, from Debian packages.")
    ] = False,
    loaded: Annotated[
        bool, typer.Option("--loaded", help="With --build: images with the databases of --set inside.")
    ] = False,
    no_start: Annotated[
        bool, typer.Option("--no-start", help="With --build: build the images and start nothing.")
    ] = False,
) -> None:
    """Start MySQL and PostgreSQL with Docker, or without it by --native, and wait until they answer."""
    asked = served_dialects(dialect)
    if (loaded or no_start) and not build:
        raise BadInput(f"{'--loaded' if loaded else '--no-start'}: needs --build; add it")
    if build and (native or plain):
        other = "--native" if native else "--plain"
        raise BadInput(
            f"--build {other}: this server does not start from a built image; leave out one of the two"
        )
    if set_name is not None and has_own_databases(set_name):
        set_name, loaded = None, False
    if build:
        _build(asked, set_name or "sample", loaded=loaded)
    if no_start:
        return
    for server in provision.up(asked, native_processes=native, set_name=set_name, plain=plain):
        say(f"{server.dialect} {on_server(server).version()} is up at {server.address} ({server.origin})")


def _build(asked: Sequence[Dialect], set_name: str, *, loaded: bool) -> None:
    if not loaded:
        for tag in build_images(asked):
            say(f"{tag} is built; `{command('up')}` uses it")
        return
    questions = load_set(set_name)
    with loading_bar(messages) as progress:
        baked = bake(questions, asked, progress=progress)
    for tag in baked:
        start = command("up", set=set_name)
        say(f"{tag} has {questions.name} inside; `{start}` starts from it, unless there are data")


@app.command()
def down(
    *,
    volumes: Annotated[
        bool, typer.Option("--volumes", help="Delete the data of these servers, too: every loaded database.")
    ] = False,
) -> None:
    """Stop the servers that `up` started.

    Private servers (`up --native`) belong to the user: `down` stops them for every checkout that shares
    the folder BIRD_STATE. Its default is /var/lib/bird-harness for root, else ~/.local/state/bird-harness.
    """
    for origin, dialect in provision.down(volumes=volumes):
        removed = f"; all its databases removed: {provision.data_place(origin, dialect)}" if volumes else ""
        say(f"{dialect} stopped ({origin}){removed}")


@app.command()
@app.command("doctor", hidden=True)
def status(*, set_name: SetName = "sample", as_json: AsJson = False) -> None:
    """Show which engines and databases are ready, and how to add the rest."""
    if as_json:
        give_json(status_of(set_name))
    else:
        print_status(set_name)


def print_status(set_name: str) -> None:
    """Print one row per engine, with the loaded databases of a question set.

    Raises:
        BadInput: the question set cannot be read.
        EngineUnavailable: a server that is up does not let the harness in.
    """
    if has_own_databases(set_name):
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for head in ("engine", "version", "where", "to do"):
            table.add_column(head, overflow="fold")
        for kind in kinds():
            table.add_row(kind.name, *map(plain, _engine_row(kind)))
        print_table(wide(), table)
        return
    questions = load_set(set_name, on_server=True)
    if questions.server is not None:
        print_line(
            wide(),
            f"{questions.name}: is on its own {questions.server.dialect} server; nothing is loaded",
        )
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in (
        "engine",
        "version",
        "where",
        f"{questions.name}: official",
        f"{questions.name}: faithful",
        "to do",
    ):
        table.add_column(head, overflow="fold")
    for kind in kinds():
        table.add_row(kind.name, *map(plain, _row(kind, questions, set_name)))
    print_table(wide(), table)


def status_of(set_name: str) -> dict[str, Any]:
    """Return the table as plain values: each engine by the heads of the columns.

    Raises:
        BadInput: the question set cannot be read.
        EngineUnavailable: a server that is up does not let the harness in.
    """
    if lab_of_set(set_name) is not None:
        of_engines = ("version", "where", "to_do")
        rows = {kind.name: dict(zip(of_engines, _engine_row(kind), strict=True)) for kind in kinds()}
        return {"set": set_name, "databases": 0, "engines": rows}
    questions = load_set(set_name, on_server=True)
    heads = ("version", "where", *Profile, "to_do")
    shown = () if questions.server is not None else kinds()
    engines = {kind.name: dict(zip(heads, _row(kind, questions, set_name), strict=True)) for kind in shown}
    return {"set": questions.name, "databases": len(questions.db_ids), "engines": engines}


def _engine_row(kind: EngineKind) -> tuple[str, str, str]:
    """Return an engine's version, where it is, and how to start it."""
    if not kind.has_server:
        return kind.make(None, pooled=False).version(), "embedded", ""
    if (server := provision.find(kind.dialect)) is None:
        return "-", "-", _to_start(kind.dialect, None)
    return on_server(server).version().partition(" ")[0], _where(server), ""


def _row(kind: EngineKind, questions: QuestionSet, set_name: str) -> tuple[str, ...]:
    if not kind.has_server:
        count = f"{len(questions.db_ids)} {'file' if len(questions.db_ids) == 1 else 'files'}"
        return kind.make(None, pooled=False).version(), "embedded", count, count, ""
    server = provision.find(kind.dialect)
    if server is None:
        return "-", "-", "-", "-", _to_start(kind.dialect, set_name)
    engine: Engine = on_server(server)
    counts = {profile: _loaded(server, questions, profile) for profile in Profile}
    missing = any(count < len(questions.db_ids) for count in counts.values())
    return (
        engine.version().partition(" ")[0],
        _where(server),
        *(f"{count} of {len(questions.db_ids)}" for count in counts.values()),
        command("load", set=set_name) if missing else "",
    )


def _where(server: Server) -> str:
    image = compose.started_from(server.dialect) if server.origin is Origin.COMPOSE else None
    return f"{server.origin} {server.address}" + (f", from {image}" if image else "")


def _to_start(dialect: Dialect, set_name: str | None) -> str:
    """Return how to start the server, and remarks on images that have the databases of a set inside."""
    named = {} if kind_of(dialect).by_default else {"dialect": str(dialect)}
    of_set = {} if set_name is None else {"set": set_name}
    start = command("up", **of_set, **named)
    notes = () if set_name is None else compose.beginning(dialect, set_name)
    return "; ".join((f"{start} (without Docker: {command('up', 'native', **named)})", *notes))


def _loaded(server: Server, questions: QuestionSet, profile: Profile) -> int:
    return len(loaded([questions.database(db_id, profile) for db_id in questions.db_ids], server))

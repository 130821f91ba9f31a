"""Commands about servers and the images that they are started from."""

from typing import Annotated

import typer

from harness import provision
from harness.cli.commands import app
from harness.cli.console import AsJson, Dialects, SetName, give_json, messages, say, served_dialects
from harness.cli.status import print_status, status_of
from harness.data.sets.loading import load_set
from harness.engines import on_server
from harness.provision.images import bake, build
from harness.report.loading import loading_bar
from harness.session.request import ALL
from loaders.base.errors import command


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
    asked = served_dialects(dialect)
    for server in provision.up(asked, native_processes=native, set_name=set_name, plain=plain):
        say(f"{server.dialect} {on_server(server).version()} is up at {server.address} ({server.origin})")


@app.command()
def down(
    *,
    volumes: Annotated[bool, typer.Option("--volumes", help="Remove the loaded databases, too.")] = False,
) -> None:
    """Stop what `up` started."""
    for origin, dialect in provision.down(volumes=volumes):
        say(f"{dialect} stopped ({origin})")


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
    asked = served_dialects(dialect)
    if not loaded:
        for tag in build(asked):
            say(f"{tag} is built; `{command('up')}` uses it")
        return
    questions = load_set(set_name)
    with loading_bar(messages) as progress:
        baked = bake(questions, asked, progress=progress)
    for tag in baked:
        start = command("up", set=set_name)
        say(f"{tag} has {questions.name} inside; `{start}` starts from it, unless there are data")


@app.command()
@app.command("doctor", hidden=True)
def status(*, set_name: SetName = "sample", as_json: AsJson = False) -> None:
    """Say which engines are there, which databases are loaded, and what to do about the rest."""
    if as_json:
        give_json(status_of(set_name))
    else:
        print_status(set_name)

"""Commands that download published data and load databases into servers."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Profile
from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import (
    TARGET_NAMES,
    Dialects,
    SetName,
    has_own_databases,
    messages,
    say,
    served_dialects,
    servers_up,
)
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.data.sets.packages import PackageRequest, get, get_predictions
from harness.engines import served
from harness.report.console import getting_bar, loading_bar, loading_lines
from harness.session.request import AUTO, check_range
from loaders import bulk_load as loading
from loaders import verify as verifying
from loaders.base.files import replace
from loaders.dumps import load_dump
from loaders.namespace import Database
from loaders.server import Server


@app.command()
def load(  # noqa: C901, PLR0913 - one parameter an option
    *,
    set_name: SetName = "sample",
    dialect: Dialects = AUTO,
    profile: Annotated[Profile | None, typer.Option(help="Load profile. Default: both.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Load again databases that are already there.")
    ] = False,
    no_indexes: Annotated[
        bool, typer.Option("--no-indexes", help="Create primary keys alone, for studies of efficiency.")
    ] = False,
    escape: Annotated[
        bool,
        typer.Option("--escape", help="Escape values that a server can't hold, instead of stopping."),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(help="Tables loaded at once. Default: one per core, up to 8."),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Compare every loaded value with the files; exits 1 if any differs."),
    ] = False,
    dump: Annotated[
        Path | None, typer.Option(help="Load the published dump of one --dialect, in profile official.")
    ] = None,
    ddl: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the schema that an application keeps, for one --dialect; load nothing.",
        ),
    ] = None,
    database: Annotated[Path | None, typer.Option(help="With --ddl: the SQLite file.")] = None,
) -> None:
    """Load the databases of a question set into the servers that are up."""
    if ddl is not None or database is not None:
        if dump is not None or profile or force or no_indexes or escape or verify or workers is not None:
            raise BadInput("--ddl: combines with --database and --dialect only; leave the others out")
        _write_ddl(database, ddl, dialect)
        return
    check_range("workers", workers, unit="tables")
    if has_own_databases(set_name):
        return
    questions = load_set(set_name)
    if dump is not None:
        is_alone = not (force or no_indexes or escape or verify or workers is not None)
        _load_dump(questions, dump, dialect, profile, is_alone=is_alone)
        return
    servers = servers_up(dialect)
    differs, missing, count = False, [], 0
    for server in chain.from_iterable(servers.values()):
        profiles = [profile] if profile else list(Profile)
        databases = [questions.database(db_id, each) for each in profiles for db_id in questions.db_ids]
        with loading_bar(messages, len(databases)) as progress:
            done, left = loading.load_each(
                databases,
                server,
                force=force,
                indexes=not no_indexes,
                escape=escape,
                recount=True,
                jobs=workers,
                progress=progress,
            )
        count += len(done)
        missing += [f"{server.dialect}, {one.database.profile}: {one.reason}" for one in left]
        for each in profiles:
            of_profile = [one for one in done if one.database.profile is each]
            for line in loading_lines(server, each, of_profile):
                say(line)
            if verify:
                differs |= _verify([one.database for one in of_profile], server)
    if missing and not count:
        raise BadInput("; ".join(dict.fromkeys(missing)))
    for line in missing:
        say(f"not loaded: {line}")
    if missing or differs:
        raise typer.Exit(1)


def _write_ddl(database: Path | None, to: Path | None, dialect: str) -> None:
    """Write a file's schema for a target, and say what it leaves out."""
    if database is None or to is None:
        raise BadInput("--ddl: give the SQLite file with --database, and the file to write with --ddl")
    targets = [] if dialect == AUTO else served_dialects(dialect)
    if len(targets) != 1:
        raise BadInput(f"--dialect {dialect}: a schema is for {TARGET_NAMES}; name one")
    from loaders.ddl import ddl  # noqa: PLC0415 - imports the translator, which no load needs

    found = ddl(database, targets[0])
    try:
        replace(to, [str(found)])
    except OSError as error:
        raise BadInput(f"--ddl {to}: cannot be written ({error.strerror}); choose another") from error
    for note in found.left_out:
        say(f"left out: {note}")
    say(f"{to}: {len(found.statements)} statements for {targets[0]}")


def _load_dump(
    questions: QuestionSet, dump: Path, dialect: str, profile: Profile | None, *, is_alone: bool
) -> None:
    """Load a dump into every server of its dialect, if no other option came with it."""
    if not is_alone:
        raise BadInput("--dump: combines with --set, --dialect and --profile only; leave the others out")
    if dialect not in {kind.name for kind in served()}:
        raise BadInput(f"--dump {dump}: name its dialect with --dialect mysql or --dialect postgresql")
    databases = [questions.database(db_id, profile or Profile.OFFICIAL) for db_id in questions.db_ids]
    for server in chain.from_iterable(servers_up(dialect).values()):
        with getting_bar(messages) as bar:
            done = load_dump(dump, databases, server, lambda sent, all_: bar(dump.name, sent, all_))
        say(f"{server.dialect}, official: {done.tables} tables, {done.rows:,} rows, sha256 {done.sha256}")
        for note in done.notes:
            say(f"  {note}")


def _verify(databases: Sequence[Database], server: Server) -> bool:
    """Say how databases on a server compare with their files; whether any differs."""
    found = list(verifying.verify(databases, server))
    for line in verifying.verified_lines(found):
        say(line)
    return not all(one.is_clean for one in found)


@app.command()
def data(
    *,
    set_name: Annotated[
        str,
        typer.Option(
            "--set", metavar="SET", help="mini_dev, mini_dev_2025, dev, train, ...: docs/how-to/data.md."
        ),
    ] = "mini_dev",
    archive: Annotated[
        Path | None, typer.Option(help="Downloaded package, or a folder that holds it. Default: download.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of published data. Default: BIRD_HOME, else ./data."),
    ] = None,
    allow_unknown: Annotated[
        bool, typer.Option("--allow-unknown", help="Accept a package with unknown digests.")
    ] = False,
    predictions: Annotated[
        bool, typer.Option("--predictions", help="The published prediction files of the set instead.")
    ] = False,
) -> None:
    """Download a published question set and its databases."""
    fetch = get_predictions if predictions else get
    with getting_bar(messages) as progress:
        lines = fetch(PackageRequest(set_name, to, archive, allow_unknown), progress)
    for line in lines:
        say(line)

"""The commands that pack a run as a bundle, execute a bundle again, and show verified ones."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import AsJson, asks, give_json, messages, say
from harness.lab import lab_judging
from harness.labs.bundles.board import read_board, write_board
from harness.labs.bundles.bundle import RECEIPT_SUFFIX, SUFFIX, pack, read_bundle, write_receipt
from harness.labs.bundles.verification import published_name
from harness.labs.bundles.verification import verify as execute_again
from harness.report.console import loading_bar
from harness.runs.reader import read_run
from harness.session.request import Request
from loaders.base.files import one_line


@app.command()
def submit(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    *,
    to: Annotated[
        Path | None, typer.Option("--out", help=f"File to write to. Default: the run's id with {SUFFIX}.")
    ] = None,
) -> None:
    """Pack a finished run into one file that anyone can verify."""
    found = read_run(run)
    path = _ending(to or Path(f"{found.manifest['run_id']}{SUFFIX}"), SUFFIX)
    digest = pack(found, path)
    bundle = read_bundle(path)
    if not bundle.evaluated.is_complete:
        asked = f"{bundle.evaluated.questions:,} of {bundle.evaluated.set_questions:,} questions"
        say(f"{asked}: the bundle says that it is not of the whole set")
    say(f"written: {path}")
    typer.echo(f"sha256:{digest}")


@app.command()
@asks("golds", "workers")
def verify(  # noqa: PLR0913 - one parameter an option
    request: Request,
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="File that `submit` has written.")],
    *,
    set_name: Annotated[
        str | None, typer.Option("--set", metavar="NAME", help="Question set. Default: the bundle's.")
    ] = None,
    databases: Annotated[
        Path | None, typer.Option(help="With a file of tasks as --set: folder of the databases.")
    ] = None,
    digest: Annotated[
        str | None, typer.Option(metavar="sha256:HEX", help="Refuse a bundle with another digest.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--out", help="File to write a receipt to, which `board` reads.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Execute the predictions of a bundle again; exits 1 if an outcome or a score is another."""
    if len(request.golds) > 1:
        raise BadInput("--gold: a bundle has one gold pack; name that one")
    if to is not None:
        _ending(to, RECEIPT_SUFFIX)
    found = read_bundle(bundle, digest and digest.removeprefix("sha256:"))
    request = replace(request, set_name=set_name or published_name(found))
    # A lab shows itself how far it is.
    is_of_lab = lab_judging(found.evaluated.metrics) is not None
    shown = loading_bar(messages, before="reading questions and predictions")
    with nullcontext() if is_of_lab else shown as progress:
        verification = execute_again(found, request, say=say, progress=progress, databases=databases)
    if to is not None:
        write_receipt(verification.receipt(), to, bundle.name)
        say(f"written: {to}")
    if as_json:
        give_json(verification.to_json())
    else:
        differing = [each.line for each in verification.differences]
        for line in (*verification.notes, *verification.claims, *differing):
            typer.echo(one_line(line))
        typer.echo(f"sha256:{found.digest}: {len(differing):,} of {verification.pairs:,} pairs differ")
    raise typer.Exit(int(not verification.is_confirmed))


@app.command()
def board(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder with bundles and the receipts of `verify --out`.")
    ],
    *,
    to: Annotated[Path, typer.Option("--out", help="Folder to write the site to.")] = Path("board"),
) -> None:
    """Write a static site of the verified bundles in a folder."""
    found = read_board(folder, site=to)
    for line in found.left_out:
        say(f"left out: {line}")
    say(f"written: {write_board(found, to)} (bundles: {len(found.entries):,})")


def _ending(path: Path, suffix: str) -> Path:
    """Return a path if `board` would find it by its name.

    Raises:
        BadInput: its name does not end with the suffix.
    """
    if not path.name.endswith(suffix):
        raise BadInput(f"--out {path}: name it {path.stem}{suffix}: `board` finds files by that ending")
    return path

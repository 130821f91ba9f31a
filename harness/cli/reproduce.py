"""The command that scores published predictions and compares the figures with the published ones."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import AsJson, asks, messages, say
from harness.data.predictions import Extract
from harness.data.published_scores import PUBLISHED_SET, provenance, read_published
from harness.data.published_sets import find_published
from harness.data.set_manifest import LAYOUTS
from harness.report.console import loading_bar, print_grids
from harness.report.documents import DEV, PublishedReference, dev_rows, reproduced
from harness.report.files import write_dev_rows, write_reproduction
from harness.report.overview import fenced_lines
from harness.report.paper import PaperRequest, paper
from harness.report.table_model import Document
from harness.runs.reader import read_run
from harness.session.plan import prepare
from harness.session.request import Request
from harness.session.runner import Runner, run


@app.command()
@asks("dialects", "metrics", "extract", "workers", "out", "resume", "cache", extract=Extract.FENCES)
def reproduce(
    request: Request,
    *,
    set_name: Annotated[
        str, typer.Option("--set", metavar="SET", help="mini_dev, or dev: the rows of BIRD's paper.")
    ] = PUBLISHED_SET,
    predictions: Annotated[
        list[Path] | None,
        typer.Option(help="Prediction file or folder; repeatable. Default: those of BIRD_HOME."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score published predictions and compare the scores with the published ones."""
    asked = replace(request, predictions=predictions or ())
    known = {PUBLISHED_SET: reproduce_published, DEV: reproduce_dev}
    if set_name not in known:
        raise BadInput(f"--set {set_name}: no figures are published for it; choose one of {', '.join(known)}")
    raise typer.Exit(known[set_name](asked, say, messages, as_json=as_json))


def reproduce_published(
    asked: Request, say: Callable[[str], None], console: Console, *, as_json: bool = False
) -> int:
    """Score published predictions on every engine that is up; print and write the tables.

    Args:
        asked: what to run; without predictions it is the folder `predictions` of the data. The published
            figures can only have been made of answers taken out of Markdown fences.
        say: takes one line at a time.
        console: where to tell how it goes.
        as_json: whether JSON is printed instead of tables.

    Returns:
        The exit code: 0, or 3 where a pair ended in a harness error.

    Raises:
        BadInput: the published tables, the questions or the predictions cannot be read.
        EngineUnavailable: an engine that was named is not up.
    """
    home = _home()
    published = read_published(home)
    done = _scored(
        replace(asked, set_name=PUBLISHED_SET, predictions=asked.predictions or [home / "predictions"]),
        say,
        console,
    )
    held = PublishedReference(published, provenance(done.plan.questions, find_published(PUBLISHED_SET).files))
    finished = read_run(done.path)
    written = write_reproduction(finished, held)
    if as_json:
        _give_json(written)
    else:
        print_grids(paper(finished, PaperRequest(), published).grids)
        show(reproduced(finished, held), say)
    for line in fenced_lines(done.scores):
        say(line)
    say(f"written: {', '.join(map(str, written))}")
    return done.exit_code


def reproduce_dev(
    asked: Request, say: Callable[[str], None], console: Console, *, as_json: bool = False
) -> int:
    """Score predictions for BIRD's dev set; print and write their figures next to the rows of its paper.

    The rest is as in `reproduce_published`. Without predictions they are what BIRD publishes,
    `predict_dev_*.json` in the data; without an engine it is SQLite, for which they were made.
    """
    predictions = asked.predictions or _of_dev(_home())
    dialects = asked.dialects or [Dialect.SQLITE]
    done = _scored(replace(asked, set_name=DEV, predictions=predictions, dialects=dialects), say, console)
    finished = read_run(done.path)
    written = write_dev_rows(finished)
    if as_json:
        _give_json(written)
    else:
        print_grids(dev_rows(finished).grids)
    say(f"written: {', '.join(map(str, written))}")
    return done.exit_code


def _home() -> Path:
    return Path(os.environ.get("BIRD_HOME") or "data")


def _scored(request: Request, say: Callable[[str], None], console: Console) -> Runner:
    """Run the request on the data of `_home`."""
    with loading_bar(console) as progress:
        plan = prepare(replace(request, bird_home=_home()), say=say, progress=progress)
    with plan:
        done = run(plan, console, "reproduce")
    done.require_written()
    return done


def _of_dev(home: Path) -> Sequence[Path]:
    """Return the published predictions for dev that are in the data.

    Raises:
        BadInput: there are none.
    """
    folders = (home, *(home / name for name in ("predictions", *LAYOUTS[DEV].folders) if name))
    found = [path for folder in folders for path in sorted(folder.glob("predict_dev_*.json"))]
    if not found:
        looked = ", ".join(map(str, folders))
        raise BadInput(
            f"no predict_dev_*.json in {looked}; name BIRD's published files for dev by --predictions"
        )
    return found


def _give_json(written: Sequence[Path]) -> None:
    """Print what was written as JSON."""
    for path in written:
        if path.suffix == ".json":
            typer.echo(path.read_text(encoding="utf-8"), nl=False)


def show(document: Document, say: Callable[[str], None]) -> None:
    """Print the remarks on the databases, then the three tables."""
    *_, databases = document.facts
    say(databases)
    print_grids(document.grids)

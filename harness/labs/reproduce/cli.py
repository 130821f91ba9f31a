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
from harness.data.answers import Extract
from harness.data.published_scores import (
    PUBLISHED_SET,
    provenance,
    published_scores,
    published_totals,
)
from harness.data.published_sets import find_published
from harness.data.set_manifest import LAYOUTS
from harness.data.sets.packages import PREDICTIONS
from harness.labs.reproduce.tables import DEV, dev_rows, reproduced, write_dev_rows, write_reproduction
from harness.report.console import loading_bar, print_grids
from harness.report.documents import TEST, PublishedReference, published_tables
from harness.report.overview import fenced_lines
from harness.report.paper import PaperRequest, paper
from harness.report.table_model import Document
from harness.report.texts import json_text
from harness.runs.reader import read_run
from harness.session.evaluation import Evaluation, run
from harness.session.plan import prepare
from harness.session.request import Request


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
    scored = {PUBLISHED_SET: reproduce_published, DEV: reproduce_dev}
    sets = dict.fromkeys([*scored, *(one.set for one in published_scores())])
    if set_name not in sets:
        raise BadInput(f"--set {set_name}: no figures are published for it; choose one of {', '.join(sets)}")
    if set_name in scored and (asked.predictions or _predictions_of(set_name)):
        raise typer.Exit(scored[set_name](asked, say, messages, as_json=as_json))
    if asked.predictions:
        raise BadInput(
            f"--set {set_name}: `reproduce` scores no predictions of it; leave out --predictions, or use"
            " `eval`"
        )
    show_published(set_name, as_json=as_json)


def show_published(set_name: str, *, as_json: bool = False) -> None:
    """Print the published figures of a set; there is nothing to score here."""
    tables = tuple(
        table for name in (set_name, *_RELATED.get(set_name, ())) for table in published_tables(name)
    )
    if as_json:
        typer.echo(json_text(Document(set_name, (), tables)), nl=False)
        return
    print_grids(tables)
    if set_name in _PREDICTION_FILES:
        folders = ", ".join(map(str, _folders(set_name)))
        say(f"published figures only: there is no {_PREDICTION_FILES[set_name]} in {folders};")
        say(f"put the published predictions there, or name them with --predictions ({_WHERE})")


def reproduce_published(
    asked: Request, say: Callable[[str], None], console: Console, *, as_json: bool = False
) -> int:
    """Score published predictions on every engine that is up; print and write the tables.

    Args:
        asked: what to run; without predictions it is those of the data. The published figures can only have
            been made of answers taken out of Markdown fences.
        say: takes one line at a time.
        console: where to tell how it goes.
        as_json: whether JSON is printed instead of tables.

    Returns:
        The exit code: 0, or 3 where a pair ended in a harness error.

    Raises:
        BadInput: the questions or the predictions cannot be read.
        EngineUnavailable: an engine that was named is not up.
    """
    published = published_totals()
    predictions = asked.predictions or _predictions_of(PUBLISHED_SET)
    done = _scored(replace(asked, set_name=PUBLISHED_SET, predictions=predictions), say, console)
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
    predictions = asked.predictions or _predictions_of(DEV)
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


def _scored(request: Request, say: Callable[[str], None], console: Console) -> Evaluation:
    """Run the request on the data of `_home`."""
    with loading_bar(console) as progress:
        plan = prepare(replace(request, bird_home=_home()), say=say, progress=progress)
    with plan:
        done = run(plan, console, "lab reproduce")
    done.require_written()
    return done


_PREDICTION_FILES = {PUBLISHED_SET: "predict_mini_dev_*.json", DEV: "predict_dev_*.json"}
"""The names of published prediction files, by set."""
_RELATED = {DEV: (TEST,)}
"""Sets whose published figures are shown next to those of another."""
_WHERE = "docs/how-to/reports.md#published-figures"


def _folders(set_name: str) -> Sequence[Path]:
    """Return the folders of the data in which the published predictions of a set are looked for."""
    home = _home()
    return (home, *(home / name for name in (PREDICTIONS, *LAYOUTS[set_name].folders) if name))


def _predictions_of(set_name: str) -> Sequence[Path]:
    """Return the published predictions of a set that are in the data."""
    pattern = _PREDICTION_FILES[set_name]
    return [path for folder in _folders(set_name) for path in sorted(folder.glob(pattern))]


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

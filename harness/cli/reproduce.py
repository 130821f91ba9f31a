"""Published predictions scored here, and the figures held against the published ones."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from dialects.enums import Dialect
from harness.data.predictions import Extract
from harness.data.published import provenance, read_published
from harness.engines.execution import Limits
from harness.metrics import DEFAULT_METRICS
from harness.pytest_plugin.runner import exit_code, run
from harness.report.console import print_grids
from harness.report.documents import reproduced
from harness.report.loading import loading_bar
from harness.report.overview import fenced_lines
from harness.report.reproduction import Reference
from harness.report.table_model import Document
from harness.report.writing import write_reproduction
from harness.request import Request
from harness.runs.reading import read_run
from harness.session.plan import prepare
from loaders.packages.manifest import find_published

SET = "mini_dev"
"""The revision of Mini-Dev that the published predictions answer."""


@dataclass(frozen=True)
class Reproduction:
    """What to reproduce; fields as in `Request`.

    `predictions` None means the folder `predictions` of the data. Answers are taken out of Markdown fences,
    as the published figures can only have been made.
    """

    predictions: Sequence[Path] | None = None
    dialects: Sequence[Dialect] | None = None
    metrics: Sequence[str] = DEFAULT_METRICS
    extract: Extract = Extract.FENCES
    workers: int | None = None
    limit: int | None = None
    seconds: float = Limits.seconds
    out: Path = Path("results")
    cache: bool = True
    resume: Path | None = None
    report: bool = True


def reproduce(asked: Reproduction, say: Callable[[str], None], console: Console) -> int:
    """Score published predictions on every engine that is up; print and write the three tables.

    Returns:
        The exit code: 0, or 3 where a pair ended in a harness error.

    Raises:
        BadInput: the published tables, the questions or the predictions cannot be read.
        EngineUnavailable: an engine that was named is not up.
    """
    home = Path(os.environ.get("BIRD_HOME") or "data")
    published = read_published(home)
    request = Request(
        set_name=SET,
        predictions=asked.predictions or [home / "predictions"],
        dialects=asked.dialects,
        extract=asked.extract,
        metrics=asked.metrics,
        workers=asked.workers,
        limit=asked.limit,
        seconds=asked.seconds,
        out=asked.out,
        bird_home=home,
        cache=asked.cache,
        resume=asked.resume,
        report=asked.report,
    )
    with loading_bar(console) as progress:
        plan = prepare(request, say=say, progress=progress)
    with plan:
        held = Reference(published, provenance(plan.questions, find_published(SET).files))
        done = run(plan, console)
    done.require_written()
    finished = read_run(done.folder)
    written = write_reproduction(finished, held)
    show(reproduced(finished, held), say)
    for line in fenced_lines(done.scores):
        say(line)
    say(f"written: {', '.join(map(str, written))}")
    return exit_code(done.scores)


def show(document: Document, say: Callable[[str], None]) -> None:
    """Print the three tables, after what has to be known of the databases."""
    *_, databases = document.facts
    say(databases)
    print_grids(document.grids)

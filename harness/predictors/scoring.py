"""Scores prediction files right after they were made: the tables of `bird-harness eval`, and pass@k."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace

from rich.console import Console

from harness.outcomes import PairResult
from harness.predictors.predict import Predicted
from harness.predictors.preparing import PredictRequest
from harness.pytest_plugin.runner import exit_code, run
from harness.report.console import print_grids, print_tables
from harness.report.loading import loading_bar
from harness.report.passes import passes_grid
from harness.report.table_model import Document
from harness.report.writing import TEXTS, Format, write
from harness.request import Request
from harness.runs.reading import read_run
from harness.session.plan import prepare

PASSES = "pass_at_k"
"""Name of the files with pass@k, in the folder of the predictions."""


def score_predicted(
    asked: PredictRequest, predicted: Predicted, say: Callable[[str], None], console: Console
) -> int:
    """Score what was predicted and print the tables.

    Returns:
        The exit code: 0, or 3 where a pair ended in a harness error.

    Raises:
        BadInput: no file has an answer.
        EngineUnavailable: an engine that was named is not up any more.
    """
    # Questions beyond the limit were not asked.
    limited = asked.request.limit is not None
    request = replace(asked.request, predictions=predicted.files, allow_missing=limited)
    with loading_bar(console) as progress:
        plan = prepare(request, say=say, progress=progress)
    with plan:
        done = run(plan, console, _resuming(request))
    print_tables(done.scores, request.metrics, extent=done.extent, notes=done.notes)
    if predicted.samples:
        _passes(asked, done.folder.name, read_run(done.folder).results, predicted.samples, say)
    done.require_written()
    return exit_code(done.scores)


def _resuming(request: Request) -> str:
    """The command that completes the scoring, up to the run folder: nobody has to be asked again."""
    options = {
        "set": request.set_name,
        "dialect": None if request.dialects is None else ",".join(request.dialects),
        "metrics": ",".join(request.metrics),
        "limit": request.limit,
        "timeout": f"{request.seconds:g}",
    }
    given = [f"--{name} {shlex.quote(str(value))}" for name, value in options.items() if value is not None]
    given += [f"--predictions {shlex.quote(str(path))}" for path in request.predictions]
    given += ["--allow-missing"] if request.allow_missing else []
    return " ".join(("bird-harness eval", *given, "--resume"))


def _passes(
    asked: PredictRequest,
    run_id: str,
    results: Sequence[PairResult],
    samples: Sequence[str],
    say: Callable[[str], None],
) -> None:
    """Print pass@k and keep it beside the predictions."""
    grid = passes_grid(asked.name, results, samples)
    print_grids([grid])
    document = Document(run_id, (f"{asked.request.set_name}, {asked.name}",), (grid,))
    for kind, suffix in ((Format.MARKDOWN, "md"), (Format.CSV, "csv"), (Format.JSON, "json")):
        say(f"written: {write(asked.out / f'{PASSES}.{suffix}', TEXTS[kind](document))}")

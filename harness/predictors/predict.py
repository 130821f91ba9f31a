"""The conductor of predicting: questions, engines, predictor and method go in, prediction files come out."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from rich.console import Console

from dialects.errors import BadInput
from harness.data.outcomes import PairResult
from harness.data.sets.loading import name_of
from harness.engines import kinds_by_name
from harness.predictors.adapters.registry import open_predictor
from harness.predictors.base import BudgetSpent, Method, Predictor
from harness.predictors.budget import Meter
from harness.predictors.extraction import Taking, take_sql
from harness.predictors.journal import Journal, tell
from harness.predictors.output import (
    PredictRequest,
    Ready,
    Say,
    check,
    prepare,
    sample_name,
    spent_in_words,
    summary,
    write_all,
    write_answers,
    write_manifest,
)
from harness.predictors.prompts.prompter import correction
from harness.predictors.running import Answered, Corrected, Job, Running, Trials, jobs
from harness.pytest_plugin.runner import exit_code, run
from harness.pytest_plugin.screen import Bars
from harness.report.console import print_grids
from harness.report.gold_ranks import passes_grid
from harness.report.loading import loading_bar
from harness.report.table_model import Document
from harness.report.writing import TEXTS, ReportFormat, write
from harness.runs.reading import read_run
from harness.session.plan import prepare as prepare_evaluation
from loaders.base.errors import EngineUnavailable, stopped_exit
from loaders.base.files import locked
from loaders.base.paths import making
from loaders.load import Progress

INCOMPLETE_EXIT = 1
"""Of a run that a budget has ended."""

_TALKERS = ("openai", "azure")
"""Kinds of predictors that answer in prose; programs and files give SQL."""


@dataclass(frozen=True)
class Predicted:
    """What came of it: the exit code, the files, and those predictors in them that are samples of one."""

    code: int
    files: Sequence[Path]
    samples: Sequence[str]


@dataclass(frozen=True)
class _Asking:
    """What asks: everything that is open while it does."""

    ready: Ready
    journal: Journal
    meter: Meter
    predictor: Predictor
    taking: Taking
    say: Say


def predict(asked: PredictRequest, say: Say, console: Console, progress: Progress | None = None) -> Predicted:
    """Ask for every question in every dialect, and write prediction files.

    What is known from an earlier run in the same folder is not asked again. A stop (Ctrl-C, SIGTERM, a
    budget, a predictor that is broken) keeps what is there; the same command goes on.

    Raises:
        BadInput: an option, the set or the predictor is wrong.
        EngineUnavailable: an engine that was named is not up.
    """
    wanted = check(asked)
    taking = asked.taking or (Taking.ANSWER if asked.predictor.split(":", 1)[0] in _TALKERS else Taking.NONE)
    with _folder(asked.out), closing(Journal(asked.out)) as journal:
        tell(journal.known, say)
        meter = Meter(asked.budget, journal.known.usage)
        dialects = asked.request.dialects or tuple(kinds_by_name())
        predictor = open_predictor(
            asked.predictor, asked.settings, meter, questions=wanted.whole, dialects=dialects
        )
        try:
            ready = prepare(wanted, say, progress)
            return _ask(_Asking(ready, journal, meter, predictor, taking, say), console)
        finally:
            predictor.close()


def _ask(asking: _Asking, console: Console) -> Predicted:
    ready, say = asking.ready, asking.say
    asked = ready.asked
    wanted = jobs(ready.problems, asked.samples)
    with _method(asking) as method:
        running = Running(asking.predictor, method, asking.journal, asking.taking, asked.settings.concurrency)
        facts = {
            "predictor": dict(asking.predictor.identity),
            "method": dict(method.identity),
            "taking": asking.taking,
            "known_before": len(asking.journal.known.replies),
        }
        write_manifest(ready, "running", facts, asking.meter.snapshot())
        with _stoppable(running, asking.predictor, say) as signals:
            answered = _follow(running, wanted, asking.meter, console)
    write_answers(asked.out, answered, asked.budget)
    files = write_all(ready, answered, say)
    rest = len(wanted) - len(answered)
    write_manifest(ready, "broken off" if rest else "complete", facts, asking.meter.snapshot())
    for line in summary(answered, asking.meter.snapshot(), asked.out):
        say(line)
    if running.ended is not None:
        say(f"bird-harness: {running.ended}")
    if rest:
        say(f"{rest} of {len(wanted)} answers were not asked for: the same command goes on")
    names = [sample_name(asked.name, number, asked.samples) for number in range(asked.samples)]
    return Predicted(_code(running, signals), files, names if asked.samples > 1 else ())


def _code(running: Running, signals: Sequence[int]) -> int:
    if running.ended is not None:
        return INCOMPLETE_EXIT if isinstance(running.ended, BudgetSpent) else EngineUnavailable.exit_code
    return stopped_exit(KeyboardInterrupt()) if signals else 0


@contextmanager
def _method(asking: _Asking) -> Iterator[Method]:
    ready = asking.ready
    asked = ready.asked
    method, tokens = ready.wanted.method, ready.wanted.tokens
    if asked.corrections == 0:
        yield method
        return
    take: Callable[[str], str | None] = take_sql if asking.taking is Taking.ANSWER else _as_it_is
    with closing(Trials(ready.equipped.request, ready.equipped.setup)) as trials:
        told = correction(asked.options)
        yield Corrected(method, asked.corrections, trials.error, take, told, tokens)


def _as_it_is(text: str) -> str | None:
    return text


@contextmanager
def _stoppable(running: Running, predictor: Predictor, say: Say) -> Iterator[list[int]]:
    """Let the first signal stop asking, and the second one everything; yields the signals that came."""
    came: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        came.append(number)
        running.stop()
        if len(came) > 1:
            predictor.close()
            raise KeyboardInterrupt
        say("stopping: waiting for the answers that are under way; once more to leave them")

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _follow(running: Running, wanted: Sequence[Job], meter: Meter, console: Console) -> list[Answered]:
    """Run jobs, with a bar; what came of them, in their order."""
    done: dict[Job, Answered] = {}
    missing = 0
    with Bars(console) as bars:
        bars.stage("asking", len(wanted))
        for answered in running.run(wanted):
            done[answered.job] = answered
            missing += answered.sql is None
            live = f"{spent_in_words(meter.snapshot())}, {missing} without SQL"
            bars.advance(live=live)
    return [done[job] for job in wanted if job in done]


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Make a folder, and keep other processes from writing it; it goes again where nothing came into it."""
    with ExitStack() as stack:
        try:
            stack.enter_context(making(path))
            stack.callback(os.close, locked(path))
        except OSError as error:
            raise BadInput(
                f"--out {path}: cannot hold predictions ({error.strerror}); choose another folder"
            ) from error
        yield


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
    # Questions beyond the choice were not asked.
    request = replace(
        asked.request, predictions=predicted.files, allow_missing=bool(str(asked.request.choice))
    )
    with loading_bar(console) as progress:
        plan = prepare_evaluation(request, say=say, progress=progress)
    with plan:
        done = run(plan, console)
    done.print_scores(request)
    if predicted.samples:
        _passes(asked, done.folder.name, read_run(done.folder).results, predicted.samples, say)
    done.require_written()
    return exit_code(done.scores)


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
    document = Document(run_id, (f"{name_of(asked.request.set_name)}, {asked.name}",), (grid,))
    for kind, suffix in (
        (ReportFormat.MARKDOWN, "md"),
        (ReportFormat.CSV, "csv"),
        (ReportFormat.JSON, "json"),
    ):
        say(f"written: {write(asked.out / f'{PASSES}.{suffix}', TEXTS[kind](document))}")

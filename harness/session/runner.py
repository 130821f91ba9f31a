"""Run a plan: judge its pairs, write the run folder and compute the scores.

`run` takes all pairs in order, the pytest plugin takes them item by item. The workers judge started pairs
ahead of time; timing begins when there is nothing left to judge.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from dialects.errors import BadInput
from harness.data.outcomes import Judgement, Outcome, PairResult
from harness.engines.supervision import can_end
from harness.metrics import METRICS
from harness.provision import failures
from harness.report.console import print_line
from harness.report.overview import print_scores
from harness.runs.folder import RunFolder
from harness.runs.reader import SUMMARY
from harness.runs.summary import TOTAL, Score
from harness.session.plan import Plan
from harness.session.progress_bars import Bars
from harness.session.request import parse_fail_under
from loaders.base.errors import EngineUnavailable
from loaders.base.files import printable_json, read_json, read_text


class Runner:
    """One run of a plan: opens its folder, judges pairs, writes results and reports, logs how it ended.

    Args:
        plan: what to run; its creator closes it.
        bars: the progress bars.
        command: the name of the command that completes the run if it is interrupted.

    Raises:
        BadInput: the run to complete is of another plan, or cannot be written.
    """

    def __init__(self, plan: Plan, bars: Bars | None = None, command: str = "eval") -> None:
        self.plan = plan
        self.pairs = plan.evaluation.pairs
        """All pairs; methods take and return indices into them."""
        self.scores: Sequence[Score] = ()
        self.is_broken_off = False
        self.fault: str | None = None
        """What could not be written to the folder; the scores are complete anyway."""
        self._page: Path | None = None
        self._bars = bars or Bars(None)
        self._command = command
        self._thresholds = parse_fail_under(plan.request.fail_under, plan.request.metrics)
        self._folder: RunFolder | None = None
        if plan.request.resume is not None:
            self._folder = plan.open_run()
        done = {} if self._folder is None else self._folder.done
        self.to_judge = [place for place, pair in enumerate(self.pairs) if pair.key not in done]
        """The pairs to judge: all but those that an earlier part of the run has judged."""
        self._begun: Mapping[int, Future[Judgement] | None] | None = None
        self._results: dict[int, PairResult] = {}
        self._written: set[int] = set()

    def begin(
        self, chosen: Sequence[int], ways: Callable[[], Sequence[str]] = tuple
    ) -> Mapping[int, "Future[Judgement] | None"]:
        """Open the folder, and start judging pairs.

        Args:
            chosen: some of `to_judge`.
            ways: how they were selected, recorded in the folder if they are not all.

        Returns:
            A future for each, None where there is no prediction.

        Raises:
            BadInput: the folder cannot be written.
        """
        self._begun = dict.fromkeys(chosen)
        if self._begun and self._folder is None:
            self._folder = self.plan.open_run()
        if self._folder is not None and len(self._begun) < len(self.to_judge):
            self._folder.choose(ways())
        done = self._folder.done.values() if self._folder is not None else ()
        pairs = [self.pairs[place] for place in self._begun]
        self._bars.judge(
            [each.dialect for each in (*pairs, *done)], [(result.dialect, result.outcome) for result in done]
        )
        futures = self.plan.evaluation.begin(pairs, self._bars.judged)
        self._begun = dict(zip(self._begun, futures, strict=True))
        return self._begun

    def result(self, place: int) -> PairResult:
        """Return the result of a started pair, with its times; computed once."""
        if place not in self._results:
            begun, evaluation = self._begun or {}, self.plan.evaluation
            if evaluation.is_timed and not self._results:
                wait(future for future in begun.values() if future is not None)
                self._bars.stage("timing", len(begun))
            pair = self.pairs[place]
            self._results[place] = evaluation.timed(pair, evaluation.result(pair, begun[place]))
            self._bars.advance()
        return self._results[place]

    def write(self, place: int) -> None:
        """Write the result of a pair to the folder, once.

        Raises:
            BadInput: it cannot be written.
        """
        if place not in self._written and self._folder is not None:
            self._folder.add(self.result(place))
            self._written.add(place)

    @property
    def unwritten(self) -> list[int]:
        """The started pairs without a result in the folder."""
        return [place for place in self._begun or () if place not in self._written]

    def abort(self) -> None:
        """Interrupt the run: the folder keeps what is judged, and can be resumed."""
        if self._folder is None:
            return
        begun = self._begun or {}
        self._folder.abort(
            self.plan.evaluation.interrupted_result(self.pairs[place], begun[place])
            for place in self.unwritten
        )
        self.is_broken_off = True

    def finish(self) -> None:
        """Complete the folder, with its reports if requested."""
        if self._folder is None:
            return
        overruns = self.plan.evaluation.overruns
        self.scores = self._folder.finish({dialect: asdict(each) for dialect, each in overruns.items()})
        self.fault = self._folder.fault
        if self.plan.request.report:
            self._bars.stage("writing the reports")
            # Only finished runs need its templates.
            from harness.report.files import HTML, reports_fault  # noqa: PLC0415

            self.fault = self.fault or reports_fault(self._folder.path)
            self._page = self._folder.path / HTML

    def close(self) -> None:
        """Close the folder."""
        if self._folder is not None:
            self._folder.close()

    @property
    def path(self) -> Path:
        """The run's folder.

        Raises:
            BadInput: nothing was run.
        """
        if self._folder is None:
            raise BadInput("nothing was run, so there is no run folder")
        return self._folder.path

    @property
    def unmet(self) -> str | None:
        """One line about all totals below their threshold; None if there is none."""
        return unmet(self.scores, self._thresholds) if self.scores else None

    @property
    def exit_code(self) -> int:
        """3 if a pair ended in a harness error, else 1 if a total is below its threshold, else 0."""
        if any(score.outcomes.get(Outcome.HARNESS_ERROR) for score in self.scores):
            return EngineUnavailable.exit_code
        return int(self.unmet is not None)

    def require_written(self) -> None:
        """Raise BadInput if the folder is incomplete; call this after showing the scores."""
        if self.fault is not None:
            raise BadInput(self.fault)

    def lines(self) -> list[str]:
        """Return the lines printed with the tables: engines that failed, the run folder, or how to resume."""
        if self._folder is None:
            nothing = f"nothing is scored: 0 of {self.plan.extent.pairs:,} pairs were selected"
            return [nothing] if self._begun is not None else []
        if self.is_broken_off:
            return self._folder.broken_off(self._command)
        lines = [*failures(self.plan.evaluation.failed, self.plan.setup.servers), *self._overruns()]
        lines.append(f"run folder: {self._folder.path}")
        if self._page is not None and self.fault is None:
            lines.append(f"report: {self._page}")
        return lines

    def _overruns(self) -> list[str]:
        """Return a line for each engine whose server went on with texts after their limit."""
        return [
            f"{dialect}: {each.texts:,} {'text' if each.texts == 1 else 'texts'} went on for"
            f" {each.seconds:.0f} s after {'its' if each.texts == 1 else 'their'} limit"
            + ("" if can_end(self.plan.setup.servers[dialect][0]) else ", and may still: restart the server")
            for dialect, each in self.plan.evaluation.overruns.items()
        ]

    def say(self, console: Console) -> None:
        """Print those lines."""
        for line in self.lines():
            print_line(console, line)

    def print_scores(self) -> None:
        """Print the requested tables."""
        request = self.plan.request
        if self._folder is not None:
            print_scores(
                self.scores,
                request.metrics,
                everything=request.shows_all_tables,
                extent=self._folder.extent,
                notes=self._folder.notes,
            )

    def print_summary(self) -> None:
        """Print the contents of `summary.json` of the finished run, with the path of its folder."""
        found = {**read_json(read_text(self.path / SUMMARY)), "folder": str(self.path.absolute())}
        print(printable_json(found))  # noqa: T201 - the answer itself


def unmet(scores: Sequence[Score], thresholds: Mapping[str, float]) -> str | None:
    """Return one line about all totals that are too low; None if there is none.

    Args:
        scores: the scores of a run.
        thresholds: the minimum percentage of each total, by metric.
    """
    found = []
    for name, percent in thresholds.items():
        totals = [score.metrics[name][TOTAL] for score in scores]
        found += [
            f"{METRICS[name].title} of {score.predictor} on {score.dialect} is {total:.2f}, below {percent:g}"
            for score, total in zip(scores, totals, strict=True)
            if total is not None and total < percent
        ]
        if all(total is None for total in totals):
            found.append(f"no pair has a score of {METRICS[name].title}")
    return f"--fail-under: {'; '.join(found)}" if found else None


def run(plan: Plan, console: Console | None = None, command: str = "eval") -> Runner:
    """Run every pair of a plan, and write the run folder.

    An interrupted run leaves a folder that can be completed; see `Request.resume`.

    Args:
        plan: what to run.
        console: where to show progress.
        command: the name of the command that completes the run if it is interrupted.
    """
    with Bars(console) as bars:
        runner = Runner(plan, bars, command)
        try:
            for place in runner.begin(runner.to_judge):
                runner.write(place)
        except BaseException:
            runner.abort()
            if console is not None and runner.is_broken_off:
                bars.close()
                runner.say(console)
            raise
        runner.finish()
    if console is not None:
        runner.say(console)
    return runner


def score(plan: Plan, console: Console | None = None) -> list[Score]:
    """Run every pair, write the run folder and return the scores: the entry point of the Python API."""
    runner = run(plan, console)
    runner.require_written()
    return list(runner.scores)


def run_directly(plan: Plan, console: Console, *, as_json: bool = False) -> int:
    """Run the plan without pytest, print its tables, or its summary as JSON, and return the exit code.

    Raises:
        BadInput: the run folder could not be written.
    """
    with plan:
        runner = run(plan, console)
    if as_json:
        runner.print_summary()
    else:
        runner.print_scores()
    runner.require_written()
    if runner.unmet is not None:
        print_line(console, runner.unmet)
    return runner.exit_code

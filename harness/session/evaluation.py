"""Run a plan: judge its pairs, time them, write the run folder and compute the scores.

Each gold is executed once per engine, whatever the number of predictors and workers; a failing gold never
counts against a prediction; equal predictions for a question are executed once. Timing comes when there is
nothing left to judge, in a worker process of its own, one pair at a time, with nothing else running.

`run` takes all pairs in order, the pytest plugin takes them item by item. The workers judge started pairs
ahead of time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import closing
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path

from rich.console import Console

from dialects.errors import BadInput
from harness.data.outcomes import Judgement, Outcome, PairResult
from harness.engines import EngineName, dialect_of
from harness.engines.supervision import can_end
from harness.metrics import METRICS, Basis
from harness.metrics.efficiency import Timing
from harness.provision import failures
from harness.report.console import Bars, print_line
from harness.report.overview import print_scores
from harness.runs.folder import RunFolder
from harness.runs.reader import SUMMARY
from harness.runs.summary import TOTAL, Score
from harness.scoring.scheduler import Candidate
from harness.scoring.tasks import TimeTask, TimingMethod, error_message
from harness.scoring.workers import LocalWorkers
from harness.session.plan import Pair, Plan
from harness.session.request import parse_fail_under
from loaders.base.errors import EngineUnavailable
from loaders.base.files import printable_json, read_json, read_text

METHODS = {Basis.TIMES: TimingMethod.OFFICIAL, Basis.STABLE_TIMES: TimingMethod.STABLE}
"""The timing method behind each basis of a time metric."""


class Evaluation:
    """One run of a plan: judges and times its pairs, writes results and reports, logs how it ended.

    Only `begin` opens the run folder. `results` judges pairs for callers that keep their results themselves.

    Args:
        plan: what to run; its creator closes it.
        bars: the progress bars.
        command: the name of the command that completes the run if it is interrupted.

    Raises:
        BadInput: the run to complete is of another plan, or cannot be written.
    """

    def __init__(self, plan: Plan, bars: Bars | None = None, command: str = "eval") -> None:
        self.plan = plan
        self.pairs = plan.pairs
        """All pairs; methods take and return indices into them."""
        self.scores: Sequence[Score] = ()
        self.is_broken_off = False
        self.fault: str | None = None
        """What could not be written to the folder; the scores are complete anyway."""
        self._page: Path | None = None
        self._bars = bars or Bars(None)
        self._command = command
        self._thresholds = parse_fail_under(plan.request.fail_under, plan.request.metrics)
        # Always on this machine, wherever tasks are judged. Its process starts on demand and judges nothing.
        self._timer = LocalWorkers(plan.setup, 1)
        self._measured = cache(self._measure)
        self._timed_metrics = [METRICS[name] for name in plan.setup.metrics if METRICS[name].is_timed]
        self._folder: RunFolder | None = None
        if plan.request.resume is not None:
            self._folder = plan.open_run()
        done = {} if self._folder is None else self._folder.done
        self.to_judge = [place for place, pair in enumerate(self.pairs) if pair.key not in done]
        """The pairs to judge: all but those that an earlier part of the run has judged."""
        self._futures: Mapping[int, Future[Judgement] | None] | None = None
        self._results: dict[int, PairResult] = {}
        self._written: set[int] = set()

    @property
    def is_resumed(self) -> bool:
        """True if an earlier part of the run has judged some of the pairs."""
        return len(self.to_judge) < len(self.pairs)

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
        self._futures = dict.fromkeys(chosen)
        if self._futures and self._folder is None:
            self._folder = self.plan.open_run()
        if self._folder is not None and len(self._futures) < len(self.to_judge):
            self._folder.choose(ways())
        done = self._folder.done.values() if self._folder is not None else ()
        pairs = [self.pairs[place] for place in self._futures]
        self._bars.judge(
            [each.dialect for each in (*pairs, *done)], [(result.dialect, result.outcome) for result in done]
        )
        self._futures = dict(zip(self._futures, self._judge(pairs, self._bars.judged), strict=True))
        return self._futures

    def _judge(
        self, pairs: Sequence[Pair], judged: Callable[[EngineName, Outcome], None]
    ) -> "list[Future[Judgement] | None]":
        """Start judging pairs; `judged` is called once for each, from any thread."""
        texts = [Candidate(pair.question, pair.dialect, pair.sql) for pair in pairs if pair.sql is not None]
        of_texts = iter(self.plan.scheduler.begin(texts))
        futures = [None if pair.sql is None else next(of_texts) for pair in pairs]
        for pair, future in zip(pairs, futures, strict=True):
            if future is None:
                judged(pair.dialect, Outcome.MISSING)
            else:
                future.add_done_callback(partial(_tell, judged, pair.dialect))
        return futures

    def results(
        self,
        pairs: Sequence[Pair] | None = None,
        judged: Callable[[EngineName, Outcome], None] = lambda *_: None,
    ) -> Iterator[PairResult]:
        """Judge pairs, and yield the result of each, in order; nothing is written to a folder.

        Args:
            pairs: default: all of them.
            judged: called once for each judged pair, from any thread.
        """
        pairs = self.pairs if pairs is None else pairs
        futures = self._judge(pairs, judged)
        if self.plan.is_timed:
            wait(future for future in futures if future is not None)
        for pair, future in zip(pairs, futures, strict=True):
            yield self._timed(pair, self._result(pair, future))

    def result(self, place: int) -> PairResult:
        """Return the result of a started pair, with its times; computed once."""
        if place not in self._results:
            futures = self._futures or {}
            if self.plan.is_timed and not self._results:
                wait(future for future in futures.values() if future is not None)
                self._bars.stage("timing", len(futures))
            pair = self.pairs[place]
            self._results[place] = self._timed(pair, self._result(pair, futures[place]))
            self._bars.advance()
        return self._results[place]

    def _result(self, pair: Pair, judgement: "Future[Judgement] | None") -> PairResult:
        """Return the result of one pair, without its times; wait for its judgement."""
        if judgement is None:
            zero = self.plan.setup.zero(pair.dialect)
            return self._pair_result(pair, Judgement(Outcome.MISSING, zero, error=pair.reason))
        return self._pair_result(pair, judgement.result())

    def _unfinished(self, pair: Pair, why: str) -> PairResult:
        """Return the result of a pair that was not judged: a harness error."""
        judgement = Judgement(Outcome.HARNESS_ERROR, self.plan.setup.zero(pair.dialect), error=why)
        return self._pair_result(pair, judgement)

    def _pair_result(self, pair: Pair, judgement: Judgement) -> PairResult:
        question = pair.question
        return PairResult(
            dialect=pair.dialect,
            predictor=pair.predictor,
            question=question.key,
            question_id=question.question_id,
            db_id=question.db_id,
            difficulty=question.difficulty,
            gold_origin=self.plan.golds.origin(question, pair.dialect),
            sql=pair.sql,
            **vars(judgement),
        )

    def _timed(self, pair: Pair, result: PairResult) -> PairResult:
        """Add its times, and the scores computed from them, to a result; nothing else may run meanwhile.

        Only matching predictions are timed, equal predictions for a question once. Never raises for an error
        of an engine or a statement.
        """
        if result.outcome is not Outcome.MATCH or not self.plan.is_timed or pair.sql is None:
            return result
        timings: dict[str, Timing] = {}
        try:
            for method in dict.fromkeys(METHODS[metric.basis] for metric in self._timed_metrics):
                timings[method.value] = self._measured(
                    pair.question.key, pair.dialect, pair.sql, result.gold_index, method
                )
        except Exception as error:  # noqa: BLE001 - a fault of ours or a driver's is one pair's, not the run's
            return self._unfinished(pair, error_message(error))
        scores = {
            metric.name: metric.of_timing(timings[METHODS[metric.basis].value])
            for metric in self._timed_metrics
            if metric.of_timing is not None
        }
        return replace(result, scores={**result.scores, **scores}, timings=timings)

    def _measure(
        self, key: str, dialect: EngineName, sql: str, gold_index: int, method: TimingMethod
    ) -> Timing:
        setup = self.plan.setup
        question = setup.questions.by_key[key].each(dialect_of(dialect))[gold_index]
        gold = self.plan.golds.text(question, dialect)
        task = TimeTask(dialect, question.db_id, sql, gold, method)
        first = self._timer.submit(task).result()
        if method is not TimingMethod.OFFICIAL or setup.repeat == 1:
            return first
        others = [self._timer.submit(task).result().tau for _ in range(1, setup.repeat)]
        return replace(first, runs=(first.tau, *others))

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
        return [place for place in self._futures or () if place not in self._written]

    def abort(self) -> None:
        """Interrupt the run: the folder keeps what is judged, and can be resumed."""
        if self._folder is None:
            return
        futures = self._futures or {}
        self._folder.abort(
            self._interrupted_result(self.pairs[place], futures[place]) for place in self.unwritten
        )
        self.is_broken_off = True

    def _interrupted_result(self, pair: Pair, judgement: "Future[Judgement] | None") -> PairResult:
        """Return the result to keep for a pair when a run is interrupted: its judgement, if there is one.

        Args:
            pair: the pair.
            judgement: None if the pair was not started, or has no prediction.
        """
        is_judged = judgement is not None and judgement.done() and not judgement.cancelled()
        # Where times are asked for, they are missing: the pair runs again when the run is resumed.
        if is_judged and judgement is not None and judgement.exception() is None and not self.plan.is_timed:
            return self._result(pair, judgement)
        return self._unfinished(pair, "the run was broken off")

    def finish(self) -> None:
        """Complete the folder, with its reports if requested."""
        if self._folder is None:
            return
        overruns = self.plan.scheduler.overruns
        self.scores = self._folder.finish({dialect: asdict(each) for dialect, each in overruns.items()})
        self.fault = self._folder.fault
        if self.plan.request.report:
            self._bars.stage("writing the reports")
            # Only finished runs need its templates.
            from harness.report.files import HTML, reports_fault  # noqa: PLC0415

            self.fault = self.fault or reports_fault(self._folder.path)
            self._page = self._folder.path / HTML

    def close(self) -> None:
        """Stop timing at once, and close the folder."""
        self._timer.close()
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
            return [nothing] if self._futures is not None else []
        if self.is_broken_off:
            return self._folder.broken_off(self._command)
        failed = self.plan.scheduler.failed
        lines = [*(failures(failed, self.plan.setup.servers) if failed else ()), *self._overruns()]
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
            for dialect, each in self.plan.scheduler.overruns.items()
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


def run(plan: Plan, console: Console | None = None, command: str = "eval") -> Evaluation:
    """Run every pair of a plan, and write the run folder.

    An interrupted run leaves a folder that can be completed; see `Request.resume`.

    Args:
        plan: what to run.
        console: where to show progress.
        command: the name of the command that completes the run if it is interrupted.
    """
    with Bars(console) as bars, closing(Evaluation(plan, bars, command)) as evaluation:
        try:
            for place in evaluation.begin(evaluation.to_judge):
                evaluation.write(place)
        except BaseException:
            evaluation.abort()
            if console is not None and evaluation.is_broken_off:
                bars.close()
                evaluation.say(console)
            raise
        evaluation.finish()
    if console is not None:
        evaluation.say(console)
    return evaluation


def score(plan: Plan, console: Console | None = None) -> list[Score]:
    """Run every pair, write the run folder and return the scores, as `bird-harness eval` does."""
    done = run(plan, console)
    done.require_written()
    return list(done.scores)


def run_directly(plan: Plan, console: Console, *, as_json: bool = False) -> int:
    """Run the plan without pytest, print its tables, or its summary as JSON, and return the exit code.

    Raises:
        BadInput: the run folder could not be written.
    """
    with plan:
        done = run(plan, console)
    if as_json:
        done.print_summary()
    else:
        done.print_scores()
    done.require_written()
    if done.unmet is not None:
        print_line(console, done.unmet)
    return done.exit_code


def _tell(
    judged: Callable[[EngineName, Outcome], None], engine: EngineName, future: "Future[Judgement]"
) -> None:
    if not future.cancelled() and future.exception() is None:
        judged(engine, future.result().outcome)

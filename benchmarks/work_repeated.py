"""R-VES work again and again: one worker and two, idle and busy, and beside R-VES stable.

Every run starts with an empty result cache. The totals and the digest of all pairs' scores are printed; they
have to be the same to the last digit, or the exit code is 1. `--times` measures R-VES stable as well, once,
and correlates its tau with that of work over the pairs whose programs differ: nothing else may run then.

    python -m benchmarks.work_repeated --set mini_dev --predictions FOLDER --dialect mysql
"""

import contextlib
import hashlib
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from scipy.stats import spearmanr

from dialects.errors import HarnessError
from harness.data.outcomes import PairResult
from harness.metrics.efficiency import Clock
from harness.session.evaluation import Evaluation
from harness.session.plan import prepare
from harness.session.request import Request, parse_dialects
from loaders.base.processes import processors

METRICS = ("r_ves_work", "ves_work")
RUNS = ((1, False), (2, False), (1, True), (2, True), (2, False))
"""Workers, and whether every core is busy with something else."""
_MOST_SHOWN = 12


@contextlib.contextmanager
def _busy(*, is_busy: bool) -> Iterator[None]:
    """A loop on every core."""
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(processors() if is_busy else 0)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run(request: Request) -> Sequence[PairResult]:
    """The results of all pairs, with nothing known from before."""
    with prepare(request, say=print) as plan, closing(Evaluation(plan)) as evaluation:
        return list(evaluation.results())


def digest(results: Sequence[PairResult]) -> str:
    """Of every digit of every pair's scores and work."""
    told = [
        [each.dialect, each.predictor, each.question, each.outcome]
        + [repr(each.scores.get(name)) for name in METRICS]
        + ([] if each.work is None else [repr(each.work.tau), repr(each.work.prediction)])
        for each in results
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def totals(results: Sequence[PairResult]) -> dict[str, float]:
    """R-VES work of each predictor on each engine, in percent."""
    found: dict[str, list[float]] = {}
    for each in results:
        if METRICS[0] in each.scores:
            found.setdefault(f"{each.dialect}/{each.predictor}", []).append(each.scores[METRICS[0]])
    return {name: 100 * math.fsum(values) / len(values) for name, values in found.items()}


def correlate(results: Sequence[PairResult]) -> None:
    """Print how the two taus go together, over pairs that are not the same text or program."""
    pairs = [
        (each.work.tau, timing.tau, each)
        for each in results
        if each.work is not None
        and each.work.tau is not None
        and (timing := each.timings.get("stable")) is not None
        and timing.error is None
        and timing.clock is not Clock.IDENTICAL
    ]
    for dialect in sorted({each.dialect for _, _, each in pairs}):
        some = [(work, stable, each) for work, stable, each in pairs if each.dialect == dialect]
        decided = [one for one in some if one[2].timings["stable"].decided]
        for name, which in (("all", some), ("decided", decided)):
            found = spearmanr([work for work, _, _ in which], [stable for _, stable, _ in which])
            print(f"{dialect}: Spearman {found.statistic:.3f} over {len(which)} pairs ({name})")
        same = sum(abs(each.scores["r_ves_work"] - each.scores["r_ves_stable"]) < 1e-9 for _, _, each in some)  # noqa: PLR2004 - the same reward
        print(f"{dialect}: the same reward for {same} of {len(some)}")
        worst = sorted(some, key=lambda one: -abs(math.log(one[0] / one[1])))[:_MOST_SHOWN]
        for work, stable, each in worst:
            print(f"  {each.predictor} {each.question}: tau by work {work:.3f}, by time {stable:.3f}")


def main(
    set_name: Annotated[str, typer.Option("--set")] = "sample",
    predictions: Annotated[list[Path] | None, typer.Option()] = None,
    dialect: Annotated[str, typer.Option()] = "sqlite",
    *,
    times: Annotated[bool, typer.Option(help="Measure R-VES stable as well, and nothing else.")] = False,
) -> None:
    """Run and compare."""
    try:
        request = Request(
            set_name=set_name,
            predictions=predictions or (),
            dialects=parse_dialects(dialect),
            metrics=("ex", *METRICS, *(("r_ves_stable",) if times else ())),
            cache=False,
        )
        if times:
            correlate(run(request))
            return
        digests = set()
        for workers, is_busy in RUNS:
            began = time.perf_counter()
            with _busy(is_busy=is_busy):
                results = run(replace(request, workers=workers))
            digests.add(digest(results))
            told = ", ".join(f"{name} {value!r}" for name, value in totals(results).items())
            print(
                f"{workers} worker(s){', busy' if is_busy else ''}: {digest(results)}, {len(results)} pairs,"
                f" {time.perf_counter() - began:.0f} s: {told}"
            )
    except HarnessError as error:
        print(error)
        raise typer.Exit(2) from error
    print("the same" if len(digests) == 1 else f"{len(digests)} different ones")
    raise typer.Exit(len(digests) > 1)


if __name__ == "__main__":
    typer.run(main)

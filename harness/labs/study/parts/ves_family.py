"""E7: the metrics of the VES family side by side: by work, by stable times, and by the script's times."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from statistics import fmean

from harness.engines import TITLES, EngineName, dialect_of
from harness.labs.study.base import Analysis, Output, RightPair, StudyContext
from harness.labs.study.measures import PairMeasures, counted_for_tau
from harness.metrics import METRICS, Basis, Metric
from harness.report.table_model import Cell, CellKind, TableModel, columns, row, table
from harness.scoring.tasks import TimingMethod

_METHODS = {Basis.STABLE_TIMES: TimingMethod.STABLE, Basis.TIMES: TimingMethod.OFFICIAL}

_Who = tuple[EngineName, str]


def run(context: StudyContext) -> Iterator[Output]:
    """Score every right pair by each metric; with `--times`, by the script's times, too."""
    bases = {Basis.WORK, Basis.STABLE_TIMES, *([Basis.TIMES] if context.with_times else [])}
    metrics = [metric for metric in METRICS.values() if metric.basis in bases]
    asked: dict[_Who, int] = defaultdict(int)
    for result in context.results():
        by_rows = dialect_of(result.dialect) in context.questions.by_key[result.question].by_rows
        asked[result.dialect, result.predictor] += not by_rows
    scores: dict[tuple[_Who, str], list[float | None]] = defaultdict(list)
    with closing(PairMeasures(context)) as measures:
        pairs = measures.pairs
        context.expect(counted_for_tau(pairs) + len(pairs) * (len(bases) - 1))
        for pair in pairs:
            for name, score in _scores(measures, pair, metrics, bases).items():
                scores[(pair.dialect, pair.predictor), name].append(score)
    yield _table(metrics, asked, scores)


def _scores(
    measures: PairMeasures, pair: RightPair, metrics: Sequence[Metric], bases: set[Basis]
) -> dict[str, float | None]:
    """Return the scores of a right pair by metric; None if its work is unknown."""
    tau = measures.tau(pair)
    timings = {basis: measures.timing(pair, method) for basis, method in _METHODS.items() if basis in bases}
    found: dict[str, float | None] = {}
    for metric in metrics:
        if metric.of_work is not None:
            found[metric.name] = None if tau is None else metric.of_work(tau)
        elif metric.of_timing is not None:
            found[metric.name] = metric.of_timing(timings[metric.basis])
    return found


def _table(
    metrics: Sequence[Metric],
    asked: Mapping[_Who, int],
    scores: Mapping[tuple[_Who, str], Sequence[float | None]],
) -> TableModel:
    own = ((metric.title, metric.name) for metric in metrics)
    heads = columns("predictor", ("right", "right", CellKind.COUNT), *own)
    rows, uncounted = [], 0
    for (engine, predictor), planned in asked.items():
        some = [scores.get(((engine, predictor), metric.name), ()) for metric in metrics]
        uncounted += max(sum(score is None for score in each) for each in some)
        values: list[Cell | float] = [len(some[0]), *(_mean(each, planned) for each in some)]
        labels = (predictor, TITLES[engine])
        rows.append(row(labels, values, predictor, dialect=engine, predictor=predictor))
    notes = [
        "Of all answers, in percent; wrong ones score 0. Equal texts about a question are measured once.",
        "VES is no share: an answer of four times gold's speed scores 200.",
    ]
    if not any(metric.basis is Basis.TIMES for metric in metrics):
        notes.append("With `--times`, too: VES, R-VES and R-VES documented, by the script's 100 runs a text.")
    if uncounted:
        notes.append(f"{uncounted} right answers whose work cannot be counted are left out by work.")
    return table("The VES family", ["predictor", "engine"], heads, rows, *notes)


def _mean(scores: Sequence[float | None], asked: int) -> Cell:
    """Return the percentage over all answers that have a score; an answer without an entry scores 0."""
    known = [score for score in scores if score is not None]
    told = asked - (len(scores) - len(known))
    return Cell(100 * fmean([*known, *[0.0] * (told - len(known))]) if told else None, questions=told)


PART = Analysis("e7", "The VES family", run, needs_predictions=True, needs_quiet=True)

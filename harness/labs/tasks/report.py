"""Tables of task results: rates of the verdicts by category, difficulty and database, for each engine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from statistics import median

from dialects.enums import Dialect
from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.judging import GOLD, TaskResult
from harness.report.table_model import (
    Cell,
    CellKind,
    TableModel,
    TableRow,
    columns,
    listed,
    row,
    share_cell,
    table,
    with_intervals,
)
from loaders.base.errors import brief

_ALL = "all"

_NOTE = (
    "Official: as the scripts count, every task in the denominator. Strict and state: of the tasks that they"
    " decide."
)

_GROUPS: dict[str, Callable[[TaskResult], str | None]] = {
    "": lambda _result: _ALL,
    "category": lambda result: result.category,
    "difficulty": lambda result: result.difficulty,
    "database": lambda result: result.database,
}


def task_tables(judged: Mapping[str, Sequence[TaskResult]]) -> list[TableModel]:
    """Return a table of rates for each grouping, who passes where, and what gold cannot pass.

    Official rates keep every task in the denominator, as the scripts do. The others are of the tasks that
    the verdict decides.

    Args:
        judged: results by script family; each engine has a row in every table.
    """
    results = [result for some in judged.values() for result in some]
    shown = {
        name: [result for result in some if result.predictor != GOLD] or some for name, some in judged.items()
    }
    return [
        *(_rates(shown, by) for by in _GROUPS if any(_GROUPS[by](result) is not None for result in results)),
        *([_work_table(shown)] if any(result.work is not None for result in results) else []),
        *([_engines_table(shown)] if len(shown) > 1 else []),
        _gold_table(judged),
    ]


def _engine(family: str) -> Dialect:
    return FAMILIES[family].dialect


def _rates(judged: Mapping[str, Sequence[TaskResult]], by: str) -> TableModel:
    heads = columns(
        by or "total",
        ("tasks", "tasks", CellKind.COUNT),
        ("official", "official"),
        ("strict", "strict"),
        ("decided", "strict_decided", CellKind.COUNT),
        ("state", "state"),
        ("decided", "state_decided", CellKind.COUNT),
    )
    title = f"Tasks passed, by the scripts of {', '.join(judged)}" + (f", by {by}" if by else "")
    labels = ("engine", "predictor", by) if by else ("engine", "predictor")
    notes = () if by else (_NOTE,)
    return table(title, labels, with_intervals(heads), _rows(judged, by), *notes)


def _rows(judged: Mapping[str, Sequence[TaskResult]], by: str) -> Iterator[TableRow]:
    group = _GROUPS[by]
    for predictor in _predictors(judged):
        for family, results in judged.items():
            own = [result for result in results if result.predictor == predictor]
            for name in sorted({found for result in own if (found := group(result)) is not None}):
                some = [result for result in own if group(result) == name]
                strict = [decided for result in some if (decided := result.strict.passes) is not None]
                state = [result.state for result in some if result.state is not None]
                cells = (
                    len(some),
                    _share([result.official.passes for result in some]),
                    _share(strict),
                    len(strict),
                    _share(state),
                    len(state),
                )
                engine = _engine(family)
                labels = (engine, predictor, name) if by else (engine, predictor)
                yield row(labels, cells, name, dialect=engine, predictor=predictor, by=by)


def _predictors(judged: Mapping[str, Sequence[TaskResult]]) -> list[str]:
    return list(dict.fromkeys(result.predictor for some in judged.values() for result in some))


def _work_table(judged: Mapping[str, Sequence[TaskResult]]) -> TableModel:
    """Return what counted work says of answers to tasks of efficiency, beside the verdicts."""
    heads = columns(
        "work",
        ("counted", "counted", CellKind.COUNT),
        ("official", "official"),
        ("strict", "strict"),
        ("less work", "less_work"),
        ("median", "median", CellKind.MEAN),
    )
    rows = []
    for predictor in _predictors(judged):
        for family, results in judged.items():
            some = [each for each in results if each.predictor == predictor and each.work is not None]
            if not some:
                continue
            works = [each.work for each in some if each.work is not None]
            cells = (
                len(some),
                _share([each.official.passes for each in some]),
                _share([decided for each in some if (decided := each.strict.passes) is not None]),
                _share([work > 1 for work in works]),
                median(works),
            )
            rows.append(
                row((_engine(family), predictor), cells, dialect=_engine(family), predictor=predictor)
            )
    labels = ("engine", "predictor")
    return table("Tasks of efficiency, by counted work", labels, with_intervals(heads), rows, _WORK_NOTE)


_WORK_NOTE = (
    "Of answers that run and whose work the engine counts. Official and strict compare costs by the plan."
    " Less work: than the issue's statements; median: the issue's work divided by the answer's."
)


def _engines_table(judged: Mapping[str, Sequence[TaskResult]]) -> TableModel:
    """Return how many tasks each predictor passes on which engines, by the two verdicts that judge all."""
    engines = [_engine(family) for family in judged]
    tasks = set.intersection(*({result.task for result in some} for some in judged.values()))
    heads = columns(
        "engines",
        ("everywhere", "everywhere", CellKind.COUNT),
        *((f"{engine} alone", f"only_{engine}", CellKind.COUNT) for engine in engines),
        *([("on some", "some", CellKind.COUNT)] if len(engines) > 2 else []),  # noqa: PLR2004 - neither one nor all
        ("nowhere", "nowhere", CellKind.COUNT),
    )
    rows, notes = [], []
    reasons: list[str] = []
    for predictor in _predictors(judged):
        for verdict, passes in _VERDICTS.items():
            reasons += _reasons(judged, predictor, verdict, tasks)
            passed = [
                {result.task for result in some if result.predictor == predictor and passes(result)}
                for some in judged.values()
            ]
            where = {task: [task in some for some in passed] for task in sorted(tasks)}
            alone = [
                [task for task, found in where.items() if found[place] and sum(found) == 1]
                for place in range(len(engines))
            ]
            everywhere = sum(map(all, where.values()))
            nowhere = sum(not any(found) for found in where.values())
            counts = [everywhere, *map(len, alone)]
            rest = len(tasks) - sum(counts) - nowhere
            cells = (*counts, *([rest] if len(engines) > 2 else []), nowhere)  # noqa: PLR2004
            rows.append(row((predictor, verdict), cells, verdict, predictor=predictor, by="engines"))
            notes += [
                f"{predictor}, {verdict}, {engine} alone: {listed(some)}"
                for engine, some in zip(engines, alone, strict=True)
                if some
            ]
    left = len(reasons) - _MOST_REASONS
    more = [f"and {left:,} more: see verdicts.jsonl"] if left > 0 else []
    return table(
        "Who passes where", ("predictor", "verdict"), heads, rows, *notes, *reasons[:_MOST_REASONS], *more
    )


_MOST_REASONS = 20
"""Reasons that are shown below the table."""


def _reasons(
    judged: Mapping[str, Sequence[TaskResult]], predictor: str, verdict: str, tasks: AbstractSet[str]
) -> Iterator[str]:
    """Yield what a verdict says of tasks that pass on some engines, on each of those where they fail."""
    found: dict[str, list[tuple[str, TaskResult]]] = {}
    for family, results in judged.items():
        for result in results:
            if result.predictor == predictor and result.task in tasks:
                found.setdefault(result.task, []).append((family, result))
    passes = _VERDICTS[verdict]
    for task, each in found.items():
        failed = [(family, result) for family, result in each if not passes(result)]
        if len(failed) == len(each):
            continue
        for family, result in failed:
            one = result.official if verdict == "official" else result.strict
            said = brief(" ".join((one.message or one.status).split()), _MOST_LETTERS)
            yield f"{predictor}, {verdict}, {task} fails on {_engine(family)}: {said}"


_MOST_LETTERS = 160


_VERDICTS: Mapping[str, Callable[[TaskResult], bool]] = {
    "official": lambda result: result.official.passes,
    "strict": lambda result: result.strict.passes is True,
}


def _share(verdicts: Sequence[bool]) -> Cell | None:
    """Return a percentage with its interval; None without verdicts."""
    return replace(share_cell(sum(verdicts), len(verdicts)), questions=None) if verdicts else None


def _gold_table(judged: Mapping[str, Sequence[TaskResult]]) -> TableModel:
    """Return how many golds pass as answers, and name those that do not."""
    heads = columns(
        "verdict", ("tasks", "tasks", CellKind.COUNT), ("gold fails", "gold_fails", CellKind.COUNT)
    )
    rows, notes = [], []
    for family, results in judged.items():
        golds, engine = [result for result in results if result.predictor == GOLD], _engine(family)
        for name, failing in (
            ("official", [result.task for result in golds if not result.official.passes]),
            ("strict", [result.task for result in golds if result.strict.passes is False]),
            ("state", [result.task for result in golds if result.state is False]),
        ):
            rows.append(row((engine, name), (len(golds), len(failing)), name, dialect=engine))
            notes += [f"{engine}, {name}: {listed(failing)}"] if failing else []
    return table("Golds as answers: what nobody can pass", ("engine", "verdict"), heads, rows, *notes)


FIRST_REWARD, FOLLOW_UP_REWARD = 0.7, 0.3
"""The parts of BIRD-Interact's normalised reward, without debugging."""


def reward_table(first: Mapping[str, Mapping[str, bool]], follow_ups: Sequence[TaskResult]) -> TableModel:
    """Return the mean reward of each predictor over the tasks of the first phase.

    A follow-up is asked only after a first phase that passed, so that it counts only there.

    Args:
        first: by predictor and task, whether the first phase passed officially.
        follow_ups: results of the second phase.
    """
    heads = columns(
        "reward",
        ("tasks", "tasks", CellKind.COUNT),
        ("first passed", "first", CellKind.COUNT),
        ("both passed", "both", CellKind.COUNT),
        ("reward", "reward"),
    )
    rows = []
    for predictor, tasks in first.items():
        passed = {task for task, passes in tasks.items() if passes}
        both = {
            one.task
            for one in follow_ups
            if one.predictor == predictor and one.task in passed and one.official.passes
        }
        reward = 100 * (FIRST_REWARD * len(passed) + FOLLOW_UP_REWARD * len(both)) / len(tasks)
        rows.append(row((predictor,), (len(tasks), len(passed), len(both), reward), predictor=predictor))
    note = f"Official: {FIRST_REWARD} for the first phase, {FOLLOW_UP_REWARD} for a follow-up after it."
    return table("Normalised reward (%)", ("predictor",), heads, rows, note)

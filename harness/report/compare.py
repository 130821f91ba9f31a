"""Two runs, predictors or engines compared: what one has right and the other not, and what chance could do.

Only questions that both answered are compared, in a fixed order, so that the same results give the same
figures, and swapping the sides changes nothing but signs. On a terminal a comparison is a row per metric,
then the questions that flipped.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from rich.console import Console
from rich.table import Table

from dialects.errors import BadInput
from harness.data.outcomes import Outcome, PairResult
from harness.data.published import notes_of
from harness.engines import TITLES, EngineName
from harness.metrics import METRICS, OUTCOME_METRIC
from harness.metrics.statistics import SIGNIFICANT, Interval, McNemar, mcnemar, paired_difference
from harness.report.console import figure, new_table, print_line, print_table, wide
from harness.runs.reading import (
    Selection,
    counterparts,
    described,
    key_of,
    read_previews,
    read_questions,
    select,
)
from harness.runs.summary import TOTAL, Whose, by_level
from loaders.base.records import to_plain


@dataclass(frozen=True)
class Change:
    """One metric of two sides: means and differences (B minus A) in percent, by level."""

    metric: str
    a: Mapping[str, float | None]
    b: Mapping[str, float | None]
    interval: Interval | None
    """95 %, of the difference of the totals; None where every question changed alike."""
    mcnemar: McNemar | None
    """For metrics that score 0 or 1; first is A."""
    p: float
    """McNemar's where there is one, else the paired bootstrap's."""

    @property
    def differences(self) -> Mapping[str, float | None]:
        """B minus A, by level."""
        return {level: _minus(self.b[level], self.a[level]) for level in self.a}

    @property
    def total(self) -> float:
        """B minus A, over all questions."""
        return self.differences[TOTAL] or 0.0

    @property
    def is_proven(self) -> bool:
        """Whether chance alone would do as much in fewer than 5 of 100 comparisons."""
        return self.p < SIGNIFICANT

    def to_json(self) -> dict[str, Any]:
        """One entry of `metrics` of a comparison."""
        test = self.mcnemar and {"only_a": self.mcnemar.only_first, "only_b": self.mcnemar.only_second}
        return {
            "a": self.a,
            "b": self.b,
            "difference": self.differences,
            "interval": self.interval and list(self.interval),
            "mcnemar": test,
            "p": self.p,
        }


@dataclass(frozen=True)
class Flip:
    """A question that one side has right and the other wrong, by at least one metric that scores 0 or 1."""

    question: str
    db_id: str
    difficulty: str
    a: Outcome
    b: Outcome
    lost: tuple[str, ...]
    """The metrics by which A is right and B wrong."""
    won: tuple[str, ...]
    """The metrics by which B is right and A wrong."""


@dataclass(frozen=True)
class Differences:
    """Everything in which two sides differ on the questions that both have."""

    questions: int
    only_a: int
    only_b: int
    """Questions that the other side does not have."""
    outcomes_a: Mapping[Outcome, int]
    outcomes_b: Mapping[Outcome, int]
    changes: Sequence[Change]
    flips: Sequence[Flip]

    def to_json(self) -> dict[str, Any]:
        """The figures of one entry of `comparisons`."""
        return {
            "questions": self.questions,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "outcomes": {
                side: {outcome: counts.get(outcome, 0) for outcome in Outcome}
                for side, counts in (("a", self.outcomes_a), ("b", self.outcomes_b))
            },
            "metrics": {change.metric: change.to_json() for change in self.changes},
            "flips": to_plain(self.flips),
        }


def common_metrics(a: Sequence[PairResult], b: Sequence[PairResult]) -> list[str]:
    """The metrics by which every result of both sides has a score, in the order of the tables."""
    results = (*a, *b)
    return [name for name in METRICS if all(name in result.scores for result in results)]


def differences(
    a: Sequence[PairResult], b: Sequence[PairResult], metrics: Sequence[str]
) -> Differences | None:
    """What differs between two predictors' results, or one's on two engines; None without a common question.

    Args:
        a: results of one predictor on one engine, each question once.
        b: the same, for the other side.
        metrics: some of `common_metrics`.
    """
    of_a = {result.question: result for result in a}
    of_b = {result.question: result for result in b}
    common = sorted(of_a.keys() & of_b.keys())
    if not common:
        return None
    left, right = [of_a[key] for key in common], [of_b[key] for key in common]
    shares = [name for name in metrics if METRICS[name].is_share] or [OUTCOME_METRIC]
    flips = [_flipped(of_a[key], of_b[key], shares) for key in of_a if key in of_b]
    return Differences(
        questions=len(common),
        only_a=len(of_a) - len(common),
        only_b=len(of_b) - len(common),
        outcomes_a=Counter(result.outcome for result in left),
        outcomes_b=Counter(result.outcome for result in right),
        changes=[_change(left, right, name) for name in metrics],
        flips=[flip for flip in flips if flip.lost or flip.won],
    )


def _change(a: Sequence[PairResult], b: Sequence[PairResult], metric: str) -> Change:
    of_a, of_b = ([result.scores[metric] for result in side] for side in (a, b))
    paired = paired_difference(of_a, of_b)
    test = None
    if METRICS[metric].is_share:
        test = mcnemar(
            [_is_right(result, metric) for result in a], [_is_right(result, metric) for result in b]
        )
    return Change(
        metric,
        by_level(a, metric),
        by_level(b, metric),
        paired.interval and (100 * paired.interval[0], 100 * paired.interval[1]),
        test,
        test.p if test else paired.p,
    )


def _flipped(a: PairResult, b: PairResult, metrics: Sequence[str]) -> Flip:
    rights = [(name, _is_right(a, name), _is_right(b, name)) for name in metrics]
    return Flip(
        a.question,
        a.db_id,
        a.difficulty,
        a.outcome,
        b.outcome,
        lost=tuple(name for name, of_a, of_b in rights if of_a and not of_b),
        won=tuple(name for name, of_a, of_b in rights if of_b and not of_a),
    )


def _is_right(result: PairResult, metric: str) -> bool:
    """Whether a score of 0 or 1 is 1; by EX, the outcome says it even where EX was not asked for."""
    return result.outcome is Outcome.MATCH if metric == OUTCOME_METRIC else result.scores[metric] == 1.0


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _heads(letter: str) -> tuple[str, ...]:
    return ("A", letter, f"{letter}\N{MINUS SIGN}A", "95 %", "p", "only A\nright", f"only {letter}\nright")


@dataclass(frozen=True)
class RunSide:
    """One predictor on one engine in one run."""

    folder: str
    run_id: str
    predictor: str
    dialect: EngineName

    def __str__(self) -> str:
        return f"{self.predictor} on {TITLES[self.dialect]}"


@dataclass(frozen=True)
class SideComparison:
    """Two sides and what differs; `letter` is what B is called where several are compared with A."""

    a: RunSide
    b: RunSide
    differences: Differences
    letter: str = "B"

    @property
    def name(self) -> str:
        """What is compared, in a line."""
        return str(self.b) if str(self.a) == str(self.b) else f"{self.a} and {self.b}"

    def to_json(self) -> dict[str, Any]:
        """One entry of `comparisons`."""
        return {"a": to_plain(self.a), "b": to_plain(self.b), **self.differences.to_json()}


def print_comparisons(
    comparisons: Sequence[SideComparison],
    notes: Sequence[str],
    *,
    flips: int | None = None,
    console: Console | None = None,
) -> None:
    """Print the notes, then each comparison.

    Args:
        comparisons: in the order of the output.
        notes: what a reader has to know beforehand, a line each.
        flips: how many questions to list for each direction; None for all.
        console: where to print.
    """
    console = wide(console)
    for note in notes:
        print_line(console, f"note: {note}")
    for comparison in comparisons:
        for line in _head(comparison):
            print_line(console, line)
        print_table(console, _table(comparison.differences.changes, comparison.letter))
        for line in _flips(comparison.differences.flips, flips, comparison.letter):
            print_line(console, line)
    tests = sum(len(comparison.differences.changes) for comparison in comparisons)
    if tests > 1:
        print_line(
            console, f"{tests} tests: where nothing differs, 1 in 20 has p below 0.05 by chance alone."
        )


def _head(comparison: SideComparison) -> Iterator[str]:
    sides = ("A", comparison.a), (comparison.letter, comparison.b)
    yield ""
    for letter, side in sides:
        yield f"{letter}: {side}, {side.folder} ({side.run_id})"
    found = comparison.differences
    only = {"A": found.only_a, comparison.letter: found.only_b}
    without = "".join(f"; {count} more only in {letter}" for letter, count in only.items() if count)
    yield f"{found.questions} questions in both{without}"
    counts = (
        f"{outcome} {found.outcomes_a.get(outcome, 0)} -> {found.outcomes_b.get(outcome, 0)}"
        for outcome in Outcome
        if outcome in found.outcomes_a or outcome in found.outcomes_b
    )
    yield f"outcomes: {', '.join(counts)}"


def _table(changes: Sequence[Change], letter: str) -> Table:
    heads = _heads(letter)
    table = new_table("")
    table.add_column("%", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for level in dict.fromkeys(level for change in changes for level in levels(change)):
        table.add_column(f"{heads[2]}\n{level}", justify="right", no_wrap=True, style="dim")
    for change in changes:
        test, shown = change.mcnemar, printed(change)
        table.add_row(
            METRICS[change.metric].title,
            *(shown[name] for name in ("a", "b", "total", "interval", "p")),
            *((str(test.only_first), str(test.only_second)) if test else ("", "")),
            *shown["levels"].values(),
            style="bold" if change.is_proven else "",
        )
    return table


def levels(change: Change) -> list[str]:
    """The levels of difficulty that a change has figures of."""
    return [level for level in change.differences if level != TOTAL]


def printed(change: Change) -> dict[str, Any]:
    """The figures of one metric as they are read, on a terminal and in a page: rounded once."""
    return {
        "a": figure(change.a[TOTAL]),
        "b": figure(change.b[TOTAL]),
        "total": _signed(change.total),
        "interval": f"{change.interval[0]:+.1f} to {change.interval[1]:+.1f}" if change.interval else "-",
        "p": _probability(change.p),
        "levels": {level: _signed(change.differences[level]) for level in levels(change)},
    }


def _flips(flips: Sequence[Flip], most: int | None, letter: str) -> Iterator[str]:
    lost = [(flip, flip.lost) for flip in flips if flip.lost]
    won = [(flip, flip.won) for flip in flips if flip.won]
    for head, listed in (
        (f"right in A, wrong in {letter}", lost),
        (f"wrong in A, right in {letter}", won),
    ):
        yield f"{head}: {len(listed) or 'none'}"
        for flip, metrics in listed[:most]:
            titles = ", ".join(METRICS[name].title for name in metrics)
            where = f"{flip.question} ({flip.db_id}, {flip.difficulty})"
            yield f"  {where}: {flip.a} -> {flip.b}; {titles}"
        if most is not None and len(listed) > most:
            yield f"  and {len(listed) - most} more: leave out --flips, or see --json"


def _signed(percent: float | None) -> str:
    if percent is None:
        return "-"
    text = f"{percent:+.2f}"
    return "0.00" if float(text) == 0 else text


def _probability(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"  # noqa: PLR2004 - the last digit that is shown


# From what a user asks of `compare` to figures and an exit code.

SCHEMA_VERSION = 1
"""Version of what `--json` writes; docs/statistics.md describes it."""

_ROUNDING = 1e-9
"""A difference in percent this small is one of sums of floats."""


@dataclass(frozen=True)
class CompareRequest:
    """What to compare, and when that is a failure: `b` and each of `more` with `a`.

    `metrics` empty means all that both sides have. `fail_under` maps a metric to the least percent that B's
    total over the compared questions may have. `no_regression` fails where a compared metric's total of B is
    below A's; with `significant` only where chance alone would seldom do it. `flips` None lists every
    question. `html` is a page with both sides of every question that flipped.
    """

    a: str
    b: str
    metrics: Sequence[str] = ()
    fail_under: Mapping[str, float] = field(default_factory=dict)
    no_regression: bool = False
    significant: bool = False
    flips: int | None = None
    html: Path | None = None
    more: Sequence[str] = ()

    @property
    def others(self) -> Mapping[str, str]:
        """What is compared with A, by letter.

        Raises:
            BadInput: there are more of them than letters.
        """
        texts = (self.b, *self.more)
        if len(texts) >= len(ascii_uppercase):
            raise BadInput(
                f"compare: {len(texts)} sides beside A; compare at most {len(ascii_uppercase) - 1}"
            )
        return dict(zip(ascii_uppercase[1:], texts, strict=False))


def parse_thresholds(texts: Sequence[str]) -> dict[str, float]:
    """`METRIC=PERCENT` each.

    Raises:
        BadInput: one is not that.
    """
    thresholds: dict[str, float] = {}
    for text in texts:
        name, _, percent = text.partition("=")
        try:
            thresholds[name] = float(percent)
        except ValueError:
            thresholds[name] = float("nan")
        if not isfinite(thresholds[name]):
            raise BadInput(f"--fail-under {text}: has to be METRIC=PERCENT, for instance ex=50")
    return thresholds


def compare(
    request: CompareRequest, say: Callable[[str], None], give: Callable[[Any], None] | None = None
) -> int:
    """Compare, print, write; the result is the exit code: 1 where a threshold failed, which `say` is told.

    Args:
        request: what to compare.
        say: takes one line at a time.
        give: takes everything as plain values, in place of what is printed.

    Raises:
        BadInput: an option or a run is wrong, or the two have nothing in common.
    """
    _check(request)
    a = select(request.a)
    others = {letter: select(text) for letter, text in request.others.items()}
    everything: list[SideComparison] = []
    notes = list(_about_databases({"A": a, **others}))
    for letter, b in others.items():
        found, said = _against(request, a, b, letter)
        everything += found
        notes += [line for line in said if line not in notes]
    _check_metrics(request, everything)
    notes += [f"no metric to compare {one.name} by" for one in everything if not one.differences.changes]
    comparisons = [one for one in everything if one.differences.changes]
    failures = list(_failures(request, comparisons))
    if give is not None:
        give(_plain(comparisons, notes, failures))
    else:
        print_comparisons(comparisons, notes, flips=request.flips)
    if request.html is not None:
        _write_page(request.html, comparisons, {"A": a, **others}, notes, failures)
    if failures:
        say(f"exit code 1: {'; '.join(failures)}")
    return 1 if failures else 0


def _against(
    request: CompareRequest, a: Selection, b: Selection, letter: str
) -> tuple[list[SideComparison], list[str]]:
    """A and one of the others: what differs, and what has to be known beforehand."""
    if sets := _different_sets(a.run.manifest, b.run.manifest):
        raise _refusal(a, b, f"are runs of different question sets ({sets}); compare runs of the same one")
    paired, alone_in_a, alone_in_b = counterparts(a, b)
    if not paired:
        fault = f"have no predictor and engine in common: {described(alone_in_a)} and {described(alone_in_b)}"
        raise _refusal(a, b, f"{fault}; choose one of each with FOLDER:DIALECT/PREDICTOR")
    alone = {"A": alone_in_a, letter: alone_in_b}
    notes = [f"only in {side}, so not compared: {described(keys)}" for side, keys in alone.items() if keys]
    notes += _unlike(a, b, paired, letter)
    return list(_compared_pairs(request, a, b, paired, letter)), notes


def _about_databases(sides: Mapping[str, Selection]) -> Iterator[str]:
    """What has to be known of the sides' databases; what is said of many sides is said once."""
    letters: dict[str, list[str]] = {}
    for letter, side in sides.items():
        for line in notes_of(side.run.manifest):
            letters.setdefault(line, []).append(letter)
    for line, of in letters.items():
        named = [", ".join(of)] if len(sides) > 2 else of  # noqa: PLR2004 - A and B alone have a line each
        yield from (f"{name}: {line}" for name in named)


def _different_sets(a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    """The sets of two runs where they are not the same; empty where they are.

    Sets of one's own may share a name: the name of the collection has a digest of what is asked. Earlier runs
    do not say it.
    """
    if a.get("set") != b.get("set"):
        return f"{a.get('set')} and {b.get('set')}"
    found = a.get("collection"), b.get("collection")
    if None in found or found[0] == found[1]:
        return ""
    return f"both are called {a.get('set')}, and ask other questions: {found[0]} and {found[1]}"


def _check(request: CompareRequest) -> None:
    named = {"--metrics": request.metrics, "--fail-under": request.fail_under}
    for option, names in named.items():
        for name in names:
            if name not in METRICS or not METRICS[name].has_score:
                known = ", ".join(known for known, metric in METRICS.items() if metric.has_score)
                raise BadInput(f"{option} {name}: not a metric that can be compared; choose from {known}")
    if request.significant and not request.no_regression:
        raise BadInput("--significant: says which regressions count; add --no-regression")


def _check_metrics(request: CompareRequest, comparisons: Sequence[SideComparison]) -> None:
    compared = {change.metric for one in comparisons for change in one.differences.changes}
    lacking = [name for name in (*request.metrics, *request.fail_under) if name not in compared]
    if lacking or not compared:
        names = ",".join(dict.fromkeys(lacking)) or "metric"
        fault = f"they have no {names} in common; score both with the same --metrics"
        raise BadInput(f"compare {' '.join((request.a, *request.others.values()))}: {fault}")


def _compared_pairs(
    request: CompareRequest, a: Selection, b: Selection, paired: Sequence[tuple[Whose, Whose]], letter: str
) -> Iterator[SideComparison]:
    for key_a, key_b in paired:
        results_a, results_b = a.results[key_a], b.results[key_b]
        metrics = common_metrics(results_a, results_b)
        if request.metrics:
            metrics = [name for name in metrics if name in {*request.metrics, *request.fail_under}]
        found = differences(results_a, results_b, metrics)
        if found is None:
            fault = f"{described([key_a])} and {described([key_b])} have no question in common"
            raise _refusal(a, b, f"{fault}; compare runs of the same questions")
        yield SideComparison(_side(a, key_a), _side(b, key_b), found, letter)


def _side(selection: Selection, key: Whose) -> RunSide:
    return RunSide(str(selection.run.folder), str(selection.run.manifest.get("run_id")), *key)


_RECORDED = ("questions", "profile", "limits", "metrics", "variants", "extract", "allow_missing")


def _unlike(
    a: Selection, b: Selection, paired: Sequence[tuple[Whose, Whose]], letter_of_b: str
) -> Iterator[str]:
    """A line for whatever else the two runs do not share, which may be why they differ."""
    for letter, side in (("A", a), (letter_of_b, b)):
        found = Counter((result.predictor, result.dialect) for result in side.run.results)
        yield from (f"{letter}: {line}" for line in side.run.extent.lines(found, TITLES))
    one, other = a.run.manifest, b.run.manifest
    for name in _RECORDED:
        if one.get(name) != other.get(name):
            yield f"{name}: {_shown(one.get(name))} in A, {_shown(other.get(name))} in {letter_of_b}"
    files_a, files_b = one.get("set_files") or {}, other.get("set_files") or {}
    changed = [name for name in {**files_a, **files_b} if files_a.get(name) != files_b.get(name)]
    if changed:
        yield f"files of the question set differ: {', '.join(changed)}"
    for dialect in dict.fromkeys(key_a[1] for key_a, key_b in paired if key_a[1] == key_b[1]):
        engines = [(run.get("engines") or {}).get(dialect) or {} for run in (one, other)]
        for part in ("version", "settings"):
            parts = [engine.get(part) for engine in engines]
            if parts[0] != parts[1]:
                yield f"{dialect}'s {part}: {_shown(parts[0])} in A, {_shown(parts[1])} in {letter_of_b}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _failures(request: CompareRequest, comparisons: Sequence[SideComparison]) -> Iterator[str]:
    for comparison in comparisons:
        for change in comparison.differences.changes:
            title, total = METRICS[change.metric].title, change.b[TOTAL] or 0.0
            least = request.fail_under.get(change.metric)
            if least is not None and total < least - _ROUNDING:
                yield f"{title} of {comparison.b} is {total:.2f}, below {least:g} (--fail-under)"
            if request.no_regression and _is_regression(request, change):
                yield (
                    f"{title} of {comparison.name} fell from {change.a[TOTAL]:.2f} to {total:.2f},"
                    f" p {change.p:.3g} (--no-regression)"
                )


def _is_regression(request: CompareRequest, change: Change) -> bool:
    return change.total < -_ROUNDING and (change.is_proven or not request.significant)


def _plain(
    comparisons: Sequence[SideComparison], notes: Sequence[str], failures: Sequence[str]
) -> dict[str, Any]:
    """Everything as plain values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "notes": notes,
        "comparisons": [comparison.to_json() for comparison in comparisons],
        "failures": failures,
    }


def _write_page(
    path: Path,
    comparisons: Sequence[SideComparison],
    sides: Mapping[str, Selection],
    notes: Sequence[str],
    failures: Sequence[str],
) -> None:
    # Few comparisons are wanted as a page.
    from harness.report.html import Material, write_comparison_html  # noqa: PLC0415

    materials = {
        letter: Material(
            {key_of(result): result for result in side.run.results},
            read_questions(side.run.folder),
            read_previews(side.run.folder),
        )
        for letter, side in sides.items()
    }
    manifests = {f"{letter}: {side.text}": side.run.manifest for letter, side in sides.items()}
    write_comparison_html(comparisons, materials, path, notes=notes, failures=failures, manifests=manifests)


def _refusal(a: Selection, b: Selection, fault: str) -> BadInput:
    return BadInput(f"compare {a.text} {b.text}: they {fault}")

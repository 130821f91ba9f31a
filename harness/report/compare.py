"""Compare two runs, predictors or engines: figures and an exit code for `bird-harness compare`."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from dialects.errors import BadInput
from harness.data.outcomes import PairResult
from harness.engines import TITLES, EngineName
from harness.metrics import METRICS
from harness.report.comparison import (
    Change,
    Differences,
    RunSide,
    SideComparison,
    common_metrics,
    differences,
    group_grids,
    print_comparisons,
    tests_note,
)
from harness.report.table_model import Document
from harness.runs.reader import (
    Run,
    Selection,
    counterparts,
    described,
    key_of,
    notes_of,
    read_labels,
    read_previews,
    read_questions,
    select,
)
from harness.runs.summary import TOTAL, By, Whose, groups_of
from loaders.base.files import as_json

SCHEMA_VERSION = 1
"""Version of the output of `--json`, documented in docs/how-to/compare.md."""

_ROUNDING = 1e-9
"""Differences in percent up to this size are rounding errors of floats."""


@dataclass(frozen=True)
class CompareRequest:
    """The request of a comparison, of `b` and each of `more` with `a`, and when it fails.

    `metrics` empty means all that both sides have. `fail_under` maps a metric to the minimum percentage of
    B's total over the compared questions. `no_regression` fails if B's total of a compared metric is below
    A's; with `significant` only if the difference is significant. `flips` None lists every question. `html`
    is the path of a page with both sides of every question that flipped. `by` compares groups of
    questions, too.
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
    by: By | None = None

    @property
    def others(self) -> Mapping[str, str]:
        """The sides that are compared with A, by letter.

        Raises:
            BadInput: there are more of them than letters.
        """
        texts = (self.b, *self.more)
        if len(texts) >= len(ascii_uppercase):
            raise BadInput(
                f"compare: {len(texts)} sides besides A; compare at most {len(ascii_uppercase) - 1}"
            )
        return dict(zip(ascii_uppercase[1:], texts, strict=False))


def parse_thresholds(texts: Sequence[str]) -> dict[str, float]:
    """Parse `METRIC=PERCENT` each.

    Raises:
        BadInput: one is malformed.
    """
    thresholds: dict[str, float] = {}
    for text in texts:
        name, _, percent = text.partition("=")
        try:
            thresholds[name] = float(percent)
        except ValueError:
            thresholds[name] = float("nan")
        if not isfinite(thresholds[name]):
            raise BadInput(f"--fail-under {text}: must be METRIC=PERCENT, for instance ex=50")
    return thresholds


def compare(
    request: CompareRequest,
    say: Callable[[str], None],
    give: Callable[[Any], None] | None = None,
    show: Callable[[Document], None] | None = None,
) -> int:
    """Compare, print and write; return the exit code: 1 if a threshold failed, with a line to `say`.

    Args:
        request: what to compare.
        say: called with one line at a time.
        give: called with all results as plain values, instead of printing.
        show: called with the tables of groups, instead of printing; `by` is set then.

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
    elif show is not None and request.by is not None:
        show(groups_document(comparisons, request.by, notes))
    else:
        print_comparisons(comparisons, notes, by=request.by, flips=request.flips)
    if request.html is not None:
        _write_page(request, request.html, comparisons, {"A": a, **others}, notes, failures)
    if failures:
        say(f"exit code 1: {'; '.join(failures)}")
    return 1 if failures else 0


def groups_document(comparisons: Sequence[SideComparison], by: By, notes: Sequence[str]) -> Document:
    """Return the tables of groups of questions; the notes are its facts."""
    runs = dict.fromkeys(side.run_id for one in comparisons for side in (one.a, one.b))
    grids = tuple(grid for one in comparisons for grid in group_grids(one, by))
    return Document(" and ".join(runs), (*notes, *tests_note(comparisons)), grids)


def _against(
    request: CompareRequest, a: Selection, b: Selection, letter: str
) -> tuple[list[SideComparison], list[str]]:
    """Compare A with one other side; return the differences, and the notes to read first."""
    if sets := _different_sets(a.run.manifest, b.run.manifest):
        raise _refusal(a, b, f"are runs of different question sets ({sets}); compare runs of the same one")
    paired, alone_in_a, alone_in_b = counterparts(a, b)
    if not paired:
        fault = f"have no predictor and engine in common: {described(alone_in_a)} and {described(alone_in_b)}"
        raise _refusal(a, b, f"{fault}; choose one of each with FOLDER:DIALECT/PREDICTOR")
    alone = {"A": alone_in_a, letter: alone_in_b}
    notes = [f"only in {side}, so not compared: {described(keys)}" for side, keys in alone.items() if keys]
    notes += _unlike(a, b, paired, letter)
    return list(_compared(request, a, b, paired, letter)), notes


def _about_databases(sides: Mapping[str, Selection]) -> Iterator[str]:
    """Yield notes about the sides' databases; a note about several sides appears once."""
    letters: dict[str, list[str]] = {}
    for letter, side in sides.items():
        for line in notes_of(side.run.manifest):
            letters.setdefault(line, []).append(letter)
    for line, of in letters.items():
        named = [", ".join(of)] if len(sides) > 2 else of  # noqa: PLR2004 - A and B alone have a line each
        yield from (f"{name}: {line}" for name in named)


def _different_sets(a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    """Describe the sets of two runs if they differ; empty if they are the same.

    A user's own sets may share a name: the name of the collection has a digest of the questions. Earlier
    runs lack it.
    """
    if a.get("set") != b.get("set"):
        return f"{a.get('set')} and {b.get('set')}"
    found = a.get("collection"), b.get("collection")
    if None in found or found[0] == found[1]:
        return ""
    return f"both are called {a.get('set')}, but have different questions: {found[0]} and {found[1]}"


def _check(request: CompareRequest) -> None:
    named = {"--metrics": request.metrics, "--fail-under": request.fail_under}
    for option, names in named.items():
        for name in names:
            if name not in METRICS or not METRICS[name].has_score:
                known = ", ".join(known for known, metric in METRICS.items() if metric.has_score)
                raise BadInput(f"{option} {name}: not a metric that can be compared; choose from {known}")
    if request.by is not None and request.by.is_of_pairs:
        raise BadInput(f"--by {request.by}: differs between the sides; choose groups of questions: type, ...")
    if request.significant and not request.no_regression:
        raise BadInput("--significant: has no effect alone; add --no-regression")


def _check_metrics(request: CompareRequest, comparisons: Sequence[SideComparison]) -> None:
    compared = {change.metric for one in comparisons for change in one.differences.changes}
    lacking = [name for name in (*request.metrics, *request.fail_under) if name not in compared]
    if lacking or not compared:
        names = ",".join(dict.fromkeys(lacking)) or "metric"
        fault = f"they have no {names} in common; score both with the same --metrics"
        raise BadInput(f"compare {' '.join((request.a, *request.others.values()))}: {fault}")


def _compared(
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
        groups = _groups(a.run, request.by, results_a, results_b, metrics)
        yield SideComparison(_side(a, key_a), _side(b, key_b), found, letter, groups)


def _groups(
    run: Run, by: By | None, a: Sequence[PairResult], b: Sequence[PairResult], metrics: Sequence[str]
) -> dict[str, Differences]:
    """Return the differences between two sides by group of questions, with the groups of A's run."""
    if by is None:
        return {}
    labels = read_labels(run.folder, by)
    groups = {result.question: groups_of(result, by, labels) for result in a}
    found = {}
    for group in by.order(group for each in groups.values() for group in each):
        of_a, of_b = ([one for one in side if group in groups.get(one.question, ())] for side in (a, b))
        if (differing := differences(of_a, of_b, metrics)) is not None:
            found[group] = differing
    return found


def _side(selection: Selection, key: Whose) -> RunSide:
    return RunSide(str(selection.run.folder), str(selection.run.manifest.get("run_id")), *key)


_RECORDED = ("questions", "profile", "now", "limits", "metrics", "variants", "extract", "allow_missing")


def unlike_settings(
    runs: Mapping[str, Mapping[str, Any]], names: Sequence[str], dialects: Iterable[EngineName]
) -> Iterator[str]:
    """Yield a line for each setting, engine version and engine setting in which two runs differ.

    Args:
        runs: the manifests of the two by what to call them.
        names: the settings.
        dialects: the engines that both ran on.
    """
    values: dict[str, list[Any]] = {name: [run.get(name) for run in runs.values()] for name in names}
    for dialect in dialects:
        engines = [(run.get("engines") or {}).get(dialect) or {} for run in runs.values()]
        for part in ("version", "settings"):
            values[f"{dialect}'s {part}"] = [engine.get(part) for engine in engines]
    for name, (of_one, of_other) in values.items():
        if of_one != of_other:
            where = (f"{_shown(value)} in {run}" for value, run in zip((of_one, of_other), runs, strict=True))
            yield f"{name}: {', '.join(where)}"


def _unlike(
    a: Selection, b: Selection, paired: Sequence[tuple[Whose, Whose]], letter_of_b: str
) -> Iterator[str]:
    """Yield a line for every other difference between two runs, as possible causes."""
    for letter, side in (("A", a), (letter_of_b, b)):
        found = Counter((result.predictor, result.dialect) for result in side.run.results)
        yield from (f"{letter}: {line}" for line in side.run.extent.lines(found, TITLES))
    one, other = a.run.manifest, b.run.manifest
    dialects = dict.fromkeys(key_a[1] for key_a, key_b in paired if key_a[1] == key_b[1])
    yield from unlike_settings({"A": one, letter_of_b: other}, _RECORDED, dialects)
    files_a, files_b = one.get("set_files") or {}, other.get("set_files") or {}
    changed = [name for name in {**files_a, **files_b} if files_a.get(name) != files_b.get(name)]
    if changed:
        yield f"files of the question set differ: {', '.join(changed)}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)


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


def _write_page(  # noqa: PLR0913, PLR0917 - the parts of a comparison
    request: CompareRequest,
    path: Path,
    comparisons: Sequence[SideComparison],
    sides: Mapping[str, Selection],
    notes: Sequence[str],
    failures: Sequence[str],
) -> None:
    # Import only if a page is requested.
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
    write_comparison_html(
        comparisons, materials, path, notes=notes, failures=failures, manifests=manifests, by=request.by
    )


def _refusal(a: Selection, b: Selection, fault: str) -> BadInput:
    return BadInput(f"compare {a.text} {b.text}: they {fault}")

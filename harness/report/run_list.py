"""List the runs in a folder, with their states and best scores, and describe the result cache.

A damaged folder gets a row, too.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from dialects.errors import BadInput
from harness.data.outcomes import Outcome
from harness.engines import TITLES, kind_of
from harness.metrics import OUTCOME_METRIC
from harness.report.console import new_table, plain, print_table, wide
from harness.report.table_model import CellKind, spelled
from harness.runs.reader import (
    MANIFEST,
    QUESTIONS,
    RESULTS,
    SUMMARY,
    read_manifest,
)
from harness.runs.summary import SCHEMA_VERSION, TOTAL, Extent, Whose, how_far
from loaders.base.files import read_json, read_text
from loaders.base.store import EntryKind, StoreStatistics

_FILES = (MANIFEST, QUESTIONS, RESULTS, SUMMARY)
"""A folder with one of these files is a run folder."""

_SHOWN = 3
"""Maximum number of predictors named in a row."""

_LONGEST = 30
"""Maximum number of characters of the options that selected questions."""

_FOLDED = {"set": 8, "predictors": 10, "engines": 10, "state": 10}
"""Columns that fold, and their minimum widths: at 80 columns none of our words is cut."""

_WIDE = 110
"""Minimum width for the column of the start, which the run id has, too."""


@dataclass(frozen=True)
class ListedRun:
    """One run: `state` is `complete`, or says what is missing or wrong.

    `best` is its highest EX. A predictor without any score is marked.
    """

    run_id: str
    started: str
    set_name: str
    predictors: Sequence[str]
    dialects: Sequence[str]
    state: str
    best: float | None


def runs_in(parent: Path) -> list[ListedRun]:
    """Return every run folder in `parent`, newest first, whatever its state.

    Raises:
        BadInput: `parent` cannot be read.
    """
    try:
        folders = [path for path in parent.iterdir() if path.is_dir() and not path.is_symlink()]
    except OSError as error:
        raise BadInput(
            f"--out {parent}: cannot be read ({error.strerror}); name a folder of run folders"
        ) from error
    return sorted(
        map(_listed, filter(_is_run, folders)), key=lambda run: (run.started, run.run_id), reverse=True
    )


def print_runs(runs: Sequence[ListedRun], console: Console | None = None) -> None:
    """Print one row per run."""
    console = wide(console)
    table = new_table("")
    table.collapse_padding = True
    table.add_column("run", no_wrap=True)
    if console.width >= _WIDE:
        table.add_column("started", no_wrap=True)
    for head, least in _FOLDED.items():
        table.add_column(head, overflow="fold", min_width=least)
    table.add_column("best\nEX", justify="right", no_wrap=True)
    for run in runs:
        named = ", ".join(run.predictors)
        cells = (
            run.run_id,
            *([run.started[:16].replace("T", " ")] if console.width >= _WIDE else []),
            run.set_name,
            named if len(run.predictors) <= _SHOWN else str(len(run.predictors)),
            ", ".join(run.dialects),
            run.state,
            spelled(run.best, CellKind.PERCENT),
        )
        table.add_row(*map(plain, cells))
    print_table(console, table)


def _is_run(folder: Path) -> bool:
    try:
        return any((folder / name).exists() for name in _FILES)
    except OSError:
        return True


def _listed(folder: Path) -> ListedRun:
    try:
        manifest = read_manifest(folder)
        extent = Extent.from_manifest(manifest)
        state, best, scored = _ended(folder, extent)
        named = dict.fromkeys(str(file["predictor"]) for file in manifest.get("predictions", ()))
        return ListedRun(
            folder.name,
            str(manifest.get("started", "")),
            str(manifest.get("set", "")),
            [_counted(name, extent, scored) for name in named],
            [TITLES[kind_of(name).name] for name in manifest.get("engines", ())],
            state,
            best,
        )
    except BadInput as error:
        return _damaged(folder, str(error))
    except OSError as error:
        return _damaged(folder, f"cannot be read ({error.strerror})")
    except (AttributeError, KeyError, TypeError, ValueError):
        return _damaged(folder, f"{MANIFEST} or {SUMMARY} is not as it was written")


def _ended(folder: Path, extent: Extent) -> tuple[str, float | None, Mapping[Whose, int] | None]:
    """Return the state of a run, its highest EX, and its completed pairs; None if unknown."""
    if not (folder / SUMMARY).exists():
        far = how_far(_judged(folder / RESULTS), extent.pairs)
        return f"broken off after {far}; --resume completes it", None, None
    summary = read_json(read_text(folder / SUMMARY))
    version = summary["schema_version"]
    if version != SCHEMA_VERSION:
        return f"of version {version}: run it again", None, None
    found = {
        (str(score["predictor"]), kind_of(score["dialect"]).name): int(score["questions"])
        for score in summary["scores"]
    }
    totals = [score["metrics"].get(OUTCOME_METRIC, {}).get(TOTAL) for score in summary["scores"]]
    best = max((float(total) for total in totals if total is not None), default=None)
    return _extended(extent, found), best, found


def _extended(extent: Extent, found: Mapping[Whose, int]) -> str:
    """Describe how complete a finished run is."""
    if extent.is_complete(found):
        if not 0 < extent.questions < extent.set_questions:
            return "complete"
        if not extent.by:
            return f"complete, --limit {extent.questions}"
        shown = _first_option(extent.by)
        return f"complete, {extent.questions:,} of {extent.set_questions:,} questions ({shown})"
    ways = f": {', '.join(extent.chosen)}" if extent.chosen else ""
    return f"{sum(found.values()):,} of {extent.pairs:,} pairs{ways}"


def _first_option(options: str) -> str:
    """Return options as they are, or if they are long the first one and three dots."""
    if len(options) <= _LONGEST:
        return options
    return f"{options.partition(' --')[0][:_LONGEST]} ..."


def _counted(name: str, extent: Extent, found: Mapping[Whose, int] | None) -> str:
    """Return a predictor, marked if it was not scored."""
    planned = {whose: count for whose, count in extent.planned.items() if whose[0] == name}
    if found is None or not planned or any(found.get(whose) for whose in planned):
        return name
    return f"{name} (0 of {sum(planned.values()):,})"


def _judged(path: Path) -> int:
    """Return the number of pairs with an outcome that a resumed run keeps."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError:
        return 0
    # JSON's strings have no unescaped quotes.
    return sum(_UNFINISHED not in line for line in lines if line.strip())


_UNFINISHED = f'"outcome": "{Outcome.HARNESS_ERROR}"'.encode()


def _damaged(folder: Path, why: str) -> ListedRun:
    return ListedRun(folder.name, "", "", (), (), f"damaged: {why.removeprefix(f'{folder}/')}", None)


_NAMES = {
    EntryKind.EXECUTION: "executed texts",
    EntryKind.JUDGEMENT: "judgements",
    EntryKind.DIGEST: "digests of files",
}


def cache_lines(figures: StoreStatistics, path: Path) -> list[str]:
    """Describe the entries of the cache, their age, and its maximum size."""
    lines = [f"{path}: {_size(figures.file_bytes)} of at most {_size(figures.most_bytes)}"]
    lines += [
        f"  {share.entries:>9,} {_NAMES[kind]}, {_size(share.bytes)}"
        for kind, share in sorted(figures.kinds.items())
    ]
    if figures.oldest is None or figures.newest is None:
        return [*lines, "  nothing is kept"]
    return [*lines, f"  last used between {_day(figures.oldest)} and {_day(figures.newest)}"]


def cleared_lines(dropped: int, path: Path) -> list[str]:
    """Describe the effect of `bird-harness cache --clear`."""
    return [f"{path}: {dropped:,} {'entry' if dropped == 1 else 'entries'} dropped"]


def _size(size: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(moment))

"""The runs in a folder: what was run, how it ended, and the best of it. A broken folder is a row, too."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.errors import BadInput
from harness.figures.summary import SCHEMA_VERSION, TOTAL
from harness.readers.textfiles import read_json, read_text
from harness.report.grids import Kind
from harness.report.spelling import printable, spelled
from harness.report.tables import NAMES, new_table, wide
from harness.runs.reading import MANIFEST, QUESTIONS, RESULTS, SUMMARY, read_manifest
from harness.words import Dialect

_FILES = (MANIFEST, QUESTIONS, RESULTS, SUMMARY)
"""A folder that has one of these is a run's."""

_SHOWN = 3
"""How many predictors a row names before it only counts."""

_FOLDED = {"set": 8, "predictors": 10, "engines": 10, "state": 10}
"""Columns that fold, and how narrow they may get: at 80 columns no word of ours is cut."""

_WIDE = 110
"""From here on there is room for the start of a run, which its id tells, too."""


@dataclass(frozen=True)
class Listed:
    """One run: `state` is `complete`, or says what is wrong with it; `best` is its highest EX."""

    run_id: str
    started: str
    set_name: str
    predictors: Sequence[str]
    dialects: Sequence[str]
    state: str
    best: float | None


def runs_in(parent: Path) -> list[Listed]:
    """Every run folder in `parent`, the newest first, whatever state it is in.

    Raises:
        BadInput: `parent` cannot be read.
    """
    try:
        folders = [path for path in parent.iterdir() if path.is_dir() and not path.is_symlink()]
    except OSError as error:
        raise BadInput(
            f"--out {parent}: cannot be read ({error.strerror}); name the folder that runs are in"
        ) from error
    return sorted(
        map(_listed, filter(_is_run, folders)), key=lambda run: (run.started, run.run_id), reverse=True
    )


def print_runs(runs: Sequence[Listed], console: Console | None = None) -> None:
    """One row per run."""
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
            spelled(run.best, Kind.PERCENT),
        )
        table.add_row(*(Text(printable(cell)) for cell in cells))
    console.print(table)


def _is_run(folder: Path) -> bool:
    try:
        return any((folder / name).exists() for name in _FILES)
    except OSError:
        return True


def _listed(folder: Path) -> Listed:
    try:
        manifest = read_manifest(folder)
        return Listed(
            folder.name,
            str(manifest.get("started", "")),
            str(manifest.get("set", "")),
            list(dict.fromkeys(str(file["predictor"]) for file in manifest.get("predictions", ()))),
            [NAMES[Dialect(name)] for name in manifest.get("engines", ())],
            *_ended(folder),
        )
    except BadInput as error:
        return _damaged(folder, str(error))
    except OSError as error:
        return _damaged(folder, f"cannot be read ({error.strerror})")
    except (AttributeError, KeyError, TypeError, ValueError):
        return _damaged(folder, f"{MANIFEST} or {SUMMARY} is not as it was written")


def _ended(folder: Path) -> tuple[str, float | None]:
    """The state of a run, and its highest EX."""
    if not (folder / SUMMARY).exists():
        done = _lines(folder / RESULTS)
        return f"broken off after {done} {'pair' if done == 1 else 'pairs'}; --resume completes it", None
    summary = read_json(read_text(folder / SUMMARY))
    version = summary["schema_version"]
    if version != SCHEMA_VERSION:
        return f"of version {version}: run it again", None
    totals = [score["metrics"].get("ex", {}).get(TOTAL) for score in summary["scores"]]
    return "complete", max((float(total) for total in totals if total is not None), default=None)


def _lines(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except OSError:
        return 0


def _damaged(folder: Path, why: str) -> Listed:
    return Listed(folder.name, "", "", (), (), f"damaged: {why.removeprefix(f'{folder}/')}", None)

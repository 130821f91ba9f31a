"""What `bird-harness compare` compares: `FOLDER`, or `FOLDER:SELECTOR` for a part of a run.

A selector is a dialect, a predictor or `DIALECT/PREDICTOR`. Predictors may be named like a dialect, or hold
`/` and `:`; so a selector is read in every way that fits something in the run, and two ways are an error
that says how to write each: `DIALECT/` is always a dialect, `/PREDICTOR` always a predictor. Folders may hold
`:`, too: the folder is the longest part of the text that exists.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialects.errors import BadInput
from harness.data.outcomes import PairResult
from harness.engines import EngineName, kinds_by_name
from harness.runs.reading import Run, read_run
from loaders.base.files import one_line

Key = tuple[str, EngineName]
"""A predictor and the engine it was scored on."""


@dataclass(frozen=True)
class Selection:
    """The part of a run that an operand means; `results` is never empty and keeps the run's order."""

    text: str
    run: Run
    results: Mapping[Key, Sequence[PairResult]]


def select(text: str) -> Selection:
    """Read an operand and the run that it names.

    Raises:
        BadInput: there is no such folder, it holds no run that can be read, or nothing that is selected.
    """
    folder, selector = _split(text)
    run = read_run(folder)
    results: dict[Key, list[PairResult]] = {}
    for result in run.results:
        results.setdefault((result.predictor, result.dialect), []).append(result)
    if not results:
        raise _refusal(text, f"{folder} has no results", "run it again")
    chosen = _chosen(text, selector, list(results)) if selector is not None else list(results)
    return Selection(text, run, {key: results[key] for key in chosen})


def counterparts(a: Selection, b: Selection) -> tuple[list[tuple[Key, Key]], list[Key], list[Key]]:
    """Which predictor on which engine is compared with which, and what only A and only B have.

    Each is compared with its like. But where each side has a single predictor, the two need not be the same;
    nor need engines.
    """
    any_predictor, any_dialect = (
        all(len({key[part] for key in side.results}) == 1 for side in (a, b)) for part in (0, 1)
    )

    def by_name(side: Selection) -> dict[tuple[str | None, EngineName | None], Key]:
        return {
            (None if any_predictor else key[0], None if any_dialect else key[1]): key for key in side.results
        }

    of_a, of_b = by_name(a), by_name(b)
    return (
        [(of_a[name], of_b[name]) for name in of_a if name in of_b],
        [key for name, key in of_a.items() if name not in of_b],
        [key for name, key in of_b.items() if name not in of_a],
    )


def described(keys: Sequence[Key]) -> str:
    """Predictors on engines as selectors."""
    return ", ".join(f"{dialect}/{predictor}" for predictor, dialect in keys)


def _split(text: str) -> tuple[Path, str | None]:
    """The folder and the selector: the longest folder that exists wins."""
    ends = [len(text), *(place for place in reversed(range(len(text))) if text[place] == ":")]
    for end in ends:
        if os.path.isdir(text[:end]):  # noqa: PTH112 - the one that takes a text that can be no path
            return Path(text[:end]), text[end + 1 :] if end < len(text) else None
    raise _refusal(text, "no such folder", "name a run folder, results/<run id> or results/latest")


def _chosen(text: str, selector: str, keys: Sequence[Key]) -> list[Key]:
    readings = []
    for predictor, dialect in _readings(selector):
        fitting = [key for key in keys if predictor in (None, key[0]) and dialect in (None, key[1])]
        if fitting and fitting not in readings:
            readings.append(fitting)
    if not readings:
        fault = f"{selector!r} is no dialect and no predictor of that run, which has {described(keys)}"
        raise _refusal(text, fault, "choose DIALECT, PREDICTOR or DIALECT/PREDICTOR")
    if len(readings) > 1:
        fault = f"{selector!r} can mean {' or '.join(map(described, readings))}"
        raise _refusal(text, fault, "write DIALECT/, /PREDICTOR or DIALECT/PREDICTOR")
    return readings[0]


def _readings(selector: str) -> Iterator[tuple[str | None, EngineName | None]]:
    """Every predictor and dialect, None for any, that a selector can mean."""
    dialect, slash, predictor = selector.partition("/")
    if dialect in kinds_by_name():
        yield predictor or None, dialect
    if slash and not dialect:
        yield predictor, None
    yield selector, None


def _refusal(text: str, fault: str, remedy: str) -> BadInput:
    return BadInput(one_line(f"compare {text}: {fault}; {remedy}"))

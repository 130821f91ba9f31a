"""The parts of the study: the modules of this folder, each with a record `PART`, and those of others."""

import importlib
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from dialects.errors import BadInput
from harness.labs.study.base import Analysis
from loaders.base.errors import brief
from loaders.base.files import one_line

GROUP = "bird_harness.analyses"
"""The entry points by which an installed package brings analyses: each names a record."""


@cache
def parts_by_name() -> Mapping[str, Analysis]:
    """Return the study's own parts by their names, in order."""
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    found: list[Analysis] = [importlib.import_module(f"{__name__}.{one.name}").PART for one in modules]
    return {part.name: part for part in sorted(found, key=lambda part: part.name)}


def chosen_parts(names: Sequence[str]) -> list[Analysis]:
    """Return the study's own parts of these names in order, then those of others; by default all its own.

    Args:
        names: of parts, of entry points of `GROUP`, or `module:ATTRIBUTE`.

    Raises:
        BadInput: one is not known, or cannot be used.
    """
    known = parts_by_name()
    points = {point.name: point for point in entry_points(group=GROUP) if point.name not in known}
    for name in names:
        if name not in known and name not in points and ":" not in name:
            choices = f"{', '.join((*known, *points))}, or name your own as module:ANALYSIS"
            raise BadInput(f"--part {brief(name)}: is not known; choose from {choices}")
    others = [name for name in dict.fromkeys(names) if name not in known]
    return [
        *(part for name, part in known.items() if not names or name in names),
        *(_loaded(points.get(name) or EntryPoint(name, name, GROUP)) for name in others),
    ]


def _loaded(point: EntryPoint) -> Analysis:
    """Return the analysis that an entry point names; modules are looked for in the current directory, too.

    Raises:
        BadInput: there is none, or it cannot be used.
    """
    if str(Path.cwd()) not in sys.path:
        # At the end, so that a file of the current directory hides no other module.
        sys.path.append(str(Path.cwd()))
    try:
        found = point.load()
    except Exception as error:
        words = f"cannot be imported ({type(error).__name__}: {error}); fix it, or set PYTHONPATH"
        raise BadInput(one_line(f"analysis {brief(point.value)}: {words}")) from error
    if not isinstance(found, Analysis):
        raise BadInput(
            f"analysis {brief(point.value)}: is not an Analysis;"
            " make one with harness.labs.study.base.of_units"
        )
    return found

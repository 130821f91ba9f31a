"""The parts of the study: the modules beside this one, each with a record `PART`."""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from dialects.errors import BadInput
from harness.analyses.study.part import Part
from loaders.base.errors import brief


@cache
def parts_by_name() -> Mapping[str, Part]:
    """Every part by its name, in order."""
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    found: list[Part] = [importlib.import_module(f"{__name__}.{one.name}").PART for one in modules]
    return {part.name: part for part in sorted(found, key=lambda part: part.name)}


def chosen_parts(names: Sequence[str]) -> list[Part]:
    """The parts of these names in order; all of them where none is named.

    Raises:
        BadInput: one is not known.
    """
    known = parts_by_name()
    for name in names:
        if name not in known:
            raise BadInput(f"--part {brief(name)}: is not known; choose from {', '.join(known)}")
    return [part for name, part in known.items() if not names or name in names]

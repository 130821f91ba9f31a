"""Whether a run that is to be resumed is the one that was broken off."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loaders.textfiles import refuse

_SAME = (
    "set", "questions", "set_files", "databases", "profile", "metrics", "variants", "limits", "extract",
    "allow_missing", "predictions", "engines",
)  # fmt: skip
"""What decides the results of a run, of all that its manifest says."""

_SHOWN = 60


def require_same(path: Path, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Make sure that two manifests describe the same run, whatever machine and number of workers it has.

    Args:
        path: the manifest that `there` was read from.
        there: the manifest of the run that was broken off.
        here: what is asked for now, as plain values.

    Raises:
        BadInput: they do not; names every difference.
    """
    asked = json.loads(json.dumps(here))
    differences = [
        difference for name in _SAME for difference in _differences(name, there.get(name), asked.get(name))
    ]
    if differences:
        refuse(
            path,
            f"describes another run: {'; '.join(differences)}",
            "repeat the command with the same options, files and engines, or leave out --resume",
        )


def _differences(name: str, there: Any, here: Any) -> Iterator[str]:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted({*there, *here}):
            yield from _differences(f"{name}.{key}", there.get(key), here.get(key))
    elif name == "predictions" and isinstance(there, list) and isinstance(here, list):
        yield from _differences(name, _by_predictor(there), _by_predictor(here))
    elif there != here:
        yield f"{name} is {_words(there)} there and {_words(here)} now"


def _by_predictor(files: list[Any]) -> dict[str, Any]:
    """The prediction files by what they answer: a file may have moved."""
    return {
        f"{file.get('dialect')}/{file.get('predictor')}": {k: v for k, v in file.items() if k != "file"}
        for file in files
    }


def _words(value: Any) -> str:
    said = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}..."

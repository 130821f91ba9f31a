"""What the name of a prediction file tells: `predict_<set>_<predictor>_<dialect>.json` or `.jsonl`.

Published files also end in `_mysqljson.json` and `_cot_SQLite.json`. The set is checked, because a positional
file of one revision of Mini-Dev read against the other would be scored wrongly without a word.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from harness.engines import EngineName, kinds_by_name
from loaders.base.files import refuse
from loaders.set_manifest import LAYOUTS

ANSWERS = "answers.jsonl"
JOURNAL = "journal.jsonl"
MANIFEST = "manifest.json"
PREDICTIONS = "predictions"
"""What the folder of `bird-harness predict` holds; the prediction files are in the last."""

SCHEME = "predict_<set>_<predictor>_<dialect>.json"


_NAME = re.compile(
    r"predict_(?P<rest>.+)_(?P<dialect>[a-z0-9]+?)(?:json)?\.(?:jsonl?|sql|txt|csv)",
    flags=re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Label:
    """Whose predictions a file holds, as far as its name or the caller tells.

    `otherwise` is the dialect of what nothing else tells: the only one that is asked for.
    """

    predictor: str | None
    dialect: EngineName | None
    otherwise: EngineName | None


def label(
    path: Path, set_name: str, predictor: str | None, only: EngineName | None, same_as: str = ""
) -> Label:
    """The label of a file: what its name tells, and for the rest what the caller gives.

    Args:
        path: the file.
        set_name: the question set that it is read for.
        predictor: the predictor that the caller gives; it goes before the name's.
        only: the dialect that is asked for if it is only one.
        same_as: another set with the same questions, whose files are taken, too.

    Raises:
        BadInput: `predictor`, or what stands in its place in the file's name, is no name; or the file's name
            says that it is of another question set and the caller has not given both predictor and dialect.
    """
    if predictor is not None and not is_predictor(predictor):
        refuse(
            path, f"--predictor {predictor!r} is no name", "give one that prints and has no blank at its ends"
        )
    match = _NAME.fullmatch(path.name)
    named = None if match is None else _set_of(match["rest"], set_name, same_as)
    if match is None or named is None or match["dialect"].lower() not in kinds_by_name():
        # As `predict_dev_chatgpt.json`, which BIRD publishes: its name tells who, and not the dialect.
        return Label(predictor or _predictor_alone(path, set_name), None, only)
    found = match["rest"][len(named) + 1 :]
    if predictor is None and not is_predictor(found):
        refuse(
            path,
            f"its name calls the predictor {found!r}, which is no name",
            "rename the file, or give --predictor: a name prints and has no blank at its ends",
        )
    lacking = options_for(predictor, only)
    if named.lower() not in {set_name.lower(), same_as.lower()} and lacking:
        refuse(
            path,
            f"named for question set {named}, not {set_name}",
            f"choose that set, or give {lacking} if the file was made for this one",
        )
    return Label(predictor or found, match["dialect"].lower(), only)


def _predictor_alone(path: Path, set_name: str) -> str | None:
    """Who answered by a name `predict_<set>_<predictor>` for the set that is read, if it is one."""
    stem, start = path.stem, f"predict_{set_name}_"
    found = stem[len(start) :] if stem.lower().startswith(start.lower()) else ""
    return found if is_predictor(found) else None


def is_named(path: Path) -> bool:
    """Whether a file's name is of the scheme, and so says that it holds predictions."""
    match = _NAME.fullmatch(path.name)
    return match is not None and match["dialect"].lower() in kinds_by_name()


def _set_of(rest: str, set_name: str, same_as: str) -> str | None:
    """The set that a name begins with: the one that is read, or one that comes with bird-harness."""
    sets = sorted({*LAYOUTS, set_name, same_as} - {""}, key=len, reverse=True)
    length = next((len(name) for name in sets if rest.lower().startswith(f"{name.lower()}_")), None)
    return None if length is None or len(rest) == length + 1 else rest[:length]


def options_for(predictor: str | None, dialect: EngineName | None) -> str:
    """The options that would tell what is not told."""
    told = {"--predictor": predictor, "--dialect": dialect}
    return " and ".join(option for option, value in told.items() if value is None)


def is_predictor(name: str) -> bool:
    """Whether a predictor may be called so: something that prints, without a blank at its ends."""
    return bool(name) and name.isprintable() and name == name.strip()

"""The words of a command that resumes a run: those of the run, where they are not given."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path

_RESUME = "--resume"
_MANIFESTS = "manifest.json", "study.json"
"""Of runs and of studies; the modules that write them take longer to import than Python."""


def resumed(words: Sequence[str], known: Collection[str]) -> list[str]:
    """The words of a command that completes a run, with those of the run itself where they are not given.

    Args:
        words: as they were typed, such as `--resume results/latest`.
        known: the options that the command has.

    Returns:
        The same words where nothing is resumed, or the folder does not say what it is the run of: the run
        itself will be refused with the reason.
    """
    folder = _value(words, _RESUME)
    if folder is None:
        return list(words)
    try:
        path = next(path for name in _MANIFESTS if (path := Path(folder) / name).is_file())
        command = json.loads(path.read_text(encoding="utf-8"))["command"]
        earlier = [str(word) for word in command if str(word).startswith("--")]
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return list(words)
    given = {_positive(word) for word in words}
    return [word for word in earlier if _name(word) in known and _positive(word) not in given] + list(words)


def _value(words: Sequence[str], option: str) -> str | None:
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == option:
            return value if equals else next(iter(words[place + 1 :]), None)
    return None


def _name(word: str) -> str:
    return word.partition("=")[0]


def _positive(word: str) -> str:
    """An option and its opposite are one."""
    return _name(word).replace("--no-", "--")

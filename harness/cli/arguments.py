"""What the words of a command come to before they are read: old names, and those of a run that is resumed."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

_RESUME = "--resume"
_MANIFESTS = "manifest.json", "study.json"
"""Of runs and of studies; the modules that write them take longer to import than Python."""


OLD_NAMES: Mapping[str, Mapping[str, str]] = {
    "load": {"--jobs": "--workers"},
    "predict": {"--sql-timeout": "--timeout"},
    **{name: {"--to": "--out"} for name in ("data", "describe", "report", "twins")},
}
"""By command, options that were called otherwise, and what they are called now."""

_ANSWERS = "--answer-timeout"


def renamed(name: str, words: Sequence[str], say: Callable[[str], None]) -> list[str]:
    """The words of a command with the options' names of today; `say` is told of those that are old.

    Two options have had another meaning. The time for an answer of `predict` was `--timeout`, which is the
    time for SQL now, as everywhere: without `--eval` there is no SQL to run, so that it can only be meant as
    it was. And `compare --json` took a file.
    """
    names = dict(OLD_NAMES.get(name, {}))
    if name == "predict" and "--eval" not in words:
        names["--timeout"] = _ANSWERS
    found = []
    for word in words:
        option, equals, value = word.partition("=")
        if option in names:
            say(f"bird-harness {name}: {option} is called {names[option]} now")
            word = f"{names[option]}{equals}{value}"  # noqa: PLW2901 - the same word, as it is called now
        found.append(word)
    return _file_of_json(found, say) if name == "compare" else found


def _file_of_json(words: Sequence[str], say: Callable[[str], None]) -> list[str]:
    """`--json FILE` behind both sides, and `--json=FILE`, as the hidden option that writes a file."""
    found: list[str] = []
    are_sides_first = not any(word.startswith("-") for word in words[:2])
    for place, word in enumerate(words):
        following = next(iter(words[place + 1 :]), "")
        is_file = bool(following) and not following.startswith("-") and are_sides_first
        if word.startswith("--json=") or (word == "--json" and is_file):
            say("bird-harness compare: --json prints to standard output now; write `--json > FILE`")
            found.append(word.replace("--json", "--json-file", 1))
        else:
            found.append(word)
    return found


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

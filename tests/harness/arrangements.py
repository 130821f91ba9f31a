"""How a case of bad input is put together: a good set and good predictions with one thing spoilt.

A case writes its files into an empty folder, the BIRD_HOME of the run, and gives the options of `eval`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from tests.harness import small_sets as small

Arrange = Callable[[Path], list[str]]

GOOD_NAME = "predict_mini_dev_model_sqlite.json"
KEYS = (1471, 9, "137", "137#2")


@dataclass(frozen=True)
class Case:
    """`says`: what the message has to contain: the file, the entry, the remedy."""

    name: str
    arrange: Arrange
    says: Sequence[str]


def on_set(
    spoil: Callable[[Path], object],
    name: str = "mini_dev",
    write: Callable[[Path], Path] = small.write_mini_dev,
) -> Arrange:
    """A good set with one thing spoilt, and good predictions."""

    def arrange(home: Path) -> list[str]:
        spoil(write(home))
        predictions = small.write_json(home / f"predict_{name}_model_sqlite.json", small.official())
        return ["--set", name, "--predictions", str(predictions)]

    return arrange


def on_later_set(spoil: Callable[[Path], object]) -> Arrange:
    return on_set(spoil, "mini_dev_2025", small.write_mini_dev_2025)


def on_questions(
    change: Callable[[list[Any]], object], dialect: Dialect = Dialect.SQLITE
) -> Callable[[Path], object]:
    """Changes the parsed questions of one dialect."""

    def spoil(folder: Path) -> None:
        path = folder / f"mini_dev_{dialect}.json"
        content = json.loads(path.read_text())
        change(content)
        small.write_json(path, content)

    return spoil


def replaced(file: str, old: str, new: str) -> Callable[[Path], object]:
    """Replaces a text that occurs in a file, in Latin-1 so that it can be made invalid."""

    def spoil(folder: Path) -> None:
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_bytes(text.replace(old, new, 1).encode("latin-1"))

    return spoil


def on_predictions(
    change: Callable[[dict[str, Any]], Any], *options: str, name: str = GOOD_NAME, set_name: str = "mini_dev"
) -> Arrange:
    """A good set, and a prediction file in the official format made from a good one."""
    return on_file(
        lambda: json.dumps(change(dict(small.official())), indent=2), *options, name=name, set_name=set_name
    )


def on_lines(change: Callable[[list[Any]], object], *options: str, name: str = "answers.jsonl") -> Arrange:
    """A good set, and a prediction file in JSON lines made from a good one."""

    def content() -> str:
        ids = [(key, db_id) for key, (_, db_id) in zip(KEYS, small.FIRST_REVISION, strict=True)]
        records: list[Any] = [
            dict(record) for record in small.lines(ids, predictor="model", dialect="sqlite")
        ]
        change(records)
        return "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)

    return on_file(content, *options, name=name)


def on_file(
    content: Callable[[], str | bytes], *options: str, name: str = GOOD_NAME, set_name: str = "mini_dev"
) -> Arrange:
    """A good set and one prediction file with this content."""

    def arrange(home: Path) -> list[str]:
        small.write_mini_dev(home)
        text = content()
        (home / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return ["--set", set_name, "--predictions", str(home / name), *options]

    return arrange


def on_paths(*names: str, options: Sequence[str] = ()) -> Arrange:
    """A good set, good prediction files of these names in a folder, and the folder as argument."""

    def arrange(home: Path) -> list[str]:
        small.write_mini_dev(home)
        folder = home / "answers"
        folder.mkdir()
        for name in names:
            small.write_json(folder / name, small.official())
        return ["--set", "mini_dev", "--predictions", str(folder), *options]

    return arrange


def field(place: int, key: str, value: object) -> Callable[[list[Any]], object]:
    def change(records: list[Any]) -> None:
        records[place][key] = value

    return change

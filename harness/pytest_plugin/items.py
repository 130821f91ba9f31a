"""What pytest collects: a file, a part of it, and an item for everything that is asked about that part.

An item only shows an answer. Where the answer comes from is its `ItemSource`: this process, or under
pytest-xdist the controller's. Next to nothing of the rest of the harness is imported here, so that an xdist
worker starts as fast as pytest does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from loaders.base.files import one_line

Properties = tuple[tuple[str, str], ...]
"""Names and values, as `--junitxml` writes them."""


@dataclass(frozen=True)
class ItemEntry:
    """What one item asks.

    `place` is its number within the source; `name` is unique within its part of the file; the values of
    `properties` are words that `-k` finds it by. `gap` says why it is known to fail; with `strict` it is a
    failure if it does not.
    """

    place: int
    name: str
    properties: Properties = ()
    gap: str | None = None
    strict: bool = True


@dataclass(frozen=True)
class ItemPart:
    """The entries that a file has under one name, such as those of a predictor on an engine."""

    path: Path
    name: str
    entries: tuple[ItemEntry, ...]
    properties: Properties = ()


@dataclass(frozen=True)
class ItemAnswer:
    """What an item has to show.

    `failure` says why it fails, `gap` why it does not do what it is known not to do.
    """

    outcome: str
    failure: str | None = None
    gap: str | None = None


class ItemSource(Protocol):
    """Answers what items ask.

    `is_quick`: items have nothing to set up or tear down, and there are so many that this counts.
    """

    parts: Sequence[ItemPart]
    is_quick: bool

    def begin(self, places: Sequence[int], tell: Callable[[int, ItemAnswer], None] | None) -> None:
        """Prepare the answers of the items that were chosen; `tell`, from any thread, who waits elsewhere."""
        ...

    def answer(self, place: int) -> ItemAnswer:
        """The answer of one item, as soon as it is there."""
        ...


class FileNode(pytest.File):
    """A file with entries, for its place in pytest's tree; its items are added to it."""

    def collect(self) -> list[pytest.Item]:
        """Nothing more."""
        return []


class PartNode(pytest.Collector):
    """A part of a file, for its place in pytest's tree."""

    def collect(self) -> list[pytest.Item]:
        """Nothing more."""
        return []


class Unexpected(Exception):
    """What is asked is not as it has to be."""


class Gap(Exception):
    """What is asked is not as it should be, and known not to be."""


class AskedItem(pytest.Item):
    """One item; it passes unless its answer says that it fails."""

    def __init__(self, *, entry: ItemEntry, part: ItemPart, source: ItemSource, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.place = entry.place
        self._source = source
        self._properties = part.properties + entry.properties
        self._gap = entry.gap
        self.extra_keyword_matches.update(value for _, value in entry.properties)
        if entry.gap is not None:
            self.add_marker(pytest.mark.xfail(reason=entry.gap, raises=Gap, strict=entry.strict))

    def runtest(self) -> None:
        """Wait for the answer, and show it."""
        answer = self._source.answer(self.place)
        self.user_properties[:] = (("outcome", answer.outcome), *self._properties)
        if answer.failure is not None:
            raise Unexpected(_printable(answer.failure))
        if answer.gap is not None:
            if self._gap is None:
                pytest.xfail(_printable(answer.gap))
            raise Gap(_printable(answer.gap))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The failure's own words instead of a traceback through the harness."""
        if isinstance(excinfo.value, (Unexpected, Gap)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the item is: the file, and what of it."""
        parent = self.parent
        path = Path(one_line(str(self.path)))
        return path, None, self.name if parent is None else f"{parent.name}::{self.name}"


def file_id(path: Path, root: Path) -> str:
    """The node id of a file: relative to pytest's root where it is below it, in what prints."""
    return one_line((path.relative_to(root) if path.is_relative_to(root) else path).as_posix())


def _printable(text: str) -> str:
    """Lines of anybody's text, with escapes for what would be obeyed by a terminal or is none of XML's."""
    return "\n".join(map(one_line, text.split("\n")))


def node_id(part: ItemPart, entry: ItemEntry, root: Path) -> str:
    """The node id of an item."""
    return f"{file_id(part.path, root)}::{part.name}::{entry.name}"

"""The nodes that pytest collects: a file, a part of it, and the items of that part.

An item only shows an answer of its `ItemSource`, which is in this process, or under pytest-xdist in the
controller's. This module imports next to nothing of the harness, so that an xdist worker starts as fast as
pytest does.
"""

import fcntl
import json
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import IO, Any, Protocol

import pytest

from loaders.base.files import one_line

Properties = tuple[tuple[str, str], ...]
"""Names and values for `--junitxml`."""


@dataclass(frozen=True)
class ItemEntry:
    """The entry of one item.

    `place` is its index within the source; `name` is unique within its part of the file; `-k` matches the
    values of `properties`. `gap` is the reason of an expected failure; with `strict`, passing is a failure.
    """

    place: int
    name: str
    properties: Properties = ()
    gap: str | None = None
    strict: bool = True


@dataclass(frozen=True)
class ItemPart:
    """The entries of a file under one name, such as those of a predictor on an engine."""

    path: Path
    name: str
    entries: tuple[ItemEntry, ...]
    properties: Properties = ()


@dataclass(frozen=True)
class ItemAnswer:
    """The answer that an item shows.

    `failure` is the reason of a failure, `gap` that of an expected failure.
    """

    outcome: str
    failure: str | None = None
    gap: str | None = None


class ItemSource(Protocol):
    """Provides the answers of items.

    `is_quick`: items need no setup or teardown, and are so many that skipping it matters.
    """

    parts: Sequence[ItemPart]
    is_quick: bool

    def begin(self, places: Sequence[int], publish: Callable[[int, ItemAnswer], None] | None) -> None:
        """Prepare the answers of the selected items; `publish`, from any thread, passes them on."""
        ...

    def answer(self, place: int) -> ItemAnswer:
        """Return the answer of one item, waiting for it."""
        ...


class FileNode(pytest.File):
    """A file with entries in pytest's tree; its items are added from outside."""

    def collect(self) -> list[pytest.Item]:
        """Nothing more."""
        return []


class PartNode(pytest.Collector):
    """A part of a file in pytest's tree."""

    def collect(self) -> list[pytest.Item]:
        """Nothing more."""
        return []


class Unexpected(Exception):
    """An item failed."""


class ExpectedFailure(Exception):
    """An item failed as expected."""


class AnswerItem(pytest.Item):
    """One item; it passes unless its answer is a failure."""

    def __init__(self, *, entry: ItemEntry, part: ItemPart, source: ItemSource, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.place = entry.place
        self._source = source
        self._properties = part.properties + entry.properties
        self._gap = entry.gap
        self.extra_keyword_matches.update(value for _, value in entry.properties)
        if entry.gap is not None:
            self.add_marker(pytest.mark.xfail(reason=entry.gap, raises=ExpectedFailure, strict=entry.strict))

    def runtest(self) -> None:
        """Wait for the answer, and show it."""
        answer = self._source.answer(self.place)
        self.user_properties[:] = (("outcome", answer.outcome), *self._properties)
        if answer.failure is not None:
            raise Unexpected(_printable(answer.failure))
        if answer.gap is not None:
            if self._gap is None:
                pytest.xfail(_printable(answer.gap))
            raise ExpectedFailure(_printable(answer.gap))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the failure's message instead of a traceback through the harness."""
        if isinstance(excinfo.value, (Unexpected, ExpectedFailure)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the location of the item: the file, and the name within it."""
        return Path(one_line(str(self.path))), None, self.location[2]

    @property
    def location(self) -> tuple[str, None, str]:
        """The same with the file's node id, which pytest would derive for each item anew."""
        file, _, name = self.nodeid.partition("::")
        return file, None, name


def file_id(path: Path, root: Path) -> str:
    """Return the node id of a file, relative to pytest's root if below it, in printable characters."""
    return one_line((path.relative_to(root) if path.is_relative_to(root) else path).as_posix())


def _printable(text: str) -> str:
    """Return foreign text with escapes for control characters of terminals and characters outside of XML."""
    return "\n".join(map(one_line, text.split("\n")))


def node_id(part: ItemPart, entry: ItemEntry, root: Path) -> str:
    """Return the node id of an item."""
    return f"{file_id(part.path, root)}::{part.name}::{entry.name}"


# Under pytest-xdist the controller has the answers, and writes each to a file that every worker reads.
#
# So a text is executed once, whatever the number of processes, which share only pytest's own work. The
# controller holds the file's lock as long as it lives: a worker that gets the lock stops waiting.

_LOOK_SECONDS = 0.02


class AnswerPublisher:
    """The controller's side; `publish` may be called from any thread."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="bird-answers-")
        self._file = (Path(self._folder.name) / "answers.jsonl").open("wb", buffering=0)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._lock = Lock()

    def invitation(self, source: ItemSource) -> tuple[Any, ...]:
        """Return everything that a worker process needs, as plain values."""
        parts = [
            (str(part.path), part.name, [astuple(entry) for entry in part.entries], part.properties)
            for part in source.parts
        ]
        return self._file.name, source.is_quick, parts

    def publish(self, place: int, answer: ItemAnswer) -> None:
        """Publish an answer to all workers, including later ones."""
        with self._lock:
            if not self._file.closed:
                self._file.write(json.dumps([place, *astuple(answer)]).encode() + b"\n")

    def close(self) -> None:
        """Stop publishing."""
        with self._lock:
            self._file.close()
        self._folder.cleanup()


class PublishedAnswers:
    """The worker's side: an `ItemSource` of the published answers."""

    def __init__(self, invitation: Sequence[Any]) -> None:
        path, self.is_quick, parts = invitation
        self.parts: Sequence[ItemPart] = [
            ItemPart(Path(file), name, tuple(ItemEntry(*entry) for entry in entries), properties)
            for file, name, entries, properties in parts
        ]
        self._path = Path(path)
        self._read = 0
        self._known: dict[int, ItemAnswer] = {}

    def begin(self, places: Sequence[int], publish: Callable[[int, ItemAnswer], None] | None) -> None:
        """Do nothing: the controller knows the selection."""

    def answer(self, place: int) -> ItemAnswer:
        """See `ItemSource.answer`."""
        while place not in self._known:
            lines, is_over = self._new()
            for number, *answer in map(json.loads, lines):
                self._known[number] = ItemAnswer(*answer)
            if is_over and not lines:
                pytest.exit("pytest-xdist's controller is gone", returncode=pytest.ExitCode.INTERRUPTED)
            if not lines:
                time.sleep(_LOOK_SECONDS)
        return self._known[place]

    def _new(self) -> tuple[list[bytes], bool]:
        """Return the new lines, and True if no more will come."""
        try:
            with self._path.open("rb") as file:
                is_over = _is_free(file)
                file.seek(self._read)
                *lines, _ = file.read().split(b"\n")
        except FileNotFoundError:
            return [], True
        self._read += sum(len(line) + 1 for line in lines)
        return lines, is_over


def _is_free(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# The hooks that bring an `ItemSource` into pytest: collection, selection by node id, running an item, xdist.
#
# An item has the same node id in every run, below a real file, so that the command line and editors can name
# it; without a test file on the command line, only the items are run.

_CHOOSING = {"--deselect": "deselect", "--lf": "lf", "--sw": "stepwise"}
"""Options of pytest that select items, and the destinations of their values."""

INVITATION = "bird"
"""The name under which pytest-xdist passes an `AnswerPublisher.invitation` to its workers."""


def join(config: pytest.Config) -> None:
    """Show the controller's answers in a worker process of pytest-xdist."""
    published = PublishedAnswers(getattr(config, "workerinput", {})[INVITATION])
    config.pluginmanager.register(ItemCollector(published), "bird-items")


class ItemCollector:
    """Collects the items of one source, and shows their answers."""

    def __init__(self, source: ItemSource) -> None:
        self._source = source
        self._named: list[str] = []
        self._announcer: AnswerPublisher | None = None
        self._places: dict[str, int] = {}
        self._quick = False
        self._begun = False
        self._config: pytest.Config | None = None
        self._offered: set[str] = set()
        self._deselected: set[str] = set()
        self._left: set[str] | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        """Take node ids of our items from the arguments; pytest collects the rest as usual."""
        self._config = config
        root = config.rootpath
        self._places = {
            node_id(part, entry, root): entry.place for part in self._source.parts for entry in part.entries
        }
        # With a debugger or the like, items run through pytest's own protocol.
        watched = any(config.getoption(name, False) for name in ("usepdb", "trace", "setupshow", "setuponly"))
        self._quick = self._source.is_quick and not watched
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args[:] = []
        ours = {part.path.resolve(): part.path for part in self._source.parts}
        others = []
        for argument in config.args:
            path, separator, rest = argument.partition("::")
            found = ours.get((config.invocation_params.dir / path).resolve())
            if found is None:
                others.append(argument)
            else:
                self._named.append(file_id(found, root) + separator + rest)
        config.args[:] = others

    def place(self, nodeid: str) -> int | None:
        """Return the index of an item; None if it is not one of ours."""
        return self._places.get(nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the items, before `-k` and the like select some of them."""
        root = session.config.rootpath
        files: dict[str, FileNode] = {}
        found = set()
        for part in self._source.parts:
            nodeid = file_id(part.path, root)
            if nodeid not in files:
                files[nodeid] = FileNode.from_parent(session, path=part.path, nodeid=nodeid)
            node = PartNode.from_parent(files[nodeid], name=part.name)
            added = [
                AnswerItem.from_parent(node, name=entry.name, entry=entry, part=part, source=self._source)
                for entry in part.entries
            ]
            if self._named:
                found |= {name for name in self._named for item in added if _is_named(item, [name])}
                added = [item for item in added if _is_named(item, self._named)]
            items += added
            self._offered |= {item.nodeid for item in added}
            report = pytest.CollectReport(node.nodeid, "passed", None, [*added])
            session.ihook.pytest_collectreport(report=report)
        lacking = [name for name in self._named if name not in found]
        if lacking:
            raise pytest.UsageError(*(f"not found: {name}" for name in lacking))

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Record the items that a plugin deselects."""
        self._deselected |= {item.nodeid for item in items if isinstance(item, AnswerItem)}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start with the selected items."""
        self._left = {item.nodeid for item in session.items if isinstance(item, AnswerItem)}
        if not session.config.option.collectonly:
            places = [item.place for item in session.items if isinstance(item, AnswerItem)]
            self._source.begin(places, None)

    def ways(self) -> list[str]:
        """Return what selected the items: options of pytest, or a plugin.

        Under pytest-xdist the workers collect, so that only options are known.
        """
        option = {} if self._config is None else vars(self._config.option)
        ways = [
            f"{name} {shlex.quote(str(option[destination]))}"
            for name, destination in (("-k", "keyword"), ("-m", "markexpr"))
            if option.get(destination)
        ]
        ways += [name for name, destination in _CHOOSING.items() if option.get(destination)]
        if self._named:
            ways.insert(0, "node ids")
        dropped = self._left is not None and self._offered - self._deselected - self._left
        if dropped or not ways:
            ways.append("a plugin or conftest.py")
        return ways

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Run a quick item, without setup, capture and teardown."""
        if not self._quick or not isinstance(item, AnswerItem):
            return None
        hook = item.config.hook
        # xdist would send start and end to the controller, which only costs time.
        is_shown = not hasattr(item.config, "workerinput")
        if is_shown:
            hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        stops = (pytest.exit.Exception, KeyboardInterrupt)
        call = pytest.CallInfo.from_call(item.runtest, "call", reraise=stops)
        hook.pytest_runtest_logreport(report=pytest.TestReport.from_item_and_call(item, call))
        # Other plugins complete their reports at teardown.
        call = pytest.CallInfo.from_call(_nothing, "teardown")
        hook.pytest_runtest_logreport(report=pytest.TestReport.from_item_and_call(item, call))
        if is_shown:
            hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Pass the invitation to a worker of pytest-xdist, before it starts."""
        if self._announcer is None:
            self._announcer = AnswerPublisher()
        node.workerinput[INVITATION] = self._announcer.invitation(self._source)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Start with the selection of the workers, which is the same for all."""
        if self._announcer is not None and not self._begun:
            self._begun = True
            places = [place for place in map(self.place, ids) if place is not None]
            self._source.begin(places, self._announcer.publish)

    def pytest_unconfigure(self) -> None:
        """Stop publishing."""
        if self._announcer is not None:
            self._announcer.close()


def _is_named(item: pytest.Item, names: Sequence[str]) -> bool:
    return any(item.nodeid == name or item.nodeid.startswith(f"{name}::") for name in names)


def _nothing() -> None:
    """Tear nothing down."""

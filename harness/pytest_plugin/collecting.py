"""The hooks that bring an `ItemSource` into pytest: collection, choice by node id, the run of an item, xdist.

Promises: an item has the same node id in every run, and below a real file, so that it can be named on the
command line as an editor does; without a test file on the command line nothing but the items is run.
"""

import shlex
from collections.abc import Sequence
from typing import Any

import pytest

from harness.pytest_plugin.items import AskedItem, FileNode, ItemSource, PartNode, file_id, node_id
from harness.pytest_plugin.sharing import Announcer, Told

_CHOOSING = {"--deselect": "deselect", "--lf": "lf", "--sw": "stepwise"}
"""Options of pytest that choose among items, and where their values are."""

INVITATION = "bird"
"""What pytest-xdist hands on to its workers under this name is an `Announcer.invitation`."""


def join(config: pytest.Config) -> None:
    """Show, in a worker process of pytest-xdist, what the controller answers."""
    told = Told(getattr(config, "workerinput", {})[INVITATION])
    config.pluginmanager.register(Collecting(told), "bird-items")


class Collecting:
    """Collects the items of one source, and has them answered."""

    def __init__(self, source: ItemSource) -> None:
        self._source = source
        self._named: list[str] = []
        self._announcer: Announcer | None = None
        self._places: dict[str, int] = {}
        self._quick = False
        self._begun = False
        self._config: pytest.Config | None = None
        self._offered: set[str] = set()
        self._deselected: set[str] = set()
        self._left: set[str] | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        """Take what is ours from the arguments; pytest collects the rest as ever."""
        self._config = config
        root = config.rootpath
        self._places = {
            node_id(part, entry, root): entry.place for part in self._source.parts for entry in part.entries
        }
        # An item that is looked at from the outside goes pytest's own way.
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
        """The place of an item; None where it is none of ours."""
        return self._places.get(nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the items, before `-k` and its like choose among them."""
        root = session.config.rootpath
        files: dict[str, FileNode] = {}
        found = set()
        for part in self._source.parts:
            nodeid = file_id(part.path, root)
            if nodeid not in files:
                files[nodeid] = FileNode.from_parent(session, path=part.path, nodeid=nodeid)
            node = PartNode.from_parent(files[nodeid], name=part.name)
            added = [
                AskedItem.from_parent(node, name=entry.name, entry=entry, part=part, source=self._source)
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
        """Remember what somebody says that it leaves out."""
        self._deselected |= {item.nodeid for item in items if isinstance(item, AskedItem)}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Begin with what was chosen."""
        self._left = {item.nodeid for item in session.items if isinstance(item, AskedItem)}
        if not session.config.option.collectonly:
            places = [item.place for item in session.items if isinstance(item, AskedItem)]
            self._source.begin(places, None)

    def ways(self) -> list[str]:
        """What chose among the items: options of pytest, or a plugin.

        The processes of pytest-xdist collect by themselves, so that there options alone are known.
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
        """Run one of many items: there is nothing to set up, to capture or to tear down."""
        if not self._quick or not isinstance(item, AskedItem):
            return None
        hook = item.config.hook
        # xdist would send start and end to the controller, where nothing comes of them but waiting.
        is_shown = not hasattr(item.config, "workerinput")
        if is_shown:
            hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        stops = (pytest.exit.Exception, KeyboardInterrupt)
        call = pytest.CallInfo.from_call(item.runtest, "call", reraise=stops)
        hook.pytest_runtest_logreport(report=pytest.TestReport.from_item_and_call(item, call))
        # Reports of other plugins are complete when an item was torn down.
        call = pytest.CallInfo.from_call(_nothing, "teardown")
        hook.pytest_runtest_logreport(report=pytest.TestReport.from_item_and_call(item, call))
        if is_shown:
            hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Invite a worker of pytest-xdist, before it starts."""
        if self._announcer is None:
            self._announcer = Announcer()
        node.workerinput[INVITATION] = self._announcer.invitation(self._source)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Begin with what the workers chose, which is the same for all."""
        if self._announcer is not None and not self._begun:
            self._begun = True
            places = [place for place in map(self.place, ids) if place is not None]
            self._source.begin(places, self._announcer.tell)

    def pytest_unconfigure(self) -> None:
        """Tell nobody any more."""
        if self._announcer is not None:
            self._announcer.close()


def _is_named(item: pytest.Item, names: Sequence[str]) -> bool:
    return any(item.nodeid == name or item.nodeid.startswith(f"{name}::") for name in names)


def _nothing() -> None:
    """What there is to tear down."""

"""Dialect coverage as pytest items: one for each engine and question, compared with its expectation.

Known gaps are strict xfails with their reasons; any other deviation from the committed expectations is a
failure, as in `bird-harness coverage`; both use `harness.analyses.coverage.command.Subject`.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Thread

import pytest

from dialects.enums import Dialect
from harness.analyses.coverage import expectations as expected
from harness.analyses.coverage.answers import CoverageAnswer, DifferenceReason
from harness.analyses.coverage.command import ACCEPT, CoverageRequest, Subject, print_coverage
from harness.data.predictions import Choice
from harness.engines import kinds_by_name
from harness.pytest_plugin.items import ItemAnswer, ItemCollector, ItemEntry, ItemPart
from harness.session.plan import find_servers
from harness.session.request import Request
from loaders.base.errors import EngineUnavailable, to_start

COVERED = "covered"
"""The outcome of a gold whose translation returns SQLite's rows."""


class CoverageRunner:
    """Measures the selected golds, ahead of the items, and prints the table.

    Args:
        request: only `set_name`, `dialects`, `limit`, `seconds`, `workers` and `profile` are used; the
           profile is `faithful` unless `official` is given.

    Raises:
        BadInput: an option or a file is wrong.
        EngineUnavailable: no server is up, or a requested one is not, or loading into one failed.
    """

    is_quick = False

    def __init__(self, request: Request) -> None:
        self._request = request
        servers = find_servers(
            request.dialects or list(kinds_by_name()), required=request.dialects is not None, say=_silent
        )
        if not servers:
            raise EngineUnavailable(
                f"coverage: no server is up to compare with SQLite, the reference; {to_start()}"
            )
        self._subject = Subject(
            CoverageRequest(
                set_name=request.set_name,
                profile=request.profile,
                choice=Choice(limit=request.limit),
                seconds=request.seconds,
                overrides=request.overrides,
                workers=request.processes,
            ),
            {found[0].dialect: found[0] for found in servers.values()},
            bird_home=request.bird_home,
        )
        self._asked = [
            (dialect, question)
            for dialect in self._subject.engines
            for question in self._subject.questions.questions
        ]
        self.parts: Sequence[ItemPart] = self._listed()
        self._collector = ItemCollector(self)
        self._answers: dict[tuple[Dialect, str], Future[CoverageAnswer]] = {}
        self._stopped = False

    def _listed(self) -> list[ItemPart]:
        path = expected.HOME / f"{self._subject.questions.name}.json"
        if not path.exists():
            path = self._subject.questions.path
        parts = []
        for dialect in self._subject.engines:
            entries = tuple(self._entry(place) for place, (of, _) in enumerate(self._asked) if of is dialect)
            parts.append(ItemPart(path, f"coverage/{dialect}", entries, (("dialect", str(dialect)),)))
        return parts

    def _entry(self, place: int) -> ItemEntry:
        dialect, question = self._asked[place]
        about = (
            ("question", question.key),
            ("database", question.db_id),
            ("difficulty", str(question.difficulty)),
        )
        before = self._subject.expected.get(dialect, {}).get(question.key)
        if before is None or before.answer in _AS_GOOD:
            return ItemEntry(place, question.key, about)
        # A result that SQLite leaves undefined may equal SQLite's another time.
        return ItemEntry(
            place,
            question.key,
            about,
            str(before.answer),
            strict=before.answer != DifferenceReason.UNSPECIFIED,
        )

    def pytest_configure(self, config: pytest.Config) -> None:
        """Register the collection of items."""
        config.pluginmanager.register(self._collector, "bird-items")

    def begin(self, places: Sequence[int], publish: Callable[[int, ItemAnswer], None] | None) -> None:
        """See `ItemSource.begin`."""
        self._answers = {self._key(place): Future() for place in places}
        if publish is not None:
            for place in places:
                self._answers[self._key(place)].add_done_callback(partial(self._publish, place, publish))
        Thread(target=self._measure, name="coverage", daemon=True).start()

    def _publish(
        self, place: int, publish: Callable[[int, ItemAnswer], None], done: "Future[CoverageAnswer]"
    ) -> None:
        del done
        publish(place, self.answer(place))

    def _key(self, place: int) -> tuple[Dialect, str]:
        dialect, question = self._asked[place]
        return dialect, question.key

    def _measure(self) -> None:
        """Measure all selected golds; failures are recorded as exceptions."""
        try:
            for found in self._subject.answers(lambda of, question: (of, question.key) in self._answers):
                if self._stopped:
                    break
                future = self._answers.get((found.dialect, found.question))
                if future is not None:
                    future.set_result(found)
        except Exception as error:  # noqa: BLE001 - it is those items' that wait, in another thread
            for future in self._answers.values():
                if not future.done():
                    future.set_exception(error)

    def answer(self, place: int) -> ItemAnswer:
        """See `ItemSource.answer`."""
        dialect, key = self._key(place)
        try:
            found = self._answers[dialect, key].result()
        except Exception as error:  # noqa: BLE001 - an engine broke, or a file
            return ItemAnswer("harness_error", f"{dialect} {key}: {type(error).__name__}: {error}")
        outcome = COVERED if found.covered else str(found.reason)
        faults = [str(fault) for fault in self._subject.faults([found])]
        if not self._subject.expected and not found.covered:
            faults.append(_about(found))
        if faults:
            return ItemAnswer(outcome, "\n".join((*faults, *_shown(found))))
        return ItemAnswer(outcome, None, None if found.covered else _about(found))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table of measurements."""
        done = [each for each in self._answers.values() if each.done() and each.exception() is None]
        if not done:
            return
        terminalreporter.section("coverage", sep="=")
        title = f"{self._subject.questions.name} compared with SQLite, profile {self._request.profile}"
        print_coverage(f"Translated golds of {title}", [each.result() for each in done])
        if (
            any(report.nodeid for report in terminalreporter.stats.get("failed", ()))
            and self._subject.expected
        ):
            terminalreporter.write_line(
                "look at the failures; if they are right: bird-harness coverage"
                f" --set {self._request.set_name}, then {ACCEPT} FOLDER"
            )

    def pytest_unconfigure(self) -> None:
        """Stop measuring."""
        self._stopped = True


_AS_GOOD = frozenset({COVERED, str(DifferenceReason.TIE)})


def _about(found: CoverageAnswer) -> str:
    detail = found.detail or (found.warnings[0] if found.warnings else "")
    return f"{found.dialect} {found.question}: {found.reason}" + (f" ({detail})" if detail else "")


def _shown(found: CoverageAnswer) -> list[str]:
    """Return lines about the rows that differ."""
    return [
        *(f"  only SQLite: {row}" for row in found.only_sqlite),
        *(f"  only {found.dialect}: {row}" for row in found.only_engine),
        *([] if found.sql is None else [f"run: {' '.join(found.sql.split())}"]),
    ]


def _silent(line: str) -> None:
    del line

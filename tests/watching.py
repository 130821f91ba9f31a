"""Engines that write down what they are asked, for tests of what runs when; the engines are real ones."""

from collections.abc import Iterator
from typing import Any, Self, cast

from harness.engines.base import Engine, Row, Session
from harness.metrics.efficiency import Timing
from harness.scoring.tasks import TimingMethod
from loaders.namespace import Database


def in_turn(method: TimingMethod, timing: Timing, prediction: str, gold: str) -> list[tuple[str, int]]:
    """`Watched.texts` where a pair is timed by the rules."""
    open_sessions = 1 if method is TimingMethod.OFFICIAL else 2
    return [(prediction, open_sessions), (gold, open_sessions)] * (timing.executions // 2)


class Watched:
    """An engine that is watched: `engine` is to be used in its place.

    `texts` has every text that it ran, with how many sessions were open then; `sessions` counts all of them.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.engine = cast("Engine", self)
        self.texts: list[tuple[str, int]] = []
        self.sessions = 0
        self.open = 0

    def session(self, database: Database, seconds: float) -> Session:
        """A session of the engine."""
        self.sessions += 1
        return cast("Session", _WatchedSession(self, self._engine.session(database, seconds)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


class _WatchedSession:
    def __init__(self, watched: Watched, session: Session) -> None:
        self._watched = watched
        self._session = session

    def batches(self, sql: str) -> Iterator[list[Row]]:
        self._watched.texts.append((sql, self._watched.open))
        return self._session.batches(sql)

    def __enter__(self) -> Self:
        self._watched.open += 1
        self._session.__enter__()
        return self

    def __exit__(self, *args: object) -> None:
        self._watched.open -= 1
        self._session.__exit__(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

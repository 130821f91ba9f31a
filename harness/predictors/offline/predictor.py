"""The offline baseline: rules of English and a schema's names, no model, no network, no gold."""

from collections.abc import Mapping
from threading import Lock
from typing import Any

from harness.predictors.base import Ask, DatabaseText, Problem, Reply
from harness.predictors.offline.catalog import Catalog, catalog
from harness.predictors.offline.composition import compose
from harness.predictors.offline.linking import Linker
from harness.predictors.offline.reading import understand
from harness.predictors.offline.writing import spell

VERSION = 1
"""Counts up whenever the same problem may get another answer."""

_KNOWN = 64


class OfflinePredictor:
    """Answers every ask with one query, made of the problem alone; messages are not read.

    The same problem gets the same answer, always. No text makes it raise: what it doesn't understand is
    left out.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._schemas: dict[int, tuple[DatabaseText, Catalog, Linker]] = {}

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides its replies."""
        return {"kind": "offline", "version": VERSION}

    def ask(self, ask: Ask) -> Reply:
        """The query, as plain SQL without a semicolon; no request is sent."""
        return Reply(self.answer(ask.problem), finish="stop")

    def answer(self, problem: Problem) -> str:
        """The query for a problem."""
        schema, linker = self._schema(problem.database)
        if not schema.entities:
            return "SELECT 1"
        reading = understand(problem, schema, linker)
        return spell(compose(reading), schema, problem.dialect)

    def _schema(self, database: DatabaseText) -> tuple[Catalog, Linker]:
        """The index of a schema; the last ones are kept by their identity, which costs less than a hash."""
        with self._lock:
            known = self._schemas.get(id(database))
            if known is None or known[0] is not database:
                if len(self._schemas) >= _KNOWN:
                    self._schemas.clear()
                found = catalog(database)
                known = self._schemas[id(database)] = database, found, Linker(found)
            return known[1], known[2]

    def close(self) -> None:
        """Nothing to let go of."""


def open_offline() -> OfflinePredictor:
    """The offline baseline, ready to answer."""
    return OfflinePredictor()

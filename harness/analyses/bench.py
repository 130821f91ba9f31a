"""What analyses run on: a question set with its databases on engines, and threads.

Nothing here judges an answer, so that translating a query does not import what does.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Self, TypeVar

from dialects.enums import Dialect, Profile
from dialects.schema import Schema
from harness.data.published_sets import Provenance, provenances
from harness.data.questions import QuestionSet
from harness.engines import EngineName, on_server
from harness.engines.base import Engine
from harness.engines.execution import Limits
from loaders import bulk_load as loading
from loaders.base.digests import digests
from loaders.base.processes import Memo
from loaders.bulk_load import Progress
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server

Item = TypeVar("Item")
Value = TypeVar("Value")


def in_threads(workers: int, measure: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
    """Yield the results of `measure` in the order of the items; after an error no waiting item is begun."""
    with ThreadPoolExecutor(workers, thread_name_prefix="analysis") as pool:
        try:
            yield from pool.map(measure, items)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def provenance_of(questions: QuestionSet, known: Mapping[str, str] | None = None) -> Mapping[str, Provenance]:
    """Return whether each database is the published one; nothing where the set's are not published.

    Args:
        questions: the set.
        known: the digests of the SQLite files by database; None to compute them.
    """
    return provenances(questions.name, sqlite_digests(questions) if known is None else known) or {}


def synthetic_databases(provenance: Mapping[str, Provenance]) -> frozenset[str]:
    """Return the databases whose rows count as synthetic.

    One without a published digest is among them if some databases are not the published ones: then nothing
    says that it is.
    """
    others = Provenance.OTHER in provenance.values()
    return frozenset(
        db_id for db_id, each in provenance.items() if others and each is not Provenance.PUBLISHED
    )


def sqlite_digests(questions: QuestionSet) -> dict[str, str]:
    """Return the digests of a set's SQLite files, by database.

    Raises:
        BadInput: a file cannot be read.
    """
    paths = {db_id: questions.database(db_id).sqlite_path for db_id in questions.db_ids}
    known = digests(paths.values())
    return {db_id: known[path] for db_id, path in paths.items()}


@dataclass(frozen=True)
class Bench:
    """A question set with its databases on engines; thread-safe.

    `engines` use connections again. `missing_databases` are those that an engine does not have, and
    why; `escaped` those whose values it has escaped.
    """

    questions: QuestionSet
    engines: Mapping[EngineName, Engine]
    profile: Profile
    limits: Limits
    workers: int = 1
    missing_databases: Mapping[tuple[EngineName, str], str] = field(default_factory=dict)
    escaped: frozenset[tuple[EngineName, str]] = frozenset()
    _schemas: Memo = field(default_factory=Memo, repr=False)

    @classmethod
    def open(  # noqa: PLR0913 - what it stands on
        cls,
        questions: QuestionSet,
        servers: Mapping[Dialect, Server],
        profile: Profile,
        limits: Limits,
        *,
        workers: int = 1,
        progress: Progress | None = None,
    ) -> Self:
        """Return the servers, after loading the databases of the set that are missing there.

        Raises:
            BadInput: a file is wrong.
            EngineUnavailable: a server broke.
        """
        databases = [questions.database(db_id, profile) for db_id in questions.db_ids]
        missing_databases: dict[tuple[EngineName, str], str] = {}
        escaped: set[tuple[EngineName, str]] = set()
        for dialect, server in servers.items():
            done, left = loading.load_each(databases, server, progress=progress)
            loading.refuse_changed(done, server)
            escaped.update((dialect, one.database.db_id) for one in done if one.escape)
            missing_databases.update({(dialect, one.database.db_id): one.reason for one in left})
        engines: dict[EngineName, Engine] = {name: on_server(server) for name, server in servers.items()}
        return cls(questions, engines, profile, limits, workers, missing_databases, frozenset(escaped))

    def database(self, db_id: str) -> Database:
        """Return a database of the set, with its place on every engine."""
        return self.questions.database(db_id, self.profile)

    def schema(self, db_id: str, engine: EngineName) -> Schema:
        """Return the census of a database as it is loaded on an engine.

        Raises:
            BadInput: the file cannot be read.
        """
        path, escape = self.database(db_id).sqlite_path, (engine, db_id) in self.escaped
        found: Schema = self._schemas((db_id, escape), lambda: census(path, escape=escape))
        return found

    def each(self, measure: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """See `in_threads`."""
        return in_threads(self.workers, measure, items)

"""What an outcome depends on, as digests: the addresses under which executions and judgements are stored.

Promise: two things have the same address only if nothing that can decide them differs: the code of this
project, the packages that it uses, the engine with its settings, the contents of the databases, the limits
and the texts.
"""

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

from harness.benchmark import Question
from harness.engines.base import Engine
from harness.errors import BadInput
from harness.judging.golds import Golds
from harness.judging.sheets import Setup
from harness.known.digests import digests
from harness.known.lasting import Lasting, lasting
from harness.once import Once
from harness.outcomes import GoldOrigin
from harness.words import Dialect

_PACKAGES = ("sqlglot", "pymysql", "psycopg", "numpy", "scipy")
_ROOT = Path(__file__).parents[2]
_ROOMS = ("harness", "dialects", "loaders")
_SHOWS = _ROOT / "harness" / "report"
_DECIDE = {".py", ".sql", ".json", ".toml"}


@cache
def code() -> str:
    """Digest of this project's code, but for what shows outcomes, and of the versions that it runs on."""
    digest = hashlib.sha256()
    for path in sorted(_sources()):
        digest.update(f"{path.relative_to(_ROOT)}\0".encode() + path.read_bytes() + b"\0")
    versions = [platform.python_version(), *map(version, _PACKAGES)]
    return f"{digest.hexdigest()} {' '.join(versions)}"


def _sources() -> Iterator[Path]:
    for room in _ROOMS:
        for folder, inner, names in os.walk(_ROOT / room):
            if Path(folder) == _SHOWS:
                inner.clear()
            else:
                yield from (Path(folder, name) for name in names if Path(name).suffix in _DECIDE)


class Addresses:
    """The addresses of one run; thread-safe.

    None is the address of what is decided by the clock or by chance, too, and of what happens in a database
    whose file cannot be read. What is the same all day has the day in its address, where the engine's days
    are those of UTC.

    Args:
        setup: what is the same for every sheet of the run.
        golds: its references.
        engines: the engines that it uses.

    Raises:
        EngineLost: an engine does not tell its version and settings.
    """

    def __init__(self, setup: Setup, golds: Golds, engines: Mapping[Dialect, Engine]) -> None:
        self._setup = setup
        self._golds = golds
        settings = {dialect: dict(sorted(engine.settings().items())) for dialect, engine in engines.items()}
        self._engines = {
            dialect: [dialect, engine.version(), settings[dialect]] for dialect, engine in engines.items()
        }
        self._in_utc = {dialect for dialect, found in settings.items() if _in_utc(found)}
        self._begun = Once()

    def _places(self, dialect: Dialect, db_id: str) -> "tuple[hashlib._Hash, hashlib._Hash] | None":
        """Of executions and of judgements, what is the same for all texts on a database."""
        return self._begun((dialect, db_id), lambda: self._begin(dialect, db_id))

    def _begin(self, dialect: Dialect, db_id: str) -> "tuple[hashlib._Hash, hashlib._Hash] | None":
        setup = self._setup
        # On a server a text can name the tables of the other databases, too.
        within = [db_id] if dialect is Dialect.SQLITE else setup.questions.db_ids
        try:
            known = digests(setup.questions.database(each).sqlite_path for each in within)
        except BadInput:
            return None
        files = [known[setup.questions.database(each).sqlite_path] for each in within]
        limits = [setup.limits.seconds, setup.limits.rows, setup.limits.bytes]
        place = [code(), self._engines[dialect], setup.profile, files, db_id, limits]
        variants = None if setup.variants is None else setup.variants.fingerprint
        schema = repr(setup.questions.schemas.get(db_id))
        scoring = [list(setup.metrics), variants, schema, setup.diagnoses, setup.previews]
        return _begun("execution", place), _begun("judgement", [place, scoring])

    def execution(self, question: Question, dialect: Dialect, sql: str, day: str) -> bytes | None:
        """That of what came of a text, begun on a `day` in UTC."""
        return self._address(0, question, dialect, day, [sql], sql)

    def gold(self, question: Question, dialect: Dialect, day: str) -> bytes | None:
        """That of what came of gold: of the same text as a prediction's, unless it is translated."""
        written = self._golds.written(question, dialect)
        if self._golds.origin(question, dialect) is not GoldOrigin.TRANSLATED:
            return self.execution(question, dialect, written, day)
        return self._address(0, question, dialect, day, ["translated", written], written)

    def judgement(self, question: Question, dialect: Dialect, sql: str, day: str) -> bytes | None:
        """That of what a prediction comes to."""
        written = self._golds.written(question, dialect)
        texts = [self._golds.origin(question, dialect), written, sql]
        return self._address(1, question, dialect, day, texts, sql, written)

    def _address(
        self, kind: int, question: Question, dialect: Dialect, day: str, texts: Sequence[str], *run: str
    ) -> bytes | None:
        """The address of `texts`, which come to what the texts that are `run` do."""
        places = self._places(dialect, question.db_id)
        if places is None:
            return None
        lasts = {lasting(sql) for sql in run}
        if lasts == {Lasting.ALWAYS}:
            return _address(places[kind], *texts)
        if Lasting.NEVER in lasts or dialect not in self._in_utc:
            return None
        return _address(places[kind], day, *texts)


def today() -> str:
    """The day in UTC."""
    return datetime.now(UTC).date().isoformat()


def _in_utc(settings: Mapping[str, str]) -> bool:
    """Whether a day of an engine's begins and ends as it does in UTC; SQLite has no other days."""
    zone = settings.get("time_zone") or settings.get("TimeZone") or "UTC"
    return zone in {"+00:00", "UTC", "Etc/UTC"}


def _begun(kind: str, facts: object) -> "hashlib._Hash":
    return hashlib.sha256(json.dumps([kind, facts], default=str).encode())


def _address(begun: "hashlib._Hash", *texts: str) -> bytes:
    digest = begun.copy()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()

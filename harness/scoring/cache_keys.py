"""What an outcome depends on, as digests: the cache keys under which executions and judgements are stored.

Promise: two things have the same cache key only if nothing that can decide them differs: the code of this
project, the packages that it uses, the engine with its settings, the contents of the databases, the limits
and the texts.
"""

import hashlib
import importlib
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from sqlite3 import sqlite_version

from dialects.errors import BadInput
from harness.cache.lookup import Lifetime, lifetime
from harness.data.outcomes import GoldOrigin
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of, kind_of, packages
from harness.engines.base import Engine
from harness.metrics import Basis, of_basis
from harness.metrics.work import weights_digest
from harness.scoring.once import Once
from harness.scoring.tasks import Golds, Setup
from loaders.base.digests import digests

_PACKAGES = ("sqlglot", "pymysql", "psycopg", "numpy", "scipy")
_ROOT = Path(__file__).parents[2]
_ROOMS = ("harness", "dialects", "loaders")
_DECIDE = (".py", ".sql", ".json", ".toml")
DECIDE_NOTHING = frozenset({
    "harness/__main__.py", "harness/cli", "harness/analyses",
    "harness/data/predictions.py", "harness/data/published.py",
    "harness/data/published_dev.toml", "harness/metrics/weights.json",
    "harness/metrics/statistics.py", "harness/predictors", "harness/provision", "harness/pytest_plugin",
    "harness/report", "harness/runs", "harness/session", "harness/data/sets",
    "harness/sqltree/constructs.py", "loaders/sample", "loaders/verify",
})  # fmt: skip
"""What asks, predicts, shows and starts engines. Nothing that judges imports it, which a test holds it to.

All else counts, whatever is added. What a question set says is in a cache key itself.
"""


def sources() -> list[str]:
    """The files that can decide an outcome, from the root of the project, in order."""
    found: list[str] = []
    for room in _ROOMS:
        for folder, inner, names in os.walk(_ROOT / room):
            place = Path(folder).relative_to(_ROOT).as_posix()
            inner[:] = [name for name in inner if f"{place}/{name}" not in DECIDE_NOTHING]
            paths = (f"{place}/{name}" for name in names if name.endswith(_DECIDE))
            found += (path for path in paths if path not in DECIDE_NOTHING)
    return sorted(found)


def _looks(root: Path, names: Iterable[str]) -> dict[str, tuple[int, int]]:
    looks = {name: (root / name).stat() for name in names}
    return {name: (look.st_mtime_ns, look.st_size) for name, look in looks.items()}


def digest_of(contents: Iterable[tuple[str, bytes]]) -> str:
    """One digest of files, by their names."""
    digest = hashlib.sha256()
    for name, content in contents:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


# At the start, with the imports: what is on the disk later is not what judges.
_AT_THE_START = _looks(_ROOT, sources())
_DIGEST = digest_of((name, (_ROOT / name).read_bytes()) for name in _AT_THE_START)


@cache
def code() -> str:
    """Digest of this project's code that can decide an outcome, and the versions that it runs on."""
    versions = [platform.python_version(), *map(version, _PACKAGES)]
    return f"{_DIGEST} {' '.join(versions)}"


@dataclass(frozen=True)
class _Outside:
    """The code of a package that brings an engine, as it was when it was first asked for."""

    root: Path
    looks: Mapping[str, tuple[int, int]]
    digest: str


@cache
def _outside() -> Mapping[EngineName, _Outside]:
    """By the names of the engines that installed packages bring."""
    found: dict[EngineName, _Outside] = {}
    for name, package in packages().items():
        module = importlib.import_module(package)
        # A module has no folder of its own, and a namespace no file.
        root = Path(next(iter(getattr(module, "__path__", ())), module.__file__ or ""))
        looks = _looks(root, _files(root))
        found[name] = _Outside(root, looks, digest_of((each, (root / each).read_bytes()) for each in looks))
    return found


def _files(root: Path) -> list[str]:
    """The files of a package that can decide an outcome, in order; of a module its own, by the name `.`."""
    files = sorted(path for path in root.rglob("*") if path.suffix in _DECIDE) if root.is_dir() else [root]
    return [path.relative_to(root).as_posix() for path in files]


def is_as_at_the_start() -> bool:
    """Whether the code on the disk is still that of `code`.

    A worker that starts later imports what is there then: what it comes to is not to be kept under the
    cache key of other code.
    """
    try:
        outside = all(_looks(each.root, _files(each.root)) == each.looks for each in _outside().values())
        return outside and _looks(_ROOT, sources()) == _AT_THE_START
    except OSError:
        return False


class CacheKeys:
    """The keys of one run; thread-safe.

    None is the cache key of what happens in a database whose file cannot be read, on a server that lacks a
    database of the set, and of what is decided by a gold that asks the clock or chance. What is the same all
    day has the day in its cache key, where the engine's days are those of UTC. A prediction that asks the
    clock or chance has a cache key for what it comes to at any time, which is an error on reading it.

    Args:
        setup: what is the same for every task of the run.
        golds: its references.
        engines: the engines that it uses.

    Raises:
        EngineLost: an engine does not tell its version and settings.
    """

    def __init__(self, setup: Setup, golds: Golds, engines: Mapping[EngineName, Engine]) -> None:
        self._setup = setup
        self._golds = golds
        settings = {dialect: dict(sorted(engine.settings().items())) for dialect, engine in engines.items()}
        self._engines = {
            dialect: [dialect, engine.version(), settings[dialect]] for dialect, engine in engines.items()
        }
        for name in _outside().keys() & self._engines.keys():
            self._engines[name].append(_outside()[name].digest)
        self._in_utc = {dialect for dialect, found in settings.items() if _in_utc(found)}
        self._begun = Once()

    def _places(self, dialect: EngineName, db_id: str) -> "tuple[hashlib._Hash, hashlib._Hash] | None":
        """Of executions and of judgements, what is the same for all texts on a database."""
        return self._begun((dialect, db_id), lambda: self._begin(dialect, db_id))

    def _begin(self, dialect: EngineName, db_id: str) -> "tuple[hashlib._Hash, hashlib._Hash] | None":
        setup = self._setup
        if any(of == dialect for of, _ in setup.unloaded):
            return None
        # On a server a text can name the tables of the other databases, too.
        within = setup.questions.db_ids if kind_of(dialect).has_server else [db_id]
        try:
            known = digests(setup.questions.database(each).sqlite_path for each in within)
        except BadInput:
            return None
        files = [known[setup.questions.database(each).sqlite_path] for each in within]
        limits = [setup.limits.seconds, setup.limits.rows, setup.limits.bytes]
        # A server's tables need not come from the file, but from a dump of other content.
        standing = setup.standing.get(dialect, {})
        stand = [sorted(set(standing.get(each, ()))) for each in within]
        place = [code(), self._engines[dialect], setup.profile, files, stand, db_id, limits]
        variants = None if setup.variants is None else setup.variants.fingerprint
        schema = repr(setup.questions.schemas.get(db_id))
        scoring = [list(setup.metrics), variants, schema, setup.diagnoses, setup.previews]
        if of_basis(setup.metrics, Basis.WORK):
            # Of the score alone: what was counted holds whatever it weighs.
            scoring += [weights_digest(), sorted(setup.uncounted)]
        return _begun("execution", place), _begun("judgement", [place, scoring])

    def execution(self, question: Question, dialect: EngineName, sql: str, day: str) -> bytes | None:
        """That of what came of a text, begun on a `day` in UTC."""
        return self._executed(question, dialect, day, [sql], self.lifetime(dialect, sql))

    def work(self, question: Question, dialect: EngineName, sql: str, day: str) -> bytes | None:
        """That of what a text, a prediction's or a gold's, makes its engine do, begun on a `day` in UTC."""
        return self._executed(question, dialect, day, ["work", sql], self.lifetime(dialect, sql))

    def gold(self, question: Question, dialect: EngineName, day: str) -> bytes | None:
        """That of what came of a gold: of the same text as a prediction's, unless another one is run."""
        written = self._golds.written(question, dialect)
        lasts = self.lifetime(dialect, written)
        if lasts is Lifetime.NEVER:
            return None
        origin, texts = self._golds.origin(question, dialect), [written]
        if origin is GoldOrigin.TRANSLATED:
            texts = ["translated", written]
        elif origin is GoldOrigin.SQLITE_ROWS:
            texts = ["sqlite", sqlite_version, written]
        return self._executed(question, dialect, day, texts, lasts)

    def judgements(
        self, question: Question, dialect: EngineName, predictions: Iterable[str], day: str
    ) -> dict[str, bytes | None]:
        """Those of what predictions come to, if they come to the same on any day.

        What is found there may be used: nothing else is kept at these keys. Of what is not found,
        `dated` has the keys of what lasts for the day.
        """
        of_gold = self._of_gold(question, dialect)
        begun = None if of_gold is Lifetime.NEVER else self._judged(
            question, dialect, [day] if of_gold is Lifetime.TODAY else []
        )  # fmt: skip
        return {sql: None if begun is None else _cache_key(begun, sql) for sql in predictions}

    def dated(
        self, question: Question, dialect: EngineName, predictions: Iterable[str], day: str
    ) -> dict[str, bytes]:
        """Those of what predictions come to that ask for today's date, and for nothing finer."""
        asking = [sql for sql in predictions if self.lifetime(dialect, sql) is Lifetime.TODAY]
        if not asking or self._of_gold(question, dialect) is Lifetime.NEVER:
            return {}
        begun = self._judged(question, dialect, [day])
        return {} if begun is None else {sql: _cache_key(begun, sql) for sql in asking}

    def _of_gold(self, question: Question, dialect: EngineName) -> Lifetime:
        """For how long all golds of a question return the same rows."""
        each = {
            self.lifetime(dialect, self._golds.written(one, dialect))
            for one in question.each(dialect_of(dialect))
        }
        return next(lasts for lasts in (Lifetime.NEVER, Lifetime.TODAY, Lifetime.ALWAYS) if lasts in each)

    def _judged(self, question: Question, dialect: EngineName, days: Sequence[str]) -> "hashlib._Hash | None":
        """Of judgements, what is the same for all predictions for a question."""
        places = self._places(dialect, question.db_id)
        if places is None:
            return None
        golds = (
            text
            for one in question.each(dialect_of(dialect))
            for text in (self._golds.origin(one, dialect), self._golds.written(one, dialect))
        )
        return _continued(places[1], *days, *golds)

    def lifetime(self, dialect: EngineName, sql: str) -> Lifetime:
        """For how long a text returns the same rows from the same data on an engine."""
        lasts = lifetime(sql)
        return Lifetime.NEVER if lasts is Lifetime.TODAY and dialect not in self._in_utc else lasts

    def _executed(
        self, question: Question, dialect: EngineName, day: str, texts: Sequence[str], lasts: Lifetime
    ) -> bytes | None:
        """The cache key of `texts`, and of the day if what they come to lasts for that."""
        places = self._places(dialect, question.db_id)
        if places is None:
            return None
        return _cache_key(places[0], *([day] if lasts is Lifetime.TODAY else ()), *texts)


def today() -> str:
    """The day in UTC."""
    return datetime.now(UTC).date().isoformat()


def _in_utc(settings: Mapping[str, str]) -> bool:
    """Whether a day of an engine's begins and ends as it does in UTC; SQLite has no other days."""
    zone = settings.get("time_zone") or settings.get("TimeZone") or "UTC"
    return zone in {"+00:00", "UTC", "Etc/UTC"}


def _begun(kind: str, facts: object) -> "hashlib._Hash":
    return hashlib.sha256(json.dumps([kind, facts], default=str).encode())


def _continued(begun: "hashlib._Hash", *texts: str) -> "hashlib._Hash":
    digest = begun.copy()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest


def _cache_key(begun: "hashlib._Hash", *texts: str) -> bytes:
    return _continued(begun, *texts).digest()

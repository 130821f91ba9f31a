"""The result cache: how long results last, the keys of executions and judgements, and the lookup of values.

Two results share a cache key only if everything that can decide them is equal: the code of this project, the
packages it uses, the engine with its settings, the contents of the databases, the limits and the texts.
"""

import hashlib
import importlib
import json
import platform
import re
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from sqlite3 import sqlite_version
from threading import Lock

from dialects.errors import BadInput
from dialects.volatility import is_volatile
from harness.data.outcomes import GoldOrigin
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of, kind_of, packages
from harness.engines.base import Engine, unstable_functions
from harness.lab import deciding_packages
from harness.metrics import Basis, of_basis, question_metrics
from harness.metrics.work import WEIGHTS, weights_digest
from harness.scoring.golds import Golds
from harness.scoring.tasks import Setup
from loaders.base.digests import digests
from loaders.base.store import EntryKind, Store

_ROOT = Path(__file__).parents[2]
_ROOMS = (
    "dialects",
    "loaders",
    *(f"harness/{room}" for room in ("data", "engines", "metrics", "scoring", "sqltree")),
    "harness/lab.py",
)
"""The code that can decide an outcome: everything that judging imports, as a test verifies."""

_SUFFIXES = frozenset({".py", ".sql", ".json", ".toml"})
_LAB = "lab "
"""What the names of packages of labs begin with, as no engine's does."""
_PACKAGES = ("sqlglot", "pymysql", "psycopg", "numpy", "scipy")


@dataclass(frozen=True)
class Code:
    """A snapshot of the files that can decide an outcome, by their paths from `base`."""

    base: Path
    rooms: tuple[str, ...]
    looks: Mapping[str, tuple[int, int]]
    digest: str

    @classmethod
    def read(cls, base: Path, rooms: Iterable[str]) -> "Code":
        """Read the current code from folders, recursively, and single files."""
        rooms = tuple(rooms)
        digest = hashlib.sha256()
        looks = _file_stats(base, rooms)
        for name in looks:
            content = (base / name).read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        return cls(base, rooms, looks, digest.hexdigest())

    @property
    def is_unchanged(self) -> bool:
        """True if the files on disk are still the same."""
        try:
            return _file_stats(self.base, self.rooms) == self.looks
        except OSError:
            return False


def _file_stats(base: Path, rooms: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return the modification time and the size of each file."""
    found = {}
    for room in rooms:
        inner = (base / room).rglob("*") if (base / room).is_dir() else [base / room]
        # The weights decide only scores, whose keys include the digest of the weights.
        for path in (path for path in inner if path.suffix in _SUFFIXES and path != WEIGHTS):
            look = path.stat()
            found[path.relative_to(base).as_posix()] = look.st_mtime_ns, look.st_size
    return dict(sorted(found.items()))


# Read at import, because the process judges with the code of that moment.
CODE = Code.read(_ROOT, _ROOMS)


@cache
def code() -> str:
    """Return a digest of the code that can decide an outcome, with the versions it runs on."""
    of_labs = [found.digest for name, found in _packages().items() if name.startswith(_LAB)]
    return " ".join([CODE.digest, platform.python_version(), *map(version, _PACKAGES), *of_labs])


@cache
def _packages() -> Mapping[str, Code]:
    """Return the code of packages as of the first call: of engines, by engine, and of metrics of labs."""
    found, of_labs = {}, deciding_packages(question_metrics())
    for name, package in {**packages(), **{f"{_LAB}{each}": each for each in of_labs}}.items():
        module = importlib.import_module(package)
        # A single module has no folder of its own, a namespace package no file.
        root = Path(next(iter(getattr(module, "__path__", ())), module.__file__ or ""))
        found[name] = Code.read(root.parent, [root.name])
    return found


def is_code_unchanged() -> bool:
    """Return True if the code on disk is still that of `code`.

    A worker that starts later imports the code on disk then; its results must not be stored under the
    cache key of other code.
    """
    return all(each.is_unchanged for each in (CODE, *_packages().values()))


class Lifetime(Enum):
    """For how long a SQL text returns the same rows from the same data, shortest first.

    Golds that compute an age use today's date or year. In UTC that is constant all day, so their results
    can be cached for the day. As in `dialects.volatility`, when in doubt: not at all.
    """

    NEVER = "never"
    TODAY = "today"
    """Until the end of the day in UTC, in a session whose time zone is UTC."""
    ALWAYS = "always"


_LONGEST = 20_000
_LONGEST_REMEMBERED = 5_000

_TODAY = "'2000-01-01'"
"""Placeholder for expressions of the day while the rest of a text is examined."""

_NOTHING = r"\s*\(\s*\)"
_NOW = rf"(?:now{_NOTHING}|current_timestamp\b(?:{_NOTHING}|(?!\s*\())|'now'|\"now\")"

_DAYS = re.compile(
    rf"""
    \bcurrent_date\b (?: {_NOTHING} | (?!\s*\() )
    | \b(?:curdate|utc_date){_NOTHING}
    | \bdate\s*\(\s*{_NOW}\s*\)
    | \bcast\s*\(\s*{_NOW}\s+as\s+date\s*\)
    | \b{_NOW}\s*::\s*date\b
    | (?: (?<=[(,]) | (?<=\bselect\s) | (?<=\bselect\sdistinct\s) )
      \s* datetime\s*\(\s*(?:'now'\s*)?\) (?= \s*-[^->] )
    | (?<=\bdatediff\() \s* {_NOW} (?= \s*, )
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Today's date in each dialect, and uses of the current time that take only its date or year.

SQLite converts a text to the number of its leading digits, so `DATETIME() - x` takes the year; no other
engine has a function of this name. MySQL's `DATEDIFF` uses only dates.
https://sqlite.org/lang_expr.html#castexpr,
https://dev.mysql.com/doc/refman/9.7/en/date-and-time-functions.html#function_datediff
"""

_MOMENT = rf"(?:{_NOW}|{_TODAY}|cast\s*\(\s*{_NOW}\s+as\s+datetime\s*\))"
_PARTS = "year|month|day|doy|dow|week|quarter|isoyear|isodow|decade|century"
_PARTS_OF_DAYS = re.compile(
    rf"""
    \bstrftime\s*\(\s*'(?:[^'%]|%(?-i:[YmdjwuWUVGFeg]))*'\s*,\s*{_MOMENT}\s*\)
    | \bdate_format\s*\(\s*{_MOMENT}\s*,\s*'(?:[^'%]|%(?-i:[YymdcejMbaW]))*'\s*\)
    | \b(?:year|month|day|dayofyear|dayofmonth|dayofweek|quarter|to_days)\s*\(\s*{_MOMENT}\s*\)
    | \bextract\s*\(\s*(?:{_PARTS})\s+from\s+{_MOMENT}\s*\)
    | \bdate_part\s*\(\s*'(?:{_PARTS})'\s*,\s*{_MOMENT}\s*\)
    | \bto_char\s*\(\s*{_MOMENT}\s*,\s*'(?:YYYY|MM|DD|[-/.\x20])*'\s*\)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Parts of the current time that are constant all day: formats with no unit smaller than a day.

https://sqlite.org/lang_datefunc.html, https://www.postgresql.org/docs/current/functions-datetime.html,
https://dev.mysql.com/doc/refman/9.7/en/date-and-time-functions.html
"""

_AGE = re.compile(r"\bage(?=[\"`\]]?\s*\()", re.IGNORECASE)
"""PostgreSQL's age() of one time is the age today, at midnight."""

_TIMES = re.compile(
    r"\b(?:maketime|sec_to_time|addtime|subtime|timediff|time(?=\s*\(\s*[^\s)/#-]))(?=\s*\()|(?<=\bas\s)time\b",
    re.IGNORECASE,
)
"""MySQL: where such a value becomes a date and time, the date is today's.

https://dev.mysql.com/doc/refman/9.7/en/date-and-time-type-conversion.html
"""

_ZONES = re.compile(r"zone|set_var|localtime|\bxid", re.IGNORECASE)
"""Whatever may shift the start of a day, or change the meaning of age()."""


def lifetime(sql: str, unstable: frozenset[str] = frozenset()) -> Lifetime:
    """Return for how long a text returns the same rows; `unstable` is as for `is_volatile`."""
    if not is_volatile(sql, unstable):
        return Lifetime.ALWAYS
    if len(sql) > _LONGEST:
        return Lifetime.NEVER
    return (_examined if len(sql) > _LONGEST_REMEMBERED else _remembered)(sql, unstable)


def _examined(sql: str, unstable: frozenset[str]) -> Lifetime:
    if _ZONES.search(sql):
        return Lifetime.NEVER
    without = _PARTS_OF_DAYS.sub(_TODAY, _DAYS.sub(_TODAY, sql))
    without = _TIMES.sub("hours", _AGE.sub("years", without))
    return Lifetime.NEVER if is_volatile(without, unstable) else Lifetime.TODAY


_remembered = lru_cache(maxsize=2_000)(_examined)


class CacheKeys:
    """The keys of one run; thread-safe.

    A key is None, so that nothing is cached, if a database file cannot be read, if a server lacks a database
    of the set, and if the gold depends on the clock or on chance. A result that is constant all day has the
    day in its key, if the engine's days are those of UTC. A prediction that depends on the clock or on chance
    has a key for its constant outcome: a syntax error.

    Args:
        setup: what all tasks of the run share.
        golds: the golds of the run.
        engines: the engines of the run.

    Raises:
        EngineLost: an engine does not return its version and settings.
    """

    def __init__(self, setup: Setup, golds: Golds, engines: Mapping[EngineName, Engine]) -> None:
        self._setup = setup
        self._golds = golds
        settings = {dialect: dict(sorted(engine.settings().items())) for dialect, engine in engines.items()}
        self._engines = {
            dialect: [dialect, engine.version(), settings[dialect]] for dialect, engine in engines.items()
        }
        self._unstable = {dialect: unstable_functions(engine) for dialect, engine in engines.items()}
        for name in _packages().keys() & self._engines.keys():
            self._engines[name].append(_packages()[name].digest)
        self._in_utc = {dialect for dialect, found in settings.items() if _in_utc(found)}
        self._hashers: dict[tuple[EngineName, str], tuple[hashlib._Hash, hashlib._Hash] | None] = {}
        self._judgement_hashers: dict[tuple[EngineName, str, str], hashlib._Hash] = {}

    def has_hasher(self, dialect: EngineName, db_id: str) -> bool:
        """Return True if keys for a database are made without reading its files."""
        return (dialect, db_id) in self._hashers

    def _make_hashers(self, dialect: EngineName, db_id: str) -> "tuple[hashlib._Hash, hashlib._Hash] | None":
        """Return the common parts of the keys of executions and of judgements on a database, or None."""
        setup = self._setup
        if any(of == dialect for of, _ in setup.missing_databases):
            return None
        # On a server, a text can read the tables of the other databases, too.
        within = setup.questions.db_ids if kind_of(dialect).has_server else [db_id]
        paths = [setup.questions.database(each).sqlite_path for each in within]
        try:
            known = digests(paths)
        except BadInput:
            return None
        files = [known[path] for path in paths]
        limits = [setup.limits.seconds, setup.limits.rows, setup.limits.bytes, setup.questions.now]
        # A server's tables may come from a dump with other contents than the file.
        server_contents = setup.server_contents.get(dialect, {})
        stand = [sorted(set(server_contents.get(each, ()))) for each in within]
        place = [
            code(),
            self._engines[dialect],
            setup.database(db_id, dialect).profile,
            files,
            stand,
            db_id,
            limits,
        ]
        variants = None if setup.variants is None else setup.variants.fingerprint
        schema = repr(setup.questions.schemas.get(db_id))
        scoring = [list(setup.metrics), variants, schema, setup.diagnoses, setup.previews]
        if of_basis(setup.metrics, Basis.WORK):
            # Only scores depend on the weights; counted work does not.
            scoring += [weights_digest(), sorted(setup.uncounted)]
        return _hasher("execution", place), _hasher("judgement", [place, scoring])

    def _hashers_of(self, dialect: EngineName, db_id: str) -> "tuple[hashlib._Hash, hashlib._Hash] | None":
        if (dialect, db_id) not in self._hashers:
            self._hashers[dialect, db_id] = self._make_hashers(dialect, db_id)
        return self._hashers[dialect, db_id]

    def execution(self, question: Question, dialect: EngineName, sql: str, day: str) -> bytes | None:
        """Return the key of the execution of a text, started on a `day` in UTC."""
        return self._execution_key(question, dialect, day, self.lifetime(dialect, sql), sql)

    def work(self, question: Question, dialect: EngineName, sql: str, day: str) -> bytes | None:
        """Return the key of the work of a text, prediction or gold, started on a `day` in UTC."""
        return self._execution_key(question, dialect, day, self.lifetime(dialect, sql), "work", sql)

    def witnesses(self, question: Question, dialect: EngineName) -> bytes | None:
        """Return the key of the witnesses against answers to a question; None if a gold asks for the day."""
        if self._gold_lifetime(question, dialect) is not Lifetime.ALWAYS:
            return None
        golds = (self._golds.written(one, dialect) for one in question.each(dialect_of(dialect)))
        return self._execution_key(question, dialect, "", Lifetime.ALWAYS, "witnesses", *golds)

    def gold(self, question: Question, dialect: EngineName, day: str) -> bytes | None:
        """Return the key of the execution of a gold: equal to a prediction's if gold runs as written."""
        written = self._golds.written(question, dialect)
        lasts = self.lifetime(dialect, written)
        if lasts is Lifetime.NEVER:
            return None
        made = {
            GoldOrigin.TRANSLATED: ("translated",),
            GoldOrigin.SQLITE_ROWS: ("sqlite", sqlite_version),
        }.get(self._golds.origin(question, dialect), ())
        return self._execution_key(question, dialect, day, lasts, *made, written)

    def judgements(
        self, question: Question, dialect: EngineName, predictions: Iterable[str], day: str
    ) -> dict[str, bytes | None]:
        """Return the keys of judgements that are the same on any day.

        Whatever is stored under these keys may be used. For predictions without an entry, `dated` returns the
        keys of judgements that last for the day.
        """
        hasher = self._judgement_hasher(question, dialect, day)
        return {sql: None if hasher is None else _cache_key(hasher, sql) for sql in predictions}

    def judgement(self, question: Question, dialect: EngineName, sql: str, day: str) -> bytes | None:
        """Return such a key of one prediction."""
        # A question is known by its key: that of a triple has the digest of its gold.
        place = dialect, question.key, day
        hasher = self._judgement_hashers.get(place)
        if hasher is None:
            hasher = self._judgement_hasher(question, dialect, day)
            if hasher is None:
                return None
            if len(self._judgement_hashers) >= _MOST_HASHERS:
                self._judgement_hashers.clear()
            self._judgement_hashers[place] = hasher
        return _cache_key(hasher, sql)

    def _judgement_hasher(self, question: Question, dialect: EngineName, day: str) -> "hashlib._Hash | None":
        lasts = self._gold_lifetime(question, dialect)
        return self._gold_hasher(question, dialect, lasts, *([day] if lasts is Lifetime.TODAY else ()))

    def dated(
        self, question: Question, dialect: EngineName, predictions: Iterable[str], day: str
    ) -> dict[str, bytes]:
        """Return the keys of judgements of predictions that use today's date, and nothing finer."""
        asking = [sql for sql in predictions if self.lifetime(dialect, sql) is Lifetime.TODAY]
        hasher = (
            self._gold_hasher(question, dialect, self._gold_lifetime(question, dialect), day)
            if asking
            else None
        )
        return {} if hasher is None else {sql: _cache_key(hasher, sql) for sql in asking}

    def _gold_lifetime(self, question: Question, dialect: EngineName) -> Lifetime:
        """Return for how long all golds of a question return the same rows."""
        each = [
            self.lifetime(dialect, self._golds.written(one, dialect))
            for one in question.each(dialect_of(dialect))
        ]
        return min(each, key=list(Lifetime).index)

    def _gold_hasher(
        self, question: Question, dialect: EngineName, lasts: Lifetime, *days: str
    ) -> "hashlib._Hash | None":
        """Return the common part of the keys of judgements for a question whose golds last for `lasts`."""
        hashers = self._hashers_of(dialect, question.db_id)
        if hashers is None or lasts is Lifetime.NEVER:
            return None
        golds = (
            text
            for one in question.each(dialect_of(dialect))
            for text in (self._golds.origin(one, dialect), self._golds.written(one, dialect))
        )
        return _continued(hashers[1], *days, *golds)

    def lifetime(self, dialect: EngineName, sql: str) -> Lifetime:
        """Return for how long a text returns the same rows from the same data on an engine."""
        lasts = lifetime(sql, self._unstable[dialect])
        return Lifetime.NEVER if lasts is Lifetime.TODAY and dialect not in self._in_utc else lasts

    def _execution_key(
        self, question: Question, dialect: EngineName, day: str, lasts: Lifetime, *texts: str
    ) -> bytes | None:
        """Return the cache key of `texts`, with the day if their result lasts for the day only."""
        hashers = self._hashers_of(dialect, question.db_id)
        if hashers is None:
            return None
        return _cache_key(hashers[0], *([day] if lasts is Lifetime.TODAY else ()), *texts)


def today() -> str:
    """Return the current day in UTC."""
    return datetime.now(UTC).date().isoformat()


def _in_utc(settings: Mapping[str, str]) -> bool:
    """Return True if an engine's days are those of UTC; SQLite's always are."""
    zone = settings.get("time_zone") or settings.get("TimeZone") or "UTC"
    return zone in {"+00:00", "UTC", "Etc/UTC"}


def _hasher(kind: str, facts: object) -> "hashlib._Hash":
    return hashlib.sha256(json.dumps([kind, facts], default=str).encode())


def _continued(hasher: "hashlib._Hash", *texts: str) -> "hashlib._Hash":
    digest = hasher.copy()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest


def _cache_key(hasher: "hashlib._Hash", *texts: str) -> bytes:
    return _continued(hasher, *texts).digest()


_MOST_HASHERS = 4_096
"""Questions whose part of a key is remembered: a few hundred bytes each."""

_MOST_BYTES = 64 * 2**20
"""Bytes of values that are kept in memory."""

_WRITE_SECONDS = 1.0
"""Seconds between writes. A transaction takes as long as a short query, so values share one; a kill loses
them.
"""


class Lookup:
    """Values by their keys; thread-safe.

    Args:
        store: keeps them for later runs; None to keep them for this run only.
    """

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._left = _MOST_BYTES
        """Bytes that memory has room for: what was used longest ago makes room for new values."""
        self._lock = Lock()
        self._memory: OrderedDict[bytes, bytes] = OrderedDict()
        self._unwritten: dict[EntryKind, dict[bytes, bytes]] = {}
        self._written = time.monotonic()

    @property
    def has_store(self) -> bool:
        """True if results of earlier runs may be available."""
        return self._store is not None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the values that are known."""
        found: dict[bytes, bytes] = {}
        missing: list[bytes] = []
        with self._lock:
            for cache_key in keys:
                value = self._memory.get(cache_key)
                if value is None:
                    missing.append(cache_key)
                else:
                    self._memory.move_to_end(cache_key)
                    found[cache_key] = value
        if self._store is not None and missing:
            stored = self._store.get(missing)
            self.note(stored)
            found |= stored
        return found

    def in_memory(self, keys: Sequence[bytes | None]) -> list[bytes] | None:
        """Return the values in order if all are in memory, without a look into the store."""
        with self._lock:
            found = [self._memory.get(each, b"") for each in keys if each is not None]
            if len(found) < len(keys) or not all(found):
                return None
            for each in keys:
                self._memory.move_to_end(each)  # type: ignore[arg-type]  # none is None
        return found

    def store(self, values: Mapping[bytes, bytes], kind: EntryKind) -> None:
        """Keep noted values of a kind for later runs, written now or together with later ones."""
        if self._store is None:
            return
        with self._lock:
            self._unwritten.setdefault(kind, {}).update(values)
            if time.monotonic() < self._written + _WRITE_SECONDS:
                return
            self._written = time.monotonic()
            unwritten, self._unwritten = self._unwritten, {}
        self._write(unwritten)

    def _write(self, unwritten: Mapping[EntryKind, Mapping[bytes, bytes]]) -> None:
        for kind, values in unwritten.items():
            if self._store is not None and values:
                self._store.put(values, kind)

    def note(self, values: Mapping[bytes, bytes]) -> None:
        """Remember values for this run; quick."""
        with self._lock:
            for cache_key, value in values.items():
                self._left += len(self._memory.pop(cache_key, b"")) - len(value)
                self._memory[cache_key] = value
            while self._left < 0 and self._memory:
                _, forgotten = self._memory.popitem(last=False)
                self._left += len(forgotten)

    def close(self) -> None:
        """Write pending values, and close the store."""
        with self._lock:
            unwritten, self._unwritten = self._unwritten, {}
        self._write(unwritten)
        if self._store is not None:
            self._store.close()

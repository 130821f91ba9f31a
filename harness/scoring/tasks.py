"""The tasks of workers and their results: judge texts for a question, time a pair, explain or execute a text.

A task has everything that a worker needs in addition to the `Setup` of the run, and its result everything to
keep. So the process, the machine and the order of tasks make no difference.
"""

import binascii
import json
import zlib
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import IntEnum, StrEnum
from functools import partial
from itertools import chain
from math import isfinite
from typing import Any, Generic, Protocol, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from dialects.enums import Dialect, Profile
from harness.data.outcomes import Judgement, Outcome
from harness.data.questions import Question, QuestionSet
from harness.engines import EngineName, dialect_of, kind_of
from harness.engines.base import Engine, EngineLost, Row, cut
from harness.engines.execution import Ending, Execution, Limits
from harness.engines.plans import QueryPlan
from harness.metrics import DEFAULT_METRICS, METRICS
from harness.metrics.efficiency import Timing
from harness.scoring.golds import Golds
from harness.scoring.variants import Variants
from loaders.namespace import Database
from loaders.server import Server

_SCORING_SECONDS = 3.0
"""Seconds allowed beyond the time limit of a statement."""


@dataclass(frozen=True)
class Setup:
    """What all tasks of a run share; can be pickled.

    `servers` maps each dialect to the servers with the same databases; SQLite, which has no server, to an
    empty tuple.
    """

    questions: QuestionSet
    servers: Mapping[EngineName, tuple[Server, ...]]
    profile: Profile = Profile.OFFICIAL
    limits: Limits = field(default_factory=Limits)
    metrics: tuple[str, ...] = DEFAULT_METRICS
    variants: Variants | None = None
    diagnoses: bool = True
    """True to classify the errors of predictions: `Judgement.error_class`."""
    missing_databases: Mapping[tuple[EngineName, str], str] = field(default_factory=dict)
    """The databases that a dialect's servers lack, and why: their golds fail."""
    escaped: frozenset[tuple[EngineName, str]] = frozenset()
    """The databases that a dialect's servers have with escaped values; see `loaders.portable`."""
    repeat: int = 1
    """How often the published measurement of times is made for a pair: `Timing.runs`."""
    previews: bool = True
    """True to keep some of the rows for readers: `Judgement.preview`."""
    uncounted: Mapping[EngineName, str] = field(default_factory=dict)
    """The engines that cannot count work, and why: there are no scores by work on them."""
    translated: frozenset[EngineName] = frozenset()
    """The engines with databases in profile faithful whatever `profile` is: their golds are translations."""
    server_contents: Mapping[EngineName, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """The contents of a dialect's servers, by database: a digest for each server (`Loaded.content`)."""

    @property
    def scoring_seconds(self) -> float:
        """Time limit for scoring one text; 1,000,000 rows take about 3 s by EX and Soft-F1."""
        return self.limits.seconds + _SCORING_SECONDS

    def database(self, db_id: str, dialect: EngineName) -> Database:
        """Return a database as it is loaded on an engine."""
        return self.questions.database(db_id, self.profile_on(dialect))

    def profile_on(self, dialect: EngineName) -> Profile:
        """Return the profile of an engine's databases."""
        return Profile.FAITHFUL if dialect in self.translated else self.profile

    def golds(self) -> Golds:
        """Return the golds of its questions on its engines."""
        return Golds(self.questions, tuple(self.servers), self.limits, self.missing_databases, self.escaped)

    def engine(self, dialect: EngineName) -> Engine:
        """Return an engine of a dialect outside of the workers' pools, on its first server or on files."""
        servers = self.servers[dialect]
        return kind_of(dialect).make(servers[0] if servers else None, pooled=False)

    def engines(self, place: int) -> dict[EngineName, Engine]:
        """Return the engines of the worker with index `place`."""
        return {
            dialect: kind_of(dialect).make(servers[place % len(servers)] if servers else None, pooled=True)
            for dialect, servers in self.servers.items()
        }

    def zero(self, dialect: EngineName) -> dict[str, float]:
        """Return the scores of a pair that gets no credit: all 0."""
        asked = [METRICS[name] for name in self.metrics]
        is_sqlite = dialect_of(dialect) is Dialect.SQLITE
        return {
            metric.name: 0.0
            for metric in asked
            if metric.has_score
            and (is_sqlite or not metric.is_of_sqlite)
            and not (metric.of_work and dialect in self.uncounted)
        }

    def broken(self, dialect: EngineName, why: str) -> Judgement:
        """Return the judgement of a pair that failed without a text to blame: a harness error."""
        return Judgement(Outcome.HARNESS_ERROR, self.zero(dialect), error=why)


class Stage(IntEnum):
    """A stage in the processing of a text."""

    RUNNING = 1
    """It is executed."""
    SCORING = 2
    """Its rows are compared, shown and written."""
    READING = 3
    """It is parsed, for Spider's measures or its error class."""
    ALIGNING = 4
    """The best order of its rows is looked for."""
    ANSWERING = 5
    """The other answers of its gold are looked for."""
    COUNTING = 6
    """Its work and that of its gold are counted."""
    REFUTING = 7
    """A witness against it is searched."""


OPTIONAL = frozenset({Stage.READING, Stage.ALIGNING, Stage.ANSWERING, Stage.COUNTING, Stage.REFUTING})
"""Stages that can be skipped: the outcome does not depend on them."""

Announce = Callable[[Stage, str, float | None], AbstractContextManager[None]]
"""A context for a stage of a text, with the seconds it may take unless it has limits of its own."""


def unsupervised(_stage: Stage, _text: str, _seconds: float | None) -> AbstractContextManager[None]:
    """Do nothing: for callers without a supervisor."""
    return nullcontext()


Result = TypeVar("Result")


@dataclass(frozen=True)
class WorkerTask(Generic[Result]):
    """A task of a worker on an engine; one of the four classes below."""

    dialect: EngineName


@dataclass(frozen=True)
class JudgeResult:
    """The results of the texts of a question: of some while others are being judged, finally of all.

    `judgements` are by text. `executions`, by text, and `golds`, by the gold's index, are encoded
    (`encode_execution`), and so is `works`, the work of texts and golds on the engine (`encode_work`).
    `witnesses` has at most one entry, 0: those against answers to the question, as JSON. `overruns` has the
    seconds for which the server went on with a text after its limit, until it was ended by force.
    """

    judgements: dict[str, Judgement] = field(default_factory=dict)
    executions: dict[str, bytes] = field(default_factory=dict)
    golds: dict[int, bytes] = field(default_factory=dict)
    works: dict[str, bytes] = field(default_factory=dict)
    witnesses: dict[int, bytes] = field(default_factory=dict)
    overruns: dict[str, float] = field(default_factory=dict)

    def __or__(self, other: "JudgeResult") -> "JudgeResult":
        return JudgeResult(
            self.judgements | other.judgements,
            self.executions | other.executions,
            self.golds | other.golds,
            self.works | other.works,
            self.witnesses | other.witnesses,
            self.overruns | other.overruns,
        )


@dataclass(frozen=True)
class JudgeTask(WorkerTask[JudgeResult]):
    """Judge the distinct SQL texts that were predicted for a question, on one engine.

    `reusable` has earlier results. `volatile` are the texts whose rows may change at any moment: their
    results are not kept, unless the engine rejects them. `undecided` has judgements of texts that only need
    to meet the known witnesses. `left_out` has the stages to skip because they ended
    a process before, with the text. The result has the executions made for it, except volatile ones and those
    too large to keep.
    """

    question: Question
    texts: tuple[str, ...]
    reusable: JudgeResult = field(default_factory=JudgeResult)
    volatile: frozenset[str] = frozenset()
    left_out: frozenset[tuple[Stage, str]] = frozenset()
    undecided: Mapping[str, Judgement] = field(default_factory=dict)


class TimingMethod(StrEnum):
    """The timing method of a pair."""

    OFFICIAL = "official"
    """As the published script: 100 times each, a new session for every execution, the client's clock."""
    STABLE = "stable"
    """Until the reward is decided, in two warm sessions, by the engine's own clock if it has one."""


@dataclass(frozen=True)
class TimeTask(WorkerTask[Timing]):
    """Time a matching prediction and its gold; both are SQL texts."""

    db_id: str
    prediction: str
    gold: str
    method: TimingMethod


@dataclass(frozen=True)
class ExplainTask(WorkerTask[QueryPlan]):
    """Explain a text on an engine, with its actual row counts.

    `counts`: count its work on the engine, too. `failure` is the outcome of running it if that ended its
    process: then it is explained without being run.
    """

    db_id: str
    sql: str
    counts: bool = False
    failure: QueryPlan | None = None


@dataclass(frozen=True)
class ExecuteTask(WorkerTask[Execution]):
    """Execute a text on a database for a reader, who wants its first rows.

    `rows` and `bytes` limit what is returned (`Limits`); beyond them `ending` is TOO_LARGE. A text that ends
    its process has an execution, too.
    """

    db_id: str
    sql: str
    rows: int
    bytes: int


class Workers(Protocol):
    """Judge tasks, several at a time; callable from any thread."""

    def submit(self, task: JudgeTask) -> "Future[JudgeResult]":
        """Submit a task; its future never raises for an error of an engine or a statement."""
        ...

    def at_once(self, task: JudgeTask) -> "Future[JudgeResult] | None":
        """Judge a task before returning, by an idle worker; None if there is none.

        For callers that wait for nothing else: it saves waking threads in both directions.
        """
        ...

    def close(self) -> None:
        """Stop at once and cancel what has not been judged."""
        ...


def error_message(error: BaseException) -> str:
    """Return the message of a harness error."""
    return cut(str(error) if isinstance(error, EngineLost) else f"{type(error).__name__}: {error}")


# Executions as bytes and back, without loss: same values, same types, same order.
#
# Values are written as JSON: JSON's own types as they are, any other as a list that starts with the letter of
# its type. The bytes may come from a file that others can write, so decoding runs no code and makes no other
# types; pickle and marshal guarantee neither.

_LEAST_COMPRESSED = 256
"""Minimum bytes to compress; shorter texts hardly shrink."""
_MOST_TEXT = 2**29
"""Maximum bytes of JSON to write or read."""
_MOST_SHRINKING = 16
"""Maximum size of the JSON as a multiple of `most_bytes`, so that no huge JSON is written in vain."""
_LARGEST_NUMBER = 2**63
"""Larger integers are written in hexadecimal, because Python limits the digits of decimal ones.

https://docs.python.org/3/library/stdtypes.html#integer-string-conversion-length-limitation
"""

Moment = TypeVar("Moment", datetime, time)

_PLAIN = frozenset({str, int, float, bool, type(None)})
_NESTED = frozenset({list, dict})
_AS_IT_IS, _DEFLATED = b"j", b"z"
_UNREADABLE = (
    ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError, zlib.error,
)  # fmt: skip

_to_json = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=True, separators=(",", ":")
).encode
_from_json = json.JSONDecoder().decode


def encode_execution(execution: Execution, most_bytes: int | None = None) -> bytes | None:
    """Return `execution` as bytes.

    Args:
        execution: the execution of one SQL text.
        most_bytes: the maximum number of bytes; before compression, 16 times that.

    Returns:
        None if it is longer, or has a value of a type that no driver of the harness is known to return.
    """
    rows = execution.rows
    most_text = _MOST_TEXT if most_bytes is None else min(_MOST_TEXT, most_bytes * _MOST_SHRINKING)
    # Every value takes at least two bytes, with its comma.
    if rows and 2 * len(rows) * max(1, len(rows[0])) > most_text:
        return None
    types = set(map(type, chain.from_iterable(rows)))
    try:
        head = [execution.ending.value, execution.error, execution.code, execution.seconds]
        text = _json([*head, _written_rows(rows, types)], rows, types)
    except (TypeError, RecursionError):
        return None
    if len(text) > most_text:
        return None
    data = _AS_IT_IS + text if len(text) < _LEAST_COMPRESSED else _DEFLATED + zlib.compress(text, 1)
    return None if most_bytes is not None and len(data) > most_bytes else data


def _json(content: list[Any], rows: tuple[Row, ...], types: AbstractSet[type]) -> bytes:
    """Return JSON in UTF-8: by msgspec, which is quicker and lacks NaN, infinity and lone surrogates."""
    if types.isdisjoint(_NESTED) and (
        float not in types
        or all(isfinite(value) for value in chain.from_iterable(rows) if type(value) is float)
    ):
        with suppress(UnicodeEncodeError):
            return msgspec.json.encode(content)
    return _to_json(content).encode("utf-8", "surrogatepass")


def decode_execution(data: bytes) -> Execution:
    """Return the execution that `encode_execution` turned into `data`.

    Raises:
        ValueError: `data` is not from `encode_execution`.
    """
    try:
        ending, error, code, seconds, rows = _from_json(_text(data).decode("utf-8", "surrogatepass"))
        words = _expect(error, str, type(None)), _expect(code, str, type(None))
        return Execution(Ending(ending), _read_rows(rows), *words, _expect(seconds, float))
    except _UNREADABLE as failure:
        raise ValueError(f"not an encoded execution: {failure}") from failure


def _expect(value: Any, *types: type) -> Any:
    if type(value) in types:
        return value
    raise ValueError(f"{type(value).__name__} in the wrong place")


def _text(data: bytes) -> bytes:
    kind, rest = data[:1], data[1:]
    if kind == _AS_IT_IS:
        return rest
    if kind != _DEFLATED:
        raise ValueError("unknown format")
    inflater = zlib.decompressobj()
    text = inflater.decompress(rest, _MOST_TEXT)
    if not inflater.eof or inflater.unused_data:
        raise ValueError("cut off, or too long")
    return text


def _written_rows(rows: tuple[Row, ...], types: AbstractSet[type]) -> list[Any]:
    """Return rows for JSON: unchanged if JSON has all their types."""
    if types <= _PLAIN:
        numbers = [value for value in chain.from_iterable(rows) if type(value) is int] if int in types else []
        if not numbers or (min(numbers) > -_LARGEST_NUMBER and max(numbers) < _LARGEST_NUMBER):
            return list(rows)
    return [[_written(value) for value in row] for row in rows]


def _read_rows(rows: list[list[Any]]) -> tuple[Row, ...]:
    if not set(map(type, rows)) <= {list}:
        raise ValueError("a row is not a list")
    if set(map(type, chain.from_iterable(rows))) <= _PLAIN:
        return tuple(map(tuple, rows))
    return tuple([tuple([_read(value) for value in row]) for row in rows])


def _written(value: object) -> Any:
    kind = type(value)
    if kind in _PLAIN and (kind is not int or -_LARGEST_NUMBER < value < _LARGEST_NUMBER):  # type: ignore[operator]
        return value
    write = _WRITERS.get(kind)
    if write is None:
        raise TypeError(f"{kind} is not kept")
    return write(value)


def _read(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    letter, *parts = _expect(value, list)
    return _READERS[letter](*parts)


def _written_zone(zone: tzinfo | None) -> Any:
    """Return None, the UTC offset in seconds, or the IANA name; the drivers return no other zones."""
    if zone is None:
        return None
    if type(zone) is timezone:
        offset = zone.utcoffset(None)
        if repr(timezone(offset)) == repr(zone):
            return _written(offset)
    # Datetimes compare by wall clock time if they share a zone object, and else in UTC.
    if type(zone) is ZoneInfo and zone.key and ZoneInfo(zone.key) is zone:
        return zone.key
    raise TypeError(f"{zone!r} is not kept")


def _read_zone(zone: Any) -> tzinfo | None:
    if zone is None:
        return None
    return ZoneInfo(zone) if type(zone) is str else timezone(_read(zone))


def _written_moment(letter: str, value: datetime | time) -> list[Any]:
    if value.tzinfo is None and not value.fold:
        return [letter, value.isoformat()]
    return [letter, value.replace(tzinfo=None).isoformat(), value.fold, _written_zone(value.tzinfo)]


def _read_moment(kind: type[Moment], text: str, fold: int = 0, zone: Any = None) -> Moment:
    value = kind.fromisoformat(text)
    return value.replace(tzinfo=_read_zone(zone), fold=fold) if fold or zone is not None else value


_WRITERS: Mapping[type, Callable[[Any], list[Any]]] = {
    int: lambda value: ["i", hex(value)],
    bytes: lambda value: ["b", binascii.b2a_base64(value, newline=False).decode()],
    Decimal: lambda value: ["n", str(value)],
    date: lambda value: ["d", value.isoformat()],
    datetime: partial(_written_moment, "t"),
    time: partial(_written_moment, "c"),
    timedelta: lambda value: ["s", value.days, value.seconds, value.microseconds],
    list: lambda value: ["l", *map(_written, value)],
    dict: lambda value: ["m", *([_written(key), _written(inner)] for key, inner in value.items())],
}

_READERS: Mapping[str, Callable[..., Any]] = {
    "i": lambda text: int(text, 16),
    "b": lambda text: binascii.a2b_base64(text, strict_mode=True),
    "n": Decimal,
    "d": date.fromisoformat,
    "t": partial(_read_moment, datetime),
    "c": partial(_read_moment, time),
    "s": timedelta,
    "l": lambda *values: list(map(_read, values)),
    "m": lambda *pairs: {_read(key): _read(value) for key, value in pairs},
}

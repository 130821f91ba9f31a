"""Runs one query on SQLite and its translation on a server, and says in one word how they relate."""

import hashlib
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isclose, isfinite
from typing import Any, Protocol

from dialects.enums import Dialect
from dialects.errors import TranslatorFault
from dialects.parameters import Parameters, numbered, with_literals
from dialects.schema import Schema
from dialects.translation import Translation, Untranslatable, translate
from harness.analyses.coverage.answers import DifferenceReason
from harness.analyses.coverage.comparison import Reference, RowsComparison
from harness.engines.base import Engine, Row
from harness.engines.execution import Execution, Limits
from harness.labs.conformance.sqllogictest import ExpectedRows
from loaders.namespace import Database

# The rows that a suite expects of a query, next to SQLite's: a second witness.
#
# How values are written: https://sqlite.org/sqllogictest/doc/trunk/about.wiki.

_LEADING = re.compile(r"\s*([+-]?\d+)")
_INTEGER = re.compile(r"[+-]?\d+")
_WHOLE = re.compile(r"[+-]?\d++(?:\.0++)?")
_HALF_OF_THE_LAST = 0.0005


class SuiteWitness(StrEnum):
    """How the suite's own rows relate to SQLite's."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NONE = "none"
    """The suite has no rows for the query."""


def witness(expected: ExpectedRows | None, rows: Sequence[Row]) -> SuiteWitness:
    """True if SQLite's rows are those of the suite."""
    if expected is None or (expected.values is None and expected.md5 is None):
        return SuiteWitness.NONE
    if rows and len(rows[0]) != len(expected.types):
        return SuiteWitness.DIFFERS
    for as_bytes in (True, False):
        written = in_order(expected, rows, as_bytes=as_bytes)
        if expected.values is None:
            agrees = len(written) == expected.count and digest(written) == expected.md5
        else:
            agrees = _agree(expected, written)
        if agrees:
            return SuiteWitness.AGREES
    return SuiteWitness.DIFFERS


def in_order(expected: ExpectedRows, rows: Sequence[Row], *, as_bytes: bool = True) -> list[str]:
    """Return the values of all rows as a suite writes them, in the order that it asks for.

    Args:
        expected: its types and its order.
        rows: of the query.
        as_bytes: whether each byte beyond ASCII is an @, as the original writes it, or stays.
    """
    written = [
        [_written(value, kind, as_bytes=as_bytes) for value, kind in zip(row, expected.types, strict=False)]
        for row in rows
    ]
    if expected.sort == "rowsort":
        written.sort(key=lambda row: [value.encode("utf-8", "surrogateescape") for value in row])
    values = [value for row in written for value in row]
    if expected.sort == "valuesort":
        values.sort(key=lambda value: value.encode("utf-8", "surrogateescape"))
    return values


def digest(values: Sequence[str]) -> str:
    """Return the digest that a suite has instead of many values."""
    text = "".join(f"{value}\n" for value in values)
    return hashlib.md5(text.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()


def _agree(expected: ExpectedRows, written: Sequence[str]) -> bool:
    """True if values are those of the suite, which has one value or one row on a line."""
    there, width = list(expected.values or ()), len(expected.types)
    if len(there) != len(written):
        if width == 0 or len(there) * width != len(written):
            return False
        rows = [line.split("\t") if "\t" in line else line.split() for line in there]
        if any(len(row) != width for row in rows):
            return False
        there = [value for row in rows for value in row]
    return all(
        _is_same(one, other, expected.types[at % width] if expected.sort != "valuesort" else "?")
        for at, (one, other) in enumerate(zip(there, written, strict=True))
    )


def _is_same(one: str, other: str, kind: str) -> bool:
    if one == other or one.rstrip() == other.rstrip():
        return True
    if kind in {"R", "?"}:
        if _INTEGER.fullmatch(one) and _WHOLE.fullmatch(other):
            return int(one) == int(other.partition(".")[0])
        try:
            return isclose(float(one), float(other), rel_tol=1e-9, abs_tol=_HALF_OF_THE_LAST)
        except ValueError:
            return False
    return False


def _written(value: object, kind: str, *, as_bytes: bool) -> str:
    if value is None:
        return "NULL"
    if kind == "I":
        return str(_integer(value))
    if kind == "R":
        return f"{value}.000" if isinstance(value, int) else f"{_number(value):.3f}"
    text = _text(value)
    if text == "":
        return "(empty)"
    if as_bytes:
        raw = text.encode("utf-8", "surrogateescape")
        return "".join(chr(byte) if 0x20 <= byte <= 0x7E else "@" for byte in raw)  # noqa: PLR2004 - blank to tilde
    return text


def _integer(value: object) -> int:
    if isinstance(value, float):
        return int(value) if isfinite(value) else 0
    if isinstance(value, int):
        return value
    found = _LEADING.match(_text(value))
    return int(found[1]) if found else 0


def _number(value: object) -> float:
    if isinstance(value, int | float):
        return float(value)
    found = re.match(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", _text(value))
    return float(found[0]) if found else 0.0


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, float):
        # As SQLite writes it: 15 digits, and always a point.
        text = f"{value:.15g}"
        if "inf" in text:
            return text.replace("inf", "Inf")
        mantissa, mark, exponent = text.partition("e")
        return (mantissa if "." in mantissa else f"{mantissa}.0") + mark + exponent
    return str(value)


OURS = "bird"
"""The name of the project's own translator."""

Line = Mapping[str, Any]
"""The record of a script or of a query; docs/how-to/coverage.md describes it."""

_NO_VALUES: Mapping[str, object] = {}

Translator = Callable[[str, Schema, Dialect], Translation]
"""As `dialects.translate`: it raises `Untranslatable` where it refuses."""


class QueryVerdict(StrEnum):
    """The result of a query on one engine."""

    SAME = "same"
    """SQLite's rows, or others that the query allows where it cuts among ties; in an order that it allows."""
    WARNED_SAME = "warned_same"
    """The same rows, with a warning: SQLite defines no unique answer, or something was assumed."""
    WARNED = "warned"
    """Other rows or another order, after a warning of the translation."""
    UNTRANSLATABLE = "untranslatable"
    """The translator refused the query, and said why."""
    SILENT = "silent"
    """Other rows, or an order that ORDER BY does not allow, without a warning."""
    ERROR = "error"
    """The server refused the translation, or gave more than the limit allows."""
    SLOW = "slow"
    """The server did not finish in time."""
    CRASH = "crash"
    """The translator raised something else than a refusal."""
    NOT_COMPARED = "not_compared"
    """The server has not the database, or the engines were never in the same day."""

    @property
    def is_fault(self) -> bool:
        """True if the promise is broken: neither the same rows nor a reason."""
        return self in (QueryVerdict.SILENT, QueryVerdict.ERROR, QueryVerdict.CRASH)


@dataclass(frozen=True)
class Checked:
    """The result of a query on one engine, with its explanation."""

    verdict: QueryVerdict
    detail: str = ""
    """The refusal, the warnings, the error, or rows on both sides."""
    translation: str = ""
    seconds: float | None = None
    """On the engine."""


class Described(Protocol):
    """A database with its census."""

    @property
    def database(self) -> Database:
        """The database, with its place on every engine."""
        ...

    @property
    def schema(self) -> Schema:
        """The schema that a translator needs."""
        ...


class Checker:
    """The engines that queries are checked on; thread-safe.

    Args:
        engines: servers, with the databases loaded in profile `faithful`.
        limits: what one SQL text may use.
    """

    def __init__(self, engines: Mapping[Dialect, Engine], limits: Limits) -> None:
        self.engines = engines
        self._reference = Reference(limits)

    def expect(self, sql: str, described: Described, values: Mapping[str, object] = _NO_VALUES) -> Execution:
        """Run a query on SQLite; only `Ending.ROWS` can be compared with.

        `values` are those of its parameters, by name or number.
        """
        text, parameters = numbered(sql, {}) if values else (sql, Parameters())
        return self._reference.run(described.database, text, parameters.bound(values))

    def check(  # noqa: PLR0913 - both sides of a comparison
        self,
        sql: str,
        described: Described,
        expected: Execution,
        target: Dialect,
        *,
        translator: Translator = translate,
        ordered: bool | None = None,
        values: Mapping[str, object] = _NO_VALUES,
    ) -> Checked:
        """Compare a server's answer to a query with SQLite's.

        Args:
            sql: the query.
            described: the database that it is for.
            expected: from `expect`; rows.
            target: the server.
            translator: who translates.
            ordered: whether the rows have one order; None to read it in the query.
            values: of its parameters, by name or number. The project's own translator knows their types, and
                the target's driver binds them; others translate a query with literals.

        Raises:
            EngineLost: the server broke.
        """
        plain = with_literals(sql, values) if values else sql
        try:
            if values and translator is translate:
                translation = translate(sql, described.schema, target, samples=values)
            else:
                translation = translator(plain, described.schema, target)
        except TranslatorFault as fault:
            return _crash(fault.__cause__ or fault)
        except Untranslatable as error:
            return Checked(QueryVerdict.UNTRANSLATABLE, str(error))
        except Exception as error:  # noqa: BLE001 - any other error of a translator is a finding
            return _crash(error)
        found = self._reference.compare(
            described.database,
            plain,
            expected,
            self.engines[target],
            translation,
            ordered=ordered,
            values=translation.bind(values) if translation.style is not None else None,
        )
        verdict = _verdict(found, translation)
        return Checked(verdict, _detail(verdict, found, translation), translation.sql, found.engine_seconds)


def _crash(error: BaseException) -> Checked:
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{place.filename.rpartition('/')[2]}:{place.name}"
    return Checked(QueryVerdict.CRASH, f"{type(error).__name__} in {where}: {error}")


def without_names(text: str) -> str:
    """Return a refusal or an error without what differs from query to query: names in quotes, and numbers."""
    unquoted = re.sub(r"'.*'|\"[^\"]*\"|`[^`]*`|\b[tTx]\d+\.\w+", "_", text)
    return re.sub(r"\d+", "N", unquoted)[:120]


def _verdict(found: RowsComparison, translation: Translation) -> QueryVerdict:
    if found.reason in (None, DifferenceReason.TIE):
        return QueryVerdict.WARNED_SAME if translation.warnings else QueryVerdict.SAME
    if found.runs:
        return QueryVerdict.WARNED if found.reason is DifferenceReason.UNSPECIFIED else QueryVerdict.SILENT
    if found.reason is DifferenceReason.TIMEOUT:
        return QueryVerdict.SLOW
    return QueryVerdict.NOT_COMPARED if found.reason is DifferenceReason.CLOCK else QueryVerdict.ERROR


def _detail(verdict: QueryVerdict, found: RowsComparison, translation: Translation) -> str:
    if verdict in (QueryVerdict.SAME, QueryVerdict.WARNED_SAME, QueryVerdict.WARNED):
        return "; ".join(translation.warnings)
    if verdict is QueryVerdict.SILENT:
        sides = (("SQLite", found.only_sqlite), (translation.target, found.only_engine))
        return f"{found.reason}: " + "; ".join(
            f"only {name}: {', '.join(rows)}" for name, rows in sides if rows
        )
    return f"{found.reason}: {found.detail}"

"""Runs one query on SQLite and its translation on a server, and says in one word how they relate."""

import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from dialects.enums import Dialect
from dialects.schema import Schema
from dialects.translate import Translation, Untranslatable, translate
from harness.coverage import Reason
from harness.coverage.holding import Held, Reference
from harness.engines.base import Engine
from harness.engines.execution import Execution, Limits
from loaders.namespace import Database

Translator = Callable[[str, Schema, Dialect], Translation]
"""As `dialects.translate.translate`: it raises `Untranslatable` where it refuses."""


class Verdict(StrEnum):
    """What became of a query on one engine."""

    SAME = "same"
    """SQLite's rows, or others that the query allows where it cuts among ties; in an order that it allows."""
    WARNED_SAME = "warned_same"
    """The same, and the translation warned: SQLite defines no unique answer, or something was assumed."""
    WARNED = "warned"
    """Other rows or another order, of which the translation warned."""
    UNTRANSLATABLE = "untranslatable"
    """The translator refused the query, and said why."""
    SILENT = "silent"
    """Other rows, or an order that ORDER BY does not allow, without a word."""
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
        """Whether the promise is broken: the same rows, or a word of why not."""
        return self in (Verdict.SILENT, Verdict.ERROR, Verdict.CRASH)


@dataclass(frozen=True)
class Checked:
    """What became of a query on one engine, with what there is to say about it."""

    verdict: Verdict
    detail: str = ""
    """The refusal, the warnings, the error, or rows on both sides."""
    translation: str = ""
    seconds: float | None = None
    """On the engine."""


class Described(Protocol):
    """A database with its census."""

    @property
    def database(self) -> Database:
        """Where it stands on every engine."""
        ...

    @property
    def schema(self) -> Schema:
        """What a translator has to know of it."""
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

    def expect(self, sql: str, described: Described) -> Execution:
        """What SQLite makes of a query; `Ending.ROWS` alone is something to compare with."""
        return self._reference.run(described.database, sql)

    def check(  # noqa: PLR0913 - both sides of a comparison
        self,
        sql: str,
        described: Described,
        expected: Execution,
        target: Dialect,
        *,
        translator: Translator = translate,
        ordered: bool | None = None,
    ) -> Checked:
        """Hold what a server makes of a query against what SQLite made of it.

        Args:
            sql: the query.
            described: the database that it is for.
            expected: from `expect`; rows.
            target: the server.
            translator: who translates.
            ordered: whether the rows have one order; None to read it in the query.

        Raises:
            EngineLost: the server broke.
        """
        try:
            translation = translator(sql, described.schema, target)
        except Untranslatable as error:
            return Checked(Verdict.UNTRANSLATABLE, str(error))
        except Exception as error:  # noqa: BLE001 - any other error is a finding
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{place.filename.rpartition('/')[2]}:{place.name}"
            return Checked(Verdict.CRASH, f"{type(error).__name__} in {where}: {error}")
        held = self._reference.hold(
            described.database, sql, expected, self.engines[target], translation, ordered=ordered
        )
        verdict = _verdict(held, translation)
        return Checked(verdict, _detail(verdict, held, translation), translation.sql, held.engine_seconds)


def without_names(text: str) -> str:
    """A refusal or an error without what differs from query to query: names in quotes, and numbers."""
    unquoted = re.sub(r"'.*'|\"[^\"]*\"|`[^`]*`|\b[tTx]\d+\.\w+", "_", text)
    return re.sub(r"\d+", "N", unquoted)[:120]


def _verdict(held: Held, translation: Translation) -> Verdict:
    if held.reason in (None, Reason.TIE):
        return Verdict.WARNED_SAME if translation.warnings else Verdict.SAME
    if held.runs:
        return Verdict.WARNED if held.reason is Reason.UNSPECIFIED else Verdict.SILENT
    if held.reason is Reason.TIMEOUT:
        return Verdict.SLOW
    return Verdict.NOT_COMPARED if held.reason is Reason.CLOCK else Verdict.ERROR


def _detail(verdict: Verdict, held: Held, translation: Translation) -> str:
    if verdict in (Verdict.SAME, Verdict.WARNED_SAME, Verdict.WARNED):
        return "; ".join(translation.warnings)
    if verdict is Verdict.SILENT:
        sides = (("SQLite", held.only_sqlite), (translation.target, held.only_engine))
        return f"{held.reason}: " + "; ".join(
            f"only {name}: {', '.join(rows)}" for name, rows in sides if rows
        )
    return f"{held.reason}: {held.detail}"

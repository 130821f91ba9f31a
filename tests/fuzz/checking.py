"""Runs one query on SQLite and its translations on the servers, and says how they relate.

The engines and the comparison are the project's own. What SQLite refuses is no query; what has no translation
says so; everything else has to give the same rows.
"""

import traceback
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from dialects.enums import Dialect
from dialects.translate import Untranslatable, translate
from harness.engines.base import Engine
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.comparison import compare
from tests.fuzz.catalog import Catalog

LIMITS = Limits(seconds=3.0, rows=20_000, bytes=2**24)


class Verdict(StrEnum):
    """What came of a query on one target."""

    SAME = "same"
    WARNED = "warned"
    """It ran; that SQLite defines no unique answer, or an assumption, was said."""
    UNTRANSLATABLE = "untranslatable"
    DIFFERENT = "different"
    """The rows differ, or their order where SQLite defines it."""
    ERROR = "error"
    """The target refused the translation."""
    SLOW = "slow"
    """The target did not finish in time: a nuisance, but no other answer."""
    CRASH = "crash"
    """The translator did not know what to say."""

    @property
    def is_fault(self) -> bool:
        """Whether the promise is broken."""
        return self in (Verdict.DIFFERENT, Verdict.ERROR, Verdict.CRASH)


@dataclass(frozen=True)
class Checked:
    """What came of a query on one target, with what there is to say about it."""

    verdict: Verdict
    detail: str = ""
    """The reason, the error, or the rows on both sides."""
    translation: str = ""


@dataclass(frozen=True)
class Fleet:
    """The engines that queries are checked on."""

    targets: Mapping[Dialect, Engine]
    reference: Engine = SQLiteEngine()  # noqa: RUF009 - it has no state

    def expect(self, sql: str, catalog: Catalog) -> Execution:
        """What SQLite makes of a query; `Ending.ROWS` alone is something to compare with."""
        return execute(self.reference, catalog.database, sql, LIMITS)

    def check_all(
        self, sql: str, catalog: Catalog, expected: Execution, *, ordered: bool
    ) -> list[tuple[Dialect, Checked]]:
        """`check` for every target, at the same time."""

        def check(target: Dialect) -> tuple[Dialect, Checked]:
            return target, self.check(sql, catalog, expected, target, ordered=ordered)

        with ThreadPoolExecutor(len(self.targets)) as pool:
            return list(pool.map(check, self.targets))

    def check(
        self, sql: str, catalog: Catalog, expected: Execution, target: Dialect, *, ordered: bool
    ) -> Checked:
        """Hold what a target makes of a query against what SQLite made of it.

        Args:
            sql: the query.
            catalog: the database that it is for.
            expected: from `expect`.
            target: the dialect to translate to.
            ordered: whether the rows have one order.
        """
        try:
            translation = translate(sql, catalog.schema, target)
        except Untranslatable as error:
            return Checked(Verdict.UNTRANSLATABLE, str(error))
        except Exception as error:  # noqa: BLE001 - any other error is a finding
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{place.filename.rpartition('/')[2]}:{place.name}"
            return Checked(Verdict.CRASH, f"{type(error).__name__} in {where}: {error}")
        found = execute(self.targets[target], catalog.database, translation.sql, LIMITS)
        verdict, detail = Verdict.SAME, ""
        if found.ending is Ending.TIMEOUT:
            verdict = Verdict.SLOW
        elif found.ending is not Ending.ROWS:
            verdict, detail = Verdict.ERROR, f"{found.ending}: {found.error}"
        elif translation.warnings:
            verdict, detail = Verdict.WARNED, "; ".join(translation.warnings)
        elif difference := _difference(expected, found, target, ordered=ordered):
            verdict, detail = Verdict.DIFFERENT, difference
        return Checked(verdict, detail, translation.sql)


def _difference(expected: Execution, found: Execution, target: Dialect, *, ordered: bool) -> str:
    """How the rows differ; empty if they do not."""
    compared = compare(expected.rows, found.rows)
    if not compared.same_bag:
        return f"SQLite {_some(compared.only_left)}; {target} {_some(compared.only_right)}"
    if ordered and not compared.same_order:
        return f"order: SQLite {_some(expected.rows)}; {target} {_some(found.rows)}"
    return ""


def _some(rows: tuple[tuple[object, ...], ...], most: int = 4) -> str:
    shown = ", ".join(map(repr, rows[:most]))
    return f"[{shown}{', ...' if len(rows) > most else ''}] ({len(rows)} rows)"

"""The offline baseline: one template over one table, no model, no network, no gold."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sqlglot import exp

from dialects.targets import SQLGLOT
from harness.engines import kind_of
from harness.engines.base import ColumnText, TableText
from harness.predictors.base import Ask, Problem, Reply

LONGEST = 4000
"""Characters of a text that are read; the rest is ignored."""

VERSION = 3
"""Increased whenever the same problem may get another answer."""

_WORD = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAME = r"`[^`]++`|\"[^\"]++\"|\[[^\]]++\]|\b\w++"
_CONDITION = re.compile(
    rf"({_NAME})\s?(?:(>=|<=|<>|!=|=|>|<)\s?('[^']*+'|-?[0-9]++(?:\.[0-9]++)?)|(IS\s(?:NOT\s)?NULL\b))"
)
_EXTREME = re.compile(rf"\b(MAX|MIN)\s?\(\s?({_NAME})\s?\)", re.IGNORECASE)
_NUMBERS = ("int", "serial", "real", "num", "dec", "double", "float")
_SIGNS = {"=": exp.EQ, "<>": exp.NEQ, "!=": exp.NEQ, ">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE}


class OfflinePredictor:
    """Answers every ask with one query, made from the problem only; messages are not read.

    The same problem always gets the same answer. No text makes it raise: what the template lacks is ignored.
    """

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return what decides its replies."""
        return {"kind": "offline", "version": VERSION}

    def ask(self, ask: Ask) -> Reply:
        """Return the query, as plain SQL without a semicolon; no request is sent."""
        return Reply(self.answer(ask.problem), finish="stop")

    def answer(self, problem: Problem) -> str:
        """Return the query for a problem: the best of the tables, in the engine's dialect."""
        tables = [table for table in problem.database.tables if table.columns]
        if not tables:
            return "SELECT 1"
        found = max((_Template(problem, table) for table in tables), key=lambda one: one.fit)
        return found.query().sql(SQLGLOT[kind_of(problem.database.dialect).dialect])

    def close(self) -> None:
        """Do nothing: nothing is open."""


def open_offline() -> OfflinePredictor:
    """Open the offline baseline."""
    return OfflinePredictor()


def _words(text: str) -> str:
    """The words of a text or a name in lower case, without plural endings, between spaces."""
    words = (word.lower() for word in _WORD.findall(_HUMP.sub(" ", text[:LONGEST])))
    return f" {' '.join(word[:-3] + 'y' if word.endswith('ies') else word.rstrip('s') for word in words)} "


class _Template:
    """SELECT columns or COUNT(*) FROM a table WHERE conditions ORDER BY an extreme.

    The question names columns; conditions and extremes are in its evidence.
    """

    def __init__(self, problem: Problem, table: TableText) -> None:
        self._table, self._text, self._evidence = table, _words(problem.text), problem.evidence[:LONGEST]
        self._columns = {column.name.lower(): column for column in table.columns}
        self._conditions = dict(self._read_conditions())
        evidence = _words(self._evidence)
        self._named = [
            column
            for column in table.columns
            if any(_words(name) in self._text for name in (column.name, column.title) if name)
            or _words(column.name) in evidence
        ]
        self.fit = 3 * len(self._conditions) + 2 * (_words(table.name) in self._text) + len(self._named)
        """How much of the problem is about the table."""

    def query(self) -> exp.Select:
        """Fill in the template."""
        counts = " how many " in self._text or " number of " in self._text
        extreme = next((found for found in self._extremes() if not counts), None)
        compared = {*self._conditions, *([extreme[0]] if extreme is not None else ())}
        columns = [column for column in self._named if column not in compared] or [self._label()]
        query = exp.select(*([exp.Count(this=exp.Star())] if counts else map(self._name, columns)))
        query = query.from_(exp.Table(this=_quoted(self._table.name)))
        query = query.where(*self._conditions.values())
        if extreme is None:
            return query
        column, is_max = extreme
        return query.order_by(
            exp.Ordered(this=self._name(column), desc=is_max, nulls_first=not is_max)
        ).limit(1)

    def _name(self, column: ColumnText) -> exp.Column:
        return exp.Column(this=_quoted(column.name))

    def _label(self) -> ColumnText:
        """The column that tells rows apart for people: a name or a title, else the first."""
        labels = [each for each in self._table.columns if each.name.lower().endswith(("name", "title"))]
        return (labels or self._table.columns)[0]

    def _column(self, name: str) -> ColumnText | None:
        return self._columns.get(name.strip('`"[]').lower())

    def _read_conditions(self) -> Iterator[tuple[ColumnText, exp.Expr]]:
        """Comparisons with literals, both sides in one type, so that every engine accepts them."""
        for name, sign, literal, null in _CONDITION.findall(self._evidence):
            if column := self._column(name):
                left: exp.Expr = self._name(column)
                if null:
                    condition: exp.Expr = exp.Is(this=left, expression=exp.Null())
                    yield column, exp.not_(condition) if "NOT" in null else condition
                    continue
                if literal.startswith("'") or not _is_number(column):
                    right: exp.Expr = exp.Literal.string(literal.strip("'"))
                    left = left if "text" in column.type.lower() else exp.cast(left, "text")
                else:
                    right = exp.Literal.number(literal)
                yield column, _SIGNS[sign](this=left, expression=right)

    def _extremes(self) -> Iterator[tuple[ColumnText, bool]]:
        """Columns of MAX and MIN, and whether it is MAX."""
        for function, name in _EXTREME.findall(self._evidence):
            if column := self._column(name):
                yield column, function.upper() == "MAX"


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def _is_number(column: ColumnText) -> bool:
    kind = column.type.lower()
    return any(part in kind for part in _NUMBERS) and not kind.startswith(("interval", "point"))

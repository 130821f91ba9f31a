"""What the words of a question and its evidence mean in a schema: tables, columns, conditions, orders."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.engines.base import ColumnText, TableText
from harness.predictors.base import DatabaseText

LONGEST = 4000
"""How much of a text is read, in characters: what stands behind it is not looked at."""

LONGEST_NAME = 5
"""The most words that are looked up as one name."""

_NUMBERS = ("int", "serial", "real", "num", "dec", "double", "float")
_LABELS = ("name", "title")


@dataclass(frozen=True)
class Field:
    """A column with its table."""

    table: TableText
    column: ColumnText

    @property
    def is_number(self) -> bool:
        """By the engine's name of its type."""
        kind = self.column.type.lower()
        return any(part in kind for part in _NUMBERS) and not kind.startswith(("interval", "point"))

    @property
    def is_text(self) -> bool:
        """Whether it is text as it stands."""
        return "text" in self.column.type.lower() or "char" in self.column.type.lower()


@dataclass(frozen=True)
class TemplateCondition:
    """`sign` compares a column with one literal; it is BETWEEN with two, IS NULL or IS NOT NULL with none."""

    field: Field
    sign: str
    literals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Order:
    """Rows by a column, the greatest or the least first."""

    field: Field
    descending: bool


@dataclass(frozen=True)
class Definition:
    """One statement of the evidence: what a phrase refers to. `share` is that of the rows that meet it."""

    phrase: tuple[str, ...]
    conditions: tuple[TemplateCondition, ...] = ()
    order: Order | None = None
    fields: tuple[Field, ...] = ()
    share: bool = False


_PIECE = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SHORT = 3


def words(text: str) -> tuple[str, ...]:
    """The words of a text or a name in small letters, without the endings of the plural."""
    return tuple(_singular(word.lower()) for word in _PIECE.findall(_HUMP.sub(" ", text[:LONGEST])))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > len("ties"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > _SHORT else word


_NAME = r"(?:\b\w++\.)?+(?:`[^`]++`|\"[^\"]++\"|\[[^\]]++\]|\b\w++)"
_LITERAL = r"'[^']*+'|-?[0-9]++(?:\.[0-9]+)?\b"
_CONDITION = re.compile(
    rf"""
    (?P<name>{_NAME})\s?
    (?: (?P<sign>>=|<=|<>|!=|=|>|<|LIKE\b) \s?(?P<value>{_LITERAL})
      | BETWEEN\s(?P<low>{_LITERAL})\sAND\s(?P<high>{_LITERAL})
      | (?P<null>IS\s(?:NOT\s)?NULL)\b )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_EXTREME = re.compile(rf"\b(MAX|MIN)\s?\(\s?({_NAME})\s?\)", re.IGNORECASE)
_DEFINED = re.compile(r"\s(?:refers? to|means?|=)\s", re.IGNORECASE)
_SHARE = re.compile(r"\bDIVIDE\s?\(|/", re.IGNORECASE)


class NamedSchema:
    """The tables and columns of a problem by the words of their names."""

    def __init__(self, database: DatabaseText) -> None:
        self.tables = tuple(table for table in database.tables if table.columns)
        self.fields = tuple(Field(table, column) for table in self.tables for column in table.columns)
        self._tables = {words(table.name): table for table in reversed(self.tables)}
        self._fields: dict[tuple[str, ...], list[Field]] = {}
        for field in self.fields:
            for name in {words(field.column.name), words(field.column.title or "")} - {()}:
                self._fields.setdefault(name, []).append(field)

    def label(self, table: TableText) -> Field:
        """What its rows are called by: a name or a title, else the key, else the first column."""
        own = [field for field in self.fields if field.table is table]
        named = [
            field for field in own if not field.is_number and field.column.name.lower().endswith(_LABELS)
        ]
        named.sort(key=lambda field: len(field.column.name))
        return (named or [field for field in own if field.column.name in table.primary_key] or own)[0]

    def field(self, name: str) -> Field | None:
        """The column that the evidence names, with or without its table and quotes."""
        table, _, column = name.rpartition(".")
        column = column.strip('`"[]').lower()
        found = [
            field
            for field in self.fields
            if field.column.name.lower() == column and table.lower() in {"", field.table.name.lower()}
        ]
        return found[0] if found else None

    def mentioned(self, asked: tuple[str, ...]) -> Iterator[tuple[int, TableText | Field]]:
        """The tables and columns that words name in full, with their places; longer names first taken."""
        start, near = 0, None
        while start < len(asked):
            for length in range(LONGEST_NAME, 0, -1):
                name = asked[start : start + length]
                found = self._tables.get(name) or self._nearest(name, near)
                if found is not None:
                    near = found.table if isinstance(found, Field) else found
                    yield start, found
                    start += len(name) - 1
                    break
            start += 1

    def _nearest(self, name: tuple[str, ...], near: TableText | None) -> Field | None:
        """The column of a name, that of the table that was named last before others."""
        found = self._fields.get(name, [])
        return next((field for field in found if field.table is near), found[0] if found else None)

    def definitions(self, evidence: str) -> Iterator[Definition]:
        """What the evidence says, statement by statement; what has no known form is left out."""
        for statement in evidence[:LONGEST].split(";"):
            phrase, *rest = _DEFINED.split(statement, maxsplit=1)
            body = rest[0] if rest else statement
            conditions = tuple(self._conditions(body)) or tuple(self._conditions(statement))
            order = next(self._orders(body), None)
            listed = [self.field(part.strip()) for part in body.split(",")]
            yield Definition(
                phrase=words(phrase),
                conditions=conditions,
                order=order,
                fields=tuple(field for field in listed if field is not None) if all(listed) else (),
                share=_SHARE.search(body) is not None,
            )

    def _conditions(self, text: str) -> Iterator[TemplateCondition]:
        for found in _CONDITION.finditer(text):
            field = self.field(found["name"])
            if field is not None:
                sign = " ".join((found["sign"] or found["null"] or "BETWEEN").upper().split())
                literals = [found[part] for part in ("value", "low", "high") if found[part] is not None]
                yield TemplateCondition(field, sign, tuple(literals))

    def _orders(self, text: str) -> Iterator[Order]:
        for which, name in _EXTREME.findall(text):
            field = self.field(name)
            if field is not None:
                yield Order(field, which.upper() == "MAX")

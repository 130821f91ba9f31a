"""The offline baseline: a few question templates, no model, no network, no gold."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from dialects.enums import Dialect
from dialects.targets import SQLGLOT, TARGETS
from harness.engines import kind_of
from harness.engines.base import ColumnText, TableText
from harness.predictors.base import Ask, DatabaseText, Problem, Reply

LONGEST = 4000
"""Characters of a text that are read; the rest is ignored."""

LONGEST_NAME = 5
"""Maximum words looked up as one name."""

_NUMBERS = ("int", "serial", "real", "num", "dec", "double", "float")
_LABELS = ("name", "title")


@dataclass(frozen=True)
class Field:
    """A column with its table."""

    table: TableText
    column: ColumnText

    @property
    def is_number(self) -> bool:
        """True if it is numeric by the engine's type name."""
        kind = self.column.type.lower()
        return any(part in kind for part in _NUMBERS) and not kind.startswith(("interval", "point"))

    @property
    def is_text(self) -> bool:
        """True if it is text."""
        return "text" in self.column.type.lower() or "char" in self.column.type.lower()


@dataclass(frozen=True)
class TemplateCondition:
    """`sign` compares a column with one literal; it is BETWEEN with two, IS NULL or IS NOT NULL with none."""

    field: Field
    sign: str
    literals: tuple[str, ...] = ()


Order = tuple[Field, bool]
"""A column to order by, and whether the greatest come first."""


@dataclass(frozen=True)
class Definition:
    """One statement of the evidence: what a phrase refers to. `share`: the share of rows that meet it."""

    phrase: tuple[str, ...]
    conditions: tuple[TemplateCondition, ...] = ()
    order: Order | None = None
    fields: tuple[Field, ...] = ()
    share: bool = False


_PIECE = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SHORT = 3


def words(text: str) -> tuple[str, ...]:
    """Split a text or a name into words in lower case, without plural endings."""
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
        """Return the column that labels its rows: a name or a title, else the key, else the first column."""
        own = [field for field in self.fields if field.table is table]
        named = [
            field for field in own if not field.is_number and field.column.name.lower().endswith(_LABELS)
        ]
        named.sort(key=lambda field: len(field.column.name))
        return (named or [field for field in own if field.column.name in table.primary_key] or own)[0]

    def field(self, name: str) -> Field | None:
        """Find the column that the evidence names, with or without its table and quotes."""
        table, _, column = name.rpartition(".")
        column = column.strip('`"[]').lower()
        found = [
            field
            for field in self.fields
            if field.column.name.lower() == column and table.lower() in {"", field.table.name.lower()}
        ]
        return found[0] if found else None

    def mentioned(self, asked: tuple[str, ...]) -> Iterator[tuple[int, TableText | Field]]:
        """Yield the tables and columns that words name in full, with their positions; longer names first."""
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
        """Find the column of a name, preferring the table that was named last."""
        found = self._fields.get(name, [])
        return next((field for field in found if field.table is near), found[0] if found else None)

    def definitions(self, evidence: str) -> Iterator[Definition]:
        """Yield the definitions in the evidence, statement by statement; unknown forms are skipped."""
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
                yield field, which.upper() == "MAX"


_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True)
class TemplateQuery:
    """The query of a template.

    `selected` are columns, or `function` of each of them; with a `share`, the share of the rows that meet its
    conditions, times `factor`. All `conditions` must hold.
    """

    root: TableText
    selected: tuple[Field, ...] = ()
    function: str | None = None
    is_distinct: bool = False
    share: tuple[TemplateCondition, ...] = ()
    factor: int = 1
    conditions: tuple[TemplateCondition, ...] = ()
    grouped: Field | None = None
    order: Order | None = None
    limit: int = 1


class Writer:
    """Writes queries over one database in its dialect."""

    def __init__(self, database: DatabaseText) -> None:
        kind = kind_of(database.dialect)
        self._dialect, self._repairs = kind.dialect, kind.repairs
        names = {table.name.lower(): table.name for table in database.tables}
        self._links = [
            (
                table.name,
                names[target.lower()],
                self._on(table.name, columns, names[target.lower()], referred),
            )
            for table in database.tables
            for columns, target, referred in table.foreign_keys
            if target.lower() in names
        ]

    def _on(self, source: str, columns: Sequence[str], target: str, referred: Sequence[str]) -> str:
        pairs = zip(columns, referred, strict=False)
        return " AND ".join(f"{self._quoted(source, a)} = {self._quoted(target, b)}" for a, b in pairs)

    def write(self, query: TemplateQuery) -> str:
        """Write the text, without a semicolon. A table that no key links is cross-joined with the others."""
        parts = [f"SELECT {self._selected(query)}", f"FROM {self._from(query)}"]
        if query.conditions:
            parts.append(f"WHERE {self._all(query.conditions)}")
        if query.grouped is not None:
            parts.append(f"GROUP BY {self._name(query.grouped)}")
        if query.order is not None:
            parts.append(f"ORDER BY {self._order(*query.order)} LIMIT {query.limit}")
        return " ".join(parts)

    def _selected(self, query: TemplateQuery) -> str:
        shown = [self._name(query.grouped)] if query.grouped is not None else []
        if query.share:
            met = self._all(query.share)
            part = f"SUM(CASE WHEN {met} THEN 1 ELSE 0 END) * {query.factor}.0 / NULLIF(COUNT(*), 0)"
            return ", ".join([*shown, part])
        distinct = "DISTINCT " if query.is_distinct else ""
        for field in query.selected:
            name = self._name(field)
            shown.append(f"{query.function}({distinct}{name})" if query.function else name)
        return ", ".join(shown)

    def _from(self, query: TemplateQuery) -> str:
        used = [*query.selected, *(each.field for each in (*query.share, *query.conditions))]
        used += [query.order[0]] if query.order is not None else []
        used += [query.grouped] if query.grouped is not None else []
        known = {query.root.name: self._quoted(query.root.name)}
        for table in (field.table.name for field in used):
            if table not in known:
                known |= self._way(known, table) or {table: f"CROSS JOIN {self._quoted(table)}"}
        return " ".join(known.values())

    def _way(self, known: Iterable[str], wanted: str) -> dict[str, str]:
        """Find the tables on the shortest path along foreign keys from known ones, each with its join."""
        ways: dict[str, dict[str, str]] = {table: {} for table in known}
        queue = deque(ways)
        while queue and wanted not in ways:
            here = queue.popleft()
            for source, target, on in self._links:
                for one, other in ((source, target), (target, source)):
                    if one == here and other not in ways:
                        ways[other] = ways[here] | {other: f"INNER JOIN {self._quoted(other)} ON {on}"}
                        queue.append(other)
        return ways.get(wanted, {})

    def _all(self, conditions: Sequence[TemplateCondition]) -> str:
        return " AND ".join(self._condition(condition) for condition in conditions)

    def _condition(self, condition: TemplateCondition) -> str:
        """Write both sides in one type, so that every engine accepts the comparison."""
        if not condition.literals:
            return f"{self._name(condition.field)} {condition.sign}"
        bare = [literal.strip("'") for literal in condition.literals]
        name, sign = self._name(condition.field), condition.sign
        if sign != "LIKE" and condition.field.is_number and all(_NUMBER.fullmatch(each) for each in bare):
            return f"{name} {sign} {' AND '.join(bare)}"
        if not condition.field.is_text and self._dialect is not Dialect.SQLITE:
            name = exp.cast(exp.Var(this=name), "text").sql(SQLGLOT[self._dialect])
        if sign == "LIKE" and self._repairs and self._repairs.like == "ilike":
            sign = "ILIKE"  # SQLite's LIKE ignores case
        return f"{name} {sign} {' AND '.join(self._text(each) for each in bare)}"

    def _order(self, field: Field, descending: bool) -> str:  # noqa: FBT001 - the parts of an order
        way = " DESC" if descending else ""
        if self._dialect in TARGETS and TARGETS[self._dialect].has_null_order:
            way += " NULLS LAST" if descending else " NULLS FIRST"  # as SQLite has it
        return self._name(field) + way

    def _name(self, field: Field) -> str:
        return self._quoted(field.table.name, field.column.name)

    def _quoted(self, *names: str) -> str:
        dialect = SQLGLOT[self._dialect]
        return ".".join(exp.to_identifier(name, quoted=True).sql(dialect) for name in names)

    def _text(self, value: str) -> str:
        return exp.Literal.string(value).sql(SQLGLOT[self._dialect])


VERSION = 2
"""Increased whenever the same problem may get another answer."""

_FALLING = frozenset(
    {"highest", "most", "largest", "biggest", "greatest", "longest", "latest", "top", "maximum"}
)
_RISING = frozenset({"lowest", "least", "smallest", "shortest", "earliest", "fewest", "minimum", "first"})
_AGGREGATES = {"average": "AVG", "mean": "AVG", "total": "SUM", "sum": "SUM"}
_DISTINCT = frozenset({"different", "distinct", "unique"})
_PERCENT = frozenset({"percentage", "percent"})
_PARTS = _PERCENT | {"ratio", "proportion", "share", "rate"}
_EVERY = frozenset({"each", "every", "per"})
_AMOUNTS = {str(number): number for number in range(2, 101)} | {
    word: number for number, word in enumerate(("two", "three", "four", "five"), start=2)
}
_BOUNDS = frozenset({"who", "whose", "that", "where", "with", "which", "for", "when"})
"""Words that end the list of requested columns, unless they begin the sentence."""


class OfflinePredictor:
    """Answers every ask with one query, made from the problem only; messages are not read.

    The same problem always gets the same answer. No text makes it raise: parts without a template are
    ignored.
    """

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return what decides its replies."""
        return {"kind": "offline", "version": VERSION}

    def ask(self, ask: Ask) -> Reply:
        """Return the query, as plain SQL without a semicolon; no request is sent."""
        return Reply(self.answer(ask.problem), finish="stop")

    def answer(self, problem: Problem) -> str:
        """Return the query for a problem."""
        schema = NamedSchema(problem.database)
        if not schema.tables:
            return "SELECT 1"
        return Writer(problem.database).write(_Question(problem, schema).query())

    def close(self) -> None:
        """Do nothing: nothing is open."""


def open_offline() -> OfflinePredictor:
    """Open the offline baseline."""
    return OfflinePredictor()


class _Question:
    """One question, as the templates see it."""

    def __init__(self, problem: Problem, schema: NamedSchema) -> None:
        self._schema = schema
        self._words = words(problem.text)
        self._definitions = [
            each for each in schema.definitions(problem.evidence) if self._says(each) or each.conditions
        ]
        self._mentioned = list(schema.mentioned(self._words))
        self._root = self._subject()

    def query(self) -> TemplateQuery:
        """Fill in the first template that fits: a share, a count, an aggregate, columns."""
        asked = set(self._words)
        query = TemplateQuery(self._root, conditions=self._conditions(), grouped=self._grouped())
        if share := self._share():
            return replace(query, share=share, factor=100 if _PERCENT & asked else 1)
        if self._counts():
            distinct = bool(_DISTINCT & asked)
            return replace(query, selected=(self._key(),), function="COUNT", is_distinct=distinct)
        if aggregate := self._aggregate():
            field, function = aggregate
            return replace(query, root=field.table, selected=(field,), function=function)
        order, limit = self._order(), self._limit()
        return replace(query, selected=self._asked(), grouped=None, order=order, limit=limit)

    def _says(self, definition: Definition) -> bool:
        """Return True if the question contains the defined phrase."""
        return f" {' '.join(definition.phrase)} " in f" {' '.join(self._words)} "

    def _subject(self) -> TableText:
        """Return the first table named, else that of the first column, else the first table."""
        for _, one in sorted(self._mentioned, key=lambda each: isinstance(each[1], Field)):
            return one.table if isinstance(one, Field) else one
        for each in self._definitions:
            for one in (*each.fields, *(condition.field for condition in each.conditions)):
                return one.table
        return self._schema.tables[0]

    def _key(self) -> Field:
        """Return the counted column: the key of the subject, or the column after `how many`."""
        for at, one in self._mentioned:
            if isinstance(one, Field) and {"many", *_DISTINCT} & set(self._words[max(at - 2, 0) : at]):
                return one
        own = [field for field in self._schema.fields if field.table is self._root]
        return next((field for field in own if field.column.name in self._root.primary_key), own[0])

    def _counts(self) -> bool:
        text = f" {' '.join(self._words[:12])} "
        return any(sign in text for sign in (" how many ", " number of ", " count the ", " count of "))

    def _share(self) -> tuple[TemplateCondition, ...]:
        if not _PARTS & set(self._words):
            return ()
        return next((each.conditions for each in self._definitions if each.share and each.conditions), ())

    def _aggregate(self) -> tuple[Field, str] | None:
        """Find a numeric column with the aggregate that the word before it names."""
        for place, word in enumerate(self._words):
            function = _AGGREGATES.get(word)
            for at, one in self._mentioned if function is not None else ():
                if isinstance(one, Field) and at > place and one.is_number:
                    return one, function or ""
        return None

    def _asked(self) -> tuple[Field, ...]:
        """Return the columns named without a condition in evidence or question; else the subject's name."""
        fields = [field for each in self._definitions if self._says(each) for field in each.fields]
        end = next((at for at, word in enumerate(self._words) if at and word in _BOUNDS), len(self._words))
        fields += [one for at, one in self._mentioned if isinstance(one, Field) and at < end]
        order = self._order()
        told = [condition.field for condition in self._conditions()] + ([order[0]] if order else [])
        return tuple(field for field in dict.fromkeys(fields) if field not in told) or (
            self._schema.label(self._root),
        )

    def _conditions(self) -> tuple[TemplateCondition, ...]:
        """Return the conditions of the evidence, except those of the share."""
        share = self._share()
        found = [each.conditions for each in self._definitions if each.conditions != share]
        return tuple(dict.fromkeys(condition for each in found for condition in each))

    def _grouped(self) -> Field | None:
        """Find the column, or the label of the table, that follows `each`."""
        for at, one in self._mentioned:
            if at and self._words[at - 1] in _EVERY:
                return one if isinstance(one, Field) else self._schema.label(one)
        return None

    def _order(self) -> Order | None:
        for each in self._definitions:
            if each.order is not None:
                return each.order
        for place, word in enumerate(self._words):
            if word in _FALLING | _RISING:
                for at, one in self._mentioned:
                    if isinstance(one, Field) and at > place and not one.is_text:
                        return one, word in _FALLING
        return None

    def _limit(self) -> int:
        """Return the number of rows: the one next to a superlative, else one."""
        for place, word in enumerate(self._words):
            if word in _FALLING | _RISING:
                for beside in self._words[max(place - 1, 0) : place + 2]:
                    if beside in _AMOUNTS:
                        return _AMOUNTS[beside]
        return 1

"""The schema of a problem, indexed by the words of its names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from sqlglot import exp

from harness.predictors.base import ColumnText, DatabaseText, TableText
from harness.predictors.offline.tokens import pieces

TABLE = "table"
"""Where a column of a renamed table has its name."""


class Sort(StrEnum):
    """What the values of a column or an expression are, as far as engines tell them apart."""

    NUMBER = "number"
    TEXT = "text"
    DAY = "day"
    MOMENT = "moment"


_SORTS: tuple[tuple[tuple[str, ...], Sort], ...] = (
    (("timestamp", "datetime"), Sort.MOMENT),
    (("date",), Sort.DAY),
    (("interval", "point"), Sort.TEXT),
    (("int", "serial", "real", "num", "dec", "double", "float"), Sort.NUMBER),
)


def sort_of(type_text: str) -> Sort:
    """The sort that an engine's type name says; what is unknown is text, which every engine compares."""
    lowered = type_text.lower()
    return next((sort for words, sort in _SORTS if any(word in lowered for word in words)), Sort.TEXT)


@dataclass(frozen=True)
class Field:
    """A column. `words` are the stems of its name, `others` those of its published title."""

    table: str
    name: str
    sort: Sort
    words: tuple[str, ...]
    others: tuple[str, ...]
    is_key: bool
    values: tuple[object, ...] = ()

    @cached_property
    def expression(self) -> exp.Column:
        """The column as it is written: with its table, both in quotes."""
        return exp.column(self.name, table=self.table, quoted=True)

    @property
    def is_label(self) -> bool:
        """Whether people would call a row by it."""
        return (
            self.sort is Sort.TEXT and not self.is_key and bool(_LABELS & set(self.words) or self.ends_named)
        )

    @property
    def ends_named(self) -> bool:
        """Whether its name ends as one of a name, where the words run together."""
        return "".join(self.words).endswith(("name", "nam", "titl", "title"))


_LABELS = frozenset({"nam", "name", "titl", "label"})


@dataclass(frozen=True)
class Entity:
    """A table."""

    name: str
    words: tuple[str, ...]
    fields: tuple[Field, ...]
    keys: tuple[Field, ...]
    """The columns of its primary key."""

    @property
    def label(self) -> Field:
        """What a row is called by: a name or a title, else the key, else the first column."""
        labels = [field for field in self.fields if field.is_label]
        exact = [field for field in labels if len(field.words) == 1]
        texts = [field for field in self.keys if field.sort is Sort.TEXT]
        return next(iter((*exact, *labels, *texts, *self.keys, *self.fields)))


@dataclass(frozen=True)
class Link:
    """A foreign key: columns of `source` refer to those of `target`."""

    source: str
    columns: tuple[str, ...]
    target: str
    referred: tuple[str, ...]


@dataclass(frozen=True)
class Catalog:
    """All tables of a database that have columns, and what links them."""

    entities: tuple[Entity, ...]
    links: tuple[Link, ...]
    by_table: Mapping[str, Entity] = field(repr=False)

    @cached_property
    def by_name(self) -> Mapping[str, tuple[Field, ...]]:
        """Columns by their names in lower case."""
        found: dict[str, tuple[Field, ...]] = {}
        for column in self.fields():
            found[column.name.lower()] = (*found.get(column.name.lower(), ()), column)
        return found

    def fields(self) -> Iterator[Field]:
        """All columns, table by table."""
        for entity in self.entities:
            yield from entity.fields

    def field(self, column: exp.Column) -> Field | None:
        """The column that an expression names; of a table under another name `meta` has the table's own."""
        entity = self.by_table.get(column.meta.get(TABLE, column.table).lower())
        return next((one for one in entity.fields if one.name == column.name), None) if entity else None


def catalog(database: DatabaseText) -> Catalog:
    """The schema of a problem, indexed."""
    entities = tuple(_entity(table) for table in database.tables if table.columns)
    by_table = {entity.name.lower(): entity for entity in entities}
    links = tuple(
        Link(by_table[table.name.lower()].name, columns, by_table[target.lower()].name, referred)
        for table in database.tables
        for columns, target, referred in table.foreign_keys
        if table.name.lower() in by_table and target.lower() in by_table and len(columns) == len(referred)
    )
    return Catalog(entities, links, by_table)


def _entity(table: TableText) -> Entity:
    fields = tuple(_field(table, place, column) for place, column in enumerate(table.columns))
    keys = tuple(field for field in fields if field.name in table.primary_key)
    return Entity(table.name, pieces(table.name), fields, keys)


def _field(table: TableText, place: int, column: ColumnText) -> Field:
    referring = {name for columns, _, _ in table.foreign_keys for name in columns}
    return Field(
        table=table.name,
        name=column.name,
        sort=sort_of(column.type),
        words=pieces(column.name),
        others=pieces(column.title or ""),
        is_key=column.name in table.primary_key or column.name in referring,
        values=tuple(row[place] for row in table.rows if place < len(row)),
    )

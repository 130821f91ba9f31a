"""One gold as probes see it: its tree, the stored columns that its names mean, and its engine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from sqlglot import exp

from dialects.clauses import bare_table
from dialects.enums import Dialect
from dialects.identifiers import column_name
from dialects.schema import Schema, Table
from dialects.targets import SQLGLOT
from dialects.without_limit import without_limit
from harness.analyses.coverage.comparison import RowsComparison
from harness.data.questions import Question
from harness.engines.base import Row
from harness.engines.execution import Ending, Execution
from harness.scoring.ties import Run
from harness.sqltree.query import Query, StoredColumn, alone, cut_of, cuts

# What a probe finds: the record, and the words in it.


class Severity(StrEnum):
    """The effect of such a fault on scores."""

    HIGH = "high"
    """A right prediction can be scored as wrong, or the gold's own answer is not one."""
    MEDIUM = "medium"
    """The gold can return something else than it looks, on these rows or on others like them."""
    LOW = "low"
    """It matters to strict metrics, to other rows or to another engine alone."""


class FindingBasis(StrEnum):
    """The source of a finding."""

    ROWS = "rows"
    """From rows that are stored: other rows, other findings."""
    TEXT = "text"
    """From the gold's text and the schema alone, whatever is stored."""


MOST_ROWS = 5
"""Rows that evidence shows of one result."""


_MOST_CHARACTERS = 100


def shown_value(value: object) -> str:
    """Return a value as evidence shows it: texts in quotes, the end of a long one cut off."""
    if value is None:
        return "NULL"
    text = repr(value) if isinstance(value, str | bytes | float) else str(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}\N{HORIZONTAL ELLIPSIS}"


@dataclass(frozen=True)
class Evidence:
    """A few rows under a title: one of the things that a reader compares."""

    title: str
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, title: str, rows: Sequence[Sequence[object]]) -> "Evidence":
        """Return the first rows of a result, as text."""
        shown = [tuple(map(shown_value, row)) for row in rows[:MOST_ROWS]]
        more = [(f"... {len(rows) - MOST_ROWS} more",)] if len(rows) > MOST_ROWS else []
        return cls(title, (*shown, *more))


@dataclass(frozen=True)
class Finding:
    """One fault that a probe found in one gold.

    `says` is one sentence. `suggestion` is another gold, which has run and differs only where the probe says;
    None where none follows. `hint`: more often than one time in ten a reader disagrees with such a finding.
    `probe` is its name, which who lets it read the gold fills in.
    """

    probe: str = field(default="", kw_only=True)
    severity: Severity = field(default=Severity.HIGH, kw_only=True)
    basis: FindingBasis = field(default=FindingBasis.ROWS, kw_only=True)
    says: str
    evidence: tuple[Evidence, ...] = ()
    suggestion: str | None = None
    hint: bool = False


@dataclass(frozen=True)
class FoundIn:
    """A finding with the gold that it is about.

    `question` is the question's key. `replaces` is the sha256 of the gold. `synthetic` says that the finding
    follows from rows which are not the published ones.
    """

    question: str
    question_id: int | str
    db_id: str
    dialect: Dialect
    text: str
    knowledge: str
    sql: str
    replaces: str
    synthetic: bool
    finding: Finding

    def to_json(self) -> Mapping[str, Any]:
        """Return one entry of `audit.json`."""
        record = asdict(self)
        finding: dict[str, Any] = record.pop("finding")
        return record | finding


Keys = Mapping[str, Sequence[frozenset[str]]]
"""The keys that a published schema declares, by table, all in lower case."""


@dataclass(frozen=True)
class RankedRow:
    """A row of a query without its cut, with its sort keys."""

    row: Row
    keys: Row


class AuditedGold:
    """One gold on its engine.

    Args:
        question: whose gold it is.
        dialect: the engine's.
        schema: what the database holds.
        run: runs a text there, in bounds.
        declared: the keys that the published schema declares; those of `schema` hold in any case.
    """

    def __init__(
        self, question: Question, dialect: Dialect, schema: Schema, run: Run, declared: "Keys | None" = None
    ) -> None:
        self.question = question
        self.dialect = dialect
        self.sql = question.gold[dialect]
        self.run = run
        self._declared = declared or {}
        self.comparison: Callable[[], RowsComparison] | None = None
        """Returns how a server's gold relates to SQLite's; None if there is nothing to compare."""
        # Names are looked up without regard to case on every engine: the gold is known to run.
        self._query = Query.read(self.sql, dialect, schema, names=Dialect.SQLITE)

    @property
    def is_readable(self) -> bool:
        """True if it can be parsed, and not only run."""
        return self._query is not None

    @property
    def query(self) -> Query:
        """The parsed query of a readable gold."""
        assert self._query is not None  # noqa: S101 - probes of texts read no other
        return self._query

    @property
    def tree(self) -> exp.Query:
        """The syntax tree."""
        return self.query.tree

    @cached_property
    def answer(self) -> Execution:
        """The rows of the gold."""
        return self.run(self.sql)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the gold; none where it fails."""
        return self.answer.rows

    @property
    def selects(self) -> list[exp.Select]:
        """Every SELECT in it, the outermost first."""
        return self.query.selects()

    @property
    def cuts(self) -> list[exp.Query]:
        """Every query in it with a LIMIT, the outermost first."""
        return cuts(self.tree)

    def text(self, tree: exp.Expr) -> str:
        """Return a tree as text for the engine."""
        return tree.sql(dialect=SQLGLOT[self.dialect], comments=False)

    def asked(self, sql: str) -> tuple[Row, ...] | None:
        """Return the rows of a text; None if it fails or is stopped."""
        try:
            found = self.run(sql)
        except ValueError:
            return None
        return found.rows if found.ending is Ending.ROWS else None

    def with_change(self, old: exp.Expr, new: exp.Expr) -> str:
        """Return the text of the gold with one node replaced."""
        return self.with_changes({id(old): new})

    def with_changes(self, new: Mapping[int, exp.Expr]) -> str:
        """Return the text of the gold with some nodes replaced; `new` maps the `id` of the old ones."""
        places = [at for at, node in enumerate(self.tree.walk()) if id(node) in new]
        wanted = [new[id(node)] for node in self.tree.walk() if id(node) in new]
        copy = self.tree.copy()
        nodes = list(copy.walk())
        for at, node in zip(reversed(places), reversed(wanted), strict=True):
            nodes[at].replace(node.copy())
        return self.text(copy)

    def alone(self, query: exp.Query) -> exp.Query:
        """See `harness.sqltree.query.alone`."""
        return alone(query, self.tree)

    def body(self, select: exp.Select, columns: Sequence[exp.Expr]) -> exp.Select:
        """Return a query for the rows of a SELECT before it groups, orders or cuts, with other columns."""
        copy = self.alone(select)
        assert isinstance(copy, exp.Select)  # noqa: S101 - a copy of one
        for part in ("group", "having", "order", "limit", "offset", "distinct", "windows", "hint"):
            copy.set(part, None)
        copy.set("expressions", [column.copy() for column in columns])
        return copy

    def count(self, tree: exp.Expr, *, distinct: bool = False) -> int | None:
        """Count the rows, or different rows, of a query; None if it fails."""
        inner = tree.copy()
        if distinct:
            inner.set("distinct", exp.Distinct())
        rows = self.asked(f"SELECT COUNT(*) FROM ({self.text(inner)}) AS bird_rows")  # noqa: S608 - a tree's
        return int(str(rows[0][0])) if rows else None

    def declares(self, table: str, columns: Sequence[str]) -> bool:
        """True if the published schema calls columns a key of a table, or contains a key among them."""
        named = frozenset(name.lower() for name in columns)
        return any(key <= named for key in self._declared.get(table.lower(), ()))

    def stored(self, node: exp.Expr | None) -> StoredColumn | None:
        """Return the stored column that an expression is; None if it is anything else."""
        return self.query.stored(node)

    def named(self, name: str) -> str:
        """Return a column's name as the engine has it."""
        return name if self.dialect is Dialect.SQLITE else column_name(name, self.dialect)

    def key(self, alias: str, table: Table) -> list[exp.Expr]:
        """Return columns that identify the rows of a table in FROM; none if no key is known."""
        names = table.primary_key or next(iter(table.unique), ())
        if self.dialect is Dialect.SQLITE and table.has_rowid:
            return [exp.column("rowid", table=alias, quoted=False)]
        return [exp.column(self.named(name), table=alias, quoted=True) for name in names]

    def values(self, stored: StoredColumn, most: int) -> list[object]:
        """Different values of a stored column, NULL apart, at most so many."""
        column = exp.column(self.named(stored.column.name), quoted=True)
        query = exp.select(column).distinct().from_(self.source(stored)).where(column.is_(exp.null()).not_())
        found = self.asked(self.text(query.limit(most)))
        return [row[0] for row in found or ()]

    def source(self, stored: StoredColumn) -> exp.Expr:
        """Return the table of a stored column, as FROM names it, without an alias."""
        return bare_table(stored.source.node)

    def ranked(self, query: exp.Query) -> list[RankedRow] | None:
        """Return the rows of a query in its order, without its LIMIT; None if that cannot be told."""
        copy = self.alone(query)
        if cut_of(copy) is None:
            return None
        for asked in without_limit(copy, self.dialect):
            found = self.asked(asked.sql)
            if found is None:
                continue
            if not asked.keys:
                return None
            width = asked.keys + 1
            ordered = sorted(found, key=lambda row: int(str(row[-1])))
            return [RankedRow(row[:-width], row[-width:-1]) for row in ordered]
        return None

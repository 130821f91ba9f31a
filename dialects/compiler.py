"""Compile one statement: expressions bottom-up, each node by the rewrite for its type."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, Protocol

from sqlglot import exp

from dialects.coercions import as_condition, plain
from dialects.errors import Untranslatable
from dialects.functions import Function, rows_of
from dialects.identifiers import ascii_lower
from dialects.lowerings import lowerings
from dialects.parameters import Parameters
from dialects.schema import affinity
from dialects.scope import Relation, RowsNeeded, Scope, is_rowid
from dialects.source import position
from dialects.tables import LAST_IN_NAMES, LoopPlan, Tables, folded
from dialects.tagged_values import to_tagged
from dialects.targets import TARGETS
from dialects.trees import by_type, find_all
from dialects.value_types import Collation, Kind, Typed

Handler = Callable[["Compiler", Any, Scope], Typed]
"""Compiles one type of node, in the scope that contains it."""


class QueryHandler(Protocol):
    """Compiles a SELECT, VALUES or compound SELECT; see `dialects.rewrites.queries.query`."""

    def __call__(
        self, c: "Compiler", node: exp.Expr, parent: Scope | None, *, derived: bool, wanted: RowsNeeded
    ) -> Relation:
        """Compile one query."""
        ...


@dataclass(frozen=True)
class Rewrites:
    """The rewrites passed to a compiler, which imports none, so that each of them can import it.

    `transparent` operators: if NULL and FALSE are equivalent for the result, they are for the operands.
    """

    expressions: Mapping[type[exp.Expr], Handler]
    transparent: tuple[type[exp.Expr], ...]
    query: QueryHandler


def _collation_below(node: exp.Expr) -> Collation | None:
    """Return the collation of the first COLLATE in an expression, outside subqueries."""
    if isinstance(node, exp.Query):
        return None
    if isinstance(node, exp.Collate):
        return Collation.__members__.get(node.expression.name.upper())
    parts = [node.this] if isinstance(node, exp.Window | exp.Filter) else node.iter_expressions()
    return next((found for part in parts if (found := _collation_below(part)) is not None), None)


_INDEXED_BY = re.compile(r"indexed\s+by\s*\Z", re.IGNORECASE)

_LONG_NUMBER = re.compile("[0-9]{16}")

_EXPONENT = re.compile(r"[0-9]e\+?[0-9]{3,9}", re.IGNORECASE)

_LONGEST_STEM = 48
"""Bytes."""


class _Filtered:
    """See `Compiler.filtered`: a class, since it is entered for each comparison."""

    def __init__(self, c: "Compiler", filtering: bool) -> None:  # noqa: FBT001 - as there
        self._c, self._before, c.filtering = c, c.filtering, filtering

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._c.filtering = self._before


class Compiler:
    """Compiles one statement for one target; records the rules applied and the warnings."""

    def __init__(  # noqa: PLR0913 - what a translation depends on
        self, tables: Tables, sql: str, root: exp.Expr, rewrites: Rewrites, parameters: Parameters,
        *, without: frozenset[str],
    ) -> None:  # fmt: skip
        self._rewrites = rewrites
        self.parameters = parameters
        self.tables = tables
        self.root = root
        """The whole statement."""
        self.nodes = by_type(root)
        """The nodes of the statement, by type."""
        self._collates = bool(self.nodes[exp.Collate])
        self._sql = sql
        self.target = TARGETS[tables.target]
        self._lowerings = lowerings(tables.target, without)
        self.rules: dict[str, None] = {}
        self.warnings: dict[str, None] = {}
        self.hints: dict[str, None] = {}
        self.filtering = False
        """True if NULL and FALSE are equivalent where the expression is used."""
        self.queries = 0
        """The number of queries compiled."""
        self.documents: list[Scope] = []
        """The SELECTs that call JSON functions."""
        self.changed: set[str] = set()
        """What later releases of SQLite treat otherwise; see `dialects.versions`."""
        self.found_in: list[Scope] = []
        """The SELECTs in which columns were found, in the order of compiling."""
        self._expanded: set[str] = set()
        self._read: set[str] = set()
        self.cte_names: set[str] = set()
        """The names of common table expressions on the target (lower case)."""
        self._numbers = count(1)
        self.joined: set[str] = set()
        """Aliases of derived tables that replace FULL JOINs, with columns named `source.column`."""

    @cached_property
    def plan(self) -> LoopPlan:
        """SQLite's query plan for the statement.

        Raises:
            Untranslatable: SQLite rejects the statement.
        """
        text = self._sql
        for name in reversed(self.index_names):
            before, end = _INDEXED_BY.sub("", text[: name.meta["start"]]), name.meta["end"] + 1
            text = before + text[end:]
        return self.tables.planner.plan(text)

    @cached_property
    def index_names(self) -> list[exp.Identifier]:
        """The index names in INDEXED BY, in the order of the text: a schema stores indexes without names."""
        found = [table.args.get("indexed") for table in self.nodes[exp.Table]]
        return sorted((each.this for each in found if each), key=lambda name: name.meta["start"])

    @cached_property
    def joins_outward(self) -> bool:
        """True if the statement, or a view that it reads, has an outer join."""
        return any(join.side for join in self.nodes[exp.Join])

    @property
    def in_utf8(self) -> bool:
        """See `Context.in_utf8`."""
        return self.tables.in_utf8

    @cached_property
    def long_numbers(self) -> bool:
        """See `Context.long_numbers`: decided by the census and by what is written in the statement."""
        written = [each for each in self.nodes[exp.Literal] if _LONG_NUMBER.search(each.name)]
        names = {table.name for table in self.nodes[exp.Table]}
        bound = [each for each in self.parameters.samples.values() if isinstance(each, str)]
        if any(each.is_string for each in written) or any(map(_LONG_NUMBER.search, bound)):
            return True
        if any(map(self.tables.has_long_numbers, names)):
            return True
        return (bool(written) or any(map(self.tables.has_long_integers, names))) and self._makes_texts

    @cached_property
    def first_year(self) -> bool:
        """See `Context.first_year`."""
        written = any(each.is_string and each.name.startswith("-4713-") for each in self.nodes[exp.Literal])
        return written or any(self.tables.has_first_year(table.name) for table in self.nodes[exp.Table])

    @cached_property
    def long_texts(self) -> set[str]:
        """The columns of tables read, folded, with texts of which few fit a sort buffer of 256 KB."""
        return {name for table in self.nodes[exp.Table] for name in self.tables.long_texts(table.name)}

    @cached_property
    def longest_text(self) -> int:
        """The length of the longest text among the columns of tables read and what is written."""
        read = [found for table in self.nodes[exp.Table] if (found := self.tables.find(table.name))]
        stored = [column.source.longest for table in read for column in table.columns]
        return max(stored + [len(each.name) for each in self.nodes[exp.Literal]], default=0)

    @cached_property
    def columns_read(self) -> set[str]:
        """The folded names of all columns of the statement's tables."""
        return {name for table in self.nodes[exp.Table] for name in self.tables.folded_columns(table.name)}

    @cached_property
    def infinite_texts(self) -> bool:
        """See `Context.infinite_texts`."""
        if self.target.holds_infinity:
            return False
        texts = (each.name for each in self.nodes[exp.Literal] if each.is_string)
        return any(math.isinf(float(found)) for text in texts for found in _EXPONENT.findall(text))

    @cached_property
    def _makes_texts(self) -> bool:
        """True if the statement makes texts of numbers, which it may read as numbers again."""
        types = {str(cast.args["to"].args["kind"]) for cast in self.nodes[exp.Cast]}
        return (
            bool(self.nodes[exp.DPipe])
            or any(affinity(kind) in {"TEXT", "BLOB"} for kind in types)
            or any(row.prints for row in self._called)
        )

    @property
    def _called(self) -> Iterator[Function]:
        for call in self.nodes[exp.Anonymous]:
            yield from rows_of(ascii_lower(call.name))

    @cached_property
    def lists(self) -> bool:
        """True if an aggregate builds a list, for which the order of subqueries matters."""
        return any(row.lists for row in self._called)

    def common_names(self, expanded: set[str], read: set[str]) -> str | None:
        """Return a name that means both a table and a common table expression once a view is expanded.

        Args:
            expanded: the common table expressions of the view, in lower case.
            read: its tables, in lower case.
        """
        if not self._expanded and not self._read:
            self._expanded = {ascii_lower(cte.alias) for cte in self.nodes[exp.CTE]}
            self._read = {ascii_lower(table.name) for table in self.nodes[exp.Table]}
        clash = next(iter(sorted((self._expanded & read) | (expanded & self._read))), None)
        self._expanded |= expanded
        self._read |= read
        return clash

    @cached_property
    def asks_for_rowids(self) -> bool:
        """True if the statement, or a view that it reads, names a rowid."""
        return any(map(is_rowid, self.nodes[exp.Column]))

    def lowers(self, name: str) -> bool:
        """See `Context.lowers`."""
        return self._lowerings[name] is not None

    def most(self, name: str) -> int | None:
        """Return the number that a lowering has as the target's limit; None if there is no limit."""
        found = self._lowerings[name]
        return found.most if found else None

    def hint(self, name: str) -> None:
        """Add the optimizer hint of a lowering, if the target needs it."""
        if (found := self._lowerings[name]) and found.hint:
            self.hints[found.hint] = None

    def applies(self, rule: str) -> None:
        """See `Context.applies`."""
        self.rules[rule] = None

    def warn(self, text: str) -> None:
        """See `Context.warn`."""
        self.warnings[text] = None

    @cached_property
    def _taken(self) -> set[str]:
        """The folded names in the statement and the schema, and those that `name` has returned."""
        written = (*self.nodes[exp.Identifier], *self.nodes[exp.Literal])
        return self.tables.names | {folded(each.name) for each in written}

    def name(self, stem: str) -> str:
        """Return a name that is not used in the statement or the schema.

        Names are compared as the most tolerant engine does, ignoring case and accents. PostgreSQL truncates
        names to 63 bytes, so the stem is truncated first.
        """
        stem = "".join(each for each in stem if each <= LAST_IN_NAMES)
        stem = stem.encode()[:_LONGEST_STEM].decode(errors="ignore")
        names = (f"_{stem}{number}" for number in self._numbers)
        found = next(name for name in names if folded(name) not in self._taken)
        self._taken.add(folded(found))
        return found

    def expression(self, node: exp.Expr | None, scope: Scope) -> Typed:
        """Compile one expression.

        Raises:
            Untranslatable: SQLite cannot evaluate it, or the target has no exact equivalent.
        """
        if node is None:
            raise Untranslatable("the statement", "it cannot be read: an operand is missing")
        grouping = scope.grouping
        if grouping is not None:
            for written, found in grouping.keys:
                if type(written) is type(node) and not isinstance(node, exp.Column):
                    with self.ungrouped(scope):
                        inner = self.expression(node, scope)
                    if inner.kind is Kind.ANY is found.kind:
                        inner = to_tagged(self, inner, normal=True)
                    if plain(self, inner).node == found.node:
                        copied, whole = found.of(node=found.node.copy()), found.number.integral
                        known = whole and all(map(grouping.key, find_all(whole, exp.Column)))
                        return copied if known else copied.with_number(integral=None)
        handler = self._rewrites.expressions.get(type(node))
        if handler is None:
            raise Untranslatable(node.key, "no rewrite knows it", position(node))
        filtering, self.filtering = (
            self.filtering,
            self.filtering and isinstance(node, self._rewrites.transparent),
        )
        try:
            found = handler(self, node, scope)
            return self._collated(node, found) if self._collates else found
        except Untranslatable as error:
            if error.position is None:
                raise Untranslatable(error.construct, error.reason, position(node)) from None
            raise
        finally:
            self.filtering = filtering

    def _collated(self, node: exp.Expr, found: Typed) -> Typed:
        """Return a text with the collation of a COLLATE within its operands.

        See sqlite3ExprCollSeq() in https://github.com/sqlite/sqlite/blob/version-3.40.1/src/expr.c.
        """
        if found.kind not in {Kind.TEXT, Kind.ANY} or isinstance(node, exp.Collate | exp.Column):
            return found
        below = _collation_below(node)
        return found if below is None else found.with_text(collation=below, collates=True)

    def condition(self, node: exp.Expr, scope: Scope, *, filtering: bool = False) -> exp.Expr:
        """Compile one expression as a condition; `filtering` if NULL and FALSE are equivalent."""
        with self.filtered(filtering):
            return as_condition(self, self.expression(node, scope)).node

    def filtered(self, filtering: bool) -> "_Filtered":  # noqa: FBT001 - what `filtering` is within
        """Compile a part for which NULL and FALSE are equivalent (`filtering`) or not."""
        return _Filtered(self, filtering)

    @contextmanager
    def ungrouped(self, scope: Scope) -> Iterator[None]:
        """Compile expressions that are evaluated per row, such as an aggregate's argument."""
        grouping, scope.grouping = scope.grouping, None
        try:
            yield
        finally:
            scope.grouping = grouping

    def query(
        self,
        node: exp.Expr,
        parent: Scope | None,
        *,
        derived: bool = False,
        wanted: RowsNeeded = RowsNeeded.ALL,
    ) -> Relation:
        """Compile a SELECT, VALUES or compound SELECT; see `dialects.rewrites.queries.query`."""
        self.queries += 1
        # A query returns values, wherever it is used.
        with self.filtered(False):
            return self._rewrites.query(self, node, parent, derived=derived, wanted=wanted)

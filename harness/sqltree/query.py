"""One query as everything here reads it: sources, the meaning of names, keys, conditions, order and cut.

`read` parses a text. Where a name may mean several things, it means nothing (`Query.meaning`), so that what
is concluded holds; `Query.stored` takes the first table that has such a column instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from sqlglot import exp

from dialects.clauses import ctes_in_sight, from_items, is_source, on_of, where_of
from dialects.enums import Dialect, Profile
from dialects.facts import FACTS
from dialects.schema import Column, Schema, Table
from dialects.targets import SQLGLOT
from harness.sqltree.parser import read_query


@dataclass(frozen=True)
class Fact:
    """A fact that a rule relies on, as a sentence; `declared`: true for any data, not only for this."""

    says: str
    declared: bool


class Refused(Exception):
    """A precondition of a rule does not hold; the text says why."""


@dataclass(frozen=True, eq=False)
class QuerySource:
    """An item of FROM: a stored table, or anything else with rows (`table` is None)."""

    alias: str
    """Folded."""
    node: exp.Expr
    table: Table | None
    outputs: frozenset[str] | None
    """Column names, case-folded; None if unknown."""
    optional: bool
    """True if an outer join can replace its rows by NULL."""
    join: exp.Join | None
    """None for what comes first."""

    @property
    def side(self) -> str:
        """LEFT, RIGHT or FULL where an outer join brings it."""
        return self.join.side if self.join is not None else ""

    @property
    def on(self) -> list[exp.Expr]:
        """The conditions of ON that must all hold."""
        return on_of(self.join)

    @property
    def is_merged(self) -> bool:
        """True if USING or NATURAL merges columns."""
        return self.join is not None and bool(self.join.args.get("using") or self.join.method)

    @property
    def is_listed(self) -> bool:
        """True if it follows a comma: JOIN binds tighter, and sees nothing before the comma."""
        return self.join is not None and not (self.side or self.join.args.get("on") or self.is_merged)

    @property
    def name(self) -> exp.Expr:
        """The qualifier of its columns, as FROM spells it."""
        alias = self.node.args.get("alias")
        found: exp.Expr = alias.this if alias is not None else self.node.this
        return found.copy()


@dataclass(frozen=True)
class Named:
    """A column of a source; `stored` is None if the source is not a stored table."""

    select: exp.Select
    source: QuerySource
    name: str
    stored: Column | None

    @property
    def place(self) -> tuple[int, str, str]:
        """A key that is equal for the same column of the same source."""
        return id(self.select), self.source.alias, self.name

    @property
    def title(self) -> str:
        """The name in a sentence."""
        table = self.source.table.name if self.source.table else self.source.alias
        return f"{table}.{self.stored.name if self.stored else self.name}"


@dataclass(frozen=True)
class StoredColumn:
    """The stored column that a name means, and the source that offers it."""

    select: exp.Select
    source: QuerySource
    table: Table
    column: Column

    @property
    def alias(self) -> str:
        """The qualifier, case-folded."""
        return self.source.alias

    @property
    def title(self) -> str:
        """The name in a sentence."""
        return f"{self.table.name}.{self.column.name}"


HeldKeys = frozenset[tuple[str, tuple[str, ...]]]
"""Keys, each a table with columns, whose rows were seen to be distinct on a server."""


@dataclass(frozen=True)
class Key:
    """Columns of a table, case-folded; no two rows agree on them, and NULL agrees with nothing."""

    columns: tuple[str, ...]
    fact: Fact


@dataclass(eq=False)
class Query:
    """One query of a dialect over a schema. Who changes `tree` reads it anew.

    `names` is the dialect whose rules for names hold, the query's own where it is None; SQLite's ignore case.
    `profile` and `held` decide which keys hold on a server.
    """

    tree: exp.Query
    schema: Schema
    dialect: Dialect
    profile: Profile = Profile.OFFICIAL
    held: HeldKeys = frozenset()
    names: Dialect | None = None

    @classmethod
    def read(cls, sql: str, dialect: Dialect, schema: Schema, *, names: Dialect | None = None) -> Self | None:
        """Read a text; None if it is not a readable query."""
        tree = read_query(sql, dialect)
        return None if tree is None else cls(tree, schema, dialect, names=names)

    def __post_init__(self) -> None:
        self.engine = FACTS[self.names or self.dialect]
        self._tables = {self.engine.table(table): table for table in self.schema.tables}
        self._columns = {
            table.name: {self.engine.column(column): column for column in table.columns}
            for table in self.schema.tables
        }
        self._sources: dict[int, list[QuerySource]] = {}
        self._selects: list[exp.Select] | None = None

    # Texts and trees.

    @property
    def sql(self) -> str:
        """The query as text."""
        return self.text(self.tree)

    def text(self, node: exp.Expr, *, is_spent: bool = False) -> str:
        """Render a part of it; `is_spent` renders without a copy, if nobody needs the part afterwards."""
        return node.sql(dialect=SQLGLOT[self.dialect], comments=False, copy=not is_spent)

    def selects(self) -> list[exp.Select]:
        """Return every SELECT, the outermost first."""
        if self._selects is None:
            self._selects = list(self.tree.find_all(exp.Select))
        return self._selects

    def fresh(self, stem: str) -> str:
        """Return a name that nothing in the query and in the schema has."""
        taken = {name.name.lower() for name in self.tree.find_all(exp.Identifier)}
        taken |= {column for columns in self._columns.values() for column in columns} | set(self._tables)
        number = 1
        while f"bird_{stem}_{number}" in taken:
            number += 1
        return f"bird_{stem}_{number}"

    # Sources.

    def sources(self, select: exp.Select) -> list[QuerySource]:
        """Return the sources of FROM, in order."""
        found = self._sources.get(id(select))
        if found is None:
            found = self._sources[id(select)] = list(self._read_sources(select))
        return found

    def joined(self, select: exp.Select) -> list[QuerySource]:
        """Return the sources that joins bring, in their order; those behind commas are among them."""
        return [source for source in self.sources(select) if source.join is not None]

    def _read_sources(self, select: exp.Select) -> Iterator[QuerySource]:
        items = from_items(select)
        sides = [item.join.side if item.join is not None else "" for item in items]
        for at, item in enumerate(items):
            optional = sides[at] in {"LEFT", "FULL"} or not {"RIGHT", "FULL"}.isdisjoint(sides[at + 1 :])
            yield QuerySource(
                self._alias(item.node), item.node, *self._rows_of(item.node), optional, item.join
            )

    def _alias(self, node: exp.Expr) -> str:
        alias = node.args.get("alias")
        if isinstance(alias, exp.TableAlias) and alias.this is not None:
            return self.engine.fold(alias.this)
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            return self.engine.fold(node.this)
        return ""

    def _rows_of(self, node: exp.Expr) -> tuple[Table | None, frozenset[str] | None]:
        """Return the stored table that a source is, and the columns that it offers."""
        alias = node.args.get("alias")
        if isinstance(alias, exp.TableAlias) and alias.columns:
            return None, None
        if isinstance(node, exp.Subquery) and not from_items(node):
            return None, self._outputs(node.this)
        if not isinstance(node, exp.Table) or any(
            value for key, value in node.args.items() if key not in {"this", "alias"}
        ):
            return None, None
        cte = self.cte(node)
        if cte is not None:
            return None, None if cte.args["alias"].columns else self._outputs(cte.this)
        table = self._tables.get(self.engine.fold(node.this))
        return table, None if table is None else frozenset(self._columns[table.name])

    def table(self, node: exp.Expr) -> Table | None:
        """Return the stored table that an item of FROM is; None for anything else."""
        return self._rows_of(node)[0]

    def is_known(self, table: exp.Table) -> bool:
        """True if a name in FROM is that of a stored table or of a common table expression."""
        if not isinstance(table.this, exp.Identifier) or table.args.get("db") is not None:
            return False
        return self.cte(table) is not None or self.engine.fold(table.this) in self._tables

    def cte(self, table: exp.Table) -> exp.CTE | None:
        """Return the common table expression that a name in FROM means."""
        name = self.engine.fold(table.this)
        found = ctes_in_sight(table, recursive=True)
        return next((one for one in found if self.engine.fold(one.args["alias"].this) == name), None)

    def _outputs(self, query: exp.Expr) -> frozenset[str] | None:
        select = next(leaves(query), None)
        if select is None:
            return None
        names: set[str] = set()
        for output in select.expressions:
            if output.is_star:
                for source in self.starred(select, output):
                    if source.outputs is None:
                        return None
                    names |= source.outputs
            elif isinstance(output, exp.Alias):
                names.add(self.engine.fold(output.args["alias"]))
            elif isinstance(output, exp.Column):
                names.add(self.engine.fold(output.this))
            else:
                return None
        return frozenset(names)

    def starred(self, select: exp.Select, star: exp.Expr) -> list[QuerySource]:
        """Return the sources whose columns * or t.* stands for."""
        table = star.args.get("table") if isinstance(star, exp.Column) else None
        sources = self.sources(select)
        return sources if table is None else [one for one in sources if one.alias == self.engine.fold(table)]

    # Names.

    def meaning(self, node: exp.Column) -> Named | exp.Expr | None:
        """Return what a name refers to: a column, the result column of that name, or None if unknown."""
        scope = None if isinstance(node.this, exp.Star) else node.find_ancestor(exp.Select, exp.SetOperation)
        if isinstance(scope, exp.SetOperation):
            # Only its ORDER BY has names of its own.
            leftmost = next(leaves(scope), None)
            return None if leftmost is None else self._result(leftmost, node, with_columns=True)
        if not isinstance(scope, exp.Select):
            return None
        alias = None if node.table else self._result(scope, node)
        column = self._column(scope, node)
        if alias is None:
            return column
        if column is None:
            return alias
        same = isinstance(alias, exp.Column) and self._column(scope, alias) == column
        if same or is_before_results(node, scope):
            return column
        is_term = isinstance(node.parent, exp.Ordered) and isinstance(node.parent.parent, exp.Order)
        return alias if is_term else None

    def named(self, node: exp.Expr | None) -> Named | None:
        """Return the column that an expression is; None if it is anything else."""
        found = self.meaning(node) if isinstance(node, exp.Column) else None
        if isinstance(found, exp.Column):
            found = self.meaning(found)
        return found if isinstance(found, Named) else None

    def directly(self, node: exp.Expr | None) -> Named | None:
        """As `named`, unless it refers to the name of a result, which no other query sees."""
        found = self.meaning(node) if isinstance(node, exp.Column) else None
        return found if isinstance(found, Named) else None

    def stored(self, node: exp.Expr | None) -> StoredColumn | None:
        """Return the stored column that an expression is; None if it is anything else.

        Unlike `named` it takes the first table that has a column of the name, and nothing behind a subquery
        that may have it. A name in the ORDER BY of a SELECT, not of a window, means the result column that
        has it.
        """
        if not isinstance(node, exp.Column) or node.is_star:
            return None
        name, qualifier = self.engine.fold(node.this), node.args.get("table")
        select = node.find_ancestor(exp.Select)
        order = node.find_ancestor(exp.Order, exp.Window, exp.Select)
        if select is not None and isinstance(order, exp.Order) and order.parent is select and not qualifier:
            result = self._result(select, node)
            if result is not None:
                return self.stored(result)
        wanted = None if qualifier is None else self.engine.fold(qualifier)
        while select is not None:
            for source in self.sources(select):
                if wanted not in {None, source.alias}:
                    continue
                if source.table is None:
                    return None
                if name in self._columns[source.table.name]:
                    column = self._columns[source.table.name][name]
                    return StoredColumn(select, source, source.table, column)
            select = select.find_ancestor(exp.Select)
        return None

    def _result(self, select: exp.Select, node: exp.Column, *, with_columns: bool = False) -> exp.Expr | None:
        """Return the result that is called as a name says, by its alias, or as a column alone."""
        name = self.engine.fold(node.this)
        results: list[exp.Expr] = select.expressions
        for output in results:
            if isinstance(output, exp.Alias) and self.engine.fold(output.args["alias"]) == name:
                found: exp.Expr = output.this
                return found
            is_column = with_columns and isinstance(output, exp.Column) and not output.is_star
            if is_column and self.engine.fold(output.this) == name:
                return output
        return None

    def _column(self, scope: exp.Select, node: exp.Column) -> Named | None:
        """Look from the inside outwards, as every engine does."""
        qualifier = node.args.get("table")
        if node.args.get("db") is not None:
            return None
        name = self.engine.fold(node.this)
        select: exp.Select | None = scope
        while select is not None:
            sources = self.sources(select)
            if any(one.is_merged for one in sources):
                return None
            if qualifier is not None:
                sources = [one for one in sources if one.alias == self.engine.fold(qualifier)]
            elif any(one.outputs is None for one in sources):
                return None
            else:
                sources = [one for one in sources if name in (one.outputs or ())]
            if len(sources) > 1:
                return None
            if sources:
                return self._of(select, sources[0], name)
            select = _around(select)
        return None

    def _of(self, select: exp.Select, source: QuerySource, name: str) -> Named | None:
        if source.outputs is None or name not in source.outputs:
            return None
        stored = self._columns[source.table.name].get(name) if source.table is not None else None
        return Named(select, source, name, stored)

    def uses(self, within: exp.Expr) -> Iterator[tuple[exp.Column, Named]]:
        """Yield the columns of sources that are named somewhere within, with their meanings.

        Raises:
            Refused: a name may mean several things, or is none that is known.
        """
        for node in within.find_all(exp.Column):
            if node.is_star:
                continue
            found = self.meaning(node)
            if found is None:
                raise Refused(f"it is not known which column {self.text(node)} is")
            if isinstance(found, Named):
                yield node, found

    def outer_uses(self, query: exp.Expr, part: exp.Expr | None = None) -> list[tuple[exp.Column, Named]]:
        """Return the columns named in a subquery, or in a part of it, that are of a query around it."""
        inside = {id(select) for select in query.find_all(exp.Select)}
        return [(node, named) for node, named in self.uses(part or query) if id(named.select) not in inside]

    def spelled(self, table: Table, name: str) -> exp.Identifier:
        """Return a column of a table as the engine has it."""
        return exp.to_identifier(self.engine.spelled(self._columns[table.name][name]), quoted=True)

    # Keys.

    def not_null(self, named: Named) -> Fact:
        """Return the fact that a column holds no NULL at its place.

        Raises:
            Refused: it may.
        """
        if named.stored is None or named.source.table is None:
            raise Refused(f"{named.title} may be NULL")
        if named.source.optional:
            raise Refused(f"{named.title} may be NULL: an outer join can put NULL in the place of its rows")
        return self.holds_no_null(named.source.table, named.stored)

    def holds_no_null(self, table: Table, column: Column) -> Fact:
        """See `not_null`."""
        title = f"{table.name}.{column.name}"
        if not column.nullable:
            return Fact(f"{title} is NOT NULL", declared=True)
        if column.name in table.primary_key:
            enforced = self.engine.enforces or table.rowid == column.name or not table.has_rowid
            if enforced:
                return Fact(f"{title} is of a primary key, which holds no NULL", declared=True)
        if not column.nulls:
            return Fact(f"{title} holds no NULL in the loaded data", declared=False)
        raise Refused(f"{title} may be NULL")

    def keys(self, table: Table) -> list[Key]:
        """Return the declared keys of a table that hold on its engine, each with what says so."""
        found = []
        for columns in dict.fromkeys((table.primary_key, *table.unique)):
            if not columns:
                continue
            stored = [table.column(name) for name in columns]
            seen = (table.name, columns) in self.held
            # A server leaves a key out that its own equality breaks; what holds then is known of the data.
            declared = not any(self.engine.merges(column, self.profile) for column in stored)
            if not seen and not declared:
                continue
            how = ", as the engine has been asked," if seen else ""
            words = f"{table.name} ({', '.join(columns)}) is{how} unique"
            found.append(Key(tuple(map(self.engine.column, stored)), Fact(words, declared)))
        return found

    def whole_keys(self, table: Table) -> list[tuple[Key, list[Fact]]]:
        """Return the keys without NULL, so that no two rows look alike; with all facts."""
        found = []
        for key in self.keys(table):
            try:
                facts = [self.holds_no_null(table, self._columns[table.name][name]) for name in key.columns]
            except Refused:
                continue
            found.append((key, [key.fact, *facts]))
        return found

    # Conditions and order.

    def conditions(self, select: exp.Select) -> list[exp.Expr]:
        """Return the conditions that hold for all rows before grouping: those of WHERE and of inner joins."""
        joined = self.joined(select)
        return where_of(select) + [
            one
            for at, source in enumerate(joined)
            if not source.side and not any(later.side in {"RIGHT", "FULL"} for later in joined[at + 1 :])
            for one in source.on
        ]

    def terms(self, query: exp.Query) -> list[exp.Expr]:
        """Return the sort keys of a query, with names and numbers of results resolved."""
        order, results = query.args.get("order"), query.selects
        nodes = [
            one.this if isinstance(one, exp.Ordered) else one
            for one in (order.expressions if order is not None else ())
        ]
        return [self._term(node, results).unalias() for node in nodes]

    def groups(self, select: exp.Select) -> list[exp.Expr]:
        """Return the grouping keys of a SELECT, with names and numbers of results resolved.

        Raises:
            Refused: it groups in several ways at once.
        """
        group = select.args.get("group")
        if group is None:
            return []
        if any(group.args.get(part) for part in ("grouping_sets", "cube", "rollup", "totals", "all")):
            raise Refused("GROUPING SETS, CUBE and ROLLUP are not read")
        return [self._term(node, select.expressions) for node in group.expressions]

    def _term(self, node: exp.Expr, results: list[exp.Expr]) -> exp.Expr:
        if isinstance(node, exp.Literal) and node.is_int and 0 < int(node.name) <= len(results):
            return results[int(node.name) - 1].unalias()
        if not isinstance(node, exp.Column):
            return node
        meaning = self.meaning(node)
        return meaning if isinstance(meaning, exp.Expr) else node


def leaves(query: exp.Expr) -> Iterator[exp.Select]:
    """Yield the SELECTs of a compound query in the order of the text; a SELECT itself."""
    if isinstance(query, exp.Select):
        yield query
    elif isinstance(query, exp.Subquery):
        yield from leaves(query.this)
    elif isinstance(query, exp.SetOperation):
        yield from leaves(query.this)
        yield from leaves(query.expression)


def alone(query: exp.Query, tree: exp.Query) -> exp.Query:
    """Return a copy of a query in a tree that can be run by itself, unless it is correlated."""
    copy = query.copy()
    outer = tree.args.get("with_")
    if outer is not None and copy.args.get("with_") is None:
        copy.set("with_", outer.copy())
    return copy


def cuts(tree: exp.Query) -> list[exp.Query]:
    """Return the queries in a tree that have a LIMIT, the outermost first, itself among them."""
    return [query for query in tree.find_all(exp.Query) if query.args.get("limit")]


_EVERYTHING = 2**62
"""Rows: more than any LIMIT can leave."""


def cut_of(query: exp.Query) -> tuple[int, int] | None:
    """Return the first row that is kept and the first that is not; None if that is not written as numbers.

    A negative LIMIT is none, a negative OFFSET is 0. https://sqlite.org/lang_select.html#limitoffset
    """
    limit = query.args.get("limit")
    options = limit.args.get("limit_options") if isinstance(limit, exp.Fetch) else None
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        return None
    try:
        kept = _number(limit, default=-1)
        start = max(_number(query.args.get("offset"), default=0), 0)
    except (TypeError, ValueError):
        return None
    return start, start + kept if kept >= 0 else _EVERYTHING


def _number(clause: exp.Expr | None, *, default: int) -> int:
    """Return the number in LIMIT, FETCH or OFFSET.

    Raises:
        TypeError: it is NULL.
        ValueError: it is not written as an integer.
    """
    if clause is None:
        return default
    if isinstance(clause, exp.Fetch):
        return int(clause.args["count"].to_py()) if clause.args.get("count") else 1
    return int(clause.expression.to_py())


def _around(select: exp.Select) -> exp.Select | None:
    """Return the next outer SELECT whose columns this one sees, unless this one is in its FROM or WITH."""
    node: exp.Expr = select
    blind = False
    while node.parent is not None:
        parent = node.parent
        if isinstance(parent, exp.CTE) or is_source(node):
            blind = True
        if isinstance(parent, exp.Select):
            if not blind:
                return parent
            blind = False
        elif isinstance(parent, exp.SetOperation) and isinstance(node, exp.With):
            blind = False
        node = parent
    return None


def is_before_results(node: exp.Expr, select: exp.Select) -> bool:
    """True if a name is where columns take precedence over the query's own results: WHERE, ON, results."""
    while node.parent is not None and node.parent is not select:
        node = node.parent
    return node.arg_key in {"where", "joins", "expressions"}

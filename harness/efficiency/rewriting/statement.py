"""A statement as rules see it: its tree, and which stored column of which table a name means.

Where a name may mean several things, it means nothing here: a rule then lets the statement be.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from dialects.enums import Dialect, Profile
from dialects.schema import Column, Schema, Table, affinity
from dialects.targets import SQLGLOT
from harness.efficiency.rewriting.engines import ENGINES
from harness.scoring.ties import read_query
from harness.sqltree.calls import conjuncts


@dataclass(frozen=True)
class Fact:
    """What a rule relies on, as a sentence; `declared`: for any data, and not for the loaded ones alone."""

    says: str
    declared: bool


class Refused(Exception):
    """Why a rule does not apply where it could."""


@dataclass(frozen=True, eq=False)
class Source:
    """What stands in FROM: a stored table, or anything else with rows (`table` is None)."""

    alias: str
    """Folded."""
    node: exp.Expr
    table: Table | None
    outputs: frozenset[str] | None
    """Its columns, folded; None where they are not known."""
    optional: bool
    """Whether an outer join can put NULL in the place of its rows."""
    join: exp.Join | None
    """None for what comes first."""


@dataclass(frozen=True)
class Named:
    """A column of a source; `stored` is None where the source is no stored table."""

    select: exp.Select
    source: Source
    name: str
    stored: Column | None

    @property
    def place(self) -> tuple[int, str, str]:
        """The same for the same column of the same source."""
        return id(self.select), self.source.alias, self.name

    @property
    def title(self) -> str:
        """How a sentence names it."""
        table = self.source.table.name if self.source.table else self.source.alias
        return f"{table}.{self.stored.name if self.stored else self.name}"


_Equality = tuple[tuple[str, str] | None, tuple[str, str] | None]
"""Two columns that are equal, each by the name of its source and its own; None is a constant."""

HeldKeys = frozenset[tuple[str, tuple[str, ...]]]
"""Keys, each a table with columns, of which a server has been seen to hold no two equal rows."""


@dataclass(frozen=True)
class Key:
    """Columns of a table, folded, of which no two rows agree; NULL agrees with nothing."""

    columns: tuple[str, ...]
    fact: Fact


@dataclass(eq=False)
class Statement:
    """One statement of a dialect over a schema. Rules change `tree`."""

    tree: exp.Query
    schema: Schema
    dialect: Dialect
    profile: Profile
    held: HeldKeys = frozenset()
    refused: list[str] = field(default_factory=list)
    """Why the rule that looks at it does not apply, for each place where it could."""
    as_read: str = ""
    """The text of the tree before any rule has changed it."""

    def __post_init__(self) -> None:
        self.engine = ENGINES[self.dialect]
        self._tables = {self.engine.table(table): table for table in self.schema.tables}
        self._columns = {
            table.name: {self.engine.column(column): column for column in table.columns}
            for table in self.schema.tables
        }
        self._sources: dict[int, list[Source]] = {}
        self._selects: list[exp.Select] | None = None

    # Texts and trees.

    @property
    def sql(self) -> str:
        """The statement as text."""
        return self.text(self.tree)

    def text(self, node: exp.Expr, *, is_spent: bool = False) -> str:
        """A part of it as text; without a copy to write from if nobody needs it after that."""
        return node.sql(dialect=SQLGLOT[self.dialect], comments=False, copy=not is_spent)

    def spent(self) -> str:
        """The statement as text, which nobody needs after that: writing leaves marks in the tree."""
        return self.text(self.tree, is_spent=True)

    def selects(self) -> list[exp.Select]:
        """Every SELECT, the outermost first: found once for all rules that leave the tree as it is."""
        if self._selects is None:
            self._selects = list(self.tree.find_all(exp.Select))
        return self._selects

    def fresh(self, stem: str) -> str:
        """A name that nothing in the statement and in the schema has."""
        taken = {name.name.lower() for name in self.tree.find_all(exp.Identifier)}
        taken |= {column for columns in self._columns.values() for column in columns} | set(self._tables)
        number = 1
        while f"bird_{stem}_{number}" in taken:
            number += 1
        return f"bird_{stem}_{number}"

    # Names.

    def sources(self, select: exp.Select) -> list[Source]:
        """What stands in FROM, in its order."""
        found = self._sources.get(id(select))
        if found is None:
            found = self._sources[id(select)] = self._read_sources(select)
        return found

    def _read_sources(self, select: exp.Select) -> list[Source]:
        first = select.args.get("from_")
        joins = select.args.get("joins") or ()
        nodes: list[tuple[exp.Expr, exp.Join | None]] = [(first.this, None)] if first is not None else []
        nodes += [(join.this, join) for join in joins]
        found: list[Source] = []
        for at, (node, join) in enumerate(nodes):
            own = join.side if join is not None else ""
            optional = own in {"LEFT", "FULL"} or any(one.side in {"RIGHT", "FULL"} for one in joins[at:])
            table, outputs = self._rows_of(node)
            alias = self._alias(node)
            found.append(Source(alias, node, table, outputs, optional, join))
        return found

    def _alias(self, node: exp.Expr) -> str:
        alias = node.args.get("alias")
        if isinstance(alias, exp.TableAlias) and alias.this is not None:
            return self.engine.fold(alias.this)
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            return self.engine.fold(node.this)
        return ""

    def _rows_of(  # noqa: PLR0911 - a way out for each kind
        self, node: exp.Expr
    ) -> tuple[Table | None, frozenset[str] | None]:
        """The stored table that a source is, and the columns that it offers."""
        alias = node.args.get("alias")
        if isinstance(alias, exp.TableAlias) and alias.columns:
            return None, None
        if isinstance(node, exp.Table):
            plain = isinstance(node.this, exp.Identifier) and not (set(node.args) - {"this", "alias", "db"})
            if not plain and any(value for key, value in node.args.items() if key not in {"this", "alias"}):
                return None, None
            if node.args.get("db") is not None:
                return None, None
            cte = self.cte(node)
            if cte is not None:
                return None, None if cte.args["alias"].columns else self._outputs(cte.this)
            table = self._tables.get(self.engine.fold(node.this))
            return table, None if table is None else frozenset(self._columns[table.name])
        if isinstance(node, exp.Subquery) and not node.args.get("joins"):
            return None, self._outputs(node.this)
        return None, None

    def is_known(self, table: exp.Table) -> bool:
        """Whether a name in FROM is that of a stored table or of a common table expression."""
        if not isinstance(table.this, exp.Identifier) or table.args.get("db") is not None:
            return False
        return self.cte(table) is not None or self.engine.fold(table.this) in self._tables

    def cte(self, table: exp.Table) -> exp.CTE | None:
        """The common table expression that a name in FROM means."""
        name = self.engine.fold(table.this)
        node: exp.Expr | None = table
        while node is not None:
            held = node.args.get("with_")
            for cte in held.expressions if held is not None else ():
                if self.engine.fold(cte.args["alias"].this) == name:
                    found: exp.CTE = cte
                    return found
            node = node.parent
        return None

    def _outputs(self, query: exp.Expr) -> frozenset[str] | None:
        while isinstance(query, exp.SetOperation | exp.Subquery):
            query = query.this
        if not isinstance(query, exp.Select):
            return None
        names: set[str] = set()
        for output in query.expressions:
            if output.is_star:
                for source in self.starred(query, output):
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

    def starred(self, select: exp.Select, star: exp.Expr) -> list[Source]:
        """The sources whose columns * or t.* stands for."""
        table = star.args.get("table") if isinstance(star, exp.Column) else None
        sources = self.sources(select)
        return sources if table is None else [one for one in sources if one.alias == self.engine.fold(table)]

    def meaning(self, node: exp.Column) -> Named | exp.Expr | None:  # noqa: PLR0911 - the rule of names
        """What a name means: a column, the result column of that name, or what is not known (None)."""
        if isinstance(node.this, exp.Star):
            return None
        scope = _scope(node)
        if isinstance(scope, exp.SetOperation):
            # Only its ORDER BY has names of its own.
            leftmost: exp.Expr = scope
            while isinstance(leftmost, exp.SetOperation | exp.Subquery):
                leftmost = leftmost.this
            return self._output(leftmost, node) if isinstance(leftmost, exp.Select) else None
        if not isinstance(scope, exp.Select):
            return None
        alias = None if node.table else self._aliased(scope, node)
        column = self._column(scope, node)
        if alias is None:
            return column
        if column is None:
            return alias
        same = isinstance(alias, exp.Column) and self._column(scope, alias) == column
        if same or _is_before_results(node, scope):
            return column
        is_term = isinstance(node.parent, exp.Ordered) and isinstance(node.parent.parent, exp.Order)
        return alias if is_term else None

    def named(self, node: exp.Expr | None) -> Named | None:
        """The column that an expression is; None where it is anything else."""
        found = self.meaning(node) if isinstance(node, exp.Column) else None
        if isinstance(found, exp.Column):
            found = self.meaning(found)
        return found if isinstance(found, Named) else None

    def directly(self, node: exp.Expr | None) -> Named | None:
        """As `named`, unless it is by the name of a result, which no other query sees."""
        found = self.meaning(node) if isinstance(node, exp.Column) else None
        return found if isinstance(found, Named) else None

    def _output(self, select: exp.Select, node: exp.Column) -> exp.Expr | None:
        name = self.engine.fold(node.this)
        for output in select.expressions:
            if isinstance(output, exp.Column) and not output.is_star:
                if self.engine.fold(output.this) == name:
                    return output
            elif isinstance(output, exp.Alias) and self.engine.fold(output.args["alias"]) == name:
                found: exp.Expr = output.this
                return found
        return None

    def _aliased(self, select: exp.Select, node: exp.Column) -> exp.Expr | None:
        name = self.engine.fold(node.this)
        for output in select.expressions:
            if isinstance(output, exp.Alias) and self.engine.fold(output.args["alias"]) == name:
                found: exp.Expr = output.this
                return found
        return None

    def _column(  # noqa: PLR0911 - the rule of names
        self, scope: exp.Select, node: exp.Column
    ) -> Named | None:
        """Look from the inside outwards, as every engine does."""
        qualifier = node.args.get("table")
        if node.args.get("db") is not None:
            return None
        name = self.engine.fold(node.this)
        select: exp.Expr | None = scope
        while isinstance(select, exp.Select):
            if any(join.args.get("using") or join.method for join in select.args.get("joins") or ()):
                return None
            sources = self.sources(select)
            if qualifier is not None:
                sources = [one for one in sources if one.alias == self.engine.fold(qualifier)]
                if len(sources) > 1:
                    return None
                if sources:
                    [one] = sources
                    return self._of(select, one, name)
            else:
                if any(one.outputs is None for one in sources):
                    return None
                having = [one for one in sources if one.outputs is not None and name in one.outputs]
                if len(having) > 1:
                    return None
                if having:
                    return self._of(select, having[0], name)
            select = _around(select)
        return None

    def _of(self, select: exp.Select, source: Source, name: str) -> Named | None:
        if source.outputs is None or name not in source.outputs:
            return None
        stored = self._columns[source.table.name].get(name) if source.table is not None else None
        return Named(select, source, name, stored)

    def uses(self, within: exp.Expr) -> Iterator[tuple[exp.Column, Named]]:
        """The columns of sources that are named somewhere within, with their meanings.

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
        """The columns named in a subquery, or in a part of it, that are of a query around it."""
        inside = {id(select) for select in query.find_all(exp.Select)}
        return [(node, named) for node, named in self.uses(part or query) if id(named.select) not in inside]

    def spelled(self, table: Table, name: str) -> exp.Identifier:
        """A column of a table as the engine has it."""
        return exp.to_identifier(self.engine.spelled(self._columns[table.name][name]), quoted=True)

    # What is known of columns.

    def not_null(self, named: Named) -> Fact:
        """That a column holds no NULL where it stands.

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
        """The declared keys of a table that hold on its engine."""
        found = []
        for columns in dict.fromkeys((table.primary_key, *table.unique)):
            if not columns:
                continue
            stored = [table.column(name) for name in columns]
            seen = (table.name, columns) in self.held
            if not seen and any(self.engine.merges(column, self.profile) for column in stored):
                continue
            how = ", as the engine has been asked," if seen else ""
            words = f"{table.name} ({', '.join(columns)}) is{how} unique"
            # A server leaves a key out that its own equality breaks; what holds then is known of the data.
            declared = not any(self.engine.merges(column, self.profile) for column in stored)
            found.append(Key(tuple(map(self.engine.column, stored)), Fact(words, declared)))
        return found

    def whole_keys(self, table: Table) -> list[tuple[Key, list[Fact]]]:
        """The keys in which NULL does not stand, so that no two rows look alike; with all facts."""
        found = []
        for key in self.keys(table):
            try:
                facts = [self.holds_no_null(table, self._columns[table.name][name]) for name in key.columns]
            except Refused:
                continue
            found.append((key, [key.fact, *facts]))
        return found

    def exact(self, node: exp.Expr) -> None:
        """See to it that equal values of an expression are the same value.

        Raises:
            Refused: they may look different, as texts do that differ in case.
        """
        for column, named in self.uses(node):
            if named.stored is None:
                if self.profile is Profile.OFFICIAL and not self._is_exact_throughout():
                    raise Refused(f"{self.text(column)} may be a text, of which unlike ones can be equal")
            elif not self.engine.is_exact(named.stored, self.profile):
                raise Refused(
                    f"of {named.title} unlike values can be equal, so that it is open which is shown"
                )

    def _is_exact_throughout(self) -> bool:
        return all(
            self.engine.is_exact(column, self.profile)
            for table in self.schema.tables
            for column in table.columns
        )

    def comparable(self, left: Named, right: Named) -> None:
        """See to it that two columns are compared as values of one type are.

        Raises:
            Refused: they are of different types, affinities or collations.
        """
        if left.stored is None or right.stored is None:
            raise Refused(f"the types of {left.title} and {right.title} are not known")
        kinds = [
            (one.type, affinity(one.declared), one.collation, one.mixed)
            for one in (left.stored, right.stored)
        ]
        if kinds[0] != kinds[1]:
            raise Refused(f"{left.title} and {right.title} are not of one type")

    # What a WHERE and joins decide.

    def conditions(self, select: exp.Select) -> list[exp.Expr]:
        """The conditions that hold for all rows of a SELECT before it groups: of WHERE and of inner joins."""
        where = select.args.get("where")
        found = list(conjuncts(where.this if where is not None else None))
        joins = select.args.get("joins") or ()
        if not any(join.side for join in joins):
            found += [one for join in joins for one in conjuncts(join.args.get("on"))]
        else:
            found += [
                one
                for at, join in enumerate(joins)
                if not join.side and not any(later.side in {"RIGHT", "FULL"} for later in joins[at + 1 :])
                for one in conjuncts(join.args.get("on"))
            ]
        return found

    def determined(  # noqa: C901, PLR0912 - one closure
        self, select: exp.Select, given: Sequence[Named]
    ) -> list[Fact]:
        """See to it that values of some columns decide which row of each source it is.

        Two rows of FROM and WHERE that agree in `given` are then one: by keys, and by equalities with what is
        known already (Paulley and Larson 1994).

        Raises:
            Refused: they may not.
        """
        sources = self.sources(select)
        joins = select.args.get("joins") or ()
        if any(join.side in {"RIGHT", "FULL"} or join.args.get("using") or join.method for join in joins):
            raise Refused("RIGHT, FULL, USING and NATURAL joins are not looked through")
        known = {(named.source.alias, named.name) for named in given if named.select is select}
        equal: list[tuple[_Equality, str | None]] = [
            (pair, None) for one in self.conditions(select) if (pair := self._equality(select, one))
        ]
        for source in sources:
            if source.join is not None and source.join.side == "LEFT":
                equal += [
                    (pair, source.alias)
                    for one in conjuncts(source.join.args.get("on"))
                    if (pair := self._equality(select, one))
                ]
        facts: list[Fact] = []
        done: set[str] = set()
        while True:
            before = len(known), len(done)
            for (left, right), only in equal:
                for one, other in ((left, right), (right, left)):
                    if other is None or (only is not None and other[0] != only):
                        continue
                    if one is None or one in known:
                        known.add(other)
            for source in sources:
                if source.table is None or source.alias in done:
                    continue
                for key, reasons in self.whole_keys(source.table):
                    if all((source.alias, name) in known for name in key.columns):
                        done.add(source.alias)
                        facts += reasons
                        known |= {(source.alias, name) for name in self._columns[source.table.name]}
                        break
            if (len(known), len(done)) == before:
                break
        left_over = [source.alias for source in sources if source.alias not in done]
        if left_over or not sources:
            raise Refused(f"no key decides which row of {', '.join(left_over) or 'no table'} it is")
        return facts

    def _equality(self, select: exp.Select, condition: exp.Expr) -> "_Equality | None":
        """The two columns of a SELECT that a condition equates; None on a side is a constant there."""
        if not isinstance(condition, exp.EQ):
            return None
        sides: list[Named | None] = []
        for node in (condition.this, condition.expression):
            value = node.unnest()
            if is_constant(value):
                sides.append(None)
                continue
            named = self.named(value)
            if named is None:
                return None
            sides.append(named)
        named_sides = [one for one in sides if one is not None]
        if len(named_sides) == 2:  # noqa: PLR2004 - both
            try:
                self.comparable(*named_sides)
            except Refused:
                return None
        elif not self._compares_by_type(condition, named_sides):
            return None
        places = [
            (one.source.alias, one.name) if one is not None and one.select is select else None
            for one in sides
        ]
        return None if places == [None, None] else (places[0], places[1])

    @staticmethod
    def _compares_by_type(condition: exp.Expr, sides: Sequence[Named]) -> bool:
        """Whether a column is equated with a constant of its own kind: a text is equal to many numbers."""
        if not sides or sides[0].stored is None:
            return False
        [constant] = [
            node.unnest() for node in (condition.this, condition.expression) if is_constant(node.unnest())
        ]
        is_text = isinstance(constant, exp.Literal) and constant.is_string
        is_number = sides[0].stored.type in {"integer", "real"}
        return is_text != is_number


def is_constant(node: exp.Expr) -> bool:
    """Whether an expression is a literal number or text."""
    if isinstance(node, exp.Neg):
        node = node.this
    return isinstance(node, exp.Literal)


def _scope(node: exp.Expr) -> exp.Expr | None:
    """The query whose names an expression sees first."""
    return node.find_ancestor(exp.Select, exp.SetOperation)


def _around(select: exp.Select) -> exp.Select | None:
    """The next SELECT outwards whose columns this one sees: not the one in whose FROM or WITH it stands."""
    node: exp.Expr = select
    blind = False
    while node.parent is not None:
        parent = node.parent
        if isinstance(parent, exp.From | exp.CTE) or (
            isinstance(parent, exp.Join) and node.arg_key == "this"
        ):
            blind = True
        if isinstance(parent, exp.Select):
            if not blind:
                return parent
            blind = False
        elif isinstance(parent, exp.SetOperation) and isinstance(node, exp.With):
            blind = False
        node = parent
    return None


def _is_before_results(node: exp.Expr, select: exp.Select) -> bool:
    """Whether a name stands where a query knows columns better than its own results: WHERE, ON, results."""
    while node.parent is not None and node.parent is not select:
        node = node.parent
    return node.arg_key in {"where", "joins", "expressions"}


def read(
    sql: str,
    schema: Schema,
    dialect: Dialect,
    *,
    profile: Profile = Profile.OFFICIAL,
    held: HeldKeys = frozenset(),
) -> Statement | None:
    """Read a statement; None where it is no query that can be read and written again."""
    tree = read_query(sql, dialect)
    if tree is None:
        return None
    if not re.search(r"\bcross\b", sql, re.IGNORECASE):
        # To SQLite's planner CROSS JOIN is more than the comma that sqlglot takes it for.
        for join in tree.find_all(exp.Join):
            if join.kind == "CROSS":
                join.set("kind", None)
    statement = Statement(tree, schema, dialect, profile, held)
    return statement if _is_kept(statement, sql) else None


def _is_kept(statement: Statement, sql: str) -> bool:
    """Whether the text that the tree makes is read as the same tree; `sql` is what it was read from."""
    try:
        text = statement.as_read = statement.sql
        if text == sql:
            return True
        again = read_query(text, statement.dialect)
    except (ValueError, RecursionError):
        return False
    texts = [statement.text(again, is_spent=True), text] if again is not None else []
    return len({text.replace(" CROSS JOIN ", ", ") for text in texts}) == 1

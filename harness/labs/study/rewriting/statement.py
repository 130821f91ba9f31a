"""A query that rules rewrite, what they rely on, and its conditions taken out and put in."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dialects.clauses import append_item, is_source, sources_of, where_of
from dialects.enums import Dialect, Profile
from dialects.schema import Schema, affinity
from dialects.volatility import is_volatile
from harness.sqltree.parser import (
    OF_BAGS,
    aggregates,
    called,
    is_aggregate,
    is_constant,
    is_grouped,
    parts_of,
    read_query,
)
from harness.sqltree.query import Fact, HeldKeys, Named, Query, Refused, leaves

_Equality = tuple[tuple[str, str] | None, tuple[str, str] | None]
"""Two columns that are equal, each by the name of its source and its own; None is a constant."""


@dataclass(eq=False)
class RewrittenQuery(Query):
    """A query whose `tree` rules change."""

    refused: list[str] = field(default_factory=list)
    """Why the rule that looks at it does not apply, for each place where it could."""
    as_read: str = ""
    """The text of the tree before any rule has changed it."""

    def spent(self) -> str:
        """Render the statement and discard it: rendering annotates the tree."""
        return self.text(self.tree, is_spent=True)

    def copied(self) -> "RewrittenQuery":
        """Return a copy of the statement that a rule may change."""
        return replace(self, tree=self.tree.copy(), refused=[])

    def exact(self, node: exp.Expr) -> None:
        """Require that equal values of an expression are the same value.

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
        """Require that two columns are compared as values of one type.

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

    def determined(  # noqa: C901, PLR0912 - one closure
        self, select: exp.Select, given: Sequence[Named]
    ) -> list[Fact]:
        """Require that values of some columns determine the row of each source.

        Two rows of FROM and WHERE that agree in `given` are then one: by keys, and by equalities with what is
        known already (Paulley and Larson 1994).

        Raises:
            Refused: they may not.
        """
        sources = self.sources(select)
        if any(source.side in {"RIGHT", "FULL"} or source.is_merged for source in sources):
            raise Refused("RIGHT, FULL, USING and NATURAL joins are not looked through")
        known = {(named.source.alias, named.name) for named in given if named.select is select}
        equal: list[tuple[_Equality, str | None]] = [
            (pair, None) for one in self.conditions(select) if (pair := self._equality(select, one))
        ]
        for source in sources:
            if source.side == "LEFT":
                equal += [(pair, source.alias) for one in source.on if (pair := self._equality(select, one))]
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
        """Return the two columns of a SELECT that a condition equates; None on a side is a constant there."""
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
        """True if a column is equated with a constant of its own type: a text equals many numbers."""
        if not sides or sides[0].stored is None:
            return False
        [constant] = [
            node.unnest() for node in (condition.this, condition.expression) if is_constant(node.unnest())
        ]
        is_text = isinstance(constant, exp.Literal) and constant.is_string
        is_number = sides[0].stored.type in {"integer", "real"}
        return is_text != is_number


def read(
    sql: str,
    schema: Schema,
    dialect: Dialect,
    *,
    profile: Profile = Profile.OFFICIAL,
    held: HeldKeys = frozenset(),
) -> RewrittenQuery | None:
    """Read a statement; None unless it is a query that can be read and rendered again."""
    tree = read_query(sql, dialect)
    if tree is None:
        return None
    if not re.search(r"\bcross\b", sql, re.IGNORECASE):
        # To SQLite's planner CROSS JOIN is more than the comma that sqlglot takes it for.
        items = [item for select in tree.find_all(exp.Select) for item in sources_of(select)]
        for join in (join for item in items for join in item.ends if join.kind == "CROSS"):
            join.set("kind", None)
    statement = RewrittenQuery(tree, schema, dialect, profile, held)
    return statement if _is_kept(statement, sql) else None


def _is_kept(statement: RewrittenQuery, sql: str) -> bool:
    """True if the tree's text is read as the same tree; `sql` is the text from which it was read."""
    try:
        text = statement.as_read = statement.sql
        if text == sql:
            return True
        again = read_query(text, statement.dialect)
    except (ValueError, RecursionError):
        return False
    texts = [statement.text(again, is_spent=True), text] if again is not None else []
    return len({text.replace(" CROSS JOIN ", ", ") for text in texts}) == 1


Attempt = Callable[[], list[Fact]]
"""Changes one place of a statement and returns what that relies on; `Refused` is raised before any change."""


def about(name: str, attempt: Attempt) -> list[Fact]:
    """Make an attempt; its refusal begins with what it is about."""
    try:
        return attempt()
    except Refused as why:
        raise Refused(f"{name}: {why}") from why


# Conditions, and what FROM is made of.


def set_where(select: exp.Select, conditions: list[exp.Expr]) -> None:
    """Replace the conditions of WHERE."""
    if not conditions:
        select.set("where", None)
        return
    copies = [exp.paren(one.copy()) if isinstance(one, exp.Or) else one.copy() for one in conditions]
    select.set("where", exp.Where(this=exp.and_(*copies, copy=False) if len(copies) > 1 else copies[0]))


def equals(left: exp.Expr, right: exp.Expr) -> exp.EQ:
    """Left = right, of copies."""
    return exp.EQ(this=left.copy(), expression=right.copy())


def has_star(select: exp.Select) -> bool:
    """True if a SELECT shows all columns of all sources."""
    return any(isinstance(output, exp.Star) for output in select.expressions)


def append_join(statement: RewrittenQuery, select: exp.Select, source: exp.Expr, on: exp.Expr) -> None:
    """Join one more source after the others; if commas separate those, by a condition of WHERE."""
    if any(one.is_listed for one in statement.sources(select)):
        append_item(select, source)
        set_where(select, [*where_of(select), on])
    else:
        append_item(select, source, on)


# Whether the rows of a statement are settled by the data alone, and not by the plan that an engine chooses.
#
# What a plan decides, another text may decide otherwise: which of tied rows a LIMIT takes, which row a column
# outside GROUP BY comes from, which of two equal texts stands for both. No rule touches such a statement.

_RANKS = frozenset({"RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"})
"""Window functions that tied rows share."""


def settled(statement: RewrittenQuery) -> list[Fact]:  # noqa: C901, PLR0912 - what is open, one by one
    """Require that the data alone settle the rows of a statement, and their order if it has one.

    Returns:
        What that relies on.

    Raises:
        Refused: they may not, and why.
    """
    tree = statement.tree
    if is_volatile(statement.as_read or statement.sql):
        raise Refused("the clock, chance or the session may decide its rows")
    if tree.find(exp.Lock, exp.Into, exp.Lateral, exp.Pivot, exp.TableSample, exp.Placeholder, exp.Parameter):
        raise Refused("it has a clause that rules do not read")
    list(statement.uses(tree))
    for table in tree.find_all(exp.Table):
        if not statement.is_known(table):
            raise Refused(f"{table.name} is no table of the schema")
    facts: list[Fact] = []
    for call in tree.find_all(exp.Func):
        _of_bags(statement, call)
    for window in tree.find_all(exp.Window):
        _of_peers(window)
    for query in tree.find_all(exp.Query):
        if isinstance(query, exp.Select):
            _columns_of_groups(statement, query)
            _one_of_equals(statement, query)
        elif isinstance(query, exp.SetOperation) and (
            query.args.get("distinct") or isinstance(query, exp.Except | exp.Intersect)
        ):
            for select in leaves(query):
                for output in select.expressions:
                    statement.exact(output)
        is_cut = any(query.args.get(part) for part in ("limit", "offset"))
        if isinstance(query, exp.Subquery):
            if is_cut:
                raise Refused("a LIMIT behind parentheses is not read")
            continue
        if is_cut or (query is tree and query.args.get("order")):
            facts += _ordered_by_values(statement, query)
    for node in tree.find_all(exp.Subquery):
        if is_scalar(node):
            facts += single(statement, node.this)
    return facts


def is_scalar(node: exp.Subquery) -> bool:
    """True if a subquery stands for one value."""
    place: exp.Expr = node
    while isinstance(place.parent, exp.Paren | exp.Subquery):
        place = place.parent
    if is_source(place) or (isinstance(place.parent, exp.In) and node.arg_key == "query"):
        return False
    return not isinstance(
        place.parent, exp.Exists | exp.Any | exp.All | exp.SetOperation | exp.CTE | exp.Table | None
    )


def single(statement: RewrittenQuery, query: exp.Expr) -> list[Fact]:
    """Require that a query has at most one row.

    Raises:
        Refused: it may have several.
    """
    while isinstance(query, exp.Subquery):
        query = query.this
    if isinstance(query, exp.Select):
        limit = query.args.get("limit")
        if isinstance(limit, exp.Limit) and limit.expression.name == "1":
            return []
        group = query.args.get("group")
        if group is None and next(aggregates(query), None) is not None:
            return []
        if not statement.sources(query):
            return []
        try:
            if group is None:
                return statement.determined(query, [])
        except Refused as why:
            raise Refused(f"a subquery that stands for one value may have several rows: {why}") from why
    raise Refused("a subquery that stands for one value may have several rows")


def _of_bags(statement: RewrittenQuery, call: exp.Expr) -> None:
    name = called(call)
    if isinstance(call, exp.Window) or not is_aggregate(call):
        return
    if name not in OF_BAGS and name not in _RANKS:
        raise Refused(f"{name} depends on the order in which rows come")
    if name in {"MIN", "MAX"}:
        statement.exact(call)


def _of_peers(window: exp.Window) -> None:
    name = called(window.this)
    spec = window.args.get("spec")
    if name not in OF_BAGS | _RANKS or window.args.get("alias") or window.find(exp.IgnoreNulls):
        raise Refused(f"{name or 'a window'} depends on the order in which tied rows come")
    if spec is not None and str(spec.args.get("kind") or "").upper() == "ROWS":
        raise Refused("a window of ROWS depends on the order in which tied rows come")


def _named_of(statement: RewrittenQuery, nodes: list[exp.Expr]) -> list[Named]:
    return [named for node in nodes if (named := statement.named(node.unnest()))]


def _same(statement: RewrittenQuery, one: exp.Expr, other: exp.Expr) -> bool:
    left, right = statement.named(one.unnest()), statement.named(other.unnest())
    if left is not None and right is not None:
        return left.place == right.place
    return one.unnest() == other.unnest()


def _columns_of_groups(statement: RewrittenQuery, select: exp.Select) -> None:
    """Require that each column outside of aggregates has one value for a group."""
    if not is_grouped(select):
        return
    keys = statement.groups(select)
    named = _named_of(statement, keys)
    places = {one.place for one in named}
    own = {id(call) for call in aggregates(select)}
    for part in ("expressions", "having", "order"):
        for node in parts_of(select, part):
            if node.is_star:
                raise Refused("* beside GROUP BY takes its columns from any row")
            for column, used in statement.uses(node):
                if used.select is not select or used.place in places:
                    continue
                if _is_under(column, select, own, keys):
                    continue
                try:
                    if keys:
                        _determines(statement, select, named, used)
                        continue
                except Refused as why:
                    raise Refused(f"{used.title} may be of any row of its group: {why}") from why
                raise Refused(f"{used.title} may be of any row")


def _determines(statement: RewrittenQuery, select: exp.Select, given: list[Named], used: Named) -> None:
    """Require that a column has one value for each value of others: by a key of its own table.

    Raises:
        Refused: it may have several.
    """
    table = used.source.table
    names = {one.name for one in given if one.select is select and one.source is used.source}
    if table is None or not any(set(key.columns) <= names for key, _ in statement.whole_keys(table)):
        raise Refused(f"no key of {used.source.alias} is grouped by")


def _is_under(column: exp.Expr, select: exp.Select, own: set[int], keys: list[exp.Expr]) -> bool:
    """True if a column is within an aggregate of its SELECT, or of an expression that is grouped by."""
    node: exp.Expr | None = column
    while node is not None and node is not select:
        if id(node) in own or any(node == key for key in keys if not isinstance(key, exp.Column)):
            return True
        node = node.parent
    return False


def _one_of_equals(statement: RewrittenQuery, select: exp.Select) -> None:
    """Require that it does not matter which of equal values is shown."""
    distinct = select.args.get("distinct")
    if distinct is not None:
        if distinct.args.get("on"):
            raise Refused("DISTINCT ON takes any of the rows that agree")
        for output in select.expressions:
            _exact_result(statement, select, output)
    for key in statement.groups(select) if select.args.get("group") else ():
        _exact_key(statement, select, key)


def _exact_result(statement: RewrittenQuery, select: exp.Select, output: exp.Expr) -> None:
    if not output.is_star:
        _exact_key(statement, select, output)
        return
    for source in statement.starred(select, output):
        if source.table is None:
            raise Refused("DISTINCT of * is of columns that are not known")
        for column in source.table.columns:
            if not statement.engine.is_exact(column, statement.profile):
                raise Refused(f"of {source.table.name}.{column.name} unlike values can be equal")


def _exact_key(statement: RewrittenQuery, select: exp.Select, node: exp.Expr) -> None:
    """Require `RewrittenQuery.exact`, or that equal values of it occur only in equal rows."""
    named = statement.named(node.unalias())
    if named is not None and named.select is select and named.source.table is not None:
        keys = [key.columns for key in statement.keys(named.source.table)]
        if (named.name,) in keys:
            return
    statement.exact(node)


def _ordered_by_values(statement: RewrittenQuery, query: exp.Query) -> list[Fact]:
    """Require that rows with equal sort keys are equal."""
    if isinstance(query, exp.Select) and is_grouped(query) and query.args.get("group") is None:
        return []
    by = statement.terms(query)
    if query.args.get("order") is None:
        what = "LIMIT without ORDER BY takes any rows"
        if isinstance(query, exp.Select) and not statement.sources(query):
            return []
        raise Refused(what)
    if isinstance(query, exp.Select) and query.args.get("group") is not None:
        wanted: list[exp.Expr] = statement.groups(query)
        if all(any(_same(statement, one, key) for one in by) for key in wanted):
            return []
    wanted = [one.unalias() for one in query.selects]
    if all(not one.is_star and any(_same(statement, one, term) for term in by) for one in wanted):
        for one in (output for select in leaves(query) for output in select.expressions):
            statement.exact(one)
        return []
    if isinstance(query, exp.Select) and not is_grouped(query):
        try:
            return statement.determined(query, _named_of(statement, by))
        except Refused as why:
            raise Refused(f"rows may tie in ORDER BY: {why}") from why
    raise Refused("rows may tie in ORDER BY")

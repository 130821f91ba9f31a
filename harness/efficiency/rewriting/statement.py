"""A query that rules rewrite, what they rely on, and its conditions taken out and put in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dialects.clauses import joins_of, on_of, where_of
from dialects.enums import Dialect, Profile
from dialects.schema import Schema, affinity
from harness.sqltree.parsing import is_constant, read_query
from harness.sqltree.query import Fact, HeldKeys, Named, Query, Refused

_Equality = tuple[tuple[str, str] | None, tuple[str, str] | None]
"""Two columns that are equal, each by the name of its source and its own; None is a constant."""


@dataclass(eq=False)
class Statement(Query):
    """A query whose `tree` rules change."""

    refused: list[str] = field(default_factory=list)
    """Why the rule that looks at it does not apply, for each place where it could."""
    as_read: str = ""
    """The text of the tree before any rule has changed it."""

    def spent(self) -> str:
        """The statement as text, which nobody needs after that: writing leaves marks in the tree."""
        return self.text(self.tree, is_spent=True)

    def copied(self) -> "Statement":
        """The same, for a rule to change."""
        return replace(self, tree=self.tree.copy(), refused=[])

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
        if any(
            join.side in {"RIGHT", "FULL"} or join.args.get("using") or join.method
            for join in joins_of(select)
        ):
            raise Refused("RIGHT, FULL, USING and NATURAL joins are not looked through")
        known = {(named.source.alias, named.name) for named in given if named.select is select}
        equal: list[tuple[_Equality, str | None]] = [
            (pair, None) for one in self.conditions(select) if (pair := self._equality(select, one))
        ]
        for source in sources:
            if source.join is not None and source.join.side == "LEFT":
                equal += [
                    (pair, source.alias)
                    for one in on_of(source.join)
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


# Conditions, and what FROM is made of.


def set_where(select: exp.Select, conditions: list[exp.Expr]) -> None:
    """Put other conditions in the place of those of WHERE."""
    if not conditions:
        select.set("where", None)
        return
    copies = [exp.paren(one.copy()) if isinstance(one, exp.Or) else one.copy() for one in conditions]
    select.set("where", exp.Where(this=exp.and_(*copies, copy=False) if len(copies) > 1 else copies[0]))


def equals(left: exp.Expr, right: exp.Expr) -> exp.EQ:
    """Left = right, of copies."""
    return exp.EQ(this=left.copy(), expression=right.copy())


def is_joined_by_commas(select: exp.Select) -> bool:
    """Whether a source stands behind a comma: JOIN binds tighter, and sees nothing before the comma."""
    return any(
        not (join.side or join.args.get("on") or join.args.get("using") or join.method)
        for join in joins_of(select)
    )


def has_star(select: exp.Select) -> bool:
    """Whether a SELECT shows all columns of all sources."""
    return any(isinstance(output, exp.Star) for output in select.expressions)


def append_join(select: exp.Select, source: exp.Expr, on: exp.Expr, *, side: str | None = None) -> None:
    """Join one more source behind the others; where those stand behind commas, by a condition of WHERE."""
    if side is None and is_joined_by_commas(select):
        select.set("joins", [*joins_of(select), exp.Join(this=source)])
        set_where(select, [*where_of(select), on])
        return
    join = exp.Join(this=source, on=on, side=side, kind=None if side else "INNER")
    select.set("joins", [*joins_of(select), join])

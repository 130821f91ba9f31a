"""A text written otherwise with the same rows: the rules, each alone, and all together."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dialects.enums import Dialect, Profile
from dialects.schema import Schema
from harness.labs.study.rewriting.clauses import (
    count_star_to_key,
    cte_inline,
    limit_to_extreme,
    or_to_union_all,
)
from harness.labs.study.rewriting.ranges import date_part_to_range
from harness.labs.study.rewriting.removals import distinct_elimination, join_elimination
from harness.labs.study.rewriting.statement import Attempt, RewrittenQuery, read, settled
from harness.labs.study.rewriting.subqueries import (
    correlated_to_derived,
    in_to_distinct_join,
    in_to_exists,
    in_to_join,
    not_in_to_not_exists,
)
from harness.sqltree.query import Fact, HeldKeys, Refused

Places = Callable[[RewrittenQuery], Iterable[Attempt]]
"""Yields the places of a statement where a rule could apply."""


@dataclass(frozen=True)
class Rule:
    """One way to write a query otherwise with the same rows."""

    name: str
    title: str
    precondition: str
    """The precondition for the same rows, as often, and in the requested order."""
    source: str
    """The publication that describes it."""
    places: Places
    counterexample: str = ""
    """The difference where the precondition does not hold."""


@dataclass(frozen=True)
class Rewritten:
    """A text written otherwise.

    `rules` are the names of those that were applied, in their order. `facts` are what the sameness of the
    rows relies on beyond the text: declared ones hold for any data, others for the loaded data alone.
    """

    sql: str
    rules: tuple[str, ...]
    original: str
    facts: tuple[Fact, ...] = ()

    @property
    def holds_for_any_data(self) -> bool:
        """True if all that it relies on is declared."""
        return all(fact.declared for fact in self.facts)


@dataclass(frozen=True)
class Considered:
    """The result of a rule on one text: rewritten, or refused; neither where the rule finds no place."""

    rule: Rule
    rewritten: Rewritten | None
    refused: tuple[str, ...]


_BIRD = "Li et al. 2023 (BIRD), two-stage optimization"
_KIM = "Kim 1982, On Optimizing an SQL-like Nested Query"
_DAYAL = "Dayal 1987, Of Nests and Trees"
_PIRAHESH = (
    "Pirahesh, Hellerstein and Hasan 1992, Extensible/Rule Based Query Rewrite Optimization in Starburst"
)
_PAULLEY = "Paulley and Larson 1994, Exploiting Uniqueness in Query Optimization"
_CHENG = "Cheng et al. 1999, Implementation of Two Semantic Query Optimization Techniques in DB2"

_RULES = (
    Rule(
        "cte-inline",
        "CTE inlined",
        "It is used once, is not recursive or correlated, and its names mean the same where it is put.",
        "PostgreSQL's manual, 7.8.3, on common table expressions that are folded into the query",
        cte_inline,
        "A CTE that refers to a table of its own name would refer to itself, or to another.",
    ),
    Rule(
        "date-part-to-range",
        "STRFTIME(col) = .. -> range",
        "Every value of the column is a day or moment from year 1 to 9999, or, for a prefix, a text that is"
        " compared letter by letter.",
        "Winand, Use the Index, Luke, on obfuscated conditions on dates",
        date_part_to_range,
        "2021-9-5 lies in the range of 2021 as a text, and STRFTIME takes it for no day.",
    ),
    Rule(
        "limit-to-extreme",
        "ORDER BY x LIMIT 1 -> = (SELECT MAX(x))",
        "x decides the row by a key and is not NULL; or x alone is shown, and NULL does not sort first.",
        _BIRD,
        limit_to_extreme,
        "Of rows that tie at the maximum LIMIT 1 takes one, and = (SELECT MAX(x)) all.",
    ),
    Rule(
        "in-to-join",
        "IN (subquery) -> JOIN",
        "No value comes twice in the subquery, and it is not correlated. Both columns are of one type.",
        f"{_KIM}; {_PIRAHESH}; {_BIRD}",
        in_to_join,
        "A join repeats a row for each equal value of the subquery.",
    ),
    Rule(
        "in-to-exists",
        "IN (subquery) -> EXISTS",
        "It is a condition of WHERE, where NULL counts as false. Both columns are of one type.",
        f"{_DAYAL}; {_BIRD}, Figure 1",
        in_to_exists,
        "Among the results IN is NULL where EXISTS is false.",
    ),
    Rule(
        "in-to-distinct-join",
        "IN (subquery) -> JOIN of DISTINCT",
        "The subquery is not correlated. Both columns are of one type and collation.",
        f"{_KIM}; {_DAYAL}",
        in_to_distinct_join,
        "Texts that differ in case are different to DISTINCT of one collation and equal to = of another.",
    ),
    Rule(
        "not-in-to-not-exists",
        "NOT IN (subquery) -> NOT EXISTS",
        "Neither column can be NULL.",
        f"{_KIM}; {_DAYAL}",
        not_in_to_not_exists,
        "NOT IN finds nothing where the subquery has a NULL, NOT EXISTS does.",
    ),
    Rule(
        "correlated-to-derived",
        "correlated subquery -> derived table",
        "It is one aggregate of a column, correlated by one equality of columns of one type, and no group can"
        " fail; the count of no rows is 0.",
        f"{_KIM}; Ganski and Wong 1987, Optimization of Nested SQL Queries Revisited (the COUNT bug)",
        correlated_to_derived,
        "A derived table has no row for a key without rows, whose count is 0.",
    ),
    Rule(
        "join-elimination",
        "join that can go",
        "A foreign key to a unique key says that each row finds one, and only the key is used; NULL is"
        " taken out apart. Of a LEFT JOIN a unique key is enough.",
        f"{_CHENG}; {_PIRAHESH}",
        join_elimination,
        "A row without its parent is dropped by the join, and one with two is repeated.",
    ),
    Rule(
        "distinct-elimination",
        "DISTINCT that can go",
        "What is shown has, or decides by equalities, a key without NULL of each table.",
        f"{_PAULLEY}; {_PIRAHESH}",
        distinct_elimination,
        "Rows that differ in a column that is not shown look alike.",
    ),
    Rule(
        "count-star-to-key",
        "COUNT(*) -> COUNT(key)",
        "The column is not NULL, and no outer join can make it so.",
        _BIRD,
        count_star_to_key,
        "COUNT of a column leaves out NULL.",
    ),
    Rule(
        "or-to-union-all",
        "OR -> UNION ALL",
        "The query shows every row, neither grouped nor cut; each part leaves out what an earlier one has.",
        "Winand, Use the Index, Luke, on combining indexes; MySQL's manual, Index Merge",
        or_to_union_all,
        "A row that meets both conditions would come twice.",
    ),
)

RULES: Mapping[str, Rule] = {rule.name: rule for rule in _RULES}
"""By name, in the order in which they are applied together."""


MOST_STEPS = 40
"""Places that all rules together change in one text."""

_Applied = tuple[int, list[Fact], str, list[str]]
"""A rule wherever it applies: how many places, facts, the text, and why not elsewhere."""


def rewrite(  # noqa: PLR0913 - a text, and facts about its database
    sql: str,
    schema: Schema,
    dialect: Dialect,
    rules: Sequence[Rule] = tuple(RULES.values()),
    *,
    profile: Profile = Profile.OFFICIAL,
    held: HeldKeys = frozenset(),
) -> list[Rewritten]:
    """Write a query otherwise, so that the rows are provably the same.

    The same means: as often, and in the same order where the query has an ORDER BY; sums of numbers that are
    no integers up to rounding. What is open in a query, as the choice among ties, is refused as a whole.

    Args:
        sql: the query.
        schema: what its database holds (`loaders.file_census`).
        dialect: that of the text.
        rules: which to apply, in this order.
        profile: how the database is loaded on a server.
        held: the keys that the server has been seen to hold, where its equality is another than SQLite's
            (`harness.labs.study.rewriting.proof.held_keys`); without it, keys of such columns are no keys.

    Returns:
        One for each rule that applies, applied alone and wherever it does; then, where they differ from each
        of these, all together until none applies any more. Empty where nothing applies.
    """
    context = _Context(sql, schema, dialect, profile, held)
    found = [one.rewritten for one in context.consider(rules) if one.rewritten is not None]
    together = context.together(rules)
    if together is not None and together.sql not in {one.sql for one in found}:
        found.append(together)
    return found


def consider(  # noqa: PLR0913 - as `rewrite`
    sql: str,
    schema: Schema,
    dialect: Dialect,
    rules: Sequence[Rule] = tuple(RULES.values()),
    *,
    profile: Profile = Profile.OFFICIAL,
    held: HeldKeys = frozenset(),
) -> list[Considered]:
    """Return the result of each rule alone, with the reasons where it does not apply."""
    return list(_Context(sql, schema, dialect, profile, held).consider(rules))


def consider_all(
    sql: str, schema: Schema, dialect: Dialect, *, profile: Profile = Profile.OFFICIAL, held: HeldKeys
) -> tuple[list[Considered], Rewritten | None]:
    """Return the result of each rule alone, and of all together where one applies; see `rewrite`."""
    context, rules = _Context(sql, schema, dialect, profile, held), tuple(RULES.values())
    found = list(context.consider(rules))
    is_any = any(one.rewritten is not None for one in found)
    return found, context.together(rules) if is_any else None


class _Context:
    """One text and the schema of its database; each text on the way is read, and tried, once."""

    def __init__(self, sql: str, schema: Schema, dialect: Dialect, profile: Profile, held: HeldKeys) -> None:
        self._sql = sql
        self._schema, self._dialect, self._profile, self._held = schema, dialect, profile, held
        self._statements: dict[str, RewrittenQuery | None] = {}
        self._unchanged: dict[str, RewrittenQuery] = {}
        self._settled: dict[str, list[Fact] | Refused] = {}
        self._tried: dict[tuple[str, str], _Applied] = {}

    def consider(self, rules: Sequence[Rule]) -> Iterator[Considered]:
        for rule in rules:
            applied, facts, text, refused = self._applied(rule, self._sql)
            rewritten = Rewritten(text, (rule.name,), self._sql, _once(facts)) if applied else None
            yield Considered(rule, rewritten, tuple(dict.fromkeys(refused)))

    def together(self, rules: Sequence[Rule]) -> Rewritten | None:
        text = self._sql
        facts: list[Fact] = []
        names: list[str] = []
        changed = True
        while changed and len(names) < MOST_STEPS:
            changed = False
            for rule in rules:
                applied, added, new, _ = self._applied(rule, text)
                if applied:
                    text, changed = new, True
                    facts += added
                    names.append(rule.name)
        return Rewritten(text, tuple(dict.fromkeys(names)), self._sql, _once(facts)) if names else None

    def _applied(self, rule: Rule, sql: str) -> _Applied:
        if (rule.name, sql) not in self._tried:
            self._tried[rule.name, sql] = self._try(rule, sql)
        return self._tried[rule.name, sql]

    def _try(self, rule: Rule, sql: str) -> _Applied:
        places, facts, text = 0, list[Fact](), sql
        while places < MOST_STEPS:
            statement = self._taken(text)
            if statement is None:
                return places, facts, text, ["the text cannot be read"]
            try:
                changed = _apply(rule, statement)
                if changed is None:
                    # A rule changes the tree of a statement only where it applies.
                    self._unchanged[text] = statement
                    return places, facts, text, statement.refused
                facts += [*self._relied(text), *changed]
            except Refused as why:
                return places, facts, text, [*statement.refused, str(why)]
            text, places = statement.spent(), places + 1
        return places, facts, text, []

    def _read(self, text: str) -> RewrittenQuery | None:
        """Return the statement of a text, which must not be changed."""
        if text not in self._statements:
            self._statements[text] = read(
                text, self._schema, self._dialect, profile=self._profile, held=self._held
            )
        return self._statements[text]

    def _taken(self, text: str) -> RewrittenQuery | None:
        """Return the statement of a text, for one to change it; copies cost as much as most rules."""
        if text in self._unchanged:
            unchanged = self._unchanged.pop(text)
            unchanged.refused = []
            return unchanged
        found = self._read(text)
        return None if found is None else found.copied()

    def _relied(self, text: str) -> list[Fact]:
        """Return the facts by which the rows of a text are settled.

        Raises:
            Refused: they are not.
        """
        if text not in self._settled:
            statement = self._read(text)
            try:
                self._settled[text] = [] if statement is None else settled(statement)
            except Refused as why:
                self._settled[text] = why
        found = self._settled[text]
        if isinstance(found, Refused):
            raise Refused(str(found))
        return found


def _apply(rule: Rule, statement: RewrittenQuery) -> list[Fact] | None:
    """Change the first place where a rule applies, and note why it does not at those before it."""
    for attempt in rule.places(statement):
        try:
            return attempt()
        except Refused as why:
            statement.refused.append(str(why))
    return None


def _once(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    return tuple(dict.fromkeys(facts))

"""A text written otherwise with the same rows: by each rule alone, and by all together."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dialects.enums import Dialect, Profile
from dialects.schema import Schema
from harness.efficiency.rewriting.rule import Considered, Rewritten, Rule
from harness.efficiency.rewriting.rules import RULES
from harness.efficiency.rewriting.settled import settled
from harness.efficiency.rewriting.statement import Fact, HeldKeys, Refused, Statement, read

MOST_STEPS = 40
"""Places that all rules together change in one text."""

_Applied = tuple[int, list[Fact], str, list[str]]
"""A rule wherever it applies: how many places, facts, the text, and why not elsewhere."""


def rewrite(  # noqa: PLR0913 - a text, and what is known of its database
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
        schema: what its database holds (`loaders.census`).
        dialect: that of the text.
        rules: which to apply, in this order.
        profile: how the database is loaded on a server.
        held: the keys that the server has been seen to hold, where its equality is another than SQLite's
            (`harness.efficiency.rewriting.proof.held_keys`); without it, keys of such columns are no keys.

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
    """What each rule comes to alone, with the reasons where it does not apply."""
    return list(_Context(sql, schema, dialect, profile, held).consider(rules))


def consider_all(
    sql: str, schema: Schema, dialect: Dialect, *, profile: Profile = Profile.OFFICIAL, held: HeldKeys
) -> tuple[list[Considered], Rewritten | None]:
    """What each rule comes to alone, and where one applies, what all come to together; see `rewrite`."""
    context, rules = _Context(sql, schema, dialect, profile, held), tuple(RULES.values())
    found = list(context.consider(rules))
    is_any = any(one.rewritten is not None for one in found)
    return found, context.together(rules) if is_any else None


class _Context:
    """One text with what is known of its database; each text on the way is read, and tried, once."""

    def __init__(self, sql: str, schema: Schema, dialect: Dialect, profile: Profile, held: HeldKeys) -> None:
        self._sql = sql
        self._schema, self._dialect, self._profile, self._held = schema, dialect, profile, held
        self._statements: dict[str, Statement | None] = {}
        self._unchanged: dict[str, Statement] = {}
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
                changed = rule.apply(statement)
                if changed is None:
                    # A rule changes the tree of a statement only where it applies.
                    self._unchanged[text] = statement
                    return places, facts, text, statement.refused
                facts += [*self._relied(text), *changed]
            except Refused as why:
                return places, facts, text, [*statement.refused, str(why)]
            text, places = statement.spent(), places + 1
        return places, facts, text, []

    def _read(self, text: str) -> Statement | None:
        """The statement of a text, for nobody to change it."""
        if text not in self._statements:
            self._statements[text] = read(
                text, self._schema, self._dialect, profile=self._profile, held=self._held
            )
        return self._statements[text]

    def _taken(self, text: str) -> Statement | None:
        """The statement of a text, for one to change it; copies cost as much as most rules."""
        if text in self._unchanged:
            unchanged = self._unchanged.pop(text)
            unchanged.refused = []
            return unchanged
        found = self._read(text)
        return None if found is None else replace(found, tree=found.tree.copy(), refused=[])

    def _relied(self, text: str) -> list[Fact]:
        """What it relies on that the rows of a text are settled.

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


def _once(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    return tuple(dict.fromkeys(facts))

"""What a rule is, and what comes of it."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.efficiency.rewriting.statement import Fact, Statement

Apply = Callable[[Statement], list[Fact] | None]
"""Changes the first place of a statement where a rule applies, and says what that relies on; None where there
is none. Notes in `Statement.refused` why it does not apply where it could."""


@dataclass(frozen=True)
class Rule:
    """One way to write a query otherwise with the same rows."""

    name: str
    title: str
    precondition: str
    """What has to hold, so that the rows are the same, as often, and in the order that is asked for."""
    source: str
    """Who has described it."""
    apply: Apply
    counterexample: str = ""
    """What differs where the precondition does not hold."""


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
        """Whether all that it relies on is declared."""
        return all(fact.declared for fact in self.facts)


@dataclass(frozen=True)
class Considered:
    """What a rule comes to on one text: rewritten, or refused; neither where there is no place for it."""

    rule: Rule
    rewritten: Rewritten | None
    refused: tuple[str, ...]

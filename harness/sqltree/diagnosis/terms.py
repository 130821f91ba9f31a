"""Expressions spelled so that what is the same is spelled the same, whatever its aliases, quotes and case."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

NOTHING: frozenset[str] = frozenset()

_NUMBER = re.compile(r"\s*+[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?\s*+\Z")

_COLUMN = re.compile("`([^`]*)`")


@dataclass(frozen=True, slots=True)
class Term:
    """An expression.

    `shape` is its spelling with a question mark for each literal and columns as `table.column` in backticks;
    `literals` are the literals in the order of the question marks. `columns` are those whose values it gives,
    without those that only conditions or counts inside it look at; `aggregates` the aggregate functions.
    """

    shape: str
    literals: tuple[str, ...] = ()
    columns: frozenset[str] = NOTHING
    aggregates: frozenset[str] = NOTHING

    @property
    def only_column(self) -> str | None:
        """The name of the column that the expression is and nothing else."""
        name = self.shape[1:-1]
        return name if name in self.columns and self.shape == f"`{name}`" else None

    def renamed(self, names: Mapping[str, str]) -> "Term":
        """The same with other names for the columns that `names` maps."""
        return Term(
            renamed(self.shape, names),
            self.literals,
            all_renamed(self.columns, names),
            all_renamed(self.aggregates, names),
        )

    def without_columns(self) -> "Term":
        """The same where its columns do not count."""
        return Term(self.shape, self.literals, NOTHING, self.aggregates)


def column(name: str) -> Term:
    """The column `name`, which is `table.column` where its table is known."""
    return Term(f"`{name}`", (), frozenset((name,)))


def literal(text: str) -> Term:
    """A literal; numbers are the same if their values are, quoted or not."""
    return Term("?", (canonical(text),))


def canonical(text: str) -> str:
    """A literal's text, the same for every way to write a number."""
    return f"{float(text):.15g}" if _NUMBER.match(text) else text


def combined(name: str, parts: Iterable[Term], *, is_commutative: bool = False) -> Term:
    """The expression `name(parts)`; the order of a commutative operation's parts does not count."""
    terms = list(parts)
    if is_commutative:
        terms.sort(key=lambda term: (term.shape, term.literals))
    return Term(
        f"{name}({','.join([term.shape for term in terms])})",
        tuple([text for term in terms for text in term.literals]),
        NOTHING.union(*[term.columns for term in terms]),
        NOTHING.union(*[term.aggregates for term in terms]),
    )


def columns_in(shape: str) -> list[str]:
    """The names of all columns in a shape."""
    return _COLUMN.findall(shape)


def renamed(shape: str, names: Mapping[str, str]) -> str:
    """`shape` with other names for the columns that `names` maps."""
    if not names or "`" not in shape:
        return shape
    return _COLUMN.sub(lambda found: f"`{names.get(found[1], found[1])}`", shape)


def all_renamed(found: Iterable[str], names: Mapping[str, str]) -> frozenset[str]:
    """Columns, and aggregate functions with columns in them, with the names that `names` maps them to."""
    if not names:
        return frozenset(found)
    return frozenset([names.get(one) or renamed(one, names) for one in found])

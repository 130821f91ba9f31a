"""What a query says, as far as the rules of `harness.sqltree.diagnosis.differences` look at it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

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


Spelling = tuple[str, tuple[str, ...]]
"""The shape of an expression and its literals."""


@dataclass(frozen=True, slots=True)
class ReadCondition:
    """One comparison in WHERE, HAVING, ON or CASE, in any part of the query.

    `subject` are the columns and aggregate functions that are compared. `operator` is `=` for whatever picks
    values (`IN`, `LIKE`, `IS`), `<>` for their opposites. `values` are the literals that it compares with.
    """

    subject: frozenset[str]
    operator: str
    values: frozenset[str] = frozenset()

    def renamed(self, names: Mapping[str, str]) -> "ReadCondition":
        """The same with other names for the columns that `names` maps."""
        return ReadCondition(all_renamed(self.subject, names), self.operator, self.values)


@dataclass(frozen=True, slots=True)
class Key:
    """One expression to sort by."""

    of: frozenset[str]
    descends: bool


@dataclass(frozen=True, slots=True)
class Cut:
    """A LIMIT with the order that it cuts; `x = (SELECT MAX(x) ...)` is one, too."""

    keys: tuple[Key, ...]
    limit: str = "1"
    offset: str = "0"

    def renamed(self, names: Mapping[str, str]) -> "Cut":
        """The same with other names for the columns that `names` maps."""
        keys = tuple(Key(all_renamed(key.of, names), key.descends) for key in self.keys)
        return Cut(keys, self.limit, self.offset)


class Clause(StrEnum):
    """The parts of a query whose spelling is kept."""

    CONDITIONS = "conditions"
    GROUPS = "groups"
    CUTS = "cuts"
    STRUCTURE = "structure"
    COUNTED = "counted"


@dataclass
class Notes:
    """What has been read of a query so far."""

    tables: set[str] = field(default_factory=set)
    aggregates: set[str] = field(default_factory=set)
    groups: set[frozenset[str]] = field(default_factory=set)
    pairs: list[tuple[str, str]] = field(default_factory=list)
    conditions: set[ReadCondition] = field(default_factory=set)
    cuts: set[Cut] = field(default_factory=set)
    spellings: dict[Clause, set[Spelling]] = field(
        default_factory=lambda: {clause: set() for clause in Clause}
    )

    def spell(self, clause: Clause, term: Term) -> None:
        """Keep the spelling of a part of a clause."""
        self.spellings[clause].add((term.shape, term.literals))


@dataclass(frozen=True)
class Reading:
    """What a query says: one value per query, equal for queries that differ in spelling alone.

    `tables` are the base tables anywhere in it; `outputs` its columns in order; `aggregates` the aggregate
    functions anywhere; `groups` the columns of each GROUP BY with aggregates; `joined` the sets of columns
    that it equates; `spellings` what else stands in the clauses.
    """

    tables: frozenset[str]
    outputs: tuple[Term, ...]
    aggregates: frozenset[str]
    groups: frozenset[frozenset[str]]
    joined: frozenset[frozenset[str]]
    conditions: frozenset[ReadCondition]
    cuts: frozenset[Cut]
    spellings: Mapping[Clause, frozenset[Spelling]]

    @classmethod
    def of(cls, notes: Notes, outputs: Iterable[Term]) -> "Reading":
        """The reading of a query whose columns are `outputs`."""
        return cls(
            tables=frozenset(notes.tables),
            outputs=tuple(outputs),
            aggregates=frozenset(notes.aggregates),
            groups=frozenset(notes.groups),
            joined=_classes(notes.pairs),
            conditions=frozenset(notes.conditions),
            cuts=frozenset(notes.cuts),
            spellings={clause: frozenset(found) for clause, found in notes.spellings.items()},
        )

    @cached_property
    def same(self) -> dict[str, str]:
        """Every column that the query equates with others, mapped to the one that stands for them all."""
        return {name: min(columns) for columns in self.joined for name in columns}

    @cached_property
    def canonical(self) -> "Renamed":
        """The reading with one name for columns that it equates, as a gold is held against predictions."""
        return self.renamed(self.same)

    def renamed(self, names: Mapping[str, str]) -> "Renamed":
        """The same with other names for the columns that `names` maps, but in `joined`."""
        return Renamed(self, names)


@dataclass(frozen=True)
class Renamed:
    """A reading with other names for its columns. Each part is spelled when it is first looked at."""

    reading: Reading
    names: Mapping[str, str]

    @property
    def tables(self) -> frozenset[str]:
        """See `Reading`."""
        return self.reading.tables

    @property
    def joined(self) -> frozenset[frozenset[str]]:
        """See `Reading`; under the names that the columns had."""
        return self.reading.joined

    @cached_property
    def outputs(self) -> tuple[Term, ...]:
        """See `Reading`."""
        outputs = self.reading.outputs
        return tuple([term.renamed(self.names) for term in outputs]) if self.names else outputs

    @cached_property
    def aggregates(self) -> frozenset[str]:
        """See `Reading`."""
        return all_renamed(self.reading.aggregates, self.names)

    @cached_property
    def groups(self) -> frozenset[frozenset[str]]:
        """See `Reading`."""
        return frozenset([all_renamed(group, self.names) for group in self.reading.groups])

    @cached_property
    def values(self) -> Mapping[tuple[frozenset[str], str], set[str]]:
        """The literals that each subject is compared with, by the operator."""
        found: dict[tuple[frozenset[str], str], set[str]] = {}
        for one in self.reading.conditions:
            condition = one.renamed(self.names)
            found.setdefault((condition.subject, condition.operator), set()).update(condition.values)
        return found

    @cached_property
    def cuts(self) -> frozenset[Cut]:
        """See `Reading`."""
        return frozenset([cut.renamed(self.names) for cut in self.reading.cuts])

    def spelled(self, clause: Clause) -> frozenset[Spelling]:
        """How a clause is spelled."""
        found = self.reading.spellings[clause]
        return frozenset([(renamed(shape, self.names), literals) for shape, literals in found])

    @property
    def used(self) -> frozenset[str]:
        """Every column that stands anywhere but in a join."""
        shapes = [term.shape for term in self.outputs]
        shapes += [shape for clause in Clause for shape, _ in self.spelled(clause)]
        return frozenset(name for shape in shapes for name in columns_in(shape))


def _classes(pairs: Iterable[tuple[str, str]]) -> frozenset[frozenset[str]]:
    """The sets of columns that are equal if each pair is."""
    classes: dict[str, set[str]] = {}
    for one, other in pairs:
        merged = classes.get(one, {one}) | classes.get(other, {other})
        for name in merged:
            classes[name] = merged
    return frozenset(frozenset(columns) for columns in classes.values())

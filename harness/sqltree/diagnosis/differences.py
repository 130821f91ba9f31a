"""In what a prediction that runs differs from its gold: rules over two readings, the first that applies wins.

A rule of the first round looks at what decides rows: tables, columns, functions, conditions, values, limits.
Only if none applies, those of the second round look at spellings, which often differ without any effect.
Columns that gold equates by its joins are one column; so is a column of a table that gold does not have and
the one of gold's that the prediction equates it with.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from harness.engines.errors import ErrorClass

# What a query says, as far as the rules look at it.

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
        """Return the same with columns renamed by `names`."""
        return Term(
            renamed(self.shape, names),
            self.literals,
            all_renamed(self.columns, names),
            all_renamed(self.aggregates, names),
        )

    def without_columns(self) -> "Term":
        """Return the same without its columns, which do not count there."""
        return Term(self.shape, self.literals, NOTHING, self.aggregates)


def column(name: str) -> Term:
    """Return the column `name`, which is `table.column` where its table is known."""
    return Term(f"`{name}`", (), frozenset((name,)))


def literal(text: str) -> Term:
    """Return a literal; numbers are the same if their values are, quoted or not."""
    return Term("?", (canonical(text),))


def canonical(text: str) -> str:
    """Return a literal's text, the same for every way to write a number."""
    return f"{float(text):.15g}" if _NUMBER.match(text) else text


def combined(name: str, parts: Iterable[Term], *, is_commutative: bool = False) -> Term:
    """Return the expression `name(parts)`; the order of a commutative operation's parts does not count."""
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
    """Return the names of all columns in a shape."""
    return _COLUMN.findall(shape)


def renamed(shape: str, names: Mapping[str, str]) -> str:
    """Return `shape` with columns renamed by `names`."""
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
        """Return the same with columns renamed by `names`."""
        return ReadCondition(all_renamed(self.subject, names), self.operator, self.values)


class Equated(NamedTuple):
    """A stored column, as `table.column` if its table is known, and a literal that it must be equal to.

    `is_pattern` is True if the literal is a pattern of LIKE.
    """

    column: str
    text: str
    is_pattern: bool


@dataclass(frozen=True, slots=True)
class SortKey:
    """One expression to sort by."""

    of: frozenset[str]
    descends: bool


@dataclass(frozen=True, slots=True)
class Cut:
    """A LIMIT with the order that it cuts; `x = (SELECT MAX(x) ...)` is one, too."""

    keys: tuple[SortKey, ...]
    limit: str = "1"
    offset: str = "0"

    def renamed(self, names: Mapping[str, str]) -> "Cut":
        """Return the same with columns renamed by `names`."""
        keys = tuple(SortKey(all_renamed(key.of, names), key.descends) for key in self.keys)
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
    """Notes on a query that is being read."""

    tables: set[str] = field(default_factory=set)
    aggregates: set[str] = field(default_factory=set)
    groups: set[frozenset[str]] = field(default_factory=set)
    pairs: list[tuple[str, str]] = field(default_factory=list)
    conditions: set[ReadCondition] = field(default_factory=set)
    equated: set[Equated] = field(default_factory=set)
    cuts: set[Cut] = field(default_factory=set)
    spellings: dict[Clause, set[Spelling]] = field(
        default_factory=lambda: {clause: set() for clause in Clause}
    )

    def spell(self, clause: Clause, term: Term) -> None:
        """Keep the spelling of a part of a clause."""
        self.spellings[clause].add((term.shape, term.literals))


@dataclass(frozen=True)
class Reading:
    """The meaning of a query: one value, equal for queries that differ only in spelling.

    `tables` are the base tables anywhere in it; `outputs` its columns in order; `aggregates` the aggregate
    functions anywhere; `groups` the columns of each GROUP BY with aggregates; `joined` the sets of columns
    that it equates; `equated` the columns that it equates with literals; `spellings` all else in the clauses.
    """

    tables: frozenset[str]
    outputs: tuple[Term, ...]
    aggregates: frozenset[str]
    groups: frozenset[frozenset[str]]
    joined: frozenset[frozenset[str]]
    conditions: frozenset[ReadCondition]
    equated: frozenset[Equated]
    cuts: frozenset[Cut]
    spellings: Mapping[Clause, frozenset[Spelling]]

    @classmethod
    def of(cls, notes: Notes, outputs: Iterable[Term]) -> "Reading":
        """Return the reading of a query whose columns are `outputs`."""
        return cls(
            tables=frozenset(notes.tables),
            outputs=tuple(outputs),
            aggregates=frozenset(notes.aggregates),
            groups=frozenset(notes.groups),
            joined=_classes(notes.pairs),
            conditions=frozenset(notes.conditions),
            equated=frozenset(notes.equated),
            cuts=frozenset(notes.cuts),
            spellings={clause: frozenset(found) for clause, found in notes.spellings.items()},
        )

    @cached_property
    def same(self) -> dict[str, str]:
        """Every column that the query equates with others, mapped to the one that stands for them all."""
        return {name: min(columns) for columns in self.joined for name in columns}

    @cached_property
    def canonical(self) -> "Renamed":
        """The reading with one name for columns that it equates, as golds are compared with predictions."""
        return self.renamed(self.same)

    def renamed(self, names: Mapping[str, str]) -> "Renamed":
        """Return the same with columns renamed by `names`, except in `joined`."""
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
        """Return the spelling of a clause."""
        found = self.reading.spellings[clause]
        return frozenset([(renamed(shape, self.names), literals) for shape, literals in found])

    @property
    def used(self) -> frozenset[str]:
        """Every column outside of joins."""
        return self.decisive.union(*[columns_in(term.shape) for term in self.outputs])

    @property
    def decisive(self) -> frozenset[str]:
        """Every column outside of joins and outputs."""
        shapes = [shape for clause in Clause for shape, _ in self.spelled(clause)]
        return NOTHING.union(*map(columns_in, shapes))


def _classes(pairs: Iterable[tuple[str, str]]) -> frozenset[frozenset[str]]:
    """Return the sets of columns that are equal if each pair is."""
    classes: dict[str, set[str]] = {}
    for one, other in pairs:
        merged = classes.get(one, {one}) | classes.get(other, {other})
        for name in merged:
            classes[name] = merged
    return frozenset(frozenset(columns) for columns in classes.values())


Rule = Callable[[Renamed, Renamed], bool]
"""True if a prediction (first) differs from its gold (second) in one respect; both name columns alike."""


def other_tables(prediction: Renamed, gold: Renamed) -> bool:
    """True if a table of gold's is missing, or another one is used and not only joined."""
    if gold.tables - prediction.tables:
        return True
    extra = prediction.tables - gold.tables
    return bool(extra) and any(_table(name) in extra for name in prediction.used)


def other_columns(prediction: Renamed, gold: Renamed) -> bool:
    """True if the columns differ in number, order or place; aggregates count only next to aggregates."""
    mine, theirs = ([(term.shape, term.literals) for term in one.outputs] for one in (prediction, gold))
    if len(mine) != len(theirs) or (mine != theirs and sorted(mine) == sorted(theirs)):
        return True
    return any(
        one.columns != other.columns
        for one, other in _places(prediction, gold)
        # A count has no columns: where the other is not a count, the function differs.
        if (one.columns and other.columns if one.aggregates else True)
        and bool(one.aggregates) is bool(other.aggregates)
    )


def other_aggregates(prediction: Renamed, gold: Renamed) -> bool:
    """True if aggregate functions, DISTINCT in them, or columns in GROUP BY differ.

    A GROUP BY of more or fewer columns than gold's is the same, for it often adds what a key determines.
    """
    return (
        prediction.aggregates != gold.aggregates
        or any(bool(one.aggregates) is not bool(other.aggregates) for one, other in _places(prediction, gold))
        or not _nested(prediction.groups, gold.groups)
        or not _nested(gold.groups, prediction.groups)
    )


def other_conditions(prediction: Renamed, gold: Renamed) -> bool:
    """True if a condition has other columns or operators, one is added or missing, or a join differs."""
    joined = _without(prediction.joined, prediction.tables - gold.tables)
    return joined != gold.joined or prediction.values.keys() != gold.values.keys()


def other_values(prediction: Renamed, gold: Renamed) -> bool:
    """True if a condition compares with other literals."""
    return prediction.values != gold.values


def other_cut(prediction: Renamed, gold: Renamed) -> bool:
    """True if LIMIT or OFFSET differ, or the order that they cut."""
    return prediction.cuts != gold.cuts


def more_tables(prediction: Renamed, gold: Renamed) -> bool:
    """True if another table is joined, though none of its columns is used."""
    return prediction.tables != gold.tables


def other_calculation_of_rows(prediction: Renamed, gold: Renamed) -> bool:
    """True if a column is calculated in another way from the same columns."""
    return any(
        mine.shape != theirs.shape for mine, theirs in _places(prediction, gold) if not theirs.aggregates
    )


def other_calculation_of_groups(prediction: Renamed, gold: Renamed) -> bool:
    """True if a figure is calculated in another way from the same aggregates."""
    return any(mine.shape != theirs.shape for mine, theirs in _places(prediction, gold) if theirs.aggregates)


def other_literals(prediction: Renamed, gold: Renamed) -> bool:
    """True if literals differ anywhere else in the same columns and conditions."""
    return any(mine.literals != theirs.literals for mine, theirs in _places(prediction, gold)) or (
        prediction.spelled(Clause.CONDITIONS) != gold.spelled(Clause.CONDITIONS)
    )


def _otherwise_spelled(clause: Clause) -> Rule:
    def differs(prediction: Renamed, gold: Renamed) -> bool:
        mine, theirs = prediction.spelled(clause), gold.spelled(clause)
        return {shape for shape, _ in mine} != {shape for shape, _ in theirs}

    return differs


RULES: Sequence[tuple[ErrorClass, Rule]] = (
    (ErrorClass.WRONG_TABLES, other_tables),
    (ErrorClass.WRONG_COLUMNS, other_columns),
    (ErrorClass.WRONG_AGGREGATION, other_aggregates),
    (ErrorClass.WRONG_CONDITION, other_conditions),
    (ErrorClass.WRONG_LITERAL, other_values),
    (ErrorClass.WRONG_ORDER, other_cut),
    # The second round.
    (ErrorClass.WRONG_TABLES, more_tables),
    (ErrorClass.WRONG_COLUMNS, other_calculation_of_rows),
    (ErrorClass.WRONG_AGGREGATION, other_calculation_of_groups),
    (ErrorClass.WRONG_CONDITION, _otherwise_spelled(Clause.CONDITIONS)),
    (ErrorClass.WRONG_LITERAL, other_literals),
    (ErrorClass.WRONG_AGGREGATION, _otherwise_spelled(Clause.GROUPS)),
    (ErrorClass.WRONG_ORDER, _otherwise_spelled(Clause.CUTS)),
    (ErrorClass.WRONG_CONDITION, _otherwise_spelled(Clause.STRUCTURE)),
    (ErrorClass.WRONG_AGGREGATION, _otherwise_spelled(Clause.COUNTED)),
)
"""In the order of precedence."""


def first_difference(prediction: Reading, gold: Reading) -> ErrorClass:
    """Return the class of the first rule that applies; OTHER if none does."""
    mine, theirs = prediction.renamed(_names(prediction, gold)), gold.canonical
    return next((found for found, differs in RULES if differs(mine, theirs)), ErrorClass.OTHER)


def reads_otherwise(prediction: Reading, gold: Reading) -> bool:
    """Return True if a prediction reads other tables or columns than its gold, or joins them otherwise.

    Columns that it adds to its result do not count, and neither do keys by which gold joins.
    """
    mine, theirs = prediction.renamed(_names(prediction, gold)), gold.canonical
    joined = _without(prediction.joined, prediction.tables - gold.tables)
    keys = NOTHING.union(*gold.joined)
    return (
        mine.tables != theirs.tables
        or not joined <= gold.joined
        or not theirs.used - keys <= mine.used
        or not mine.decisive - keys <= theirs.used
    )


def _names(prediction: Reading, gold: Reading) -> Mapping[str, str]:
    """Gold's names for columns of the prediction."""
    extra = prediction.tables - gold.tables
    names = dict(gold.same)
    for columns in prediction.joined if extra else ():
        golds = sorted(name for name in columns if _table(name) not in extra)
        if golds:
            name = gold.same.get(golds[0], golds[0])
            names.update(dict.fromkeys((one for one in columns if _table(one) in extra), name))
    return names


def _places(prediction: Renamed, gold: Renamed) -> Iterable[tuple[Term, Term]]:
    return zip(prediction.outputs, gold.outputs, strict=False)


def _table(name: str) -> str:
    return name.partition(".")[0]


def _without(joined: Iterable[frozenset[str]], tables: Iterable[str]) -> frozenset[frozenset[str]]:
    """Return the sets of equated columns, without those of some tables."""
    dropped = set(tables)
    left = ((frozenset(name for name in one if _table(name) not in dropped), one) for one in joined)
    return frozenset(kept for kept, one in left if len(kept) > 1 or kept == one)


def _nested(groups: Iterable[frozenset[str]], others: Iterable[frozenset[str]]) -> bool:
    """True if each set of columns contains one of the others, or is contained in one."""
    return all(any(group <= other or group >= other for other in others) for group in groups)

"""In what a prediction that runs differs from its gold: rules over two readings, the first that applies wins.

A rule of the first round looks at what decides rows: tables, columns, functions, conditions, values, limits.
Only if none applies, those of the second round look at spellings, which often differ without any effect.
Columns that gold equates by its joins are one column; so is a column of a table that gold does not have and
the one of gold's that the prediction equates it with.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from harness.engines.errors import ErrorClass
from harness.sqltree.diagnosis.reading import Clause, Reading, Renamed, Term

Rule = Callable[[Renamed, Renamed], bool]
"""Whether a prediction (first) differs from its gold (second) in one respect; both name columns alike."""


def other_tables(prediction: Renamed, gold: Renamed) -> bool:
    """A table of gold's is missing, or another one is used and not only joined."""
    if gold.tables - prediction.tables:
        return True
    extra = prediction.tables - gold.tables
    return bool(extra) and any(_table(name) in extra for name in prediction.used)


def other_columns(prediction: Renamed, gold: Renamed) -> bool:
    """Another number or order of columns, or another one in a place; aggregates only beside aggregates."""
    mine, theirs = ([(term.shape, term.literals) for term in one.outputs] for one in (prediction, gold))
    if len(mine) != len(theirs) or (mine != theirs and sorted(mine) == sorted(theirs)):
        return True
    return any(
        one.columns != other.columns
        for one, other in _places(prediction, gold)
        # A count has no columns: where the other is no count, the function is what differs.
        if (one.columns and other.columns if one.aggregates else True)
        and bool(one.aggregates) is bool(other.aggregates)
    )


def other_aggregates(prediction: Renamed, gold: Renamed) -> bool:
    """Other aggregate functions, DISTINCT in them, or other columns in GROUP BY.

    A GROUP BY of more or fewer columns than gold's is the same, for it often adds what a key determines.
    """
    return (
        prediction.aggregates != gold.aggregates
        or any(bool(one.aggregates) is not bool(other.aggregates) for one, other in _places(prediction, gold))
        or not _nested(prediction.groups, gold.groups)
        or not _nested(gold.groups, prediction.groups)
    )


def other_conditions(prediction: Renamed, gold: Renamed) -> bool:
    """A condition on other columns or with another operator, one more or fewer, or another join."""
    joined = _without(prediction.joined, prediction.tables - gold.tables)
    return joined != gold.joined or prediction.values.keys() != gold.values.keys()


def other_values(prediction: Renamed, gold: Renamed) -> bool:
    """A condition that compares with other literals."""
    return prediction.values != gold.values


def other_cut(prediction: Renamed, gold: Renamed) -> bool:
    """Another LIMIT or OFFSET, or another order that it cuts."""
    return prediction.cuts != gold.cuts


def more_tables(prediction: Renamed, gold: Renamed) -> bool:
    """Another table is joined, though none of its columns is used."""
    return prediction.tables != gold.tables


def other_calculation_of_rows(prediction: Renamed, gold: Renamed) -> bool:
    """A column that is calculated in another way from the same columns."""
    return any(
        mine.shape != theirs.shape for mine, theirs in _places(prediction, gold) if not theirs.aggregates
    )


def other_calculation_of_groups(prediction: Renamed, gold: Renamed) -> bool:
    """A figure that is calculated in another way from the same aggregates."""
    return any(mine.shape != theirs.shape for mine, theirs in _places(prediction, gold) if theirs.aggregates)


def other_literals(prediction: Renamed, gold: Renamed) -> bool:
    """Other literals anywhere else in the same columns and conditions."""
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
    """The class of the first rule that applies; OTHER if none does."""
    mine, theirs = prediction.renamed(_names(prediction, gold)), gold.canonical
    return next((found for found, differs in RULES if differs(mine, theirs)), ErrorClass.OTHER)


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
    """The sets of equated columns, without those of some tables."""
    dropped = set(tables)
    left = ((frozenset(name for name in one if _table(name) not in dropped), one) for one in joined)
    return frozenset(kept for kept, one in left if len(kept) > 1 or kept == one)


def _nested(groups: Iterable[frozenset[str]], others: Iterable[frozenset[str]]) -> bool:
    """Whether each set of columns holds one of the others, or is held by one."""
    return all(any(group <= other or group >= other for other in others) for group in groups)

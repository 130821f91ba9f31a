"""Exact Matching and partial matching of a prediction with its gold, without values.

Definitions: "Partial Matching without Values" and "Exact Matching without Values" of
https://github.com/taoyds/spider/tree/master/evaluation_examples, and Yu et al. 2018, "Spider",
https://arxiv.org/abs/1809.08887, as Spider's official script `evaluation.py` computes them,
https://github.com/taoyds/test-suite-sql-eval; docs/spider.md says where documentation and script differ.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping

from harness.sqltree.spider.hardness import hardness
from harness.sqltree.spider.names import Schema
from harness.sqltree.spider.query import Query
from harness.sqltree.spider.reading import read
from harness.sqltree.spider.structure import Match, Part, Structure

_EMPTY = Query()


def structure(prediction: str, gold: str, schema: Schema) -> Structure:
    """Compare the text of a prediction with its gold's.

    A prediction that cannot be read counts as an empty query, as in Spider's script.

    Raises:
        ValueError: the gold cannot be read.
    """
    expected = read(gold, schema)
    if expected is None:
        raise ValueError(f"the gold query is no SELECT over the schema: {gold}")
    return compare(read(prediction, schema), expected)


def compare(prediction: Query | None, gold: Query) -> Structure:
    """Compare a prediction that was read, None if it could not be, with its gold."""
    found = prediction or _EMPTY
    parts = _parts(found, gold)
    return Structure(
        hardness=hardness(gold),
        exact=_all_right(parts) and _same_tables(found, gold),
        parsed=prediction is not None,
        parts=parts,
    )


def _is_exact(prediction: Query, gold: Query) -> bool:
    return _same_tables(prediction, gold) and _all_right(_parts(prediction, gold))


def _all_right(parts: Mapping[Part, Match]) -> bool:
    return all(match.is_right for match in parts.values())


def _same_tables(prediction: Query, gold: Query) -> bool:
    return sorted(prediction.tables) == sorted(gold.tables)


def _parts(prediction: Query, gold: Query) -> dict[Part, Match]:
    both = (prediction, gold)
    return {
        Part.SELECT: _overlap(*(query.select for query in both)),
        Part.SELECT_NO_AGGREGATE: _overlap(*([item.text for item in query.select] for query in both)),
        Part.WHERE: _overlap(*(query.where.units for query in both)),
        Part.WHERE_NO_OPERATOR: _overlap(*([unit.left for unit in query.where.units] for query in both)),
        Part.GROUP_BY: _overlap(*([term.bare for term in query.group] for query in both)),
        Part.GROUP_BY_HAVING: _whole(*(_group_and_having(query) for query in both)),
        Part.ORDER_BY: _whole(*(_order(query) for query in both)),
        Part.AND_OR: _and_or(prediction, gold),
        Part.SET_OPERATIONS: _set_operations(prediction, gold),
        Part.KEYWORDS: _overlap(*(_keywords(query) for query in both)),
    }


def _overlap(predicted: Iterable[Hashable], gold: Iterable[Hashable]) -> Match:
    ours, theirs = Counter(predicted), Counter(gold)
    return Match(ours.total(), theirs.total(), (ours & theirs).total())


def _whole(predicted: object, gold: object) -> Match:
    """A component that counts as one, or not at all where it is None."""
    has = predicted is not None, gold is not None
    return Match(int(has[0]), int(has[1]), int(all(has) and predicted == gold))


def _group_and_having(query: Query) -> object:
    """HAVING counts only behind a GROUP BY, and the order of the terms does count here."""
    return ([term.text for term in query.group], query.having) if query.group else None


def _order(query: Query) -> object:
    """The direction is one for all terms; of LIMIT and OFFSET only the presence counts."""
    if not query.order:
        return None
    return (query.direction, query.order, query.limit, query.offset)


def _and_or(prediction: Query, gold: Query) -> Match:
    """Which of AND and OR occur in WHERE; the same on both sides counts as present even if there are none.

    Where they differ, the script exchanges the counts of the two sides, which decides whether a pair enters
    accuracy or recall; so it is here.
    """
    ours, theirs = set(prediction.where.connectors()), set(gold.where.connectors())
    return Match(1, 1, 1) if ours == theirs else Match(len(theirs), len(ours), 0)


def _set_operations(prediction: Query, gold: Query) -> Match:
    ours, theirs = prediction.following, gold.following
    matched = (
        ours is not None and theirs is not None and ours[0] == theirs[0] and _is_exact(ours[1], theirs[1])
    )
    return Match(int(ours is not None), int(theirs is not None), int(matched))


def _keywords(query: Query) -> set[str]:
    clauses = (query.joins, query.where, query.having)
    leaves = [leaf for clause in clauses for leaf in clause.leaves()]
    present = {
        "where": query.where.units,
        "group": query.group,
        "having": query.having.units,
        "order": query.order,
        query.direction: query.order,
        "limit": query.limit,
        "offset": query.offset,
        "or": any("or" in clause.connectors() for clause in clauses),
        "not": any(leaf.negated for leaf in leaves),
        "in": any(leaf.operator == "in" for leaf in leaves),
        "like": any(leaf.operator == "like" for leaf in leaves),
    }
    words = {word for word, is_there in present.items() if is_there}
    return words | ({query.following[0]} if query.following is not None else set())

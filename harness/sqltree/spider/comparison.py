"""Exact Matching and partial matching of a prediction with its gold, without values.

Definitions: "Partial Matching without Values" and "Exact Matching without Values" of
https://github.com/taoyds/spider/tree/master/evaluation_examples, and Yu et al. 2018, "Spider",
https://arxiv.org/abs/1809.08887, as Spider's official script `evaluation.py` computes them,
https://github.com/taoyds/test-suite-sql-eval; docs/spider.md says where documentation and script differ.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping

from harness.sqltree.spider.query import SpiderQuery, SpiderSchema
from harness.sqltree.spider.structure import Hardness, Match, SpiderPart, Structure

_EMPTY = SpiderQuery()


def structure(prediction: str, gold: str, schema: SpiderSchema) -> Structure:
    """Compare the text of a prediction with its gold's.

    A prediction that cannot be read counts as an empty query, as in Spider's script.

    Raises:
        ValueError: the gold cannot be read.
    """
    expected = read(gold, schema)
    if expected is None:
        raise ValueError(f"the gold query is no SELECT over the schema: {gold}")
    return compare(read(prediction, schema), expected)


def compare(prediction: SpiderQuery | None, gold: SpiderQuery) -> Structure:
    """Compare a prediction that was read, None if it could not be, with its gold."""
    found = prediction or _EMPTY
    parts = _parts(found, gold)
    return Structure(
        hardness=hardness(gold),
        exact=_all_right(parts) and _same_tables(found, gold),
        parsed=prediction is not None,
        parts=parts,
    )


def _is_exact(prediction: SpiderQuery, gold: SpiderQuery) -> bool:
    return _same_tables(prediction, gold) and _all_right(_parts(prediction, gold))


def _all_right(parts: Mapping[SpiderPart, Match]) -> bool:
    return all(match.is_right for match in parts.values())


def _same_tables(prediction: SpiderQuery, gold: SpiderQuery) -> bool:
    return sorted(prediction.tables) == sorted(gold.tables)


def _parts(prediction: SpiderQuery, gold: SpiderQuery) -> dict[SpiderPart, Match]:
    both = (prediction, gold)
    return {
        SpiderPart.SELECT: _overlap(*(query.select for query in both)),
        SpiderPart.SELECT_NO_AGGREGATE: _overlap(*([item.text for item in query.select] for query in both)),
        SpiderPart.WHERE: _overlap(*(query.where.units for query in both)),
        SpiderPart.WHERE_NO_OPERATOR: _overlap(
            *([unit.left for unit in query.where.units] for query in both)
        ),
        SpiderPart.GROUP_BY: _overlap(*([term.bare for term in query.group] for query in both)),
        SpiderPart.GROUP_BY_HAVING: _whole(*(_group_and_having(query) for query in both)),
        SpiderPart.ORDER_BY: _whole(*(_order(query) for query in both)),
        SpiderPart.AND_OR: _and_or(prediction, gold),
        SpiderPart.SET_OPERATIONS: _set_operations(prediction, gold),
        SpiderPart.KEYWORDS: _overlap(*(_keywords(query) for query in both)),
    }


def _overlap(predicted: Iterable[Hashable], gold: Iterable[Hashable]) -> Match:
    ours, theirs = Counter(predicted), Counter(gold)
    return Match(ours.total(), theirs.total(), (ours & theirs).total())


def _whole(predicted: object, gold: object) -> Match:
    """A component that counts as one, or not at all where it is None."""
    has = predicted is not None, gold is not None
    return Match(int(has[0]), int(has[1]), int(all(has) and predicted == gold))


def _group_and_having(query: SpiderQuery) -> object:
    """HAVING counts only behind a GROUP BY, and the order of the terms does count here."""
    return ([term.text for term in query.group], query.having) if query.group else None


def _order(query: SpiderQuery) -> object:
    """The direction is one for all terms; of LIMIT and OFFSET only the presence counts."""
    if not query.order:
        return None
    return (query.direction, query.order, query.limit, query.offset)


def _and_or(prediction: SpiderQuery, gold: SpiderQuery) -> Match:
    """Which of AND and OR occur in WHERE; the same on both sides counts as present even if there are none.

    Where they differ, the script exchanges the counts of the two sides, which decides whether a pair enters
    accuracy or recall; so it is here.
    """
    ours, theirs = set(prediction.where.connectors()), set(gold.where.connectors())
    return Match(1, 1, 1) if ours == theirs else Match(len(theirs), len(ours), 0)


def _set_operations(prediction: SpiderQuery, gold: SpiderQuery) -> Match:
    ours, theirs = prediction.following, gold.following
    matched = (
        ours is not None and theirs is not None and ours[0] == theirs[0] and _is_exact(ours[1], theirs[1])
    )
    return Match(int(ours is not None), int(theirs is not None), int(matched))


def _keywords(query: SpiderQuery) -> set[str]:
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


def hardness(query: SpiderQuery) -> Hardness:
    """The level of a query, how hard it is, of Spider's four.

    Criteria: "SQL Hardness Criteria" of https://github.com/taoyds/spider/tree/master/evaluation_examples;
    where the script counts otherwise than this says, as the script does; docs/spider.md lists where.
    """
    clauses, queries, others = _clauses(query), _nested_queries(query), _others(query)
    if queries:
        is_hard = clauses <= 1 and others == 0 and queries == 1
        return Hardness.HARD if is_hard else Hardness.EXTRA
    if clauses <= 1 and others == 0:
        return Hardness.EASY
    if (clauses <= 1 and others <= 2) or (clauses == 2 and others <= 1):  # noqa: PLR2004 - Spider's figures
        return Hardness.MEDIUM
    if (clauses <= 2 and others > 2) or (clauses == 3 and others <= 2):  # noqa: PLR2004
        return Hardness.HARD
    return Hardness.EXTRA


def _clauses(query: SpiderQuery) -> int:
    """Components 1: WHERE, GROUP BY, ORDER BY, LIMIT, every JOIN, every OR, every LIKE."""
    present = (query.where.units, query.group, query.order, query.limit)
    every = (query.joins, query.where, query.having)
    return (
        sum(map(bool, present))
        + max(0, len(query.tables) - 1)
        + sum(clause.connectors().count("or") for clause in every)
        + sum(leaf.operator == "like" for clause in every for leaf in clause.leaves())
    )


def _nested_queries(query: SpiderQuery) -> int:
    """Components 2: the set operation, and every nested query."""
    return query.nested + (query.following is not None)


def _others(query: SpiderQuery) -> int:
    """Others: more than one aggregate, column of SELECT, condition of WHERE, term of GROUP BY.

    Of WHERE and HAVING the script takes every NOT for an aggregate, and every AND or OR of HAVING, but none
    of their aggregates.
    """
    where, having = query.where.leaves(), query.having.leaves()
    mistaken = sum(leaf.negated for leaf in (*where, *having)) + len(query.having.connectors())
    counts = (query.aggregates + mistaken, len(query.select), len(where), len(query.group))
    return sum(count > 1 for count in counts)


LONGEST = 20_000
"""Characters of a text that is read."""


def read(sql: str, schema: SpiderSchema) -> SpiderQuery | None:
    """Read one SELECT or compound SELECT of SQLite's dialect.

    Returns:
        Its clauses, or None where the text is nothing of the kind, names what `schema` does not have, is
        longer than `LONGEST`, or is nested too deeply.
    """
    if len(sql) > LONGEST:
        return None
    from harness.sqltree.spider.trees import query_of  # noqa: PLC0415 - sqlglot takes as long as 500 pairs

    return query_of(sql, schema)

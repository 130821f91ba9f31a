"""How hard a query is, by Spider's four levels.

Criteria: "SQL Hardness Criteria" of https://github.com/taoyds/spider/tree/master/evaluation_examples; where
the published script counts otherwise than this says, as the script does. docs/spider.md lists where.
"""

from harness.sqltree.spider.query import Query
from harness.sqltree.spider.structure import Hardness


def hardness(query: Query) -> Hardness:
    """The level of a query."""
    clauses, queries, others = _clauses(query), _queries(query), _others(query)
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


def _clauses(query: Query) -> int:
    """Components 1: WHERE, GROUP BY, ORDER BY, LIMIT, every JOIN, every OR, every LIKE."""
    present = (query.where.units, query.group, query.order, query.limit)
    every = (query.joins, query.where, query.having)
    return (
        sum(map(bool, present))
        + max(0, len(query.tables) - 1)
        + sum(clause.connectors().count("or") for clause in every)
        + sum(leaf.operator == "like" for clause in every for leaf in clause.leaves())
    )


def _queries(query: Query) -> int:
    """Components 2: the set operation, and every nested query."""
    return query.nested + (query.following is not None)


def _others(query: Query) -> int:
    """Others: more than one aggregate, column of SELECT, condition of WHERE, term of GROUP BY.

    Of WHERE and HAVING the script takes every NOT for an aggregate, and every AND or OR of HAVING, but none
    of their aggregates.
    """
    where, having = query.where.leaves(), query.having.leaves()
    mistaken = sum(leaf.negated for leaf in (*where, *having)) + len(query.having.connectors())
    counts = (query.aggregates + mistaken, len(query.select), len(where), len(query.group))
    return sum(count > 1 for count in counts)

"""The rules, in the order in which they are applied together."""

from collections.abc import Mapping

from harness.efficiency.rewriting.counting import count_star_to_key
from harness.efficiency.rewriting.disjunctions import or_to_union_all
from harness.efficiency.rewriting.extremes import limit_to_extreme
from harness.efficiency.rewriting.inlining import cte_inline
from harness.efficiency.rewriting.ranges import date_part_to_range
from harness.efficiency.rewriting.removals import distinct_elimination, join_elimination
from harness.efficiency.rewriting.rule import Rule
from harness.efficiency.rewriting.subqueries import (
    correlated_to_derived,
    in_to_distinct_join,
    in_to_exists,
    in_to_join,
    not_in_to_not_exists,
)

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
        "A foreign key to a unique key says that each row finds one, and nothing but the key is used; NULL is"
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
"""By name."""

"""The facts about each target: one record per dialect, and no other module of rewrites names a target.

A rewrite asks `c.target` for the one fact that it depends on. The record of a dialect is `TARGET` in its own
folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dialects.by_dialect import ByDialect
from dialects.enums import Dialect, ParamStyle


@dataclass(frozen=True, kw_only=True)
class Target:
    """The facts about one target that decide how a query is written for it."""

    dialect: Dialect
    title: str
    """The name as its makers write it."""

    styles: tuple[ParamStyle, ParamStyle]
    """How its common driver of Python takes parameters: by place, and by name."""

    # What it supports.
    has_boolean: bool
    """Conditions have their own type, so they cannot be used as numbers."""
    has_computed_offsets: bool
    """LAG, LEAD and NTH_VALUE take a number of rows that differs from row to row."""
    has_filter: bool
    """Aggregates take FILTER."""
    has_full_join: bool
    """It has FULL JOIN, at least on equalities between columns of both sides."""
    has_group_frames: bool
    """Window frames take GROUPS and EXCLUDE."""
    has_list_over: bool
    """Aggregates that build a list take OVER."""
    has_null_order: bool
    """It has NULLS FIRST and NULLS LAST; if not, NULL is the least value, as in SQLite."""
    has_offset_alone: bool
    """OFFSET works without LIMIT."""
    has_ordered_picks: bool
    """An aggregate can return the first of its group's values in its own order."""
    has_real_modulo: bool
    """The remainder of a division takes floating-point numbers."""
    has_trim_sets: bool
    """TRIM removes any character of a set."""
    row_number: str | None
    """The system column that numbers a table's rows in storage order. Without one, the loader adds a column
    with the rowid."""
    holds_infinity: bool
    """Its floating-point numbers can be infinite."""
    indexes_texts: bool
    """A key can have the type of unlimited texts; if not, the loader gives keys a type with a limit."""
    natives: Mapping[str, str | None]
    """Its own name for a function where it is not the one in `dialects.functions`; None if it has none."""

    # How it writes things.
    hexadecimal: str
    """The function for the hexadecimal digits of an integer."""
    truncates_to_places: bool
    """A number is truncated with TRUNCATE(x, 0), not TRUNC(x)."""
    formats_by_locale: bool
    """Thousands are separated with FORMAT(x, 0, 'en_US'), not with a pattern for TO_CHAR."""
    list_hint: str | None
    """The optimizer hint that lifts the limit on a list's length."""
    recursion_hint: str | None
    """The optimizer hint that lifts the limit on recursion."""
    planning_hint: str | None
    """The optimizer hint for statements with many tables that limits the join orders tried."""
    sorting_hint: str | None
    """The optimizer hint that lets it sort long texts for window functions and lists."""

    # Where it behaves differently.
    bits_are_unsigned: bool
    """Bit operations and row numbers have an unsigned type."""
    computes_in_32_bits: bool
    """Arithmetic on literals that fit 32 bits is done in 32 bits."""
    sums_exactly: bool
    """The sum of integers has an exact type that the driver does not return as an integer."""
    extremes_skip_null: bool
    """LEAST and GREATEST ignore NULL, where SQLite's return NULL."""
    having_sees_keys: bool
    """HAVING can use the keys of GROUP BY directly."""
    aliases_keep_case: bool
    """Table aliases keep their case."""
    columns_hide_tables: bool
    """In a subquery, the name of a column hides an outer table of that name."""
    keeps_constants: bool
    """WHERE sees a derived table's constant even where an outer join makes it NULL."""
    counts_null_subqueries: bool
    """COUNT(DISTINCT) of an uncorrelated subquery's NULL is 1."""
    subqueries_see_keys: bool
    """A subquery can use any key of the outer SELECT's GROUP BY, not only columns."""
    aggregates_outward_of_no_rows: bool
    """A subquery may have an aggregate of an outer SELECT without rows."""
    sorts_distinct_by_others: bool
    """SELECT DISTINCT can be sorted by expressions that are not in its result."""
    sorts_windows_by_constants: bool
    """PARTITION BY and ORDER BY of a window take constants."""
    recurses_from_several: bool
    """A recursive query takes several first parts."""
    in_takes_any_query: bool
    """IN takes queries with LIMIT, window functions or set operations."""
    joins_outward_by_subqueries: bool
    """ON of an outer join takes EXISTS and IN; if not, rows repeat where only the left side decides."""
    joins_ctes_to_themselves: bool
    """A common table expression joined to itself can be sorted and grouped by the join column."""
    set_operations_keep_null: bool
    """INTERSECT and EXCEPT after another set operation distinguish NULL from values."""
    frames_single_rows: bool
    """A window's frame has effect over a single row."""
    computes_untaken: bool
    """With window functions, CASE also computes branches that it does not take."""
    casts_to_narrow_integers: bool
    """A small constant cast to an integer has 32 bits, also as a column of a recursive query."""
    names_take_any_character: bool
    """Names can have characters beyond the Basic Multilingual Plane, such as emoji."""
    rereads_set_operations: bool
    """A common table expression with INTERSECT or EXCEPT can be read twice."""
    limits_by_expressions: bool
    """LIMIT and OFFSET take expressions, and LIMIT takes NULL."""
    is_lazy: bool
    """A recursive query stops when no more rows are read; if not, it takes LIMIT."""
    most_windows: int | None
    """Most windows in a SELECT; functions share a named one. None is unlimited."""
    most_levels: int | None
    """Most nested SELECTs, with common table expressions expanded. None is unlimited."""
    most_joined: int | None
    """Most tables in one FROM. None is unlimited."""


TARGETS = ByDialect[Target]("dialects.{}", "TARGET")
"""The dialects that can be translated to."""

SQLGLOT = ByDialect[str]("dialects.{}", "SQLGLOT", with_sqlite=True)
"""sqlglot's name of each dialect."""

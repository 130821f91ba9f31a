"""What a translation has to know of its target: one record a dialect, and nowhere else is a target named.

A rewrite asks `c.target` for the one fact that it depends on. Another target is another record here, beside
its generator (`dialects.generator`), its names (`dialects.identifiers`) and its types
(`dialects.server_schema`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dialects.enums import Dialect


@dataclass(frozen=True, kw_only=True)
class Target:
    """The facts of one target that decide how a query is said there."""

    dialect: Dialect
    title: str
    """As its makers write it."""

    # What it has.
    has_boolean: bool
    """Conditions are of a type of their own, so that one is no number where a number has to stand."""
    has_computed_offsets: bool
    """LAG, LEAD and NTH_VALUE take how many rows from each row."""
    has_filter: bool
    """Aggregates take FILTER."""
    has_full_join: bool
    """It has FULL JOIN, if only on equalities between columns of both sides."""
    has_group_frames: bool
    """Frames of windows take GROUPS and EXCLUDE."""
    has_list_over: bool
    """Aggregates that make a list stand before OVER."""
    has_null_order: bool
    """It has NULLS FIRST and NULLS LAST; where it has not, NULL is the least value, as SQLite has it."""
    has_offset_alone: bool
    """OFFSET stands without LIMIT."""
    has_ordered_picks: bool
    """An aggregate can take the first of its group's values in an order of its own."""
    has_real_modulo: bool
    """The remainder of a division takes floating-point numbers."""
    has_trim_sets: bool
    """TRIM takes away any character of a set."""
    row_number: str | None
    """The system column that numbers the rows of a table in the order in which they are stored. Where there
    is none, the loader adds a column with the rowid."""
    holds_infinity: bool
    """Its floating-point numbers can be infinite."""
    indexes_texts: bool
    """A key can be of the type of texts of any length; else the loader gives keys a type with a limit."""
    missing_functions: frozenset[str]
    """Those of SQLite's mathematical functions that it knows under no name."""

    # How it says things.
    log10: str
    """The function for the logarithm to base 10."""
    hexadecimal: str
    """The function for the digits of an integer to base 16."""
    truncates_to_places: bool
    """A number is cut with TRUNCATE(x, 0), and not with TRUNC(x)."""
    formats_by_locale: bool
    """Thousands are separated with FORMAT(x, 0, 'en_US'), and not with a pattern for TO_CHAR."""
    list_hint: str | None
    """The optimizer hint that lets a list get as long as it has to."""
    recursion_hint: str | None
    """The optimizer hint that lets a recursive query go as deep as it has to."""
    planning_hint: str | None
    """The optimizer hint for a statement of many tables, so that not all of their orders are tried."""

    # What it does otherwise.
    bits_are_unsigned: bool
    """Bit operations and row numbers are of an unsigned type."""
    computes_in_32_bits: bool
    """Literals that fit 32 bits are computed with in 32 bits."""
    sums_exactly: bool
    """The sum of integers is of an exact type that the driver does not give as an integer."""
    extremes_skip_null: bool
    """LEAST and GREATEST leave NULL out, where SQLite's are NULL."""
    having_sees_keys: bool
    """HAVING takes the keys of GROUP BY by themselves."""
    aliases_keep_case: bool
    """Aliases of tables are kept as they are written, and not in lower case."""
    keeps_constants: bool
    """WHERE takes a constant that a derived table computes as it is where an outer join makes it NULL."""
    counts_null_subqueries: bool
    """COUNT(DISTINCT) of a value with a subquery that no row decides is 1 where it is NULL."""
    subqueries_see_keys: bool
    """A subquery can name what the SELECT around it groups by, columns or not."""
    aggregates_outward_of_no_rows: bool
    """A subquery may have an aggregate of the SELECT around it that has no rows."""
    sorts_distinct_by_others: bool
    """SELECT DISTINCT can be sorted by what is not in its result."""
    sorts_windows_by_constants: bool
    """PARTITION BY and ORDER BY of a window take constants."""
    recurses_from_several: bool
    """A recursive query takes several first parts."""
    in_takes_any_query: bool
    """IN takes a query with LIMIT, window functions or set operations."""
    joins_outward_by_subqueries: bool
    """ON of an outer join takes EXISTS and IN of a subquery; else rows repeat where the left side decides."""
    joins_ctes_to_themselves: bool
    """A common table expression that is joined to itself can be sorted and grouped by that join's column."""
    set_operations_keep_null: bool
    """INTERSECT and EXCEPT after another set operation tell NULL from a value."""
    frames_single_rows: bool
    """The frame of a window is heeded where there is a single row."""
    computes_untaken: bool
    """A branch of CASE is computed beside window functions even where it is not taken."""
    rereads_set_operations: bool
    """A common table expression of INTERSECT or EXCEPT can be looked up from two places."""
    limits_by_expressions: bool
    """LIMIT and OFFSET take expressions, and LIMIT takes NULL."""
    is_lazy: bool
    """A recursive query ends when nobody asks for more rows; else it takes LIMIT."""
    most_windows: int | None
    """How many windows a SELECT can have; several functions share one if it has a name."""
    most_levels: int | None
    """How many SELECTs can be within each other, common table expressions put in their places."""
    most_joined: int | None
    """How many tables one FROM can have."""


TARGETS: Mapping[Dialect, Target] = {
    Dialect.MYSQL: Target(
        dialect=Dialect.MYSQL,
        title="MySQL",
        has_boolean=False,
        has_computed_offsets=False,
        has_filter=False,
        has_full_join=False,
        has_group_frames=False,
        has_list_over=False,
        has_null_order=False,
        has_offset_alone=False,
        has_ordered_picks=False,
        has_real_modulo=True,
        has_trim_sets=False,
        row_number=None,
        holds_infinity=False,
        indexes_texts=False,
        missing_functions=frozenset({"sinh", "cosh", "tanh", "asinh", "acosh"}),
        log10="LOG10",
        hexadecimal="HEX",
        truncates_to_places=True,
        formats_by_locale=True,
        list_hint="SET_VAR(group_concat_max_len = 1073741824)",
        recursion_hint="SET_VAR(cte_max_recursion_depth = 4294967295)",
        planning_hint="SET_VAR(optimizer_search_depth = 5)",
        bits_are_unsigned=True,
        computes_in_32_bits=False,
        sums_exactly=False,
        extremes_skip_null=False,
        having_sees_keys=False,
        aliases_keep_case=False,
        keeps_constants=True,
        counts_null_subqueries=True,
        subqueries_see_keys=True,
        aggregates_outward_of_no_rows=False,
        sorts_distinct_by_others=True,
        sorts_windows_by_constants=False,
        recurses_from_several=False,
        in_takes_any_query=False,
        joins_outward_by_subqueries=False,
        joins_ctes_to_themselves=False,
        set_operations_keep_null=False,
        frames_single_rows=False,
        computes_untaken=True,
        rereads_set_operations=False,
        limits_by_expressions=False,
        is_lazy=False,
        most_windows=127,
        most_levels=64,
        most_joined=61,
    ),
    Dialect.POSTGRESQL: Target(
        dialect=Dialect.POSTGRESQL,
        title="PostgreSQL",
        has_boolean=True,
        has_computed_offsets=True,
        has_filter=True,
        has_full_join=True,
        has_group_frames=True,
        has_list_over=True,
        has_null_order=True,
        has_offset_alone=True,
        has_ordered_picks=True,
        has_real_modulo=False,
        has_trim_sets=True,
        row_number="ctid",
        holds_infinity=True,
        indexes_texts=True,
        missing_functions=frozenset(),
        log10="LOG",
        hexadecimal="TO_HEX",
        truncates_to_places=False,
        formats_by_locale=False,
        list_hint=None,
        recursion_hint=None,
        planning_hint=None,
        bits_are_unsigned=False,
        computes_in_32_bits=True,
        sums_exactly=True,
        extremes_skip_null=True,
        having_sees_keys=True,
        aliases_keep_case=True,
        keeps_constants=False,
        counts_null_subqueries=False,
        subqueries_see_keys=False,
        aggregates_outward_of_no_rows=True,
        sorts_distinct_by_others=False,
        sorts_windows_by_constants=True,
        recurses_from_several=True,
        in_takes_any_query=True,
        joins_outward_by_subqueries=True,
        joins_ctes_to_themselves=True,
        set_operations_keep_null=True,
        frames_single_rows=True,
        computes_untaken=False,
        rereads_set_operations=True,
        limits_by_expressions=True,
        is_lazy=True,
        most_windows=None,
        most_levels=None,
        most_joined=None,
    ),
}
"""Every dialect that there are translations for."""

SQLGLOT: Mapping[Dialect, str] = {
    Dialect.SQLITE: "sqlite",
    Dialect.MYSQL: "mysql",
    Dialect.POSTGRESQL: "postgres",
}
"""What sqlglot calls each dialect."""

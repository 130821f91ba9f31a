"""What DuckDB cannot do, or does otherwise than SQLite: some of it as PostgreSQL does."""

from dialects.lowerings import MEASURED, Lowering
from dialects.postgresql import lowerings as postgresql

_AS_POSTGRESQL = frozenset({"narrow-arithmetic", "exact-sums", "extremes-skip-null"})

LOWERINGS = (
    *(each for each in postgresql.LOWERINGS if each.name in _AS_POSTGRESQL),
    Lowering(
        "columns-hide-tables",
        "In a subquery, the name of a column hides an outer table of that name.",
        MEASURED,
        "SELECT (SELECT item.id FROM part ORDER BY 1 LIMIT 1) FROM item",
        "An alias that no column has.",
    ),
    Lowering(
        "distinct-order",
        "A row of SELECT DISTINCT is sorted by any of its values of what is not returned.",
        MEASURED,
        "SELECT DISTINCT i.kind FROM item i LEFT JOIN part p ON i.id = p.item ORDER BY p.name",
        "GROUP BY, sorted by the value that SQLite finds first.",
    ),
)

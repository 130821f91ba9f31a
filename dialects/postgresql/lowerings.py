"""What PostgreSQL cannot do, or does otherwise than SQLite; most of it holds for DuckDB, too."""

from sqlglot import exp

from dialects import nodes
from dialects.errors import Untranslatable
from dialects.lowerings import MEASURED, Lowering


def _without_zero(division: nodes.Whole | nodes.Quotient | nodes.Remainder) -> None:
    divisor = division.expression
    known = divisor.unnest()
    while isinstance(known, exp.Neg | nodes.Double):
        known = known.this.unnest()
    if not (isinstance(known, exp.Literal) and not known.is_string and float(known.this)):
        division.set("expression", exp.Nullif(this=divisor, expression=nodes.number(0)))


def _narrow_positions(part: nodes.Slice) -> None:
    for bound in ("start", "length"):
        value = part.args.get(bound)
        if value is not None and not isinstance(value, exp.Literal):
            part.set(bound, exp.Cast(this=value, to=exp.DataType(this=exp.DType.INT)))


def _refuse_zero_character(text: exp.Literal) -> None:
    if "\0" in text.this:
        raise Untranslatable("a text with U+0000", "PostgreSQL's texts cannot hold it")


LOWERINGS = (
    Lowering(
        "full-join-conditions",
        "FULL JOIN takes only equalities between both sides.",
        "https://www.postgresql.org/docs/current/queries-table-expressions.html",
        "SELECT i.id, p.name FROM item i FULL JOIN part p ON i.n < p.n",
        "LEFT JOIN, and UNION ALL of the right rows without a partner.",
    ),
    Lowering(
        "real-modulo",
        "The remainder of a division takes exact numbers alone.",
        "https://www.postgresql.org/docs/current/functions-math.html",
        "SELECT MOD(x, 0.4) FROM item",
        None,
    ),
    Lowering(
        "division-by-zero",
        "Division by zero is an error.",
        "https://www.postgresql.org/docs/current/functions-math.html",
        "SELECT x / (n - 1) FROM item",
        "NULLIF around the divisor.",
        change=_without_zero,
    ),
    Lowering(
        "integer-positions",
        "SUBSTR takes positions of 32 bits.",
        "https://www.postgresql.org/docs/current/functions-string.html",
        "SELECT SUBSTR(t, INSTR(t, 'a') + 1) FROM item",
        "A cast to INTEGER.",
        change=_narrow_positions,
    ),
    Lowering(
        "zero-characters",
        "A text cannot hold U+0000.",
        "https://www.postgresql.org/docs/current/datatype-character.html",
        "SELECT CHAR(97, 0)",
        None,
        change=_refuse_zero_character,
        needs=lambda nodes: any("\0" in text.this for text in nodes[exp.Literal]),
    ),
    Lowering(
        "narrow-arithmetic",
        "Literals that fit 32 bits are computed in 32 bits.",
        "https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-CONSTANTS-NUMERIC",
        "SELECT 2 * CASE WHEN n > 0 THEN 2000000000 ELSE 1 END FROM item",
        "A cast to BIGINT.",
    ),
    Lowering(
        "exact-sums",
        "The sum of integers is an exact number that is no integer.",
        "https://www.postgresql.org/docs/current/functions-aggregate.html",
        "SELECT SUBSTR('abcdefghij', SUM(n)) FROM item",
        "A cast to BIGINT.",
    ),
    Lowering(
        "extremes-skip-null",
        "LEAST and GREATEST ignore NULL, where SQLite's return NULL.",
        "https://www.postgresql.org/docs/current/functions-conditional.html#FUNCTIONS-GREATEST-LEAST",
        "SELECT MAX(n, 2) FROM item",
        "CASE WHEN none is NULL.",
    ),
    Lowering(
        "subquery-keys",
        "A subquery finds no key of GROUP BY that is an expression.",
        MEASURED,
        "SELECT n + 1 AS k FROM item GROUP BY k ORDER BY (SELECT COUNT(*) FROM part WHERE n < k)",
        "MIN of the key.",
    ),
    Lowering(
        "distinct-order",
        "SELECT DISTINCT cannot be sorted by what it does not return.",
        "https://www.postgresql.org/docs/current/sql-select.html#SQL-DISTINCT",
        "SELECT DISTINCT id FROM item ORDER BY n",
        "GROUP BY, sorted by the value that SQLite finds first.",
    ),
)

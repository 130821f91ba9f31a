"""Conditions: comparisons with all their affinities, and three-valued logic. https://sqlite.org/lang_expr.html."""

from tests.fuzz.catalog import NUMBERS, Kind
from tests.fuzz.generator import Generator, rule
from tests.fuzz.grammar.items import separated
from tests.fuzz.leaves import literal, spelled, value_literal
from tests.fuzz.tree import Node, expression, listed

_ANY = (Kind.INTEGER, Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.TEXT, Kind.DATE)
_OPERATORS = ("=", "==", "<>", "!=", "<", "<=", ">", ">=", "=", "<", ">")


def some_column(gen: Generator, *kinds: Kind) -> Node:
    """A column of one of the kinds, or an expression where there is none."""
    refs = gen.refs(*kinds)
    return spelled(gen, gen.pick(refs)) if refs else gen.expr(*kinds)


def column_and_value(gen: Generator, *kinds: Kind) -> tuple[Node, Node]:
    """A column and a value that it may well hold."""
    refs = [ref for ref in gen.refs(*kinds) if ref.column.values]
    if not refs:
        return gen.expr(*kinds), literal(gen, gen.pick(kinds))
    ref = gen.pick(refs)
    return spelled(gen, ref), value_literal(gen.pick(ref.column.values))


@rule("compare", Kind.CONDITION, weight=10)
def compare(gen: Generator, _: Kind) -> Node:
    kind = gen.pick(_ANY)
    if gen.chance(0.6):
        left, right = column_and_value(gen, kind)
    else:
        left, right = gen.expr(kind), gen.expr(kind)
    return expression("(", left, f" {gen.pick(_OPERATORS)} ", right, ")")


@rule("collate-below", Kind.CONDITION, weight=1)
def collate_below(gen: Generator, _: Kind) -> Node:
    left, right = column_and_value(gen, Kind.TEXT)
    begin, end = gen.pick((("(", " COLLATE NOCASE || '')"), ("SUBSTR(", " COLLATE NOCASE, 1)")))
    return expression("(", begin, left, end, f" {gen.pick(_OPERATORS)} ", right, ")")


@rule("compare-text-with-number", Kind.CONDITION, weight=5)
def compare_text_with_number(gen: Generator, _: Kind) -> Node:
    text = some_column(gen, Kind.TEXT)
    number = gen.pick((literal(gen, Kind.INTEGER), literal(gen, Kind.REAL), gen.expr(*NUMBERS)))
    left, right = (text, number) if gen.chance(0.7) else (number, text)
    return expression("(", left, f" {gen.pick(_OPERATORS)} ", right, ")")


@rule("compare-number-with-text", Kind.CONDITION, weight=5)
def compare_number_with_text(gen: Generator, _: Kind) -> Node:
    number = some_column(gen, *NUMBERS) if gen.chance(0.7) else gen.expr(*NUMBERS)
    text = gen.pick(("'12'", "'5'", "'1.5'", "'12abc'", "' 7 '", "'abc'", "''", "'1e1'", "'0'", "'-3'"))
    return expression("(", number, f" {gen.pick(_OPERATORS)} ", expression(text), ")")


@rule("compare-columns-of-different-types", Kind.CONDITION, weight=3)
def compare_columns(gen: Generator, _: Kind) -> Node:
    left, right = some_column(gen, Kind.TEXT, Kind.DATE), some_column(gen, *NUMBERS)
    if gen.chance(0.5):
        left, right = right, left
    return expression("(", left, f" {gen.pick(_OPERATORS)} ", right, ")")


@rule("compare-expression-with-literal", Kind.CONDITION, weight=3)
def compare_without_affinity(gen: Generator, _: Kind) -> Node:
    kind = gen.pick(_ANY)
    other = gen.pick((Kind.INTEGER, Kind.TEXT))
    return expression("(", gen.expr(kind), " || ''" if gen.chance(0.3) else " + 0" if gen.chance(0.3) else "",
                      f" {gen.pick(_OPERATORS)} ", literal(gen, other), ")")  # fmt: skip


@rule("compare-cast", Kind.CONDITION, weight=2)
def compare_cast(gen: Generator, _: Kind) -> Node:
    name = gen.pick(("TEXT", "INTEGER", "REAL", "NUMERIC"))
    return expression("(CAST(", gen.expr(*_ANY), f" AS {name}) {gen.pick(_OPERATORS)} ", gen.expr(*_ANY), ")")


@rule("operators-without-parentheses", Kind.CONDITION, weight=3)
def without_parentheses(gen: Generator, _: Kind) -> Node:
    """Operators and predicates one after the other: only precedence says what belongs together."""
    parts: list[str | Node] = [gen.pick(("NOT ", "", "", "")), gen.leaf(gen.pick(_ANY))]
    for _step in range(gen.random.randint(1, 3)):
        match gen.random.randrange(4):
            case 0:
                parts.append(gen.pick((" IN (1, 'a')", " NOT IN (0, 5)", " ISNULL", " NOTNULL", " NOT NULL")))
            case 1:
                low, high = gen.leaf(Kind.INTEGER), gen.leaf(Kind.INTEGER)
                parts += [gen.pick((" BETWEEN ", " NOT BETWEEN ")), low, " AND ", high]
            case _:
                word = gen.pick(("+", "-", "*", "||", "IS", "IS NOT", "LIKE", "AND", "OR", "<<", *_OPERATORS))
                parts += [f" {word} ", gen.leaf(gen.pick(_ANY))]
    return expression("(", *parts, ")")


@rule("is-value", Kind.CONDITION)
def is_value(gen: Generator, _: Kind) -> Node:
    kind = gen.pick(_ANY)
    left, right = column_and_value(gen, kind) if gen.chance(0.5) else (gen.expr(kind), gen.expr(kind))
    operator = gen.pick(("IS", "IS NOT", "IS NOT DISTINCT FROM", "IS DISTINCT FROM", "IS", "IS NOT"))
    return expression("(", left, f" {operator} ", right, ")")


@rule("is-null", Kind.CONDITION, weight=5)
def is_null(gen: Generator, _: Kind) -> Node:
    operator = gen.pick((" IS NULL", " IS NOT NULL", " ISNULL", " NOTNULL", " NOT NULL"))
    return expression("(", gen.expr(*_ANY, Kind.CONDITION), operator, ")")


@rule("is-true", Kind.CONDITION, weight=2)
def is_true(gen: Generator, _: Kind) -> Node:
    operator = gen.pick(("IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE", "= TRUE", "= FALSE"))
    return expression("(", gen.expr(Kind.CONDITION, Kind.INTEGER), f" {operator})")


@rule("between", Kind.CONDITION)
def between(gen: Generator, _: Kind) -> Node:
    kind = gen.pick(_ANY)
    other = kind if gen.chance(0.8) else gen.pick(_ANY)
    word = gen.pick((" BETWEEN ", " NOT BETWEEN ", " BETWEEN "))
    return expression("(", gen.expr(kind), word, gen.expr(kind), " AND ", gen.expr(other), ")")


@rule("in-list", Kind.CONDITION, weight=5)
def in_list(gen: Generator, _: Kind) -> Node:
    kind = gen.pick(_ANY)
    left, right = column_and_value(gen, kind)
    mixed = kind if gen.chance(0.8) else gen.pick(_ANY)
    values = [right, *(literal(gen, mixed) for _ in range(gen.random.randrange(4)))]
    if gen.chance(0.15):
        values.append(expression("NULL"))
    return expression("(", left, gen.pick((" IN (", " NOT IN (", " IN (")), listed(values), "))")


@rule("in-empty-list", Kind.CONDITION, weight=1)
def in_empty(gen: Generator, _: Kind) -> Node:
    return expression("(", gen.expr(*_ANY), gen.pick((" IN ()", " NOT IN ()")), ")")


@rule("and-or", Kind.CONDITION, weight=8)
def and_or(gen: Generator, _: Kind) -> Node:
    word = gen.pick((" AND ", " OR "))
    return expression("(", gen.expr(Kind.CONDITION), word, gen.expr(Kind.CONDITION), ")")


@rule("not", Kind.CONDITION, weight=3)
def negated(gen: Generator, _: Kind) -> Node:
    return expression("(NOT ", gen.expr(Kind.CONDITION), ")")


@rule("number-as-condition", Kind.CONDITION, weight=2)
def number_as_condition(gen: Generator, _: Kind) -> Node:
    return expression(gen.expr(*NUMBERS))


@rule("text-as-condition", Kind.CONDITION, weight=1)
def text_as_condition(gen: Generator, _: Kind) -> Node:
    return expression(gen.expr(Kind.TEXT))


@rule("condition-as-number", Kind.INTEGER, weight=3)
def condition_as_number(gen: Generator, _: Kind) -> Node:
    return expression(gen.expr(Kind.CONDITION))


@rule("collate-nocase", Kind.CONDITION, weight=2)
def collate(gen: Generator, _: Kind) -> Node:
    left, right = column_and_value(gen, Kind.TEXT)
    if gen.chance(0.4):
        right = gen.expr(Kind.TEXT)
    name = gen.pick(("NOCASE", "NOCASE", "BINARY", "RTRIM"))
    if gen.chance(0.5):
        return expression("(", left, f" COLLATE {name} {gen.pick(_OPERATORS)} ", right, ")")
    return expression("(", left, f" {gen.pick(_OPERATORS)} ", right, f" COLLATE {name})")


@rule("row-value", Kind.CONDITION, weight=2)
def row_value(gen: Generator, _: Kind) -> Node:
    kinds = [gen.pick(_ANY) for _ in range(gen.random.randint(2, 3))]
    pairs = [
        column_and_value(gen, kind) if gen.chance(0.6) else (gen.expr(kind), gen.expr(kind)) for kind in kinds
    ]
    operator = gen.pick(("=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT"))
    left, right = separated([pair[0] for pair in pairs]), separated([pair[1] for pair in pairs])
    return expression("((", *left, f") {operator} (", *right, "))")


@rule("row-value-between", Kind.CONDITION, weight=1)
def row_value_between(gen: Generator, _: Kind) -> Node:
    kinds = [gen.pick(_ANY) for _ in range(2)]
    rows = [separated([gen.expr(kind) for kind in kinds]) for _ in range(3)]
    return expression("((", *rows[0], ") BETWEEN (", *rows[1], ") AND (", *rows[2], "))")


_ARITHMETIC = ("+", "-", "*", "/", "%", "||", "&", "|", "<<", ">>")
_LOGIC = ("<", "<=", ">", "=", "==", "<>", "IS", "IS NOT", "AND", "OR", "AND", "OR", "=", "<")
_SUFFIXES = (" IN (1, 2, 3)", " NOT IN (0)", " IS NULL", " NOTNULL", " BETWEEN 0 AND 5", " LIKE '1%'")


@rule("precedence", Kind.CONDITION, Kind.INTEGER, weight=2)
def precedence(gen: Generator, kind: Kind) -> Node:
    """Operators without parentheses."""
    logic = kind is Kind.CONDITION
    operators = (*_ARITHMETIC, *_LOGIC) if logic else _ARITHMETIC
    parts: list[Node | str] = [_prefix(gen, negated=logic), _small(gen)]
    for _ in range(gen.random.randint(2, 4)):
        if logic and gen.chance(0.06):
            parts.append(gen.pick(_SUFFIXES))
        operator = gen.pick(operators)
        parts += [f" {operator} {_prefix(gen, negated=operator in ('AND', 'OR'))}", _small(gen)]
    return expression("(", *parts, ")")


def _prefix(gen: Generator, *, negated: bool) -> str:
    return gen.pick(("", "", "", "NOT ", "NOT ") if negated else ("", "", "", "", "-", "~", "+"))


def _small(gen: Generator) -> Node:
    refs = [ref for ref in gen.refs(Kind.INTEGER) if ref.column.exact]
    if refs and gen.chance(0.5):
        return spelled(gen, gen.pick(refs))
    return expression(gen.pick(("1", "2", "3", "0", "5", "10", "'3'", "1.5", "NULL")))

"""Every node has its words on both targets, and what is written is the tree."""

import pytest
import sqlglot
from sqlglot import exp

from dialects import nodes
from dialects.base_generator import spell
from dialects.enums import Dialect
from dialects.errors import Untranslatable
from dialects.lowerings import lower
from dialects.nodes import number, string
from dialects.trees import by_type
from loaders.server import Server
from tests.loaders.servers import ask

MYSQL, POSTGRESQL = Dialect.MYSQL, Dialect.POSTGRESQL


def _column(name: str) -> exp.Expr:
    return exp.column(name, quoted=True)


A, B = _column("a"), _column("b")


@pytest.mark.parametrize(
    ("node", "mysql", "postgresql"),
    [
        (nodes.Whole(this=A, expression=B), "`a` DIV NULLIF(`b`, 0)", '"a" / NULLIF("b", 0)'),
        (nodes.Whole(this=A, expression=number(-2)), "`a` DIV -2", '"a" / -2'),
        (nodes.Quotient(this=A, expression=B), "`a` / NULLIF(`b`, 0)", '"a" / NULLIF("b", 0)'),
        (nodes.Remainder(this=A, expression=number(0)), "`a` % 0", '"a" % NULLIF(0, 0)'),
        (nodes.Joined(expressions=[A, string("x")]), "CONCAT(`a`, 'x')", "\"a\" || 'x'"),
        (nodes.AsInteger(this=exp.EQ(this=A, expression=B)), "`a` = `b`", 'CAST("a" = "b" AS INTEGER)'),
        (nodes.Bigint(this=A), "CAST(`a` AS SIGNED)", 'CAST("a" AS BIGINT)'),
        (nodes.Truncated(this=A), "CAST(TRUNCATE(`a`, 0) AS SIGNED)", 'CAST(TRUNC("a") AS BIGINT)'),
        (nodes.Double(this=A), "CAST(`a` AS DOUBLE)", 'CAST("a" AS DOUBLE PRECISION)'),
        (nodes.Double(this=exp.Literal.number("1.5")), "1.5e0", "1.5::float8"),
        (nodes.Double(this=exp.Literal.number("1e+16")), "1e+16", "1e+16::float8"),
        (nodes.Exact(this=A), "CAST(`a` AS DECIMAL(65, 0))", 'CAST("a" AS NUMERIC)'),
        (nodes.Text(this=A), "CAST(`a` AS CHAR)", 'CAST("a" AS TEXT)'),
        (
            nodes.Matches(this=A, expression=string("x%")),
            "`a` LIKE 'x%'",
            "\"a\" LIKE 'x%'",
        ),
        (
            nodes.Matches(this=A, expression=string("\\%")),
            "`a` LIKE '\\\\%' ESCAPE ''",
            "\"a\" LIKE '\\%' ESCAPE ''",
        ),
        (
            nodes.Matches(this=nodes.Lower(this=A), expression=string("x%")),
            (
                "CONVERT(CAST(LOWER(CONVERT(CAST(`a` AS BINARY) USING tis620)) AS BINARY) USING utf8mb4)"
                " COLLATE utf8mb4_0900_bin LIKE 'x%'"
            ),
            "LOWER(\"a\") LIKE 'x%'",
        ),
        (nodes.Characters(this=A), "CHAR_LENGTH(`a`)", 'CAST(CHAR_LENGTH("a") AS BIGINT)'),
        (nodes.Position(this=A, expression=B), "LOCATE(`b`, `a`)", 'CAST(STRPOS("a", "b") AS BIGINT)'),
        (nodes.Slice(this=A, start=number(2)), "SUBSTRING(`a`, 2)", 'SUBSTR("a", 2)'),
        (nodes.Slice(this=A, start=B), "SUBSTRING(`a`, `b`)", 'SUBSTR("a", CAST("b" AS INTEGER))'),
        (nodes.Tail(this=A, length=number(3)), "RIGHT(`a`, 3)", 'RIGHT("a", 3)'),
        (nodes.Hexadecimal(this=A), "HEX(`a`)", "UPPER(ENCODE(CONVERT_TO(\"a\", 'UTF8'), 'hex'))"),
        (nodes.Hexadecimal(this=A, blob=True), "HEX(`a`)", "UPPER(ENCODE(\"a\", 'hex'))"),
        (
            nodes.JSONString(this=A),
            "JSON_QUOTE(`a`) COLLATE utf8mb4_0900_bin",
            'CAST(TO_JSON(CAST("a" AS TEXT)) AS TEXT)',
        ),
        (nodes.AnyOf(this=A), "MIN(`a`)", 'MIN("a")'),
        (
            nodes.Listed(this=A, separator=string(","), distinct=True),
            "GROUP_CONCAT(DISTINCT `a` SEPARATOR ',')",
            "STRING_AGG(DISTINCT \"a\", ',')",
        ),
        (nodes.server("to_real", A), "bird_sqlite.to_real(`a`)", 'bird_sqlite.to_real("a")'),
        (exp.NullSafeEQ(this=A, expression=B), "`a` <=> `b`", '"a" IS NOT DISTINCT FROM "b"'),
        (exp.HexString(this="4142"), "X'4142'", "'\\x4142'::bytea"),
        (
            exp.Values(expressions=[exp.Tuple(expressions=[number(1), A])]),
            "VALUES ROW(1, `a`)",
            'VALUES (1, "a")',
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_words(node: exp.Expr, mysql: str, postgresql: str) -> None:
    assert spell(lower(node.copy(), MYSQL, by_type(node)), MYSQL) == mysql
    assert spell(lower(node.copy(), POSTGRESQL, by_type(node)), POSTGRESQL) == postgresql


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (exp.Sub(this=A, expression=exp.Sub(this=A, expression=B)), '"a" - ("a" - "b")'),
        (exp.Sub(this=exp.Sub(this=A, expression=A), expression=B), '"a" - "a" - "b"'),
        (exp.Mul(this=exp.Add(this=A, expression=B), expression=B), '("a" + "b") * "b"'),
        (exp.And(this=exp.Or(this=A, expression=B), expression=B), '("a" OR "b") AND "b"'),
        (exp.Or(this=exp.And(this=A, expression=B), expression=B), '"a" AND "b" OR "b"'),
        (exp.EQ(this=exp.EQ(this=A, expression=B), expression=B), '("a" = "b") = "b"'),
        (exp.Not(this=exp.EQ(this=A, expression=B)), 'NOT ("a" = "b")'),
        (exp.Not(this=exp.Is(this=A, expression=exp.Null())), '"a" IS NOT NULL'),
        (exp.Not(this=exp.In(this=A, expressions=[B])), '"a" NOT IN ("b")'),
        (exp.Neg(this=exp.Neg(this=A)), '-(-"a")'),
        (exp.Neg(this=nodes.Double(this=exp.Neg(this=exp.Literal.number("1.5")))), "-(-1.5::float8)"),
        (exp.BitwiseOr(this=exp.BitwiseAnd(this=A, expression=B), expression=B), '("a" & "b") | "b"'),
        (exp.EQ(this=A, expression=exp.Paren(this=exp.Paren(this=B))), '"a" = "b"'),
        (exp.Between(this=A, low=exp.Add(this=B, expression=B), high=B), '"a" BETWEEN "b" + "b" AND "b"'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_parentheses_keep_the_tree(node: exp.Expr, text: str) -> None:
    assert spell(node, POSTGRESQL) == text


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELECT 1 UNION SELECT 2 UNION ALL SELECT 3", "SELECT 1 UNION SELECT 2 UNION ALL SELECT 3"),
        ("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3", "(SELECT 1 UNION SELECT 2) INTERSECT SELECT 3"),
        ("SELECT 1 EXCEPT SELECT 2 LIMIT 1", "SELECT 1 EXCEPT SELECT 2 LIMIT 1"),
        ("SELECT `a` FROM t, u JOIN v ON 1", "SELECT `a` FROM `t` CROSS JOIN `u` JOIN `v` ON 1"),
    ],
)
def test_queries_are_grouped_as_sqlite_groups_them(sql: str, text: str) -> None:
    assert spell(sqlglot.parse_one(sql, dialect="sqlite"), MYSQL) == text


def test_nulls_are_placed_only_where_the_target_would_not() -> None:
    def term(*, descending: bool, first: bool | None) -> exp.Expr:
        return exp.Ordered(this=A, desc=descending, nulls_first=first)

    assert spell(term(descending=False, first=True), POSTGRESQL) == '"a" NULLS FIRST'
    assert spell(term(descending=True, first=False), POSTGRESQL) == '"a" DESC NULLS LAST'
    assert spell(term(descending=True, first=True), POSTGRESQL) == '"a" DESC'
    assert spell(term(descending=False, first=None), POSTGRESQL) == '"a"'
    assert spell(term(descending=False, first=True), MYSQL) == "`a`"
    with pytest.raises(Untranslatable, match="NULLS"):
        spell(term(descending=True, first=True), MYSQL)


@pytest.mark.parametrize(
    "node", [exp.Unnest(expressions=[A]), exp.Substring(this=A), exp.DPipe(this=A, expression=B)]
)
def test_a_node_that_no_rewrite_makes_is_untranslatable(node: exp.Expr) -> None:
    with pytest.raises(Untranslatable, match=type(node).__name__):
        spell(node, MYSQL)


TEXTS = [
    "", "it's", "''", "a\\b", "\\", "\\'", "\\n", "100%", "_x", "\\%\\_", "line\nbreak\r\t", "\x1a",
    "ünïcode €😀", '"q"', "`b`", "--", "/*x*/", "$$", "%s", "{x}", ":a", "?",
]  # fmt: skip


@pytest.mark.engine
@pytest.mark.parametrize("text", TEXTS)
def test_texts_come_back_as_they_are(server: Server, text: str) -> None:
    assert ask(server, None, spell(exp.Select(expressions=[string(text)]), server.dialect)) == [(text,)]


@pytest.mark.engine
def test_mysql_folds_ascii_alone(mysql_server: Server) -> None:
    characters = [chr(point) for point in range(1, 0x3000)] + list("ｱＡａ𐐀𐐨😀")
    text = "".join(characters)
    folded = spell(
        exp.Select(expressions=[nodes.Lower(this=string(text)), nodes.Upper(this=string(text))]), MYSQL
    )
    lower, upper = (str.maketrans(*pair) for pair in ((_UPPER, _LOWER), (_LOWER, _UPPER)))
    assert ask(mysql_server, None, folded) == [(text.translate(lower), text.translate(upper))]


_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"

"""Operators without parentheses are read as SQLite reads them, whatever their order."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from dialects.source import parse

_BINARY = (
    "+", "-", "*", "/", "%", "||", "<<", ">>", "&", "|", "<", "<=", ">", ">=", "=", "==", "<>", "!=", "IS",
    "IS NOT", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "LIKE", "NOT LIKE", "GLOB", "NOT GLOB", "AND", "OR",
)  # fmt: skip
_AFTER = (
    "ISNULL", "NOTNULL", "NOT NULL", "IN (1, 'x')", "NOT IN (1, 2)", "IN ()", "IS NULL", "IS NOT NULL",
    "IS TRUE", "COLLATE NOCASE",
)  # fmt: skip
_BEFORE = ("NOT", "-", "~")
_OPERANDS = ("a", "b", "c", "1", "0", "2", "NULL", "'x'")
_VALUES = (None, 0, 1, 2, "x", "ab", -1, 1.5)


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.execute("CREATE TABLE t (a, b, c)")
        opened.executemany("INSERT INTO t VALUES (?, ?, ?)", list(product(_VALUES, repeat=3))[::9])
        yield opened


def _operand(chance: Random) -> str:
    return " ".join([*chance.choices(_BEFORE, k=chance.choice((0, 0, 0, 1, 1, 2))), chance.choice(_OPERANDS)])


def _text(chance: Random) -> str:
    words = [_operand(chance)]
    for _ in range(chance.randint(1, 4)):
        match chance.randrange(6):
            case 0 | 1:
                words.append(chance.choice(_AFTER))
            case 2:
                words += [chance.choice(("BETWEEN", "NOT BETWEEN")), _operand(chance)]
                if chance.randrange(3) == 0:
                    words += [chance.choice(_BINARY[:-2]), _operand(chance)]
                words += ["AND", _operand(chance)]
            case _:
                words += [chance.choice(_BINARY), _operand(chance)]
    return " ".join(words)


def _in_parentheses(tree: exp.Expr) -> str:
    """The expression with parentheses around each operand, so that no precedence decides."""
    whole = exp.Paren(this=tree.copy())
    for node in reversed(list(whole.walk())):
        if (
            isinstance(node, exp.Binary | exp.Unary | exp.Between | exp.In)
            and not isinstance(node, exp.Paren)
            and not isinstance(node.parent, exp.Paren)
        ):
            node.replace(exp.Paren(this=node.copy()))
    return whole.sql("sqlite")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(chance=st.randoms(use_true_random=False))
def test_operators_bind_as_in_sqlite(connection: sqlite3.Connection, chance: Random) -> None:
    sql = f"SELECT {_text(chance)} FROM t"
    read = f"SELECT {_in_parentheses(parse(sql).expressions[0])} FROM t"
    assert connection.execute(read).fetchall() == connection.execute(sql).fetchall(), (sql, read)


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("a = b IS NULL", "(a = b) IS NULL"),
        ("a BETWEEN 1 AND 2 = 1", "(a BETWEEN 1 AND 2) = 1"),
        ("a BETWEEN 1 = b AND 2", "a BETWEEN (1 = b) AND 2"),
        ("a IN (1) + 1 * b", "(a IN (1)) + (1 * b)"),
        ("a ISNULL || b = c", "((a ISNULL) || b) = c"),
        ("a IN (1) << 2", "(a IN (1)) << 2"),
        ("a IS b < c", "a IS (b < c)"),
        ("a IS NULL + 1", "a IS (NULL + 1)"),
        ("NOT a IS b LIKE c", "NOT ((a IS b) LIKE c)"),
        ("b * NOT a = c", "b * (NOT (a = c))"),
    ],
)  # fmt: skip
def test_the_operand_of_a_predicate(connection: sqlite3.Connection, written: str, means: str) -> None:
    read = _in_parentheses(parse(f"SELECT {written} FROM t").expressions[0])
    rows = [connection.execute(f"SELECT {text} FROM t").fetchall() for text in (written, means, read)]
    assert rows[0] == rows[1] == rows[2]

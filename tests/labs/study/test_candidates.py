"""What an index could serve, as it is read in texts of every dialect."""

import pytest

from dialects.enums import Dialect
from dialects.schema import Column, PortableType, Schema, Table
from harness.labs.study.advice import MOST_INDEXES, candidates
from harness.labs.study.copies import Index


def table(name: str, *columns: str, primary_key: tuple[str, ...] = ()) -> Table:
    made = tuple(Column(one, "INTEGER", PortableType.INTEGER, nullable=True) for one in columns)
    return Table(name, made, 10, primary_key)


SCHEMA = Schema((
    table("Loan", "loan_id", "account_id", "Amount", "status", "date", primary_key=("loan_id",)),
    table("account", "account_id", "district_id", "date", primary_key=("account_id",)),
))  # fmt: skip


def found(sql: str, dialect: Dialect = Dialect.SQLITE) -> set[str]:
    return {str(index) for index in candidates([sql], dialect, SCHEMA)}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM loan WHERE status = 'A'", {"Loan(status)"}),
        ("SELECT * FROM loan WHERE STATUS IN ('A', 'B')", {"Loan(status)"}),
        ("SELECT * FROM loan WHERE status IS NULL", {"Loan(status)"}),
        ("SELECT * FROM loan WHERE amount > 3 AND status = 'A'",
         {"Loan(status)", "Loan(Amount)", "Loan(status, Amount)"}),
        ("SELECT * FROM loan WHERE amount BETWEEN 1 AND 2", {"Loan(Amount)"}),
        ("SELECT * FROM loan ORDER BY date DESC LIMIT 1", {"Loan(date)"}),
        ("SELECT MAX(amount) FROM loan", {"Loan(Amount)"}),
        ("SELECT status, COUNT(*) FROM loan GROUP BY status", {"Loan(status)"}),
        ("SELECT 1 FROM loan AS l JOIN account AS a ON l.account_id = a.account_id WHERE a.district_id = 1",
         {"Loan(account_id)", "account(district_id)", "account(district_id, account_id)"}),
        ("SELECT * FROM loan WHERE loan_id = 1", set()),
        ("SELECT * FROM loan WHERE ABS(amount) = 1", set()),
        ("SELECT * FROM loan WHERE amount + 1 = 2", set()),
        ("SELECT * FROM loan, account WHERE date = 1", set()),
        ("SELECT * FROM (SELECT status AS s FROM loan) AS t WHERE s = 1", set()),
        ("SELECT * FROM account WHERE EXISTS (SELECT 1 FROM loan WHERE status = 'A')", {"Loan(status)"}),
        ("WITH t AS (SELECT * FROM loan WHERE status = 'A') SELECT * FROM t", {"Loan(status)"}),
        ("SELECT FROM WHERE", set()),
        ("DROP TABLE loan", set()),
        ("SELECT * FROM elsewhere WHERE status = 1", set()),
    ],
)  # fmt: skip
def test_columns_that_an_index_could_serve(sql: str, expected: set[str]) -> None:
    assert found(sql) == expected


@pytest.mark.parametrize("dialect", Dialect)
def test_texts_are_read_in_their_dialect(dialect: Dialect) -> None:
    texts = {
        Dialect.SQLITE: "SELECT * FROM `loan` WHERE [status] = 'A'",
        Dialect.MYSQL: "SELECT * FROM `loan` WHERE `status` = 'A'",
        Dialect.MARIADB: "SELECT * FROM `loan` WHERE `status` = 'A'",
        Dialect.DUCKDB: """SELECT * FROM "Loan" WHERE status::text = 'A' AND "amount" = 1""",
        Dialect.POSTGRESQL: """SELECT * FROM "Loan" WHERE status::text = 'A' AND "Amount" = 1""",
    }
    expected = {"Loan(Amount)"} if "::" in texts[dialect] else {"Loan(status)"}
    assert found(texts[dialect], dialect) == expected


def test_the_most_wanted_come_first_and_a_table_has_so_many_at_most() -> None:
    columns = [f"c{number}" for number in range(40)]
    schema = Schema((table("wide", *columns),))
    texts = [f"SELECT 1 FROM wide WHERE {column} = 1" for column in columns]
    first, *rest = candidates([*texts, texts[30]], Dialect.SQLITE, schema)
    assert first == Index("wide", ("c30",))
    assert len(rest) == MOST_INDEXES - 1


def test_a_text_that_is_too_much_to_read_is_passed_over() -> None:
    assert found("SELECT * FROM loan WHERE " + "DATE(" * 60 + "date" + ")" * 60 + " = 1") == set()

"""Whose fault an error of MySQL's is."""

import pymysql
import pytest

from harness.engines.base import EngineLost, SqlError, SqlTimeout, SqlTooLarge, SqlUnreadable
from harness.engines.mysql.connections import translated


@pytest.mark.parametrize(
    ("number", "in_time", "kind"),
    [
        (1064, True, SqlError),
        (1064, False, SqlError),
        (1436, True, SqlError),
        (3636, True, SqlError),
        (3024, True, SqlTimeout),
        (1317, False, SqlTimeout),
        (1317, True, EngineLost),
        (1028, True, EngineLost),
        (2013, False, SqlTimeout),
        (2013, True, EngineLost),
        (2006, True, EngineLost),
        (1040, True, EngineLost),
        (1021, True, EngineLost),
        (4082, True, SqlTooLarge),
        (4082, False, SqlTooLarge),
        (1114, True, SqlTooLarge),
        (1153, True, SqlTooLarge),
        (1038, True, SqlTooLarge),
    ],
)
def test_a_number_means(number: int, in_time: bool, kind: type[Exception]) -> None:  # noqa: FBT001 - a table
    failure = translated(pymysql.OperationalError(number, "words"), in_time=in_time)
    assert type(failure) is kind
    assert "words" in str(failure)
    if isinstance(failure, SqlError):
        assert failure.code == str(number)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (pymysql.InterfaceError(0, ""), EngineLost),
        (BrokenPipeError(32, "Broken pipe"), EngineLost),
        (pymysql.InternalError("Packet sequence number wrong"), SqlError),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), SqlUnreadable),
        (ValueError("year 0 is out of range"), SqlUnreadable),
        (OverflowError("days=1000000000"), SqlUnreadable),
    ],
)
def test_an_error_of_the_drivers_means(error: Exception, kind: type[Exception]) -> None:
    assert type(translated(error, in_time=True)) is kind


def test_on_a_connection_that_is_gone_any_error_is_the_servers() -> None:
    failure = translated(pymysql.InternalError("Packet sequence number wrong"), in_time=True, is_open=False)
    assert type(failure) is EngineLost
    assert type(translated(ValueError("x"), in_time=False, is_open=False)) is SqlTimeout

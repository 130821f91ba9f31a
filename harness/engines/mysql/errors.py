"""What MySQL's errors mean: the statement's fault, its time, its size, or the server's fault.

Numbers: https://dev.mysql.com/doc/mysql-errors/9.7/en/
"""

import pymysql

from harness.engines.base import EngineLost, SqlError, SqlTimeout, SqlTooLarge, SqlUnreadable
from harness.engines.mysql.accounts import unnumbered

_TIME_IS_UP = 3024
"""MAX_EXECUTION_TIME, the session's or the one in a hint."""

_INTERRUPTED = frozenset({1317, 1028})
"""By KILL, at any point or while it sorted."""

_TOO_LARGE = frozenset({
    4081, 4082,  # the memory of all connections, or of this one; the server closes the connection
    1114,  # a table is full: the reading role can fill none but the temporary ones of its own statement
    1038, 3170,  # memory to sort, to parse or to look for a plan
    1153,  # a packet larger than max_allowed_packet: the text, or a row
})  # fmt: skip
"""The statement asked for more than it may have."""

_LOST = frozenset({
    2002, 2003, 2006, 2013,  # unreachable, gone, lost
    1040, 1203, 1226,  # too many connections
    1045, 1049, 1129, 1130, 3118, 4031,  # the account, the database, the host or an idle client is refused
    1053, 1077, 1078, 1079, 1927, 3169,  # shutting down; killed
    3, 14, 20, 1021, 1026, 1037, 1041,  # disk or memory of the machine are used up, by whomever
})  # fmt: skip
"""The server cannot be used, whatever the statement is."""


def message(error: BaseException) -> str:
    """The server's or the driver's own words."""
    return unnumbered(str(error.args[-1]) if error.args else str(error))


def translated(error: Exception, *, in_time: bool, is_open: bool = True) -> SqlError | EngineLost:
    """What an error of the driver means for the statement during which it came.

    Args:
        error: as raised.
        in_time: whether the statement's time is not up and the client has not stopped it. An interruption is
            somebody else's doing then, such as the server's when it is shut down.
        is_open: whether the connection is there still.
    """
    number = error.args[0] if isinstance(error, pymysql.Error) and error.args else None
    code = str(number) if isinstance(number, int) else None
    if number in _TOO_LARGE:
        return SqlTooLarge(message(error), code)
    lost = number in _LOST or isinstance(error, pymysql.InterfaceError | OSError) or not is_open
    if number == _TIME_IS_UP or (not in_time and (lost or number in _INTERRUPTED)):
        return SqlTimeout(message(error), code)
    if lost or number in _INTERRUPTED:
        return EngineLost(f"MySQL: {message(error)}")
    # The driver makes values while it reads rows, and what it raises for one is of any class.
    return SqlError(message(error), code) if isinstance(error, pymysql.Error) else SqlUnreadable(error)

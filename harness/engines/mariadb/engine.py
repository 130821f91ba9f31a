"""MariaDB through PyMySQL, as MySQL, but for plans, which it tells in a form of its own, and work."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from dialects.enums import Dialect
from harness.engines.base import CannotCount, Spent
from harness.engines.mariadb.connections import ERROR_NUMBERS, MariaDBConnections
from harness.engines.mariadb.plans import PREFIXES, read_plan
from harness.engines.mysql.connections import Codes, MySQLConnections
from harness.engines.mysql.engine import MySQLEngine, MySQLSession


class MariaDBSession(MySQLSession):
    """See `MySQLSession`."""

    CODES: ClassVar[Codes] = ERROR_NUMBERS

    EXPLAIN: ClassVar[Sequence[str]] = PREFIXES
    read_plan = staticmethod(read_plan)

    def _begin_counting(self) -> None:
        """Do nothing: no setting is needed."""

    def counted(self, sql: str) -> Mapping[str, int]:
        """See `Session.counted`."""
        del sql
        raise CannotCount("MariaDB's work is not counted; use another metric of time")

    def spent(self) -> Spent | None:
        """See `Session.spent`: MariaDB keeps no time on the processor of a statement."""
        return None


class MariaDBEngine(MySQLEngine):
    """A MariaDB server, wherever it came from."""

    dialect: ClassVar[Dialect] = Dialect.MARIADB
    CONNECTIONS: ClassVar[type[MySQLConnections]] = MariaDBConnections
    SESSION: ClassVar[type[MySQLSession]] = MariaDBSession
    SETTINGS: ClassVar[Sequence[str]] = (
        *(name for name in MySQLEngine.SETTINGS if name != "cte_max_recursion_depth"),
        "max_recursive_iterations",
        "max_sort_length",
        "sort_buffer_size",
    )

"""The engines that predictions run on, one module each, behind one Protocol (`base.Engine`).

A driver is imported where its engine is used.
"""

from dialects.enums import Dialect
from harness.engines.base import Engine
from loaders.server import Server


def on_server(server: Server) -> Engine:
    """The engine that speaks to `server`."""
    if server.dialect is Dialect.MYSQL:
        from harness.engines.mysql.engine import MySQLEngine  # noqa: PLC0415 - the driver takes a tenth of a second

        return MySQLEngine(server)
    from harness.engines.postgresql.engine import PostgreSQLEngine  # noqa: PLC0415 - as above

    return PostgreSQLEngine(server)

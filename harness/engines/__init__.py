"""The engines that predictions run on, one module each, behind one Protocol (`base.Engine`)."""

from harness.engines.base import Engine
from harness.engines.mysql import MySQLEngine
from harness.engines.postgresql import PostgreSQLEngine
from harness.engines.server import Server
from harness.words import Dialect


def on_server(server: Server) -> Engine:
    """The engine that speaks to `server`."""
    if server.dialect is Dialect.MYSQL:
        return MySQLEngine(server)
    return PostgreSQLEngine(server)

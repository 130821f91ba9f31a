"""The administrator's sessions with a MariaDB server, as with MySQL."""

from loaders.mysql.session import Error, ask, attempt, connected, is_broken, message

TITLE = "MariaDB"

__all__ = ["TITLE", "Error", "ask", "attempt", "connected", "is_broken", "message"]

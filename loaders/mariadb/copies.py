"""MariaDB's statements for the keys and indexes of copies: those of MySQL."""

from loaders.mysql.copies import SQL

__all__ = ["SQL"]

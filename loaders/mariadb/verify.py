"""What verification knows about MariaDB: it is all in MySQL's module."""

from loaders.mysql.verify import HASHES, STORAGE

__all__ = ["HASHES", "STORAGE"]

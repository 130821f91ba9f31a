"""Verify that a server holds exactly the contents of the files: every table, column, row and value.

Row counts, types and sums of hashes are computed on both sides and compared; if they differ, the columns and
the first differing rows are named. docs/explanation/loading.md defines which values are equal.
"""

from loaders.verify.proof import DatabaseVerification, verified_lines, verify
from loaders.verify.tables import DifferenceKind, TableDifference

__all__ = ["DatabaseVerification", "DifferenceKind", "TableDifference", "verified_lines", "verify"]

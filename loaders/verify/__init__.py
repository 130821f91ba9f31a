"""The proof that what stands on a server is what the files hold: every table, column, row and value.

Row counts, types and sums of hashes are computed on both sides and compared; where they differ, the columns
and the first rows that do are named. docs/explanation/loading.md says what is equal to what.
"""

from loaders.verify.proof import Verified, verified_lines, verify
from loaders.verify.tables import Difference, Kind

__all__ = ["Difference", "Kind", "Verified", "verified_lines", "verify"]

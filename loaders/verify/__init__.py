"""The proof that what stands on a server is what the files hold: every table, column, row and value.

Row counts, types and sums of hashes are computed on both sides and compared; where they differ, the columns
and the first rows that do are named. docs/verification.md says what is equal to what.
"""

from loaders.verify.difference import Difference, Kind, Verified, verified_lines
from loaders.verify.proof import verify

__all__ = ["Difference", "Kind", "Verified", "verified_lines", "verify"]

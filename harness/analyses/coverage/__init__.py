"""How many golds return on a server what they return on SQLite, proven by running both.

`checking` measures, `answers` has the vocabulary, `expectations` and `audit` what is known from before.
"""

from harness.analyses.coverage.answers import JUDGED, CoverageAnswer, Fault, OverrideState, Reason
from harness.analyses.coverage.checking import cover

__all__ = ["JUDGED", "CoverageAnswer", "Fault", "OverrideState", "Reason", "cover"]

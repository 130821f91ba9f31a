"""How many golds return on a server what they return on SQLite, proven by running both.

`checking` measures, `answers` has the vocabulary, `expectations` and `audit` what is known from before.
"""

from dialects.coverage.answers import JUDGED, Answer, Fault, Origin, OverrideState, Reason
from dialects.coverage.checking import cover

__all__ = ["JUDGED", "Answer", "Fault", "Origin", "OverrideState", "Reason", "cover"]

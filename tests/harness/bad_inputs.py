"""Every bad question set and prediction file, for tests of the readers and of the command line."""

from tests.harness.bad_predictions import PREDICTIONS
from tests.harness.bad_sets import SETS

CASES = (*SETS, *PREDICTIONS)

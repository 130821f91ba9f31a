"""Execution accuracy (EX), as the official evaluator computes it.

Definition: Li et al. 2023, "Can LLM Already Serve as A Database Interface?", section 4.4,
https://arxiv.org/abs/2305.03111; the comparison is that of the published evaluation script.
"""

from collections.abc import Hashable, Sequence

from harness.metrics.comparison.distinct import gathered


def ex(predicted: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    """1.0 when the two results hold the same set of rows, else 0.0.

    Row order and duplicates do not count; the order of columns does, their names do not. Values are
    compared as Python compares what the driver returned: `Decimal('1') == 1.0 == 1`, but `'1' != 1`.
    A result with a value that cannot be hashed (an array, a JSON object) scores 0.0, as in the script.
    """
    try:
        ours, theirs = gathered(predicted, gold)
    except TypeError:
        return 0.0
    return float(ours.distinct == theirs.distinct)

"""pass@k: how likely it is that one of k samples matches.

The unbiased estimator of Chen et al. 2021, "Evaluating Large Language Models Trained on Code", section 2.1
(https://arxiv.org/abs/2107.03374): of n samples of which c match, 1 - C(n - c, k) / C(n, k).
"""

from collections.abc import Sequence
from math import comb


def pass_at(k: int, matches: int, samples: int) -> float:
    """The estimate for one question.

    Args:
        k: how many samples are looked at, 1 to `samples`.
        matches: how many of all samples match.
        samples: how many there are.

    Raises:
        ValueError: the numbers do not fit each other.
    """
    if not (1 <= k <= samples and 0 <= matches <= samples):
        raise ValueError(f"pass@{k} of {matches} in {samples}")
    return 1.0 - comb(samples - matches, k) / comb(samples, k)


def ks(samples: int) -> Sequence[int]:
    """The k that tables show: 1, 2, 5, 10, 20, 50, 100 as far as there are samples, and all samples."""
    usual = [k for k in (1, 2, 5, 10, 20, 50, 100) if k < samples]
    return [*usual, samples]

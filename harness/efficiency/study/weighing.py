"""Counted work as one number, for parts that hold one execution against another.

Everything that an engine counts is added up, one thing as much as another: a number of steps, which compares
executions on the same engine, and not engines with each other.
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from harness.metrics.efficiency import reward


def work_of(record: Mapping[str, Any]) -> float | None:
    """The steps that `measuring.counted` has found; None where the text did not come to its end."""
    counters = record.get("counters")
    return None if counters is None else float(sum(counters.values()))


def r_ves_of(tau: float) -> float:
    """R-VES of a right answer whose gold does `tau` times its work."""
    return sqrt(reward(tau))

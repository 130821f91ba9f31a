"""Pure functions from two results to a score. No I/O, no engine, no dialect in here."""

from collections.abc import Callable, Hashable, Mapping, Sequence

from harness.metrics.ex import ex

Metric = Callable[[Sequence[Hashable], Sequence[Hashable]], float]
"""Predicted rows and gold rows to a score in [0, 1]."""

METRICS: Mapping[str, Metric] = {"ex": ex}
"""Every metric by the name that options, files and tables use."""

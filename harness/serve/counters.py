"""What a server has done, in Prometheus' text format, summed over the processes behind its port.

The format: https://prometheus.io/docs/instrumenting/exposition_formats/. Each process counts in a file of its
own that it maps into memory: one that is killed leaves its counts, and holds no lock.
"""

import mmap
import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from harness.data.outcomes import Outcome

STATUSES = (200, 400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 500, 503)
"""The status codes of all answers of a server."""
_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0)
"""Upper bounds of the latencies that are counted together, in seconds."""

_SECONDS = "bird_score_seconds"
_WAITING = "bird_waiting_answers"
_FAMILIES: Mapping[str, tuple[str, str, Sequence[str]]] = {
    "bird_requests_total": ("counter", "Requests by status.", [f'{{status="{code}"}}' for code in STATUSES]),
    "bird_answers_total": ("counter", "Judged answers.", [f'{{outcome="{each}"}}' for each in Outcome]),
    "bird_texts_total": (
        "counter", "Distinct texts by how they were judged.", ['{by="cache"}', '{by="execution"}'],
    ),
    "bird_late_total": ("counter", "Answers not judged by the deadline of their batch.", [""]),
    _WAITING: ("gauge", "Answers being judged.", [""]),
    _SECONDS: (
        "histogram", "Seconds from a request for scores to the end of the response.",
        [*(f'_bucket{{le="{bound:g}"}}' for bound in _BUCKETS), '_bucket{le="+Inf"}', "_sum", "_count"],
    ),
}  # fmt: skip
"""Each metric with its type, its help and the ends of its samples."""

_PLACES = {
    name: place
    for place, name in enumerate(
        f"{family}{end}" for family, (_, _, ends) in _FAMILIES.items() for end in ends
    )
}
_FIRST_BUCKET, _SUM, _COUNT = (
    _PLACES[f"{_SECONDS}{end}"] for end in (f'_bucket{{le="{_BUCKETS[0]:g}"}}', "_sum", "_count")
)
"""In a file, a bucket has the latencies above the bound before; in the text, all up to its own bound."""


class Counters:
    """The counts of this process, and the sums over all that share a folder; for one thread.

    Args:
        folder: has a file for each process, named by its number.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        path = folder / str(os.getpid())
        path.write_bytes(bytes(8 * len(_PLACES)))
        with path.open("r+b") as file:
            self._values = memoryview(mmap.mmap(file.fileno(), 0)).cast("d")

    def request(self, status: int) -> None:
        """Count an answered request."""
        self._values[STATUSES.index(status if status in STATUSES else 500)] += 1

    def seconds(self, seconds: float) -> None:
        """Count a request for scores that took so long."""
        self._values[_FIRST_BUCKET + bisect_left(_BUCKETS, seconds)] += 1
        self._values[_SUM] += seconds
        self._values[_COUNT] += 1

    def judged(self, outcomes: Mapping[Outcome, int], cached: int, executed: int, late: int) -> None:
        """Note what the evaluators of this process have done so far."""
        for outcome, count in outcomes.items():
            self._set(f'bird_answers_total{{outcome="{outcome}"}}', count)
        self._set('bird_texts_total{by="cache"}', cached)
        self._set('bird_texts_total{by="execution"}', executed)
        self._set("bird_late_total", late)

    def waiting(self, count: int) -> None:
        """Note how many answers this process has to judge."""
        self._set(_WAITING, count)

    def _set(self, name: str, value: float) -> None:
        self._values[_PLACES[name]] = value

    def text(self) -> str:
        """Return the sums in Prometheus' text format."""
        sums = [0.0] * len(_PLACES)
        for path in self._folder.iterdir():
            values = array("d", path.read_bytes())
            if not _is_running(int(path.name)):
                values[_PLACES[_WAITING]] = 0
            buckets = slice(_FIRST_BUCKET, _SUM)
            values[buckets] = array("d", accumulate(values[buckets]))
            sums = [one + other for one, other in zip(sums, values, strict=True)]
        return "\n".join([*_lines(sums), ""])


def _lines(sums: Sequence[float]) -> Iterator[str]:
    for family, (kind, about, ends) in _FAMILIES.items():
        yield f"# HELP {family} {about}"
        yield f"# TYPE {family} {kind}"
        yield from (f"{family}{end} {sums[_PLACES[f'{family}{end}']]:.15g}" for end in ends)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # the number is somebody else's by now
        return False
    return True

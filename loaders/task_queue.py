"""What does tasks, as a load sees it, and the tasks that wait."""

import heapq
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Protocol

from loaders.tasks import Task

Advance = Callable[[Task[Any], int], None]
"""Told, in the thread that asks for results, how many more rows a task has sent."""


Urgency = tuple[float, float]
"""Of the tasks that wait the one with the largest is next, and of several the one that was given first."""


class Workers(Protocol):
    """Takes tasks at any time, also between two results."""

    @property
    def number(self) -> int:
        """How many tasks are done at once."""
        ...

    def give(self, task: Task[Any], urgency: Urgency) -> None:
        """Have a task done."""
        ...

    def results(self, advance: Advance) -> Iterator[tuple[Task[Any], Any]]:
        """Each task with its result, as they finish, until none is left.

        Raises:
            HarnessError: a task raised it, or its process died.
        """
        ...

    def end(self) -> None:
        """End what is under way; nothing can be given any more. May be called twice."""
        ...


class TaskQueue:
    """Tasks by urgency."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, float, int, Task[Any]]] = []
        self._numbers = count()

    def put(self, task: Task[Any], urgency: Urgency) -> None:
        """Have it wait."""
        heapq.heappush(self._heap, (-urgency[0], -urgency[1], next(self._numbers), task))

    def take(self) -> Task[Any]:
        """The one that is next."""
        return heapq.heappop(self._heap)[-1]

    def __len__(self) -> int:
        return len(self._heap)

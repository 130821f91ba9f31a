"""Work on a SQLite file that several connections share. SQLite computes without Python's lock."""

import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Part = TypeVar("_Part")
_Found = TypeVar("_Found")


def each(
    connections: Sequence[sqlite3.Connection],
    do: Callable[[sqlite3.Connection, _Part], _Found],
    parts: Sequence[_Part],
    weights: Sequence[int],
) -> list[_Found]:
    """Do something for each part, on all connections at once, and return what comes in their order."""
    shares: list[list[int]] = [[] for _ in connections]
    loads = [0] * len(connections)
    for number in sorted(range(len(parts)), key=lambda number: -weights[number]):
        least = loads.index(min(loads))
        loads[least] += weights[number]
        shares[least].append(number)

    def work(connection: sqlite3.Connection, share: Sequence[int]) -> dict[int, _Found]:
        return {number: do(connection, parts[number]) for number in share}

    if len(connections) == 1:
        done = work(connections[0], shares[0])
        return [done[number] for number in range(len(parts))]
    with ThreadPoolExecutor(len(connections)) as pool:
        try:
            waiting = [pool.submit(work, *each) for each in zip(connections, shares, strict=True)]
            done = {number: found for some in waiting for number, found in some.result().items()}
        except BaseException:
            for connection in connections:
                connection.interrupt()
            raise
    return [done[number] for number in range(len(parts))]

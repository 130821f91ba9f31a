"""What a run of the tests says at its end: what it ran on, and what took longest."""

from collections import defaultdict
from collections.abc import Iterable

MOST = 12


def ran_on(servers: Iterable[str]) -> str:
    """The engines of a run, each once: `mysql 9.7.4, native` for every process that started one."""
    named = sorted(set(servers))
    return f"RAN ON: {'; '.join(named) if named else 'no server'}"


def longest(durations: Iterable[tuple[str, float]]) -> list[str]:
    """The modules that took longest, and the share of all time that they took.

    Args:
        durations: node ids of tests, and the seconds of a phase of each.
    """
    modules: defaultdict[str, float] = defaultdict(float)
    for name, seconds in durations:
        modules[name.partition("::")[0]] += seconds
    whole = sum(modules.values())
    slow = sorted(modules.items(), key=lambda each: each[1], reverse=True)[:MOST]
    return [f"LONGEST: {took:5.0f} s, {took / whole:3.0%}  {name}" for name, took in slow if took >= 1]

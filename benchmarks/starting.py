"""What a command takes before it does anything: CPU time of `--version`, `--help` and the help of `eval`.

The peers are Python itself, which runs nothing, and `pytest --version`; all in turn, so that what else the
machine does meets all of them. CPU time is that of the process, in user and kernel mode together.

    python -m benchmarks.starting
"""

import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from benchmarks import options

_PYTHON = "python -c pass"
_PYTEST = "pytest --version"
_STARTED: Mapping[str, Sequence[str]] = {
    _PYTHON: ("-c", "pass"),
    _PYTEST: ("-m", "pytest", "--version"),
    "bird-harness --version": ("-m", "harness", "--version"),
    "bird-harness --help": ("-m", "harness", "--help"),
    "bird-harness eval --help": ("-m", "harness", "eval", "--help"),
}


def main(runs: options.Runs = 9) -> None:
    """Print each median, and a row for docs/measurements/performance.md with the ratios to the peers."""
    found: dict[str, list[float]] = {name: [] for name in _STARTED}
    for _ in range(runs):
        for name, arguments in _STARTED.items():
            found[name].append(cpu_seconds([sys.executable, *arguments]))
    medians = {name: statistics.median(times) for name, times in found.items()}
    for name, seconds in medians.items():
        print(f"{name}: {seconds:.3f} s of CPU", flush=True)
    options.print_row(
        {
            f"{name}, x {peer}": f"{medians[name] / medians[peer]:.2f}"
            for name in medians
            if name not in {_PYTHON, _PYTEST}
            for peer in (_PYTHON, _PYTEST)
        }
    )


def cpu_seconds(command: Sequence[str]) -> float:
    """The CPU time of one run of a command, in user and kernel mode, in seconds.

    Raises:
        subprocess.CalledProcessError: the command fails.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=Path(__file__).parents[1], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


if __name__ == "__main__":
    typer.run(main)

"""Whole runs of `bird-harness` and of pytest, watched from outside: what they say, hold, write and leave."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

from benchmarks.memory import below, peak
from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.engines.execution import Ending
from harness.provision import dsn
from loaders.server import Server
from tests.engines.hostile.cases import Hostile
from tests.harness.pytest_plugin.running import WITHOUT

SECONDS = 1
"""What a prediction and its gold may take."""

PATIENCE = 240
"""Seconds after which a run hangs."""

OUTCOMES: Mapping[Ending, frozenset[Outcome]] = {
    Ending.ROWS: frozenset({Outcome.MATCH, Outcome.MISMATCH}),
    Ending.ERROR: frozenset({Outcome.PREDICTION_ERROR}),
    Ending.TIMEOUT: frozenset({Outcome.PREDICTION_TIMEOUT}),
    Ending.TOO_LARGE: frozenset({Outcome.PREDICTION_TOO_LARGE}),
}


def allowed(case: Hostile) -> frozenset[Outcome]:
    """The outcomes that a case may have: never one that is somebody else's fault."""
    return frozenset().union(*(OUTCOMES[ending] for ending in case.endings))


@dataclass(frozen=True)
class Done:
    """What came of a command: exit code, output, peak of its own memory in MB, who was left running."""

    code: int
    said: str
    megabytes: float
    left: Sequence[int]


@dataclass(frozen=True)
class Place:
    """Where commands run: a folder, with the servers and the store that they find.

    `kept` names processes that a command may start and that go on after it, such as a server's.
    """

    folder: Path
    servers: Sequence[Server] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    patience: float = PATIENCE
    kept: Callable[[], Iterable[int]] = tuple

    def harness(self, *arguments: str) -> Done:
        """Run `bird-harness`."""
        return self._run("-P", "-m", "harness", *arguments)

    def pytest(self, *arguments: str) -> Done:
        """Run pytest with the plugin, as users have it."""
        return self._run(
            "-m", "pytest", *WITHOUT, "-c", os.devnull, "--rootdir", str(self.folder), *arguments
        )

    def _run(self, *arguments: str) -> Done:
        said = self.folder / "said.txt"
        with said.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        megabytes, seen, until = 0.0, set[int](), time.monotonic() + self.patience
        while process.poll() is None and time.monotonic() < until:
            megabytes = max(megabytes, peak(process.pid))
            seen.update(below(process.pid))
            time.sleep(0.1)  # looking takes milliseconds of a core that the run could have
        if process.poll() is None:
            _end([process.pid, *seen.difference(self.kept())])
        code = process.wait()
        left = _remaining(seen.difference(self.kept()))
        _end(left)
        return Done(code, said.read_bytes().decode(errors="replace"), megabytes, left)

    def _environment(self) -> Mapping[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("BIRD_", "PYTEST_"))
        }
        kept |= {"BIRD_PROVISION": "dsn", "BIRD_STATE": str(self.folder / "state"), "COLUMNS": "120"}
        kept["BIRD_STORE"] = str(self.folder / "store.sqlite")
        for server in self.servers:
            address = f"{server.user}:{server.password}@{server.address}"
            kept[dsn.variable(server.dialect)] = f"{server.dialect}://{address}"
        return {**kept, **self.environment}


def _remaining(processes: Iterable[int]) -> list[int]:
    """Which of them still run after a moment; a zombie does not."""
    until = time.monotonic() + 10
    while (left := [each for each in processes if _runs(each)]) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def _end(processes: Iterable[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@dataclass(frozen=True)
class Placed:
    """A case as the answer of a predictor to a question."""

    predictor: str
    question: str
    case: Hostile


def spread(cases: Iterable[Hostile], keys: Sequence[str], prefix: str) -> list[Placed]:
    """Put cases on questions in turn: a predictor of its own for each round."""
    return [
        Placed(f"{prefix}-{number // len(keys)}", keys[number % len(keys)], case)
        for number, case in enumerate(cases)
    ]


def crowd(cases: Iterable[Hostile], keys: Sequence[str], prefix: str) -> list[Placed]:
    """Put many cases on each of these questions, which workers judge side by side."""
    return [Placed(f"{prefix}-{number}", keys[number % len(keys)], case) for number, case in enumerate(cases)]


def write_lines(
    path: Path, dialect: Dialect, placed: Iterable[Placed], golds: Mapping[str, str] | None = None
) -> None:
    """A prediction file of JSON lines; `{gold}` in a text becomes the question's."""
    with path.open("w", encoding="utf-8") as file:
        for each in placed:
            sql = each.case.sql.replace("{gold}", (golds or {}).get(each.question, "SELECT 1"))
            record = {
                "question_id": each.question, "sql": sql, "predictor": each.predictor, "dialect": dialect,
            }  # fmt: skip
            file.write(json.dumps(record) + "\n")


_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What HTML may not hold as it is. https://html.spec.whatwg.org/#preprocessing-the-input-stream"""
_ON_A_TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FORMULA = re.compile(r"[=+@\t\r]|-(?![\d.])")


def faults(folder: Path) -> list[str]:
    """What others could not read of the files of a run folder."""
    found = []
    for path in sorted(folder.iterdir()):
        text = path.read_bytes().decode("utf-8")
        if path.suffix in (".html", ".md", ".tex", ".csv") and (strange := _CONTROL.search(text)):
            found.append(f"{path.name}: {strange[0]!r} at {strange.start()}")
        if path.suffix == ".html" and (wrong := _wrong_html(text)):
            found.append(f"{path.name}: {wrong}")
        if path.suffix == ".csv":
            found += [
                f"{path.name}: {cell[:50]!r} is a formula" for cell in _cells(path) if _FORMULA.match(cell)
            ]
        if path.suffix == ".json":
            json.loads(text)
        if path.suffix == ".jsonl":
            for line in text.removesuffix("\n").split("\n"):
                json.loads(line)
    return found


def _cells(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, strict=True))
    assert {len(row) for row in rows} == {len(rows[0])}, path.name
    return [cell for row in rows for cell in row]


def _wrong_html(text: str) -> str | None:
    """Scripts that a prediction brought, or ended."""
    opened, closed = len(re.findall(r"<script\b", text)), text.count("</script>")
    if opened != closed:
        return f"{opened} scripts begin, {closed} end"
    return "a prediction's script" if "<script>alert" in text else None


def junit(path: Path) -> ET.Element:
    """pytest's report as XML."""
    return ET.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314 - our own


def strange(said: str) -> list[str]:
    """What a terminal would obey, or would show in another order, instead of printing it."""
    return _ON_A_TERMINAL.findall(re.sub(r"\x1b\[[0-9;]*m", "", said))

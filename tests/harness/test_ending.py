"""Runs that Ctrl-C, SIGTERM or a full disk end, and output that nobody can read: nothing done is lost."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from harness.runs.reader import LATEST, MANIFEST, RESULTS, SUMMARY
from loaders.sample import PREDICTIONS
from tests import forked
from tests.harness.conftest import Call
from tests.harness.pytest_plugin.running import WITHOUT
from tests.reasons import Reason, skip

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

PATIENT_SECONDS = 120
ENOUGH = 4
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
EVAL = ("-m", "harness", "eval", "--dialect", "sqlite", "--no-cache", "--limit", "12", "--workers", "1")
DRIVERS = {
    "pytest": (*EVAL, "--driver", "pytest"),
    "direct": (*EVAL, "--driver", "direct"),
    "plugin": ("-m", "pytest", *WITHOUT, "-c", os.devnull, "--rootdir", ".", "--bird-dialect", "sqlite",
               "--bird-limit", "12", "--bird-no-cache", "--bird-workers", "1"),
}  # fmt: skip


def environment(**more: str) -> dict[str, str]:
    return forked.environment_without("PYTEST_") | more


SLOW = f"SELECT * FROM ({{}}) WHERE ({ENDLESS.replace('i + 1 FROM n', 'i + 1 FROM n LIMIT 2000000')}) > 0"
"""The same rows, a second later, so that a pair takes half a minute to be timed."""


def predictions(folder: Path, endless: Sequence[int] = (), instead: str = ENDLESS) -> Path:
    """The careless answers, with others in the place of some; by default such as never end."""
    texts = json.loads((PREDICTIONS / "predict_sample_careless_sqlite.json").read_text(encoding="utf-8"))
    for place in endless:
        text, *rest = texts[str(place)].split("\t----- bird -----\t")
        texts[str(place)] = "\t----- bird -----\t".join((instead.format(text), *rest))
    path = folder / "predict_sample_careless_sqlite.json"
    path.write_text(json.dumps(texts), encoding="utf-8")
    return path


def command(driver: str, path: Path, out: Path) -> list[str]:
    named = ("--bird-predictions", "--bird-out") if driver == "plugin" else ("--predictions", "--out")
    return [sys.executable, *DRIVERS[driver], named[0], str(path), named[1], str(out)]


def run_of(out: Path) -> Path:
    (folder,) = (path for path in out.iterdir() if not path.is_symlink())
    return folder


@pytest.mark.parametrize(
    ("driver", "number"),
    [("pytest", signal.SIGTERM), ("direct", signal.SIGINT), ("plugin", signal.SIGINT)],
)
def test_a_run_that_is_ended_says_how_far_it_came_and_how_it_goes_on(
    driver: str, number: signal.Signals, tmp_path: Path, call: Call
) -> None:
    out = tmp_path / "results"
    path = predictions(tmp_path, range(ENOUGH, 12))
    _, _, program, *words = command(driver, path, out)
    with forked.Running(program, *words, cwd=tmp_path, env=environment()) as process:
        until = time.monotonic() + PATIENT_SECONDS
        while len(results(out)) < ENOUGH and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(number)
        done = process.wait()
    printed = done.stdout
    assert done.returncode == (128 + number if driver != "plugin" else pytest.ExitCode.INTERRUPTED), printed
    folder = run_of(out)
    judged = sum('"harness_error"' not in line for line in results(out))
    again = f"`bird-harness eval --resume {folder}` completes it"
    lines = printed.splitlines()
    first = lines.index(f"broken off after {judged} of 12 pairs; they are in {folder}")
    plugins = f"to complete it, repeat the command with --bird-resume {folder}"
    assert lines[first + 1] == (plugins if driver == "plugin" else again)
    assert "Traceback" not in printed
    state = " ".join(call("runs", "--out", str(out))[1].split())
    assert f"broken off after {judged} of 12 pairs" in state


@pytest.mark.parametrize(
    ("driver", "number"),
    [("pytest", signal.SIGINT), ("direct", signal.SIGTERM), ("plugin", signal.SIGTERM)],
)
def test_a_run_that_is_ended_while_it_measures_leaves_no_process(
    driver: str, number: signal.Signals, tmp_path: Path
) -> None:
    out = tmp_path / "results"
    path = predictions(tmp_path, [10], SLOW)
    metrics = "--bird-metrics" if driver == "plugin" else "--metrics"
    _, _, program, *words = command(driver, path, out)
    words += [metrics, "ex,r_ves_stable"]
    with forked.Running(program, *words, cwd=tmp_path, env=environment()) as process:
        until = time.monotonic() + PATIENT_SECONDS
        while len(results(out)) < 10 and time.monotonic() < until:
            time.sleep(0.05)
        workers = children(process.pid)
        process.send_signal(number)
        done = process.wait()
    printed = done.stdout
    assert done.returncode == (128 + number if driver != "plugin" else pytest.ExitCode.INTERRUPTED), printed
    assert "broken off after 10 of 12 pairs" in printed
    assert "Traceback" not in printed
    assert workers
    assert [each for each in workers if Path(f"/proc/{each}").exists()] == []


def children(process: int) -> list[int]:
    """The processes that a process has started, and that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            if int(path.read_text(encoding="utf-8").rpartition(")")[2].split()[1]) == process:
                found.append(int(path.parent.name))
    return found


def results(out: Path) -> list[str]:
    found = list(out.glob(f"*/{RESULTS}"))
    return found[0].read_text(encoding="utf-8").splitlines() if found else []


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[Path]:
    """A small file system of its own at a folder."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        skip(Reason.NO_MOUNT, done.stderr.strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def completed(words: Sequence[str], cwd: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    """What comes of words such as `command` gives."""
    python, dash_m, program, *rest = words
    assert (python, dash_m) == (sys.executable, "-m")
    return forked.run(program, *rest, cwd=cwd, env=environment(**more), timeout=PATIENT_SECONDS)


@pytest.mark.parametrize(
    ("kilobytes", "driver"), [(4, "direct"), (12, "direct"), *((40, driver) for driver in DRIVERS)]
)
def test_a_disk_that_fills_costs_one_line_and_no_result_that_was_written(
    driver: str, kilobytes: int, tmp_path: Path
) -> None:
    path = predictions(tmp_path)
    with mounted(tmp_path / "small", "size=1m") as out:
        filler = out / "filler"
        with filler.open("wb") as file:
            file.write(b"x" * (1024 - 4 * max(1, kilobytes // 4)) * 1024)
        done = completed(command(driver, path, out), tmp_path)
        said = done.stdout + done.stderr
        assert done.returncode == 2, said
        assert "No space left on device" in said
        assert "Traceback" not in said
        assert "INTERNALERROR" not in said
        filler.unlink()
        found = [folder for folder in out.iterdir() if (folder / MANIFEST).is_file()]
        if found and "broken off" in said:
            option = "--bird-resume" if driver == "plugin" else "--resume"
            again = completed([*command(driver, path, out), option, str(run_of(out))], tmp_path)
            assert again.returncode == 0, again.stdout + again.stderr
            assert json.loads((out / LATEST / SUMMARY).read_text())["pairs"]["completed"] == 12


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_folder_that_can_only_be_read_is_refused_in_one_line(driver: str, tmp_path: Path) -> None:
    path = predictions(tmp_path)
    with mounted(tmp_path / "small", "ro") as out:
        done = completed(command(driver, path, out), tmp_path)
    code = pytest.ExitCode.USAGE_ERROR if driver == "plugin" else 2
    assert done.returncode == code, done.stdout + done.stderr
    assert "cannot be written" in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2


@pytest.mark.parametrize("below", ["", "runs"])
def test_a_file_in_the_place_of_the_folder_is_refused_in_one_line(below: str, tmp_path: Path) -> None:
    path = predictions(tmp_path)
    (tmp_path / "file").write_text("")
    done = completed(command("direct", path, tmp_path / "file" / below), tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "is not a folder" in done.stderr


@pytest.mark.parametrize(
    ("encoding", "driver"), [("latin-1", "direct"), ("ascii", "pytest"), ("ascii", "plugin")]
)
def test_an_output_that_has_not_every_character_shows_the_tables_all_the_same(
    driver: str, encoding: str, tmp_path: Path
) -> None:
    path = predictions(tmp_path)
    path = path.rename(tmp_path / "predict_sample_mod\N{LATIN SMALL LETTER E WITH ACUTE}l\u4e2d_sqlite.json")
    done = completed(command(driver, path, tmp_path / "out"), tmp_path, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "EX (%)" in done.stdout
    assert (tmp_path / "out" / LATEST / SUMMARY).is_file()


def test_a_reader_that_goes_away_ends_no_run(tmp_path: Path) -> None:
    path = predictions(tmp_path)
    words = command("pytest", path, tmp_path / "out")
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, errors = process.communicate(timeout=PATIENT_SECONDS)
    assert process.returncode == 0, errors
    assert b"Traceback" not in errors
    assert b"BrokenPipe" not in errors
    assert (tmp_path / "out" / LATEST / SUMMARY).is_file()


def test_an_output_on_a_full_disk_is_said_and_the_run_is_complete(tmp_path: Path) -> None:
    path = predictions(tmp_path)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("direct", path, tmp_path / "out"), cwd=tmp_path, env=environment(), stdout=full,
            stderr=subprocess.PIPE, text=True, timeout=PATIENT_SECONDS, check=False,
        )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert re.search(r"standard output cannot be written \(No space left on device\)\n$", done.stderr)
    assert (tmp_path / "out" / LATEST / SUMMARY).is_file()

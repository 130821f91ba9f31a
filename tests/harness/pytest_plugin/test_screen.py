"""What a run shows on a terminal: bars while it goes on, and one table at its end."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from itertools import count
from pathlib import Path

import pytest
from rich.console import Console

from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.data.set_manifest import PUBLISHED
from harness.report.console import Bars
from harness.report.documents import scores_of
from harness.report.overview import print_scores
from harness.runs.reader import LATEST, Run, read_run
from harness.runs.summary import Score, summarize
from tests.forked import environment_without

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_CONTROL = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]")


def on_terminal(*args: str, cwd: Path, columns: int = 80) -> tuple[int, str]:
    """Run the command on a terminal of that width; its exit code, and all that was sent to the terminal."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    kept = environment_without("PYTEST_", "NO_COLOR")
    with subprocess.Popen(
        [sys.executable, "-m", "harness", *args],
        cwd=cwd, env={**kept, "TERM": "xterm-256color"}, stdin=its, stdout=its, stderr=its,
    ) as process:  # fmt: skip
        os.close(its)
        sent = b""
        while True:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # nobody has the other end any more
                break
            if not piece:
                break
            sent += piece
    os.close(ours)
    return process.returncode, sent.decode().replace("\r\n", "\n")


def left_on_screen(sent: str) -> str:
    """What stays when the bars are gone, without styles."""
    return _CONTROL.sub("", sent.rpartition("\x1b[2K")[2])


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """All that `eval` of the sample on SQLite sends to a terminal, and the folder it was called in."""
    cwd = tmp_path_factory.mktemp("shown")
    code, sent = on_terminal("eval", "--dialect", "sqlite", "--no-cache", cwd=cwd)
    assert code == 0, sent
    return sent, cwd


LAST_SCREEN = """\
Totals (%)

                     SQLite
 predictor               EX   Soft-F1
 ────────────────────────────────────
 every-fifth-wrong    80.30     80.30
 careless             53.03     55.30

6 of 66 answers of careless on SQLite are in Markdown fences and fail as they
are; to score what is in them: --extract fences
run folder: results/RUN
report: results/RUN/report.html
"""


@pytest.mark.slow
def test_a_run_on_a_terminal_ends_with_one_table_and_where_the_rest_is(shown: tuple[str, Path]) -> None:
    sent, cwd = shown
    run_id = (cwd / "results" / LATEST).readlink().name
    assert left_on_screen(sent).replace(run_id, "RUN") == LAST_SCREEN
    assert (cwd / "results" / LATEST / "tables.md").exists()


def test_bars_take_the_place_of_dots_and_sections(shown: tuple[str, Path]) -> None:
    sent = _STYLE.sub("", shown[0])
    assert "test session starts" not in sent
    assert "passed" not in sent
    stages = [sent.find(words) for words in ("collecting", "0/132", "132/132", "writing the reports")]
    assert stages == sorted(stages)
    assert stages[0] > 0
    assert re.search(r"SQLite +━+ 132/132 +[0-9.,]+/s +0:00:00 +EX 66.7", sent)


def test_only_the_best_of_a_column_is_bold(shown: tuple[str, Path]) -> None:
    last = shown[0].rpartition("\x1b[2K")[2]
    assert re.search(r"\x1b\[1m *80\.30\x1b\[0m", last)
    assert not re.search(r"\x1b\[1m *5[35]\.", last)


def _everywhere(run: Run) -> list[Score]:
    """The scores of a run as if each engine had them."""
    results = [replace(result, dialect=dialect) for dialect in PUBLISHED for result in run.results]
    return summarize(results, ["ex", "soft_f1"])


TOTALS = """\
Totals (%)

                     SQLite             MySQL             PostgreSQL
 predictor               EX   Soft-F1      EX   Soft-F1           EX   Soft-F1
 ─────────────────────────────────────────────────────────────────────────────
 every-fifth-wrong    80.30     80.30   80.30     80.30        80.30     80.30
 careless             53.03     55.30   53.03     55.30        53.03     55.30
"""


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_three_engines_stand_side_by_side_at_any_width(shown: tuple[str, Path], columns: int) -> None:
    scores = _everywhere(read_run(shown[1] / "results" / LATEST))
    printed = _printed(scores, columns)
    table, _, hints = printed.partition("\n\n6 of 66")
    assert table + "\n" == TOTALS
    assert " ".join(hints.split()).count("--extract fences") == len(PUBLISHED)
    assert max(map(len, printed.splitlines())) <= columns


def _printed(scores: Sequence[Score], columns: int, *, everything: bool | None = None) -> str:
    file = StringIO()
    console = Console(file=file, width=columns, force_terminal=True, color_system=None)
    print_scores(scores, ["ex", "soft_f1"], everything=everything, console=console)
    return _CONTROL.sub("", file.getvalue())


def test_all_tables_can_be_had_and_what_is_too_wide_is_cut_into_engines(shown: tuple[str, Path]) -> None:
    scores = _everywhere(read_run(shown[1] / "results" / LATEST))
    assert "Error classes" in _printed(scores, 80, everything=True)
    assert "Error classes" not in _printed(scores, 80)
    narrow = _printed(scores, 44)
    folded = _printed([replace(each, predictor=5 * each.predictor) for each in scores], 80)
    assert (folded.count("Totals"), folded.count("PostgreSQL\n")) == (1, 1), "labels fold, engines stay"
    assert [narrow.count(name) for name in ("Totals", "  MySQL\n", "  PostgreSQL\n")] == [3, 1, 1]


def test_what_comes_first_has_the_highest_figure_and_what_was_not_scored_comes_last(
    shown: tuple[str, Path],
) -> None:
    run = read_run(shown[1] / "results" / LATEST)
    [careless, better] = scores_of(run)
    elsewhere = replace(better, predictor="elsewhere", dialect=Dialect.MYSQL)
    lines = _printed([elsewhere, careless, better], 80).splitlines()
    names = [line.split()[0] for line in lines if re.search(r"\d\d\.\d\d", line)]
    assert names == ["every-fifth-wrong", "careless", "elsewhere"]


def _bars(columns: int) -> str:
    """The bars of a run in its third second, with two engines and an earlier part."""
    ticks = count()
    file = StringIO()
    console = Console(file=file, width=columns, force_terminal=True, color_system=None)
    bars = Bars(console, clock=lambda: next(ticks) / 100)
    engines = [Dialect.SQLITE] * 4000 + [Dialect.POSTGRESQL] * 2000
    bars.judge(engines, [(Dialect.SQLITE, Outcome.MATCH)] * 500)
    for number in range(150):
        bars.judged(Dialect.SQLITE, Outcome.MISMATCH if number % 2 else Outcome.MATCH)
    bars.judged(Dialect.POSTGRESQL, Outcome.GOLD_ERROR)
    console.print(bars.progress.get_renderable())
    return _CONTROL.sub("", file.getvalue())


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_bars_have_counts_rates_times_and_scores_at_any_width(columns: int) -> None:
    lines = _bars(columns).splitlines()
    assert [line.split()[0] for line in lines] == ["SQLite", "PostgreSQL", "all"]
    assert all(len(line) <= columns for line in lines)
    assert re.fullmatch(r"SQLite +[━╸╺ ]+   650/4,000 +\d+/s 0:\d\d:\d\d EX 88.5 *", lines[0])
    assert "1/2,000" in lines[1]
    assert "EX 0.0" in lines[1]
    assert re.fullmatch(r"all engines +[━╸╺ ]+   651/6,000 +\d+/s 0:\d\d:\d\d EX 88.3 *", lines[2])


def test_nothing_is_shown_where_nobody_looks() -> None:
    file = StringIO()
    with Bars(Console(file=file)) as bars:
        bars.stage("collecting", 2)
        bars.advance(2)
        bars.judge([Dialect.SQLITE])
        bars.judged(Dialect.SQLITE, Outcome.MATCH)
    assert file.getvalue() == ""

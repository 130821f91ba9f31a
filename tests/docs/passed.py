"""The modules that one prediction passes on its way to `summary.json`: `python -m tests.docs.passed`.

One question of the sample is scored on SQLite by EX, without a cache and without reports. Counted are the
modules of the project of which a function runs then: what reads files and writes the run folder, and what
judges. A worker judges; it is done here once more, announced as in a worker, to be seen.
"""

import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from mmap import mmap
from pathlib import Path
from types import FrameType

from rich.console import Console

from dialects.enums import Dialect
from harness.engines.execution import Limits
from harness.scoring.judge import Judge
from harness.scoring.tasks import JudgeTask, Setup
from harness.scoring.worker_process import NOTE_BYTES, Announcer
from harness.session.evaluation import run
from harness.session.plan import prepare
from harness.session.request import Request

ROOT = Path(__file__).parents[2]


@contextmanager
def noted(files: set[str]) -> Iterator[None]:
    """Note the files of functions that are called in this context, whatever thread calls them."""

    def note(frame: FrameType, event: str, argument: object) -> None:
        del argument
        # The bodies of modules and classes run at an import, which may have been earlier.
        if event == "call" and frame.f_code.co_flags & CO_OPTIMIZED:
            files.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def passed(out: Path) -> list[str]:
    """The modules, by their paths.

    Args:
        out: parent of the run folder.
    """
    request = Request(
        keys=("1",), dialects=[Dialect.SQLITE], metrics=("ex",), workers=1, report=False, cache=False, out=out
    )
    # Before it is counted, once more: decorators and tables run at the first import of a module.
    _score(request)
    files: set[str] = set()
    with noted(files):
        _score(request)
    libraries = [str(ROOT / name) + "/" for name in ("harness", "loaders", "dialects")]
    own = [file for file in files if file.startswith(tuple(libraries))]
    return sorted(str(Path(file).relative_to(ROOT)) for file in own)


def _score(request: Request) -> None:
    """Score one question, and judge an answer to it in this process."""
    with prepare(request, say=lambda _line: None) as plan:
        run(plan, Console(quiet=True), "eval")
        setup = Setup(plan.questions, {Dialect.SQLITE: ()}, limits=Limits(), metrics=("ex",))
        (question,) = plan.questions.questions
        # A supervisor reads what is announced only if a worker is silent for a while.
        announcer = Announcer(mmap(-1, NOTE_BYTES))
        judge = Judge(setup, setup.engines(0), announcer.announce)
        judge.judge(JudgeTask(Dialect.SQLITE, question, ("SELECT 1",)))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(len(passed(Path(folder))))  # noqa: T201 - what it is for

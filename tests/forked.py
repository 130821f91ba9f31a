"""Commands of ours, pytest and scripts, in processes forked from one in which they are imported already.

To import the harness takes longer than most of what a test has a command do. The first command starts a
process that imports all of it; each command is a fork of that one, with words, folder, environment, streams
and exit code of its own. At its end it runs what was registered for that, but clears no modules, which takes
longer than most commands. A test that looks at starting, importing and clearing, or at two processes whose
hashes differ, starts its own by `subprocess`.
"""

import atexit
import gc
import importlib
import os
import pickle
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryFile
from typing import IO, Any, NoReturn, Self

ROOT = Path(__file__).parents[1]

_IMPORTED = tuple(
    f"harness.{room}" for room in ("cli", "engines", "pytest_plugin", "report", "runs", "session")
)
"""Packages, all of whose modules are imported before anything is forked, with what they import in turn."""

_IN_TURN = (
    "numpy.random",
    "pdb",
    "psycopg",
    "pymysql.cursors",
    "scipy.stats",
    "sqlglot.dialects.mysql",
    "sqlglot.dialects.postgres",
    "sqlglot.dialects.sqlite",
    "sqlglot.optimizer",
    "typer._adapters",
    "unittest",
    "xml.etree.ElementTree",
)
"""What most commands import only when they come to need it."""

_BY_WORD = {"openai:": "openai"}
"""What few commands need and takes a second to import, by how a word of theirs begins."""

_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""In which the process that commands are forked from is started, whatever a test has changed by then.

`tests/conftest.py` takes that one variable away, but after it has imported this module.
"""

_AT_START = (
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "LANG",
    "LC_",
    "OPENBLAS_",
    "PYTHON",
    "PY_COLORS",
    "TERMINAL_WIDTH",
)
"""What is looked at when Python starts or a module is imported: where it differs, a process is started."""

LONGEST_SECONDS = 300

_MOST = 2**17
"""Bytes of words and environment."""


def run(
    program: str,
    *arguments: str,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = LONGEST_SECONDS,
) -> "subprocess.CompletedProcess[str]":
    """What comes of `python -m PROGRAM ARGUMENTS`, as `subprocess.run` tells it; output and errors are text.

    Args:
        program: `harness` or `pytest`, a module below `cwd`, or the path of a script.
        arguments: its own.
        cwd: the folder in which it runs; this process's unless told otherwise.
        env: its environment; this process's unless told otherwise.
        timeout: seconds after which it is killed and `subprocess.TimeoutExpired` is raised.
    """
    command = _command(program, arguments)
    given = _alone(os.environ if env is None else env)
    if _at_start(given) != _at_start(_ENVIRONMENT):
        return subprocess.run(
            command, cwd=cwd, env=given, capture_output=True, encoding="utf-8", errors="replace",
            timeout=timeout, check=False,
        )  # fmt: skip
    with TemporaryFile() as output, TemporaryFile() as errors:
        streams = (output.fileno(), errors.fileno())
        code = _nursery().run([program, *arguments], str(cwd or Path.cwd()), given, streams, timeout)
        said = []
        for stream in (output, errors):
            stream.seek(0)
            said.append(stream.read().decode(errors="replace").replace("\r\n", "\n"))
    if code is None:
        raise subprocess.TimeoutExpired(command, timeout, *said)
    return subprocess.CompletedProcess(command, code, *said)


def environment_without(*beginnings: str) -> dict[str, str]:
    """Of the environment, the variables whose names begin otherwise."""
    return {name: value for name, value in os.environ.items() if not name.startswith(beginnings)}


def _alone(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with the tests' own folders where it has none: never with the user's."""
    return {name: os.environ[name] for name in _FOLDERS if name in os.environ} | dict(environment)


_FOLDERS = ("BIRD_CACHE", "BIRD_STATE", "COMPOSE_ENV_FILES")


class Running:
    """`python -m PROGRAM ARGUMENTS` while it runs, for tests that send it a signal: one at a time.

    Its errors go where its output goes. Leaving the context kills it if it still runs.
    """

    pid: int

    def __init__(self, program: str, *arguments: str, cwd: Path, env: Mapping[str, str]) -> None:
        env = _alone(env)
        self._command = _command(program, arguments)
        self._output = TemporaryFile()  # noqa: SIM115 - closed where the context is left
        self._code: int | None = None
        told: SimpleQueue[int] = SimpleQueue()

        def run() -> None:
            if _at_start(env) != _at_start(_ENVIRONMENT):
                self._code = _started(self._command, cwd, env, self._output, told.put)
                return
            streams = (self._output.fileno(),) * 2
            request = ([program, *arguments], str(cwd), env, streams, LONGEST_SECONDS)
            self._code = _nursery().run(*request, told.put)

        self._thread = threading.Thread(target=run)
        self._thread.start()
        self.pid = told.get(timeout=LONGEST_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.send_signal(signal.SIGKILL)
        self._thread.join()
        self._output.close()

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal; none if it has ended."""
        if self.is_running:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def wait(self) -> "subprocess.CompletedProcess[str]":
        """What has come of it when it has ended, with all that it has written as its output.

        Raises:
            subprocess.TimeoutExpired: it had to be killed.
        """
        self._thread.join()
        self._output.seek(0)
        said = self._output.read().decode(errors="replace")
        if self._code is None:
            raise subprocess.TimeoutExpired(self._command, LONGEST_SECONDS, said)
        return subprocess.CompletedProcess(self._command, self._code, said, "")


def _started(
    command: list[str], cwd: Path, env: Mapping[str, str], output: IO[bytes], begun: Callable[[int], None]
) -> int | None:
    """As `_Nursery.run`, of a process that is started."""
    with subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
    ) as process:
        begun(process.pid)
        try:
            return process.wait(LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return None


def _command(program: str, arguments: Sequence[str]) -> list[str]:
    return [sys.executable, *([] if _is_script(program) else ["-m"]), program, *arguments]


def _is_script(program: str) -> bool:
    return program.endswith(".py")


def _at_start(environment: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_AT_START)}


class _Nursery:
    """The process of which commands are forks; it ends with this one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forked", str(theirs.fileno())],
                cwd=ROOT, env=_ENVIRONMENT, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
            )  # fmt: skip

    def run(  # noqa: PLR0913, PLR0917 - what a process is
        self,
        words: list[str],
        cwd: str,
        env: Mapping[str, str],
        streams: tuple[int, ...],
        seconds: float,
        begun: Callable[[int], None] = lambda _pid: None,
    ) -> int | None:
        """The exit code; None if it had to be killed. `begun` is told the process id."""
        with self._lock:
            socket.send_fds(self._socket, [pickle.dumps((words, cwd, env))], streams)
            pid = self._answer()
            begun(pid)
            self._socket.settimeout(seconds)
            try:
                return self._answer()
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._socket.settimeout(None)
                self._answer()
                return None
            finally:
                self._socket.settimeout(None)

    def _answer(self) -> int:
        said = self._socket.recv(_MOST)
        assert said, "the process that commands are forked from has ended"
        answer = pickle.loads(said)  # noqa: S301 - from our own process
        assert isinstance(answer, int)
        return answer

    def close(self) -> None:
        """End the process, once what it runs has ended."""
        self._socket.close()
        self._process.wait()


@cache
def _nursery() -> _Nursery:
    return _Nursery()


def close() -> None:
    """End the process that commands are forked from, if there is one."""
    if _nursery.cache_info().currsize:
        _nursery().close()
        _nursery.cache_clear()


def _serve(descriptor: int) -> None:
    """Fork at every request; return in the fork, which is the command then."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in _IMPORTED:
        package = importlib.import_module(name)
        for each in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(each.name)
    for name in _IN_TURN:
        importlib.import_module(name)
    assert threading.active_count() == 1, "a fork has the thread alone that forks"
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=descriptor) as asked:
        while True:
            request, streams, _, _ = socket.recv_fds(asked, _MOST, 2)
            if not request:
                os._exit(0)
            words, cwd, environment = pickle.loads(request)  # noqa: S301 - from the tests
            for begin in (begin for begin in _BY_WORD if any(word.startswith(begin) for word in words)):
                importlib.import_module(_BY_WORD[begin])
            pid = os.fork()
            if not pid:
                break
            for stream in streams:
                os.close(stream)
            asked.send(pickle.dumps(pid))
            _, status = os.waitpid(pid, 0)
            asked.send(pickle.dumps(os.waitstatus_to_exitcode(status)))
    _become(words, cwd, environment, streams)


def _become(words: list[str], cwd: str, environment: Mapping[str, str], streams: list[int]) -> None:
    """Make of this process one that has just been started so."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    for stream, (name, target) in zip(streams, (("stdout", 1), ("stderr", 2)), strict=True):
        os.dup2(stream, target)
        os.close(stream)
        kind: dict[str, Any] = {"errors": "backslashreplace", "buffering": 1} if name == "stderr" else {}
        setattr(sys, name, os.fdopen(target, "w", closefd=False, **kind))
        setattr(sys, f"__{name}__", getattr(sys, name))
    sys.argv = words
    sys.path[0] = str(Path(words[0]).parent) if _is_script(words[0]) else cwd
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    importlib.invalidate_caches()
    # pytest complains of modules that it would have rewritten as they were imported, unless they say this.
    for name in ("anyio", "harness"):
        if (module := sys.modules.get(name)) is not None:
            module.__doc__ = f"{module.__doc__} PYTEST_DONT_REWRITE"


def _run_and_end(program: str) -> NoReturn:
    """Run what this process has become, and end as Python does, without clearing the modules."""
    code: object = None
    try:
        if _is_script(program):
            runpy.run_path(program, run_name="__main__")
        else:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code
    if code is not None and not isinstance(code, int):
        sys.exit(str(code))
    threading._shutdown()  # type: ignore[attr-defined] # waits for threads, which may print
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit((code or 0) & 0xFF)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
    _run_and_end(sys.argv[0])

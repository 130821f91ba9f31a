"""Commands as real processes: what each behaviour comes to, and that none is left."""

import json
import os
import shlex
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialects.errors import BadInput
from harness.labs.predict.budget import CLOSED, Budget, Meter
from harness.labs.predict.commands import MOST_DEATHS, CommandPredictor
from harness.labs.predict.settings import Settings
from harness.predictors.base import Ask, BudgetSpent, PredictorBroken, Reply, RequestFailed, Usage
from tests.harness.predictors.making import ask

pytestmark = pytest.mark.slow

PROGRAM = r"""
import json, os, signal, subprocess, sys, time
from pathlib import Path
me = Path(sys.argv[1])
with (me / "started").open("a") as file:
    file.write(f"{os.getpid()}\n")
starts = len((me / "started").read_text().split())

def say(**answer):
    print(json.dumps({"id": asked["id"], **answer}), flush=True)

for line in sys.stdin:
    asked = json.loads(line)
    with (me / "asked").open("a") as file:
        file.write(line)
    code = asked["messages"][-1]["content"]
    exec(code)
"""
"""Does what the last message says, which is Python."""

SQL = "say(sql='SELECT 1')"
USAGE = {"requests": 2, "prompt_tokens": 9, "completion_tokens": 3}


@pytest.fixture
def me(tmp_path: Path) -> Path:
    """The program's folder: what it was asked, and the numbers of its processes."""
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "started").touch()
    return tmp_path


def told(code: str, question: str = "1") -> Ask:
    one = ask(question)
    return replace(one, messages=(replace(one.messages[0], content=code),))


def started(me: Path) -> list[int]:
    return [int(number) for number in (me / "started").read_text().split()]


def alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def running(me: Path, meter: Meter | None = None, **settings: Any) -> Iterator[CommandPredictor]:
    command = shlex.join([sys.executable, str(me / "program.py"), str(me)])
    given = Settings(**{"concurrency": 1, "timeout": 30.0, **settings})
    predictor = CommandPredictor(command, given, meter or Meter())
    try:
        yield predictor
    finally:
        predictor.close()
        assert [number for number in started(me) if alive(number)] == []


def failed(predictor: CommandPredictor, code: str) -> RequestFailed:
    with pytest.raises(RequestFailed) as raised:
        predictor.ask(told(code))
    assert "\n" not in raised.value.reason
    return raised.value


def test_an_ask_is_one_line_with_all_that_may_be_known(me: Path) -> None:
    with running(me) as predictor:
        predictor.ask(told(SQL))
    assert json.loads((me / "asked").read_text()) == {
        "id": "id-1-0",
        "question": "1",
        "db_id": "shop",
        "dialect": "sqlite",
        "text": "How many?",
        "evidence": "",
        "schema": ["CREATE TABLE t (a INTEGER)"],
        "messages": [{"role": "user", "content": SQL}],
        "stage": "sql",
        "sample": 0,
    }


@pytest.mark.parametrize(
    ("code", "reply"),
    [
        (SQL, Reply("SELECT 1", Usage(1))),
        ("say(text='Well: SELECT 1')", Reply("Well: SELECT 1", Usage(1))),
        ("say(sql='')", Reply("", Usage(1))),
        ("say(sql='żółć \\ud83d')", Reply("żółć \ufffd", Usage(1))),
        (
            f"say(sql='x', usage={USAGE}, finish='length', model='m')",
            Reply("x", Usage(2, 9, 3), "length", "m"),
        ),
        ("say(sql='x', usage={'prompt_tokens': 'many'}, finish=1)", Reply("x", Usage(1))),
        ("print(json.dumps({'id': asked['id'], 'sql': 'not flushed'}))", Reply("not flushed", Usage(1))),
        ("say(sql='x' * 1_000_000)", Reply("x" * 1_000_000, Usage(1))),
        ("sys.stderr.write('noise ' * 500_000); say(sql='x')", Reply("x", Usage(1))),
    ],
)
def test_an_answer_is_given_as_it_came(me: Path, code: str, reply: Reply) -> None:
    with running(me) as predictor:
        assert predictor.ask(told(code)) == reply


def test_a_line_of_any_length_can_be_asked(me: Path) -> None:
    with running(me) as predictor:
        assert predictor.ask(told(f"say(sql='x')  # {'y' * 3_000_000}")).text == "x"


def test_a_process_is_kept_running(me: Path) -> None:
    with running(me) as predictor:
        numbers = {predictor.ask(told("say(text=str(os.getpid()))")).text for _ in range(5)}
    assert numbers == {str(number) for number in started(me)}
    assert len(numbers) == 1


@pytest.mark.parametrize(
    ("code", "reason", "restarts"),
    [
        ("say(error='no idea')", "the command reports: no idea", 0),
        ("say(error={'a': 1})", 'the command reports: {"a": 1}', 0),
        ("say(sql=None)", "the command gave no answer (neither `sql` nor `text`)", 0),
        ("say()", "the command gave no answer (neither `sql` nor `text`)", 0),
        ("say(sql=7)", "an answer must be a string", 1),
        (
            "print('Loading the model ...', flush=True)",
            "a line on stdout is not JSON: Loading the model ...",
            1,
        ),
        ("print('[' * 100_000, flush=True)", "a line on stdout is not JSON: [[[", 1),
        (
            "sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()",
            "a line on stdout is not JSON: \ufffd",
            1,
        ),
        ("print('[1]', flush=True)", "a line on stdout does not answer the ask", 1),
        ("asked['id'] = 'other'; say(sql='x')", "a line on stdout does not answer the ask", 1),
        ("say(sql='x' * 17_000_000)", "the answer has more than 16777216 bytes in one line", 1),
    ],
)
def test_what_is_no_answer_fails_this_ask_and_no_other(
    me: Path, code: str, reason: str, restarts: int
) -> None:
    meter = Meter()
    with running(me, meter) as predictor:
        predictor.ask(told(SQL))
        failure = failed(predictor, code)
        assert reason in failure.reason
        assert failure.usage == Usage(1)
        assert predictor.ask(told(SQL)).text == "SELECT 1"
    assert len(started(me)) == 1 + restarts
    assert meter.snapshot().requests == 3


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("time.sleep(60)", "; nothing on stdout: the program must flush its output"),
        (
            "sys.stdout.write('half a line'); sys.stdout.flush(); time.sleep(60)",
            "; an unfinished line: half a line",
        ),
        ("os.close(0); time.sleep(60)", "; nothing on stdout"),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)", "; nothing on stdout"),
    ],
)
def test_who_does_not_answer_in_time_is_killed(me: Path, code: str, seen: str) -> None:
    with running(me, timeout=0.5) as predictor:
        predictor.ask(told(SQL))
        assert f"no answer within 0.5 s{seen}" in failed(predictor, code).reason
        assert not alive(started(me)[0])
        assert predictor.ask(told(SQL)).text == "SELECT 1"


def test_a_line_that_nobody_asked_for_is_told_of(me: Path) -> None:
    with running(me) as predictor:
        both = "sys.stdout.write(json.dumps({'id': asked['id'], 'sql': 'x'}) + '\\nAll done\\n')"
        assert predictor.ask(told(both)).text == "x"
        assert "more than one line on stdout for an ask: All done" in failed(predictor, SQL).reason
        assert predictor.ask(told(SQL)).text == "SELECT 1"


@pytest.mark.parametrize(
    "code",
    [
        "say(error='refused: ' + os.environ['MY_API_KEY'])",
        "say(error='x' * 120 + os.environ['MY_API_KEY'] + 'x' * 9999)",
        "sys.stderr.write(os.environ['MY_API_KEY'] * 900 + '\\n' + os.environ['MY_API_KEY']); os._exit(1)",
        "print(os.environ['MY_API_KEY'])",
        "sys.exit('refused: ' + os.environ['MY_API_KEY'])",
        "sys.stdout.write(os.environ['MY_API_KEY']); sys.stdout.flush(); time.sleep(60)",
    ],
)
def test_keys_of_the_environment_are_in_no_reason(
    me: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    monkeypatch.setenv("MY_API_KEY", "key-0123456789")
    with running(me, timeout=0.5) as predictor:
        predictor.ask(told(SQL))
        reason = failed(predictor, code).reason
    assert "[key]" in reason
    assert "0123456789" not in reason


def test_the_first_answer_may_take_longer(me: Path) -> None:
    with running(me, timeout=0.3, start_timeout=30.0) as predictor:
        predictor.ask(told("time.sleep(0.6); " + SQL))
        failed(predictor, "time.sleep(0.6); " + SQL)


def test_what_it_started_is_killed_with_it(me: Path) -> None:
    child = "child = subprocess.Popen(['sleep', '60']); "
    with running(me, timeout=0.5) as predictor:
        numbers = [int(predictor.ask(told(child + "say(text=str(child.pid))")).text)]
        (me / "child").touch()
        failed(predictor, child + f"open({str(me / 'child')!r}, 'w').write(str(child.pid)); time.sleep(60)")
        numbers.append(int((me / "child").read_text()))
        numbers.append(int(predictor.ask(told(child + "say(text=str(child.pid))")).text))
    deadline = time.monotonic() + 10
    while any(map(running_still, numbers)) and time.monotonic() < deadline:
        time.sleep(0.01)  # whoever inherits them has to reap them
    assert [number for number in numbers if running_still(number)] == []


def running_still(number: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{number}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_who_dies_is_asked_once_more(me: Path) -> None:
    meter = Meter()
    with running(me, meter) as predictor:
        reply = predictor.ask(told("os._exit(7) if starts == 1 else say(sql='again')"))
    assert reply == Reply("again", Usage(2))
    assert len(started(me)) == 2
    assert meter.snapshot().requests == 2


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("os._exit(7)", "exit code 7; nothing on stderr"),
        ("raise ValueError('out of memory')", "exit code 1; its stderr ends with:"),
        ("raise ValueError('out of memory')", "ValueError: out of memory"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL; nothing on stderr"),
        ("sys.stderr.write('x' * 100_000 + '\\nlast words\\n'); os._exit(1)", "last words"),
        ("os.close(1); time.sleep(60)", "closed its stdin or stdout"),
        ("subprocess.Popen(['sleep', '3']); os._exit(3)", "exit code 3"),
    ],
)
def test_who_dies_twice_over_an_ask_fails_it(me: Path, code: str, how: str) -> None:
    with running(me) as predictor:
        predictor.ask(told(SQL))
        failure = failed(predictor, code)
        assert "ended twice over this ask: " in failure.reason
        assert how in failure.reason
        assert failure.usage == Usage(2)
        assert predictor.ask(told(SQL)).text == "SELECT 1"
    assert len(started(me)) == 3


def test_who_dies_before_it_answers_anything_is_broken(me: Path) -> None:
    (me / "program.py").write_text("import sys\nsys.exit('no model at ./weights')\n")
    with running(me) as predictor:
        failed(predictor, SQL)
        with pytest.raises(PredictorBroken) as raised:
            predictor.ask(told(SQL))
    assert f"ended {MOST_DEATHS} times in a row without an answer" in str(raised.value)
    assert "exit code 1; its stderr ends with: no model at ./weights" in str(raised.value)


def test_as_many_processes_as_told_and_no_more_than_needed(me: Path) -> None:
    with running(me, concurrency=3) as predictor:
        predictor.ask(told(SQL))
        predictor.ask(told(SQL))
        assert len(started(me)) == 1
        with ThreadPoolExecutor(9) as pool:
            asks = [told("time.sleep(0.2); say(text=asked['question'])", str(number)) for number in range(9)]
            assert [reply.text for reply in pool.map(predictor.ask, asks)] == [
                str(number) for number in range(9)
            ]
        assert len(started(me)) == 3


def test_asks_are_held_against_the_budget(me: Path) -> None:
    meter = Meter(Budget(requests=2))
    with running(me, meter) as predictor:
        failure = failed(predictor, "say(error='x', usage={'prompt_tokens': 100})")
        assert failure.usage == Usage(1, 100)
        predictor.ask(told(SQL))
        with pytest.raises(BudgetSpent):
            predictor.ask(told(SQL))
    assert meter.snapshot().prompt_tokens == 105


@pytest.mark.parametrize("code", ["time.sleep(60)", "subprocess.Popen(['sleep', '60']); time.sleep(60)"])
def test_closing_ends_processes_at_work(me: Path, code: str) -> None:
    reasons: list[str] = []
    with running(me, concurrency=2) as predictor:

        def one() -> None:
            with pytest.raises(RequestFailed) as raised:
                predictor.ask(told(code))
            reasons.append(raised.value.reason)

        threads = [threading.Thread(target=one) for _ in range(4)]
        for thread in threads:
            thread.start()
        while len(started(me)) < 2:
            time.sleep(0.01)
        predictor.close()
        for thread in threads:
            thread.join(20)
    assert reasons == [CLOSED] * 4
    with pytest.raises(RequestFailed, match=CLOSED):
        predictor.ask(told(SQL))


def test_an_idle_process_may_end_by_itself(me: Path) -> None:
    program = PROGRAM + "\n(me / 'ended').touch()\n"
    (me / "program.py").write_text(program)
    with running(me) as predictor:
        predictor.ask(told(SQL))
    assert (me / "ended").exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", "command: no program is named"),
        ("  ", "command: no program is named"),
        ("no-such-program-anywhere --fast", "command: no-such-program-anywhere is not found"),
        ("python 'half", "cannot be split into words"),
    ],
)
def test_what_is_no_command_is_refused_at_once(command: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        CommandPredictor(command, Settings(), Meter())


def test_a_program_that_cannot_be_started_is_broken(me: Path) -> None:
    program = me / "program"
    program.write_bytes(b"\x00no program")
    program.chmod(0o755)
    predictor = CommandPredictor(str(program), Settings(), Meter())
    with pytest.raises(PredictorBroken, match="cannot be started"):
        predictor.ask(told(SQL))
    predictor.close()


def test_identity_has_the_command_as_a_digest() -> None:
    def identity(command: str) -> Any:
        return CommandPredictor(command, Settings(), Meter()).identity

    first, second = identity(f"{sys.executable} p.py --key spy"), identity(f"{sys.executable} p.py --key xyz")
    assert first == identity(f"{sys.executable}  p.py '--key' spy")
    assert first["sha256"] != second["sha256"]
    assert first["program"] == Path(sys.executable).name
    assert "spy" not in str(first)

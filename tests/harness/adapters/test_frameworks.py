"""The tests in `frameworks`, each in an environment with its package: theirs do not agree with our own.

They are run by another pytest, whose interpreter has this project and one of the locks of adapters.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.docs.blocks import ROOT, commands, every_block
from tests.forked import environment_without
from tests.frameworks import FRAMEWORKS
from tests.harness.adapters.scripted_endpoint import calls, endpoint
from tests.reasons import Reason, skip

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

LOCKS = {"openenv": ROOT / "requirements" / "openenv.txt"}
LOCK = ROOT / "requirements" / "adapters.txt"
"""What is installed for a framework: for most of them the second."""
BLOCKS = [block for block in every_block() if block.framework and block.title is None]
UV = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))


def interpreter_with(framework: str) -> Path:
    """Return the interpreter of an environment with a framework, made once for each lock."""
    lock = LOCKS.get(framework, LOCK)
    folder = ROOT / ".cache" / f"{lock.stem}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
    folder.parent.mkdir(exist_ok=True)
    interpreter, done = folder / "bin" / "python", folder / "done"
    installing = ("pip", "install", "--quiet", "--python", str(interpreter))
    with FileLock(f"{folder}.lock"):
        for words in [] if done.exists() else [
            ("venv", "--quiet", "--clear", "--python", sys.executable, str(folder)),
            (*installing, "--require-hashes", "-r", str(lock)),
            (*installing, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)),
        ]:  # fmt: skip
            made = subprocess.run([UV, *words], capture_output=True, text=True, check=False)
            if made.returncode:
                skip(Reason.NO_FRAMEWORKS, " ".join(made.stderr.split()[-20:]))
        done.touch()
    return interpreter


def run(framework: str, place: Path, *words: str) -> str:
    """Run Python in the environment of a framework; return what it prints."""
    return run_command(framework, place, str(interpreter_with(framework)), *words)


def run_command(framework: str, place: Path, *command: str, **variables: str) -> str:
    """Run a command with the programs of a framework's environment first; return what it prints."""
    programs = interpreter_with(framework).parent
    environment = environment_without("PYTEST_") | {
        "BIRD_STORE": str(place / "store.sqlite"),
        "HOME": str(programs.parent / "home"),  # verifiers keeps environments of scripts there
        "PATH": f"{programs}:{Path(UV).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "UV_CACHE_DIR": subprocess.check_output([UV, "cache", "dir"], text=True).strip(),
    }
    environment |= variables
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_an_adapter_works_in_its_framework_and_as_the_page_shows(name: str, tmp_path: Path) -> None:
    """In one process, as to import a framework takes longer than most of the tests there."""
    options = (
        "-q", "--noconftest", "-p", "tests.harness.adapters.conftest", "-o", "filterwarnings=default",
        "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT),
    )  # fmt: skip
    shown = [block for block in BLOCKS if block.framework == name]
    tests = ["import runpy"]
    for number, block in enumerate(shown):
        (tmp_path / f"block_{number}.py").write_text(block.text, encoding="utf-8")
        tests.append(f"def test_{number}():  # {block.where}\n    runpy.run_path('block_{number}.py')")
    (tmp_path / "test_page.py").write_text("\n".join(tests), encoding="utf-8")
    path = Path(__file__).parent / "frameworks" / f"{name}.py"
    run(name, tmp_path, "-m", "pytest", *options, str(path), "test_page.py")
    assert shown


def test_the_command_of_verifiers_runs_in_an_empty_folder(tmp_path: Path) -> None:
    """As its page shows it, but for the set, the address of the model and the number of questions."""
    [module] = [block for block in every_block() if block.title == "bird_sql.py"]
    [shown] = [
        each
        for block in every_block()
        for each in (commands(block) if block.language == "console" else ())
        if "vf-eval" in each
    ]
    (tmp_path / "bird_sql.py").write_text(module.text, encoding="utf-8")

    def policy(messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        if messages[-1]["role"] == "tool":
            return {"role": "assistant", "content": f"Rows: {messages[-1]['content']}\n```sql\nSELECT 1\n```"}
        return calls(0, database="city_library", sql="SELECT COUNT(*) FROM books")

    with endpoint(policy) as url:
        command = shown.replace("mini_dev", "sample").replace("http://localhost:8000/v1", url)
        run_command("verifiers", tmp_path, "bash", "-c", command.replace("-n 20", "-n 1"))
    [traces] = (tmp_path / "outputs").glob("*/traces.jsonl")
    [trace] = map(json.loads, traces.read_text(encoding="utf-8").splitlines())
    assert trace["ok"], trace["errors"]
    assert "SELECT 1" in json.dumps(trace)

"""How the tests fetch packages, here or in a process of its own, and what is there afterwards."""

import os
import subprocess
import sys
from pathlib import Path

from loaders.sample import sample_folder
from tests.loaders.packages.zips import renamed

NO_PAUSES = (0.0,)


NOWHERE = "http://127.0.0.1:9/package.zip"
"""The discard port, where nobody listens."""


def quiet(what: str, done: int, total: int | None) -> None:
    pass


def shown(home: Path) -> list[str]:
    """What is in the folder of all data, but for the lock."""
    return sorted(path.name for path in home.iterdir() if path.suffix != ".lock") if home.exists() else []


def unpacked(folder: Path, name: str) -> Path:
    for path, content in renamed(sample_folder(), name).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def process(
    manifest: Path, name: str, home: Path, what: str = "", stop: int = 0, *options: str
) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.loaders.packages.getting"]
    command += [str(manifest), name, str(home), what, str(stop), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)

"""The tests of this room end green where no Docker engine answers, with and without the command `docker`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.provision import compose, images
from loaders.base.errors import EngineUnavailable
from tests.provision.conftest import _CONTAINERS
from tests.reasons import Reason, not_tested

ROOM = Path(__file__).parent

_COMMAND = "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n"


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("command", [_COMMAND, None], ids=["command", "no command"])
def test_tests_of_containers_are_left_out_for_that_one_reason(command: str | None, tmp_path: Path) -> None:
    if command:  # it fails as the real one does
        docker = tmp_path / "docker"
        docker.write_text(command, encoding="utf-8")
        docker.chmod(0o755)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("BIRD_", "DOCKER_", "PYTEST_")) and name != "CI"
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *_CONTAINERS, "-q", "-p", "no:cacheprovider"],
        cwd=ROOM,
        env={**kept, "PATH": str(tmp_path), "DOCKER_HOST": "tcp://127.0.0.1:1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [line] = re.findall("^NOT TESTED: .*$", done.stdout, re.MULTILINE)
    assert re.match(r"NOT TESTED: NO_DOCKER: \d\d tests: no Docker engine answers", line)


def test_what_was_not_tested_takes_one_short_line_a_reason_with_its_count() -> None:
    skips = [f"Skipped: {Reason.NO_DOCKER}: {number} {'x ' * 200}" for number in (1, 2, 2)]
    skips += [f"Skipped: {Reason.NO_APT}: no apt-get", "Skipped: could not import 'other'"]
    apt, docker, other = not_tested(skips)
    assert apt == f"NOT TESTED: NO_APT: 1 test: {Reason.NO_APT}: no apt-get"
    assert docker.startswith(f"NOT TESTED: NO_DOCKER: 3 tests: {Reason.NO_DOCKER}: 2 x x")
    assert len(docker) <= 160
    assert other == "NOT TESTED: UNKNOWN: 1 test: for no known reason: could not import 'other'"
    assert not_tested([]) == []


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            None,
            r"docker was not found; install Docker, or start .*without Docker: make up NATIVE=1",
        ),
        (
            "echo 'Cannot connect' >&2; exit 1",
            r"no Docker engine answers .*Cannot connect.*start it, or .*NATIVE=1",
        ),
        ('[ "$1" = version ]', r"docker has no Compose plugin; install it .*NATIVE=1"),
    ],
)
def test_what_is_missing_is_named_with_its_remedy(
    script: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if script is not None:
        command = tmp_path / "docker"
        command.write_text(f"#!{os.path.realpath('/bin/sh')}\n{script}\n", encoding="utf-8")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineUnavailable, match=said):
        compose.up([Dialect.MYSQL], env=tmp_path / ".env")
    assert compose.down(env=tmp_path / ".env") == []
    assert not (tmp_path / ".env").exists()


def test_images_need_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineUnavailable, match=r"docker was not found; install Docker, or .*NATIVE=1"):
        images.build([Dialect.MYSQL], env=tmp_path / ".env")

"""Tests neither see nor touch the user's containers, servers, folders and addresses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import provision
from harness.provision import compose, envfile
from harness.provision.servers import SERVERS
from loaders.base import paths
from loaders.server import Origin
from tests import forked

_DOCKER = """#!/bin/sh
# Answers as an engine on which the user's containers run, and notes what it is asked.
echo "$@" >>"$(dirname "$0")/asked"
case "$*" in *--services*) printf 'mysql\\npostgresql\\n' ;; esac
"""


def _planted(folder: Path) -> dict[str, str]:
    """What a user has after `make up` and `make up NATIVE=1`: the environment that leads to it."""
    values = {envfile.PROJECT: "bird-harness-mine", **{one.password: "secret" for one in SERVERS.values()}}
    (folder / "state" / "mysql").mkdir(parents=True)
    (folder / "state" / "mysql" / "state.json").write_text('{"port": 1, "pid": 1}')
    (folder / "cache" / "duckdb").mkdir(parents=True)
    (folder / "cache" / "store.sqlite").write_bytes(b"kept")
    (folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    (folder / "bin").mkdir()
    (folder / "bin" / "docker").write_text(_DOCKER)
    (folder / "bin" / "docker").chmod(0o755)
    return {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "COMPOSE_ENV_FILES": str(folder / ".env"),
        "BIRD_STATE": str(folder / "state"),
        "BIRD_CACHE": str(folder / "cache"),
        "BIRD_MYSQL_DSN": "mysql://root:secret@127.0.0.1:1",
    }


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "asked")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


DOWN = "tests/loaders/base/test_paths.py::test_a_place_that_cannot_be_used_ends_a_command_with_one_line"


@pytest.mark.slow
def test_what_a_user_runs_survives_the_tests_that_stop_servers(tmp_path: Path) -> None:
    user = tmp_path / "user"
    environment, words = {**os.environ, **_planted(user)}, [sys.executable, "-m", "harness", "down"]
    # Without the tests' own folders this command does stop them: the plant is one that can be harmed.
    stopped = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert "mysql stopped (compose)" in stopped.stderr
    asked = user / "bin" / "asked"
    assert " down" in asked.read_text()
    asked.unlink()
    before = _contents(user)
    tests = ("-q", "-n", "0", "-p", "no:cacheprovider", f"{DOWN}[BIRD_STATE=/dev/null]")
    done = forked.run("pytest", *tests, cwd=Path(__file__).parents[1], env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert _contents(user) == before
    assert not asked.exists() or not {"down", "rm", "stop", "up"} & set(asked.read_text().split())


def test_this_session_is_away_from_the_users_folders() -> None:
    checkout = Path(__file__).parents[1]
    asked = os.environ.get("BIRD_PROVISION", "")
    assert "bird-harness-tests-" in str(paths.state())
    assert paths.cache().name.endswith("-tests")
    if asked != Origin.COMPOSE:
        assert not envfile.default_path().is_relative_to(checkout)
        assert (
            envfile.read(envfile.default_path()).keys().isdisjoint({envfile.PROJECT, "MYSQL_ROOT_PASSWORD"})
        )
        assert compose.down() == []
    if asked not in (Origin.COMPOSE, Origin.DSN):
        assert [provision.find(dialect) for dialect in provision.SERVED] == [None] * len(provision.SERVED)

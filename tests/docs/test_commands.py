"""Every command of the documentation is run: here, by `.ci/run`, or it is named with the reason why not."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.provision.dsn import variable
from loaders.server import Server
from tests import forked
from tests.docs.blocks import PAGES, ROOT, Block, blocks, commands, every_block
from tests.docs.elsewhere import ELSEWHERE
from tests.docs.parsing import fault
from tests.docs.reference.written import WRITTEN
from tests.harness.pytest_plugin.running import counts

ON_SERVERS = frozenset(
    f"docs/{name}.md"
    for name in (
        "examples/pytest-project/README",
        "how-to/ci",
        "how-to/compare",
        "how-to/coverage",
        "how-to/migration",
        "how-to/predictions",
        "how-to/predictors",
        "how-to/pytest",
        "how-to/question-set",
        "how-to/servers",
        "tutorials/first-table",
        "tutorials/own-database",
    )
)
"""Pages whose commands need MySQL and PostgreSQL."""

BEFORE: Mapping[str, Sequence[str]] = {
    "docs/explanation/efficiency.md": ("make eval",),
    "docs/how-to/reports.md": ("make eval",),
    "docs/how-to/pytest.md": ("cp -r ../bird-harness/loaders/sample/predictions answers",),
}
"""What a page takes to have happened."""

PLACES: Mapping[str, str] = {
    "docs/how-to/extend.md": "another-project",
    "docs/how-to/pytest.md": "another-project",
    "docs/examples/pytest-project/README.md": "pytest-project",
}
"""Where a page's commands run, if not in the checkout."""

EXAMPLE = ROOT / "docs" / "examples" / "pytest-project"

PROGRAMS = {"bird-harness": "harness", "pytest": "pytest"}
"""What `tests.forked` runs, by what the documentation calls it."""

COUNTED: Mapping[str, Mapping[str, int]] = {
    "pytest --bird-predictions answers --bird-dialect sqlite": {"match": 88, "mismatch": 27},
    "pytest --bird-predictions answers --bird-dialect sqlite -n 2": {"match": 88, "mismatch": 27},
    'pytest --bird-predictions answers --bird-dialect sqlite -k "careless and challenging" -v': {"match": 9},
    "pytest --bird-coverage --bird-dialect all": {"passed": 3 * 66},
    "pytest": {"passed": 12},
    'pytest -k "rows and 4"': {"passed": 1, "deselected": 11},
    "pytest --bird-dialect all": {"passed": 4 * 11 + 1},
}
"""Some of what pytest counts."""

_CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
_OF_CI_ALONE = re.compile(r"make (up|down|images|reproduce)\b|docker\b|.*\bSET=mini_dev\b")
"""Of the commands of `.ci/run`, those that start servers, or need Docker or the published data."""
_OWN = {".git", ".env", "results", "data", "site", "tests"}
"""Of a checkout, what a new user's copy does not have or no command of the documentation needs."""


def is_in_ci(command: str) -> bool:
    return bool(re.search(rf"^ *(?:[A-Z_]+=\S+ )*{re.escape(command)}( 2>&1.*| \|\|.*)?$", _CI, re.MULTILINE))


def of_page(page: Path) -> list[str]:
    return [command for block in blocks(page) if block.language == "console" for command in commands(block)]


def to_run(page: Path) -> list[str]:
    """What is run here: in a page that needs servers all of it, but not their start and end.

    The examples of the command line's own help name files of the reader's: they are parsed.
    """
    if page.read_text(encoding="utf-8").startswith(WRITTEN):
        return []
    needs_all = name_of(page) in ON_SERVERS
    return [
        command
        for command in of_page(page)
        if command not in ELSEWHERE
        and not (is_in_ci(command) and (not needs_all or _OF_CI_ALONE.match(command)))
    ]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def params(*, servers: bool) -> list[Any]:
    """The pages with commands that are run here."""
    pages = [page for page in PAGES if to_run(page) and (name_of(page) in ON_SERVERS) is servers]
    return [pytest.param(page, id=name_of(page)) for page in pages]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that looks like a fresh clone whose `make setup` has run."""
    folder = tmp_path / "bird-harness"
    folder.mkdir()
    for path in ROOT.iterdir():
        if path.name not in _OWN and not path.name.endswith("_cache"):
            (folder / path.name).symlink_to(path)
    shutil.copytree(EXAMPLE, tmp_path / EXAMPLE.name)
    # What it installs would be this environment, which runs the tests.
    make = tmp_path / "bin" / "make"
    make.parent.mkdir()
    make.write_text(
        f'#!/bin/sh\nexec {shutil.which("make")} --old-file=.venv/.ready --old-file=.venv/.dev "$@"\n',
        encoding="utf-8",
    )
    make.chmod(0o755)
    return folder


def run(page: Path, folder: Path, servers: Mapping[str, str]) -> None:
    """Run a page's commands in their order, with the files and the output that it shows."""
    shown = blocks(page)
    place = folder.parent / PLACES.get(name_of(page), folder.name)
    place.mkdir(exist_ok=True)
    for block in shown:
        if block.title and block.title != "output":
            path = place / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            # Most of the folder are links to this checkout, which no page may write.
            assert path.resolve().is_relative_to(folder.parent.resolve()), block.where
            path.write_text(block.text, encoding="utf-8")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("BIRD_", "PYTEST_"))
    }
    environment |= {
        # That of the session: most pages score the sample, and no output tells whether it was known.
        "BIRD_STORE": os.environ["BIRD_STORE"],
        "BIRD_STATE": str(folder.parent / "state"),
        "BIRD_PROVISION": "dsn",
        "PATH": f"{folder.parent / 'bin'}:{ROOT / '.venv' / 'bin'}:{environment['PATH']}",
        **servers,
    }
    printed: list[str] = []
    for command in (*BEFORE.get(name_of(page), ()), *to_run(page)):
        done = said_by(command, place, environment)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        if command in COUNTED:
            assert counts(done).items() >= COUNTED[command].items(), done.stdout
        printed += [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
    for block in shown:
        if block.title == "output":
            missing = [
                line for line in block.text.splitlines() if line.strip() and line.rstrip() not in printed
            ]
            assert missing == [], block.where


def said_by(command: str, cwd: Path, env: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """What comes of a command; what it starts of ours is forked, and all else is started by a shell."""
    shell = partial(subprocess.run, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    words = words_of(command)
    if words[:1] == ["make"]:
        dry: subprocess.CompletedProcess[str] = shell([*words, "--dry-run"])
        words, env = words_of(dry.stdout.replace("\\\n", "")), {**env, "MAKELEVEL": "1"}
    program = PROGRAMS.get(words[0].removeprefix(".venv/bin/")) if words else None
    if program is not None:
        return forked.run(program, *words[1:], cwd=cwd, env=env)
    return shell(["bash", "-c", command])


def words_of(command: str) -> list[str]:
    """The words of one command; none where there are several, or where a shell reads more into them."""
    return [] if re.search(r"[|&;<>$`*?(){}\\\n]|^\w+=", command.strip()) else shlex.split(command)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("page", params(servers=False))
def test_the_commands_of_a_page_do_what_it_says(page: Path, checkout: Path) -> None:
    run(page, checkout, {})


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize("page", params(servers=True))
def test_the_commands_of_a_page_do_what_it_says_on_servers(
    page: Path, checkout: Path, mysql_server: Server, postgresql_server: Server
) -> None:
    run(page, checkout, {variable(each.dialect): dsn(each) for each in (mysql_server, postgresql_server)})


def dsn(server: Server) -> str:
    return f"{server.dialect}://{server.user}:{server.password}@{server.address}"


def test_what_is_not_run_is_still_in_the_documentation() -> None:
    written = {command for page in PAGES for command in of_page(page)}
    assert ELSEWHERE.keys() - written == set()
    assert {command for command in written if command.startswith("pytest")} == COUNTED.keys()
    assert [command for command in ELSEWHERE if is_in_ci(command)] == []


def test_the_code_of_the_page_on_pytest_is_the_examples() -> None:
    page = ROOT / "docs" / "how-to" / "pytest.md"
    (shown,) = [block.text for block in blocks(page) if block.language == "python"]
    real = (EXAMPLE / "test_my_model.py").read_text(encoding="utf-8")
    assert [part for part in re.split(r"\n{3,}", shown.strip()) if part not in real] == []


@pytest.mark.slow
def test_every_command_has_options_that_exist() -> None:
    written = {command for page in PAGES for command in of_page(page)}
    assert {command: wrong for command in written if (wrong := fault(command))} == {}


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("bird-harness evaluate", "no command"),
        ("bird-harness eval --sett sample", "No such option"),
        ("bird-harness eval --driver none", "none"),
        ("make evil", "evil"),
        ("make eval DIALEKT=mysql", "DIALEKT"),
        ("make eval ARGS=--fast", "No such option"),
        ("python -m benchmarks.evaluation --fast", "No such option"),
        ("pip install 'bird-harness[none]'", "none"),
        ("pytest --bird-prediction a", "--bird-prediction"),
        ("pytest-bird", "not known"),
    ],
)
def test_a_command_that_does_not_exist_is_found(command: str, says: str) -> None:
    assert says in (fault(command) or "")


def test_ci_is_asked_for_whole_commands() -> None:
    assert is_in_ci("make eval")
    assert is_in_ci("make load DIALECT=all")
    assert not is_in_ci("make load")


def test_every_page_has_the_blocks_that_it_shows() -> None:
    """The pattern that finds blocks misses none."""
    for page in PAGES:
        fences = re.findall(r"^ *```", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(fences) == 2 * len(blocks(page)), page


def outputs() -> list[Block]:
    return [block for block in every_block() if block.language == "text" and block.title != "output"]


@pytest.mark.parametrize("block", outputs(), ids=lambda block: block.where)
def test_commands_are_not_hidden_in_text(block: Block) -> None:
    programs = r"^\s*\$?\s*((make|bird-harness|python3?|pip|uv|pytest|docker|git) |BIRD_\w+=)"
    assert re.search(programs, block.text, re.MULTILINE) is None

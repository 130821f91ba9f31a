"""What a release consists of: a package that works in an empty folder, and files that agree."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest
import yaml

from harness import __version__
from harness.serve.client import ScoreClient
from tests.forked import environment_without
from tests.harness.adapters.test_frameworks import UV
from tests.harness.serve.served import served
from tests.reasons import Reason, skip

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

ROOT = Path(__file__).parents[1]
ADDRESS = "https://host.example/owner/name"
_LINKS = re.compile(r"\]\(([^)\s]+)\)")


def build(source: Path, target: str, to: Path, **environment: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(to)]
    clean = environment_without("BIRD_")
    done = subprocess.run(
        command, cwd=source, env=clean | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    [built] = to.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is built of the source distribution, as a package index's users may do."""
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(build(ROOT, "sdist", folder / "sdist", BIRD_HARNESS_REPOSITORY=ADDRESS)) as file:
        file.extractall(folder, filter="data")
    [source] = folder.glob("bird_harness-*")
    return build(source, "wheel", folder / "wheel", BIRD_HARNESS_REPOSITORY=ADDRESS)


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    there = wheel.parent.parent / "installed"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(there)  # noqa: S202 - our own
    return there


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as file:
        [name] = [each for each in file.namelist() if each.endswith("/METADATA")]
        return message_from_string(file.read(name).decode())


def links(about: Message) -> list[str]:
    """Those of the README that a package index shows."""
    return _LINKS.findall(str(about.get_payload()))


def test_the_readme_of_a_package_leads_to_the_files_of_its_version(wheel: Path) -> None:
    about = metadata(wheel)
    assert len(links(about)) > 20
    assert [link for link in links(about) if not link.startswith("https://")] == []
    base = f"{ADDRESS}/blob/v{__version__}/"
    own = [link.removeprefix(base) for link in links(about) if link.startswith(ADDRESS)]
    assert [link for link in own if not (ROOT / link.partition("#")[0].partition("?")[0]).exists()] == []
    assert f"Repository, {ADDRESS}" in about.get_all("Project-URL", [])
    versions = [f"Programming Language :: Python :: 3.{minor}" for minor in range(11, 15)]
    assert set(versions) <= set(about.get_all("Classifier", []))


def test_a_package_that_is_built_elsewhere_names_no_address(tmp_path: Path) -> None:
    about = metadata(build(ROOT, "wheel", tmp_path))
    assert [link for link in links(about) if not link.startswith("https://")] == []
    assert about.get_all("Project-URL") is None


def run(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`bird-harness` of the wheel, in a folder of the user's, where no server is named."""
    clean = environment_without("BIRD_", "PYTEST_", "CI")
    own = {
        "PYTHONPATH": str(installed),
        "BIRD_STATE": str(folder.parent / "state"),
        "BIRD_STORE": str(folder.parent / "store.sqlite"),
        "BIRD_PROVISION": "native",
    }
    return subprocess.run(
        [sys.executable, "-P", "-m", "harness", *arguments],
        cwd=folder, env=clean | own, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


def test_an_installed_package_scores_the_sample_in_an_empty_folder(installed: Path, folder: Path) -> None:
    done = run(installed, folder, "eval", "--limit", "6")
    assert done.returncode == 0, done.stderr
    assert "careless" in done.stdout
    assert "`bird-harness up --native`" in done.stdout + done.stderr
    assert (folder / "results" / "latest" / "report.html").is_file()
    assert [path.name for path in folder.iterdir()] == ["results"]


def test_an_installed_package_judges_the_tasks_of_the_sample(installed: Path, folder: Path) -> None:
    done = run(installed, folder, "eval", "--set", "sample_tasks", "--dialect", "sqlite", "--limit", "1")
    assert done.returncode == 0, done.stderr
    assert "Golds as answers" in done.stdout
    assert (folder / "results" / "latest" / "verdicts.jsonl").is_file()


def test_the_server_is_installed_from_a_path_by_its_extra(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs/how-to/training.md says, into an environment of its own."""
    interpreter = tmp_path / "bin" / "python"
    for words in (
        ("venv", "--quiet", "--allow-existing", "--python", sys.executable, str(tmp_path)),
        ("pip", "install", "--quiet", "--python", str(interpreter), f"{wheel}[serve]"),
    ):
        made = subprocess.run([UV, *words], capture_output=True, text=True, check=False)
        if made.returncode:
            skip(Reason.NO_REGISTRY, " ".join(made.stderr.split()[-20:]))
    monkeypatch.setattr(sys, "executable", str(interpreter))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with served("--set", "sample", PYTHONSAFEPATH="1") as server, ScoreClient(server.address) as client:
        [judged] = client.score([{"question": "1", "sql": "```sql\nSELECT 1\n```"}], extract="answer-1")
    assert (judged["sql"], judged["outcome"]) == ("SELECT 1", "mismatch")
    where = "import harness; print(harness.__file__)"
    said = subprocess.check_output([str(interpreter), "-P", "-c", where], text=True, cwd=tmp_path)
    assert Path(said.strip()).is_relative_to(tmp_path)


ALONE = """
import sqlite3, sys
from pathlib import Path

ELSEWHERE = {"harness", "pymysql", "psycopg", "docker", "rich", "typer", "pytest", "numpy", "requests"}

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ELSEWHERE:
            raise ImportError(f"{name} is not there")

sys.meta_path.insert(0, Refused())
import dialects
from dialects.enums import Dialect
from dialects.translation import translate
from loaders.file_census import census

connection = sqlite3.connect("t.sqlite")
connection.execute("CREATE TABLE t (a INTEGER)")
connection.close()
print(translate("SELECT a / 2 FROM t", census(Path("t.sqlite")), Dialect.MYSQL).sql)
print(dialects.__path__[0])
"""


def test_the_package_translates_without_server_driver_and_harness(installed: Path, folder: Path) -> None:
    """As docs/how-to/migration.md says."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-P", "-c", ALONE]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sql, place = done.stdout.splitlines()
    assert "DIV 2" in sql
    assert Path(place) == installed / "dialects"


@pytest.mark.parametrize(
    ("arguments", "exits"),
    [
        (["status"], 0),
        (["eval", "--dialect", "mysql"], 3),
        (["eval", "--set", "mini_dev", "--predictions", "answers"], 2),
        (["eval", "--set", "sample", "--predictions", "answers"], 2),
        (["report"], 2),
        (["data", "--set", "mini_dev", "--archive", "minidev.zip"], 2),
        (["lab", "reproduce"], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_installed_package_speaks_of_bird_harness_and_never_of_make(
    installed: Path, folder: Path, arguments: list[str], exits: int
) -> None:
    done = run(installed, folder, *arguments)
    said = done.stdout + done.stderr
    assert done.returncode == exits, said
    assert "Traceback" not in said
    assert re.findall(r"\bmake [a-z]+|[A-Z]+=\w+", said) == []


def test_files_agree_on_the_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(__version__)}\b", changes, re.MULTILINE)

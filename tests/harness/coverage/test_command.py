import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.figures.pages import DOCS, renew
from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.analyses.coverage import expectations
from harness.analyses.coverage.command import JSON, CoverageRequest, measure, print_measured
from harness.cli import main
from harness.data.outcomes import GoldOrigin
from harness.data.predictions import Choice
from loaders.server import Server


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--gold", "other"], "other"),
        (["--limit", "0"], "--limit"),
        (["--workers", "0"], "--workers"),
        (["--timeout", "0"], "--timeout 0"),
    ],
)
def test_bad_usage_exits_with_2(
    args: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bird-harness", "coverage", "--dialect", "sqlite", *args])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err


def test_translated_golds_are_of_the_profile_faithful_and_published_ones_of_official() -> None:
    assert CoverageRequest().loaded_as is Profile.FAITHFUL
    published = CoverageRequest(origin=GoldOrigin.DATASET)
    assert published.loaded_as is Profile.OFFICIAL
    assert published.is_usual
    assert not replace(published, profile=Profile.FAITHFUL).is_usual


@pytest.mark.engine
def test_a_regression_exits_with_1_and_names_the_command(server: Server, tmp_path: Path) -> None:
    request = CoverageRequest(choice=Choice(limit=3), out=tmp_path / "results")
    said: list[str] = []
    assert print_measured(measure(request, {server.dialect: server}), said.append) == 0, said
    [written] = said
    folder = Path(written.removeprefix("written to "))
    assert len(json.loads((folder / JSON).read_text(encoding="utf-8"))["answers"]) == 3

    home = tmp_path / "expectations"
    home.mkdir()
    text = (expectations.HOME / "sample.json").read_text(encoding="utf-8")
    (home / "sample.json").write_text(text.replace('"1": ["covered", "', '"1": ["tie", "0'), encoding="utf-8")
    said.clear()
    measured = measure(replace(request, expected=home), {server.dialect: server})
    assert print_measured(measured, said.append) == 1
    assert f"{server.dialect} 1: was tie, is covered" in said
    assert f"{server.dialect} 1: its translation has changed" in said
    assert said[-1].endswith(f"python -m benchmarks.figures {measured.folder}")


@pytest.mark.engine
def test_every_difference_of_the_samples_own_golds_has_a_reason(server: Server, tmp_path: Path) -> None:
    said: list[str] = []
    request = CoverageRequest(origin=GoldOrigin.DATASET, out=tmp_path)
    assert print_measured(measure(request, {server.dialect: server}), said.append) == 0, said


@pytest.fixture
def both_servers(
    bird_home: Path, mysql_server: Server, postgresql_server: Server, monkeypatch: pytest.MonkeyPatch
) -> dict[Dialect, Server]:
    """For the published sets."""
    monkeypatch.setenv("BIRD_HOME", str(bird_home))
    return {Dialect.MYSQL: mysql_server, Dialect.POSTGRESQL: postgresql_server}


@pytest.mark.bird
@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize("name", ["mini_dev", "mini_dev_2025"])
def test_the_documented_figures_of_published_golds_are_those_that_the_command_gives(
    name: str, both_servers: dict[Dialect, Server], tmp_path: Path
) -> None:
    documented = DOCS / "coverage.md"
    page = tmp_path / documented.name
    shutil.copy(documented, page)
    measured = measure(CoverageRequest(name, GoldOrigin.DATASET, out=tmp_path / "results"), both_servers)
    said: list[str] = []
    assert print_measured(measured, said.append) == 0, said
    assert renew(measured.folder, tmp_path) == [page]
    assert tables(page) == tables(documented)


def tables(page: Path) -> list[str]:
    """The lines of a page that are rows of tables."""
    return [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--set", "nowhere"], "question set 'nowhere' is not known"),
        (["--db", "nowhere"], "--db 'nowhere': not in sample"),
        (["--question", "nowhere"], "question 'nowhere': not in sample"),
    ],
)
def test_what_is_wrong_with_the_set_is_said_before_servers_are_looked_for(
    args: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    monkeypatch.setattr(sys, "argv", ["bird-harness", "coverage", *args])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


@pytest.mark.engine
def test_chosen_questions_are_covered(server: Server, tmp_path: Path) -> None:
    choice = Choice(db_ids=["city_library"], difficulties=["simple"])
    measured = measure(CoverageRequest(choice=choice, out=tmp_path), {server.dialect: server})
    assert 0 < len(measured.answers) < 18
    assert (
        f"{len(measured.answers)} of 66 questions (--db city_library --difficulty simple)" in measured.title
    )
    with pytest.raises(BadInput, match="golds are not in it; start both servers"):
        renew(measured.folder, tmp_path, tmp_path)

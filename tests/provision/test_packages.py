import shutil
import subprocess
from pathlib import Path

import pytest

from harness.provision import packages
from loaders.base.errors import EngineUnavailable
from tests.reasons import Reason, skip

pytestmark = [pytest.mark.engine, pytest.mark.thorough]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        skip(Reason.NO_APT, "packages are unpacked on Debian and its relatives only")
    monkeypatch.setenv("BIRD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_package_runs_with_all_it_depends_on(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root = packages.unpacked("Hello", ["hello"], programs=["usr/bin/hello"])

    launcher = root.folder / "usr/bin/hello"
    said = subprocess.run([launcher, "--greeting=a b"], capture_output=True, text=True, check=True)
    assert said.stdout == "a b\n"
    assert launcher.read_text("utf-8").startswith("#!/bin/sh")
    assert list(root.folder.glob("usr/lib/*/libc.so.6")), "the C library belongs to the closure"
    version = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=True).stdout
    assert version.splitlines()[0].endswith(f" {root.version}")

    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"unpacking Hello {root.version} from distribution packages (")
    assert err.count("\n") == 1

    monkeypatch.setenv("PATH", "")
    assert packages.unpacked("Hello", ["hello"], programs=["usr/bin/hello"]) == root, "once is enough"
    assert [path.name for path in (cache / "roots").iterdir()] == [root.folder.name]

    moved = cache / "moved"
    root.folder.rename(moved)
    said = subprocess.run(
        [moved / "usr/bin/hello", "--greeting=c"], capture_output=True, text=True, check=True
    )
    assert said.stdout == "c\n"


def test_an_unknown_package_is_named_and_leaves_nothing(cache: Path) -> None:
    with pytest.raises(
        EngineUnavailable, match=r"Unable to locate package no-such-server; install MySQL"
    ) as caught:
        packages.unpacked("MySQL", ["no-such-server"])
    assert "BIRD_MYSQL_DSN" in str(caught.value)
    assert list((cache / "roots").iterdir()) == []


def test_a_program_that_is_not_there_is_named(cache: Path) -> None:
    with pytest.raises(EngineUnavailable, match=r"lack usr/bin/no-such-program"):
        packages.unpacked("Hello", ["hello"], programs=["usr/bin/no-such-program"])
    assert list((cache / "roots").iterdir()) == []


def test_without_apt_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EngineUnavailable, match=r"dpkg was not found; install MySQL .* BIRD_MYSQL_DSN"):
        packages.unpacked("MySQL", ["mysql-server-core"])

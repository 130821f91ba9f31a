"""The committed bundle is what its sources give, small, and with its licences."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.report import html
from harness.report.html.page import _bundled
from tests.reasons import Reason, skip

PLACE = Path(html.__file__).parent
WEB, BUNDLE = PLACE / "web", PLACE / "bundle"
MOST_BYTES = 1_000_000


def npm(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["npm", *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_building_the_sources_again_gives_the_committed_bundle(tmp_path: Path) -> None:
    if shutil.which("node") is None or shutil.which("npm") is None:
        skip(Reason.NO_NODE, "they are not on PATH")
    web = tmp_path / "web"
    shutil.copytree(WEB, web, ignore=shutil.ignore_patterns("node_modules"))
    installed = npm(web, "ci", "--no-audit", "--no-fund")
    if installed.returncode:
        skip(Reason.NO_NODE, installed.stderr.strip().splitlines()[-1])
    built = npm(web, "run", "build")
    assert built.returncode == 0, built.stderr
    names = sorted(path.name for path in BUNDLE.iterdir())
    assert names == ["LICENSES.txt", "report.css", "report.js"]
    for name in names:
        assert (tmp_path / "bundle" / name).read_bytes() == (BUNDLE / name).read_bytes(), (
            f"npm run build: {name}"
        )


def test_the_bundle_is_small_and_may_stand_in_a_page() -> None:
    script, style = _bundled("report.js"), _bundled("report.css")
    assert len(script) + len(style) < MOST_BYTES
    assert script.isascii()
    assert not re.search(r"</script|<!--", script, re.IGNORECASE)
    assert not re.search(r"</style|@import|url\(", style, re.IGNORECASE)


def test_every_version_is_exact_and_the_lock_names_no_registry() -> None:
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    versions = [*package["dependencies"].values(), *package["devDependencies"].values()]
    assert [version for version in versions if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
    lock = (WEB / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    installed = {name: entry for name, entry in json.loads(lock)["packages"].items() if name}
    assert [name for name, entry in installed.items() if not entry.get("integrity")] == []


def test_every_package_of_the_bundle_has_its_licence() -> None:
    text = (BUNDLE / "LICENSES.txt").read_text(encoding="utf-8")
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    for name, version in package["dependencies"].items():
        assert f"\n{name} {version} (" in text
    sections = text.split("=" * 78)[1:]
    assert all(
        re.search(r"permission (is hereby granted|to use)|redistribution and use", part, re.IGNORECASE)
        for part in sections
    )


def test_the_lock_stays_without_addresses_when_it_is_renewed() -> None:
    assert (WEB / ".npmrc").read_text(encoding="utf-8") == f"omit-lockfile-registry-resolved=true{os.linesep}"

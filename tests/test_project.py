"""The project's own files: README, Makefile, workflows and lock agree with each other."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def commands(path: Path) -> list[str]:
    """The lines of a Markdown file's console blocks, without comments."""
    blocks = re.findall(
        r"^```console\n(.*?)^```", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    lines = (line.partition(" #")[0].strip() for block in blocks for line in block.splitlines())
    return [line for line in lines if line]


def test_every_command_of_the_readme_is_run_by_ci() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert len(commands(ROOT / "README.md")) >= 10
    assert [command for command in commands(ROOT / "README.md") if command not in ci] == []


def test_links_between_documents_lead_somewhere() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("loaders/sample/**/*.md")]
    broken = [
        (document.name, target)
        for document in documents
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8"))
        if not (document.parent / target).exists()
    ]
    assert broken == []


def test_make_alone_prints_every_target_and_variable() -> None:
    done = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True, check=True)
    targets = [
        "setup",
        "up",
        "down",
        "status",
        "images",
        "data",
        "load",
        "eval",
        "predict",
        "report",
        "runs",
        "reproduce",
        "ci-matrix",
        "docs",
        "coverage",
        "twins",
        "test",
        "lint",
        "bench",
        "clean",
    ]
    variables = ["DIALECT", "PREDICTIONS", "SET", "METRICS", "PROFILE", "WORKERS", "LIMIT", "OUT", "NATIVE"]
    assert [target for target in targets if not re.search(rf"make {target} +\w", done.stdout)] == []
    assert [name for name in variables if not re.search(rf"^  {name} +\w", done.stdout, re.MULTILINE)] == []


@pytest.mark.parametrize("workflow", sorted(ROOT.glob(".github/workflows/*.yml")), ids=lambda path: path.name)
def test_workflows_follow_githubs_schema(workflow: Path) -> None:
    arguments = ["--builtin-schema", "vendor.github-workflows", str(workflow)]
    checker = Path(sys.executable).with_name("check-jsonschema")
    done = subprocess.run([checker, *arguments], capture_output=True, text=True)  # noqa: PLW1510
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("lock", sorted(ROOT.glob("requirements/*.txt")), ids=lambda path: path.name)
def test_the_lock_has_a_hash_for_everything_and_names_no_index(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    pins = re.findall(r"^[a-z][\w.-]*==", text, flags=re.MULTILINE | re.IGNORECASE)
    assert pins
    assert text.count("--hash=sha256:") >= len(pins)
    assert "://" not in text


def test_scripts_are_bash_and_pass_its_syntax_check() -> None:
    bash = shutil.which("bash")
    assert bash
    scripts = [ROOT / ".ci" / "run", ROOT / ".ci" / "docker-engine", *ROOT.glob("docker/*/*.sh")]
    for script in scripts:
        assert subprocess.run([bash, "-n", str(script)], check=False).returncode == 0, script

"""The workflows run the versions and sets that the code names, by targets that exist, and nothing floats."""

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.provision import envfile
from harness.provision.server_kinds import SETS, cells
from tests.docs.blocks import ROOT
from tests.docs.parsing import fault

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


PINNED = re.compile(r"actions/[a-z/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
"""An action of GitHub's own, by its commit, with the release that this is."""


def jobs(name: str) -> dict[str, Any]:
    content = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))
    found: dict[str, Any] = content["jobs"]
    return found


def steps(job: dict[str, Any]) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])


MATRICES = [("dialects.yml", "sample"), ("dialects.yml", "mini_dev"), ("ci.yml", "engines")]


@pytest.mark.parametrize(("workflow", "job"), MATRICES)
def test_a_matrix_has_every_version_that_the_code_names(workflow: str, job: str) -> None:
    included = jobs(workflow)[job]["strategy"]["matrix"]["include"]
    assert included == [{"dialect": cell.dialect, "image": cell.image} for cell in cells()]


@pytest.mark.parametrize(("workflow", "job"), MATRICES)
def test_the_image_of_the_matrix_is_the_one_that_is_started(workflow: str, job: str) -> None:
    variables = jobs(workflow)[job]["env"]
    assert variables["BIRD_PROVISION"] == "compose"
    for dialect, variable in (("mysql", "MYSQL_IMAGE"), ("postgresql", "POSTGRES_IMAGE")):
        default = envfile._DEFAULTS[variable]
        assert (
            variables[variable] == f"${{{{ matrix.dialect == '{dialect}' && matrix.image || '{default}' }}}}"
        )


@pytest.mark.parametrize("name", SETS)
def test_coverage_of_each_set_is_run_on_one_service_and_published(name: str) -> None:
    job = jobs("dialects.yml")[name]
    assert "make up DIALECT=${{ matrix.dialect }}" in steps(job)
    assert f"make coverage SET={name} DIALECT=${{{{ matrix.dialect }}}} OUT=coverage" in steps(job)
    [publishing] = [step for step in job["steps"] if "GITHUB_STEP_SUMMARY" in step.get("run", "")]
    assert "cat coverage/*/coverage.md" in publishing["run"]
    assert publishing["if"] == "success() || failure()", "a regression is what a reader wants to see"
    assert "services" not in job


def test_mini_dev_is_covered_where_its_data_are_cached_and_its_absence_is_said() -> None:
    found = jobs("dialects.yml")
    assert found["mini_dev"]["if"] == "needs.data.outputs.mini_dev == 'true'"
    keys = {
        step["with"]["key"]
        for job in found.values()
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/cache")
    }
    assert len(keys) == 1, "what is looked up is what is restored"
    [digested] = re.findall(r"hashFiles\('(.+?)'\)", keys.pop())
    assert (ROOT / digested).is_file()
    assert "not in the cache" in steps(found["data"])
    assert "if" not in found["sample"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_target_and_variable_exists(path: Path) -> None:
    commands = set()
    for job in jobs(path.name).values():
        for line in steps(job).splitlines():
            if not line.strip().startswith("make "):
                continue
            for dialect, image in product(("mysql", "postgresql"), ("mysql:9.7",)):
                filled = line.replace("${{ matrix.dialect }}", dialect).replace("${{ matrix.image }}", image)
                commands.add(filled.strip())
    assert commands
    assert {command: said for command in commands if (said := fault(command))} == {}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_digest_and_may_only_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    content = yaml.safe_load(text)
    used = re.findall(r"\buses: *(.*)", text)
    assert used
    assert [name for name in used if not PINNED.fullmatch(name)] == []
    assert content["permissions"] == {"contents": "read"}


def test_an_action_has_one_digest() -> None:
    used = [
        found
        for path in (*WORKFLOWS, ROOT / "docs" / "how-to" / "ci.md")
        for found in re.findall(r"uses: *(actions/[a-z-]+)\S*@(\S+ # \S+)", path.read_text(encoding="utf-8"))
    ]
    assert len(dict(used)) == len(set(used))

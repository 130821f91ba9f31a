"""The project's workflows, the action, and the recipes for CI.

Workflows run the versions and sets that the code names, by targets that exist, and nothing floats. Each step
of the action and of a recipe that is a command runs here, on the sample; what a service has is read.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from harness.labs.matrix.versions import SETS, cells
from harness.provision import envfile
from harness.provision.dsn import servers_from_environment
from harness.provision.servers import SERVERS
from loaders.sample import PREDICTIONS
from tests.docs.blocks import ROOT, blocks, every_block
from tests.docs.parsing import fault

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
RECIPES = {
    block.title: block.text
    for block in blocks(ROOT / "docs" / "how-to" / "ci.md")
    if block.language == "yaml" and block.title
}
SCHEMAS = {
    "vendor.github-workflows": [
        *(path.read_text(encoding="utf-8") for path in WORKFLOWS),
        *(block.text for block in every_block() if block.language == "yaml" and "\njobs:" in block.text),
    ],
    "vendor.github-actions": [(ROOT / "action.yml").read_text(encoding="utf-8")],
    "vendor.gitlab-ci": [RECIPES[".gitlab-ci.yml"]],
    "vendor.citation-file-format": [(ROOT / "CITATION.cff").read_text(encoding="utf-8")],
}
"""What services read, by the schema that they give for it."""

PINNED = re.compile(r"actions/[a-z/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
"""An action of GitHub's own, by its commit, with the release that this is."""


@pytest.mark.slow
@pytest.mark.parametrize("schema", SCHEMAS)
def test_what_a_service_reads_follows_its_schema(schema: str, tmp_path: Path) -> None:
    for number, text in enumerate(SCHEMAS[schema]):
        (tmp_path / f"{number}.yml").write_text(text, encoding="utf-8")
    checker = str(Path(sys.executable).with_name("check-jsonschema"))
    command = [checker, "--builtin-schema", schema, *map(str, tmp_path.iterdir())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


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


def test_two_releases_of_duckdb_are_covered_that_the_package_allows_the_locked_one_among_them() -> None:
    versions = jobs("dialects.yml")["duckdb"]["strategy"]["matrix"]["version"]
    assert len(versions) == 2
    allowed = next(each for each in map(Requirement, PROJECT["dependencies"]) if each.name == "duckdb")
    assert all(map(allowed.specifier.contains, versions))
    locked = re.findall(
        r"^duckdb==(\S+)", (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert set(locked) < set(versions)


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


@pytest.mark.slow
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


def test_the_actions_of_the_action_are_pinned_by_digest() -> None:
    used = re.findall(r"\buses: *(actions/.*)", (ROOT / "action.yml").read_text(encoding="utf-8"))
    assert len(used) == 2
    assert [name for name in used if not PINNED.fullmatch(name)] == []


def test_a_recipe_gives_the_action_inputs_that_it_has() -> None:
    [step] = [
        each
        for each in yaml.safe_load(RECIPES["text-to-sql.yml"])["jobs"]["score"]["steps"]
        if "bird-harness@" in each["uses"]
    ]
    assert step["with"].keys() <= ACTION["inputs"].keys()


@pytest.mark.parametrize("name", ["text-to-sql.yml", ".gitlab-ci.yml"])
def test_the_servers_of_a_recipe_are_ones_that_its_dsns_name(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = yaml.safe_load(RECIPES[name])
    [job] = content.get("jobs", content).values()
    for variable, value in {**job.get("env", {}), **job.get("variables", {})}.items():
        monkeypatch.setenv(variable, value)
    named = job["services"] if isinstance(job["services"], list) else list(job["services"])
    named = [each["alias"] if isinstance(each, dict) else each for each in named]
    for dialect in SERVERS:
        [*found] = servers_from_environment(dialect)
        assert (str(dialect) in named) is bool(found)
        assert {each.password for each in found} <= {"of-a-throw-away-server"}


class Job:
    """A checkout of a user's, and what the service gives to each step."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        shutil.copytree(PREDICTIONS, self.folder / "answers")
        self.temporary = folder / "temp"
        self.temporary.mkdir()
        self.summary, self.output, self.path = (folder / name for name in ("summary", "output", "path"))

    def step(self, name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run a step of the action, as `shell: bash` says it is run."""
        [step] = [each for each in ACTION["runs"]["steps"] if each.get("name") == name]
        given = {each: about.get("default", "") for each, about in ACTION["inputs"].items()} | inputs

        def filled(value: str) -> str:
            value = re.sub(r"\$\{\{ inputs\.([a-z-]+) }}", lambda found: given[found[1]], value)
            return value.replace("${{ runner.temp }}", str(self.temporary))

        return self.bash(step["run"], {each: filled(value) for each, value in step.get("env", {}).items()})

    def bash(self, script: str, more: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        clean = {
            each: value for each, value in os.environ.items() if not each.startswith(("BIRD_", "PYTEST_"))
        }
        files = {
            "GITHUB_STEP_SUMMARY": self.summary, "GITHUB_OUTPUT": self.output, "GITHUB_PATH": self.path,
            "RUNNER_TEMP": self.temporary, "GITHUB_ACTION_PATH": ROOT, "BIRD_STORE": self.temporary / "store",
            "BIRD_STATE": self.temporary / "state",
        }  # fmt: skip
        environment = {
            **clean,
            "BIRD_PROVISION": "dsn",
            "PATH": f"{Path(sys.executable).parent}:{clean['PATH']}",
            **{each: str(value) for each, value in files.items()},
            **(more or {}),
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Job:
    job = Job(tmp_path_factory.mktemp("job"))
    done = job.step("Score", predictions="answers", arguments="--limit 12 --metrics ex")
    assert done.returncode == 0, done.stdout + done.stderr
    return job


@pytest.mark.slow
@pytest.mark.thorough
def test_the_action_scores_and_writes_a_summary(scored: Job) -> None:
    run = scored.output.read_text(encoding="utf-8").strip().removeprefix("run=")
    assert (scored.folder / run / "summary.json").is_file()
    done = scored.step("Summary")
    assert done.returncode == 0, done.stderr
    assert "| careless |" in scored.summary.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("inputs", "exits", "annotated"),
    [
        ({}, 0, False),
        ({"fail-under": "ex=10"}, 0, False),
        ({"fail-under": "ex=10 ex=99"}, 1, True),
        ({"baseline": "results/latest"}, 0, False),
        ({"baseline": "results/latest", "fail-under": "ex=99"}, 1, True),
    ],
)
def test_the_action_annotates_what_fails(
    scored: Job, inputs: dict[str, Any], exits: int, *, annotated: bool
) -> None:
    done = scored.step("Check", **inputs)
    assert done.returncode == exits, done.stdout + done.stderr
    assert (
        "::error title=Text to SQL::exit code 1: EX of careless on SQLite is " in done.stdout
    ) is annotated


@pytest.mark.slow
@pytest.mark.thorough
def test_what_a_step_prints_is_no_command_of_the_runner(scored: Job) -> None:
    for name, inputs in (("Score", {"predictions": "nowhere"}), ("Check", {"fail-under": "ex=99"})):
        lines = scored.step(name, **inputs).stdout.splitlines()
        [(first, token)] = re.findall(r"^(::stop-commands::)(\w{64})$", lines[0])
        last = lines.index(f"::{token}::")
        assert first
        assert not [line for line in lines[1:last] if line.startswith("::")]
        assert all(line.startswith("::error title=Text to SQL::") for line in lines[last + 1 :])


@pytest.mark.slow
@pytest.mark.thorough
def test_an_input_is_never_run_as_a_command(scored: Job) -> None:
    done = scored.step("Score", predictions="$(touch hurt)", arguments="; touch hurt")
    assert done.returncode == 2, done.stdout + done.stderr
    assert not (scored.folder / "hurt").exists()


@pytest.mark.slow
@pytest.mark.thorough
def test_the_script_for_gitlab_runs(scored: Job) -> None:
    job = yaml.safe_load(RECIPES[".gitlab-ci.yml"])["text-to-sql"]
    shutil.copytree(scored.folder / "results" / "latest", scored.folder / "baseline")
    # There is no server here: what runs on PostgreSQL runs on SQLite in the same way.
    script = "\n".join(job["script"]).replace("postgresql", "sqlite --bird-limit 12 --bird-metrics ex")
    done = scored.bash(script.replace("--bird-fail-under 50", "--bird-fail-under 10"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert (scored.folder / job["artifacts"]["reports"]["junit"]).is_file()

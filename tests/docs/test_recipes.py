"""The recipes for CI: each step that is a command runs here, on the sample; what a service has is read."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.provision.dsn import all_from_environment
from harness.provision.server_kinds import SERVERS
from loaders.sample import PREDICTIONS
from tests.docs.blocks import ROOT, blocks
from tests.docs.test_workflows import PINNED

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
RECIPES = {
    block.title: block.text
    for block in blocks(ROOT / "docs" / "how-to" / "ci.md")
    if block.language == "yaml" and block.title
}
_SCHEMAS = {"text-to-sql.yml": "vendor.github-workflows", ".gitlab-ci.yml": "vendor.gitlab-ci"}


@pytest.mark.parametrize("name", [*_SCHEMAS, "action.yml"])
def test_a_recipe_follows_the_schema_of_its_service(name: str, tmp_path: Path) -> None:
    path = tmp_path / name.lstrip(".")
    text = RECIPES[name] if name in RECIPES else (ROOT / name).read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    schema = _SCHEMAS.get(name, "vendor.github-actions")
    checker = Path(sys.executable).with_name("check-jsonschema")
    done = subprocess.run(
        [checker, "--builtin-schema", schema, path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


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


@pytest.mark.parametrize("name", _SCHEMAS)
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
        [*found] = all_from_environment(dialect)
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


def test_the_action_scores_and_writes_a_summary(scored: Job) -> None:
    run = scored.output.read_text(encoding="utf-8").strip().removeprefix("run=")
    assert (scored.folder / run / "summary.json").is_file()
    done = scored.step("Summary")
    assert done.returncode == 0, done.stderr
    assert "| careless |" in scored.summary.read_text(encoding="utf-8")


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


def test_an_input_is_never_run_as_a_command(scored: Job) -> None:
    done = scored.step("Score", predictions="$(touch hurt)", arguments="; touch hurt")
    assert done.returncode == 2, done.stdout + done.stderr
    assert not (scored.folder / "hurt").exists()


def test_the_script_for_gitlab_runs(scored: Job) -> None:
    job = yaml.safe_load(RECIPES[".gitlab-ci.yml"])["text-to-sql"]
    shutil.copytree(scored.folder / "results" / "latest", scored.folder / "baseline")
    # There is no server here: what runs on PostgreSQL runs on SQLite in the same way.
    script = "\n".join(job["script"]).replace("postgresql", "sqlite --bird-limit 12 --bird-metrics ex")
    done = scored.bash(script.replace("--bird-fail-under 50", "--bird-fail-under 10"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert (scored.folder / job["artifacts"]["reports"]["junit"]).is_file()

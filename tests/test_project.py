"""The project's own files: README, Makefile, workflows and lock agree with each other."""

import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Collection
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from tests.conftest import chooses, may_choose
from tests.longest import longest, ran_on

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
    assert len(commands(ROOT / "README.md")) >= 7
    assert [command for command in commands(ROOT / "README.md") if command not in ci] == []


Markers = Collection[str]


def chosen(command: str) -> Callable[[Markers], bool]:
    """Whether a `make` of the tests runs a test with some markers: pytest obeys the last `-m`."""
    [*commands] = re.findall(r"-m pytest (.*)", dry(*shlex.split(command)[1:]).stdout)
    expressions = [word for before, word in pairwise(shlex.split(commands[-1])) if before == "-m"]
    if not expressions:
        return lambda _: True
    return partial(chooses, expressions[-1])


def test_ci_runs_every_test_whatever_markers_it_has() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    stages = [chosen(each) for each in re.findall(r"^as_newcomer (make (?:check|test).*)$", ci, re.MULTILINE)]
    assert len(stages) == 3
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    markers = [each.partition(":")[0] for each in project["tool"]["pytest"]["ini_options"]["markers"]]
    assert "thorough" in markers
    some = [each for count in range(len(markers) + 1) for each in combinations(markers, count)]
    assert [each for each in some if not any(runs(each) for runs in stages)] == []


def test_make_test_leaves_out_what_is_thorough_alone_and_make_test_all_nothing() -> None:
    for markers in ({"thorough"}, {"thorough", "engine"}, {"engine"}, {"slow", "bird"}, set[str]()):
        assert chosen("make test")(markers) is ("thorough" not in markers)
        assert chosen("make test-all")(markers)


@pytest.mark.parametrize(
    ("expression", "text", "is_collected"),
    [
        ("engine", "", False),
        ("engine", "@pytest.mark.engine", True),
        ("engine", "from tests.every_engine import EVERY_ENGINE", True),
        ("not engine", "@pytest.mark.engine", True),
        ("not engine", "pytestmark = pytest.mark.engine", False),
        ("not engine and not slow", "pytestmark = [pytest.mark.slow, pytest.mark.bird]", False),
        ("(engine or slow) and not thorough", "@pytest.mark.thorough", False),
        ("(engine or slow) and not thorough", "@pytest.mark.slow", True),
        ("(engine or slow) and not thorough", "pytestmark = [pytest.mark.slow, pytest.mark.thorough]", False),
        ("thorough or hypothesis", "from hypothesis import given", True),
        ("thorough or hypothesis", "@pytest.mark.slow", False),
        ("not (thorough or slow)", "pytestmark = pytest.mark.slow", False),
        ("not engine or slow", "pytestmark = pytest.mark.engine", False),
        ("not engine or slow", "pytestmark = pytest.mark.engine  # slow", True),
        ("of_a_plugin and slow", "@pytest.mark.slow", True),
    ],
)
def test_a_module_is_not_collected_only_if_none_of_its_tests_is_chosen(
    expression: str, text: str, *, is_collected: bool, tmp_path: Path
) -> None:
    module = tmp_path / "test_some.py"
    module.write_text(text, encoding="utf-8")
    assert may_choose(expression, module) is is_collected


def test_a_conftest_may_mark_the_tests_beside_it(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('item.add_marker("slow")', encoding="utf-8")
    module = tmp_path / "test_some.py"
    module.touch()
    assert may_choose("slow", module)
    assert not may_choose("engine", module)


def test_the_tests_that_ci_names_are_there() -> None:
    named = re.findall(r"\btests/[\w/.]*\w", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []


MADE_WITH_THE_SITE = {"example/report.html"}
"""What `make docs` makes beside the pages."""


def test_links_between_documents_lead_somewhere() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("loaders/sample/**/*.md")]
    broken = [
        (document.name, target)
        for document in documents
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8"))
        if not (document.parent / target).exists() and target not in MADE_WITH_THE_SITE
    ]
    assert broken == []


def test_make_alone_prints_every_target_and_variable() -> None:
    done = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True, check=True)
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)[0].split()
    variables = set(re.findall(r"^([A-Z]+) \?=", text, re.MULTILINE)) - {"PYTHON"}
    assert len(targets) > 25
    assert len(variables) > 20
    assert [target for target in targets if not re.search(rf"make {target} +\w", done.stdout)] == []
    assert [name for name in variables if not re.search(rf"^  {name} +\w", done.stdout, re.MULTILINE)] == []


@pytest.mark.parametrize("lock", sorted(ROOT.glob("requirements/*.txt")), ids=lambda path: path.name)
def test_the_lock_has_a_hash_for_everything_and_names_no_index(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    pins = re.findall(r"^[a-z][\w.-]*==", text, flags=re.MULTILINE | re.IGNORECASE)
    assert pins
    assert text.count("--hash=sha256:") >= len(pins)
    assert "://" not in text


def pins(lock: str) -> dict[str, str]:
    """Each package of a lock with its version and hashes; others may want it on more systems than it does."""
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    found = re.findall(r"^([a-z][\w.-]*)(==(?:.*\\\n)+.*)$", text, flags=re.MULTILINE)
    return {name: re.sub(r" ; [^\\\n]*", " ", pin.partition("# via")[0]).rstrip() for name, pin in found}


def test_the_lock_for_running_is_a_part_of_the_one_for_developing() -> None:
    running, developing = pins("run.txt"), pins("dev.txt")
    assert running.items() < developing.items()
    assert {"mypy", "playwright", "ray", "ruff", "zensical"} <= developing.keys() - running.keys()


def test_the_lock_for_running_has_what_the_project_and_its_installation_need() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, extras = declared["project"], declared["project"]["optional-dependencies"]
    needed = [
        *project["dependencies"],
        *extras["hf"],
        *extras["models"],
        *declared["dependency-groups"]["build"],
    ]
    names = {re.split(r"[^\w.-]", each)[0].replace("_", "-").lower() for each in needed}
    assert names - pins("run.txt").keys() == set()


def dry(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What `make` would do on a fresh machine."""
    command = ["make", "-C", str(ROOT), "--no-print-directory", "-n", "VENV=/nowhere", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("target", "locks"),
    [
        *(
            (target, ["run"])
            for target in ("up", "down", "status", "load", "eval", "predict", "report", "runs")
        ),
        *(
            (target, ["run", "dev"])
            for target in ("setup", "check", "test", "test-all", "lint", "docs", "bench", "format", "fuzz")
        ),
    ],
)
def test_a_target_installs_what_it_needs_and_no_more(target: str, locks: list[str]) -> None:
    done = dry(target)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"--require-hashes -r requirements/(run|dev)\.txt", done.stdout) == locks


@pytest.mark.parametrize(
    ("given", "meant"),
    [("DAILECT=mysql", "DIALECT"), ("dialect=mysql", "DIALECT"), ("LIMITS=3", "LIMIT"), ("SETS=dev", "SET")],
)
def test_make_refuses_a_misspelt_variable_and_names_the_nearest(given: str, meant: str) -> None:
    done = dry("eval", given)
    assert done.returncode == 2
    assert f"there is no variable {given.partition('=')[0]}; perhaps {meant} is meant" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_make_refuses_an_unknown_variable_and_passes_those_of_the_environment() -> None:
    refused = dry("eval", "TEMPERATURE_OF_MODEL=1")
    assert refused.returncode == 2
    assert "one for the environment goes before make" in refused.stderr
    assert dry("eval", "BIRD_HOME=/data", "DIALECT=all").returncode == 0


def test_a_switch_of_make_that_is_0_is_off() -> None:
    assert "--native" in dry("up", "NATIVE=1").stdout
    assert "--native" not in dry("up", "NATIVE=0").stdout


def test_scripts_are_bash_and_pass_its_syntax_check() -> None:
    bash = shutil.which("bash")
    assert bash
    scripts = [ROOT / ".ci" / "run", ROOT / ".ci" / "docker-engine", *ROOT.glob("docker/*/*.sh")]
    for script in scripts:
        assert subprocess.run([bash, "-n", str(script)], check=False).returncode == 0, script


def test_a_run_says_what_it_ran_on_and_which_modules_took_longest() -> None:
    assert ran_on(["mysql 9, native", "mysql 9, native"]) == "RAN ON: mysql 9, native"
    assert ran_on([]) == "RAN ON: no server"
    assert longest(
        [("a.py::one", 1.0), ("b.py::two[x::y]", 2.0), ("a.py::three", 5.0), ("c.py::four", 0.1)]
    ) == [
        "LONGEST:     6 s, 74%  a.py",
        "LONGEST:     2 s, 25%  b.py",
    ]
    assert longest([]) == []

"""How outcomes look: letters, words, counts, and what `--junitxml` writes."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from harness.data.outcomes import Outcome
from harness.pytest_plugin.pairs import LETTERS
from tests.harness.pytest_plugin.running import counts, item, outcomes, score

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

SOME = ("--bird-limit", "8", "-k", "careless")


def test_every_outcome_has_a_letter_of_its_own() -> None:
    letters = [letter for letter, _ in LETTERS.values()]
    assert list(LETTERS) == list(Outcome)
    assert len(set(letters)) == len(letters)
    assert not set("sFE") & set(letters), "those of pytest for what is no outcome"


def test_letters_words_and_colours_tell_outcomes_apart(tmp_path: Path) -> None:
    plain = score(*SOME, cwd=tmp_path)
    assert ".x.x.x.e" in "".join(re.findall(r"^(?:answers/\S+ )?([.xe]+)", plain.stdout, re.MULTILINE))
    assert counts(plain) == {"match": 4, "mismatch": 3, "prediction_error": 1, "deselected": 8}
    verbose = score(*SOME, "-v", "--color", "yes", cwd=tmp_path).stdout
    assert re.search(rf"{re.escape(item('2'))} \x1b\[33mMISMATCH", verbose), "yellow"
    assert re.search(rf"{re.escape(item('1'))} \x1b\[32mMATCH", verbose), "green"


def test_the_short_summary_lists_outcomes_that_do_not_fail_only_when_all_is_asked_for(
    tmp_path: Path,
) -> None:
    line = f"MISMATCH {item('2')}"
    assert line not in score(*SOME, "-ra", cwd=tmp_path).stdout
    shown = score(*SOME, "-rA", cwd=tmp_path).stdout
    assert line in shown
    assert f"MATCH {item('1')}" in shown


def test_the_tables_stand_in_the_terminal_summary_and_reports_in_the_folder(tmp_path: Path) -> None:
    done = score(*SOME, cwd=tmp_path)
    assert done.stdout.index("= scores =") < done.stdout.index("EX (%)") < done.stdout.index("run folder: ")
    assert (tmp_path / "results" / "latest" / "tables.md").exists()
    less = score(*SOME, "--bird-no-report", "--no-summary", cwd=tmp_path)
    assert less.returncode == 0, less.stdout + less.stderr
    assert len(outcomes(tmp_path / "results")) == 8, "a run is complete, whatever is shown of it"
    assert not (tmp_path / "results" / "latest" / "tables.md").exists()


_CHILDREN = {"properties": 0, "skipped": 1, "error": 1, "failure": 1, "system-out": 2, "system-err": 2}
"""Elements of a testcase in their order: https://github.com/testmoapp/junitxml"""


def _check(path: Path) -> ET.Element:
    """The one suite of a JUnit file, after a look at its structure."""
    root = ET.parse(path).getroot()  # noqa: S314 - our own
    assert root.tag == "testsuites"
    (suite,) = root
    cases = suite.findall("testcase")
    assert suite.tag == "testsuite"
    assert [child.tag for child in suite] == ["testcase"] * len(cases)
    assert int(suite.attrib["tests"]) == len(cases)
    for kind, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.attrib[kind]) == len(suite.findall(f"testcase/{element}"))
    for case in cases:
        assert case.attrib.keys() == {"classname", "name", "time"}
        assert float(case.attrib["time"]) >= 0
        places = [_CHILDREN[child.tag] for child in case]
        assert places == sorted(places)
        for entry in case.findall("properties/property"):
            assert entry.attrib.keys() == {"name", "value"}
    return suite


@pytest.mark.parametrize("parallel", [[], ["-n", "2"]])
def test_junit_xml_is_valid_and_has_outcome_engine_and_predictor(parallel: list[str], tmp_path: Path) -> None:
    done = score(*SOME, *parallel, "--junitxml", "junit.xml", "--bird-fail-on", "mismatch", cwd=tmp_path)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    suite = _check(tmp_path / "junit.xml")
    found: Counter[str] = Counter()
    for case in suite.findall("testcase"):
        properties = {entry.attrib["name"]: entry.attrib["value"] for entry in case.findall("properties/*")}
        assert properties.keys() == {
            "outcome", "dialect", "predictor", "question", "database", "difficulty",
        }  # fmt: skip
        assert (properties["dialect"], properties["predictor"]) == ("sqlite", "careless")
        assert case.attrib["name"] == properties["question"]
        failures = case.findall("failure")
        assert bool(failures) == (properties["outcome"] == "mismatch")
        found[properties["outcome"]] += 1
    assert found == {"match": 4, "mismatch": 3, "prediction_error": 1}

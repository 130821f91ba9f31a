"""Whether the databases of a run are the published ones stands wherever its figures do."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from harness.data.published_sets import Provenance, provenances, sets_by_name
from harness.labs.gap.explanations import Gap
from harness.labs.gap.tables import synthetic_lines
from harness.report.console import console_text
from harness.report.documents import cautions, tables
from harness.report.texts import json_text, latex, markdown
from harness.runs.reader import MANIFEST, SUMMARY, databases_note, read_run
from tests.harness import small_sets as small
from tests.harness.conftest import Call
from tests.harness.report.tables import results, write_run

WORDS = "Not Mini-Dev results: 1 of 2 databases are not the published ones"


def run_of(parent: Path, provenance: Mapping[str, str] | None, set_name: str = "mini_dev") -> Path:
    return write_run(
        parent, results(["p"], [Dialect.SQLITE]), set=set_name, provenance=provenance, planned=None
    )


@pytest.mark.parametrize("set_name", ["mini_dev", "mini_dev_2025", "dev"])
def test_databases_are_told_by_their_digests(set_name: str) -> None:
    entry = sets_by_name()[set_name]
    files = sets_by_name()[entry.databases_of or set_name].files
    there = {Path(path).stem: digest for path, digest in files.items() if path.endswith(".sqlite")}
    assert len(there) > 5
    assert set((provenances(set_name, there) or {}).values()) == {Provenance.PUBLISHED}
    assert databases_note({"set": set_name, "provenance": provenances(set_name, there)}) == []
    first, *_ = there
    for other in ("0" * 64, None):
        (note,) = databases_note(
            {"set": set_name, "provenance": provenances(set_name, {**there, first: other})}
        )
        assert note.startswith(f"Not {'BIRD dev' if set_name == 'dev' else 'Mini-Dev'} results: 1 of ")
        assert first in note


@pytest.mark.parametrize(
    ("states", "is_said"),
    [
        ({}, False),
        (None, False),
        ({"a": "published"}, False),
        ({"a": "published", "b": "unknown"}, False),
        ({"a": "published", "b": "other"}, True),
        ({"a": "unknown", "b": "other"}, True),
        ({"a": "unknown"}, True),
    ],
)
def test_it_is_said_of_what_is_known_not_to_be_published_and_of_what_nobody_knows(
    states: Mapping[str, str] | None,
    *,
    is_said: bool,
) -> None:
    assert bool(databases_note({"set": "mini_dev", "provenance": states})) == is_said


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ("OOU", "2 of 3 databases are not the published ones; for 1 no published digest is known"),
        ("OP", "1 of 2 databases are not the published ones"),
        ("PPU", None),
        ("UU", "0 of 2 databases have the digests of published ones; for 2 no published digest is known"),
        ("", None),
    ],
)
def test_a_gap_counts_databases_as_a_run_does(states: str, said: str | None) -> None:
    letters = {each.name[0]: each for each in Provenance}
    databases = {f"d{place}": letters[letter] for place, letter in enumerate(states)}
    of_gap = synthetic_lines(Gap("run", "mini_dev", Profile.OFFICIAL, [], provenance=databases))
    of_run = databases_note({"set": "mini_dev", "provenance": databases}, are_named=False)
    assert [said in line for line in (*of_gap, *of_run) if said] == ([True, True] if said else [])
    assert len(of_gap) == len(of_run) == (1 if said else 0)


def test_every_form_says_it_once_and_is_made_of_the_folder_alone(tmp_path: Path) -> None:
    run = read_run(run_of(tmp_path, {"a": "published", "b": "other"}))
    document = tables(run)
    forms = (console_text(document.grids), markdown(document, "t"), latex(document, "t"), json_text(document))
    for text in forms:
        said = re.sub(r"\s+", " ", text.replace("{-}", "-"))
        assert said.count(WORDS) == 1, text
    assert [line for line in cautions(run.manifest) if WORDS in line] == cautions(run.manifest)
    (note,) = json.loads((run.folder / SUMMARY).read_text(encoding="utf-8"))["notes"]
    assert WORDS in note


def test_a_run_over_the_published_databases_and_one_of_the_own_sample_are_silent(tmp_path: Path) -> None:
    for states, name in (({"a": "published"}, "mini_dev"), (None, "sample")):
        run = read_run(run_of(tmp_path, states, name))
        assert "published ones" not in markdown(tables(run), "t")
        assert json.loads((run.folder / SUMMARY).read_text(encoding="utf-8"))["notes"] == []


@pytest.mark.slow
@pytest.mark.parametrize("driver", ["direct", "pytest"])
def test_the_command_says_it_and_records_it(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: str
) -> None:
    small.write_mini_dev(tmp_path)
    small.write_json(tmp_path / "predict_mini_dev_m_sqlite.json", small.official())
    monkeypatch.setenv("BIRD_HOME", str(tmp_path))
    code, printed, errors = call(
        "eval", "--set", "mini_dev", "--predictions", str(tmp_path / "predict_mini_dev_m_sqlite.json"),
        "--dialect", "sqlite", "--driver", driver,
    )  # fmt: skip
    assert code == 0, errors
    assert "Not Mini-Dev results" in printed or "no published digest is known" in printed
    folder = tmp_path / "results" / "latest"
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    assert set(manifest["provenance"].values()) <= set(Provenance)
    (note,) = databases_note(manifest)
    assert json.loads((folder / SUMMARY).read_text(encoding="utf-8"))["notes"] == [note]


def test_golds_that_are_translated_are_never_shown_as_published() -> None:
    assert cautions({"translated": ["duckdb"]}) == [
        "Golds on DuckDB are translated from SQLite's, in profile faithful"
    ]

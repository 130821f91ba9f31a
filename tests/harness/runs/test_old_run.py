"""A run folder that version 0.1.0 wrote before records were read by a library is read as it was."""

import json
import shutil
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.report.files import write_reports
from harness.runs.folder import RunFolder
from harness.runs.plans import PLANS, read_plans
from harness.runs.reader import PREVIEWS, QUESTIONS, RESULTS, USAGE, read_previews, read_questions, read_run

OLD = Path(__file__).with_name("old_run")


def lines(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def results_of_today() -> list[Any]:
    """Return the lines of results with what was added to them since: `runs`, empty without `--repeat`."""
    results: list[Any] = lines(OLD / RESULTS)
    for result in results:
        for timing in result["timings"].values():
            timing["runs"] = []
    return results


def test_every_file_is_read_and_the_tables_are_the_same_bytes(tmp_path: Path) -> None:
    folder = shutil.copytree(OLD, tmp_path / "run")
    run = read_run(folder)
    assert {result.outcome for result in run.results} == {
        Outcome.MATCH, Outcome.MISMATCH, Outcome.PREDICTION_ERROR, Outcome.MISSING,
    }  # fmt: skip
    assert [json.loads(result.to_line()) for result in run.results] == results_of_today()
    assert all(result.structure or result.outcome is Outcome.MISSING for result in run.results)
    assert {kind for result in run.results for kind in result.timings} == {"official", "stable"}
    assert len(read_questions(folder)) == len(lines(OLD / QUESTIONS)) == 6
    assert len(read_previews(folder)) == len(lines(OLD / PREVIEWS)) > 0
    assert [plan.to_json() for plan in read_plans(folder).values()] == lines(OLD / PLANS)
    assert [
        dict(zip(("dialect", "predictor", "question"), key, strict=True)) | took.to_json()
        for key, took in run.usage.items()
    ] == lines(OLD / USAGE)
    write_reports(folder)
    assert (folder / "tables.md").read_bytes() == (OLD / "tables.md").read_bytes()


def test_it_is_resumed_with_nothing_left_to_do_and_written_as_it_was(tmp_path: Path) -> None:
    folder = shutil.copytree(OLD, tmp_path / "run")
    manifest = json.loads((OLD / "manifest.json").read_text(encoding="utf-8"))
    with RunFolder.resume(folder, manifest, manifest["metrics"]) as resumed:
        assert len(resumed.done) == 6
        assert (Dialect.SQLITE, "jotter", "1") in resumed.done
        resumed.finish()
    # As JSON: Python and msgspec write some small numbers in different ways.
    assert lines(folder / RESULTS) == results_of_today()
    assert lines(folder / PREVIEWS) == lines(OLD / PREVIEWS)
    old, new = (json.loads((path / "summary.json").read_text(encoding="utf-8")) for path in (OLD, folder))
    for score in old["scores"]:
        # Since then, `report --by error-group` has these, and looks into databases.
        del score["error_groups"]
    assert new | {"run_id": ""} == old | {"run_id": ""}

"""The view of a pair that is right by chance shows the database that refutes it."""

from pathlib import Path

from harness.runs.reader import read_run, read_witness
from loaders.base.files import as_json
from tests.harness.html.conftest import View
from tests.harness.html.test_views import address
from tests.harness.real_runs import evaluated

LUCKY = "SELECT [Opening Hours] FROM branches WHERE name LIKE '%Hillcrest%'"


def test_a_refuted_pair_has_its_witness(view: View, tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text(as_json({"question_id": 3, "sql": LUCKY}))
    named = ("--predictions", "answers.jsonl", "--predictor", "lucky", "--question", "3")
    folder = evaluated(tmp_path, *named, "--dialect", "sqlite", "--metrics", "ex,ex_tested")
    [result] = read_run(folder).results
    witness = read_witness(folder, result)
    assert witness is not None
    assert witness.preview is not None
    assert witness.preview.predicted is not None
    page = view(folder / "report.html").go(address(result))
    shown = page.locator("section[aria-labelledby=witness]")
    sizes = shown.locator(".size").all_inner_texts()
    sides = (witness.preview.gold, witness.preview.predicted)
    tables = [len(table.rows) for table in witness.tables if table.rows]
    expected = [*tables, *(side.count for side in sides)]
    assert [int(size.split()[0]) for size in sizes] == expected
    assert shown.locator(".note").inner_text().startswith(f"refuted: {witness.difference}")
    assert page.locator("dl", has_text="Tested").inner_text().count("refuted") == 1

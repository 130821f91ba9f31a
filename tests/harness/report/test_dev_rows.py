"""The rows of BIRD's paper, as it prints them, beside those of a run of a small dev set."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dialects.enums import Dialect
from tests.harness import small_sets as small

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder of data with a small dev and the two files that BIRD publishes for it."""
    folder = tmp_path / "data"
    small.write_dev(folder)
    asked = small.questions(small.LATER_REVISION, Dialect.SQLITE)
    for stem, wrong in (("chatgpt", (1,)), ("chatgpt_knowledge", ())):
        answers = {
            str(place): f"{'SELECT 99' if place in wrong else one['SQL']}{small.SEPARATOR}{one['db_id']}"
            for place, one in enumerate(asked)
        }
        small.write_json(folder / f"predict_dev_{stem}.json", answers)
    return folder


@pytest.mark.usefixtures("home")
def test_the_papers_rows_stand_beside_ours(tmp_path: Path, call: Call) -> None:
    out = tmp_path / "results"
    code, text, err = run(call, "--out", str(out))
    assert code == 0, err
    (chatgpt,) = [line for line in text.splitlines() if line.startswith(" ChatGPT  ")][:1]
    # Simple: two of two; moderate: none of one; challenging: one of one.
    assert chatgpt.split()[1:] == ["31.08", "13.29", "12.08", "24.05", "100.00", "0.00", "100.00", "75.00"]
    assert "Human + KG (test set)" in text
    assert "https://arxiv.org/abs/2305.03111" in text
    assert "Ours is not measured: add --metrics ex,ves." in text
    folder = out / "latest"
    with (folder / "reproduce-dev.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {(row["metric"], row["predictor"], row["by"], row["level"]): row["value"] for row in rows}
    assert found["ves", "chatgpt_knowledge", "published", "total"] == "43.81"
    assert found["ex", "chatgpt_knowledge", "ours", "total"] == "100.0"
    assert ("ex", "Codex", "published", "total") not in found
    before = (folder / "reproduce-dev.md").read_text(encoding="utf-8")
    (folder / "reproduce-dev.md").unlink()
    assert call("report", str(folder))[0] == 0
    assert (folder / "reproduce-dev.md").read_text(encoding="utf-8") == before
    assert json.loads((folder / "reproduce-dev.json").read_text(encoding="utf-8"))["tables"]


def run(call: Call, *args: str) -> tuple[int, str, str]:
    """With what is in `data`, where commands look for it."""
    return call("reproduce", "--set", "dev", "--workers", "1", *args)


def test_a_file_that_names_its_predictor_alone_is_read(home: Path, tmp_path: Path, call: Call) -> None:
    answers = json.loads((home / "predict_dev_chatgpt.json").read_text(encoding="utf-8"))
    small.write_json(home / "predict_dev_my model.json", answers)
    code, text, err = run(call, "--out", str(tmp_path / "other"))
    assert code == 0, err
    assert " my model " in text


@pytest.mark.usefixtures("home")
def test_json_alone_goes_to_standard_output(tmp_path: Path, call: Call) -> None:
    code, text, err = run(call, "--out", str(tmp_path / "results"), "--json")
    assert code == 0, err
    assert json.loads(text)["tables"]


@pytest.mark.parametrize(
    ("args", "says"),
    [(("--set", "sample"), "no figures are published for it; choose one of mini_dev, dev"),
     (("--set", "dev"), "no predict_dev_*.json in data")],
)  # fmt: skip
def test_bad_usage_is_one_line(args: tuple[str, ...], says: str, call: Call) -> None:
    code, _, err = call("reproduce", *args)
    assert (code, err.count("\n")) == (2, 1)
    assert says in err

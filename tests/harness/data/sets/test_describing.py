"""What `describe` says of sets, held against what was put into them."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness.analyses.describe import describe
from harness.data.sets.loader import load_set
from tests.harness import own_sets as sets
from tests.harness.conftest import Call


def shop(folder: Path) -> Path:
    """A set with a manifest, which names domains and grades of its own."""
    sets.database(folder / "files" / "shop.db")
    asked = [
        {**one, "difficulty": level, "evidence": "" if level == "easy" else "a hint"}
        for one, level in zip(sets.records(), ("easy", "hard", "hard", "easy"), strict=True)
    ]
    sets.write(folder / "questions.json", asked)
    manifest = 'name = "shop"\nquestions = "questions.json"\ndatabases = "files"\nlevels = ["easy", "hard"]\n'
    sets.write(folder / "benchmark.toml", f'{manifest}[domains]\nshop = "trade"\n')
    return folder


def test_a_set_is_counted(tmp_path: Path) -> None:
    found = describe(load_set(str(shop(tmp_path / "shop"))))
    assert (found.questions, found.with_knowledge) == (4, 2)
    assert found.levels == {"easy": 2, "hard": 2}
    assert {each: count for each, count in found.types.items() if count} == {
        "ranking": 1, "comparison": 1, "counting": 1
    }  # fmt: skip
    (about,) = found.databases.values()
    assert (about.questions, about.domain) == (4, "trade")
    assert about.size is not None
    assert (about.size.tables, about.size.columns, about.size.rows) == (2, 5, 6)
    assert found.values == {"integer": 12, "real": 0, "text": 3, "blob": 0, "date": 0, "datetime": 0}
    assert found.left_out == []
    golds = found.golds
    assert (golds.counted, golds.with_function, dict(golds.joins)) == (4, 0, {0: 3, 1: 1}), (
        "aggregates are no functions"
    )
    assert golds.functions["COUNT"].golds == golds.functions["MAX"].golds == 1
    assert (golds.keywords["SELECT"].occurrences, golds.keywords["SELECT"].golds) == (5, 4)
    assert golds.joins_each is not None
    assert (golds.joins_each.mean, golds.joins_each.median, golds.joins_each.greatest) == (0.25, 0, 1)


def test_functions_are_counted_by_kind(tmp_path: Path) -> None:
    golds = [
        "SELECT COUNT(*), MAX(price) FROM items",
        "SELECT CAST(ROUND(price) AS TEXT) FROM items",
        "SELECT strftime('%Y', day), substr(name, 1) FROM sales, items",
        "SELECT SUM(price) OVER () FROM items",
    ]
    folder = shop(tmp_path / "shop")
    sets.write(
        folder / "questions.json",
        [one | {"SQL": sql} for one, sql in zip(sets.records(), golds, strict=True)],
    )
    found = describe(load_set(str(folder)))
    assert found.golds.kinds == {"window": 1, "date": 1, "conversion": 1, "math": 1, "string": 1}
    assert found.golds.with_function == 3


@pytest.mark.parametrize("evidence", ["", "a hint"])
def test_types_that_need_evidence_are_unknown_without_any(evidence: str, tmp_path: Path) -> None:
    folder = shop(tmp_path / "shop")
    sets.write(folder / "questions.json", [one | {"evidence": evidence} for one in sets.records()])
    types = describe(load_set(str(folder))).types
    assert ("synonym" in types) is bool(evidence)
    assert "counting" in types


HEAD = "original_column_name,column_name,column_description,data_format,value_description\n"


def test_description_files_are_checked_against_the_database(tmp_path: Path, call: Call) -> None:
    folder = shop(tmp_path / "shop")
    files = folder / "files" / "shop" / "database_description"
    files.mkdir(parents=True)
    lines = "id,,,integer,\nName ,,caf\u00e9,text,\nprice,,,integer,in cents\nwins,,none,,\n"
    (files / "items.csv").write_bytes((HEAD + lines).encode("cp1252"))
    (files / "other.csv").write_bytes((HEAD + "a,b,c,d,e\n").encode("utf-8-sig"))
    (about,) = describe(load_set(str(folder))).databases.values()
    assert about.files is not None
    assert (about.files.described, about.files.encodings) == (
        2,
        {"Windows-1252": 1, "UTF-8 with a byte order mark": 1},
    )
    assert [fault.removeprefix(str(files)).lstrip(": /") for fault in about.files.faults] == [
        "items.csv: line 5: table items has no column wins",
        "other.csv: shop has no table other",
        "no file describes table sales",
    ]
    code, out, err = call("describe", "--set", str(folder), "--json")
    assert code == 0, err
    assert json.loads(out)["sets"][0]["databases"]["shop"]["files"]["described"] == 2
    (files / "other.csv").write_text("name\n", encoding="utf-8")
    assert "line 1 has no column original_column_name" in call("describe", "--set", str(folder))[2]


@pytest.mark.slow
@pytest.mark.bird
def test_columns_of_the_kit_that_no_file_describes_are_counted(bird_home: Path) -> None:
    found = describe(load_set("mini_dev", bird_home)).databases
    described = {db_id: one.files.described for db_id, one in found.items() if one.files}
    assert len(described) == 11
    assert described["european_football_2"] == 103
    assert sum(len(one.files.faults) for one in found.values() if one.files) == 1


def test_dates_are_told_from_texts() -> None:
    found = describe(load_set("sample"))
    kinds = found.values
    assert kinds["date"] > 500
    assert kinds["datetime"] > 300
    assert kinds["text"] > 1000


@pytest.mark.parametrize("layout", list(sets.FAMILIES))
def test_every_layout_is_described_with_questions_alone(layout: str, tmp_path: Path, call: Call) -> None:
    folder = sets.FAMILIES[layout](tmp_path / "bench")
    for path in [*folder.rglob("*.sqlite"), *folder.rglob("*.db")]:
        path.unlink()
    code, out, err = call("describe", "--set", str(folder))
    assert code == 0, err
    assert "databases are not there or cannot be read, so their tables, rows and values are left out" in err
    assert "Value types" not in out
    assert "Keywords by category" in out


def test_a_manifest_whose_databases_are_missing_is_described(tmp_path: Path, call: Call) -> None:
    folder = shop(tmp_path / "shop")
    shutil.rmtree(folder / "files")
    code, out, err = call("describe", "--set", str(folder))
    assert (code, "trade" in out) == (0, True), err
    code, _, err = call("eval", "--set", str(folder), "--predictions", "x")
    assert code == 2
    assert "databases: there is no" in err


@pytest.mark.slow
def test_sets_stand_side_by_side_in_every_form(tmp_path: Path, call: Call) -> None:
    folder = shop(tmp_path / "shop")
    both = ("describe", "--set", str(folder), "--set", "sample")
    code, text, _ = call(*both, "--format", "markdown")
    assert code == 0
    assert "| shop | 4 | 1 | 1 | 2.0 | 5.0 | 6.0 |" in text
    assert "| sample | 66 | 4 | 4 |" in text
    assert "| easy | 2 | 50.00 |  |  |" in text
    code, text, _ = call(*both, "--format", "json")
    content = json.loads(text)
    assert [one["name"] for one in content["sets"]] == ["shop", "sample"]
    assert content["sets"][0]["databases"]["shop"]["size"]["rows"] == 6
    page = tmp_path / "page.html"
    code, _, err = call(*both, "--format", "html", "--out", str(page))
    assert (code, f"written: {page}" in err) == (0, True)
    hold_page(page.read_text(encoding="utf-8"))


class Seen(HTMLParser):
    """What a page has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def hold_page(text: str) -> None:
    """Nothing is loaded or run, and each chart and table says what it is."""
    tags = Seen(text).tags
    names = {tag for tag, _ in tags}
    assert "script" not in names
    assert not [about for _, about in tags if "src" in about or "style" in about]
    assert [about["href"] for _, about in tags if "href" in about] == ["data:,"]
    ids = {about["id"] for _, about in tags if "id" in about}
    charts = [about for tag, about in tags if tag == "svg"]
    assert len(charts) > 10
    assert all(about["role"] == "img" and about["aria-labelledby"] in ids for about in charts)
    assert len([about for tag, about in tags if tag == "table"]) == 12
    assert all(about["aria-label"] for tag, about in tags if about.get("role") == "region")
    assert re.search(r"default-src &#39;none&#39;; style-src &#39;sha256-", text)


def test_names_are_no_markup(tmp_path: Path, call: Call) -> None:
    folder = shop(tmp_path / "shop")
    manifest = (folder / "benchmark.toml").read_text(encoding="utf-8").replace('"trade"', '"<b>x</b>"')
    sets.write(folder / "benchmark.toml", manifest)
    page = tmp_path / "page.html"
    assert call("describe", "--set", str(folder), "--format", "html", "--out", str(page))[0] == 0
    assert "<b>x" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--format", "html"), "name it with --out"),
        (("--out", "x.md"), "needs a --format other than console"),
        (("--json", "--out", "x.json"), "leave out --format and --out"),
        (("--format", "html", "--out", "no/such/x.html"), "cannot be written"),
        (("--dialect", "mysql"), "has no gold in it; it has gold in sqlite"),
        (("--set", "nothing"), "is not known; choose one of"),
    ],
)
def test_bad_usage_is_one_line(args: tuple[str, ...], says: str, tmp_path: Path, call: Call) -> None:
    code, _, err = call("describe", "--set", str(shop(tmp_path / "shop")), *args)
    assert code == 2
    assert says in err
    assert err.strip().count("\n") == 0

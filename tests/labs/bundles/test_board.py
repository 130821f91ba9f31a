"""The board shows what receipts confirm, tells predictors apart by tests, and names what it leaves out."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.outcomes import PairResult
from harness.data.published_sets import sets_by_name
from harness.labs.bundles.board import read_board, write_board
from harness.labs.bundles.bundle import Receipt, pack, write_receipt
from harness.report.table_model import DASH
from harness.runs.reader import read_run
from loaders.base.files import as_json
from tests.harness.run_folders import right_on, write_run

QUESTIONS = 60
PATH = re.compile(r"<[^>]+>")


def bundled(
    folder: Path,
    name: str,
    results: Sequence[PairResult],
    *,
    day: int = 1,
    confirmed: bool | None = True,
    **claims: Any,
) -> Path:
    """A bundle of a run with these results on a day of May, with a receipt unless `confirmed` is None."""
    whose = {(one.predictor, one.dialect) for one in results}
    scores = [
        {"predictor": who, "dialect": dialect, "questions": QUESTIONS} for who, dialect in sorted(whose)
    ]
    manifest = {
        "planned": {
            "pairs": len(results),
            "questions": QUESTIONS,
            "set_questions": QUESTIONS,
            "scores": scores,
        },
        "limits": {"seconds": 30.0},
        "engines": {dialect: {"version": "1.2", "settings": {}} for _, dialect in whose},
        "set_files": {"questions.json": "f" * 64},
        "databases": {"d": "d" * 64},
        **claims,
    }
    run = write_run(folder / f"{name}-run", results, **manifest)
    started = json.loads((run / "manifest.json").read_text()) | {
        "started": claims.get("started", f"2026-05-{day:02}T10:00:00+00:00")
    }
    (run / "manifest.json").write_text(json.dumps(started))
    path = folder / f"{name}.bundle.json"
    digest = pack(read_run(run), path)
    if confirmed is not None:
        told = () if confirmed else ({"reason": "result", "says": "sqlite/p::1: match was submitted"},)
        receipt = Receipt(
            digest, "2026-06-01T08:00:00+00:00", confirmed, len(results), told, (), (), {"sqlite": "3.50"}, {}
        )
        write_receipt(receipt, folder / f"{name}.receipt.json", path.name)
    return path


def right(predictor: str, number: int, dialect: Dialect = Dialect.SQLITE) -> list[PairResult]:
    return right_on(range(number), predictor, dialect, QUESTIONS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Bundles of four predictors: two that cannot be told apart, a worse one, and one that got better."""
    folder = tmp_path / "bundles"
    folder.mkdir()
    bundled(folder, "alike", [*right("alpha", 50), *right("beta", 48)])
    bundled(folder, "worse", right("gamma", 20))
    bundled(folder, "first", right("delta", 5), day=2)
    bundled(folder, "second", right("delta", 30), day=3)
    return folder


def rows(page: str, title: str) -> list[list[str]]:
    """The texts of the table below a heading."""
    table = page.partition(f">{title}</h2>")[2].partition("<tbody>")[2].partition("</tbody>")[0]
    lines = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in table.splitlines() if line]
    return [[PATH.sub("", cell) for cell in line] for line in lines]


@pytest.mark.slow
def test_predictors_stand_in_groups_with_levels_and_intervals(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    index = write_board(read_board(folder), site).read_text()
    [(name,)] = [re.findall(r'href="([^"]+\.html)"', index)]
    page = (site / name).read_text()
    assert [(line[0], line[1], *line[-2:]) for line in rows(page, "EX (%)")] == [
        ("alpha", "1", "83.33", f"72.0{DASH}90.7"),
        ("beta", "1", "80.00", f"68.2{DASH}88.2"),
        ("delta", "2", "50.00", f"37.7{DASH}62.3"),
        ("gamma", "3", "33.33", f"22.7{DASH}45.9"),
    ]
    assert len(rows(page, "EX (%)")[0]) == len(
        ("predictor", "group", "three levels", "", "", "total", "95 %")
    )
    assert [line[:3] for line in rows(page, "History")][2:4] == [
        ["delta", "2026-05-02", "8.33"],
        ["delta", "2026-05-03", "50.00"],
    ]
    for link in re.findall(r'href="([^"]+)"', page):
        assert link == "data:," or (site / link).exists(), link


@pytest.mark.parametrize(
    ("about", "shown"),
    [
        ({"set": "shop", "title": "Questions about a shop"}, "Questions about a shop (shop) on SQLite"),
        ({"set": "shop"}, "shop on SQLite"),
        ({"set": "spider", "title": "mine"}, "Spider on SQLite"),
        ({"set": "dk", "published": {"title": "Spider-DK", "page": "https://d.org"}}, "Spider-DK on SQLite"),
        ({"set": "shop", "title": "<b>" + "x" * 5000}, "&lt;b&gt;xxx"),
    ],
)
def test_a_page_is_named_for_the_sets_title(tmp_path: Path, about: dict[str, Any], shown: str) -> None:
    bundled(tmp_path, "mine", right("alpha", 50), **about)
    index = write_board(read_board(tmp_path), tmp_path / "site").read_text()
    [name] = re.findall(r'href="([^"]+\.html)"', index)
    for page in (index, (tmp_path / "site" / name).read_text()):
        assert shown in page
        assert "x" * 500 not in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("started", "set_name", "why"),
    [
        ("2099-01-01T00:00:00+00:00", "sample", "started on 2099-01-01, and it was there on 2026-06-01"),
        ("2026-06-03T00:00:00+00:00", "sample", "started on 2026-06-03, and it was there on 2026-06-01"),
        ("2023-12-31T00:00:00+00:00", "mini_dev", "and mini_dev was not published before 2024-06-01"),
    ],
)
def test_a_date_that_cannot_be_is_told_and_not_ranked(
    folder: Path, tmp_path: Path, started: str, set_name: str, why: str
) -> None:
    bundled(folder, "dated", right("delta", 60), started=started, set=set_name)
    board = read_board(folder)
    [line] = board.left_out
    assert line.startswith("dated.bundle.json: ")
    assert why in line
    assert "100.00" not in write_board(board, tmp_path / "site").read_text()


def test_a_receipt_that_is_to_come_confirms_nothing(folder: Path) -> None:
    path = folder / "worse.receipt.json"
    path.write_text(path.read_text().replace("2026-06-01", "2099-06-01"))
    assert [line.partition(":")[0] for line in read_board(folder).left_out] == [
        "worse.receipt.json", "worse.bundle.json",
    ]  # fmt: skip


def test_what_nobody_confirmed_is_left_out_with_a_line(folder: Path, tmp_path: Path) -> None:
    whole = bundled(folder, "unverified", right("eager", 60), confirmed=None)
    bundled(folder, "refuted", right("liar", 60), confirmed=False)
    (folder / "damaged.bundle.json").write_text(whole.read_text().replace('"match', '"mitch', 1))
    (folder / "odd.receipt.json").write_text("{}")
    text = (folder / "first.bundle.json").read_text()
    (folder / "first.bundle.json").write_text(text + "\n")
    board = read_board(folder, site=tmp_path / "site")
    assert [line.partition(":")[0] for line in board.left_out] == [
        "odd.receipt.json", "damaged.bundle.json", "first.bundle.json", "refuted.bundle.json",
        "unverified.bundle.json",
    ]  # fmt: skip
    assert board.left_out[3].endswith("not confirmed: 1 faults, such as sqlite/p::1: match was submitted")
    assert "not verified" in board.left_out[4]
    index = write_board(board, tmp_path / "site").read_text()
    assert all(line.partition(":")[0] in index for line in board.left_out)
    assert not {"eager", "liar"} & set(re.findall(r"\w+", index))


@pytest.mark.slow
def test_a_part_of_the_set_and_other_databases_stand_apart(folder: Path, tmp_path: Path) -> None:
    part = {"pairs": 60, "questions": 60, "set_questions": 66, "scores": []}
    part["scores"] = [{"predictor": "zeta", "dialect": "sqlite", "questions": 60}]
    bundled(folder, "part", right("zeta", 60), planned=part)
    bundled(folder, "elsewhere", right("eta", 60), databases={"d": "e" * 64})
    board = read_board(folder)
    assert board.left_out == ["part.bundle.json: of 60 of 66 questions, not of the set"]
    write_board(board, tmp_path / "site")
    pages = [path.read_text() for path in (tmp_path / "site").glob("sample-*.html")]
    assert sorted([len(rows(page, "EX (%)")) for page in pages]) == [1, 4]


@pytest.mark.slow
def test_policies_of_extraction_stand_on_pages_of_their_own(folder: Path, tmp_path: Path) -> None:
    bundled(folder, "raw", right("zeta", 60), extract="answer-1")
    bundled(folder, "official", right("eta", 60), extract="none")
    write_board(read_board(folder), tmp_path / "site")
    pages = [path.read_text() for path in (tmp_path / "site").glob("sample-*.html")]
    of = {"by answer-1" in page: [line[0] for line in rows(page, "EX (%)")] for page in pages}
    assert of[True] == ["zeta"]
    assert {"eta", "alpha"} <= {*of[False]}
    assert len(pages) == 2


def forged(folder: Path, name: str, change: Callable[[dict[str, Any]], object]) -> Path:
    """A bundle whose statement was changed, with digests that fit, and a receipt that confirms it."""
    path = bundled(folder, name, right(name, 30), confirmed=None)
    content = json.loads(path.read_text())
    change(content["statement"]["predicate"])
    content["digest"] = hashlib.sha256(as_json(content["statement"]).encode()).hexdigest()
    path.write_text(as_json(content, indent=1) + "\n")
    receipt = Receipt(content["digest"], "2026-06-01T08:00:00+00:00", True, 60, (), (), (), {}, {})
    write_receipt(receipt, folder / f"{name}.receipt.json", path.name)
    return path


SECRET = "<script>steal()</script>"


def test_nothing_is_copied_into_the_site(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    for suffix in (".report.html", ".bundle.json", ".receipt.json", ".html", ""):
        (folder / f"soft{suffix}").symlink_to(secret)
        (folder / f"folder{suffix}").symlink_to(tmp_path)
        os.link(secret, folder / f"hard{suffix}")
        (folder / f"foreign{suffix}").write_text(SECRET)
        os.mkfifo(folder / f"pipe{suffix}")
    for name in ("alike", "first", "second", "worse"):
        (folder / f"{name}.report.html").symlink_to(secret)
    board, site = read_board(folder), tmp_path / "site"
    write_board(board, site)
    assert len(board.entries) == 4
    assert [file for file in site.rglob("*") if file.is_file() and "steal()" in file.read_text()] == []
    for name in ("second.report.html", "soft.bundle.json", "folder.receipt.json", "soft", "pipe.bundle.json"):
        assert any(line.startswith(f"{name}: is a ") for line in board.left_out), name


def test_a_link_to_another_bundle_is_not_read(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    private = bundled(outside, "private", right("private", 60))
    os.link(private, folder / "hard.bundle.json")
    (folder / "soft.bundle.json").symlink_to(private)
    (folder / "soft.receipt.json").symlink_to(outside / "private.receipt.json")
    (folder / "loop.bundle.json").symlink_to("loop.bundle.json")
    board = read_board(folder)
    assert board.left_out == [
        "hard.bundle.json: is a link to a file outside of the folder; put the file itself there",
        "loop.bundle.json: is a link; put the file itself there",
        "soft.bundle.json: is a link; put the file itself there",
        "soft.receipt.json: is a link; put the file itself there",
    ]
    assert len(board.entries) == 4


def test_links_in_the_site_are_not_followed(folder: Path, tmp_path: Path) -> None:
    site, kept = tmp_path / "site", tmp_path / "kept"
    board = read_board(folder)
    write_board(board, site)
    kept.write_text("mine")
    files = [path for path in site.rglob("*") if path.is_file()]
    for path in files:
        path.unlink()
        path.symlink_to(kept)
    write_board(board, site)
    assert kept.read_text() == "mine"
    assert not any(path.is_symlink() for path in files)
    for path in (site / "reports").iterdir():
        path.unlink()
    (site / "reports").rmdir()
    (site / "reports").symlink_to(tmp_path)
    with pytest.raises(BadInput, match="reports: is a link"):
        write_board(board, site)


def test_each_page_has_a_policy_and_its_report_is_made_of_the_bundle(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    write_board(read_board(folder), site)
    pages = [*site.rglob("*.html")]
    assert len([page for page in pages if page.parent.name == "reports"]) == 4
    for page in pages:
        head = page.read_text().partition("</head>")[0]
        assert '<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;;' in head, page
        assert "unsafe" not in head
    assert any("alpha" in page.read_text() for page in pages if page.parent.name == "reports")


LONG = "x" * 100_000
HOSTILE: dict[str, Callable[[dict[str, Any]], object]] = {
    "a long name": lambda one: one.update(set_name=LONG),
    "a path": lambda one: one.update(set_name="../../../etc/passwd"),
    "markup": lambda one: one.update(set_name="<img src=x onerror=alert(1)>"),
    "lone surrogates": lambda one: one.update(set_name="\ud800\udfff" * 100),
    "wide characters": lambda one: one.update(set_name="\U0001f600" * 300),
    "no name": lambda one: one.update(set_name=""),
    "a null": lambda one: one.update(set_name="a\0b"),
    "a long note": lambda one: one.update(notes=[LONG]),
    "long files": lambda one: one.update(set_files={LONG: LONG}),
    "a long version": lambda one: one.update(engines={"sqlite": {"version": LONG}}),
    "a version that is no text": lambda one: one.update(engines={"sqlite": {"version": [1]}}),
    "another engine": lambda one: one.update(engines={LONG: {}}),
    "no scores": lambda one: one.update(scores=[]),
    "scores twice": lambda one: one.update(scores=one["scores"] * 2),
    "scores of another": lambda one: one["scores"][0].update(predictor="other"),
    "no metrics": lambda one: one["scores"][0].update(metrics={}),
    "no levels": lambda one: one["scores"][0].update(metrics={"ex": {}}),
    "not a number": lambda one: one["scores"][0]["metrics"]["ex"].update(total=float("nan")),
    "without end": lambda one: one["scores"][0].update(intervals={"ex": [0.0, float("inf")]}),
    "a timed metric": lambda one: one["scores"][0]["metrics"].update(r_ves={"total": 1e308}),
    "an old start": lambda one: one.update(started="0001-01-01T00:00:00+00:00"),
    "an endless limit": lambda one: one.update(limits={"seconds": float("inf")}),
    "a gold pack": lambda one: one.update(gold={"name": LONG, "version": "1", "sha256": "x"}),
    "levels": lambda one: one.update(levels=[LONG, LONG]),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_one_bundle_does_not_end_the_board(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "bundles"
    folder.mkdir()
    bundled(folder, "honest", right("honest", 30))
    forged(folder, "forged", HOSTILE[kind])
    board, site = read_board(folder), tmp_path / "site"
    write_board(board, site)
    assert len(board.entries) + len(board.left_out) == 2
    assert "honest" in "".join(path.read_text() for path in site.rglob("*.html"))
    assert all(path.resolve().is_relative_to(site) for path in site.rglob("*"))
    assert "<img src=x" not in "".join(path.read_text() for path in site.rglob("*.html"))


def test_the_public_board_gets_rows_of_published_databases_alone(tmp_path: Path) -> None:
    files = sets_by_name()["mini_dev"].files
    known = {Path(name).stem: digest for name, digest in files.items() if name.endswith(".sqlite")}
    both = [*right("theta", 30), *right("theta", 15, Dialect.POSTGRESQL)]
    bundled(tmp_path, "real", both, set="mini_dev", databases=known)
    bundled(tmp_path, "twin", right("iota", 60), set="mini_dev", databases=dict.fromkeys(known, "0" * 64))
    index = write_board(read_board(tmp_path), tmp_path / "site").read_text()
    title = "Rows for the public Mini-Dev board (mini_dev)"
    assert rows(index, title) == [["theta", "May 01, 2026", "50.00", "-", "25.00"]]
    assert "no rows, because its databases are not the published ones" in index

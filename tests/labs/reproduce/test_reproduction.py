"""Published figures beside ours: what is read, what is said of the databases, and the three tables."""

import csv
import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.published_scores import (
    METRICS_PUBLISHED,
    SOURCES,
    PublishedTotals,
    provenance,
    published_scores,
    published_totals,
    read_published_folder,
)
from harness.data.published_sets import Provenance, find_published, provenance_sentence
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.loader import load_set
from harness.labs.reproduce.cli import reproduce_published
from harness.labs.reproduce.tables import reproduction, write_reproduction
from harness.report.documents import PublishedReference
from harness.report.files import write_reports
from harness.report.table_model import texts
from harness.runs.reader import LATEST, read_run
from harness.runs.summary import summarize
from harness.session.request import Request
from loaders.server import Server
from tests.harness import small_sets as small
from tests.harness.conftest import Call
from tests.harness.report.tables import result, results, scores, write_run

HEAD = "predictor,file_stem,sqlite,mysql,postgresql\n"


def write_published(folder: Path, text: str, name: str = "ex") -> Path:
    path = folder / f"{name}.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_published_tables_are_read_with_gaps(tmp_path: Path) -> None:
    write_published(tmp_path, HEAD + "The P,p,50.00,,12.5\n")
    write_published(tmp_path, HEAD + '"A, B",q,1,2,3\n', "r_ves")
    assert read_published_folder(tmp_path) == [
        PublishedTotals("ex", "The P", "p", {Dialect.SQLITE: 50.0, Dialect.POSTGRESQL: 12.5}),
        PublishedTotals(
            "r_ves", "A, B", "q", {Dialect.SQLITE: 1.0, Dialect.MYSQL: 2.0, Dialect.POSTGRESQL: 3.0}
        ),
    ]


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "is empty"),
        (HEAD, "its columns are not predictor,file_stem,sqlite,mysql,postgresql"),
        ("a,b\n1,2\n", "its columns are not"),
        (HEAD + "P,p,many,,\n", "line 2: a total is not a number"),
        (HEAD + "P,p,1,2,nan\n", "line 2: a total is not a number"),
        (HEAD + "P,p,1,2,3\nQ,p,1,2,3\n", "line 3: a second row of p"),
        (HEAD + "P,,1,2,3\n", "line 2: has no predictor or no file_stem"),
        (HEAD + "P\n", "line 2: has no predictor or no file_stem"),
    ],
)
def test_a_wrong_table_is_one_clear_error(tmp_path: Path, text: str, fragment: str) -> None:
    path = write_published(tmp_path, text)
    with pytest.raises(BadInput, match=fragment) as error:
        read_published_folder(tmp_path)
    assert str(path) in str(error.value)


def test_no_table_at_all_says_where_they_are_looked_for(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r": has none of ex\.csv, soft_f1\.csv, r_ves\.csv"):
        read_published_folder(tmp_path)


@pytest.mark.bird
def test_the_figures_that_ship_are_those_of_the_kit(bird_home: Path) -> None:
    assert published_totals() == sorted(
        read_published_folder(bird_home / "published"), key=lambda one: METRICS_PUBLISHED.index(one.metric)
    )


TABLES = {
    # Predictor, and its EX and VES: dev and test without evidence, dev and test with it.
    "T5-Base": ((6.32, 7.06, 11.54, 12.89), (7.78, 8.97, 12.90, 14.71)),
    "T5-Large": ((9.71, 10.38, 19.75, 20.94), (9.90, 12.25, 22.74, 25.00)),
    "T5-3B": ((10.37, 11.17, 23.34, 24.05), (13.62, 15.17, 25.57, 27.80)),
    "Codex": ((25.42, 24.86, 34.35, 36.47), (33.37, 35.40, 43.41, 41.60)),
    "ChatGPT": ((24.05, 26.77, 37.22, 39.30), (27.97, 36.68, 43.81, 51.40)),
    "ChatGPT + COT": ((25.88, 28.95, 36.64, 40.08), (32.33, 49.69, 42.30, 56.56)),
    "GPT-4": ((30.90, 34.88, 46.35, 54.89), (None, None, 49.77, 60.77)),
    "DIN-SQL + GPT-4": ((None, None, 50.72, 55.90), (None, None, 58.79, 59.44)),
    "TA-SQL + GPT-4": ((50.58, 54.38, 56.19, 59.14), (None,) * 4),
    "Human": ((None, 72.37, None, 92.96), (None, 70.36, None, 90.27)),
}


@pytest.mark.parametrize("predictor", TABLES)
def test_every_row_of_the_papers_tables_ships(predictor: str) -> None:
    totals = {
        (one.set, one.predictor, one.metric): one.value
        for one in published_scores()
        if one.level == "total" and one.set in {"dev", "test"}
    }
    for metric, values in zip(("ex", "ves"), TABLES[predictor], strict=True):
        found = tuple(
            totals.get((of, predictor + knowledge, metric))
            for knowledge in ("", " + KG")
            for of in ("dev", "test")
        )
        assert found == values


BY_LEVEL = {
    # Table 4: simple, moderate, challenging and total of ChatGPT.
    ("dev", "ChatGPT", "ex"): (31.08, 13.29, 12.08, 24.05),
    ("test", "ChatGPT", "ex"): (35.41, 19.46, 12.28, 26.77),
    ("dev", "ChatGPT + KG", "ex"): (45.44, 26.14, 19.01, 37.22),
    ("test", "ChatGPT + KG", "ex"): (49.21, 31.89, 20.70, 39.30),
    ("dev", "ChatGPT", "ves"): (36.20, 15.43, 14.42, 27.97),
    ("test", "ChatGPT", "ves"): (50.09, 24.71, 15.39, 36.68),
    ("dev", "ChatGPT + KG", "ves"): (54.71, 28.16, 22.80, 43.81),
    ("test", "ChatGPT + KG", "ves"): (65.06, 41.21, 25.81, 51.40),
}


@pytest.mark.parametrize("of", BY_LEVEL, ids=" ".join)
def test_every_row_of_table_4_ships(of: tuple[str, str, str]) -> None:
    found = {one.level: one.value for one in published_scores() if (one.set, one.predictor, one.metric) == of}
    levels = ("simple", "moderate", "challenging", "total")
    assert tuple(found.get(level) for level in levels) == BY_LEVEL[of]


SLIDES = {
    "PaLM-2": (18.77, 24.71, 27.38, 33.04),
    "Claude-2": (28.29, 34.60, 42.70, 49.02),
    "DAIL-SQL + GPT-4": (None, None, 54.76, 56.08),
}
"""The rows of the board that only the slides have: EX in the order of `TABLES`."""


@pytest.mark.parametrize("predictor", SLIDES)
def test_every_row_of_the_slides_ships(predictor: str) -> None:
    totals = {
        (one.set, one.predictor): one.value
        for one in published_scores()
        if one.level == "total" and one.metric == "ex"
    }
    names = [(of, predictor + knowledge) for knowledge in ("", " + KG") for of in ("dev", "test")]
    assert tuple(map(totals.get, names)) == SLIDES[predictor]


LIVE = {
    "o3-mini": (42.59, 47.78),
    "Claude 3.7 Sonnet": (41.11, 39.26),
    "GPT-4o": (34.44, 34.44),
    "Gemini 2.0 Flash": (33.7, 34.44),
    "DeepSeek R1-0528": (32.96, 38.14),
    "QwQ-32B": (31.48, 31.48),
    "Qwen2.5 Coder 32B": (22.22, 22.96),
    "Codestral 22B": (19.63, 21.11),
    "Qwen2.5 Coder 7B": (12.22, 12.22),
    "Mixtral 8x7B Instruct": (8.89, 2.59),
    "Mistral 7B Instruct": (4.44, 3.7),
}
"""Mini-Dev V2's README: success rates on SQLite and PostgreSQL."""


def test_every_row_of_livesqlbench_ships() -> None:
    found: dict[str, tuple[float, ...]] = {}
    for one in published_scores():
        if one.set == "livesqlbench_base_lite":
            found[one.predictor] = (*found.get(one.predictor, ()), one.value)
    assert found == LIVE


def test_no_row_of_the_paper_and_the_slides_ships_that_they_do_not_have() -> None:
    shipped = {
        one.predictor.removesuffix(" + KG") for one in published_scores() if one.set in {"dev", "test"}
    }
    assert shipped == TABLES.keys() | SLIDES.keys()


def test_published_figures_are_percentages_of_known_sources_and_none_stands_twice() -> None:
    figures = published_scores()
    keys = [(one.set, one.predictor, one.metric, one.engine, one.level) for one in figures]
    assert len(set(keys)) == len(keys)
    assert all(0 < one.value < 100 and SOURCES[one.source] for one in figures)
    stems = {(one.set, one.predictor): {one.file_stem} for one in figures}
    assert all(one.file_stem in stems[one.set, one.predictor] for one in figures)


REFERENCE = {
    "livesqlbench_base_lite": ("o3-mini", [42.59, 47.78]),
    "mini_dev": ("TA + gpt-4o", [63.0]),
    "dev": ("Codex + KG", [34.35]),
    "spider": ("Graphix-T5-3B", [91.9, 81.6, 61.5, 50.0, 75.6]),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_without_predictions_the_published_figures_are_shown(name: str, call: Call) -> None:
    predictor, values = REFERENCE[name]
    code, text, err = call("lab", "reproduce", "--set", name)
    assert code == 0, err
    line = next(line for line in text.splitlines() if line.startswith(f" {predictor} "))
    assert [float(one) for one in line.removeprefix(f" {predictor}").split()] == values
    assert ("there is no predict_" in err) is (name in {"mini_dev", "dev"})
    code, text, err = call("lab", "reproduce", "--set", name, "--json")
    first = json.loads(text)["tables"][0]["figures"]
    assert {*values} <= {one["value"] for one in first}


SAID = [
    (["published"], "1 of 1 databases have the digests of published ones."),
    (["published", "unknown"], "1 of 2 .* for 1 no published digest is known \\(d1\\)\\.$"),
    (
        ["published", "other"],
        "^Not Mini-Dev results: 1 of 2 databases are not the published ones \\(d1\\)\\.",
    ),
    (["other", "unknown"], "^Not Mini-Dev results: .*for 1 no published digest is known \\(d1\\)"),
]


@pytest.mark.parametrize(("states", "expected"), SAID)
def test_it_is_said_whether_the_databases_are_the_published_ones(states: list[str], expected: str) -> None:
    databases = {f"d{number}": Provenance(state) for number, state in enumerate(states)}
    assert re.search(expected, provenance_sentence(databases))


def test_databases_are_told_apart_by_their_digests() -> None:
    sample = load_set("sample")
    first, second, *_ = sample.db_ids
    digest = hashlib.sha256(sample.database(first).sqlite_path.read_bytes()).hexdigest()
    known = {
        f"dev_databases/{first}/{first}.sqlite": digest,
        f"dev_databases/{second}/{second}.sqlite": digest,
    }
    found = provenance(sample, known)
    assert list(found) == list(sample.db_ids)
    assert (found[first], found[second]) == (Provenance.PUBLISHED, Provenance.OTHER)
    assert set(list(found.values())[2:]) <= {Provenance.UNKNOWN}


HELD = PublishedReference(
    [
        PublishedTotals("ex", "The P", "p", {Dialect.SQLITE: 66.0, Dialect.MYSQL: 10.0}),
        PublishedTotals("ex", "Absent", "absent", {Dialect.SQLITE: 50.0}),
        PublishedTotals("r_ves", "The P", "p", {Dialect.SQLITE: 60.0}),
    ],
    {"shop": Provenance.OTHER},
)


def test_the_three_tables_are_published_ours_and_ours_minus_published() -> None:
    document = reproduction("r1", ["a fact"], scores(["p", "unpublished"], [Dialect.SQLITE]), HELD)
    published, ours, difference = document.grids
    found = {
        grid.title: [
            [row.labels[0], *(cell and cell.value and round(cell.value, 2) for cell in row.cells)]
            for row in grid.rows
        ]
        for grid in document.grids
    }
    assert [group.head for group in published.groups] == ["SQLite"], "MySQL was not scored"
    assert [column.head for column in published.columns] == ["EX", "Soft-F1"], "R-VES was not asked for"
    assert found["Published (%)"] == [
        ["The P", 66.0, None],
        ["Absent", 50.0, None],
        ["unpublished", None, None],
    ]
    assert [column.head for column in ours.columns] == ["EX", "Soft-F1"]
    assert [row[:2] for row in found["Ours (%)"]] == [
        ["The P", 66.67],
        ["Absent", None],
        ["unpublished", 66.67],
    ]
    assert {text for row in ours.rows[1:2] for text in texts(ours, row)} == {"-"}
    assert ours.notes == (
        "There are no predictions here of Absent.",
        "No figures are published for unpublished.",
    )
    assert found["Ours \N{MINUS SIGN} published"] == [
        ["The P", 0.67, None],
        ["Absent", None, None],
        ["unpublished", None, None],
    ]
    assert difference.notes == ("1 of 1 published figures lie within the 95 % interval of ours.",)
    assert document.facts[0] == "a fact"
    assert document.facts[1].startswith("Not Mini-Dev results")


def test_an_own_predictor_alone_has_its_figures_beside_the_published_ones() -> None:
    document = reproduction("r1", [], scores(["mine", "The P"], [Dialect.MYSQL]), HELD)
    published, ours, difference = document.grids
    for grid in document.grids:
        assert [row.labels[0] for row in grid.rows] == ["The P", "Absent", "The P (own)", "mine"]
        assert [group.head for group in grid.groups] == ["MySQL"]
    assert list(texts(published, published.rows[0])) == ["10.00", "-"]
    assert [next(iter(texts(ours, row))) for row in ours.rows] == ["-", "-", "66.67", "66.67"]
    assert {text for row in difference.rows for text in texts(difference, row)} == {"-"}


def test_stable_r_ves_is_held_against_the_published_r_ves() -> None:
    timed = [result(number, ex=1.0, r_ves_stable=0.5) for number in range(4)]
    document = reproduction("r1", [], summarize(timed, ["ex", "r_ves_stable"]), HELD)
    published, ours, difference = ([column.metric for column in grid.columns] for grid in document.grids)
    assert (published[:2], ours) == (["ex", "r_ves"], ["ex", "r_ves_stable"])
    assert difference == ours
    assert [cell and cell.value for cell in document.grids[2].rows[0].cells] == [34.0, -10.0]


@pytest.mark.slow
def test_the_tables_are_made_again_from_the_run_folder_alone(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs", results(["p"]))
    written = write_reproduction(read_run(folder), HELD)
    before = {path.name: path.read_bytes() for path in written}
    assert sorted(before) == ["reproduce.csv", "reproduce.json", "reproduce.md", "reproduce.tex"]
    moved = tmp_path / "moved"
    shutil.move(folder, moved)
    for name in ("reproduce.csv", "reproduce.md"):
        (moved / name).unlink()
    again = {path.name: path.read_bytes() for path in write_reports(moved)}
    assert {name: again[name] for name in before} == before
    (moved / "reproduce.json").write_text('{"published": 1, "databases": {}}', encoding="utf-8")
    with pytest.raises(BadInput, match=r"reproduce\.json: published is a whole number, not an array"):
        write_reports(moved)


def figures(folder: Path) -> dict[tuple[str, str, str, str], float]:
    """The figures of `reproduce.csv` by metric, predictor, engine and table."""
    with (folder / "reproduce.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["metric"], row["predictor"], row["engine"], row["by"]): float(row["value"])
            for row in csv.DictReader(file)
            if row["value"]
        }


def check(home: Path, folder: Path, engine: Dialect) -> None:
    """The tables of a run against the published files and the run's own summary."""
    found = figures(folder)
    summary: Mapping[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    asked = {metric for score in summary["scores"] for metric in score["metrics"]}
    for one in read_published_folder(home / "published"):
        for dialect in PUBLISHED:
            shown = found.get((one.metric, one.file_stem, dialect, "published"))
            is_asked = one.metric in asked and dialect is engine
            assert shown == (one.totals.get(dialect) if is_asked else None)
    ours = {key[:3]: value for key, value in found.items() if key[3] == "ours"}
    assert ours == {
        (metric, score["predictor"], engine): levels["total"]
        for score in summary["scores"]
        for metric, levels in score["metrics"].items()
    }
    differences = {key[:3]: value for key, value in found.items() if key[3] == "difference"}
    assert differences == {key: value - found[*key, "published"] for key, value in ours.items()}


@pytest.mark.slow
@pytest.mark.bird
def test_published_predictions_of_the_kit_are_held_against_the_published_figures(
    bird_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIRD_HOME", str(bird_home))
    asked = Request(extract=Extract.FENCES, dialects=[Dialect.SQLITE], limit=12, out=tmp_path)
    said: list[str] = []
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        assert reproduce_published(asked, said.append, Console(file=nowhere)) == 0
    folder = tmp_path / LATEST
    check(bird_home, folder, Dialect.SQLITE)
    assert len({key[1] for key in figures(folder) if key[3] == "ours"}) == 13
    states = provenance(load_set("mini_dev", bird_home).limit(12), find_published("mini_dev").files)
    assert provenance_sentence(states) in said


@pytest.mark.bird
@pytest.mark.engine
@pytest.mark.thorough
def test_published_predictions_are_held_against_the_published_figures_on_a_server(
    bird_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    monkeypatch.setenv("BIRD_HOME", str(bird_home))
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    address = f"{server.dialect}://{server.user}:{server.password}@{server.address}"
    monkeypatch.setenv(f"BIRD_{server.dialect.upper()}_DSN", address)
    asked = Request(extract=Extract.FENCES, dialects=[server.dialect], limit=5, out=tmp_path)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        assert reproduce_published(asked, lambda _: None, Console(file=nowhere)) == 0
    check(bird_home, tmp_path / LATEST, server.dialect)
    assert len({key[1] for key in figures(tmp_path / LATEST) if key[3] == "ours"}) == 9


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


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_the_papers_rows_stand_beside_ours(tmp_path: Path, call: Call) -> None:
    out = tmp_path / "results"
    code, text, err = run(call, "--out", str(out))
    assert code == 0, err
    (chatgpt,) = [line for line in text.splitlines() if line.startswith(" ChatGPT  ")][:1]
    # Simple: two of two; moderate: none of one; challenging: one of one.
    assert chatgpt.split()[1:] == ["31.08", "13.29", "12.08", "24.05", "100.00", "0.00", "100.00", "75.00"]
    assert "Human + KG" in text.partition("EX on test, as published (%)")[2]
    assert "https://arxiv.org/abs/2305.03111" in text
    assert "Ours is not measured: add --metrics ex,ves." in text
    folder = out / "latest"
    with (folder / "reproduce-dev.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {(row["metric"], row["predictor"], row["by"], row["level"]): row["value"] for row in rows}
    assert found["ves", "chatgpt_knowledge", "published", "total"] == "43.81"
    assert found["ex", "chatgpt_knowledge", "ours", "total"] == "100.0"
    assert found["ves", "chatgpt_knowledge", "published_test", "total"] == "51.4"
    assert found["ex", "Codex", "published", "total"] == "25.42"
    assert not found.get(("ex", "Codex", "ours", "total"))
    before = (folder / "reproduce-dev.md").read_text(encoding="utf-8")
    (folder / "reproduce-dev.md").unlink()
    assert call("report", str(folder))[0] == 0
    assert (folder / "reproduce-dev.md").read_text(encoding="utf-8") == before
    assert json.loads((folder / "reproduce-dev.json").read_text(encoding="utf-8"))["tables"]


def run(call: Call, *args: str) -> tuple[int, str, str]:
    """With what is in `data`, where commands look for it."""
    return call("lab", "reproduce", "--set", "dev", "--workers", "1", *args)


@pytest.mark.slow
def test_a_file_that_names_its_predictor_alone_is_read(home: Path, tmp_path: Path, call: Call) -> None:
    answers = json.loads((home / "predict_dev_chatgpt.json").read_text(encoding="utf-8"))
    small.write_json(home / "predict_dev_my model.json", answers)
    code, text, err = run(call, "--out", str(tmp_path / "other"))
    assert code == 0, err
    assert " my model " in text


@pytest.mark.slow
@pytest.mark.parametrize("evidence", ["", "old refers to age > 80"])
def test_the_papers_types_are_above_ours_as_far_as_evidence_is_known(
    evidence: str, home: Path, tmp_path: Path, call: Call
) -> None:
    asked = small.questions(small.LATER_REVISION, Dialect.SQLITE)
    for one in asked[:2]:
        one |= {"SQL": "SELECT COUNT(*) FROM Place", "evidence": evidence}
    small.write_lines(home / "dev.json", asked)
    code, _, err = run(call, "--out", str(tmp_path / "results"))
    assert code == 0, err
    folder = tmp_path / "results" / "latest"
    with (folder / "reproduce-dev.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if ", " in row["level"]]
    found = {(*row["level"].split(", "), row["predictor"]): row["value"] for row in rows}
    assert found["counting", "total", "GPT-4 + KG"] == "48.28"
    assert found["total", "challenging", "GPT-4 + KG"] == "31.7"
    # The first, simple, is right; the second, moderate, is wrong, and has no other of its type.
    for kind, is_known in (("counting", True), ("domain_knowledge", bool(evidence))):
        levels = [found[kind, level, "chatgpt"] for level in ("simple", "moderate", "challenging", "total")]
        assert levels == (["100.0", "0.0", "", "50.0"] if is_known else [""] * 4)
    text = (folder / "reproduce-dev.md").read_text(encoding="utf-8")
    assert ("No question here has evidence" in text) is not bool(evidence)


@pytest.mark.usefixtures("home")
def test_json_alone_goes_to_standard_output(tmp_path: Path, call: Call) -> None:
    code, text, err = run(call, "--out", str(tmp_path / "results"), "--json")
    assert code == 0, err
    assert json.loads(text)["tables"]


@pytest.mark.parametrize(
    ("args", "says"),
    [(("--set", "sample"), "no figures are published for it; choose one of mini_dev, dev"),
     (("--set", "spider", "--predictions", "x.json"), "leave out --predictions, or use `eval`")],
)  # fmt: skip
def test_bad_usage_is_one_line(args: tuple[str, ...], says: str, call: Call) -> None:
    code, _, err = call("lab", "reproduce", *args)
    assert (code, err.count("\n")) == (2, 1)
    assert says in err

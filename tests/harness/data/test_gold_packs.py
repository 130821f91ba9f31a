"""Gold packs: what is read, what fits a set, and what becomes of its questions."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.overrides import digest
from harness.data.gold_packs import apply_pack, read_pack, use_sqlite_reference, with_golds
from harness.data.questions import Difficulty, Question, QuestionSet
from harness.data.set_manifest import PUBLISHED

IDS = (7, 8, 7, 9)


def question(key: str, question_id: int, **gold: str) -> Question:
    golds = {Dialect(name): text for name, text in gold.items()} or {
        dialect: f"SELECT {key!r} -- {dialect}" for dialect in PUBLISHED
    }
    return Question(key, question_id, "shop", f"{key}?", "", Difficulty.SIMPLE, golds)


@pytest.fixture(scope="module")
def asked() -> QuestionSet:
    keys = ("7", "8", "7#2", "9")
    questions = tuple(question(key, number) for key, number in zip(keys, IDS, strict=True))
    order = {Dialect.SQLITE: keys}
    return QuestionSet("asked", "Asked", "asked", questions, order, Path(), {}, {})


def gold(asked: QuestionSet, key: str, dialect: Dialect = Dialect.SQLITE) -> str:
    return asked.by_key[key].gold[dialect]


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(*entries: Mapping[str, Any], **about: Any) -> Path:
        path = tmp_path / "fix.json"
        path.write_text(json.dumps({"name": "fix", "version": "2", **about, "golds": entries}))
        return path

    return written


def test_a_correction_an_exclusion_and_several_golds(asked: QuestionSet, write: Write) -> None:
    path = write(
        {"question_id": 8, "sql": "SELECT 8", "replaces": digest(gold(asked, "8"))},
        {"question_id": "7#1", "sql": ["SELECT 1", "SELECT 2"], "reason": "both readings"},
        {"question_id": 9, "status": "excluded", "reason": "the data lack it"},
        set="asked",
    )
    found = with_golds(asked, str(path))
    assert [one.key for one in found.questions] == ["7", "8", "7#2"]
    assert gold(found, "8") == "SELECT 8"
    several = found.by_key["7"]
    assert [one.gold[Dialect.SQLITE] for one in several.each(Dialect.SQLITE)] == ["SELECT 1", "SELECT 2"]
    assert several.by_rows == {Dialect.MYSQL, Dialect.POSTGRESQL}
    assert [one.gold[Dialect.SQLITE] for one in several.each(Dialect.MYSQL)] == ["SELECT 1", "SELECT 2"]
    assert found.by_key["7#2"] == asked.by_key["7#2"]
    assert found.pack is not None
    assert (found.pack.corrected, found.pack.several, found.pack.excluded, found.pack.unchecked) == (
        2,
        1,
        1,
        1,
    )
    assert str(found.pack) == (
        "Gold pack fix 2: 2 questions with another gold, 1 of them with several golds;"
        " 1 question left out (1 excluded); 2 compared on servers with the rows of SQLite's gold."
    )
    assert found.order[Dialect.SQLITE] == ("7", "8", "7#2")


def test_gold_for_a_server_alone_leaves_the_others(asked: QuestionSet, write: Write) -> None:
    found = with_golds(asked, str(write({"question_id": 8, "dialect": "mysql", "sql": "SELECT 8"})))
    eight = found.by_key["8"]
    assert eight.gold == {**asked.by_key["8"].gold, Dialect.MYSQL: "SELECT 8"}
    assert eight.corrected == {Dialect.MYSQL}
    assert not eight.by_rows


def test_where_the_set_has_no_gold_for_a_server_the_correction_is_translated(
    asked: QuestionSet, write: Write
) -> None:
    alone = replace(
        asked, questions=tuple(replace(one, gold={Dialect.SQLITE: "SELECT 0"}) for one in asked.questions)
    )
    found = with_golds(alone, str(write({"question_id": 8, "sql": "SELECT 8"})))
    assert found.by_key["8"].by_rows == frozenset()
    assert found.by_key["8"].gold == {Dialect.SQLITE: "SELECT 8"}


def test_an_ambiguous_question_is_asked_only_with_the_golds_of_its_readings(
    asked: QuestionSet, write: Write
) -> None:
    said = {"status": "ambiguous", "reason": "which year?"}
    found = with_golds(
        asked, str(write({"question_id": 8, **said}, {"question_id": 9, "sql": ["SELECT 1"], **said}))
    )
    assert [one.key for one in found.questions] == ["7", "7#2", "9"]
    assert found.pack is not None
    assert (found.pack.ambiguous, found.pack.corrected) == (1, 1)


@pytest.mark.parametrize("lines", [False, True])
def test_a_revised_set_becomes_a_pack_of_what_has_changed(
    asked: QuestionSet, tmp_path: Path, *, lines: bool
) -> None:
    """Of ids that two questions share, the first time is the first question."""
    records = [
        {"question_id": one.question_id, "db_id": "shop", "SQL": one.gold[Dialect.SQLITE]}
        for one in asked.questions
    ]
    records[2]["SQL"] = "SELECT 'revised'"
    path = tmp_path / "revised.json"
    path.write_text("\n".join(map(json.dumps, records)) if lines else json.dumps(records))
    pack = read_pack(path)
    found = apply_pack(pack, asked)
    assert [one.key for one in found.questions if one.corrected] == ["7#2"]
    assert (pack.name, pack.version) == ("revised", pack.sha256[:12])


@pytest.mark.parametrize("name", ["corrected_sql", "query", "gold", "SQL"])
def test_a_list_of_corrections_is_a_pack(asked: QuestionSet, tmp_path: Path, name: str) -> None:
    path = tmp_path / "corrections.json"
    path.write_text(json.dumps([{"question_id": 8, name: "SELECT 8", "note": "ignored"}]))
    assert gold(with_golds(asked, str(path)), "8") == "SELECT 8"


def test_a_folder_is_its_pack_json(asked: QuestionSet, write: Write) -> None:
    path = write({"question_id": 8, "sql": "SELECT 8"})
    path.rename(path.with_name("pack.json"))
    assert gold(with_golds(asked, str(path.parent)), "8") == "SELECT 8"


def test_published_are_the_set_s_own(asked: QuestionSet) -> None:
    assert with_golds(asked, "published") is asked
    assert with_golds(asked, None) is asked


def test_rows_of_sqlite_are_gold_on_every_server(asked: QuestionSet) -> None:
    held = use_sqlite_reference(asked)
    assert all(one.by_rows == {*Dialect} - {Dialect.SQLITE} for one in held.questions)


GOOD = {"question_id": 8, "sql": "SELECT 8"}
BAD: Mapping[str, tuple[Any, str]] = {
    "no object": ({"golds": 1}, 'not a gold pack: a JSON object with a list "golds", or a list'),
    "nothing": ({"golds": []}, "has no golds"),
    "a number": ({"golds": [5]}, "entry 1: a number instead of an object"),
    "no id": ({"golds": [{"sql": "SELECT 1"}]}, "entry 1: no question_id"),
    "a truth": ({"golds": [{**GOOD, "question_id": True}]}, "entry 1: no question_id"),
    "a dialect": ({"golds": [{**GOOD, "dialect": "oracle"}]}, "dialect 'oracle': choose from sqlite"),
    "a status": ({"golds": [{**GOOD, "status": "odd"}]}, "status 'odd': choose from gold"),
    "no sql": ({"golds": [{"question_id": 8}]}, "no SQL: none of sql, SQL"),
    "empty sql": ({"golds": [{**GOOD, "sql": " "}]}, "SQL that is not a text, or empty"),
    "sql of numbers": ({"golds": [{**GOOD, "sql": [1]}]}, "SQL that is not a text, or empty"),
    "half a character": ({"golds": [{**GOOD, "sql": "SELECT '\ud83d'"}]}, "SQL that is not a text"),
    "the same twice": ({"golds": [{**GOOD, "sql": ["SELECT 1", "SELECT 1 "]}]}, "the same SQL twice"),
    "excluded with sql": ({"golds": [{**GOOD, "status": "excluded", "reason": "?"}]}, "but has SQL"),
    "no reason": ({"golds": [{"question_id": 8, "status": "excluded"}]}, "excluded without a reason"),
    "a digest": ({"golds": [{**GOOD, "replaces": "abc"}]}, "replaces is not a sha256 in hexadecimal"),
    "a reason": ({"golds": [{**GOOD, "reason": 5}]}, "reason is not a text"),
    "a name": ({"name": "a\nb", "golds": [GOOD]}, "must be a short text of one line"),
    "another revision": ({"golds": [{**GOOD, "replaces": "0" * 64}]}, "replaces a gold other"),
    "another set": ({"set": "dev", "golds": [GOOD]}, "it is for question set dev, not asked"),
    "another database": ({"golds": [{**GOOD, "db_id": "bank"}]}, "is about the database shop in asked"),
    "unknown": ({"golds": [{**GOOD, "question_id": 1}]}, "question 1: not one of asked"),
    "an id of two": ({"golds": [{**GOOD, "question_id": 7}]}, "question 7: not one of asked"),
    "told twice": ({"golds": [GOOD, GOOD]}, "question 8: occurs twice for sqlite"),
    "too often": ([{"question_id": 8, "sql": "SELECT 1"}] * 2, "question 8: not one of asked"),
    "no change": ([{"question_id": 8, "sql": "SELECT '8' -- sqlite"}], "changes no gold of asked"),
    "nothing left": (
        {"golds": [{"question_id": key, "status": "excluded", "reason": "?"} for key in ("7", 8, "7#2", 9)]},
        "it excludes every question of asked",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_pack_that_does_not_fit_is_one_line(asked: QuestionSet, tmp_path: Path, name: str) -> None:
    content, says = BAD[name]
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(content))
    with pytest.raises(BadInput) as refused:
        with_golds(asked, str(path))
    assert says in str(refused.value)
    assert str(refused.value).startswith(f"{path}: ")
    assert "\n" not in str(refused.value)


def test_a_pack_that_is_not_there_is_one_line(asked: QuestionSet, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="fix"):
        with_golds(asked, str(tmp_path / "fix"))

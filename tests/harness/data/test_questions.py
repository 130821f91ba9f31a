""""""

import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.data.predictions import Choice
from harness.data.questions import Difficulty, QuestionSet
from harness.data.set_manifest import LAYOUTS, PUBLISHED
from harness.data.sets.loader import load_set
from harness.runs.summary import Extent
from harness.sqltree import SchemaColumn
from tests.harness import own_sets as sets
from tests.harness import small_sets as small


def keys(questions: QuestionSet) -> list[str]:
    return [question.key for question in questions.questions]


def gold_words(questions: QuestionSet, key: str) -> list[list[str]]:
    return [sql.split() for sql in questions.by_key[key].gold.values()]


def test_a_repeated_id_stays_two_questions(first: QuestionSet) -> None:
    assert keys(first) == ["1471", "9", "137", "137#2"]
    assert [question.question_id for question in first.questions] == [1471, 9, 137, 137]
    assert first.keys_of(137) == ("137", "137#2")
    assert first.by_key["137"].gold[Dialect.MYSQL] != first.by_key["137#2"].gold[Dialect.MYSQL]


def test_gold_files_are_the_gold_of_the_first_revision(first: QuestionSet) -> None:
    assert first.by_key["9"].gold == {dialect: f"SELECT 1 AS {dialect}" for dialect in PUBLISHED}


def test_dialects_of_the_later_revision_are_joined_by_id(later: QuestionSet) -> None:
    assert keys(later) == ["1471", "9", "137", "119"]
    assert {dialect: later.order[dialect] for dialect in PUBLISHED} == {
        Dialect.SQLITE: ("1471", "9", "137", "119"),
        Dialect.MYSQL: ("1471", "9", "119", "137"),
        Dialect.POSTGRESQL: ("1471", "9", "119", "137"),
    }
    assert later.by_key["119"].gold == {
        Dialect.SQLITE: "SELECT 3  AS sqlite",
        Dialect.MYSQL: "SELECT 2  AS mysql",
        Dialect.POSTGRESQL: "SELECT 2  AS postgresql",
    }


def test_text_and_evidence_are_those_of_the_sqlite_file(tmp_path: Path) -> None:
    folder = small.write_mini_dev_2025(tmp_path)
    path = folder / "mini_dev_mysql.json"
    path.write_text(
        path.read_text().replace("Where is", "Wo ist").replace('"evidence": ""', '"evidence": "x"')
    )
    question = load_set("mini_dev_2025", tmp_path).by_key["9"]
    assert (question.text, question.evidence) == ("Where is number 1?", "")
    assert question.difficulty is Difficulty.MODERATE


def test_both_revisions_share_their_databases(tmp_path: Path, later: QuestionSet) -> None:
    assert later.db_ids == ("bank", "zoo")
    database = later.database("zoo", Profile.FAITHFUL)
    assert database.profile is Profile.FAITHFUL
    assert database.sqlite_path == tmp_path / "MINIDEV" / "dev_databases" / "zoo" / "zoo.sqlite"


@pytest.mark.parametrize("folder", [".", "dev", "dev_20240627"])
def test_dev_has_sqlite_gold_alone(tmp_path: Path, folder: str) -> None:
    small.write_dev(tmp_path / folder)
    questions = load_set("dev", tmp_path)
    assert [question.gold for question in questions.questions[:1]] == [
        {Dialect.SQLITE: "SELECT 0  AS sqlite"}
    ]
    assert questions.order[Dialect.MYSQL] == questions.order[Dialect.SQLITE] == ("1471", "9", "137", "119")


def names_of(folder: Path, db_ids: Sequence[str], **changes: str) -> str:
    """The collection of a set that poses as dev, with a question about each database."""
    small.write_dev(folder)
    for db_id in db_ids:
        shutil.copytree(
            folder / "dev_databases" / "zoo", folder / "dev_databases" / db_id, dirs_exist_ok=True
        )
        (folder / "dev_databases" / db_id / "zoo.sqlite").rename(
            folder / "dev_databases" / db_id / f"{db_id}.sqlite"
        )
    (folder / "dev_tables.json").unlink()
    asked = [small.question(place, db_id, Dialect.SQLITE, 0) | changes for place, db_id in enumerate(db_ids)]
    small.write_lines(folder / "dev.json", asked)
    return load_set("dev", folder).database(db_ids[0]).collection


def test_the_published_databases_keep_their_namespace_and_others_have_their_own(tmp_path: Path) -> None:
    eleven = sorted(LAYOUTS["dev"].published or ())
    assert len(eleven) == 11
    assert names_of(tmp_path / "dev", eleven) == "bird_dev"
    assert names_of(tmp_path / "corrected", eleven, SQL="SELECT 7", question="Else?") == "bird_dev"
    own = names_of(tmp_path / "own", ["formula_1"])
    assert re.fullmatch(r"bird_dev_[0-9a-f]{8}", own)
    assert names_of(tmp_path / "moved", ["formula_1"]) == own
    assert names_of(tmp_path / "gold", ["formula_1"], SQL="SELECT 7") == own
    others = {
        names_of(tmp_path / "asked", ["formula_1"], question="Else?"),
        names_of(tmp_path / "more", ["formula_1", "superhero"]),
    }
    assert len(others | {own, "bird_dev"}) == 4


def test_sets_of_other_places_do_not_share_their_namespace(tmp_path: Path) -> None:
    small.write_mini_dev(tmp_path)
    small.write_dev(tmp_path)
    collections = {load_set(name, tmp_path).collection for name in ("sample", "mini_dev", "dev")}
    assert len(collections) == 3
    assert "bird_sample" in collections


def test_gold_lines_are_split_at_the_last_tab_and_only_at_line_feeds(tmp_path: Path) -> None:
    folder = small.write_dev(tmp_path)
    sql = "SELECT\t'a\u2028b'"
    (folder / "dev.sql").write_text(
        f"{sql}\tzoo\r\nSELECT 2\tzoo\nSELECT 3\tbank\nSELECT 4\tbank", newline=""
    )
    questions = load_set("dev", tmp_path)
    assert questions.by_key["1471"].gold == {Dialect.SQLITE: sql}
    assert questions.by_key["119"].gold == {Dialect.SQLITE: "SELECT 4"}


def test_the_published_zip_may_keep_its_own_folder(tmp_path: Path) -> None:
    small.write_mini_dev(tmp_path / "minidev")
    assert keys(load_set("mini_dev", tmp_path)) == ["1471", "9", "137", "137#2"]


def test_the_environment_names_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small.write_mini_dev(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BIRD_HOME", raising=False)
    assert load_set("mini_dev").databases == Path("data/MINIDEV/dev_databases")
    monkeypatch.setenv("BIRD_HOME", "elsewhere")
    with pytest.raises(BadInput, match=re.escape(str(Path("elsewhere/MINIDEV")))):
        load_set("mini_dev")


def test_files_and_their_digests_are_known(tmp_path: Path, first: QuestionSet) -> None:
    assert sorted(first.files) == sorted(
        ["dev_tables.json", *(f"mini_dev_{d}{end}" for d in PUBLISHED for end in (".json", "_gold.sql"))]
    )
    content = (tmp_path / "MINIDEV" / "mini_dev_mysql_gold.sql").read_bytes()
    assert first.files["mini_dev_mysql_gold.sql"] == hashlib.sha256(content).hexdigest()


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    folder = small.write_mini_dev(tmp_path)
    for path in (folder / "mini_dev_sqlite.json", folder / "mini_dev_sqlite_gold.sql"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_set("mini_dev", tmp_path).by_key["1471"].gold[Dialect.SQLITE] == "SELECT 0 AS sqlite"


def test_schemas(first: QuestionSet) -> None:
    schema = first.schemas["zoo"]
    key, name = SchemaColumn("Place", "id", "integer"), SchemaColumn("Place", "Full Name", "text")
    day, place = SchemaColumn("Visit", "day", "date"), SchemaColumn("Visit", "place", "integer")
    assert schema.tables == ("Place", "Visit")
    assert schema.columns == (key, name, day, place)
    assert schema.primary_keys == ((key,), (day, place))
    assert schema.foreign_keys == ((place, key),)


def test_schemas_may_be_missing(tmp_path: Path) -> None:
    (small.write_mini_dev(tmp_path) / "dev_tables.json").unlink()
    assert load_set("mini_dev", tmp_path).schemas == {}


def test_the_sample_needs_no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_HOME", "nowhere")
    questions = load_set("sample")
    assert len(questions.questions) >= 60
    assert {question.difficulty for question in questions.questions} == set(Difficulty)
    assert all(set(question.gold) == set(Dialect) for question in questions.questions)
    assert set(questions.schemas) == set(questions.db_ids)
    assert questions.database(questions.db_ids[0]).collection == "bird_sample"


def test_limit_takes_the_first(later: QuestionSet) -> None:
    assert keys(later.limit(3)) == ["1471", "9", "137"]
    assert later.limit(3).order[Dialect.MYSQL] == ("1471", "9", "137")
    assert later.limit(1).db_ids == ("zoo",)
    assert later.limit(9) == later
    with pytest.raises(BadInput, match="1 or more"):
        later.limit(0)


def test_every_fault_of_a_file_is_counted(tmp_path: Path) -> None:
    asked = small.questions([(number, "zoo") for number in (1, 2, 3)], Dialect.SQLITE)
    many = [{**question, "SQL": ""} for question in asked * 4]
    many[1].pop("SQL")
    small.write_json(small.write_dev(tmp_path) / "dev.json", many)
    with pytest.raises(BadInput) as raised:
        load_set("dev", tmp_path)
    assert str(raised.value).endswith(
        "dev.json: 11 entries (0, 2, 3, 4, 5, ...): SQL is blank; also entry 1: no SQL; correct the file"
    )


@pytest.mark.bird
def test_published_first_revision(bird_home: Path) -> None:
    questions = load_set("mini_dev", bird_home)
    assert len(questions.questions) == 500
    assert len({question.question_id for question in questions.questions}) == 498
    assert [key for key in keys(questions) if "#" in key] == ["137#2", "138#2"]
    assert (
        questions.order[Dialect.SQLITE]
        == questions.order[Dialect.MYSQL]
        == questions.order[Dialect.POSTGRESQL]
    )
    levels = [question.difficulty for question in questions.questions]
    assert [levels.count(level) for level in Difficulty] == [148, 250, 102]
    assert all(set(question.gold) == set(PUBLISHED) for question in questions.questions)
    assert len(questions.db_ids) == len(questions.schemas) == 11


@pytest.mark.bird
def test_published_gold_files_agree_with_the_questions(bird_home: Path) -> None:
    questions = load_set("mini_dev", bird_home)
    for dialect in PUBLISHED:
        published = json.loads((bird_home / "MINIDEV" / f"mini_dev_{dialect}.json").read_text("utf-8"))
        for question, record in zip(questions.questions, published, strict=True):
            assert question.gold[dialect].split() == record["SQL"].split()


@pytest.mark.bird
def test_published_later_revision(bird_home: Path) -> None:
    first, later = load_set("mini_dev", bird_home), load_set("mini_dev_2025", bird_home)
    assert len(set(keys(later))) == 500
    assert set(keys(later)) - set(keys(first)) == {"119", "120"}
    assert set(keys(first)) - set(keys(later)) == {"137#2", "138#2"}
    for server in (Dialect.MYSQL, Dialect.POSTGRESQL):
        pairs = enumerate(zip(later.order[Dialect.SQLITE], later.order[server], strict=True))
        assert [place for place, (here, there) in pairs if here != there] == [484, 485, 486]
    assert later.database("superhero") == first.database("superhero")
    shared = set(keys(first)) & set(keys(later))
    assert {key for key in shared if gold_words(first, key) != gold_words(later, key)} == {"1322"}


@pytest.fixture
def sample_set() -> QuestionSet:
    return load_set("sample")


def test_databases_levels_and_names_are_those_asked_for(sample_set: QuestionSet) -> None:
    db_id = sample_set.db_ids[0]
    found = Choice(db_ids=[db_id], difficulties=["simple", "moderate"]).of(sample_set)
    assert keys(found) == [
        one.key
        for one in sample_set.questions
        if one.db_id == db_id and one.difficulty in {"simple", "moderate"}
    ]
    assert found.order[Dialect.MYSQL] == tuple(keys(found))
    whole = keys(sample_set)
    assert keys(Choice(keys=[whole[5], whole[2]]).of(sample_set)) == [whole[2], whole[5]]
    assert Choice().of(sample_set) == sample_set
    assert (
        keys(Choice(difficulties=["moderate"], limit=2).of(sample_set))
        == keys(Choice(difficulties=["moderate"]).of(sample_set))[:2]
    )


@pytest.mark.parametrize("count", [1, 7, 20, 33, 65])
def test_a_sample_keeps_the_shares_and_comes_out_again(sample_set: QuestionSet, count: int) -> None:
    found = Choice(sample=count, seed=3).of(sample_set)
    assert len(found.questions) == count
    assert keys(found) == [key for key in keys(sample_set) if key in set(keys(found))]
    assert keys(found) == keys(Choice(sample=count, seed=3).of(sample_set))
    total = len(sample_set.questions)
    groups = Counter((one.db_id, one.difficulty) for one in sample_set.questions)
    drawn = Counter((one.db_id, one.difficulty) for one in found.questions)
    assert all(abs(drawn[group] - count * size / total) < 1 for group, size in groups.items())


def test_another_seed_draws_others_and_a_large_sample_is_the_set(sample_set: QuestionSet) -> None:
    assert len({tuple(keys(Choice(sample=20, seed=seed).of(sample_set))) for seed in range(5)}) == 5
    assert Choice(sample=1000).of(sample_set) == sample_set


def test_questions_are_chosen_by_type() -> None:
    chosen = Choice(types=["ranking"]).of(load_set("sample"))
    assert chosen.questions
    assert all("ranking" in question.types for question in chosen.questions)
    both = Choice(types=["ranking", "counting"]).of(load_set("sample"))
    assert len(both.questions) > len(chosen.questions)


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        (Choice(db_ids=["market"]), "--db 'market': not in Shop-Bench; choose from shop"),
        (
            Choice(difficulties=["hard"]),
            "--difficulty 'hard': not in Shop-Bench; choose from warm-up, tricky",
        ),
        (Choice(types=["riddle"]), "--type 'riddle': not in Shop-Bench; choose from match, ranking,"),
        (Choice(keys=["Q/9"]), "question 'Q/9': not in Shop-Bench"),
        (Choice(difficulties=["tricky"], keys=["Q/1"]), "no question of Shop-Bench is left"),
    ],
)
def test_what_cannot_be_chosen_is_said(tmp_path: Path, choice: Choice, says: str) -> None:
    with pytest.raises(BadInput) as raised:
        choice.of(load_set(str(sets.own(tmp_path / "own"))))
    assert says in str(raised.value)


def test_tables_say_what_was_chosen_of_what() -> None:
    choice = Choice(db_ids=["shop"], sample=5, seed=2)
    planned = {("p", "sqlite"): 5}
    extent = Extent(planned, 5, 66, by=choice.beyond_limit)
    line = "5 of 66 questions: a selection by --db shop --sample 5 --seed 2, not the set."
    assert extent.lines({("p", "sqlite"): 5}, {"sqlite": "SQLite"}) == [line]
    assert Extent.from_manifest({"planned": extent.to_json()}) == extent
    assert Choice(limit=5).beyond_limit == ""

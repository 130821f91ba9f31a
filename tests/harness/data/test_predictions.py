import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.predictions import Extract, PredictionFile, read_predictions, unfenced
from harness.data.questions import QuestionSet
from harness.data.sets.loading import load_set
from tests.harness import small_sets as small


def whose(files: list[PredictionFile]) -> list[tuple[str, str]]:
    return [(file.predictor, file.dialect) for file in files]


@pytest.mark.parametrize(
    ("name", "predictor", "dialect"),
    [
        ("predict_mini_dev_gpt-4_mysql.json", "gpt-4", Dialect.MYSQL),
        ("predict_mini_dev_meta-llama-3-70b_mysqljson.json", "meta-llama-3-70b", Dialect.MYSQL),
        ("predict_mini_dev_gpt-4-turbo_cot_SQLite.json", "gpt-4-turbo_cot", Dialect.SQLITE),
        ("predict_mini_dev_PostgreSQL_sqlite_postgresql.json", "PostgreSQL_sqlite", Dialect.POSTGRESQL),
    ],
)
def test_names_tell_predictor_and_dialect(
    tmp_path: Path, first: QuestionSet, name: str, predictor: str, dialect: Dialect
) -> None:
    path = small.write_json(tmp_path / name, small.official())
    assert whose(read_predictions([path], first)) == [(predictor, dialect)]


def test_the_name_of_the_later_revision(tmp_path: Path, later: QuestionSet) -> None:
    path = small.write_json(tmp_path / "predict_mini_dev_2025_gpt-4_sqlite.json", small.official())
    assert whose(read_predictions([path], later)) == [("gpt-4", Dialect.SQLITE)]


def test_the_caller_overrides_the_name(tmp_path: Path, first: QuestionSet, later: QuestionSet) -> None:
    path = small.write_json(tmp_path / "predict_mini_dev_gpt-4_mysql.json", small.official())
    assert whose(read_predictions([path], first, predictor="mine")) == [("mine", Dialect.MYSQL)]
    asked = [Dialect.MYSQL]
    assert whose(read_predictions([path], later, predictor="a", dialects=asked)) == [("a", Dialect.MYSQL)]


def test_the_only_dialect_asked_for_is_that_of_files_that_do_not_tell(
    tmp_path: Path, first: QuestionSet
) -> None:
    asked = [Dialect.POSTGRESQL]
    official = small.write_json(tmp_path / "answers.json", small.official())
    assert whose(read_predictions([official], first, predictor="p", dialects=asked)) == [
        ("p", Dialect.POSTGRESQL)
    ]
    ids = [(1471, "zoo"), (9, "zoo"), ("137", "bank"), ("137#2", "bank")]
    lines = small.write_lines(tmp_path / "answers.jsonl", small.lines(ids, predictor="q"))
    with pytest.raises(BadInput, match="no dialect"):
        read_predictions([lines], first)
    assert whose(read_predictions([lines], first, dialects=asked)) == [("q", Dialect.POSTGRESQL)]


def test_official_sql_is_kept_as_it_was_written(tmp_path: Path, first: QuestionSet) -> None:
    sql = " \n```sql\nSELECT\t'é' -- \u2028\n "
    path = tmp_path / "predict_mini_dev_m_sqlite.json"
    path.write_text(
        json.dumps(small.official() | {"1": f"{sql}{small.SEPARATOR}zoo"}, ensure_ascii=False), "utf-8"
    )
    [file] = read_predictions([path], first)
    assert file.predictions == {"1471": "SELECT 0", "9": sql, "137": "SELECT 2", "137#2": "SELECT 3"}
    assert (file.format, file.extract, file.extracted) == ("official", Extract.NONE, 0)
    assert file.path == path
    assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_official_positions_follow_the_dialect_of_the_file(tmp_path: Path, later: QuestionSet) -> None:
    folder = tmp_path / "answers"
    for dialect in Dialect:
        small.write_json(folder / f"predict_mini_dev_2025_m_{dialect}.json", small.official())
    files = {file.dialect: file.predictions for file in read_predictions([folder], later)}
    assert files[Dialect.SQLITE] == {
        "1471": "SELECT 0",
        "9": "SELECT 1",
        "137": "SELECT 2",
        "119": "SELECT 3",
    }
    swapped = {"1471": "SELECT 0", "9": "SELECT 1", "137": "SELECT 3", "119": "SELECT 2"}
    assert files[Dialect.MYSQL] == files[Dialect.POSTGRESQL] == swapped


def test_lines_may_hold_several_predictors_and_dialects(tmp_path: Path, first: QuestionSet) -> None:
    ids = [(1471, "zoo"), ("9", "zoo"), ("137", "bank"), ("137#2", "bank")]
    ours = small.lines(ids, predictor="ours", dialect="sqlite")
    theirs = small.lines(ids[::-1], predictor="theirs", dialect="mysql")
    interleaved = [record for pair in zip(ours, theirs, strict=True) for record in pair]
    files = read_predictions([small.write_lines(tmp_path / "all.jsonl", interleaved)], first)
    assert whose(files) == [("ours", Dialect.SQLITE), ("theirs", Dialect.MYSQL)]
    assert files[0].predictions == {
        "1471": "SELECT 0",
        "9": "SELECT 1",
        "137": "SELECT 2",
        "137#2": "SELECT 3",
    }
    assert files[1].predictions == {
        "1471": "SELECT 3",
        "9": "SELECT 2",
        "137": "SELECT 1",
        "137#2": "SELECT 0",
    }
    assert {file.format for file in files} == {"jsonl"}


def test_lines_need_only_what_the_name_does_not_tell(tmp_path: Path, first: QuestionSet) -> None:
    records = [{"question_id": key, "sql": "SELECT 1"} for key in first.by_key]
    path = small.write_lines(tmp_path / "predict_mini_dev_m_sqlite.jsonl", records)
    assert whose(read_predictions([path], first)) == [("m", Dialect.SQLITE)]


def test_what_has_no_answer_for_a_reason_is_not_missed(tmp_path: Path, first: QuestionSet) -> None:
    records: list[dict[str, Any]] = [{"question_id": key, "sql": "SELECT 1"} for key in first.by_key]
    records[1] |= {"sql": None, "reason": "status 500"}
    path = small.write_lines(tmp_path / "predict_mini_dev_m_sqlite.jsonl", records)
    [file] = read_predictions([path], first)
    key = list(first.by_key)[1]
    assert file.predictions[key] is None
    assert file.reasons == {key: "status 500"}


ANSWERS = {"1471": "SELECT 0", "9": "SELECT 1", "137": "SELECT 2", "137#2": "SELECT 3"}


def test_an_array_of_texts_follows_the_order_of_the_dialect(tmp_path: Path, later: QuestionSet) -> None:
    texts = [f"SELECT {place}" for place in range(4)]
    folder = tmp_path / "answers"
    for dialect in (Dialect.SQLITE, Dialect.MYSQL):
        small.write_json(folder / f"predict_mini_dev_2025_m_{dialect}.json", texts)
    on_mysql, on_sqlite = read_predictions([folder], later)
    assert on_sqlite.predictions == {
        "1471": "SELECT 0",
        "9": "SELECT 1",
        "137": "SELECT 2",
        "119": "SELECT 3",
    }
    assert on_mysql.predictions == {"1471": "SELECT 0", "9": "SELECT 1", "137": "SELECT 3", "119": "SELECT 2"}
    assert on_mysql.format == "array"


def test_an_array_of_texts_may_be_spelled_officially_and_lack_answers(
    tmp_path: Path, first: QuestionSet
) -> None:
    path = tmp_path / "predict_mini_dev_m_sqlite.json"
    [file] = read_predictions([small.write_json(path, list(small.official().values()))], first)
    assert file.predictions == ANSWERS
    small.write_json(path, [None, "SELECT 1", None, "SELECT 3"])
    [file] = read_predictions([path], first, allow_missing=True)
    assert file.predictions == {"1471": None, "9": "SELECT 1", "137": None, "137#2": "SELECT 3"}
    with pytest.raises(BadInput, match=r"2 questions \(1471 \(entry 0\), 137 \(entry 2\)\)"):
        read_predictions([path], first)


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_of_objects_is_read_as_their_lines_would_be(
    tmp_path: Path, first: QuestionSet, indent: int | None
) -> None:
    records = small.lines([(key, question.db_id) for key, question in first.by_key.items()], predictor="m")
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(records[::-1], indent=indent), encoding="utf-8")
    [file] = read_predictions([path], first, dialects=[Dialect.MYSQL])
    assert (file.predictor, file.predictions) == ("m", ANSWERS)


@pytest.mark.parametrize("spelled", [int, str])
def test_ids_that_occur_twice_are_taken_in_order_when_all_are_there(
    tmp_path: Path, first: QuestionSet, spelled: type
) -> None:
    ids = [(spelled(question_id), db_id) for question_id, db_id in small.FIRST_REVISION]
    records = [
        record
        for predictor in ("a", "b")
        for record in small.lines(ids, predictor=predictor, dialect="sqlite")
        if isinstance(record["question_id"], int) or record["question_id"] == "137"
    ]
    path = small.write_lines(tmp_path / "answers.jsonl", records)
    files = read_predictions([path], first, allow_missing=True)
    assert [file.predictor for file in files] == ["a", "b"]
    for file in files:
        assert {key: file.predictions[key] for key in ("137", "137#2")} == {
            "137": "SELECT 2",
            "137#2": "SELECT 3",
        }
        assert file.taken_in_order == [137]


def test_ids_that_occur_twice_are_not_guessed(tmp_path: Path, first: QuestionSet) -> None:
    both = small.lines([(137, "bank"), ("137#2", "bank")], predictor="m", dialect="sqlite")
    with pytest.raises(BadInput, match="a number that 2 questions share"):
        read_predictions([small.write_lines(tmp_path / "answers.jsonl", both)], first, allow_missing=True)
    keys = small.lines([("137#2", "bank"), ("137", "bank")], predictor="m", dialect="sqlite")
    [file] = read_predictions([small.write_lines(tmp_path / "a.jsonl", keys)], first, allow_missing=True)
    assert (file.predictions["137"], file.predictions["137#2"]) == ("SELECT 1", "SELECT 0")
    assert file.taken_in_order == []


def test_the_folder_of_predict_is_known(tmp_path: Path, first: QuestionSet) -> None:
    folder = tmp_path / "asked"
    small.write_json(folder / "predictions" / "predict_mini_dev_m_sqlite.json", small.official())
    small.write_json(folder / "manifest.json", {"set": "mini_dev"})
    for name in ("journal.jsonl", "answers.jsonl"):
        (folder / name).write_text('{"event": "sent"}\n', encoding="utf-8")
    assert whose(read_predictions([folder], first)) == [("m", Dialect.SQLITE)]


def test_lines_and_faults_are_counted_across_pieces_of_a_file(tmp_path: Path, first: QuestionSet) -> None:
    path = tmp_path / "answers.jsonl"
    # A character that lies across the end of a piece is none of its faults.
    for before in range(2**20 - 4, 2**20 + 1):
        path.write_bytes(b"\n" * 3 + b" " * (before - 3) + "\U0001f600".encode() + b"\n\xff")
        with pytest.raises(BadInput, match="byte 0xff in line 5 is not UTF-8"):
            read_predictions([path], first)
    path.write_bytes(b" " * (2**20 - 2) + "\U0001f600".encode()[:3])
    with pytest.raises(BadInput, match="byte 0xf0 in line 1 is not UTF-8"):
        read_predictions([path], first)


def test_how_large_a_file_may_be_can_be_said(
    tmp_path: Path, first: QuestionSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = small.official() | {"0": f"SELECT '{'x' * 2_000_000}'{small.SEPARATOR}zoo"}
    path = small.write_json(tmp_path / "predict_mini_dev_m_sqlite.json", large)
    assert len(read_predictions([path], first)) == 1
    monkeypatch.setenv("BIRD_FILE_BYTES", "1MB")
    with pytest.raises(BadInput, match=r"2,000,\d\d\d bytes, more than the 1,000,000 that are read"):
        read_predictions([path], first)
    monkeypatch.setenv("BIRD_FILE_BYTES", "much")
    with pytest.raises(BadInput, match="BIRD_FILE_BYTES=much: not a size"):
        read_predictions([path], first)


def test_a_single_line_is_told_from_an_official_file(tmp_path: Path, first: QuestionSet) -> None:
    record = {"question_id": 9, "sql": "SELECT 1", "predictor": "m", "dialect": "sqlite"}
    path = small.write_lines(tmp_path / "one.json", [record])
    [file] = read_predictions([path], first, allow_missing=True)
    assert file.predictions == {"1471": None, "9": "SELECT 1", "137": None, "137#2": None}


def test_allow_missing_keeps_positions(tmp_path: Path, first: QuestionSet) -> None:
    answers = {place: sql for place, sql in small.official().items() if place in "03"}
    path = small.write_json(tmp_path / "predict_mini_dev_m_sqlite.json", answers)
    [file] = read_predictions([path], first, allow_missing=True)
    assert file.predictions == {"1471": "SELECT 0", "9": None, "137": None, "137#2": "SELECT 3"}


def test_folders_are_read_in_order_without_hidden_and_other_files(tmp_path: Path, first: QuestionSet) -> None:
    folder = tmp_path / "answers"
    for name in ("b_mysql", "a_sqlite", "c_sqlite"):
        small.write_json(folder / f"predict_mini_dev_{name}.json", small.official())
    (folder / "README.md").write_text("made up")
    (folder / ".predict_mini_dev_x_sqlite.json").write_text("{")
    files = read_predictions([folder], first)
    assert whose(files) == [("a", Dialect.SQLITE), ("b", Dialect.MYSQL), ("c", Dialect.SQLITE)]


def test_other_dialects_are_left_out_unread(tmp_path: Path, first: QuestionSet) -> None:
    folder = tmp_path / "answers"
    small.write_json(folder / "predict_mini_dev_a_sqlite.json", small.official())
    (folder / "predict_mini_dev_a_mysql.json").write_text("{")
    also = small.lines([(9, "zoo")], predictor="b", dialect="mysql")
    small.write_lines(folder / "b.jsonl", also)
    assert whose(read_predictions([folder], first, dialects=[Dialect.SQLITE])) == [("a", Dialect.SQLITE)]
    with pytest.raises(BadInput, match="no predictions for postgresql"):
        read_predictions([folder / "b.jsonl"], first, dialects=[Dialect.POSTGRESQL])


def test_a_file_named_twice_is_refused(tmp_path: Path, first: QuestionSet) -> None:
    path = small.write_json(tmp_path / "predict_mini_dev_m_sqlite.json", small.official())
    with pytest.raises(BadInput, match="leave one out"):
        read_predictions([path, path], first)


def test_no_path_is_refused(first: QuestionSet) -> None:
    with pytest.raises(BadInput, match="no prediction file"):
        read_predictions([], first)


def test_every_fault_of_a_file_is_counted(tmp_path: Path, first: QuestionSet) -> None:
    answers = {"0": None, "1": f"SELECT 1{small.SEPARATOR}bank", "2": "SELECT 1", "3": "SELECT 2"}
    path = small.write_json(tmp_path / "predict_mini_dev_m_sqlite.json", answers)
    with pytest.raises(BadInput) as raised:
        read_predictions([path], first)
    assert str(raised.value) == (
        f"{path}: entry 0: null instead of a string; also entry 1 (bank, not zoo): for another database; "
        r'also 2 entries (2, 3): no separator; write "SQL\t----- bird -----\tdb_id"; '
        "use a file made for this set"
    )


def test_fences_are_taken_off_only_when_asked(tmp_path: Path, first: QuestionSet) -> None:
    fenced = f"```sql\nSELECT 1\n```{small.SEPARATOR}zoo"
    path = small.write_json(
        tmp_path / "predict_mini_dev_m_sqlite.json", small.official() | {"0": fenced, "1": fenced}
    )
    [plain] = read_predictions([path], first)
    [taken] = read_predictions([path], first, extract=Extract.FENCES)
    assert plain.predictions["9"] == "```sql\nSELECT 1\n```"
    assert taken.predictions == {"1471": "SELECT 1", "9": "SELECT 1", "137": "SELECT 2", "137#2": "SELECT 3"}
    assert (taken.extract, taken.extracted) == (Extract.FENCES, 2)


@pytest.mark.parametrize(
    ("answer", "sql"),
    [
        ("SELECT 1", "SELECT 1"),
        (" SELECT 1 \n", " SELECT 1 \n"),
        ("```sql\nSELECT 1\n```", "SELECT 1"),
        ("```\nSELECT 1\n```", "SELECT 1"),
        ("```SQLite\nSELECT 1", "SELECT 1"),  # cut off, as most of gpt-4-turbo's
        ("```sql\nSELECT 1```", "SELECT 1"),
        ("```sql SELECT 1 ```", "SELECT 1"),
        ("```plain\nSELECT 1\n```", "SELECT 1"),
        ("Here it is:\n\n```sql\nSELECT 1;\n```\nIt counts.", "SELECT 1;"),
        ("Here it is:\n```\nSELECT 1\n```\nor\n```\nSELECT 2\n```", "SELECT 1"),
        # The prompt had opened the block, as in mixtral's answers.
        (" SELECT 1;\n```", "SELECT 1;"),
        (" SELECT 1;\n```\n\n```", "SELECT 1;"),
        (" SELECT 1\n```\nThis query returns 1.\n```", "SELECT 1"),
        (" SELECT 1\n```sql;\n\nLet's see.\n```", "SELECT 1"),
        ("WITH a AS (SELECT 1)\nSELECT * FROM a\n```", "WITH a AS (SELECT 1)\nSELECT * FROM a"),
        ("(SELECT 1)\n```", "(SELECT 1)"),
        # No block: backticks within a line, nothing inside.
        ("SELECT `a```, ```b` FROM t", "SELECT `a```, ```b` FROM t"),
        ("```\n```", "```\n```"),
    ],
)
def test_unfenced(answer: str, sql: str) -> None:
    assert unfenced(answer) == sql


@pytest.mark.bird
def test_published_prediction_files(bird_home: Path) -> None:
    questions = load_set("mini_dev", bird_home)
    files = read_predictions([bird_home / "predictions"], questions, extract=Extract.FENCES)
    assert len(set(whose(files))) == len(files) == 31
    assert Counter(file.dialect for file in files) == {"sqlite": 13, "mysql": 9, "postgresql": 9}
    on_mysql = {file.predictor for file in files if file.dialect == Dialect.MYSQL}
    assert on_mysql == {file.predictor for file in files if file.dialect == Dialect.POSTGRESQL}
    assert {file.predictor for file in files if file.dialect == Dialect.SQLITE} - on_mysql == {
        "gpt-35-turbo_cot",
        "gpt-4-o_cot",
        "gpt-4-turbo_cot",
        "meta-llama-3-70b-instruct2_cot",
    }
    assert all(None not in file.predictions.values() and len(file.predictions) == 500 for file in files)
    assert {(file.predictor, str(file.dialect)): file.extracted for file in files if file.extracted} == {
        ("gpt-35-turbo-instruct", "postgresql"): 1,
        ("gpt-4", "mysql"): 1,
        ("gpt-4", "postgresql"): 1,
        ("gpt-4-turbo", "sqlite"): 57,
        ("mistralai-mixtral-8x7b-instru-4", "mysql"): 17,
        ("mistralai-mixtral-8x7b-instru-4", "postgresql"): 28,
        ("mistralai-mixtral-8x7b-instru-4", "sqlite"): 33,
    }
    assert not [sql for file in files for sql in file.predictions.values() if sql is None or "```" in sql]

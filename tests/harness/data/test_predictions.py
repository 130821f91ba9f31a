""""""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.answers import Extract, first_code_block
from harness.data.outcomes import AnswerUsage
from harness.data.prediction_files import Format
from harness.data.predictions import Choice, ExtractionCounts, PredictionFile, read_predictions
from harness.data.questions import QuestionSet
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.loader import load_set
from tests.harness import own_sets as sets
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
    assert (file.format, file.extract, file.extracted) == ("official", Extract.NONE, ExtractionCounts())
    assert file.path == path
    assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_official_positions_follow_the_dialect_of_the_file(tmp_path: Path, later: QuestionSet) -> None:
    folder = tmp_path / "answers"
    for dialect in PUBLISHED:
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
    with pytest.raises(BadInput, match=r"question 1471 \(entry 0\): .*the chosen 2 of 4 questions"):
        read_predictions([path], first, scored=Choice(keys=["1471", "9"]).of(first))
    [file] = read_predictions([path], first, scored=Choice(keys=["9", "137#2"]).of(first))
    assert file.predictions["137"] is None


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
        assert file.shared_ids == [137]


def test_ids_that_occur_twice_are_not_guessed(tmp_path: Path, first: QuestionSet) -> None:
    both = small.lines([(137, "bank"), ("137#2", "bank")], predictor="m", dialect="sqlite")
    with pytest.raises(BadInput, match="a number that 2 questions share"):
        read_predictions([small.write_lines(tmp_path / "answers.jsonl", both)], first, allow_missing=True)
    keys = small.lines([("137#2", "bank"), ("137", "bank")], predictor="m", dialect="sqlite")
    [file] = read_predictions([small.write_lines(tmp_path / "a.jsonl", keys)], first, allow_missing=True)
    assert (file.predictions["137"], file.predictions["137#2"]) == ("SELECT 1", "SELECT 0")
    assert file.shared_ids == []


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
    with pytest.raises(BadInput, match=r"2,000,\d\d\d bytes, more than the limit of 1,000,000"):
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
    with pytest.raises(BadInput, match="omit one"):
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
    assert (taken.extract, taken.extracted.changed) == (Extract.FENCES, 2)


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
def test_the_first_code_block(answer: str, sql: str) -> None:
    assert first_code_block(answer) == sql


@pytest.mark.slow
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
    assert {
        (file.predictor, str(file.dialect)): file.extracted.changed
        for file in files
        if file.extracted.changed
    } == {
        ("gpt-35-turbo-instruct", "postgresql"): 1,
        ("gpt-4", "mysql"): 1,
        ("gpt-4", "postgresql"): 1,
        ("gpt-4-turbo", "sqlite"): 57,
        ("mistralai-mixtral-8x7b-instru-4", "mysql"): 17,
        ("mistralai-mixtral-8x7b-instru-4", "postgresql"): 28,
        ("mistralai-mixtral-8x7b-instru-4", "sqlite"): 33,
    }
    assert not [sql for file in files for sql in file.predictions.values() if sql is None or "```" in sql]


def read(folder: Path, name: str, text: str, family: str = "own") -> PredictionFile:
    questions = load_set(str(sets.FAMILIES[family](folder / f"my_{family}")))
    path = sets.write(folder / name, text)
    (found,) = read_predictions([path], questions, predictor="p", dialects=[Dialect.SQLITE])
    return found


def test_one_text_a_line_is_in_the_order_of_the_set(tmp_path: Path) -> None:
    text = "SELECT 'a\tb'\r\nSELECT 1;\tShop\r\n\r\nSELECT 2\tshop\r\n\r\n"
    found = read(tmp_path, "predictions.sql", text, "spider")
    assert found.format is Format.TEXT
    assert dict(found.predictions) == {"0": "SELECT 'a\tb'", "1": "SELECT 1;", "2": None, "3": "SELECT 2"}
    assert list(found.reasons) == ["2"]


def test_a_name_tells_predictor_and_dialect_of_a_set_of_ones_own(tmp_path: Path) -> None:
    questions = load_set(str(sets.spider(tmp_path / "my_spider")))
    path = sets.write(tmp_path / "predict_my_spider_gpt_x_sqlite.txt", "SELECT 1\n" * 4)
    (found,) = read_predictions([path], questions)
    assert (found.predictor, found.dialect) == ("gpt_x", "sqlite")


def test_a_table_names_questions_by_text_ids(tmp_path: Path) -> None:
    text = 'Question_ID,model,SQL\nQ/3,x,"SELECT 1,\n2"\nQ/0,x,SELECT 0\nQ/1,x, \nQ/2,x,"SELECT ""a"""\n'
    found = read(tmp_path, "answers.csv", text)
    assert found.format is Format.CSV
    assert dict(found.predictions) == {
        "Q/0": "SELECT 0",
        "Q/1": None,
        "Q/2": 'SELECT "a"',
        "Q/3": "SELECT 1,\n2",
    }


def test_a_table_without_ids_is_in_the_order_of_the_set(tmp_path: Path) -> None:
    found = read(tmp_path, "answers.csv", "predicted\n" + "".join(f"SELECT {n}\n" for n in range(4)))
    assert list(found.predictions.values()) == [f"SELECT {n}" for n in range(4)]


_SQLS = {f"Q/{place}": f"SELECT {place}\nFROM t" for place in range(4)}
_RECORDS = [{"question_id": key, "sql": sql} for key, sql in _SQLS.items()]
_SHAREGPT = [
    {"id": key, "conversations": [{"from": "human", "value": "?"}, {"from": "gpt", "value": sql}]}
    for key, sql in _SQLS.items()
]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", "question_id\tsql\n" + "".join(f'{key}\t"{sql}"\n' for key, sql in _SQLS.items())),
        ("a.json", json.dumps({"predictions": _RECORDS})),
        ("a.json", json.dumps({"model": "m", "results": _RECORDS, "settings": {"n": 1}}, indent=2)),
        ("a.json", json.dumps({"meta": {}, "answers": _SQLS})),
        ("a.json", json.dumps({"outputs": [*_SQLS.values()], "model": "m"})),
        ("a.json", json.dumps(_SHAREGPT)),
        ("a.jsonl", sets.lines(_SHAREGPT)),
        ("a.sql", ";\n\n".join(_SQLS.values()) + ";\n"),
        ("a.sql", "\n".join(f"{sql};" for sql in _SQLS.values())),
    ],
)
def test_files_of_other_tools_are_read_where_they_say_one_thing(tmp_path: Path, name: str, text: str) -> None:
    found = read(tmp_path, name, text).predictions
    assert {key: sql and sql.removesuffix(";") for key, sql in found.items()} == _SQLS


def test_ids_of_a_column_of_numbers_are_whole_numbers(tmp_path: Path, first: QuestionSet) -> None:
    keys = [question.question_id for question in first.questions[:2]]
    for name, text in (
        ("predict_mini_dev_m_sqlite.csv", "id,sql\n" + "".join(f"{key}.0,SELECT {key}\n" for key in keys)),
        (
            "predict_mini_dev_m_sqlite.jsonl",
            sets.lines([{"id": float(key), "sql": f"SELECT {key}"} for key in keys]),
        ),
    ):
        (found,) = read_predictions([sets.write(tmp_path / name, text)], first, allow_missing=True)
        assert [sql for sql in found.predictions.values() if sql] == [f"SELECT {key}" for key in keys]


def test_a_cell_of_a_table_may_be_as_long_as_a_file(tmp_path: Path) -> None:
    long = f"SELECT '{'x' * 200_000}'"
    text = "question_id,sql\n" + "".join(f'Q/{place},"{long}"\n' for place in range(4))
    assert set(read(tmp_path, "answers.csv", text).predictions.values()) == {long}


def test_text_ids_in_json_lines(tmp_path: Path) -> None:
    records = [{"question_id": f"Q/{place}", "sql": f"SELECT {place}"} for place in range(4)]
    found = read(tmp_path, "answers.jsonl", sets.lines(records))
    assert found.predictions["Q/2"] == "SELECT 2"


def test_the_number_0_in_an_official_file_is_no_answer(tmp_path: Path) -> None:
    good = {str(place): "SELECT 1\t----- bird -----\tshop" for place in range(4)}
    found = read(tmp_path, "answers.json", json.dumps(good | {"2": 0}))
    assert [key for key, sql in found.predictions.items() if sql is None] == list(found.reasons) == ["Q/2"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.sql", "SELECT 1\nSELECT 2\n", ["has 2 lines", "4 questions", "one SQL text per line"]),
        ("a.csv", "question_id,gold\nQ/0,SELECT 1\n", ["header (question_id, gold)", "no column of answers"]),
        ("a.csv", "question_id;sql\nQ/0;SELECT 1, 2\n", ["separated by ';'", "separate columns by commas"]),
        ("a.csv", "sql,sql\na,b\n", ["a column twice", "name each once"]),
        ("a.csv", "question_id,sql\nQ/0,SELECT 1,2\n", ["line 2 (3 cells, 2 columns)", "double quotes"]),
        ("a.csv", 'question_id,sql\nQ/0,"SELECT 1\n', ["line 2", "not valid CSV"]),
        ("a.csv", "sql\nSELECT 1\n", ["has 1 line without ids", "4 questions", "add question_id"]),
        ("a.csv", "question_id,sql\nQ/9,SELECT 1\n", ["line 2", "'Q/9'", "not a question of Shop-Bench"]),
        ("a.csv", "question_id,sql\nQ/0,a\nQ/0,b\n", ["line 3 (question Q/0, as line 2)", "answered before"]),
        ("a.csv", "question_id,sql,db_id\nQ/0,a,bank\n", ["line 2", "bank, not shop", "another database"]),
    ],
)
def test_a_fault_is_one_line_with_its_place_and_the_remedy(
    tmp_path: Path, name: str, text: str, says: list[str]
) -> None:
    with pytest.raises(BadInput) as raised:
        read(tmp_path, name, text)
    message = str(raised.value)
    assert message.isprintable()
    assert [part for part in [name, *says] if part not in message] == [], message


SAMPLE = load_set("sample")
KEYS = [question.key for question in SAMPLE.questions[:3]]


def lines(path: Path, records: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def read_usage(path: Path) -> PredictionFile:
    (found,) = read_predictions([path], SAMPLE, allow_missing=True, dialects=[Dialect.SQLITE])
    return found


def own(folder: Path, *usages: Mapping[str, Any]) -> Path:
    records = [
        {"question_id": int(key), "sql": "SELECT 1", **usage}
        for key, usage in zip(KEYS, usages, strict=False)
    ]
    return lines(folder / "predict_sample_mine_sqlite.jsonl", records)


def predicted(folder: Path, answers: Sequence[Mapping[str, Any]], samples: Sequence[str] = ("",)) -> Path:
    """A folder as `predict` lays it out."""
    lines(folder / "manifest.json", [{"set": "sample", "name": "m@2"}])
    lines(folder / "journal.jsonl", [])
    lines(folder / "answers.jsonl", answers)
    for sample in samples:
        lines(
            folder / "predictions" / f"predict_sample_m@2{sample}_sqlite.jsonl",
            [{"question_id": int(key), "sql": "SELECT 1"} for key in KEYS],
        )
    return folder


def answer(key: str, sample: int = 0, **usage: float | None) -> dict[str, Any]:
    return {"question": key, "dialect": "sqlite", "sample": sample, "sql": "SELECT 1", **usage}


def test_lines_say_what_their_answers_took(tmp_path: Path) -> None:
    full = {"prompt_tokens": 10, "completion_tokens": 0, "seconds": 1, "cost": 0.5}
    found = read_usage(own(tmp_path, full, {"seconds": None, "cost": 0}, {}))
    assert found.usage == {KEYS[0]: AnswerUsage(10, 0, 1, 0.5), KEYS[1]: AnswerUsage(cost=0)}
    assert found.usage[KEYS[0]].tokens == 10
    assert found.usage[KEYS[1]].tokens is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"prompt_tokens": -1},
        {"prompt_tokens": 1.5},
        {"completion_tokens": "12"},
        {"completion_tokens": True},
        {"seconds": "1 s"},
        {"seconds": 10**400},
        {"cost": []},
        {"cost": -0.1},
    ],
)
def test_a_figure_that_is_none_is_refused_by_its_place(tmp_path: Path, wrong: Mapping[str, Any]) -> None:
    path = own(tmp_path, {}, wrong)
    with pytest.raises(BadInput) as refused:
        read_usage(path)
    (name,) = wrong
    for part in (str(path), "line 2", f"question {KEYS[1]}", name):
        assert part in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_folder_of_predict_tells_it_of_its_files(tmp_path: Path) -> None:
    answers = [answer(KEYS[0], prompt_tokens=5, completion_tokens=6, seconds=0.5, cost=None), answer(KEYS[1])]
    folder = predicted(tmp_path / "p", [*answers, {**answer(KEYS[2], seconds=9), "dialect": "mysql"}])
    assert read_usage(folder).usage == {KEYS[0]: AnswerUsage(5, 6, 0.5)}
    # The same file elsewhere is nobody's.
    moved = (folder / "predictions" / "predict_sample_m@2_sqlite.jsonl").rename(
        tmp_path / "predict_sample_m_sqlite.jsonl"
    )
    assert read_usage(moved).usage == {}


def test_what_a_line_says_goes_before(tmp_path: Path) -> None:
    folder = predicted(tmp_path / "p", [answer(KEYS[0], seconds=1), answer(KEYS[1], seconds=2)])
    lines(
        folder / "predictions" / "predict_sample_m@2_sqlite.jsonl",
        [
            {"question_id": int(KEYS[0]), "sql": "SELECT 1", "seconds": 7},
            {"question_id": int(KEYS[1]), "sql": "SELECT 1"},
        ],
    )
    assert read_usage(folder).usage == {KEYS[0]: AnswerUsage(seconds=7), KEYS[1]: AnswerUsage(seconds=2)}


def test_samples_are_told_apart_and_the_majority_took_all(tmp_path: Path) -> None:
    answers = [answer(key, sample, seconds=10**sample) for sample in (0, 1) for key in KEYS[:2]]
    answers[-1]["seconds"] = None
    folder = predicted(tmp_path / "p", answers, ["@1", "@2", "@majority"])
    files = read_predictions([folder], SAMPLE, allow_missing=True, dialects=[Dialect.SQLITE])
    assert {file.predictor: dict(file.usage) for file in files} == {
        "m@2@1": {KEYS[0]: AnswerUsage(seconds=1), KEYS[1]: AnswerUsage(seconds=1)},
        "m@2@2": {KEYS[0]: AnswerUsage(seconds=10)},
        "m@2@majority": {KEYS[0]: AnswerUsage(seconds=11)},
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("answers.jsonl", "{}\n"),
        ("answers.jsonl", "[\n"),
        ("answers.jsonl", json.dumps(answer(KEYS[0]) | {"cost": "much"}) + "\n"),
        ("manifest.json", "[]"),
    ],
)
def test_a_damaged_folder_is_one_clear_error(tmp_path: Path, name: str, text: str) -> None:
    folder = predicted(tmp_path / "p", [answer(KEYS[0])])
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        read_usage(folder)
    assert str(folder / name) in str(refused.value)
    assert "\n" not in str(refused.value)

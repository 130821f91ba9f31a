"""Predictions as Spider's tools and spreadsheets write them."""

import json
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.prediction_files import Format
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.sets.loading import load_set
from tests.harness import own_sets as sets


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
        ("a.sql", "SELECT 1\nSELECT 2\n", ["has 2 lines", "4 questions", "one SQL text a line"]),
        ("a.csv", "question_id,gold\nQ/0,SELECT 1\n", ["header (question_id, gold)", "no column of answers"]),
        ("a.csv", "sql,sql\na,b\n", ["a column twice", "name each once"]),
        ("a.csv", "question_id,sql\nQ/0,SELECT 1,2\n", ["line 2 (3 cells, 2 columns)", "double quotes"]),
        ("a.csv", 'question_id,sql\nQ/0,"SELECT 1\n', ["line 2", "not valid CSV"]),
        ("a.csv", "sql\nSELECT 1\n", ["has 1 rows", "4 questions", "add a column question_id"]),
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

"""Bad prediction files, each with what the one-line error has to say."""

import bz2
import contextlib
import gzip
import json
import lzma
import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.harness import small_sets as small
from tests.harness.arrangements import GOOD_NAME, Case, field, on_file, on_lines, on_paths, on_predictions


def no_such_file(home: Path) -> list[str]:
    small.write_mini_dev(home)
    return ["--set", "mini_dev", "--predictions", str(home / "predict_mini_dev_gone_sqlite.json")]


def entry(key: str, value: object) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda good: good | {key: value}


def without(*keys: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda good: {key: value for key, value in good.items() if key not in keys}


def on_special(make: Callable[[Path], object]) -> Callable[[Path], list[str]]:
    """A good set, and something that is no ordinary file in the place of the predictions."""

    def arrange(home: Path) -> list[str]:
        small.write_mini_dev(home)
        make(home / GOOD_NAME)
        return ["--set", "mini_dev", "--predictions", str(home / GOOD_NAME)]

    return arrange


def bound(path: Path) -> None:
    """A socket; its address has to be short, so that it is made in its own folder."""
    with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(path.parent):
        made.bind(path.name)


def pipe_within(folder: Path) -> None:
    folder.mkdir()
    os.mkfifo(folder / "a.json")


def large(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**30)


PREDICTIONS = [
    Case("file_not_there", no_such_file, ("gone_sqlite.json", "No such file", "check the path")),
    Case("folder_without_files", on_paths(), ("answers", "no *.json or *.jsonl", "name a folder")),
    Case(
        "name_does_not_tell",
        on_predictions(dict, name="gpt-4.json"),
        ("gpt-4.json", "predictor and dialect", "predict_<set>_<predictor>_<dialect>", "--predictor"),
    ),
    Case(
        "name_of_another_set",
        on_predictions(dict, name="predict_mini_dev_2025_model_sqlite.json"),
        ("predict_mini_dev_2025_model_sqlite.json", "mini_dev_2025, not mini_dev", "choose that set"),
    ),
    Case(
        "predictor_blank",
        on_predictions(dict, "--predictor", " "),
        (GOOD_NAME, "--predictor ' '", "give a printable one"),
    ),
    Case(
        "object_cut_off",
        on_file(lambda: json.dumps(small.official(), indent=2)[:-30]),
        (GOOD_NAME, "line 5", "cut off", "fetch or write it again"),
    ),
    Case(
        "file_in_latin_1",
        on_file(lambda: '{"0": "SELECT \'é\'"}'.encode("latin-1")),
        (GOOD_NAME, "0xe9", "line 1", "save the file as UTF-8"),
    ),
    Case(
        "file_in_utf_16", on_file(lambda: json.dumps(small.official()).encode("utf-16")), (GOOD_NAME, "UTF-8")
    ),
    Case("file_empty", on_file(lambda: ""), (GOOD_NAME, "is empty", "fetch or write it again")),
    Case(
        "array_too_short",
        on_predictions(lambda good: list(good.values())[:3], "--allow-missing"),
        (GOOD_NAME, "it has 3 texts", "mini_dev has 4 questions", "write one for each question"),
    ),
    Case(
        "array_of_texts_and_objects",
        on_predictions(lambda good: [*list(good.values())[:3], {"question_id": 9, "sql": "SELECT 1"}]),
        (GOOD_NAME, "entry 3", "an object among texts", "write only SQL texts, or only objects"),
    ),
    Case(
        "array_of_texts_for_another_database",
        on_predictions(lambda good: list(good.values())[::-1]),
        (GOOD_NAME, "4 entries (0 (bank, not zoo), ", "use a file made for this set"),
    ),
    Case(
        "array_of_numbers",
        on_predictions(lambda _: [1, 2, 3, 4]),
        (GOOD_NAME, "4 entries (0, 1, 2, 3): a number instead of an object", "write only objects"),
    ),
    Case(
        "array_of_objects_without_sql",
        on_predictions(lambda _: [{"question_id": 9, "code": "SELECT 1"}]),
        (GOOD_NAME, "entry 0", "no sql", "write both question_id and sql", "--keys id=KEY,sql=KEY"),
    ),
    Case(
        "array_that_is_empty",
        on_predictions(lambda _: [], "--allow-missing"),
        (GOOD_NAME, "holds no predictions", "write it again"),
    ),
    Case(
        "text_in_a_file",
        on_file(lambda: "SELECT 1;\nSELECT 2;\n", name="answers.log"),
        (
            "answers.log",
            "not JSON",
            "'SELECT 1;'",
            "JSON lines",
            "JSON array",
            "docs/reference/file-formats.md",
        ),
    ),
    Case(
        "table_in_a_file",
        on_file(lambda: f"question_id,sql\n1471,{'x' * 999}\n", name="answers.psv"),
        ("answers.psv", "not JSON", "question_id,sql", "JSON lines", "JSON array"),
    ),
    Case(
        "table_with_commas_instead_of_tabs",
        on_file(lambda: "question_id,sql\n1471,SELECT 1\n", name="predict_mini_dev_model_sqlite.tsv"),
        ("model_sqlite.tsv", "separated by ','", "separate columns by tabs"),
    ),
    *(
        Case(
            f"file_that_begins_as_{name}",
            on_file(partial(bytes, start + b"\x00\xff")),
            (GOOD_NAME, says, "decompress it, or write it as JSON lines or CSV"),
        )
        for name, start, says in (
            ("gzip", gzip.compress(b"{}"), "is compressed by gzip, not text"),
            ("bzip2", bz2.compress(b"{}"), "is compressed by bzip2, not text"),
            ("xz", lzma.compress(b"{}"), "is compressed by xz, not text"),
            ("zstandard", b"\x28\xb5\x2f\xfd", "is compressed by Zstandard, not text"),
            ("zip", b"PK\x03\x04", "is a ZIP archive or a workbook, not text"),
            ("parquet", b"PAR1", "is a Parquet file, not text"),
            ("sqlite", b"SQLite format 3\x00", "is a SQLite database, not text"),
        )
    ),
    Case(
        "ids_with_words",
        on_lines(field(0, "question_id", "question_1471")),
        ("answers.jsonl", "'question_1471'", "not a question of mini_dev", "write the number alone"),
    ),
    Case(
        "keys_with_words",
        on_predictions(lambda good: {f"q{key}": value for key, value in good.items()}),
        (GOOD_NAME, "'q0'", "not a position in mini_dev", "write the number alone"),
    ),
    Case(
        "ids_that_are_fractions",
        on_lines(field(0, "question_id", 1471.5)),
        ("answers.jsonl", "question_id 1471.5", "not a question of mini_dev"),
    ),
    Case(
        "statements_of_several_lines_but_too_few",
        on_file(lambda: "SELECT 1\nFROM t;\n\nSELECT 2\nFROM t;\n", name="predict_mini_dev_model_sqlite.sql"),
        ("model_sqlite.sql", "5 lines and 2 statements", "4 questions", "a semicolon at its end"),
    ),
    Case(
        "text_of_json",
        on_file(lambda: '"SELECT 1"'),
        (GOOD_NAME, "not JSON", "JSON lines", "JSON array"),
    ),
    Case(
        "name_does_not_tell_the_dialect",
        on_predictions(dict, "--predictor", "mine", name="mine.json"),
        ("mine.json", "its dialect is unknown; call it", "or give --dialect"),
    ),
    Case(
        "name_does_not_tell_the_predictor",
        on_predictions(dict, "--dialect", "sqlite", name="mine.json"),
        ("mine.json", "its predictor is unknown; call it", "or give --predictor"),
    ),
    Case(
        "name_of_another_set_with_a_predictor",
        on_predictions(dict, "--predictor", "mine", name="predict_mini_dev_2025_model_sqlite.json"),
        ("mini_dev_2025, not mini_dev", "choose that set, or give --dialect if"),
    ),
    Case(
        "file_is_a_pipe",
        on_special(os.mkfifo),
        (GOOD_NAME, "is a pipe, not a file", "name a regular file"),
    ),
    Case(
        "file_is_a_socket",
        on_special(bound),
        (GOOD_NAME, "is a socket, not a file", "name a regular file"),
    ),
    Case(
        "file_is_a_device",
        on_special(lambda path: path.symlink_to("/dev/zero")),
        (GOOD_NAME, "is a device, not a file", "name a regular file"),
    ),
    Case(
        "pipe_in_a_folder",
        on_special(pipe_within),
        ("a.json", "is a pipe, not a file", "name a regular file"),
    ),
    Case(
        "folder_in_a_folder",
        on_special(lambda path: (path / "a.json").mkdir(parents=True)),
        ("a.json", "is a folder, not a file", "name a regular file"),
    ),
    Case(
        "file_too_large",
        on_special(large),
        (GOOD_NAME, "has 1,073,741,824 bytes, more than the limit of 67,108,864", "BIRD_FILE_BYTES=1GB"),
    ),
    Case(
        "line_of_an_id_of_thousands_of_digits",
        on_lines(lambda records: records.insert(1, f'{{"question_id": 1{"0" * 5000}, "sql": "SELECT 1"}}')),
        ("answers.jsonl", "line 2 (a number of thousands of digits)", "write one JSON object per line"),
    ),
    Case(
        "line_of_a_long_id",
        on_lines(field(1, "question_id", 10**4000)),
        ("answers.jsonl", "line 2", "characters)", "not a question of mini_dev"),
    ),
    Case(
        "line_of_an_id_that_is_no_number",
        on_lines(field(1, "question_id", float("nan"))),
        ("answers.jsonl", "line 2 (question_id nan)", "not a question of mini_dev"),
    ),
    Case(
        "lines_of_an_id_more_often_than_the_set_has_it",
        on_lines(lambda records: [record.update(question_id=137) for record in records[1:]]),
        ("answers.jsonl", "3 lines (2, 3, 4)", '"137" or "137#2"', "all of them in order"),
    ),
    Case(
        "nested_without_end", on_file(lambda: "[" * 200_000), (GOOD_NAME, "nested", "fetch or write it again")
    ),
    Case(
        "no_entries",
        on_predictions(lambda _: {}, "--allow-missing"),
        (GOOD_NAME, "no predictions", "write it again"),
    ),
    Case(
        "entry_twice",
        on_file(lambda: json.dumps(small.official()).replace('"3"', '"2"')),
        (GOOD_NAME, "repeated", "key '2'", "fetch or write it again"),
    ),
    Case(
        "entries_too_few",
        on_predictions(without("2", "3")),
        (
            GOOD_NAME,
            "2 questions (137 (entry 2), 137#2 (entry 3))",
            "answer all 4 questions of mini_dev",
            "--allow-missing",
        ),
    ),
    Case(
        "entries_too_many",
        on_predictions(entry("4", f"SELECT 1{small.SEPARATOR}bank")),
        (GOOD_NAME, "entry '4'", "0 to 3", "use a file made for this set"),
    ),
    Case(
        "entries_with_a_gap",
        on_predictions(without("1")),
        (GOOD_NAME, "question 9 (entry 1)", "--allow-missing"),
    ),
    Case(
        "entries_out_of_order",
        on_predictions(lambda good: dict(reversed(good.items())), "--allow-missing"),
        (GOOD_NAME, "3 entries (2, 1, 0)", "out of order", "sort the entries"),
    ),
    Case(
        "entries_keyed_by_an_unknown_id",
        on_predictions(lambda good: {"1471": good["0"], "9": good["1"], "10": "SELECT 1"}, "--allow-missing"),
        (GOOD_NAME, "entry 10 (question_id '10')", "not a question of mini_dev", "made for this set"),
    ),
    Case(
        "entries_keyed_by_the_id_of_another_database",
        on_predictions(lambda good: {"1471": good["0"], "9": good["2"]}, "--allow-missing"),
        (GOOD_NAME, "entry 9 (bank, not zoo)", "use a file made for this set"),
    ),
    Case(
        "entries_keyed_by_id_that_say_another",
        on_predictions(lambda _: {"1471": {"question_id": 9, "sql": "SELECT 1"}}, "--allow-missing"),
        (GOOD_NAME, "entry 1471 (9)", "for another question", "make its key and question_id agree"),
    ),
    Case(
        "entry_null",
        on_predictions(entry("1", None)),
        (GOOD_NAME, "entry 1", "null instead of a string", "write"),
    ),
    Case(
        "entry_number",
        on_predictions(entry("3", 7)),
        (GOOD_NAME, "entry 3", "a number instead of a string", "write"),
    ),
    Case(
        "entry_without_separator",
        on_predictions(lambda good: good | {"0": "SELECT 1", "2": "SELECT 1\tbank"}),
        (GOOD_NAME, "2 entries (0, 2)", "no separator", r"\t----- bird -----\t"),
    ),
    Case(
        "entry_with_two_separators",
        on_predictions(lambda good: good | {"0": good["0"] + small.SEPARATOR + "zoo"}),
        (GOOD_NAME, "entry 0", "more than once", r"\t----- bird -----\t"),
    ),
    Case(
        "entry_for_another_database",
        on_predictions(entry("1", f"SELECT 1{small.SEPARATOR}bank")),
        (GOOD_NAME, "entry 1 (bank, not zoo)", "use a file made for this set"),
    ),
    Case(
        "entry_with_half_a_character",
        on_predictions(entry("1", f"SELECT '\ud83d'{small.SEPARATOR}zoo")),
        (GOOD_NAME, "entry 1", "half a character", "write the whole character"),
    ),
    Case(
        "two_files_of_one_predictor",
        on_paths(GOOD_NAME, "predict_mini_dev_model_sqlitejson.json"),
        (GOOD_NAME, "predict_mini_dev_model_sqlitejson.json", "model in sqlite", "omit one"),
    ),
    Case(
        "no_file_of_the_dialect",
        on_paths(GOOD_NAME, options=("--dialect", "mysql")),
        ("answers", "no predictions for mysql", "choose another dialect"),
    ),
    Case(
        "line_cut_off",
        on_lines(lambda records: records.insert(1, '{"question_id": 9, "sql": "SEL')),
        ("answers.jsonl", "line 2", "cut off", "one JSON object per line"),
    ),
    Case(
        "line_is_an_array",
        on_lines(lambda records: records.insert(1, ["SELECT 1"])),
        ("answers.jsonl", "line 2", "an array instead of an object", "one JSON object per line"),
    ),
    Case(
        "line_of_an_unknown_question",
        on_lines(field(1, "question_id", 10)),
        (
            "answers.jsonl",
            "line 2 (question_id 10)",
            "not a question of mini_dev",
            "use a file made for this set",
        ),
    ),
    Case(
        "line_of_an_unknown_key",
        on_lines(field(1, "question_id", "9#2")),
        (
            "answers.jsonl",
            "line 2 (question_id '9#2')",
            "not a question of mini_dev",
            "use a file made for this set",
        ),
    ),
    Case(
        "line_of_an_id_that_two_questions_share",
        on_lines(field(2, "question_id", 137)),
        ("answers.jsonl", "line 3", '"137" or "137#2"', "in quotes"),
    ),
    Case(
        "line_of_a_question_answered_before",
        on_lines(field(1, "question_id", 1471)),
        ("answers.jsonl", "line 2 (question 1471, as line 1)", "keep one of the answers"),
    ),
    Case(
        "line_with_an_unknown_key",
        on_lines(field(3, "dialekt", "mysql")),
        ("answers.jsonl", "line 4 ('dialekt')", "nearly a known one", "write dialect"),
    ),
    Case(
        "line_without_sql",
        on_lines(lambda records: records[0].pop("sql")),
        ("answers.jsonl", "line 1", "no sql", "write both"),
    ),
    Case(
        "line_without_question_id",
        on_lines(lambda records: records[0].pop("question_id")),
        ("answers.jsonl", "line 1", "no question_id", "write both"),
    ),
    Case(
        "line_with_two_answers",
        on_lines(field(0, "response", "SELECT 2")),
        ("answers.jsonl", "line 1 (sql, response)", "several answers that differ", "--keys sql=sql"),
    ),
    Case(
        "line_with_two_ids",
        on_lines(field(0, "instance_id", "9")),
        ("answers.jsonl", "line 1 (question_id 1471, instance_id '9')", "that differ", "--keys id=KEY"),
    ),
    Case(
        "line_of_a_response_with_two_choices",
        on_lines(
            lambda records: records[0].update(
                sql={"choices": [{"text": "SELECT 1"}, {"text": "SELECT 2"}]},
            )
        ),
        ("answers.jsonl", "line 1", "sql has 2 answers that differ", "a file for each sample"),
    ),
    Case(
        "line_of_an_answer_that_is_no_response",
        on_lines(field(0, "sql", {"text": "SELECT 1"})),
        ("answers.jsonl", "line 1", "sql is an object", "a string or a response", "--keys sql=KEY.KEY"),
    ),
    Case(
        "line_of_a_question_and_its_gold",
        on_lines(
            lambda records: records[0].update(question="How many?", SQL=records[0].pop("sql")),
        ),
        ("answers.jsonl", "line 1", "SQL beside the question's text", "gold", "--keys sql=SQL"),
    ),
    Case(
        "lines_without_ids_too_few",
        on_lines(lambda records: [record.pop("question_id") for record in records] and records.pop()),
        ("answers.jsonl", "has 3 lines without ids", "mini_dev 4 questions", "add question_id", "--keys id="),
    ),
    Case(
        "line_with_sql_null",
        on_lines(field(0, "sql", None)),
        ("answers.jsonl", "line 1 (question 1471)", "sql is null", "write a string"),
    ),
    Case(
        "line_with_sql_and_a_reason_for_none",
        on_lines(field(0, "reason", "it did not answer")),
        ("answers.jsonl", "line 1 (question 1471)", "sql and a reason for having none", "omit one"),
    ),
    Case(
        "line_without_predictor",
        on_lines(lambda records: records[0].pop("predictor")),
        ("answers.jsonl", "line 1", "no predictor", "--predictor"),
    ),
    Case(
        "line_with_a_blank_predictor",
        on_lines(field(0, "predictor", " \n")),
        ("answers.jsonl", r"line 1 (' \n')", "not a predictor's name", "give a printable one"),
    ),
    Case(
        "line_in_an_unknown_dialect",
        on_lines(field(2, "dialect", "oracle")),
        ("answers.jsonl", "line 3 ('oracle')", "sqlite, mysql, postgresql"),
    ),
    Case(
        "lines_against_the_name",
        on_lines(lambda _: None, name="predict_mini_dev_model_mysql.jsonl"),
        ("predict_mini_dev_model_mysql.jsonl", "4 lines (1 (sqlite, not mysql)", "make them agree"),
    ),
    Case(
        "line_for_another_database",
        on_lines(field(2, "db_id", "zoo")),
        ("answers.jsonl", "line 3 (zoo, not bank)", "use a file made for this set"),
    ),
    Case(
        "lines_too_few",
        on_lines(lambda records: records.pop()),
        ("answers.jsonl", "question 137#2", "no prediction of model in sqlite", "--allow-missing"),
    ),
]

"""Bad question sets, each with what the one-line error has to say."""

import os
from collections.abc import Callable
from pathlib import Path

from dialects.enums import Dialect
from tests.harness import small_sets as small
from tests.harness.arrangements import Case, field, on_later_set, on_questions, on_set, replaced


def nothing(home: Path) -> list[str]:
    return ["--set", "mini_dev", "--predictions", str(home)]


def database(folder: Path) -> Path:
    return folder / "dev_databases" / "bank" / "bank.sqlite"


def in_place_of_questions(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        path = folder / "mini_dev_sqlite.json"
        path.unlink()
        make(path)

    return spoil


SETS = [
    Case(
        "set_of_unknown_name",
        lambda _: ["--set", "minidev", "--predictions", "x"],
        ("'minidev'", "choose one of"),
    ),
    Case("set_not_there", nothing, ("mini_dev_sqlite.json", "MINIDEV", "set BIRD_HOME")),
    Case(
        "questions_of_a_dialect_not_there",
        on_set(lambda folder: (folder / "mini_dev_mysql.json").unlink()),
        ("mini_dev_mysql.json", "No such file", "check the path"),
    ),
    Case(
        "databases_not_there",
        on_set(lambda folder: (folder / "dev_databases").rename(folder / "databases")),
        ("no dev_databases", "MINIDEV", "set BIRD_HOME"),
    ),
    Case(
        "database_not_there",
        on_set(lambda folder: database(folder).unlink()),
        ("dev_databases", "database bank", "unpack the published databases"),
    ),
    Case(
        "database_is_a_pointer",
        on_set(lambda folder: database(folder).write_text("version https://git-lfs.github.com/spec/v1\n")),
        ("dev_databases", "database bank", "not an SQLite file", "fetch it again"),
    ),
    Case(
        "questions_cut_off",
        on_set(
            lambda folder: (folder / "mini_dev_sqlite.json").write_text(
                '[{"question_id": 1471,\n "db_id": "z'
            )
        ),
        ("mini_dev_sqlite.json", "line 2", "cut off", "correct the file"),
    ),
    Case(
        "questions_in_latin_1",
        on_set(replaced("mini_dev_sqlite.json", "Where is number 1", "Où")),
        ("mini_dev_sqlite.json", "0xf9", "line 13", "save the file as UTF-8"),
    ),
    Case(
        "questions_are_a_pipe",
        on_set(in_place_of_questions(os.mkfifo)),
        ("mini_dev_sqlite.json", "is a pipe, not a file", "name a regular file"),
    ),
    Case(
        "questions_are_a_folder",
        on_set(in_place_of_questions(Path.mkdir)),
        ("mini_dev_sqlite.json", "is a folder, not a file", "name a regular file"),
    ),
    Case(
        "question_id_of_thousands_of_digits",
        on_set(replaced("mini_dev_sqlite.json", "1471", "1" + "0" * 5000)),
        ("mini_dev_sqlite.json", "a number of thousands of digits", "correct the file"),
    ),
    Case(
        "difficulty_too_long_to_be_shown",
        on_set(on_questions(field(3, "difficulty", "e" * 9000))),
        ("mini_dev_sqlite.json", "entry 3", "(9,002 characters)", "simple, moderate, challenging"),
    ),
    Case(
        "questions_blank",
        on_set(lambda folder: (folder / "mini_dev_sqlite.json").write_text(" \n")),
        ("mini_dev_sqlite.json", "is empty", "fetch or write it again"),
    ),
    Case(
        "questions_none",
        on_set(on_questions(lambda records: records.clear())),
        ("mini_dev_sqlite.json", "holds no questions", "correct the file"),
    ),
    Case(
        "question_is_a_string",
        on_set(on_questions(lambda records: records.insert(1, "SELECT 1"))),
        ("mini_dev_sqlite.json", "entry 1", "a string instead of an object", "correct the file"),
    ),
    Case(
        "question_without_difficulty",
        on_set(on_questions(lambda records: records[2].pop("difficulty"))),
        ("mini_dev_sqlite.json", "entry 2", "no difficulty", "correct the file"),
    ),
    Case(
        "question_id_is_a_string",
        on_set(on_questions(field(0, "question_id", "1471"))),
        ("mini_dev_sqlite.json", "entry 0", "question_id is a string", "correct the file"),
    ),
    Case(
        "difficulty_unknown",
        on_set(on_questions(field(3, "difficulty", "extra"))),
        ("mini_dev_sqlite.json", "entry 3", "'extra'", "simple, moderate, challenging"),
    ),
    Case(
        "gold_blank",
        on_set(on_questions(field(1, "SQL", " "), Dialect.MYSQL)),
        ("mini_dev_mysql.json", "entry 1", "SQL is blank", "correct the file"),
    ),
    Case(
        "gold_null",
        on_set(on_questions(field(1, "SQL", None), Dialect.POSTGRESQL)),
        ("mini_dev_postgresql.json", "entry 1", "SQL not a string", "correct the file"),
    ),
    Case(
        "database_name_is_a_path",
        on_set(on_questions(field(1, "db_id", "../zoo"))),
        ("mini_dev_sqlite.json", "entry 1", "'../zoo'", "correct the file"),
    ),
    Case(
        "question_key_twice",
        on_set(replaced("mini_dev_sqlite.json", '"evidence": "",', '"evidence": "", "evidence": "a\\nb",')),
        ("mini_dev_sqlite.json", "repeated", "'evidence'", "correct the file"),
    ),
    Case(
        "question_line_cut_off",
        on_set(
            lambda folder: (folder / "mini_dev_sqlite.json").write_text(
                '{"question_id": 1}\n{"question_id"\n'
            )
        ),
        ("mini_dev_sqlite.json", "line 2", "not valid JSON", "one JSON object per line"),
    ),
    Case(
        "question_id_twice",
        on_later_set(on_questions(field(3, "question_id", 9))),
        ("mini_dev_sqlite.json", "entry 3 (question_id 9)", "occurred before", "correct the file"),
    ),
    Case(
        "dialect_lacks_a_question",
        on_later_set(on_questions(lambda records: records.pop(1), Dialect.MYSQL)),
        ("mini_dev_mysql.json", "question 9", "in mini_dev_sqlite.json but not here", "from one package"),
    ),
    Case(
        "dialect_has_another_database",
        on_later_set(on_questions(field(1, "db_id", "bank"), Dialect.MYSQL)),
        ("mini_dev_mysql.json", "question 9 (db_id bank)", "another database", "from one package"),
    ),
    Case(
        "dialects_of_two_revisions",
        on_set(
            lambda folder: small.write_json(
                folder / "mini_dev_mysql.json",
                small.questions(small.LATER_REVISION_ON_SERVERS, Dialect.MYSQL),
            )
        ),
        ("mini_dev_mysql.json", "question 119", "from one package", "first revision"),
    ),
    Case(
        "dialect_in_another_order",
        on_set(on_questions(lambda records: records.insert(0, records.pop(1)), Dialect.MYSQL)),
        (
            "mini_dev_mysql.json",
            "2 questions (9 (entry 0), 1471 (entry 1))",
            "same position",
            "from one package",
        ),
    ),
    Case(
        "gold_lines_too_few",
        on_set(lambda folder: (folder / "mini_dev_sqlite_gold.sql").write_text("SELECT 1\tzoo\n")),
        ("mini_dev_sqlite_gold.sql", "4 questions, this file 1 lines", "from one package"),
    ),
    Case(
        "gold_line_without_tab",
        on_set(replaced("mini_dev_mysql_gold.sql", "\t", "    ")),
        ("mini_dev_mysql_gold.sql", "line 1", "a tab and a db_id", "correct the file"),
    ),
    Case(
        "gold_line_of_another_database",
        on_set(replaced("mini_dev_mysql_gold.sql", "\tzoo", "\tbank")),
        ("mini_dev_mysql_gold.sql", "line 1 (bank, not zoo)", "from one package"),
    ),
    Case(
        "schemas_of_another_format",
        on_set(replaced("dev_tables.json", '"column_types"', '"types"')),
        ("dev_tables.json", "entry 0", "column_types", "correct the file"),
    ),
    Case(
        "schemas_lack_a_database",
        on_set(lambda folder: small.write_json(folder / "dev_tables.json", [small.schema("zoo")])),
        ("dev_tables.json", "database bank", "no schema", "add it, or remove the file"),
    ),
]

"""What can be wrong with a user's own set: its manifest, its files, what is in them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness import own_sets as sets

Spoil = Callable[[Path], object]


@dataclass(frozen=True)
class Case:
    """`make` is the good set, `spoil` what is done to its folder; `says` what the message has to contain."""

    name: str
    spoil: Spoil
    says: Sequence[str]
    make: Callable[[Path], Path] = sets.own


def manifest(old: str, new: str) -> Spoil:
    def spoil(folder: Path) -> None:
        text = (folder / "benchmark.toml").read_text()
        assert old in text
        (folder / "benchmark.toml").write_text(text.replace(old, new, 1))

    return spoil


def added(text: str) -> Spoil:
    """A table at the end of the manifest."""
    return lambda folder: sets.write(
        folder / "benchmark.toml", (folder / "benchmark.toml").read_text() + text
    )


def top(text: str) -> Spoil:
    return manifest("levels =", f"{text}\nlevels =")


def record(place: int, key: str, value: Any, file: str = "first.json") -> Spoil:
    def spoil(folder: Path) -> None:
        content = json.loads((folder / file).read_text())
        content[place][key] = value
        sets.write(folder / file, content)

    return spoil


def typed(*asked: Any, of: Sequence[str] = ("a", "b")) -> Spoil:
    """Types `of` the set, and those of the first two questions; the others have none."""

    def spoil(folder: Path) -> None:
        top(f"types = {json.dumps(of)}")(folder)
        manifest("[keys]", '[keys]\ntypes = "asks"')(folder)
        for place, one in enumerate(asked):
            record(place, "asks", one)(folder)
        lines = map(json.loads, (folder / "second.jsonl").read_text().splitlines())
        sets.write(folder / "second.jsonl", sets.lines([{**one, "asks": []} for one in lines]))

    return spoil


def without(place: int, key: str, file: str = "first.json") -> Spoil:
    def spoil(folder: Path) -> None:
        content = json.loads((folder / file).read_text())
        del content[place][key]
        sets.write(folder / file, content)

    return spoil


def content(file: str, text: str | bytes) -> Spoil:
    def spoil(folder: Path) -> None:
        (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())

    return spoil


def gone(file: str) -> Spoil:
    return lambda folder: (folder / file).unlink()


def nothing(folder: Path) -> Path:
    folder.mkdir()
    return folder


def moved(folder: Path) -> None:
    (folder / "files").rename(folder / "elsewhere")


def both_spellings(folder: Path) -> None:
    sets.database(folder / "files" / "SHOP.db")
    record(1, "base", "SHOP")(folder)


M = "benchmark.toml"


def served(table: str, kept: str = "") -> Spoil:
    """A manifest whose databases stand on a server, as the lines of `table` say."""
    text = f'name = "sales"\nquestions = "first.json"\n{kept}[server]\n{table}'
    return content(M, text)


ON_SERVERS = [
    Case("server_is_no_table", content(M, 'name = "a"\nserver = 1'), (M, "server is 1, not a table")),
    Case("server_of_no_dialect", served('dsn = "x"'), (M, "server.dialect is None", "mysql, postgresql")),
    Case("server_of_sqlite", served('dialect = "sqlite"\ndsn = "x"'), (M, "server.dialect is 'sqlite'")),
    Case("server_without_address", served('dialect = "mysql"'), (M, "must have exactly one address")),
    Case(
        "server_with_two_addresses",
        served('dialect = "mysql"\ndsn = "x"\nvariable = "X"'),
        (M, "must have exactly one address", "write dsn, or variable"),
    ),
    Case("server_with_a_number", served('dialect = "mysql"\ndsn = 7'), (M, "server.dsn is not an address")),
    Case(
        "server_and_files",
        served('dialect = "mysql"\nvariable = "X"', 'databases = "files"\n'),
        (M, "databases and [server]", "remove one"),
    ),
    Case(
        "server_with_golds_of_others",
        content(
            M,
            'name = "a"\n[questions]\nmysql = "first.json"\nsqlite = "first.json"\n'
            '[server]\ndialect = "mysql"\nvariable = "X"',
        ),
        (M, "names files for sqlite", "are on mysql only"),
    ),
    Case("server_with_a_word", served('dialect = "mysql"\nhost = "x"'), (M, "'host'", "in [server]")),
    Case(
        "server_databases_are_a_text",
        served('dialect = "mysql"\nvariable = "X"\ndatabases = "x"'),
        (M, "server.databases is 'x'", "[server.databases]"),
    ),
]

MANIFESTS = [
    Case("not_toml", content(M, "name = shop"), (M, "not valid TOML", "line 1", "correct the file")),
    Case("empty", content(M, " \n"), (M, "is empty", "docs/how-to/question-set.md")),
    Case("in_latin_1", content(M, 'name = "é"'.encode("latin-1")), (M, "0xe9", "UTF-8")),
    Case("unknown_key", top('level = ["a"]'), (M, "'level'", "not a key of a manifest", "write levels")),
    Case("unknown_key_of_a_table", added('\n[only]\n[digest]\na = "b"'), (M, "'digest'", "write digests")),
    Case("unknown_field", manifest("evidence =", "evidenc ="), (M, "'evidenc'", "[keys]", "write evidence")),
    Case(
        "unknown_dialect",
        manifest("postgresql =", "postgres ="),
        (M, "'postgres'", "[keys.SQL]", "write postgresql"),
    ),
    Case(
        "a_key_of_the_built_in_ones",
        top('collection = "bird"'),
        (M, "'collection'", "not a key of a manifest"),
    ),
    Case("no_name", manifest('name = "Shop-Bench"\n', ""), (M, "has no name", 'name = "shop"')),
    Case("name_is_a_path", manifest("Shop-Bench", "a/b"), (M, "'a/b'", "cannot be a set's name")),
    Case(
        "name_is_taken",
        manifest("Shop-Bench", "DEV"),
        (M, "'DEV'", "comes with bird-harness", "choose another"),
    ),
    Case("title_is_a_number", manifest('"Questions about a shop"', "7"), (M, "title is 7, not a text")),
    Case(
        "no_questions",
        manifest('[questions]\nsqlite = ["first.json", "second.jsonl"]', ""),
        (M, "has no questions"),
    ),
    Case("no_questions_for_sqlite", manifest("sqlite = [", "mysql = ["), (M, "no file for sqlite")),
    Case(
        "questions_name_no_file",
        manifest('["first.json", "second.jsonl"]', "[]"),
        (M, "questions.sqlite names no file"),
    ),
    Case(
        "questions_are_a_number",
        manifest('["first.json", "second.jsonl"]', "7"),
        (M, "questions.sqlite is 7"),
    ),
    Case(
        "keys_are_no_table", manifest("[keys]", "keys = 7\n[kept]"), (M, "'kept'", "not a key of a manifest")
    ),
    Case("a_key_is_no_text", manifest('"hint"', "true"), (M, "keys.evidence is True, not a text")),
    Case(
        "levels_are_no_list",
        manifest('["warm-up", "tricky"]', '"hard"'),
        (M, "levels is 'hard'", "write a list"),
    ),
    Case("a_level_twice", manifest('"tricky"]', '"warm-up"]'), (M, "levels has a level twice")),
    Case("a_level_called_total", manifest('"tricky"]', '"total"]'), (M, "'total'", "rename it")),
    Case("types_are_a_text", top('types = "easy"'), (M, "types is 'easy'", 'as in types = ["')),
    Case("a_type_twice", top('types = ["a", "a"]'), (M, "types has a type twice")),
    Case("a_type_called_none", top('types = ["none"]'), (M, "'none'", "rename it")),
    Case(
        "a_key_of_types_without_types",
        manifest("[keys]", '[keys]\ntypes = "asks"'),
        (M, "keys.types names a key, but the set lists no types", "add types ="),
    ),
    Case(
        "no_types",
        top('types = ["a", "b"]'),
        ("first.json", "2 entries (0, 1)", "no types", "correct the file"),
    ),
    Case(
        "an_unknown_type",
        typed("b", ["a", "riddle"]),
        ("first.json", "entry 1", "asks 'riddle' is not one of a, b", "correct the file"),
    ),
    Case(
        "types_are_a_number",
        typed("b", 7),
        ("first.json", "entry 1", "asks is a number, not a text or a list of texts"),
    ),
    Case("no_such_profile", top('profile = "best"'), (M, "profile is 'best'", "write one of official")),
    Case("profile_is_a_list", top("profile = []"), (M, "profile is []", "write one of official")),
    Case("sqlite_is_no_release", top("sqlite = 3.40"), (M, "sqlite is 3.4", 'write it as "3.40"')),
    Case("ids_repeat_is_a_text", top('ids_repeat = "yes"'), (M, "ids_repeat is 'yes'", "true or false")),
    Case(
        "digest_is_short",
        added('\n[digests]\n"first.json" = "abc"'),
        (M, "'first.json'", "'abc'", "64 digits"),
    ),
    Case(
        "digest_is_another",
        added(f'\n[digests]\n"first.json" = "{"0" * 64}"'),
        (M, "digest of first.json (its sha256 is ", "not the file's", "use the intended file"),
    ),
    Case(
        "digest_of_no_file",
        added(f'\n[digests]\n"a.json" = "{"0" * 64}"'),
        (M, "a.json", "a file that does not exist"),
    ),
    Case(
        "no_databases",
        manifest('databases = "files"', ""),
        (M, "has no databases", 'databases = "databases"'),
    ),
    Case("databases_not_there", moved, (M, "databases", "there is no", "files", "correct the file")),
    Case(
        "gold_twice",
        added('\n[gold]\nmysql = "mine.sql"'),
        (M, "keys.SQL.mysql", "same gold", "remove one"),
    ),
    Case(
        "gold_not_there",
        lambda folder: [
            manifest('mysql = "gold_mysql"', "")(folder),
            added('\n[gold]\nmysql = "mine.sql"')(folder),
        ],
        ("mine.sql", "No such file"),
    ),
    Case("tables_not_there", top('tables = "tables.json"'), ("tables.json", "No such file")),
]

FILES = [
    Case("file_not_there", gone("second.jsonl"), ("second.jsonl", "No such file", "check the path")),
    Case("file_empty", content("first.json", ""), ("first.json", "is empty", "write")),
    Case("file_cut_off", content("first.json", '[{"id": 1,'), ("first.json", "cut off", "correct the file")),
    Case(
        "file_is_an_object",
        content("first.json", '{"a": 1}'),
        ("first.json", "line 1: no ", "correct the file"),
    ),
    Case(
        "entry_is_a_text",
        content("first.json", '["SELECT 1"]'),
        ("first.json", "entry 0", "a string instead"),
    ),
    Case(
        "mapped_key_not_there", without(1, "grade"), ("first.json", "entry 1", "no grade", "correct the file")
    ),
    Case("gold_not_in_record", without(0, "gold"), ("first.json", "entry 0", "no gold")),
    Case("gold_of_another_dialect_not_there", without(0, "gold_pg"), ("first.json", "entry 0", "no gold_pg")),
    Case("gold_is_a_number", record(0, "gold", 7), ("first.json", "entry 0", "gold not a string")),
    Case(
        "gold_is_an_object", record(0, "gold", {"select": []}), ("first.json", "entry 0", "gold not a string")
    ),
    Case("gold_is_a_list_of_numbers", record(0, "gold", [1]), ("first.json", "entry 0", "gold not a string")),
    Case("gold_is_blank", record(0, "gold", " "), ("first.json", "entry 0", "gold is blank")),
    Case(
        "id_is_null",
        record(0, "id", None),
        ("first.json", "entry 0", "id is null, not a whole number or a text"),
    ),
    Case("id_is_a_fraction", record(0, "id", 1.5), ("first.json", "entry 0", "id is a number")),
    Case(
        "id_has_a_line_break", record(0, "id", "a\nb"), ("first.json", "entry 0", r"'a\nb'", "is not an id")
    ),
    Case(
        "id_twice",
        record(1, "id", "Q/0"),
        ("first.json", "entry 1 (question_id Q/0)", "occurred before", "ids_repeat = true in benchmark.toml"),
    ),
    Case(
        "id_twice_as_text_and_number",
        lambda folder: [record(0, "id", 7)(folder), record(1, "id", "7")(folder)],
        ("first.json", "entry 1 (question_id 7)", "occurred before"),
    ),
    Case("id_twice_in_two_files", record(0, "id", "Q/2"), ("second.jsonl", "line 1", "occurred before")),
    Case("database_is_a_path", record(0, "base", "../shop"), ("first.json", "entry 0", "'../shop'")),
    Case("database_is_a_number", record(0, "base", 3), ("first.json", "entry 0", "base not a string")),
    Case("database_not_there", record(0, "base", "market"), ("files", "database market", "no file", M)),
    Case(
        "database_is_no_database",
        content("files/shop.db", "version 1"),
        ("files", "shop", "not an SQLite file"),
    ),
    Case("databases_named_alike", both_spellings, ("files", "but for case", "rename one")),
    Case(
        "difficulty_of_no_level",
        record(0, "grade", "hard"),
        ("first.json", "entry 0", "'hard'", "warm-up, tricky"),
    ),
    Case(
        "text_with_half_a_character",
        content("first.json", '[{"id": 1, "base": "shop", "text": "\\ud83d"}]'),
        ("first.json", "entry 0"),
    ),
    Case(
        "no_gold_at_all",
        lambda folder: sets.write(
            folder / "livesqlbench_data.jsonl",
            sets.lines(
                [
                    {
                        "instance_id": "a",
                        "selected_database": "shop",
                        "query": "?",
                        "sol_sql": [],
                        "category": "Query",
                    }
                ]
            ),
        ),
        ("livesqlbench_data.jsonl", "holds no questions, 1 left out: no gold", "correct the file"),
        sets.live,
    ),
    Case(
        "spider_gold_is_parsed",
        lambda folder: sets.write(
            folder / "Spider-DK.json",
            [*sets.records("query"), {"db_id": "shop", "question": "?", "query": {"select": []}}],
        ),
        ("Spider-DK.json", "entry 4", "query not a string"),
        sets.spider_kin,
    ),
    Case(
        "spider_database_not_there",
        lambda folder: (folder / "database" / "shop" / "shop.sqlite").unlink(),
        ("database shop", "no file", "put it there or at", "spider/database", "benchmark.toml"),
        sets.spider_kin,
    ),
    Case(
        "spider_ss_has_no_texts",
        lambda folder: sets.write(
            folder / "Spider-DK.json",
            [{"rid": 0, "db_id": "shop", "question_md5": "8c", "NatSQL": "select count(items.*) from items"}],
        ),
        ("Spider-DK.json", "Spider-SS's layout", "no texts of questions", "score Spider's dev"),
        sets.spider_kin,
    ),
    Case(
        "tasks_of_bird_critic",
        content("Spider-DK.json", '[{"instance_id": "a", "db_id": "shop", "query": "?", "issue_sql": "x"}]'),
        ("Spider-DK.json", "has tasks", "bird-harness lab tasks"),
        sets.spider_kin,
    ),
    Case(
        "tasks_of_bird_interact",
        content(
            "Spider-DK.json", '[{"instance_id": "a", "selected_database": "shop", "amb_user_query": "?"}]'
        ),
        ("Spider-DK.json", "has tasks", "bird-harness lab tasks"),
        sets.spider_kin,
    ),
    Case(
        "tables_of_another_format",
        content("tables.json", '[{"db_id": "shop"}]'),
        ("tables.json", "entry 0", "Spider's format", "correct the file"),
        sets.spider_kin,
    ),
    Case(
        "neither_layout",
        content("dev.json", '[{"frage": "?", "antwort": "SELECT 1"}]'),
        (
            "no benchmark.toml",
            "Spider's layout: db_id, query",
            "BIRD's layout: db_id, SQL",
            "docs/how-to/question-set.md",
        ),
        nothing,
    ),
    Case("empty_folder", lambda _: None, ("no benchmark.toml", "docs/how-to/question-set.md"), nothing),
    Case(
        "several_sets",
        lambda folder: [sets.write(folder / f"{name}.json", sets.records()) for name in "ab"],
        ("several sets", "/a or --set", "/b"),
        nothing,
    ),
]

CASES = [*ON_SERVERS, *MANIFESTS, *FILES]

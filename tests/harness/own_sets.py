"""Small benchmarks in the layouts of published families, written by the tests."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.data.set_manifest import PUBLISHED
from tests.sqlite_files import sqlite_file

ITEMS = ((1, "pen", 2), (2, "ink", 7), (3, "cup", 7))

ASKED = (
    ("How many items are there?", "SELECT COUNT(*) FROM items"),
    ("What costs most?", "SELECT name FROM items WHERE price = (SELECT MAX(price) FROM items)"),
    ("What is sold?", "SELECT name FROM items AS i JOIN sales AS s ON s.item = i.id WHERE s.day > 1"),
    ("Which prices are there?", "SELECT DISTINCT price FROM items ORDER BY price"),
)  # fmt: skip
HARDNESS = ("easy", "hard", "medium", "easy")
"""Of these golds, by Spider's criteria, counted by hand."""


def database(path: Path, items: Sequence[tuple[int, str, int]] = ITEMS) -> Path:
    sqlite_file(
        path,
        "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price INTEGER)",
        "CREATE TABLE sales (item INTEGER REFERENCES items (id), day INTEGER)",
        items=items,
        sales=[(1, 1), (2, 2), (3, 3)],
    )
    return path


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def lines(records: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def records(sql: str = "SQL", db_id: str = "db_id", **more: Any) -> list[dict[str, Any]]:
    return [{db_id: "shop", "question": text, sql: gold, **more} for text, gold in ASKED]


def schema(db_id: str = "shop") -> dict[str, Any]:
    return {
        "db_id": db_id,
        "table_names_original": ["items", "sales"],
        "column_names_original": [[-1, "*"], [0, "id"], [0, "name"], [0, "price"], [1, "item"], [1, "day"]],
        "column_types": ["text", "number", "text", "number", "number", "number"],
        "primary_keys": [1],
        "foreign_keys": [[4, 1]],
    }


def bird_dev(folder: Path) -> Path:
    asked = [
        {"question_id": 10 + place, "evidence": "", "difficulty": "simple", **one}
        for place, one in enumerate(records())
    ]
    write(folder / "dev.json", asked)
    write(folder / "dev.sql", "".join(f"{one['SQL']}\t{one['db_id']}\n" for one in asked))
    write(folder / "dev_tables.json", [schema()])
    database(folder / "dev_databases" / "shop" / "shop.sqlite")
    return folder


def bird_train(folder: Path) -> Path:
    """Without ids and difficulties; the file of golds is of the whole of which this is a part."""
    write(folder / "train.json", records(evidence="none"))
    write(folder / "train_gold.sql", "SELECT 1\tshop\n" * 9)
    database(folder / "train_databases" / "train_databases" / "shop" / "shop.sqlite")
    return folder


def mini_dev(folder: Path) -> Path:
    for dialect in PUBLISHED:
        asked = [
            {"question_id": 10 + place, "evidence": "", "difficulty": "moderate", **one}
            for place, one in enumerate(records())
        ]
        write(folder / f"mini_dev_{dialect}.json", asked)
    database(folder / "dev_databases" / "shop" / "shop.sqlite")
    return folder


def spider(folder: Path) -> Path:
    """All splits in one folder; test has databases of its own, their names in another case."""
    asked = [{**one, "query_toks": [], "sql": {"select": []}} for one in records("query")]
    write(folder / "dev.json", asked)
    write(folder / "train_spider.json", asked[:2])
    write(folder / "train_others.json", asked[2:3])
    write(folder / "test.json", [{**one, "db_id": "Shop"} for one in asked[:3]])
    write(folder / "tables.json", [schema(), schema("elsewhere")])
    write(folder / "dev_gold.sql", "".join(f"{one['query']}\tshop\n" for one in asked))
    database(folder / "database" / "shop" / "shop.sqlite")
    database(folder / "test_database" / "shop" / "shop.sqlite", ITEMS[:2])
    return folder


def spider_rough(folder: Path) -> Path:
    """What real files have: a byte order mark, names with dashes and blanks, a database without a schema."""
    names = "shop-1", "my shop", "MY SHOP", "shop-1"
    asked = [{**one, "db_id": name} for one, name in zip(records("query"), names, strict=True)]
    write(folder / "dev.json", "\ufeff" + json.dumps(asked))
    write(folder / "tables.json", [schema("shop-1")])
    for name in set(names[:2]):
        database(folder / "database" / "database" / name / f"{name}.sqlite")
    return folder


def spider_kin(folder: Path) -> Path:
    """A set made of Spider's, whose file has a name of its own."""
    write(folder / "Spider-DK.json", records("query"))
    write(folder / "tables.json", [schema()])
    database(folder / "database" / "shop" / "shop.sqlite")
    return folder


def robust(home: Path) -> Mapping[str, Path]:
    """Spider's dev beside the sets that are made of it, each as published; their paths by title.

    All lack Spider's databases. Spider-DK has one of its own, Spider-Realistic a part of the questions.
    """
    asked = records("query")
    spider(home / "spider")
    syn = [
        {"db_id": "shop", "query": gold, "SpiderQuestion": text, "SpiderSynQuestion": f"{place}?"}
        for place, (text, gold) in enumerate(ASKED)
    ]
    write(home / "Spider-Syn" / "Spider-Syn" / "dev.json", syn)
    write(home / "Spider-Syn" / "Spider-Syn" / "train_spider.json", syn[:2])
    own_database = [{**one, "db_id": "new_shop", "type": 1} for one in asked[:2]]
    write(home / "Spider-DK" / "Spider-DK.json", [*own_database, {**asked[2], "type": 0}])
    write(home / "Spider-DK" / "tables.json", [schema(), schema("new_shop")])
    database(home / "Spider-DK" / "database" / "new_shop" / "new_shop.sqlite", ITEMS[:2])
    realistic = [{**one, "question": f"{one['question']} Tell me."} for one in asked[1:]]
    write(home / "more" / "spider-realistic.json", realistic)
    for kind in ("SUB", "APP"):
        composed = [{**one, "NatSQL": "", "question": f"{kind} {one['question']}"} for one in asked[:2]]
        write(home / "Spider-CG" / f"dev-CG_{kind}.json", composed)
    return {
        "Spider": home / "spider",
        "Spider-Syn": home / "Spider-Syn" / "Spider-Syn",
        "Spider-Syn, train": home / "Spider-Syn" / "Spider-Syn" / "train",
        "Spider-DK": home / "Spider-DK",
        "Spider-Realistic": home / "more",
        "Spider-CG (SUB)": home / "Spider-CG" / "dev-CG_SUB",
        "Spider-CG (APP)": home / "Spider-CG" / "dev-CG_APP.json",
    }


def kaggle(folder: Path) -> Path:
    write(folder / "examples" / "shop.json", records("query"))
    write(folder / "examples" / "shop_test.json", records("query")[:1])
    write(folder / "KaggleDBQA_tables.json", [schema()])
    database(folder / "databases" / "shop" / "shop.sqlite")
    return folder


def live(folder: Path) -> Path:
    """LiveSQLBench: golds in lists, knowledge by number, and tasks that are no queries."""
    asked: list[dict[str, Any]] = [
        {
            "instance_id": f"shop_{place}",
            "selected_database": "shop",
            "query": text,
            "sol_sql": [gold],
            "external_knowledge": [1] if place == 1 else [],
            "category": "Query",
        }
        for place, (text, gold) in enumerate(ASKED)
    ]
    asked.append({**asked[0], "instance_id": "shop_m_1", "category": "Management"})
    asked.append({**asked[0], "instance_id": "shop_9", "sol_sql": []})
    asked.append({**asked[0], "instance_id": "shop_10", "sol_sql": ["SELECT 1", "SELECT 2"]})
    write(folder / "livesqlbench_data.jsonl", lines(asked))
    write(
        folder / "shop" / "shop_kb.jsonl",
        lines([{"id": 1, "knowledge": "Most", "definition": "the largest price"}]),
    )
    database(folder / "shop" / "shop_template.sqlite")
    return folder


def bull(folder: Path) -> Path:
    write(folder / "dev.json", records("sql_query", "db_name"))
    write(folder / "train.json", records("sql_query", "db_name")[:2])
    database(folder / "database_en" / "shop" / "shop.sqlite")
    return folder


MANIFEST = """
name = "Shop-Bench"
title = "Questions about a shop"
levels = ["warm-up", "tricky"]
databases = "files"

[questions]
sqlite = ["first.json", "second.jsonl"]

[keys]
question_id = "id"
db_id = "base"
question = "text"
evidence = "hint"
difficulty = "grade"

[keys.SQL]
sqlite = "gold"
mysql = "gold_mysql"
postgresql = "gold_pg"
"""


def own(folder: Path, manifest: str = MANIFEST) -> Path:
    """A manifest: ids are texts, gold of three dialects is in one record."""
    asked = [
        {
            "id": f"Q/{place}",
            "base": "shop",
            "text": text,
            "hint": None,
            "grade": ("tricky", "warm-up")[place % 2],
            "gold": gold,
            "gold_mysql": gold,
            "gold_pg": gold,
        }
        for place, (text, gold) in enumerate(ASKED)
    ]
    write(folder / "first.json", asked[:2])
    write(folder / "second.jsonl", lines(asked[2:]))
    write(folder / "benchmark.toml", manifest)
    database(folder / "files" / "shop.db")
    return folder


FAMILIES: Mapping[str, Callable[[Path], Path]] = {
    one.__name__: one
    for one in (bird_dev, bird_train, mini_dev, spider, spider_rough, spider_kin, kaggle, live, bull, own)
}

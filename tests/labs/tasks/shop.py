"""The database of the tasks in `sqlite.jsonl` and the other files: a SQLite file, and dumps of its tables.

Each line of these files is a task with answers. `official` is what the scripts of mini_dev
(`live_sql_bench_sqlite`), livesqlbench (`evaluation`) and BIRD-Interact returned, which a test cannot
download; that of `mysql.jsonl` follows from BIRD-CRITIC's.
"""

import json
from pathlib import Path
from typing import Any

from tests.sqlite_files import sqlite_file

_HERE = Path(__file__).parent

_CITIES = ("Rome", "Oslo", None)


def cases(name: str) -> list[dict[str, Any]]:
    text = (_HERE / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def write_set(folder: Path, name: str) -> list[Path]:
    """Write the tasks of a file, and its answers as four predictors; return the paths, the tasks' first."""
    tasks = folder / "tasks.jsonl"
    found = cases(name)
    tasks.write_text("".join(json.dumps({**one, "answers": None}) + "\n" for one in found), encoding="utf-8")
    paths = [tasks]
    for place in range(4):
        paths.append(folder / f"predictor_{place}.jsonl")
        lines = [
            {"instance_id": one["instance_id"], "pred_sqls": one["answers"][place]["sql"]}
            for one in found
            if place < len(one["answers"])
        ]
        paths[-1].write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return paths


def _customer(number: int) -> tuple[int, str, str | None, str]:
    return number, f"n{number % 7}", _CITIES[number % 3], f"2024-0{1 + number % 9}-11"


def make_sqlite(databases: Path) -> None:
    folder = databases / "shop"
    folder.mkdir(parents=True)
    sqlite_file(
        folder / "shop_template.sqlite",
        "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, joined TEXT,"
        " meta TEXT)",
        "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers(id),"
        " total REAL, day TEXT)",
        customers=[(*_customer(i), json.dumps({"a": i, "b": [i, i / 3]})) for i in range(1, 40)],
        orders=[(i, 1 + i % 39, i * 1.005, f"2024-01-{1 + i % 28:02d}") for i in range(1, 300)],
    )


_CUSTOMERS = """SET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE TYPE public.mood AS ENUM ('sad','ok');
CREATE TABLE public.customers (
    id integer NOT NULL,
    name text NOT NULL,
    city text,
    joined date,
    meta jsonb,
    score numeric
);
ALTER TABLE public.customers OWNER TO root;
COPY public.customers (id, name, city, joined, meta, score) FROM stdin;
{rows}\\.

ALTER TABLE ONLY public.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (id);
"""

_ORDERS = """CREATE TABLE public.orders (id integer, customer integer, total double precision, day timestamp);
COPY public.orders (id, customer, total, day) FROM stdin;
{rows}\\.
ALTER TABLE ONLY public.orders ADD CONSTRAINT o_fk FOREIGN KEY (customer) REFERENCES public.customers(id);
"""


def make_dumps(databases: Path) -> None:
    """Write dumps of two tables as pg_dump does; the first in alphabetical order refers to the second."""
    folder = databases / "shop_template"
    folder.mkdir(parents=True)
    customers = [
        (*_customer(i), json.dumps({"a": i, "b": [i, i / 4]}), f"{i * 1.015:.3f}") for i in range(1, 40)
    ]
    orders = [(i, 1 + i % 39, i * 1.005, f"2024-01-{1 + i % 28:02d} 10:00:00") for i in range(1, 300)]
    for name, text, rows in (("customers", _CUSTOMERS, customers), ("a_orders", _ORDERS, orders)):
        lines = ("\t".join("\\N" if value is None else str(value) for value in row) + "\n" for row in rows)
        (folder / f"{name}.sql").write_text(text.replace("{rows}", "".join(lines)), encoding="utf-8")


_TABLES = """/*!50003 SET sql_mode = '' */ ;
CREATE TABLE `a_orders` (`id` int NOT NULL);
DROP TABLE IF EXISTS `a_orders`;
CREATE TABLE `customers` (
  `id` int NOT NULL AUTO_INCREMENT,
  `name` varchar(20) NOT NULL,
  `city` varchar(20) DEFAULT NULL,
  `joined` date DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB;
INSERT INTO `customers` VALUES {customers};
CREATE TABLE `orders` (
  `id` int NOT NULL,
  `customer` int DEFAULT NULL,
  `total` double DEFAULT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `o_fk` FOREIGN KEY (`customer`) REFERENCES `customers` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB;
INSERT INTO `orders` VALUES {orders};
"""


def make_mysql_dump(databases: Path) -> None:
    """Write a dump of both tables as mysqldump does."""

    def rows(found: list[tuple[object, ...]]) -> str:
        return ",".join(
            "(" + ",".join("NULL" if value is None else repr(value) for value in row) + ")" for row in found
        )

    databases.mkdir(parents=True, exist_ok=True)
    customers = rows([_customer(i) for i in range(1, 40)])
    orders = rows([(i, 1 + i % 39, i * 1.005) for i in range(1, 300)])
    text = _TABLES.replace("{customers}", customers).replace("{orders}", orders)
    (databases / "shop_template_dump.sql").write_text(text, encoding="utf-8")

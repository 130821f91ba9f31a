"""How many answers to tasks are judged a second, next to a loop as the official scripts run it.

The tasks are made from SQLite files: of three, two are queries and one changes data. Each has a gold and
three answers, all different texts. On a server the files are loaded from dumps that this command writes.

    python -m benchmarks.task_answers --dialect sqlite --databases "$BIRD_HOME/MINIDEV/dev_databases"

The loop makes a new copy for each answer, judges it there, and removes the copy: nothing is made ahead or
used again, and the official verdict is all it gives. It is kinder than the scripts, which also start a
Python for each answer. The harness gives its three verdicts. Both run in turn with the same number of
processes, and have to agree on every official verdict. Golds and the first of the answers have to pass.
"""

import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import options
from dialects.enums import Dialect
from dialects.errors import BadInput, HarnessError
from dialects.identifiers import quoted
from harness import provision
from harness.labs.tasks.engine import engine_of
from harness.labs.tasks.judging import GOLD, judge
from harness.labs.tasks.layouts import Task, TaskAnswers, TaskSet, read_answers, read_tasks
from harness.labs.tasks.official import official_verdict
from loaders.base.errors import EngineUnavailable, to_start
from loaders.sample import sample_folder
from loaders.server import Server

_ANSWERS = 3
_FAMILIES = {
    Dialect.SQLITE: "livesqlbench-sqlite",
    Dialect.POSTGRESQL: "livesqlbench",
    Dialect.MYSQL: "critic-mysql",
}

_TEST = (
    "def test_case(pred_sqls, sol_sqls, db, conn):\n"
    "    rows = execute_queries(['SELECT count(*), min(n) FROM bench'], db, conn)[0]\n"
    "    assert rows[0][1] == 1 or rows[0][0] > 1\n"
)


def main(
    *,
    dialect: options.Dialect = Dialect.SQLITE,
    databases: Annotated[
        Path | None, typer.Option(help="Folder with a folder a SQLite file. Default: the sample's.")
    ] = None,
    tasks: Annotated[int, typer.Option(help="Number of tasks.", min=1)] = 90,
    workers: options.Workers = 2,
    runs: options.Runs = 3,
) -> None:
    """Print answers a second of both, and a row for docs/measurements/performance.md."""
    engine = Dialect(dialect)
    if engine not in _FAMILIES:
        raise BadInput(f"--dialect {dialect}: choose from {', '.join(_FAMILIES)}")
    server = None if engine is Dialect.SQLITE else provision.find(engine)
    if server is None and engine is not Dialect.SQLITE:
        raise EngineUnavailable(f"{engine}: no server is up; {to_start()}")
    files = sorted((databases or sample_folder() / "dev_databases").glob("*/*.sqlite"))
    if not files:
        raise BadInput(f"--databases {databases}: has no folder with a SQLite file")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found, predictors = _written(folder, engine, files, tasks)
        _warm(found, server)
        contestants: Mapping[str, Callable[[], dict[tuple[str, str], str]]] = {
            "loop": partial(_loop, found, predictors, workers, server),
            "harness": partial(_ours, found, predictors, workers, server),
        }
        seconds: dict[str, list[float]] = {each: [] for each in contestants}
        verdicts: dict[str, dict[tuple[str, str], str]] = {}
        for _ in range(runs):
            for each, run in contestants.items():
                began = time.perf_counter()
                verdicts[each] = run()
                seconds[each].append(time.perf_counter() - began)
    different = [key for key, status in verdicts["loop"].items() if verdicts["harness"][key] != status]
    if different:
        raise HarnessError(f"{len(different)} official verdicts differ, that on {different[0]} first")
    right = (GOLD, predictors[0].predictor)
    if failed := [key for key, status in verdicts["loop"].items() if key[0] in right and status != "passed"]:
        raise HarnessError(f"{len(failed)} right answers fail, that on {failed[0]} first")
    number = len(verdicts["loop"])
    rates = {each: number / statistics.median(times) for each, times in seconds.items()}
    options.print_row(
        {
            "engine": engine,
            "databases": len(files),
            "MB": f"{sum(path.stat().st_size for path in files) / 1e6:.0f}",
            "tasks": tasks,
            "answers": number,
            "passed": sum(status == "passed" for status in verdicts["loop"].values()),
            "runs": runs,
            **{
                f"{each}, answers/s": f"{rates[each]:.1f} ({number / max(times):.1f} to"
                f" {number / min(times):.1f})"
                for each, times in seconds.items()
            },
            "harness / loop": f"{rates['harness'] / rates['loop']:.1f}",
        }
    )


def _ours(
    found: TaskSet, predictors: Sequence[TaskAnswers], workers: int, server: Server | None
) -> dict[tuple[str, str], str]:
    return {
        (one.predictor, one.task): one.official.status for one in judge(found, predictors, workers, server)
    }


def _loop(
    found: TaskSet, predictors: Sequence[TaskAnswers], workers: int, server: Server | None
) -> dict[tuple[str, str], str]:
    golds = TaskAnswers(GOLD, {task.id: task.gold for task in found.tasks})
    pairs = [
        (task, one.predictor, one.answers[task.id]) for task in found.tasks for one in (golds, *predictors)
    ]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        statuses = pool.map(
            partial(_judged_alone, found.databases, server),
            *zip(*((task, answer) for task, _, answer in pairs), strict=True),
        )
        return {(name, task.id): status for (task, name, _), status in zip(pairs, statuses, strict=True)}


def _judged_alone(databases: Path, server: Server | None, task: Task, answer: Sequence[str]) -> str:
    """Judge one answer on a copy that is made for it and removed again."""
    engine = engine_of(task.family)
    copies = engine.copies(databases, server)
    try:
        place = copies.fresh(task.database)
        with closing(engine.session(place, task.family)) as session:
            verdict = official_verdict(task, task.family, answer, lambda: session)
    finally:
        copies.close()
    return verdict.status


def _warm(found: TaskSet, server: Server | None) -> None:
    """Load what copies are made from."""
    copies = engine_of(found.family).copies(found.databases, server)
    for name in dict.fromkeys(task.database for task in found.tasks):
        copies.fresh(name)
        copies.discard(may_keep=False)
    copies.close()


def _written(
    folder: Path, engine: Dialect, files: Sequence[Path], number: int
) -> tuple[TaskSet, list[TaskAnswers]]:
    """Write tasks, answers and databases; read them as the command does."""
    records: list[dict[str, Any]] = []
    made = [_tasks_of(path) for path in files]
    while len(records) < number:
        records += [next(each) for each in made]
    if engine is Dialect.MYSQL:
        records = [_with_test(record) for record in records]
    records = sorted(records[:number], key=lambda record: str(record["db_id"]))
    for place, record in enumerate(records):
        record["instance_id"] = f"task_{place}"
    paths = [folder / "tasks.jsonl", *(folder / f"predictor_{place}.jsonl" for place in range(_ANSWERS))]
    for place, path in enumerate(paths):
        lines = (
            {"instance_id": record["instance_id"], "pred_sqls": record["answers"][place - 1]}
            if place
            else {**record, "answers": None}
            for record in records
        )
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    databases = folder / "databases"
    for path in files:
        _DUMPS[engine](path, databases)
    found = read_tasks(paths[0], _FAMILIES[engine], databases)
    return found, [read_answers(path, found) for path in paths[1:]]


def _tasks_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield tasks on the tables of a file, without end."""
    tables = list(_tables(path))
    turn = 0
    while True:
        for table, columns in tables:
            column = quoted(columns[turn % len(columns)])
            where = quoted(table)
            common: dict[str, Any] = {"selected_database": path.stem, "db_id": path.stem}
            common |= {"preprocess_sql": [], "issue_sql": [], "conditions": {}}
            turn += 1
            if turn % 3:
                grouped = (
                    f"SELECT {column}, count(*) AS n FROM {where} GROUP BY {column}"  # noqa: S608
                    f" ORDER BY n DESC, {column} LIMIT {turn}"
                )
                yield common | {
                    "category": "Query",
                    "sol_sql": [grouped],
                    "test_cases": [],
                    "answers": [
                        [f"SELECT * FROM ({grouped}) AS counted"],  # noqa: S608
                        [grouped.replace("count(*)", "count(*) + 1")],
                        [f"SELECT missing FROM {where}"],  # noqa: S608
                    ],
                }
                continue
            made = f"CREATE TABLE bench AS SELECT {column} AS a, count(*) AS n FROM {where} GROUP BY {column}"  # noqa: S608
            yield common | {
                "category": "Management",
                "sol_sql": [made],
                "test_cases": [_TEST],
                "answers": [
                    [made, "DELETE FROM bench WHERE n < 0"],
                    [f"CREATE TABLE bench AS SELECT 0 AS a, 2 AS n FROM {where} WHERE 1 = 0"],  # noqa: S608
                    [f"CREATE TABLE other AS SELECT * FROM {where} WHERE 1 = 0"],  # noqa: S608
                ],
            }


_COMPARING = (
    "def test_case(pred_sqls, sol_sqls, db, conn):\n    assert ex_base(pred_sqls, sol_sqls, db, conn) == 1\n"
)


def _with_test(record: dict[str, Any]) -> dict[str, Any]:
    """Write a task as MySQL's and BIRD-CRITIC's are: names in its marks, and rows compared by a test case."""

    def marked(texts: list[str]) -> list[str]:
        return [text.replace('"', "`") for text in texts]

    tests = record["test_cases"] or [_COMPARING]
    answers = [marked(each) for each in record["answers"]]
    return record | {"sol_sql": marked(record["sol_sql"]), "test_cases": tests, "answers": answers}


def _tables(path: Path) -> Iterator[tuple[str, list[str]]]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY 1"
        ).fetchall()
        for (name,) in names:
            found = connection.execute("SELECT name FROM pragma_table_info(?)", (name,)).fetchall()
            yield name, [column for (column,) in found]


def _link(path: Path, databases: Path) -> None:
    folder = databases / path.stem
    folder.mkdir(parents=True)
    (folder / f"{path.stem}_template.sqlite").symlink_to(path.absolute())


_TYPES = {"integer": "bigint", "real": "double precision", "text": "text"}
_ROWS = 500
"""Rows of one INSERT."""


def _dump_tables(path: Path, databases: Path) -> None:
    """Write a dump of each table as pg_dump does, its columns with the type of most of their values."""
    folder = databases / f"{path.stem}_template"
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        for number, (table, columns) in enumerate(_tables(path)):
            where = quoted(table)
            types = [_type(connection, where, quoted(column)) for column in columns]
            declared = ", ".join(
                f"{quoted(column)} {_TYPES[kind]}" for column, kind in zip(columns, types, strict=True)
            )
            with (folder / f"{number}.sql").open("w", encoding="utf-8") as file:
                file.write(f"CREATE TABLE public.{where} ({declared});\nCOPY public.{where} FROM stdin;\n")
                for row in connection.execute(f"SELECT * FROM {where}"):  # noqa: S608 - a quoted name
                    file.write("\t".join(map(_field, row)) + "\n")
                file.write("\\.\n")


def _dump_database(path: Path, databases: Path) -> None:
    """Write one dump of all tables as mysqldump does."""
    databases.mkdir(parents=True, exist_ok=True)
    dump = databases / f"{path.stem}_template_dump.sql"
    with (
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection,
        dump.open("w", encoding="utf-8") as file,
    ):
        for table, columns in _tables(path):
            where = quoted(table)
            types = [_type(connection, where, quoted(column)) for column in columns]
            declared = ", ".join(
                f"`{column}` {'longtext' if kind == 'text' else _TYPES[kind]}"
                for column, kind in zip(columns, types, strict=True)
            )
            file.write(f"CREATE TABLE `{table}` ({declared});\n")
            rows = connection.execute(f"SELECT * FROM {where}")  # noqa: S608 - a quoted name
            while some := rows.fetchmany(_ROWS):
                values = ",".join(f"({','.join(map(_literal, row))})" for row in some)
                file.write(f"INSERT INTO `{table}` VALUES {values};\n")  # noqa: S608 - a dump


def _type(connection: sqlite3.Connection, table: str, column: str) -> str:
    found = {
        kind
        for (kind,) in connection.execute(f"SELECT DISTINCT typeof({column}) FROM {table}")  # noqa: S608 - quoted names
        if kind != "null"
    }
    if found <= {"integer"}:
        return "integer"
    return "real" if found <= {"integer", "real"} else "text"


_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _field(value: object) -> str:
    return "\\N" if value is None else str(value).translate(_ESCAPES)


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, int | float):
        return repr(value)
    return "'" + str(value).replace("\\", "\\\\").replace("'", "''") + "'"


_DUMPS: Mapping[Dialect, Callable[[Path, Path], None]] = {
    Dialect.SQLITE: _link,
    Dialect.POSTGRESQL: _dump_tables,
    Dialect.MYSQL: _dump_database,
}


if __name__ == "__main__":
    typer.run(main)

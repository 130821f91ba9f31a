"""Milliseconds for one translation: `dialects.translation` against plain sqlglot, in the same run.

The peer is what one would write without this project: parse, `qualify` and `annotate_types` with the schema,
then the target's generator. Every gold of a set is translated in turn by both; a gold's time is the median of
its runs, and the figures are medians over the golds. The peer's text need not be right, or run at all.

    python -m benchmarks.translation --set mini_dev
"""

import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated

import sqlglot
import typer
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from dialects.enums import Dialect
from dialects.schema import Schema
from dialects.translation import Untranslatable, translate
from harness.data.sets.loader import load_set
from loaders.file_census import census

_NAMES = {Dialect.MYSQL: "mysql", Dialect.POSTGRESQL: "postgres"}


def peer(sql: str, schema: dict[str, object], target: Dialect) -> str:
    """Plain sqlglot, with the schema."""
    tree = sqlglot.parse_one(sql, read="sqlite")
    qualified = qualify(
        tree, schema=schema, dialect="sqlite", expand_stars=False, validate_qualify_columns=False
    )
    return annotate_types(qualified, schema=schema, dialect="sqlite").sql(dialect=_NAMES[target])


def main(
    set_name: Annotated[str, typer.Option("--set")] = "sample",
    runs: Annotated[int, typer.Option(help="Runs of each gold.")] = 5,
) -> None:
    """Print the medians of both and their ratio, one line per target."""
    questions = load_set(set_name)
    schemas = {db_id: census(questions.database(db_id).sqlite_path) for db_id in questions.db_ids}
    declared = {db_id: _declared(schema) for db_id, schema in schemas.items()}
    print(f"{set_name}: milliseconds for each of {len(questions.questions)} golds, median of {runs} runs")
    print(f"{'target':12}{'ours':>8}{'95 %':>8}{'sqlglot':>9}{'ratio':>7}")
    for target in _NAMES:
        ours, theirs = [], []
        for question in questions.questions:
            sql, db_id = question.gold[Dialect.SQLITE], question.db_id
            ours.append(_median(runs, lambda: translate(sql, schemas[db_id], target)))  # noqa: B023 - called at once
            theirs.append(_median(runs, lambda: peer(sql, declared[db_id], target)))  # noqa: B023
        mine, other = statistics.median(ours), statistics.median(theirs)
        late = statistics.quantiles(ours, n=20)[-1]
        print(f"{target:12}{mine:8.2f}{late:8.2f}{other:9.2f}{mine / other:7.2f}")


def _declared(schema: Schema) -> dict[str, object]:
    """Tables and column types as sqlglot takes them."""
    return {
        table.name: {column.name: column.type.value for column in table.columns} for table in schema.tables
    }


def _median(runs: int, run: Callable[[], object]) -> float:
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        with suppress(Untranslatable, SqlglotError):
            run()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


if __name__ == "__main__":
    typer.run(main)

"""How long translations are and how long they take: `dialects.translation` beside plain sqlglot, in one run.

The peer is what one would write without this project: parse, `qualify` and `annotate_types` with the schema,
then the target's generator. Its text need not be right, or run at all. Every gold of a set is translated in
turn by both. A length is the characters of a translation for each of its source, white space counted once; a
gold's time is the median of its runs, in milliseconds of processor time.

    python -m benchmarks.translation --set mini_dev
    bird-harness translate --set mini_dev --style plain --dialect all --out mini_dev-plain
    python -m benchmarks.translation --set mini_dev --plain mini_dev-plain
"""

import json
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import sqlglot
import typer
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from dialects.enums import Dialect
from dialects.identifiers import FUNCTIONS_NAMESPACE
from dialects.schema import Schema
from dialects.translation import Untranslatable, translate
from harness.data.sets.loader import load_set
from loaders.file_census import census

_NAMES = {
    Dialect.MYSQL: "mysql",
    Dialect.POSTGRESQL: "postgres",
    Dialect.DUCKDB: "duckdb",
    Dialect.MARIADB: "mysql",
}


def peer(sql: str, schema: dict[str, object], target: Dialect) -> str:
    """Plain sqlglot, with the schema."""
    tree = sqlglot.parse_one(sql, read="sqlite")
    qualified = qualify(
        tree, schema=schema, dialect="sqlite", expand_stars=False, validate_qualify_columns=False
    )
    return annotate_types(qualified, schema=schema, dialect="sqlite").sql(dialect=_NAMES[target])


@dataclass(frozen=True)
class Measured:
    """One gold on one target: its translation, None if there is none, and the median of its times."""

    source: str
    text: str | None
    milliseconds: float

    @property
    def length(self) -> float:
        """Characters for each of the source."""
        return len(" ".join((self.text or "").split())) / len(" ".join(self.source.split()))


def figures(golds: Sequence[Measured]) -> dict[str, float]:
    """Return a contestant's figures: lengths, per cent without an installed function, times, refusals."""
    made = [one for one in golds if one.text is not None]
    lengths = sorted(one.length for one in made) or [float("nan")]
    alone = sum(FUNCTIONS_NAMESPACE not in (one.text or "") for one in made)
    times = sorted(one.milliseconds for one in golds)
    return {
        "median": statistics.median(lengths),
        "p90": lengths[int(0.9 * (len(lengths) - 1))],
        "longest": lengths[-1],
        "no function %": 100 * alone / max(len(made), 1),
        "ms": statistics.median(times),
        "ms 95 %": times[int(0.95 * (len(times) - 1))],
        "refused": len(golds) - len(made),
    }


def main(
    set_name: Annotated[str, typer.Option("--set")] = "sample",
    runs: Annotated[int, typer.Option(help="Runs of each gold.")] = 5,
    longest: Annotated[int, typer.Option(help="Show this many of the longest translations.")] = 0,
    plain: Annotated[
        Path | None, typer.Option(help="A folder of `translate --set SET --style plain`, for a third line.")
    ] = None,
) -> None:
    """Print the figures of both, two lines per target, and those of proven plain forms."""
    questions = load_set(set_name)
    schemas = {db_id: census(questions.database(db_id).sqlite_path) for db_id in questions.db_ids}
    declared = {db_id: _declared(schema) for db_id, schema in schemas.items()}
    print(f"{set_name}: {len(questions.questions)} golds, {runs} runs each; length: translation / source")
    for target in _NAMES:
        ours, theirs = [], []
        for question in questions.questions:
            sql, db_id = question.gold[Dialect.SQLITE], question.db_id
            ours.append(_measured(sql, runs, lambda: translate(sql, schemas[db_id], target).sql))  # noqa: B023
            theirs.append(_measured(sql, runs, lambda: peer(sql, declared[db_id], target)))  # noqa: B023
        contestants = [("exact", ours), ("sqlglot", theirs)]
        written = None if plain is None else plain / f"{questions.name}_{target}.json"
        if written is not None and written.is_file():
            texts = [each["SQL"] for each in json.loads(written.read_text(encoding="utf-8"))]
            sources = [each.gold[Dialect.SQLITE] for each in questions.questions]
            contestants.append(("plain", [Measured(*each, 0) for each in zip(sources, texts, strict=True)]))
        for name, golds in contestants:
            found = figures(golds)
            if target is Dialect.MYSQL and golds is ours:
                print(f"{'target':12}{'':9}" + "".join(f"{title:>15}" for title in found))
            print(f"{target:12}{name:9}" + "".join(f"{figure:15.2f}" for figure in found.values()))
        for one in sorted(ours, key=lambda one: -one.length)[:longest]:
            print(f"  {one.length:.2f}\n    {' '.join(one.source.split())}\n    {one.text}")


def _declared(schema: Schema) -> dict[str, object]:
    """Tables and column types as sqlglot takes them."""
    return {
        table.name: {column.name: column.type.value for column in table.columns} for table in schema.tables
    }


def _measured(source: str, runs: int, run: Callable[[], str]) -> Measured:
    times, text = [], None
    for _ in range(runs):
        started = time.process_time()
        with suppress(Untranslatable, SqlglotError):
            text = run()
        times.append((time.process_time() - started) * 1000)
    return Measured(source, text, statistics.median(times))


if __name__ == "__main__":
    typer.run(main)

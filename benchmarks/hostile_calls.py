"""Call every function of an engine's catalogue with hostile arguments, as predictions beside honest ones.

Prints how the calls ended and what they took, and exits with 1 if an honest answer changed, a call was not
judged, or something of the server is other than before.

    python -m benchmarks.hostile_calls --dialect duckdb --count 10000
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Annotated

import duckdb
import typer

from dialects.enums import Dialect
from dialects.errors import BadInput, HarnessError
from harness import Evaluator, Triple
from harness.data.outcomes import Outcome
from harness.engines.retry import administrating
from harness.provision import find
from loaders.server import Server
from tests.engines.hostile.calls import FUNCTIONS, Ask, calls

DB_ID = "city_library"
EVERY = 10
"""An honest answer follows so many calls."""
_GOLD, _HONEST = "SELECT COUNT(*) + {} FROM books", "SELECT {} + COUNT(title) FROM books"
_SHOWN = 200
_BATCH = 8
"""Questions that are scored at a time, so that workers share them."""

_STATE: Mapping[str, str] = {
    "variables": "SHOW GLOBAL VARIABLES WHERE variable_name NOT REGEXP 'gtid|rand_seed|timestamp|pseudo'",
    "functions": "SELECT routine_schema, routine_name FROM information_schema.routines ORDER BY 1, 2",
    "tables": "SELECT table_schema, table_name, engine FROM information_schema.tables ORDER BY 1, 2",
    "plugins": "SELECT plugin_name, plugin_status FROM information_schema.plugins ORDER BY 1",
    "events": "SELECT event_schema, event_name FROM information_schema.events ORDER BY 1, 2",
    "accounts": "SELECT user, host FROM mysql.user WHERE user NOT LIKE 'bird_reader%' ORDER BY 1, 2",
}
"""What a MySQL or MariaDB server has, whoever asks."""


@dataclass
class Found:
    """What came of the calls: outcomes, what was not judged, what changed, what a server has otherwise."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    unjudged: list[tuple[str, str | None]] = field(default_factory=list)
    changed: list[tuple[str, Outcome]] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    functions: int = 0

    @property
    def is_clean(self) -> bool:
        """Nothing reached beyond its own text."""
        return not (self.unjudged or self.changed or self.other)


def run(evaluator: Evaluator, dialect: Dialect, texts: Sequence[str]) -> Found:
    """Score calls as answers to golds of their own, each `EVERY` of them with an honest answer."""
    found, number = Found(), 0
    for start in range(0, len(texts), EVERY * _BATCH):
        triples: list[Triple] = []
        honest: list[bool] = []
        for place in range(start, min(start + EVERY * _BATCH, len(texts)), EVERY):
            number += 1
            gold, honest_answer = (text.format(number) for text in (_GOLD, _HONEST))
            answers = [*texts[place : place + EVERY], honest_answer]
            triples += [Triple(DB_ID, gold, sql, dialect) for sql in answers]
            honest += [False] * (len(answers) - 1) + [True]
        for triple, is_honest, judged in zip(triples, honest, evaluator.score(triples), strict=True):
            if is_honest:
                if judged.outcome is not Outcome.MATCH:
                    found.changed.append((judged.error or "", judged.outcome))
                continue
            found.outcomes[judged.outcome] += 1
            if not judged.outcome.is_predictors:
                found.unjudged.append((triple.sql, judged.error))
    return found


@contextmanager
def administrator(dialect: Dialect) -> Iterator[tuple[Ask, Server | None]]:
    """Provide a connection that reads an engine's catalogue, and its server.

    Raises:
        BadInput: the server is not up.
    """
    if dialect is Dialect.DUCKDB:
        with duckdb.connect() as connection:
            yield (lambda sql: connection.execute(sql).fetchall()), None
        return
    server = find(dialect)
    if server is None:
        raise BadInput(f"{dialect} is not up: make up DIALECT={dialect}")
    with closing(administrating(server)) as connection:

        def ask(sql: str) -> Sequence[Sequence[object]]:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                rows: Sequence[Sequence[object]] = cursor.fetchall()
                return rows

        yield ask, server


def state(ask: Ask, server: Server | None) -> Mapping[str, Sequence[Sequence[object]]]:
    """Return what a server has; nothing of DuckDB, whose instances tests/engines/hostile compares."""
    return {} if server is None else {name: list(ask(sql)) for name, sql in _STATE.items()}


def campaign(dialect: Dialect, count: int, seed: int, seconds: float, workers: int) -> Found:
    """Call the functions of an engine, which has the sample's databases.

    Raises:
        BadInput: there is no catalogue of this engine, or its server is not up.
    """
    if dialect not in FUNCTIONS:
        raise BadInput(f"--dialect {dialect}: choose from {', '.join(FUNCTIONS)}")
    with (
        administrator(dialect) as (ask, server),
        Evaluator("sample", dialects=[dialect], workers=workers, seconds=seconds, cache=False) as evaluator,
    ):
        run(
            evaluator, dialect, ["SELECT 1"] * EVERY * workers
        )  # accounts are made when they are first needed
        before = state(ask, server)
        found = run(evaluator, dialect, list(calls(dialect, ask, count, seed)))
        after = state(ask, server)
        found.functions = len({name for name, *_ in ask(FUNCTIONS[dialect])})
    found.other = [name for name in before if before[name] != after[name]]
    return found


def main(
    dialect: Annotated[Dialect, typer.Option(help=f"One of {', '.join(FUNCTIONS)}.")],
    count: Annotated[int, typer.Option(help="Calls.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Chooses their arguments.")] = 0,
    timeout: Annotated[float, typer.Option(help="Seconds of a call.")] = 1.0,
    workers: Annotated[int, typer.Option(help="Worker processes.")] = 2,
) -> None:
    """Run the calls and print what came of them."""
    started = time.monotonic()
    found = campaign(dialect, count, seed, timeout, workers)
    for outcome, times in found.outcomes.most_common():
        print(f"{outcome}: {times:,}")
    for sql, error in found.unjudged:
        print(f"not judged: {sql[:_SHOWN]}: {error}")
    for error, outcome in found.changed:
        print(f"an honest answer: {outcome}: {error}")
    for name in found.other:
        print(f"other than before: {name}")
    print(f"{count:,} calls of {found.functions:,} functions in {time.monotonic() - started:.0f} s")
    if not found.is_clean:
        raise SystemExit(1)


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error

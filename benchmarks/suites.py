"""Suites for `bird-harness lab conformance`: the golds of a question set, and generated queries.

    python -m benchmarks.suites results/suites --set mini_dev --queries 2000
    bird-harness lab conformance results/suites/golds-mini_dev --translator bird,sqlglot,polyglot
    bird-harness lab conformance results/suites/fuzz --translator bird,sqlglot,polyglot

Each database becomes a folder with its file, as a link, and `queries.sql`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Dialect
from harness.data.sets.loader import load_set
from tests.fuzz.campaign import query
from tests.fuzz.catalog import catalog
from tests.fuzz.databases import databases


def write(suite: Path, queries: Mapping[Path, Sequence[str]]) -> None:
    """Write a suite of the queries for each SQLite file."""
    for path, texts in queries.items():
        folder = suite / path.stem
        folder.mkdir(parents=True, exist_ok=True)
        link = folder / path.name
        link.unlink(missing_ok=True)
        link.symlink_to(path.absolute())
        # Behind a comment that ends a text no semicolon would be one.
        lines = [f"{text.rstrip().removesuffix(';')}\n;\n" for text in texts]
        (folder / "queries.sql").write_text("".join(lines), encoding="utf-8")


def golds(set_name: str) -> dict[Path, list[str]]:
    """SQLite's golds of a question set, by database."""
    questions, found = load_set(set_name), defaultdict[Path, list[str]](list)
    for each in questions.questions:
        found[questions.database(each.db_id).sqlite_path].append(each.gold[Dialect.SQLITE])
    return found


def generated(place: Path, number: int, seed: int) -> dict[Path, list[str]]:
    """The first queries of a seed of `make fuzz`, by database; those that are made are put in `place`."""
    place.mkdir(parents=True, exist_ok=True)
    catalogs, found = [catalog(each) for each in databases(place)], defaultdict[Path, list[str]](list)
    for each in range(number):
        node, chosen = query(seed, each, catalogs)
        found[chosen.database.sqlite_path].append(str(node))
    return found


def main(
    out: Annotated[Path, typer.Argument(help="Folder of the suites.")],
    set_name: Annotated[str, typer.Option("--set", help="Question set whose golds are taken.")] = "sample",
    queries: Annotated[int, typer.Option(help="Generated queries.", min=1)] = 2000,
    seed: Annotated[int, typer.Option(help="Which of them.")] = 0,
) -> None:
    """Write `golds-<set>` and `fuzz`."""
    write(out / f"golds-{set_name}", golds(set_name))
    write(out / "fuzz", generated(out / ".databases", queries, seed))
    print(f"written: {out / f'golds-{set_name}'}, {out / 'fuzz'}")


if __name__ == "__main__":
    typer.run(main)

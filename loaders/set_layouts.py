"""Where the files of each question set are, as its published package unpacks.

https://github.com/bird-bench/mini_dev#dataset-introduction
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dialects.enums import Dialect
from dialects.errors import BadInput
from loaders.textfiles import one_line


@dataclass(frozen=True)
class Layout:
    """Where a set's files are.

    `folders` and `databases` are below the set's home and tried in order: the first that holds SQLite's
    questions, and the first that holds `dev_databases`. `same_order`: every dialect has the same questions at
    the same positions, and ids may repeat; otherwise dialects are joined by id.
    """

    title: str
    collection: str
    folders: tuple[str, ...]
    databases: tuple[str, ...]
    questions: Mapping[Dialect, str]
    gold: Mapping[Dialect, str]
    tables: str
    same_order: bool = False
    published: frozenset[str] | None = None
    """The databases of the published set, in whose place others may stand; None where none can."""


_BIRD = frozenset({
    "california_schools", "card_games", "codebase_community", "debit_card_specializing",
    "european_football_2", "financial", "formula_1", "student_club", "superhero", "thrombosis_prediction",
    "toxicology",
})  # fmt: skip
"""The databases of BIRD dev and of both revisions of Mini-Dev."""


PUBLISHED = (Dialect.SQLITE, Dialect.MYSQL, Dialect.POSTGRESQL)
"""The dialects in which question sets and figures of predictors are published."""


def _per_dialect(pattern: str) -> Mapping[Dialect, str]:
    return {dialect: pattern.format(dialect) for dialect in PUBLISHED}


LAYOUTS: Mapping[str, Layout] = {
    "sample": Layout(
        title="the project's own sample benchmark",
        collection="bird_sample",
        folders=("",),
        databases=("",),
        questions=_per_dialect("sample_{}.json"),
        gold=_per_dialect("sample_{}_gold.sql"),
        tables="sample_tables.json",
    ),
    "mini_dev": Layout(
        title="BIRD Mini-Dev, first revision (June 2024)",
        collection="bird",
        folders=("MINIDEV", "minidev/MINIDEV"),
        databases=("MINIDEV", "minidev/MINIDEV"),
        questions=_per_dialect("mini_dev_{}.json"),
        gold=_per_dialect("mini_dev_{}_gold.sql"),
        tables="dev_tables.json",
        same_order=True,
        published=_BIRD,
    ),
    "mini_dev_2025": Layout(
        title="BIRD Mini-Dev, later revision (2025)",
        collection="bird",
        folders=("MINIDEV_2025", "minidev/MINIDEV_2025"),
        databases=("MINIDEV", "minidev/MINIDEV"),
        questions=_per_dialect("mini_dev_{}.json"),
        gold=_per_dialect("mini_dev_{}_gold.sql"),
        tables="dev_tables.json",
        published=_BIRD,
    ),
    "dev": Layout(
        title="BIRD dev",
        collection="bird_dev",
        folders=("", "dev", "dev_20240627"),
        databases=("", "dev", "dev_20240627"),
        questions={Dialect.SQLITE: "dev.json"},
        gold={Dialect.SQLITE: "dev.sql"},
        tables="dev_tables.json",
        published=_BIRD,
    ),
}


def find(name: str, home: Path, folders: tuple[str, ...], holds: str) -> Path:
    """The first of `folders` below `home` that holds the file or folder `holds`.

    Raises:
        BadInput: none does; the message says where question set `name` was looked for.
    """
    places = [home / folder for folder in folders]
    for place in places:
        if (place / holds).exists():
            return place
    looked = " or ".join(map(str, places))
    remedy = f"point BIRD_HOME, now {home}, at the folder that holds the unpacked published package"
    raise BadInput(one_line(f"question set {name}: no {holds} in {looked}; {remedy}"))

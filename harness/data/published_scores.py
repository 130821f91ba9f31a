"""Provide published scores of predictors, and check whether the databases of a set are the published ones.

The figures that ship with the project are in `published_scores.csv`, one a line, with their sources. A user's
own are tables of totals in percent, one file per metric: `predictor,file_stem,sqlite,mysql,postgresql`.
What BIRD's paper prints of errors and types of questions is in `published_paper.toml`.
"""

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from math import isfinite, nan
from pathlib import Path

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.published_sets import Provenance
from harness.data.questions import QuestionSet
from harness.data.set_manifest import PUBLISHED
from harness.metrics import METRICS
from harness.sqltree.constructs import QuestionType
from loaders.base.digests import digests
from loaders.base.files import Faults, TextFile, read_text, refuse
from loaders.base.records import to_record

PUBLISHED_SET = "mini_dev"
"""The question set of the published figures: the first revision of Mini-Dev."""
METRICS_PUBLISHED = tuple(dict.fromkeys(each.published_as for each in METRICS.values() if each.published_as))
"""The metrics with tables, each in `<metric>.csv`."""

_COLUMNS = ("predictor", "file_stem", *PUBLISHED)


@dataclass(frozen=True)
class PublishedTotals:
    """The published totals of one predictor by one metric, in percent, by dialect."""

    metric: str
    predictor: str
    file_stem: str
    totals: Mapping[Dialect, float]


class PublishedIn(StrEnum):
    """Where a figure was published; `SOURCES` has the words for readers."""

    PAPER = "paper"
    SLIDES = "slides"
    MINI_DEV = "mini_dev"
    MINI_DEV_V2 = "mini_dev_v2"


SOURCES: Mapping[PublishedIn, str] = {
    PublishedIn.PAPER: "BIRD's paper, Tables 2 to 4 and the appendix (https://arxiv.org/abs/2305.03111)",
    PublishedIn.SLIDES: "the slides of BIRD's authors on large-scale NL2SQL (Chenhao Ma)",
    PublishedIn.MINI_DEV: "README of https://github.com/bird-bench/mini_dev, first revision of the set",
    PublishedIn.MINI_DEV_V2: "README of https://github.com/bird-bench/mini_dev, Mini-Dev V2: 270 tasks",
}
"""The words for a source in notes under tables."""


@dataclass(frozen=True)
class PublishedScore:
    """One published figure in percent.

    `set` is a question set; `test` is BIRD's hidden test set. `level` is a difficulty, or `total`.
    `file_stem` is the predictor's name in published prediction files, or empty. "+ KG" in the name of a
    predictor says that it was given the evidence of each question, the paper's external knowledge.
    """

    set: str
    predictor: str
    file_stem: str
    metric: str
    engine: Dialect
    level: str
    value: float
    source: PublishedIn


@cache
def published_scores() -> tuple[PublishedScore, ...]:
    """Return every published figure that ships with the project, in the order of `published_scores.csv`."""
    text = (files("harness.data") / "published_scores.csv").read_text(encoding="utf-8")
    return tuple(
        to_record(PublishedScore, {**row, "value": float(row["value"])})
        for row in csv.DictReader(text.splitlines())
    )


def published_totals() -> list[PublishedTotals]:
    """Return the published totals of Mini-Dev by engine, in the order of the metrics, then of the rows."""
    found: dict[tuple[str, str, str], dict[Dialect, float]] = {}
    for one in published_scores():
        if one.set == PUBLISHED_SET and one.level == "total":
            totals = found.setdefault((one.metric, one.predictor, one.file_stem), {})
            totals[one.engine] = one.value
    return [PublishedTotals(*key, totals) for key, totals in found.items()]


@dataclass(frozen=True)
class PaperType:
    """One type of questions in BIRD's paper, in percent: its share of all questions, and EX by level."""

    type: QuestionType
    share: float
    ex: tuple[float, ...]


@dataclass(frozen=True)
class Paper:
    """What BIRD's paper prints of errors and types of questions.

    `typed` is the predictor whose EX `types` have; `errors` are the percentages of its groups of errors.
    """

    source: str
    typed: str
    types: tuple[PaperType, ...]
    errors: Mapping[str, float]


@cache
def birds_paper() -> Paper:
    """Return what BIRD's paper prints of errors and types of questions."""
    return to_record(
        Paper, tomllib.loads((files("harness.data") / "published_paper.toml").read_text(encoding="utf-8"))
    )


def read_published_folder(folder: Path) -> list[PublishedTotals]:
    """Read every published table in `folder`, in the order of the metrics, then of the rows.

    Raises:
        BadInput: there is none, or one is wrong.
    """
    paths = [folder / f"{metric}.csv" for metric in METRICS_PUBLISHED]
    there = [path for path in paths if path.exists()]
    if not there:
        raise BadInput(
            f"{folder}: has none of {', '.join(path.name for path in paths)};"
            " write your tables there (docs/how-to/reports.md), or leave out --published"
        )
    return [one for path in there for one in _rows(read_text(path))]


def provenance(questions: QuestionSet, known: Mapping[str, str]) -> dict[str, Provenance]:
    """Return for each database of a set whether its file is the published one.

    Args:
        questions: the set.
        known: SHA-256 by path, as `harness.data.published_sets.Published.files` has them.

    Raises:
        BadInput: a file cannot be read.
    """
    paths = {db_id: questions.database(db_id).sqlite_path for db_id in questions.db_ids}
    found = digests(paths.values())
    return {
        db_id: Provenance.of(known.get(f"dev_databases/{db_id}/{db_id}.sqlite"), found[path])
        for db_id, path in paths.items()
    }


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return nan


def _rows(file: TextFile) -> list[PublishedTotals]:
    rows = list(csv.DictReader(file.text.splitlines()))
    heads = tuple(rows[0]) if rows else ()
    if set(_COLUMNS) - set(heads):
        refuse(
            file.path, f"its columns are not {','.join(_COLUMNS)}", "write one line per predictor below them"
        )
    faults = Faults(file.path, "line")
    found: dict[str, PublishedTotals] = {}
    for number, row in enumerate(rows, start=2):
        totals = {dialect: _number(row[dialect]) for dialect in PUBLISHED if (row[dialect] or "").strip()}
        if not all(map(isfinite, totals.values())):
            faults.add(number, "a total is not a number", "write percentages, or leave unknown ones empty")
        if not row["predictor"] or not row["file_stem"]:
            faults.add(number, "has no predictor or no file_stem", "name both")
        elif row["file_stem"] in found:
            faults.add(number, f"a second row of {row['file_stem']}", "omit one")
        found[row["file_stem"]] = PublishedTotals(file.path.stem, row["predictor"], row["file_stem"], totals)
    faults.stop()
    return list(found.values())

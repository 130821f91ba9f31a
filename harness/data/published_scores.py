"""Provide published scores of predictors, and check whether the local databases are the published ones.

The figures that ship with the project are in `published_scores.csv`, one a line, with their sources. A user's
own are tables of totals in percent, one file per metric: `predictor,file_stem,sqlite,mysql,postgresql`.
What BIRD's paper prints of errors and types of questions is in `published_paper.toml`.
"""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from math import isfinite, nan
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.published_sets import published, title_in
from harness.data.questions import PackUse, QuestionSet
from harness.data.set_manifest import PUBLISHED
from harness.engines import TITLES
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


def published_totals(set_name: str = PUBLISHED_SET) -> list[PublishedTotals]:
    """Return the published totals of a set by engine, in the order of the metrics, then of the rows."""
    found: dict[tuple[str, str, str], dict[Dialect, float]] = {}
    for one in published_scores():
        if one.set == set_name and one.level == "total":
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


class Provenance(StrEnum):
    """Whether a database file is the published one, by its digest."""

    PUBLISHED = "published"
    OTHER = "other"
    """The digest is not that of the published file."""
    UNKNOWN = "unknown"
    """No published digest is known."""


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
        db_id: _provenance(known.get(f"dev_databases/{db_id}/{db_id}.sqlite"), found[path])
        for db_id, path in paths.items()
    }


def origins(set_name: str, found: Mapping[str, str | None]) -> dict[str, Provenance] | None:
    """Return whether databases are the published ones; None for a set without published digests of any.

    Args:
        set_name: name of the question set.
        found: SHA-256 by database, None for a file that cannot be read.
    """
    entry = published().get(set_name)
    if entry is None:
        return None
    known = published()[entry.databases_of or set_name].files
    if not known:
        return None
    return {
        db_id: _provenance(known.get(f"dev_databases/{db_id}/{db_id}.sqlite"), digest or "")
        for db_id, digest in found.items()
    }


def databases_note(manifest: Mapping[str, Any], *, are_named: bool = True) -> list[str]:
    """Return the note that must accompany a run's figures if its databases are not the published ones.

    An unknown digest does not count against a run whose other databases are the published ones.

    Args:
        manifest: the run's manifest.
        are_named: name the databases instead of only counting them.
    """
    recorded = manifest.get("provenance")
    try:
        found = {str(db_id): Provenance(each) for db_id, each in (recorded or {}).items()}
    except (AttributeError, ValueError):
        return []
    if not unproven(found):
        return []
    return [said_of(found, title_in(manifest).partition(",")[0], are_named=are_named)]


def notes_of(manifest: Mapping[str, Any]) -> list[str]:
    """Return the notes that must accompany a run's figures: on its golds, databases and answers."""
    return [
        *golds_note(manifest),
        *databases_note(manifest),
        *extraction_note(manifest),
        *clock_note(manifest),
        *map(str, manifest.get("unfit_settings") or ()),
    ]


def clock_note(manifest: Mapping[str, Any]) -> list[str]:
    """Return notes on golds whose rows depend on the day of the run, and on those without rows."""
    said = []
    asking = manifest.get("golds_of_the_time")
    if now := manifest.get("now"):
        said.append(f"Golds and predictions take {str(now).removesuffix('+00:00')} UTC for the present.")
    elif asking:
        said.append(
            f"Golds that ask for the time: {asking:,} of {manifest['questions']:,}. Their rows depend on the"
            " day of the run; --now pins it."
        )
    empty = manifest.get("empty_golds") or {}
    if counts := [f"{count:,} on {TITLES.get(name, name)}" for name, count in empty.items() if count]:
        said.append(f"Golds that returned no row: {', '.join(counts)}. Any answer without rows matches them.")
    return said


def extraction_note(manifest: Mapping[str, Any]) -> list[str]:
    """Return what was lost or chosen where SQL was taken out of answers by more than their fences."""
    policy = manifest.get("extract")
    if policy in {None, Extract.NONE, Extract.FENCES}:
        return []
    return [
        f"{file['predictor']} in {file['dialect']}: {policy} took the SQL out of the answers;"
        f" {counts['without_sql']:,} had none, {counts['several']:,} several queries,"
        f" {counts['surrounded']:,} other words"
        for file in manifest.get("predictions") or ()
        if isinstance(file, dict)
        and isinstance(counts := file.get("extraction"), dict)
        and any(counts.get(name) for name in ("without_sql", "several", "surrounded"))
    ]


def golds_note(manifest: Mapping[str, Any]) -> list[str]:
    """Return notes on comparisons other than predictors' own texts with the set's own golds."""
    pack = PackUse.of(manifest)
    said = [] if pack is None else [str(pack)]
    if manifest.get("reference") == "sqlite":
        said.append("Answers on servers are compared with the rows of SQLite's golds, by value.")
    said += [
        f"{file['predictor']} in {file['dialect']}: its answers in {file['translated_from']}, translated by"
        " bird-harness; it did not write these."
        for file in manifest.get("predictions") or ()
        if isinstance(file, dict) and file.get("translated_from")
    ]
    return said


def unproven(databases: Mapping[str, Provenance]) -> bool:
    """Return whether a note must accompany figures on these databases.

    An unknown digest does not count against databases of which others are the published ones.
    """
    kinds = set(databases.values())
    return bool(kinds) and (Provenance.PUBLISHED not in kinds or Provenance.OTHER in kinds)


def counted(databases: Mapping[str, Provenance], *, are_named: bool = False) -> str:
    """Say how many databases are not the published ones, or are, and of how many nobody knows."""

    def names(of: Sequence[str]) -> str:
        return f" ({', '.join(of)})" if are_named else ""

    by: dict[Provenance, list[str]] = {each: [] for each in Provenance}
    for db_id, each in databases.items():
        by[each].append(db_id)
    unnamed, other = by[Provenance.UNKNOWN], by[Provenance.OTHER]
    unknown = f"; for {len(unnamed)} no published digest is known{names(unnamed)}" if unnamed else ""
    if other:
        return f"{len(other)} of {len(databases)} databases are not the published ones{names(other)}{unknown}"
    whole = f"{len(by[Provenance.PUBLISHED])} of {len(databases)}"
    return f"{whole} databases have the digests of published ones{unknown}"


def said_of(databases: Mapping[str, Provenance], title: str = "Mini-Dev", *, are_named: bool = True) -> str:
    """Say in a sentence or two how a run on these databases compares with published figures."""
    words = counted(databases, are_named=are_named)
    if Provenance.OTHER not in databases.values():
        return f"{words}."
    return f"Not {title} results: {words}. Differences from published figures may be due to that alone."


def _provenance(known: str | None, found: str) -> Provenance:
    if known is None:
        return Provenance.UNKNOWN
    return Provenance.PUBLISHED if known == found else Provenance.OTHER


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

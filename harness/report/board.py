"""A static site of verified bundles: a page for each question set, engine and golds.

Only bundles whose outcomes a receipt confirms are on it. Nothing is executed: receipts are by `verify`. The
same bundles and receipts give the same bytes.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from dialects.enums import Profile
from dialects.errors import BadInput
from harness.data.published_scores import PUBLISHED_SET, databases_note, origins
from harness.data.published_sets import published, title_in
from harness.data.set_manifest import PUBLISHED
from harness.engines import TITLES, EngineName
from harness.metrics import METRICS, OUTCOME_METRIC
from harness.metrics.statistics import SIGNIFICANT
from harness.report.html.page import MOST_BARS, PageSection, bar_chart, section, write_static
from harness.report.overview import level_columns
from harness.report.paper import differ
from harness.report.table_model import (
    Cell,
    CellKind,
    TableModel,
    printable,
    row,
    spelled,
    spelled_range,
    table,
)
from harness.runs.bundle import RECEIPT_SUFFIX, SUFFIX, Bundle, Receipt, read_bundle, read_receipt
from harness.runs.summary import TOTAL, Score
from loaders.base.files import content_digest

REPORT_SUFFIX = ".report.html"
"""Ending of a report next to a bundle of the same name, which the board links to."""


@dataclass(frozen=True)
class Entry:
    """A bundle with the receipt that confirms it, and its report if there is one."""

    path: Path
    bundle: Bundle
    receipt: Receipt
    receipt_path: Path

    @property
    def name(self) -> str:
        """What its files on the site are called."""
        return self.bundle.digest[:16]

    @property
    def day(self) -> str:
        """The day of its run."""
        return self.bundle.evaluated.started[:10]

    @property
    def report(self) -> Path:
        """The place of its report."""
        return self.path.with_name(self.path.name.removesuffix(SUFFIX) + REPORT_SUFFIX)


@dataclass(frozen=True)
class Board:
    """Confirmed bundles, the oldest run first, and a line for each file that is left out."""

    entries: Sequence[Entry]
    left_out: Sequence[str]


@dataclass(frozen=True)
class _Row:
    """A predictor's score in one bundle."""

    entry: Entry
    score: Score

    def total(self, metric: str) -> float | None:
        return self.score.metrics.get(metric, {}).get(TOTAL)


@dataclass(frozen=True)
class _Page:
    """The scores of all predictors on one set, engine and golds; the oldest run first."""

    file: str
    title: str
    facts: Sequence[str]
    dialect: EngineName
    rows: Sequence[_Row]

    @property
    def latest(self) -> list[_Row]:
        """The newest row of each predictor."""
        return [*{row.score.predictor: row for row in self.rows}.values()]


@dataclass(frozen=True)
class _Text:
    """The text of a cell, and where it leads."""

    text: str
    href: str = ""


@dataclass(frozen=True)
class _List:
    """A table whose cells may be links."""

    title: str
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[_Text]] = ()
    notes: Sequence[str] = ()


def read_board(folder: Path, *, site: Path | None = None) -> Board:
    """Read every bundle and receipt in a folder and below, but not those in `site`.

    Raises:
        BadInput: the folder cannot be read.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: is not a folder; name one with bundles (*{SUFFIX}) and receipts")
    places = sorted(folder.rglob("*"))
    if site is not None:
        places = [path for path in places if not path.resolve().is_relative_to(site.resolve())]
    left_out: list[str] = []
    receipts: dict[str, tuple[Receipt, Path]] = {}
    for path in (one for one in places if one.name.endswith(RECEIPT_SUFFIX)):
        try:
            receipt = read_receipt(path)
        except BadInput as error:
            left_out.append(str(error).removeprefix(f"{folder}/"))
            continue
        known = receipts.get(receipt.digest)
        if known is None or known[0].verified < receipt.verified:
            receipts[receipt.digest] = receipt, path
    entries: dict[str, Entry] = {}
    for path in (one for one in places if one.name.endswith(SUFFIX)):
        name = path.relative_to(folder)
        try:
            bundle = read_bundle(path)
        except BadInput as error:
            left_out.append(str(error).removeprefix(f"{folder}/"))
            continue
        found = receipts.get(bundle.digest)
        if found is None:
            left_out.append(f"{name}: not verified; write its receipt: verify --out NAME{RECEIPT_SUFFIX}")
        elif fault := _fault(bundle, found[0]):
            left_out.append(f"{name}: {fault}")
        else:
            entries.setdefault(bundle.digest, Entry(path, bundle, *found))
    ordered = sorted(entries.values(), key=lambda one: (one.bundle.evaluated.started, one.bundle.digest))
    return Board(ordered, left_out)


def _fault(bundle: Bundle, receipt: Receipt) -> str | None:
    """Say why a bundle is not on the board."""
    evaluated = bundle.evaluated
    if not receipt.confirmed:
        faults = [*receipt.claims, *(each.get("says", "") for each in receipt.differences)]
        return f"not confirmed: {len(faults):,} faults, such as {faults[0] if faults else 'none'}"
    if not evaluated.is_complete:
        return f"of {evaluated.questions:,} of {evaluated.set_questions:,} questions, not of the set"
    return None


def write_board(board: Board, site: Path) -> Path:
    """Write the site, and return its first page.

    Raises:
        BadInput: the site cannot be written.
    """
    pages = list(_pages(board.entries))
    try:
        for name in ("bundles", "reports"):
            (site / name).mkdir(parents=True, exist_ok=True)
        for entry in board.entries:
            shutil.copyfile(entry.path, site / _bundle_of(entry))
            shutil.copyfile(entry.receipt_path, site / _receipt_of(entry))
            if entry.report.exists():
                shutil.copyfile(entry.report, site / _report_of(entry))
    except OSError as error:
        raise BadInput(f"{site}: cannot be written ({error.strerror}); choose another --out") from error
    for page in pages:
        _write(site / page.file, page.title, page.facts, _sections(page), [_history(page)], up="All boards")
    lists = [_boards(pages), *_public_rows(pages), *_left_out(board.left_out)]
    index = site / "index.html"
    _write(index, "Verified results", (), (), lists)
    return index


def _write(  # noqa: PLR0913, PLR0917 - what is on a page
    path: Path,
    title: str,
    facts: Sequence[str],
    parts: Sequence[PageSection],
    lists: Sequence[_List],
    up: str = "",
) -> None:
    facts = list(map(printable, facts))
    content = {"title": printable(title), "facts": facts, "parts": parts, "lists": lists, "up": up}
    write_static(path, "board.html.jinja", **content)


def _bundle_of(entry: Entry) -> str:
    return f"bundles/{entry.name}{SUFFIX}"


def _receipt_of(entry: Entry) -> str:
    return f"bundles/{entry.name}{RECEIPT_SUFFIX}"


def _report_of(entry: Entry) -> str:
    return f"reports/{entry.name}.html"


def _pages(entries: Sequence[Entry]) -> Iterator[_Page]:
    """Yield a page for the scores of the same questions, golds, databases and limits on one engine."""
    rows: dict[str, list[_Row]] = {}
    for entry in entries:
        claimed = {(one.predictor, one.dialect): one for one in entry.bundle.evaluated.scores}
        for score in entry.bundle.scores():
            one = claimed[score.predictor, score.dialect]
            whole = replace(score, metrics=one.metrics, intervals=one.intervals)
            rows.setdefault(_key(entry, score.dialect), []).append(_Row(entry, whole))
    for key, found in rows.items():
        first, dialect = found[0].entry.bundle.evaluated, found[0].score.dialect
        about = _manifest(found[0].entry)
        pack = f", golds {first.gold.label}" if first.gold else ""
        files = ", ".join(f"{name} {digest[:8]}" for name, digest in first.set_files.items())
        facts = [
            f"{first.questions:,} questions ({files}), {len(first.databases):,} databases",
            f"Profile {first.profile}, limit {first.limits['seconds']:g} s",
            *dict.fromkeys(note for row in found for note in row.entry.bundle.evaluated.notes),
            *databases_note(about),
        ]
        title = f"{title_in(about)} on {TITLES[dialect]}{pack}"
        name = re.sub(r"\W+", "-", f"{first.set_name}-{dialect}")
        yield _Page(f"{name}-{key[:8]}.html", title, facts, dialect, found)


def _key(entry: Entry, dialect: EngineName) -> str:
    one = entry.bundle.evaluated
    gold = one.gold and one.gold.sha256
    same = one.set_name, one.set_files, one.databases, gold, one.reference, one.profile, one.limits
    return content_digest([dialect, *same])


def _manifest(entry: Entry) -> dict[str, object]:
    """Return the entries of a manifest that title and note on databases are made of."""
    one = entry.bundle.evaluated
    return {"set": one.set_name, "provenance": origins(one.set_name, one.databases)}


def _sections(page: _Page) -> list[PageSection]:
    """Return a table with a chart for each metric that is published elsewhere."""
    sections = []
    for name, metric in METRICS.items():
        rows = [row for row in page.latest if row.total(name) is not None]
        if metric.published_as is None or not rows:
            continue
        rows.sort(key=lambda row: (-(row.total(name) or 0.0), row.score.predictor))
        shown = [(row.score.predictor, row.total(name) or 0.0, row.score.intervals.get(name)) for row in rows]
        bars = [
            (who, total, spelled(total, CellKind.PERCENT), ends) for who, total, ends in shown[:MOST_BARS]
        ]
        chart = bar_chart(f"{metric.title} (%), total with 95 % interval", bars)
        sections.append(section(_table(name, rows), [chart]))
    return sections


def _table(metric: str, rows: Sequence[_Row]) -> TableModel:
    title, levels = METRICS[metric].title, [*rows[0].score.metrics[metric]]
    *by_level, total = level_columns(levels, metric)
    if METRICS[metric].of_timing is None:
        groups = list(map(str, _groups(metric, [row.score for row in rows])))
        note = (
            "Predictors of a group cannot be told apart from its first one: p \N{GREATER-THAN OR EQUAL TO}"
            f" {SIGNIFICANT} in a paired test on the same questions, without correction for several tests."
        )
    else:
        groups = [""] * len(rows)
        note = "Times are the submitters' own, from their machines: neither verified nor compared."
    lines = []
    for group, one in zip(groups, rows, strict=True):
        score = one.score
        cells = [Cell(score.metrics[metric].get(level)) for level in levels[:-1]]
        cells.append(Cell(one.total(metric), score.intervals.get(metric), score.questions))
        lines.append(row((score.predictor, group), cells, predictor=score.predictor, dialect=score.dialect))
    columns = [*by_level, replace(total, has_interval=True)]
    return table(f"{title} (%)", ("predictor", "group"), columns, lines, note)


def _groups(metric: str, scores: Sequence[Score]) -> Iterator[int]:
    """Yield the number of each score's group, the best first; a group is as good as its first score."""
    number, first = 0, None
    for score in scores:
        if first is None or differ(first, score, metric):
            number, first = number + 1, score
        yield number


def _history(page: _Page) -> _List:
    rows = [
        (
            _Text(printable(row.score.predictor)),
            _Text(row.entry.day),
            _Text(spelled(row.total(OUTCOME_METRIC), CellKind.PERCENT)),
            _Text(spelled_range(row.score.intervals.get(OUTCOME_METRIC))),
            _Text(row.entry.name, _bundle_of(row.entry)),
            _Text(row.entry.receipt.verified[:10], _receipt_of(row.entry)),
            _Text(printable(row.entry.receipt.engines.get(page.dialect, "").split(" ", 1)[0])),
            _Text("open", _report_of(row.entry)) if row.entry.report.exists() else _Text(""),
        )
        for row in sorted(page.rows, key=lambda row: row.score.predictor)
    ]
    heads = (
        "predictor",
        "run",
        METRICS[OUTCOME_METRIC].title,
        "95 %",
        "bundle",
        "verified",
        "with",
        "report",
    )
    note = "The newest run of each predictor is in the tables. Verify a bundle yourself: bird-harness verify."
    return _List("History", heads, rows, (note,))


def _boards(pages: Sequence[_Page]) -> _List:
    rows = []
    for page in pages:
        best = max(page.latest, key=lambda row: row.total(OUTCOME_METRIC) or 0.0)
        figure = spelled(best.total(OUTCOME_METRIC), CellKind.PERCENT)
        texts = (str(len(page.latest)), figure, printable(best.score.predictor))
        rows.append((_Text(printable(page.title), page.file), *map(_Text, texts)))
    heads = ("set, engine and golds", "predictors", "best EX (%)", "of")
    return _List("Boards", heads, rows, () if rows else ("No bundle is confirmed.",))


def _public_rows(pages: Sequence[_Page]) -> Iterator[_List]:
    """Yield the rows that the public board of Mini-Dev takes, for each revision of the set."""
    revisions = [name for name, one in published().items() if PUBLISHED_SET in (name, one.databases_of)]
    for revision in revisions:
        found: dict[str, dict[EngineName, _Row]] = {}
        notes = []
        for page in pages:
            one = page.rows[0].entry.bundle.evaluated
            if (one.set_name, one.gold, one.reference, one.profile) != (
                revision,
                None,
                None,
                Profile.OFFICIAL,
            ):
                continue
            about = _manifest(page.rows[0].entry)
            if not about["provenance"] or databases_note(about):
                notes.append(f"{page.title}: no rows, because its databases are not the published ones.")
                continue
            for each in page.latest:
                found.setdefault(each.score.predictor, {})[page.dialect] = each
        if not found and not notes:
            continue
        rows = []
        for predictor, by in found.items():
            day = max(datetime.fromisoformat(row.entry.bundle.evaluated.started) for row in by.values())
            figures = [by[one].total(OUTCOME_METRIC) if one in by else None for one in PUBLISHED]
            texts = (f"{day:%b %d, %Y}", *(spelled(each, CellKind.PERCENT) for each in figures))
            rows.append([_Text(printable(predictor)), *map(_Text, texts)])
        heads = ("model", "date", *(TITLES[one] for one in PUBLISHED))
        if found:
            notes.append("EX in percent. Affiliation, code and size are yours to add.")
        yield _List(f"Rows for the public Mini-Dev board ({revision})", heads, rows, notes)


def _left_out(lines: Sequence[str]) -> list[_List]:
    return [_List("Left out", notes=[*map(printable, lines)])] if lines else []

"""A static site of verified bundles: a page for each question set, engine and golds.

Only bundles whose outcomes a receipt confirms are on it. Nothing is executed: receipts are by `verify`. The
same bundles and receipts give the same bytes.

Whoever can add to the folder decides what is in it, so nothing is copied from there: each file of the site is
written from what was read of a bundle or a receipt, and links are not followed.
"""

import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from dialects.enums import Profile
from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.published_scores import PUBLISHED_SET
from harness.data.published_sets import provenances, sets_by_name, title_in
from harness.data.set_manifest import PUBLISHED
from harness.engines import TITLES, EngineName
from harness.labs.bundles.bundle import (
    RECEIPT_SUFFIX,
    SUFFIX,
    Bundle,
    ClaimedScore,
    Receipt,
    impossible_date,
    read_bundle,
    read_receipt,
    write_receipt,
)
from harness.metrics import METRICS, OUTCOME_METRIC, Basis
from harness.metrics.statistics import SIGNIFICANT
from harness.report.html import write_html
from harness.report.html.page import MOST_BARS, PageSection, bar_chart, section, write_static
from harness.report.overview import level_columns
from harness.report.paper import differ
from harness.report.table_model import (
    Cell,
    CellKind,
    TableColumn,
    TableModel,
    printable,
    row,
    spelled,
    spelled_range,
    table,
)
from harness.runs.reader import databases_note
from harness.runs.summary import TOTAL, Score
from loaders.base.errors import brief
from loaders.base.files import content_digest, files_within, one_line
from loaders.base.files import replace as replace_file

_FOLDERS = ("bundles", "reports")
_LONGEST = 60
"""Characters of a set's name in the name of a file, which ends with a digest."""


@dataclass(frozen=True)
class BoardEntry:
    """A bundle with the receipt that confirms it."""

    bundle: Bundle
    receipt: Receipt

    @property
    def name(self) -> str:
        """What its files on the site are called."""
        return self.bundle.digest[:16]

    @property
    def day(self) -> str:
        """The day of its run, as the submitter states it."""
        return self.bundle.evaluated.started[:10]


@dataclass(frozen=True)
class Board:
    """Confirmed bundles, the oldest run first, and a line for each file that is left out."""

    entries: Sequence[BoardEntry]
    left_out: Sequence[str]


@dataclass(frozen=True)
class _Row:
    """A predictor's score in one bundle."""

    entry: BoardEntry
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
    def metric(self) -> str:
        """What the best one is best at: EX, or the first verdict of a lab."""
        names = self.rows[0].score.metrics
        return OUTCOME_METRIC if OUTCOME_METRIC in names else next(iter(names), OUTCOME_METRIC)

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
    files, left_out = _files(folder, site)
    receipts: dict[str, Receipt] = {}
    for path in (one for one in files if one.name.endswith(RECEIPT_SUFFIX)):
        try:
            receipt = read_receipt(path)
        except BadInput as error:
            left_out.append(str(error).removeprefix(f"{folder}/"))
            continue
        if datetime.fromisoformat(receipt.verified) > datetime.now(UTC):
            left_out.append(f"{path.relative_to(folder)}: it is of {receipt.verified[:10]}, which is to come")
            continue
        known = receipts.get(receipt.digest)
        if known is None or known.verified < receipt.verified:
            receipts[receipt.digest] = receipt
    entries: dict[str, BoardEntry] = {}
    for path in (one for one in files if one.name.endswith(SUFFIX)):
        name = path.relative_to(folder)
        try:
            bundle = read_bundle(path)
        except BadInput as error:
            left_out.append(str(error).removeprefix(f"{folder}/"))
            continue
        found = receipts.get(bundle.digest)
        if found is None:
            left_out.append(f"{name}: not verified; write its receipt: verify --out NAME{RECEIPT_SUFFIX}")
        elif fault := _fault(bundle, found):
            left_out.append(f"{name}: {fault}")
        else:
            entries.setdefault(bundle.digest, BoardEntry(bundle, found))
    ordered = sorted(entries.values(), key=lambda one: (one.bundle.evaluated.started, one.bundle.digest))
    return Board(ordered, [brief(one_line(line), _LONGEST_LINE) for line in left_out])


_LONGEST_LINE = 500
_LONGEST_TITLE = 200


def _files(folder: Path, site: Path | None) -> tuple[list[Path], list[str]]:
    """Return the files of a folder but for those in `site`, and a line for each link out of the folder.

    Raises:
        BadInput: the folder cannot be read.
    """
    try:
        files, others = files_within(folder)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be read ({error.strerror}); check its permissions") from error
    if site is not None:
        files = [path for path in files if not path.resolve().is_relative_to(site.resolve())]
    inside = os.path.realpath(folder)
    return files, [
        f"{path.relative_to(folder)}: is {what}; put the file itself there"
        for path, what in others.items()
        # A link within the folder, such as `latest`, leads to what is read anyway.
        if path.name.endswith((SUFFIX, RECEIPT_SUFFIX))
        or not Path(os.path.realpath(path)).is_relative_to(inside)
    ]


def _fault(bundle: Bundle, receipt: Receipt) -> str | None:
    """Say why a bundle is not on the board."""
    evaluated = bundle.evaluated
    if not receipt.confirmed:
        faults = [*receipt.claims, *(each.get("says", "") for each in receipt.differences)]
        return f"not confirmed: {len(faults):,} faults, such as {faults[0] if faults else 'none'}"
    if not evaluated.is_complete:
        return f"of {evaluated.questions:,} of {evaluated.set_questions:,} questions, not of the set"
    if not all(map(_is_shown, evaluated.scores)) or not _has_its_scores(bundle):
        return "its scores are not those of its outcomes"
    try:
        bundle.run(Path())
    except BadInput as error:
        return str(error)
    return impossible_date(evaluated, datetime.fromisoformat(receipt.verified))


def _is_shown(score: ClaimedScore) -> bool:
    """Return True if all figures of a score are numbers that a table has room for."""
    figures = [each for levels in score.metrics.values() for each in levels.values()]
    ends = [each for interval in score.intervals.values() for each in interval or ()]
    return all(each is None or (math.isfinite(each) and abs(each) <= _MOST) for each in (*figures, *ends))


_MOST = 1e6
"""No score in percent is greater: R-VES of an answer has at most 1.25 times 100."""


def _has_its_scores(bundle: Bundle) -> bool:
    """Return True if the claims about a bundle's predictors are those that its outcomes give.

    A receipt says so, too; but anyone can write one.
    """
    claimed = {(one.predictor, one.dialect): one for one in bundle.evaluated.scores}
    computed = {(one.predictor, one.dialect): one for one in bundle.scores()}
    if claimed.keys() != computed.keys() or len(claimed) != len(bundle.evaluated.scores):
        return False
    for whose, score in computed.items():
        one, levels = claimed[whose], {level for each in score.metrics.values() for level in each}
        untimed = {name: one.metrics.get(name) for name in score.metrics}
        shown = [each.keys() for each in one.metrics.values()] if levels else []
        if untimed != score.metrics or any(each != levels for each in shown):
            return False
    return True


def write_board(board: Board, site: Path) -> Path:
    """Write the site, and return its first page.

    Raises:
        BadInput: the site cannot be written.
    """
    pages = list(_pages(board.entries))
    try:
        for folder in (site / name for name in _FOLDERS):
            if folder.is_symlink():
                raise BadInput(f"{folder}: is a link; remove it, or choose another --out")
            folder.mkdir(parents=True, exist_ok=True)
        for entry in board.entries:
            replace_file(site / _bundle_of(entry), entry.bundle.text)
            write_receipt(entry.receipt, site / _receipt_of(entry), Path(_bundle_of(entry)).name)
            path = site / _report_of(entry)
            write_html(entry.bundle.run(path.parent), {}, {}, path)
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


def _bundle_of(entry: BoardEntry) -> str:
    return f"bundles/{entry.name}{SUFFIX}"


def _receipt_of(entry: BoardEntry) -> str:
    return f"bundles/{entry.name}{RECEIPT_SUFFIX}"


def _report_of(entry: BoardEntry) -> str:
    return f"reports/{entry.name}.html"


def _pages(entries: Sequence[BoardEntry]) -> Iterator[_Page]:
    """Yield a page for one engine's scores of the same questions, golds, databases, limits and policy."""
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
        policy = first.extract
        profile = f"Profile {first.profile}, limit" if first.profile else "Limit"
        facts = [
            f"{first.questions:,} questions ({files}), {len(first.databases):,} databases",
            f"{profile} {first.limits['seconds']:g} s",
            *dict.fromkeys(
                note for row in found for note in row.entry.bundle.evaluated.notes if _is_about(note, dialect)
            ),
            *databases_note(about),
            *([] if policy == Extract.NONE else [f"The SQL was taken out of answers by {policy}"]),
        ]
        whose = brief(title_in(about), _LONGEST_TITLE)
        if title_in(about) not in {first.set_name, *(one.title for one in sets_by_name().values())}:
            whose = f"{whose} ({brief(first.set_name, _LONGEST_TITLE)})"
        title = f"{whose} on {TITLES[dialect]}{brief(pack, _LONGEST_TITLE)}"
        name = re.sub(r"\W+", "-", f"{first.set_name[:_LONGEST]}-{dialect}", flags=re.ASCII)
        yield _Page(f"{name}-{key[:8]}.html", title, facts, dialect, found)


def _is_about(note: str, dialect: EngineName) -> bool:
    """True unless a note names other engines alone."""
    words = set(re.findall(r"\w+", note))
    named = {name for name, title in TITLES.items() if title in words}
    return not named or dialect in named


def _key(entry: BoardEntry, dialect: EngineName) -> str:
    one = entry.bundle.evaluated
    gold = one.gold and one.gold.sha256
    same = one.set_name, one.set_files, one.databases, gold, one.reference, one.profile, one.limits
    told = [
        each for each in (None if one.extract == Extract.NONE else one.extract, one.now, one.facts) if each
    ]
    return content_digest([dialect, *same, *told])


def _manifest(entry: BoardEntry) -> dict[str, object]:
    """Return the entries of a manifest that title and note on databases are made of."""
    one = entry.bundle.evaluated
    return {"set": one.set_name, "title": one.title, "provenance": provenances(one.set_name, one.databases)}


def _sections(page: _Page) -> list[PageSection]:
    """Return a table with a chart for each metric that is published elsewhere, and each verdict."""
    sections = []
    for name, metric in METRICS.items():
        rows = [row for row in page.latest if row.total(name) is not None]
        if (metric.published_as is None and metric.basis is not Basis.VERDICT) or not rows:
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
    if not METRICS[metric].is_timed:
        groups: Sequence[int | None] = list(_groups(metric, [row.score for row in rows]))
        note = (
            "Predictors of a group cannot be told apart from its first one: p \N{GREATER-THAN OR EQUAL TO}"
            f" {SIGNIFICANT} in a paired test on the same questions, without correction for several tests."
        )
    else:
        groups = [None] * len(rows)
        note = "Times are the submitters' own, from their machines: neither verified nor compared."
    lines = []
    for group, one in zip(groups, rows, strict=True):
        score = one.score
        cells = [Cell(group), *(Cell(score.metrics[metric].get(level)) for level in levels[:-1])]
        cells.append(Cell(one.total(metric), score.intervals.get(metric), score.questions))
        lines.append(row((score.predictor,), cells, predictor=score.predictor, dialect=score.dialect))
    group_column = TableColumn("group", metric, "group", kind=CellKind.COUNT)
    columns = [group_column, *by_level, replace(total, has_interval=True)]
    return table(f"{title} (%)", ("predictor",), columns, lines, note)


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
            _Text(spelled(row.total(page.metric), CellKind.PERCENT)),
            _Text(spelled_range(row.score.intervals.get(page.metric))),
            _Text(row.entry.name, _bundle_of(row.entry)),
            _Text(row.entry.receipt.verified[:10], _receipt_of(row.entry)),
            _Text(printable(row.entry.receipt.engines.get(page.dialect, "").split(" ", 1)[0])),
            _Text("open", _report_of(row.entry)),
        )
        for row in sorted(page.rows, key=lambda row: row.score.predictor)
    ]
    heads = (
        "predictor",
        "run, as stated",
        METRICS[page.metric].title,
        "95 %",
        "bundle",
        "verified",
        "with",
        "report",
    )
    notes = (
        "The newest run of each predictor is in the tables; `lab verify` executes a bundle again.",
        "The dates of runs are the submitters' own: nothing proves them.",
    )
    return _List("History", heads, rows, notes)


def _boards(pages: Sequence[_Page]) -> _List:
    rows = []
    for page in pages:
        best = max(page.latest, key=lambda row: row.total(page.metric) or 0.0)
        figure = spelled(best.total(page.metric), CellKind.PERCENT)
        if page.metric != OUTCOME_METRIC:
            figure = f"{figure} ({METRICS[page.metric].title})"
        texts = (str(len(page.latest)), figure, printable(best.score.predictor))
        rows.append((_Text(printable(page.title), page.file), *map(_Text, texts)))
    heads = ("set, engine and golds", "predictors", "best EX (%)", "of")
    return _List("Boards", heads, rows, () if rows else ("No bundle is confirmed.",))


def _public_rows(pages: Sequence[_Page]) -> Iterator[_List]:
    """Yield the rows that the public board of Mini-Dev takes, for each revision of the set."""
    revisions = [name for name, one in sets_by_name().items() if PUBLISHED_SET in (name, one.databases_of)]
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
            notes.append(
                "EX in percent. Affiliation, code and size are yours to add; the dates are as stated."
            )
        yield _List(f"Rows for the public Mini-Dev board ({revision})", heads, rows, notes)


def _left_out(lines: Sequence[str]) -> list[_List]:
    return [_List("Left out", notes=[*map(printable, lines)])] if lines else []

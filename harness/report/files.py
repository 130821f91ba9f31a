"""Write the reports of a run from its folder, at the end of the run and whenever requested.

The same folder gives the same bytes anywhere: no report has a path or its own creation time.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from dialects.errors import BadInput
from harness.lab import reports_of_labs
from harness.report.console import console_text
from harness.report.documents import tables
from harness.report.table_model import Document
from harness.report.texts import csv_text, json_text, latex, markdown
from harness.runs.plans import read_plans
from harness.runs.reader import Run, read_previews, read_questions, read_run
from harness.runs.summary import By
from loaders.base.files import replace

HTML = "report.html"


class ReportFormat(StrEnum):
    """The format of a report."""

    CONSOLE = "console"
    MARKDOWN = "markdown"
    CSV = "csv"
    LATEX = "latex"
    JSON = "json"
    HTML = "html"


class ReportTable(StrEnum):
    """The tables of a report; `sets` are those of several runs."""

    ALL = "all"
    PAPER = "paper"
    SETS = "sets"


TEXTS: Mapping[ReportFormat, Callable[[Document, str], str]] = {
    ReportFormat.CONSOLE: lambda document, _title: console_text(document.grids),
    ReportFormat.MARKDOWN: markdown,
    ReportFormat.CSV: lambda document, _title: csv_text(document),
    ReportFormat.LATEX: latex,
    ReportFormat.JSON: lambda document, _title: json_text(document),
}
"""The formats that are one text, and their writers, by tables and title."""

SUFFIXES = {
    ReportFormat.CONSOLE: "txt",
    ReportFormat.MARKDOWN: "md",
    ReportFormat.CSV: "csv",
    ReportFormat.LATEX: "tex",
    ReportFormat.JSON: "json",
}


def title_of(document: Document) -> str:
    """Return the heading of the tables of a run."""
    return f"Run {document.run_id}"


def write_reports(folder: Path) -> list[Path]:
    """Write every report of a finished run to its folder, replacing earlier ones.

    Returns:
        The files: `tables.md`, `tables.csv`, `tables.tex`, `tables.json`, `report.html`; those
        that labs have written there.

    Raises:
        BadInput: it is not the folder of a finished run, or cannot be written.
    """
    run = read_run(folder)
    document = tables(run)
    written = write_document(folder, "tables", document, title_of(document), is_paper=True)
    written.append(write_page(run, folder / HTML))
    written += reports_of_labs(run)
    return written


def reports_fault(folder: Path) -> str | None:
    """Write every report at the end of a run; return a line about a failure to write, or None."""
    try:
        write_reports(folder)
    except BadInput as error:
        return f"{error}; the results are complete"
    return None


def write_document(  # noqa: PLR0913 - what to write, and in which formats
    folder: Path,
    stem: str,
    document: Document,
    title: str,
    *,
    as_json: str | None = None,
    is_paper: bool = False,
) -> list[Path]:
    """Write tables to a folder as `<stem>.md`, `<stem>.csv` and `<stem>.json`.

    Args:
        folder: where to.
        stem: of the files' names.
        document: the tables.
        title: heads them.
        as_json: what the last of the files holds, if not the tables alone.
        is_paper: whether there is a `<stem>.tex`, too.

    Raises:
        BadInput: one cannot be written.
    """
    forms = [ReportFormat.MARKDOWN, ReportFormat.CSV, *([ReportFormat.LATEX] if is_paper else [])]
    made = {each: TEXTS[each](document, title) for each in forms}
    made[ReportFormat.JSON] = as_json or json_text(document)
    return [write(folder / f"{stem}.{SUFFIXES[each]}", text) for each, text in made.items()]


def file_name(kind: ReportFormat, by: Sequence[By] = (), table: ReportTable = ReportTable.ALL) -> str:
    """Return the name of a file of tables."""
    stem = "-by-".join(["tables", *by]) if table is ReportTable.ALL else table
    return f"{stem}.{SUFFIXES[kind]}"


def write(path: Path, text: str) -> Path:
    """Write a report, whole or not at all.

    Raises:
        BadInput: it cannot be written.
    """
    try:
        replace(path, text)
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be written ({error.strerror}); choose another place with --out"
        ) from error
    return path


def give(text: str, path: Path | None, say: Callable[[str], None]) -> None:
    """Print a text, or write it to a file.

    Raises:
        BadInput: it cannot be written.
    """
    if path is None:
        print(text, end="")  # noqa: T201 - the answer itself
    else:
        say(f"written: {write(path, text)}")


def write_page(run: Run, path: Path) -> Path:
    """Write the HTML report.

    Raises:
        BadInput: questions or previews cannot be read, or the file cannot be written.
    """
    from harness.report.html import write_html  # noqa: PLC0415 - few ask for it, and it has much to import

    try:
        plans = read_plans(run.folder)
        write_html(run, read_questions(run.folder), read_previews(run.folder), path, plans)
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be written ({error.strerror}); choose another place with --out"
        ) from error
    return path

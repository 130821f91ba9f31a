"""Commands about runs: list them, report on one, compare two, and show the result cache."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import AsJson, give_json, say
from harness.report.compare import CompareRequest, parse_thresholds
from harness.report.compare import compare as compare_runs
from harness.report.console import print_grids
from harness.report.documents import ErrorGroups, published_beside, tables
from harness.report.files import (
    HTML,
    TEXTS,
    ReportFormat,
    ReportTable,
    file_name,
    give,
    title_of,
    write_page,
    write_reports,
)
from harness.report.gold_ranks import gold_ranks
from harness.report.paper import PaperRequest, paper
from harness.report.run_list import cache_lines, cleared_lines, print_runs, runs_in
from harness.report.sets_table import sets_table
from harness.report.table_model import Document
from harness.runs.reader import Run, read_run
from harness.runs.summary import By
from loaders.base.store import Store, allowed_bytes, default_path

_OF_PAPER = "For --table paper and sets: {}, separated by commas. Default: all."
_OPERAND = "Run folder, or FOLDER:DIALECT, FOLDER:PREDICTOR, FOLDER:DIALECT/PREDICTOR for a part of it."


@app.command()
def runs(
    *,
    out: Annotated[Path, typer.Option(help="Folder that holds the run folders.")] = Path("results"),
    as_json: AsJson = False,
) -> None:
    """List runs, newest first, with their best EX."""
    found = runs_in(out)
    if as_json:
        give_json([asdict(each) for each in found])
    elif found:
        print_runs(found)
    else:
        say(f"{out}: has no runs")


@app.command()
def report(  # noqa: PLR0913 - one parameter an option
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder: results/<run id>, results/latest.")],
    more: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="MORE", help="Runs of other sets, for one table of all; RUN's set is the base."
        ),
    ] = None,
    *,
    formats: Annotated[
        list[ReportFormat] | None,
        typer.Option("--format", help="Format; repeatable. Default: print the tables and rewrite all files."),
    ] = None,
    by: Annotated[
        list[By] | None, typer.Option("--by", help="Tables of each metric by these groups; repeatable.")
    ] = None,
    table: Annotated[
        ReportTable | None,
        typer.Option(
            help="All tables, or one for a paper: predictors, metrics, engines. Default: all; for several"
            " runs sets."
        ),
    ] = None,
    metrics: Annotated[str | None, typer.Option(metavar="NAMES", help=_OF_PAPER.format("metrics"))] = None,
    engines: Annotated[str | None, typer.Option(metavar="NAMES", help=_OF_PAPER.format("engines"))] = None,
    predictors: Annotated[
        list[str] | None,
        typer.Option("--predictors", metavar="NAMES", help=f"{_OF_PAPER.format('predictors')} Repeatable."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="For --table paper: levels, total, interval, n, tokens, seconds, cost; for sets: the first"
            " four. Default: total; for sets levels and total.",
        ),
    ] = None,
    published: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="For --table paper: published scores. Default: those of `reproduce`."
        ),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--out", help="File, or folder, to write to. Default: standard output.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print or write the tables of a run, or one table of runs of several sets."""
    if as_json and (formats or to is not None):
        raise BadInput("--json: prints --format json; leave out --format and --out, or --json")
    formats = [ReportFormat.JSON] if as_json else formats
    groupings = by or []
    chosen = {
        "--metrics": metrics, "--engines": engines, "--predictors": predictors, "--columns": columns,
        "--published": published,
    }  # fmt: skip
    table = table or (ReportTable.SETS if more else ReportTable.ALL)
    _check_table(table, groupings, [option for option, value in chosen.items() if value is not None])
    if table is not ReportTable.ALL:
        asked = PaperRequest(_names(metrics), _names(engines), _names(*(predictors or ())), _names(columns))
        _report_paper(_for_paper(table, [run, *(more or ())], asked, published), formats or [], to, table)
        return
    if more:
        raise BadInput("--table all: shows one run; name one, or leave --table out")
    if not formats and not groupings and to is None:
        for written in write_reports(run):
            say(f"written: {written}")
    found = read_run(run)
    wanted = list(dict.fromkeys(formats or _default(groupings, to)))
    if ReportFormat.HTML in wanted and groupings:
        raise BadInput("--by: groups tables, and report.html has none to group; leave out one of the two")
    if to is not None and len(wanted) > 1 and not to.is_dir():
        raise BadInput(
            f"--out {to}: is not a folder, and there are {len(wanted)} files to write; name a folder"
        )
    document = tables(found, groupings, _error_groups(found) if By.ERROR_GROUP in groupings else None)
    for each in wanted:
        if each is ReportFormat.HTML:
            say(f"written: {write_page(found, _place(to, HTML) or run / HTML)}")
        else:
            _give(document, [each], to, by=groupings)


def _error_groups(run: Run) -> ErrorGroups:
    from harness.analyses.error_groups import error_groups  # noqa: PLC0415 - few ask for it, and it has sqlglot

    return error_groups(run)


def _check_table(table: ReportTable, groupings: Sequence[By], options: Sequence[str]) -> None:
    """Check that the options fit the selected tables.

    Raises:
        BadInput: one is not.
    """
    if table is not ReportTable.ALL and groupings:
        raise BadInput(f"--by: does not group --table {table}; leave out one of the two")
    if table is ReportTable.ALL and options:
        raise BadInput(f"{options[0]}: needs --table paper; add it, or leave this out")
    if table is ReportTable.SETS and "--published" in options:
        raise BadInput("--published: needs --table paper and one run; leave it out")


def _for_paper(
    table: ReportTable, runs: Sequence[Path], asked: PaperRequest, published: Path | None
) -> Document:
    """Return the table of one run, or that of several sets.

    Raises:
        BadInput: there are too many or too few runs, or something requested does not exist.
    """
    found = [read_run(run) for run in runs]
    if table is ReportTable.SETS:
        return sets_table(found, asked)
    if len(found) > 1:
        raise BadInput("--table paper: shows one run; name one, or leave --table out")
    columns = asked.columns or PaperRequest.columns
    return paper(found[0], replace(asked, columns=columns), published_beside(found[0], published))


def _report_paper(
    document: Document, formats: Sequence[ReportFormat], to: Path | None, table: ReportTable
) -> None:
    wanted = list(dict.fromkeys(formats)) or [ReportFormat.CONSOLE if to is None else ReportFormat.LATEX]
    if ReportFormat.HTML in wanted:
        raise BadInput(f"--table {table}: has no HTML format; leave out --format html")
    if to is not None and len(wanted) > 1 and not to.is_dir():
        raise BadInput(
            f"--out {to}: is not a folder, and there are {len(wanted)} files to write; name a folder"
        )
    _give(document, wanted, to, table)


def _names(*texts: str | None) -> list[str]:
    """Return the names of lists that commas separate."""
    return [name.strip() for text in texts if text for name in text.split(",") if name.strip()]


def _give(
    document: Document,
    formats: Sequence[ReportFormat],
    to: Path | None,
    table: ReportTable = ReportTable.ALL,
    by: Sequence[By] = (),
) -> None:
    """Print a document or write it, in every format."""
    for each in formats:
        path = _place(to, file_name(each, by, table))
        if path is None and each is ReportFormat.CONSOLE:
            print_grids(document.grids)
        else:
            give(TEXTS[each](document, title_of(document)), path, say)


def _place(to: Path | None, name: str) -> Path | None:
    """Return the path of a named file: in the folder `to`, or `to` itself; None for standard output."""
    return to / name if to is not None and to.is_dir() else to


def _default(groupings: Sequence[By], to: Path | None) -> Sequence[ReportFormat]:
    """Return the default output: the tables on a terminal, or every file in a folder."""
    if to is None:
        return [ReportFormat.CONSOLE]
    return [
        each
        for each in ReportFormat
        if each is not ReportFormat.CONSOLE and not (groupings and each is ReportFormat.HTML)
    ]


@app.command()
def compare(  # noqa: PLR0913 - one parameter an option
    a: Annotated[str, typer.Argument(metavar="A", help=_OPERAND)],
    b: Annotated[str, typer.Argument(metavar="B", help="The other side, in the same form.")],
    more: Annotated[
        list[str] | None, typer.Argument(metavar="MORE", help="Others to compare with A, too.")
    ] = None,
    *,
    metrics: Annotated[
        str | None, typer.Option(help="Metrics, separated by commas. Default: all that both have.")
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=PERCENT", help="Exit with 1 if B's total is lower; repeatable."),
    ] = None,
    no_regression: Annotated[
        bool, typer.Option("--no-regression", help="Exit with 1 if a total of B is lower than A's.")
    ] = False,
    significant: Annotated[
        bool, typer.Option("--significant", help="With --no-regression: only if p is below 0.05.")
    ] = False,
    flips: Annotated[
        int | None,
        typer.Option(min=0, help="Number of flipped questions to list per direction. Default: all."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Page to write, with both sides of every flipped question.")
    ] = None,
    by: Annotated[
        By | None,
        typer.Option(help="Compare groups, too: difficulty, database, construct or type."),
    ] = None,
    golds: Annotated[
        bool,
        typer.Option(
            "--golds", help="Compare runs under several golds: totals, ranks, and the questions that moved."
        ),
    ] = False,
    form: Annotated[
        ReportFormat | None,
        typer.Option("--format", help="With --by or --golds: console, markdown, csv, latex or json."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs, predictors or engines, question by question; exits 1 on a regression."""
    request = CompareRequest(
        a=a,
        b=b,
        metrics=metrics.split(",") if metrics is not None else (),
        fail_under=parse_thresholds(fail_under or ()),
        no_regression=no_regression,
        significant=significant,
        flips=flips,
        html=html,
        more=more or (),
        by=by,
    )
    if golds:
        if request != CompareRequest(a=a, b=b, more=more or ()):
            raise BadInput("--golds: combines with --format and --json only; leave the other options out")
        _compare_golds([a, b, *(more or ())], ReportFormat.JSON if as_json else form or ReportFormat.CONSOLE)
        return
    if form is not None and by is None:
        raise BadInput(f"--format {form}: needs --by or --golds; add one, or use --json or --html")
    _check_text(form)
    show = None if form in (None, ReportFormat.CONSOLE) else partial(_show, form)
    as_plain = give_json if as_json or form is ReportFormat.JSON else None
    raise typer.Exit(compare_runs(request, say, as_plain, show))


def _check_text(form: ReportFormat | None) -> None:
    """Check that a format is that of a text.

    Raises:
        BadInput: it is not.
    """
    if form is not None and form not in TEXTS:
        raise BadInput(f"--format {form}: choose from {', '.join(TEXTS)}")


def _show(form: ReportFormat, document: Document) -> None:
    if form is ReportFormat.CONSOLE:
        print_grids(document.grids)
    else:
        give(TEXTS[form](document, title_of(document)), None, say)


def _compare_golds(folders: Sequence[str], form: ReportFormat) -> None:
    _check_text(form)
    _show(form, gold_ranks([read_run(Path(folder)) for folder in folders]))


@app.command(hidden=True)
def cache(
    *,
    clear: Annotated[bool, typer.Option("--clear", help="Remove every cached result.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show or clear the result cache."""
    path = default_path()
    with Store(path, allowed_bytes(), say) as store:
        if as_json:
            dropped = {"dropped": store.clear()} if clear else {}
            give_json({"file": str(path), **dropped, **asdict(store.figures())})
            return
        for line in cleared_lines(store.clear(), path) if clear else cache_lines(store.figures(), path):
            say(line)

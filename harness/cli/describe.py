"""The command that describes question sets, and the columns of their databases."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.analyses.describe import census_json, census_lines, described
from harness.analyses.describe import describe as describe_set
from harness.cli.commands import app
from harness.cli.console import AsJson, messages, say
from harness.data.sets.loader import load_set
from harness.report.console import print_grids
from harness.report.files import TEXTS, ReportFormat, give
from loaders.base.files import one_line, printable_json
from loaders.inventory import Inventory, inventory


@app.command()
def describe(  # noqa: PLR0913 - one parameter an option
    file: Annotated[
        Path | None, typer.Argument(help="With --columns: a SQLite file. Default: the databases of --set.")
    ] = None,
    *,
    set_name: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SET", help="Question set; repeatable. Default: sample."),
    ] = None,
    dialect: Annotated[
        Dialect | None,
        typer.Option(help="Dialect whose golds are counted. Default: sqlite, if the set has it."),
    ] = None,
    form: Annotated[
        ReportFormat, typer.Option("--format", help="Format of the output.")
    ] = ReportFormat.CONSOLE,
    to: Annotated[
        Path | None, typer.Option("--out", help="File to write to. Default: standard output; html needs one.")
    ] = None,
    columns: Annotated[
        bool,
        typer.Option(
            "--columns", help="Show what each column stores, its types on servers, and what stops a load."
        ),
    ] = False,
    database: Annotated[str | None, typer.Option("--db", help="With --columns: one database.")] = None,
    as_json: AsJson = False,
) -> None:
    """Describe question sets side by side, or with --columns what their databases store."""
    if columns:
        if dialect is not None or to is not None or form is not ReportFormat.CONSOLE:
            raise BadInput(
                "--columns: combines with --set, --db and --json only; leave the other options out"
            )
        _describe_columns([file] if file is not None else _files(set_name, database), as_json=as_json)
        return
    if file is not None or database is not None:
        raise BadInput(f"{file or '--db'}: needs --columns; add it, or leave this out")
    _describe_sets(set_name or ["sample"], dialect, _form(form, to, as_json=as_json), to)


def _describe_sets(
    names: Sequence[str], dialect: Dialect | None, form: ReportFormat, to: Path | None
) -> None:
    sets = []
    for name in dict.fromkeys(names):
        questions = load_set(name, questions_alone=True)
        for note in questions.notes:
            say(note)
        with messages.status(f"counting {questions.name}"):
            sets.append(describe_set(questions, dialect))
    document = described(sets)
    title = f"Question sets: {document.run_id}"
    if form is ReportFormat.CONSOLE:
        for fact in document.facts:
            say(fact)
        print_grids(document.grids)
        return
    if form is ReportFormat.HTML and to is not None:
        from harness.report.html.page import write_tables_html  # noqa: PLC0415 - as of reports

        write_tables_html(document, title, to)
        say(f"written: {to}")
        return
    if form is ReportFormat.JSON:
        text = printable_json({"schema_version": 1, "sets": [asdict(one) for one in sets]}) + "\n"
    else:
        text = TEXTS[form](document, title)
    give(text, to, say)


def _describe_columns(paths: Sequence[Path], *, as_json: bool) -> None:
    found = _read(paths)
    if as_json:
        typer.echo(census_json(list(found)))
        return
    for one in found:
        for line in census_lines(one):
            typer.echo(one_line(line))


def _read(paths: Sequence[Path]) -> Iterator[Inventory]:
    """Yield the inventories of files; log each of several files that cannot be read.

    Raises:
        BadInput: none can be read.
    """
    faults: list[BadInput] = []
    for path in paths:
        try:
            yield inventory(path)
        except BadInput as error:
            faults.append(error)
            if len(faults) == len(paths):
                raise
            say(one_line(f"skipped: {error}"))


def _files(set_names: Sequence[str] | None, db_id: str | None) -> list[Path]:
    """Return the SQLite files of question sets, or that of one database.

    Raises:
        BadInput: no set has the database.
    """
    sets = [load_set(name) for name in dict.fromkeys(set_names or ["sample"])]
    there = {each: questions for questions in sets for each in questions.db_ids}
    if db_id is not None and db_id not in there:
        names = ", ".join(questions.name for questions in sets)
        raise BadInput(f"--db {db_id}: {names} has no such database; it has {', '.join(there)}")
    return [
        questions.database(each).sqlite_path
        for questions in sets
        for each in questions.db_ids
        if db_id in {None, each}
    ]


def _form(form: ReportFormat, to: Path | None, *, as_json: bool) -> ReportFormat:
    """Return the format to write.

    Raises:
        BadInput: the options do not go together.
    """
    if as_json:
        if to is not None or form is not ReportFormat.CONSOLE:
            raise BadInput("--json: prints --format json; leave out --format and --out, or --json")
        return ReportFormat.JSON
    if to is None and form is ReportFormat.HTML:
        raise BadInput("--format html: writes a file; name it with --out")
    if to is not None and form is ReportFormat.CONSOLE:
        raise BadInput(f"--out {to}: needs a --format other than console; add --format markdown")
    return form

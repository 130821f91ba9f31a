"""The command that says what question sets consist of."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.analyses.describe import describe as describe_set
from harness.analyses.describe import described
from harness.cli.commands import app
from harness.cli.console import AsJson, messages, say
from harness.data.sets.loading import load_set
from harness.report.console import print_grids
from harness.report.table_model import printable_json
from harness.report.texts import latex, markdown
from harness.report.writing import write


class DescriptionFormat(StrEnum):
    """What a description can be."""

    CONSOLE = "console"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"
    HTML = "html"


@app.command()
def describe(
    *,
    set_name: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SET", help="Question set, as of eval; repeatable. Default: sample."),
    ] = None,
    dialect: Annotated[
        Dialect | None, typer.Option(help="Whose golds are counted. Default: sqlite, if the set has it.")
    ] = None,
    form: Annotated[
        DescriptionFormat, typer.Option("--format", help="What is written.")
    ] = DescriptionFormat.CONSOLE,
    to: Annotated[
        Path | None, typer.Option("--out", help="File to write to. Default: standard output; html needs one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what question sets consist of, one beside the other: sizes, values, SQL, keywords."""
    form = _form(form, to, as_json=as_json)
    sets = []
    for name in dict.fromkeys(set_name or ["sample"]):
        questions = load_set(name, questions_alone=True)
        for note in questions.notes:
            say(note)
        with messages.status(f"counting {questions.name}"):
            sets.append(describe_set(questions, dialect))
    document = described(sets)
    title = f"Question sets: {document.run_id}"
    if form is DescriptionFormat.CONSOLE:
        for fact in document.facts:
            say(fact)
        print_grids(document.grids)
        return
    if form is DescriptionFormat.HTML and to is not None:
        from harness.report.html.page import write_tables_html  # noqa: PLC0415 - as of reports

        write_tables_html(document, title, to)
        say(f"written: {to}")
        return
    if form is DescriptionFormat.JSON:
        text = printable_json({"schema_version": 1, "sets": [asdict(one) for one in sets]}) + "\n"
    else:
        text = (latex if form is DescriptionFormat.LATEX else markdown)(document, title)
    if to is None:
        typer.echo(text, nl=False)
    else:
        say(f"written: {write(to, text)}")


def _form(form: DescriptionFormat, to: Path | None, *, as_json: bool) -> DescriptionFormat:
    """What is written.

    Raises:
        BadInput: the options do not go together.
    """
    if as_json:
        if to is not None or form is not DescriptionFormat.CONSOLE:
            raise BadInput("--json: prints --format json; leave out --format and --out, or --json")
        return DescriptionFormat.JSON
    if to is None and form is DescriptionFormat.HTML:
        raise BadInput("--format html: is a page of its own; name its file by --out")
    if to is not None and form is DescriptionFormat.CONSOLE:
        raise BadInput(f"--out {to}: goes with another --format than console; add --format markdown")
    return form

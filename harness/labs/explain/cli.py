"""The command that shows execution plans."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import AsJson, Dialects, ExtractName, Keys, SetName, messages, option, say
from harness.data.answer_records import parse_keys
from harness.labs.explain.explainer import Explainer, explainer_of_set, explainer_of_texts, keep_plans
from harness.labs.explain.tables import plans_json, plans_markdown, print_plans
from harness.report.console import loading_bar
from harness.report.files import HTML, give, write_page
from harness.runs.plans import PLANS
from harness.runs.reader import read_run, select
from harness.session.request import AUTO, Request, check_range, parse_dialects
from harness.session.run_texts import pairs_of_run
from loaders.base.files import printable_json, read_text


class PlanFormat(StrEnum):
    """The formats of plans."""

    CONSOLE = "console"
    MARKDOWN = "markdown"
    JSON = "json"


@app.command()
def explain(  # noqa: PLR0913 - one parameter an option
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="Run folder, or FOLDER:DIALECT, FOLDER:PREDICTOR, FOLDER:DIALECT/PREDICTOR for a part of it,"
            " instead of --set and --predictions.",
        ),
    ] = None,
    *,
    set_name: SetName = Request.set_name,
    predictions: Annotated[list[Path] | None, option("predictions")] = None,
    predictor: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this predictor's answers. Default: all.")
    ] = None,
    extract: ExtractName = Request.extract,
    keys: Annotated[str | None, option("answer_keys")] = None,
    question: Keys = None,
    dialect: Dialects = AUTO,
    sql: Annotated[
        str | None, typer.Option(metavar="TEXT|FILE", help="Query to explain, or a file with one.")
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(metavar="TEXT|FILE", help="With --sql: the gold to compare it with."),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAME", help="With --sql: a SQLite file, or a database of --set."),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep",
            help="Of RUN: keep the plans in its folder, for its report; without --question, those of all"
            " predictions that match and are not gold's text.",
        ),
    ] = False,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time limit in seconds for one SQL text.")
    ] = Request.seconds,
    form: Annotated[PlanFormat, typer.Option("--format", help="Format of the output.")] = PlanFormat.CONSOLE,
    to: Annotated[
        Path | None, typer.Option("--out", help="File to write to. Default: standard output.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the execution plans of gold and prediction side by side."""
    check_range("seconds", timeout)
    form = PlanFormat.JSON if as_json else form
    if to is not None and form is PlanFormat.CONSOLE:
        raise BadInput(f"--out {to}: needs a --format other than console; add --format markdown")
    _check_kind(run, predictions, sql, gold, database, question, keep=keep)
    request = Request(
        set_name=set_name, predictions=predictions or (), dialects=parse_dialects(dialect),
        predictor=predictor, extract=extract,
        answer_keys=() if keys is None else parse_keys(keys), keys=question or (), seconds=timeout,
    )  # fmt: skip
    if run is not None and keep:
        keep_plans_of(run, request)
        return
    with loading_bar(messages) as progress:
        if sql is not None and database is not None:
            texts = _text("--sql", sql), None if gold is None else _text("--gold", gold)
            asked = explainer_of_texts(*texts, database, request, say=say, progress=progress)
        elif run is not None:
            asked = Explainer(*pairs_of_run(run, request, say=say, progress=progress))
        else:
            asked = explainer_of_set(request, say=say, progress=progress)
    with messages.status("explaining"):
        pairs = list(asked.explained())
    if form is PlanFormat.CONSOLE:
        print_plans(pairs)
    elif form is PlanFormat.MARKDOWN:
        give(plans_markdown(pairs), to, say)
    else:
        give(f"{printable_json(plans_json(pairs))}\n", to, say)


def keep_plans_of(run: str, request: Request) -> None:
    """Keep plans in the folder of a run, and make its page again, if it has one.

    Raises:
        BadInput: there is no such run, or it cannot be written.
        EngineUnavailable: no engine of the run is up.
    """
    with loading_bar(messages) as progress:
        asked = Explainer(*pairs_of_run(run, request, say=say, progress=progress))
    folder = select(run).run.folder
    with messages.status(f"explaining {len(asked.texts):,} texts"):
        added = keep_plans(folder, asked.explained_texts)
    say(f"{folder / PLANS}: {added:,} plans of {len(asked.texts):,} texts added")
    if (folder / HTML).exists():
        say(f"written: {write_page(read_run(folder), folder / HTML)}")


def _check_kind(  # noqa: PLR0913, PLR0917 - all that can name texts
    run: str | None,
    predictions: list[Path] | None,
    sql: str | None,
    gold: str | None,
    database: str | None,
    question: list[str] | None,
    *,
    keep: bool,
) -> None:
    """Make sure that texts are named in one way.

    Raises:
        BadInput: they are not.
    """
    if sql is None and (gold is not None or database is not None):
        named = "--gold" if gold is not None else "--database"
        raise BadInput(f"{named}: needs a query of your own; add --sql")
    if sql is not None and database is None:
        raise BadInput("--sql: needs a database; name one with --database")
    if sql is not None and (run is not None or predictions or question):
        raise BadInput("--sql: explains a query of your own; leave out RUN, --predictions and --question")
    if run is not None and predictions:
        raise BadInput("--predictions: the run has its own; leave out --predictions or RUN")
    if keep and run is None:
        raise BadInput("--keep: needs a run; name its folder")
    if sql is None and not question and not keep:
        raise BadInput("explain: name a question with --question, or a text with --sql and --database")


def _text(option_name: str, value: str) -> str:
    """Return a text, or the content of the file that it names: no file name has a blank."""
    is_file = value.strip() == value and not any(each.isspace() for each in value) and value.endswith(".sql")
    if not is_file:
        return value
    if not Path(value).is_file():
        raise BadInput(f"{option_name} {value}: no such file; name one, or give the query itself")
    return read_text(Path(value)).text

"""The commands that search small databases which refute right answers, and that execute one again."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import AsJson, Threads, asks, give_json, messages, say
from harness.data.outcomes import MOST_ROWS, preview
from harness.data.witnesses import Witness, load
from harness.engines import kind_of
from harness.engines.execution import Ending, Execution, Limits
from harness.labs.chance.command import FOLDERS, PAGE, TABLES, ChanceRequest, search_run
from harness.report.console import print_grids
from harness.report.files import TEXTS, ReportFormat, give
from harness.scoring.chance.search import SECONDS
from harness.scoring.chance.witness import WitnessReplay, place_of
from harness.scoring.chance.witness import replay as execute_again
from harness.session.plan import find_servers
from harness.session.request import Request, check_range, within
from loaders.base.files import one_line
from loaders.base.processes import processors
from loaders.base.records import read_record, to_object, to_plain


@app.command("chance")
@asks("keys", "seconds")
def search_chance(  # noqa: PLR0913 - one parameter an option
    request: Request,
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="Run folder, or FOLDER:DIALECT, FOLDER:PREDICTOR, FOLDER:DIALECT/PREDICTOR for a part of it."
            " Default: with --resume, that of the folder.",
        ),
    ] = None,
    *,
    seconds: Annotated[
        float, typer.Option(metavar="SECONDS", help="Processor time to search for one answer.")
    ] = SECONDS,
    known: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER", help="Folder of an earlier search: its witnesses are tried first. Repeatable."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to create the folder in. Default: RUN.")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Continue the search in this folder, with its options."),
    ] = None,
    workers: Threads = None,
    form: Annotated[
        ReportFormat, typer.Option("--format", help="Format of what is printed.")
    ] = ReportFormat.CONSOLE,
    as_json: AsJson = False,
) -> None:
    """Search small databases that refute right answers of a run."""
    check_range("workers", workers, unit="threads")
    within("--seconds", seconds, 0.01, 3_600, "seconds")
    form = ReportFormat.JSON if as_json else form
    if form not in TEXTS:
        raise BadInput(f"--format {form}: choose from {', '.join(TEXTS)}")
    if run is None and resume is not None:
        FOLDERS.check(resume)
        run = str(read_record(resume / FOLDERS.manifest, to_object, "name the folder of another one")["part"])
    if run is None:
        raise BadInput("chance: name a run folder, such as results/latest")
    found = search_run(
        ChanceRequest(run, request, seconds, workers or processors(), known or (), out, resume), messages, say
    )
    if form is ReportFormat.CONSOLE:
        for fact in found.document.facts:
            say(fact)
        # Which witnesses there are is a list without figures, for the files.
        print_grids([grid for grid in found.document.grids if grid.columns])
    elif form is ReportFormat.JSON:
        typer.echo((found.folder / f"{TABLES}.json").read_text(encoding="utf-8"), nl=False)
    else:
        give(TEXTS[form](found.document, found.document.run_id), None, say)
    say(f"written to {found.folder}; {PAGE} shows the witnesses, and `lab replay` executes one")


@app.command()
@asks("seconds")
def replay(
    request: Request,
    witness: Annotated[Path, typer.Argument(metavar="WITNESS", help="File that `lab chance` has written.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Execute the texts of a witness again; exits 1 if it does not refute the answer."""
    found = load(witness)
    kind = kind_of(found.dialect)
    servers = find_servers([kind.name], required=True, say=say).get(kind.name, (None,))
    with place_of(kind.name, servers[0], Limits(seconds=request.seconds)) as place:
        again = execute_again(found, place)
    if as_json:
        give_json(
            {
                "schema_version": 1,
                "refuted": again.is_refuted,
                "difference": found.difference,
                "plausible": found.plausible,
                "previews": [to_plain(preview(gold.rows, again.prediction.rows)) for gold in again.golds],
                "errors": [one.error for one in (again.prediction, *again.golds)],
            }
        )
    else:
        for line in _lines(found, again):
            typer.echo(one_line(line))
        reason = f": {found.difference}{'' if found.plausible else ', not plausible'}"
        typer.echo(f"refuted{reason}" if again.is_refuted else "not refuted")
    raise typer.Exit(int(not again.is_refuted))


def _lines(witness: Witness, again: WitnessReplay) -> Iterator[str]:
    """Yield the rows of a witness's tables, then those of both texts."""
    for table in witness.tables:
        for row in table.rows:
            named = (f"{name} {value!r}" for name, value in zip(table.columns, row, strict=True))
            yield f"{table.name}: {', '.join(named)}"
    yield from _ran("prediction", witness.sql, again.prediction)
    for sql, gold in zip(witness.golds, again.golds, strict=True):
        yield from _ran("gold", sql, gold)


def _ran(name: str, sql: str, found: Execution) -> Iterator[str]:
    rows: Sequence[object] = found.rows
    yield f"{name}: {' '.join(sql.split())}"
    if found.ending is not Ending.ROWS:
        yield f"  {found.ending}: {found.error}"
        return
    yield f"  {len(rows)} row{'' if len(rows) == 1 else 's'}"
    yield from (f"  {row!r}" for row in rows[:MOST_ROWS])

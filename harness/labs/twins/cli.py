"""The command that makes up databases."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import messages, say
from harness.data.sets.loader import load_set
from harness.data.witnesses import WITNESSES, Witness, load
from harness.labs.twins.builder import TwinFailure, made_lines, make
from harness.labs.twins.sources import TwinSource, of_files, of_set
from harness.labs.twins.suite import remove_suite, write_suite
from harness.scoring.chance.shape import of_file
from harness.session.request import check_range


@app.command()
def twins(  # noqa: PLR0913 - one parameter an option
    *,
    to: Annotated[Path, typer.Option("--out", help="Folder to write <database>/<database>.sqlite to.")],
    set_name: Annotated[
        str | None, typer.Option("--set", help="Question set that has the golds and the databases.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(help="SQLite file, or JSON file with a published schema.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="With --schema, without --set: question file with golds.")
    ] = None,
    scale: Annotated[float, typer.Option(help="Factor of the real row counts.")] = 0.02,
    seed: Annotated[int, typer.Option(help="Seed of the generated rows.")] = 1,
    witnesses: Annotated[
        Path | None,
        typer.Option(help="Folder of `lab chance`: also write its witnesses, merged, next to the twins."),
    ] = None,
    db: Annotated[list[str] | None, typer.Option(help="Only this database (repeatable).")] = None,
    workers: Annotated[int | None, typer.Option(help="Number of processes. Default: one per core.")] = None,
) -> None:
    """Generate synthetic databases with the same schema and other rows."""
    check_range("workers", workers)
    if set_name is not None and questions is None:
        sources = of_set(load_set(set_name), schema, db or ())
    elif set_name is None and schema is not None and questions is not None:
        sources = of_files(schema, questions, db or ())
    else:
        raise BadInput("twins need golds: name --set, or --schema and --questions")
    found = [] if witnesses is None else _read(witnesses, sources)
    with messages.status("making twins") as status:
        made = make(
            sources,
            to,
            scale=scale,
            seed=seed,
            workers=workers,
            progress=lambda db_id, stage: status.update(f"making twins: {db_id}, {stage}"),
        )
    for line in made_lines(made):
        say(line)
    for source, one in zip(sources, made, strict=True):
        if isinstance(one, TwinFailure):
            continue
        if witnesses is None:
            remove_suite(to / source.db_id)
        else:
            mine = [each for each in found if each.db_id == source.db_id]
            files, merged = write_suite(of_file(source.path), mine, to / source.db_id)
            say(f"{source.db_id}: {merged} of {len(mine)} witnesses are merged; files: {files}")
    unmade = [one for one in made if isinstance(one, TwinFailure)]
    if unmade:
        raise typer.Exit(1 if len(unmade) < len(made) else BadInput.exit_code)


def _read(folder: Path, sources: Sequence[TwinSource]) -> list[Witness]:
    """Return the witnesses of SQLite that a search has written, for databases whose files are there."""
    if any(source.path.suffix.lower() == ".json" for source in sources):
        raise BadInput("--witnesses: a published schema is not enough; name a set with databases")
    found = [load(path) for path in sorted((folder / WITNESSES).glob("*.json"))]
    if of_sqlite := [one for one in found if one.dialect == Dialect.SQLITE]:
        return of_sqlite
    raise BadInput(f"{folder}: has no witness of SQLite; name the folder of a run or of `lab chance`")

"""The command that makes up databases."""

from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import messages, say
from harness.data.sets.loader import load_set
from harness.data.twin_sources import of_files, of_set
from harness.session.request import check_range
from loaders.twins.builder import TwinFailure, made_lines, make


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
    unmade = [one for one in made if isinstance(one, TwinFailure)]
    if unmade:
        raise typer.Exit(1 if len(unmade) < len(made) else BadInput.exit_code)

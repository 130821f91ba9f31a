"""The command that translates SQLite's SQL."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.translate import Untranslatable
from harness.cli.commands import app
from harness.cli.console import say, served_dialects
from harness.coverage.translating import translate_text


@app.command()
def translate(
    sql: Annotated[str, typer.Argument(help="A query as SQLite takes it; - reads it from standard input.")],
    *,
    database: Annotated[Path, typer.Option(help="The SQLite file that the query is for.")],
    dialect: Annotated[str, typer.Option(help="mysql or postgresql.", metavar="DIALECT")],
    as_json: Annotated[bool, typer.Option("--json", help="As a JSON object, a refusal, too.")] = False,
) -> None:
    """Translate a SQLite query to MySQL or PostgreSQL; 1 if it has no exact translation."""
    target = _target(dialect)
    text = _standard_input() if sql == "-" else sql
    try:
        translation = translate_text(text, database, target)
    except Untranslatable as refusal:
        if as_json:
            typer.echo(json.dumps({"dialect": target, "sql": None, "refusal": str(refusal)}))
        say(f"no translation: {refusal}")
        raise typer.Exit(1) from None
    for warning in translation.warnings:
        say(f"warning: {warning}")
    if as_json:
        found = {"sql": translation.sql, "warnings": translation.warnings, "rules": translation.rules}
        typer.echo(json.dumps({"dialect": target, **found}))
    else:
        typer.echo(translation.sql)


def _target(dialect: str) -> Dialect:
    targets = served_dialects(dialect)
    if len(targets) != 1:
        raise BadInput(f"--dialect {dialect}: one text is for one server; name mysql or postgresql")
    return targets[0]


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"standard input: is not UTF-8 ({error.reason} at byte {error.start})") from error

"""The command that translates SQLite's SQL: one text, or the golds of a question set."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.translate import Untranslatable
from harness.analyses.coverage.golds import (
    GoldTranslator,
    counted,
    refuse_other_sets,
    translate_answers,
    translate_text,
    write_golds,
)
from harness.cli.commands import app
from harness.cli.console import messages, one_of_each, option, say, served_dialects
from harness.data.answer_records import OPTION, parse_keys
from harness.data.gold_packs import with_golds
from harness.data.predictions import read_predictions
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set, with_readable_databases
from harness.engines import kind_of
from harness.engines.execution import Limits
from harness.report.console import loading_bar
from harness.session.plan import find_servers
from harness.session.request import check_range
from loaders.base.errors import command, to_start
from loaders.base.files import as_json, ascii_json, replace
from loaders.base.processes import processors


@app.command()
def translate(  # noqa: PLR0913 - one parameter an option
    sql: Annotated[str | None, typer.Argument(help="SQLite query; - reads it from standard input.")] = None,
    *,
    database: Annotated[Path | None, typer.Option(help="SQLite file that the query is for.")] = None,
    set_name: Annotated[
        str | None, typer.Option("--set", help="Translate the golds of this question set instead of a query.")
    ] = None,
    gold: Annotated[
        str | None, typer.Option(help="With --set: gold pack to translate.", metavar="PACK")
    ] = None,
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            help="With --set: SQLite prediction files to translate instead of golds.", metavar="PATH"
        ),
    ] = None,
    keys: Annotated[str | None, option("answer_keys")] = None,
    out: Annotated[
        Path | None, typer.Option(help="With --set: folder to write the translated set or answers to.")
    ] = None,
    dialect: Annotated[
        str,
        typer.Option(help="mysql, postgresql, duckdb or mariadb; with --set also all.", metavar="DIALECT"),
    ],
    timeout: Annotated[
        float, typer.Option(help="Time limit in seconds for one SQL text of a proof.")
    ] = Limits.seconds,
    workers: Annotated[
        int | None, typer.Option(help="Number of threads of a proof. Default: one per core.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the translation or refusal of a query as a JSON object.")
    ] = False,
) -> None:
    """Translate a SQLite query or the golds of a set; exits 1 if one is not exact or not proven."""
    check_range("seconds", timeout)
    check_range("workers", workers, unit="threads")
    targets = served_dialects(dialect)
    of_set = (set_name, out, gold, predictions)
    if sql is not None and database is not None and not any(of_set):
        raise typer.Exit(_text(sql, database, targets, dialect, as_json=as_json))
    if set_name is None or out is None or sql is not None or database is not None or as_json:
        raise BadInput("translate: give a query and --database, or --set and --out; leave out the rest")
    if not targets:
        raise BadInput(
            f"--dialect {dialect}: SQLite's golds are not translated; name mysql, postgresql or all"
        )
    if predictions:
        if gold is not None:
            raise BadInput("--gold: selects golds to translate; leave out --gold or --predictions")
        raise typer.Exit(_answers(set_name, predictions, out, targets, keys))
    if keys is not None:
        raise BadInput(f"{OPTION}: names keys of prediction files; add --predictions")
    questions = with_golds(load_set(set_name), gold)
    raise typer.Exit(_set(questions, out, targets, Limits(seconds=timeout), workers or processors()))


def _text(sql: str, database: Path, targets: Sequence[Dialect], dialect: str, *, as_json: bool) -> int:
    if len(targets) != 1:
        raise BadInput(
            f"--dialect {dialect}: a query has one target; name mysql, postgresql, duckdb or mariadb"
        )
    [target] = targets
    text = _standard_input() if sql == "-" else sql
    try:
        translation = translate_text(text, database, target)
    except Untranslatable as refusal:
        if as_json:
            typer.echo(ascii_json({"dialect": target, "sql": None, "refusal": str(refusal)}))
        say(f"no translation: {refusal}")
        return 1
    for warning in translation.warnings:
        say(f"warning: {warning}")
    if as_json:
        found = {
            "sql": translation.sql,
            "warnings": translation.warnings,
            "rules": translation.rules,
            "json_columns": translation.json_columns,
        }
        typer.echo(ascii_json({"dialect": target, **found}))
    else:
        typer.echo(translation.sql)
    return 0


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"standard input: is not UTF-8 ({error.reason} at byte {error.start})") from error


def _answers(
    set_name: str, paths: Sequence[Path], out: Path, targets: Sequence[Dialect], keys: str | None
) -> int:
    questions = load_set(set_name)
    with_readable_databases(questions, say)
    files = read_predictions(
        paths,
        questions,
        allow_missing=True,
        dialects=[Dialect.SQLITE],
        keys=() if keys is None else parse_keys(keys),
        say=say,
    )
    for file in files:
        for target in targets:
            with messages.status(f"translating {file.predictor} to {target}"):
                lines = list(translate_answers(file, questions, target))
            # A predictor's name may hold what ends a folder's.
            name = file.predictor.replace("/", "-")
            path = out / f"predict_{questions.name}_{name}-translated_{target}.jsonl"
            try:
                out.mkdir(parents=True, exist_ok=True)
                replace(path, (as_json(line) + "\n" for line in lines))
            except OSError as error:
                raise BadInput(
                    f"--out {out}: cannot be written ({error.strerror}); choose another"
                ) from error
            missing = sum(line["sql"] is None for line in lines)
            say(f"{path}: {len(lines)} answers, {missing} of them missing, with the reason")
    how = "--profile faithful --reference sqlite --allow-missing"
    held = command("eval", set=set_name, predictions=str(out), rest=how)
    say(f"`{held}` compares their rows with those of SQLite's golds")
    return 0


def _set(questions: QuestionSet, out: Path, targets: Sequence[Dialect], limits: Limits, workers: int) -> int:
    refuse_other_sets(questions, out)
    questions = with_readable_databases(questions, say)
    for note in (*questions.notes, *([] if questions.pack is None else [str(questions.pack)])):
        say(note)
    servers = find_servers(targets, required=False, say=lambda _: None)
    for target in targets:
        if target not in servers:
            advice = to_start(None if kind_of(target).by_default else target)
            say(f"{target}: no server is up, so no gold is run there; {advice}")
    with loading_bar(messages) as progress:
        translator = GoldTranslator(questions, targets, one_of_each(servers), limits, progress)
    with messages.status("translating"):
        golds = {target: list(translator.golds(target, workers)) for target in targets}
    notes = write_golds(questions, golds, out)
    faults = [one.certificate for some in golds.values() for one in some if one.certificate.is_fault]
    for line in (*map(str, faults), *notes, *(counted(some, target) for target, some in golds.items())):
        say(line)
    say(f"written to {out}; `{command('eval', set=str(out))}` scores with these golds")
    return 1 if faults else 0

"""The command that translates SQLite's SQL: one text, or the golds of a question set."""

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Dialect, ParamStyle
from dialects.errors import BadInput
from dialects.parameters import literal
from dialects.source import QUOTED
from dialects.translation import Translation, Untranslatable
from harness.analyses.coverage.golds import (
    GoldTranslator,
    TextTranslator,
    counted,
    refuse_other_sets,
    translate_answers,
    write_golds,
)
from harness.analyses.coverage.plain import Style
from harness.cli.commands import app
from harness.cli.console import TARGET_NAMES, messages, one_of_each, option, say, served_dialects
from harness.data.answer_records import OPTION, parse_keys
from harness.data.gold_packs import with_golds
from harness.data.predictions import read_predictions
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set, with_readable_databases
from harness.engines import kind_of
from harness.engines.base import statements
from harness.engines.execution import Limits
from harness.report.console import loading_bar
from harness.session.plan import find_servers
from harness.session.request import check_range
from loaders.base.errors import brief, command, to_start
from loaders.base.files import (
    as_json,
    ascii_json,
    json_type,
    one_line,
    parse_json,
    read_json,
    read_text,
    refuse,
    replace,
)
from loaders.base.processes import processors
from loaders.file_census import census


@app.command()
def translate(  # noqa: PLR0913 - one parameter an option
    sql: Annotated[
        str | None,
        typer.Argument(help="SQLite query, or a file of queries that ends in .sql; - reads standard input."),
    ] = None,
    *,
    database: Annotated[Path | None, typer.Option(help="SQLite file that the query is for.")] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            help="Sample value of a parameter, whose type it tells: name=value, or 1=value for ?.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    params: Annotated[
        Path | None, typer.Option(help="JSON file of sample values: an object by names, or an array for ?.")
    ] = None,
    paramstyle: Annotated[
        ParamStyle | None,
        typer.Option(help="How parameters are written. Default: as the target's common driver takes them."),
    ] = None,
    escape: Annotated[
        bool, typer.Option("--escape", help="The database is loaded with --escape, too.")
    ] = False,
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
        typer.Option(help=f"{TARGET_NAMES}; with --set also all.", metavar="DIALECT"),
    ],
    style: Annotated[
        Style, typer.Option(help="With --set: plain replaces exact forms where that is proven on a server.")
    ] = Style.EXACT,
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
    of_set = (set_name, out, gold, predictions, None if style is Style.EXACT else style)
    of_text = (sql, database, param, params, paramstyle, escape or None, as_json or None)
    if sql is not None and database is not None and not any(of_set):
        samples = {**_of_file(params), **dict(map(_sample, param or ()))}
        schema = census(database, escape=escape, lenient=True)
        translator = TextTranslator(database, schema, _one(targets, dialect), samples, paramstyle)
        if sql.lower().endswith(".sql") and len(sql.split()) == 1:
            raise typer.Exit(_file(Path(sql), translator, as_json=as_json))
        raise typer.Exit(_text(sql, translator, as_json=as_json))
    if set_name is None or out is None or any(one is not None for one in of_text):
        raise BadInput("translate: give a query and --database, or --set and --out; leave out the rest")
    if not targets:
        raise BadInput(
            f"--dialect {dialect}: SQLite's golds are not translated; name mysql, postgresql or all"
        )
    if predictions:
        if gold is not None:
            raise BadInput("--gold: selects golds to translate; leave out --gold or --predictions")
        if style is not Style.EXACT:
            raise BadInput(f"--style {style}: is for golds; leave out --style or --predictions")
        raise typer.Exit(_answers(set_name, predictions, out, targets, keys))
    if keys is not None:
        raise BadInput(f"{OPTION}: names keys of prediction files; add --predictions")
    questions = with_golds(load_set(set_name), gold)
    limits = Limits(seconds=timeout)
    raise typer.Exit(_set(questions, out, targets, limits, workers or processors(), style))


def _one(targets: Sequence[Dialect], dialect: str) -> Dialect:
    if len(targets) != 1:
        raise BadInput(f"--dialect {dialect}: a query has one target; name {TARGET_NAMES}")
    return targets[0]


def _sample(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    name = name.strip().lstrip(":@$?")
    if not equals or not name:
        raise BadInput(f"--param {brief(text)}: is not NAME=VALUE; write --param name='Ann' or --param 1=7")
    if blob := _BLOB.fullmatch(value):
        return name, bytes.fromhex(blob["digits"])
    try:
        found = parse_json(value)
    except ValueError:
        return name, value
    return name, value if isinstance(found, list | dict) else found


_BLOB = re.compile(r"[xX]'(?P<digits>(?:[0-9a-fA-F]{2})*+)'")


def _of_file(path: Path | None) -> Mapping[str, object]:
    if path is None:
        return {}
    found = read_json(read_text(path))
    if isinstance(found, list):
        found = {str(number): value for number, value in enumerate(found, 1)}
    if not isinstance(found, dict):
        refuse(path, f"is {json_type(found)}", "write an object of values by names, or an array for ?")
    return {name.lstrip(":@$?"): value for name, value in found.items()}


def _text(sql: str, translator: TextTranslator, *, as_json: bool) -> int:
    text = _standard_input() if sql == "-" else sql
    target = translator.target
    try:
        translation = translator.translate(text)
    except Untranslatable as refusal:
        if as_json:
            typer.echo(ascii_json({"dialect": target, "sql": None, "refusal": str(refusal)}))
        say(f"no translation: {refusal}")
        return 1
    for warning in translation.warnings:
        say(f"warning: {warning}")
    if as_json:
        typer.echo(ascii_json(_described(translation)))
    else:
        if translation.parameters:
            shown = ", ".join(f"{each.name} ({each.kind})" for each in translation.parameters)
            say(f"parameters, {translation.style}: {shown}")
        for name, value in translation.decided.items():
            say(f"parameter {name}: the translation is for {literal(value)} alone")
        typer.echo(translation.sql)
    return 0


def _described(translation: Translation) -> dict[str, object]:
    return {
        "dialect": translation.target,
        "sql": translation.sql,
        "warnings": translation.warnings,
        "rules": translation.rules,
        "json_columns": translation.json_columns,
        "parameters": [{"name": each.name, "type": each.kind} for each in translation.parameters],
        "paramstyle": translation.style,
        **({"decided": dict(translation.decided)} if translation.decided else {}),
    }


def _file(path: Path, translator: TextTranslator, *, as_json: bool) -> int:
    """Print the translation of each statement of a file, and count refusals by kind on standard error."""
    refused = Counter[str]()
    count = 0
    for line, statement in statements(read_text(path).text):
        count += 1
        where = f"{path}:{line}"
        try:
            found = translator.translate(statement)
        except (Untranslatable, BadInput) as refusal:
            why = one_line(str(refusal))
            refused[_kind(refusal)] += 1
            say(f"{where}: no translation: {why}")
            described: dict[str, object] = {"dialect": translator.target, "sql": None, "refusal": why}
            shown = [f"-- no translation: {why}", *(f"-- {each}" for each in statement.splitlines())]
        else:
            for warning in found.warnings:
                say(f"{where}: warning: {warning}")
            described = _described(found)
            names = ", ".join(f"{each.name} ({each.kind})" for each in found.parameters)
            shown = [f"-- {each}" for each in _comments(statement)]
            shown += [f"-- parameters: {names}"] if names else []
            shown += [f"-- only for {name} = {literal(value)}" for name, value in found.decided.items()]
            shown.append(f"{found.sql};")
        typer.echo(ascii_json({"line": line, **described}) if as_json else "\n".join(shown) + "\n")
    say(f"{path}: {count - refused.total()} of {count} statements translated")
    for kind, times in refused.most_common():
        say(f"  {times} refused: {kind}")
    return 1 if refused else 0


def _kind(refusal: Untranslatable | BadInput) -> str:
    """Return what a refusal is about, without what differs between statements."""
    if isinstance(refusal, BadInput):
        return "SQLite does not take the text"
    return refusal.reason if refusal.construct == _WHOLE else refusal.construct


_WHOLE = "the statement"


_COMMENT = re.compile(rf"{QUOTED}|--(?P<line>[^\n]*+)|/\*(?P<block>(?:[^*]++|\*(?!/))*+)(?:\*/)?")


def _comments(statement: str) -> list[str]:
    """Return the lines of all comments of a statement, without their marks: MySQL executes some of them."""
    found = (comment["line"] or comment["block"] for comment in _COMMENT.finditer(statement))
    return [line.strip() for text in found if text for line in text.splitlines() if line.strip()]


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


def _set(  # noqa: PLR0913, PLR0917 - the options of a set
    questions: QuestionSet, out: Path, targets: Sequence[Dialect], limits: Limits, workers: int, style: Style
) -> int:
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
        translator = GoldTranslator(questions, targets, one_of_each(servers), limits, progress, style)
    with messages.status("translating"):
        golds = {target: list(translator.golds(target, workers)) for target in targets}
    notes = write_golds(questions, golds, out)
    faults = [one.certificate for some in golds.values() for one in some if one.certificate.is_fault]
    for line in (*map(str, faults), *notes, *(counted(some, target) for target, some in golds.items())):
        say(line)
    say(f"written to {out}; `{command('eval', set=str(out))}` scores with these golds")
    return 1 if faults else 0

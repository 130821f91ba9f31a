"""Compare what each policy of extraction scores on raw answers with the clean file that they are made of.

A prediction file of bare SQL becomes a file of raw answers: each query is written as models write it, with
reasoning, in a fence, in JSON, after other statements, or among prose, in equal parts and in an order that
the seed decides. `bird-harness eval` scores the clean file as it is, and the raw one by each policy. Exits
with 1 if `answer-1` is more than half a point away from the clean file.

    python -m benchmarks.extraction --set mini_dev --predictions FILE
"""

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.options import SetName
from dialects.enums import Dialect
from dialects.errors import BadInput, HarnessError
from harness.data.answers import Extract
from harness.data.predictions import read_predictions
from harness.data.sets.loader import load_set
from harness.runs.reader import LATEST, read_results
from loaders.sample import PREDICTIONS

SAMPLE = PREDICTIONS / "predict_sample_every-fifth-wrong_sqlite.json"
MARGIN = 0.5
"""Points of EX."""
_STATEMENTS = "CREATE TEMP TABLE draft (a INTEGER);\nINSERT INTO draft VALUES (1);\n"


def _reasoning(sql: str) -> str:
    return f"<think>First I count.\nSELECT COUNT(*) FROM draft\nNo, that is wrong.</think>\n{sql}"


def _fence(sql: str) -> str:
    return f"Here is the query:\n\n```sql\n{sql}\n```\n\nIt joins the tables by their keys."


def _document(sql: str) -> str:
    return json.dumps({"reasoning": "Count first: SELECT COUNT(*) FROM draft", "sql": sql})


def _statements(sql: str) -> str:
    return f"```sql\n{_STATEMENTS}{sql.rstrip().rstrip(';')};\n```"


def _prose(sql: str) -> str:
    return f"The table has all of it.\n\nFinal answer:\n{sql}\n\nThe query returns what was asked for."


FORMS: Mapping[str, Callable[[str], str]] = {
    "reasoning": _reasoning, "fence": _fence, "JSON": _document, "several statements": _statements,
    "prose": _prose,
}  # fmt: skip


def raw_answers(clean: Mapping[str, str], seed: int) -> dict[str, tuple[str, str]]:
    """Return the form and the text of a raw answer for each question's query, each form equally often."""
    names = [[*FORMS][place % len(FORMS)] for place in range(len(clean))]
    random.Random(seed).shuffle(names)  # noqa: S311 - a seeded order
    return {key: (name, FORMS[name](sql)) for (key, sql), name in zip(clean.items(), names, strict=True)}


def ex_of(set_name: str, predictions: Path, policy: Extract, folder: Path) -> dict[str, float]:
    """Return each question's EX by `bird-harness eval`; 0 where it has none."""
    where = ("--set", set_name, "--dialect", Dialect.SQLITE, "--metrics", "ex", "--predictor", "answers")
    asked = ("--predictions", str(predictions), "--extract", policy, "--out", str(folder), "--allow-missing")
    command = [sys.executable, "-m", "harness", "eval", *where, *asked]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {each.question: each.scores.get("ex", 0.0) for each in read_results(folder / LATEST)}


def _percent(scores: Mapping[str, float], keys: Collection[str]) -> str:
    return f"{100 * sum(scores[key] for key in keys) / max(1, len(keys)):.1f}"


def main(
    predictions: Annotated[Path, typer.Option(help="A prediction file for SQLite of bare SQL.")] = SAMPLE,
    set_name: SetName = "sample",
    seed: Annotated[int, typer.Option(help="Of the forms of the answers.")] = 1,
) -> None:
    """Print a row for the clean file and for each policy on the raw one, with EX by form."""
    files = read_predictions([predictions], load_set(set_name), dialects=[Dialect.SQLITE], allow_missing=True)
    if len(files) != 1:
        raise BadInput(f"--predictions {predictions}: name one file for SQLite; this is {len(files)}")
    clean = {key: sql for key, sql in files[0].predictions.items() if sql is not None}
    raw = raw_answers(clean, seed)
    groups = {name: [key for key in raw if raw[key][0] == name] for name in FORMS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = {"clean": clean, "raw": {key: text for key, (_, text) in raw.items()}}
        for what, answers in texts.items():
            lines = [json.dumps({"question_id": key, "sql": text}) + "\n" for key, text in answers.items()]
            (folder / f"{what}.jsonl").write_text("".join(lines), encoding="utf-8")
        runs = [("clean", Extract.NONE), *(("raw", policy) for policy in Extract)]
        found = {
            run: ex_of(set_name, folder / f"{run[0]}.jsonl", run[1], folder / "-".join(run)) for run in runs
        }
    print(f"| answers | extract | EX | {' | '.join(groups)} |\n|---|---|{'--:|' * (1 + len(groups))}")
    for (what, policy), scores in found.items():
        parts = [clean, *groups.values()]
        print(f"| {what} | {policy} | {' | '.join(_percent(scores, keys) for keys in parts)} |")
    totals = {
        run: 100 * sum(scores[key] for key in clean) / max(1, len(clean)) for run, scores in found.items()
    }
    apart = totals["raw", Extract.ANSWER_1] - totals["clean", Extract.NONE]
    if abs(apart) > MARGIN:
        raise SystemExit(f"answer-1 scores {apart:+.1f} points of EX beside the clean file")


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error

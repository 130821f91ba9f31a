"""Hostile names of files, predictors and questions: refused in one line, or kept out of every report."""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.predictions import read_predictions
from harness.data.sets.loader import load_set
from harness.runs.reader import LATEST, read_results
from loaders.sample import PREDICTIONS
from tests.engines.hostile.running import Place, faults, junit, strange

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

QUESTIONS = 3
SHORT = 1_000
"""Characters that a reader reads of a message."""

NAMES = {
    "escape": "\x1b[31mred\x1b[0m",
    "title of the terminal": "\x1b]0;title\x07",
    "one byte escape": "\x9b31m",
    "line break": "a\nb",
    "carriage return": "a\rHARNESS_ERROR",
    "tab": "a\tb",
    "backspace": "a\x08\x08\x08b",
    "delete": "a\x7f",
    "blank at the end": "a ",
    "blank alone": " ",
    "no-break space": "\xa0",
    "right to left": "\u202etxt.elif",
    "isolated": "a\u2066b\u2069",
    "joined": "a\u200db\u200b",
    "line separator": "a\u2028b",
    "no character": "a\ufffeb\uffff",
    "not UTF-8": "a\udcffb",
    "half a character": "a\ud800b",
    "formula": "=1+1",
    "formula of a program": "=cmd|' /c calc'!A1",
    "plus": "+1",
    "minus": "-1",
    "at": "@SUM(A1)",
    "page": "<script>alert(1)<script>",
    "attribute": "\" onload=alert(1) x='",
    "CDATA": "]]>&amp;<!--",
    "markup": "[bold red]x[-bold red]",
    "latex": "\\input{x}$&%#_^~",
    "markdown": "| a | ![x](javascript:alert(1)) `",
    "template": "{{x}}{0}%s%(x)s${x}",
    "folder above": "..",
    "dots": "...",
    "option": "--help",
    "option of pytest": "-k x",
    "pytest's separator": "a::b",
    "pytest's brackets": "a[0-sqlite]",
    "comma": "a,b",
    "colon": "a:b",
    "a dialect": "mysql",
    "total": "total",
    "long": "n" * 180,
    "wide": "\U0001f600" * 30,
    "number": "1e999",
    "null": "null",
    "quotes": "\"'`",
}

IDS = {
    "5,000 digits": "9" * 5_000,
    "negative": "-1",
    "fraction": "1.5",
    "exponent": "1e400",
    "not a number": "NaN",
    "true": "true",
    "null": "null",
    "list": "[1]",
    "object": '{"a": 1}',
    "deep list": "[" * 900 + "]" * 900,
    "too deep": "[" * 100_000 + "]" * 100_000,
    "escape": '"\\u001b[31m1"',
    "line break": '"1\\n"',
    "right to left": '"\\u202e1"',
    "half a character": '"\\ud800"',
    "NUL": '"1\\u0000"',
    "blank": '" 1"',
    "other digits": '"\\u0661"',
    "long": '"' + "1" * 1_000_000 + '"',
    "path": '"../../etc/passwd"',
}

TEXTS = {
    "half a character": '"\\ud800"',
    "the other half": '"SELECT 1 -- \\udc00"',
    "no text": "17",
    "list": "[17]",
    "not closed": '"SELECT',
    "an escape that is none": '"\\x1b"',
}


@pytest.fixture
def place(tmp_path: Path) -> tuple[Dialect, Place]:
    """On SQLite: no name of a file or predictor comes to an engine."""
    return Dialect.SQLITE, Place(tmp_path)


def _score(place: Place, dialect: Dialect, path: str, *options: str) -> tuple[int, str]:
    done = place.harness(
        "eval", f"--predictions={path}", f"--dialect={dialect}", f"--limit={QUESTIONS}", "--allow-missing",
        "--workers=1", *options,
    )  # fmt: skip
    assert done.left == []
    return done.code, done.said


def _require_one_short_line(message: str, case: str) -> None:
    assert message.strip().count("\n") == 0, case
    assert message.strip().isprintable(), case
    assert len(message) < SHORT, case


def _refused(path: Path, dialect: Dialect) -> str | None:
    """What a file is refused for, if it is."""
    try:
        read_predictions([path], load_set("sample"), dialects=[dialect], allow_missing=True)
    except BadInput as error:
        return str(error)
    return None


def _files(folder: Path, dialect: Dialect) -> Sequence[tuple[str, Path]]:
    """A prediction file for each name that this file system can hold: in its own name, and in a line."""
    folder.mkdir()
    source = PREDICTIONS / f"predict_sample_careless_{dialect}.json"
    [sql, *_] = json.loads(source.read_text(encoding="utf-8")).values()
    made = []
    for number, (case, name) in enumerate(NAMES.items()):
        path = folder / f"predict_sample_{name}_{dialect}.json"
        try:
            os.fsencode(path)
            shutil.copy(source, path)
        except (OSError, UnicodeEncodeError):
            path = folder / f"{number}.json"
        else:
            made.append((f"file: {case}", path))
        lines = folder / f"{number}.jsonl"
        record = {"question_id": 1, "sql": sql.split("\t")[0], "predictor": name, "dialect": dialect}
        lines.write_text(json.dumps(record) + "\n", encoding="utf-8")
        made.append((f"line: {case}", lines))
    return made


def test_names_are_refused_in_a_line_or_kept_out_of_every_report(place: tuple[Dialect, Place]) -> None:
    dialect, at = place
    folder = at.folder / "all"
    made = _files(folder, dialect)
    assert len(made) > 80
    kept: set[str] = set()
    refused = []
    for case, path in made:
        message = _refused(path, dialect)
        if message is None:
            [file] = read_predictions([path], load_set("sample"), dialects=[dialect], allow_missing=True)
            if file.predictor not in kept:
                kept.add(file.predictor)
                continue
        else:
            _require_one_short_line(message, case)
            refused.append(path)
        path.rename(folder.parent / f"{len(refused)}-{len(kept)}{path.suffix}.refused")
    assert len(refused) > 10
    assert len(kept) > 10
    code, said = _score(at, dialect, "all", "--out=results")
    assert code == 0, said[-3000:]
    assert strange(said) == []
    assert {each.predictor for each in read_results(at.folder / "results" / LATEST)} == kept
    assert faults(at.folder / "results" / LATEST) == []
    done = at.pytest(
        "--bird-predictions=all", f"--bird-dialect={dialect}", f"--bird-limit={QUESTIONS}",
        "--bird-allow-missing", "--junitxml=junit.xml", "--bird-fail-on=mismatch,prediction_error", "-v",
    )  # fmt: skip
    assert done.code == 1, done.said[-3000:]
    assert strange(done.said) == []
    suite = junit(at.folder / "junit.xml")
    assert len(list(suite.iter("testcase"))) == len(kept) * QUESTIONS


def test_a_run_with_one_such_name_exits_with_2_and_says_in_a_line_which(place: tuple[Dialect, Place]) -> None:
    dialect, at = place
    source = PREDICTIONS / f"predict_sample_careless_{dialect}.json"
    (at.folder / "all").mkdir()
    shutil.copy(source, at.folder / "all" / source.name)
    lines = at.folder / "all" / "line.jsonl"
    for case in ("escape", "line break", "half a character"):
        record = {"question_id": 1, "sql": "SELECT 1", "predictor": NAMES[case], "dialect": dialect}
        lines.write_text(json.dumps(record) + "\n", encoding="utf-8")
        code, said = _score(at, dialect, "all")
        assert code == 2, said
        _require_one_short_line(said, case)
        assert "line.jsonl" in said
    assert list(at.folder.glob("results/*")) == []


@pytest.mark.parametrize("dialect", list(Dialect))
def test_ids_and_texts_of_no_use_are_refused_in_a_short_line(tmp_path: Path, dialect: Dialect) -> None:
    path = tmp_path / "lines.jsonl"
    lines = [(case, id_, '"SELECT 1"') for case, id_ in IDS.items()]
    lines += [(case, "1", text) for case, text in TEXTS.items()]
    for case, id_, text in lines:
        path.write_text(
            f'{{"question_id": {id_}, "sql": {text}, "predictor": "p", "dialect": "{dialect}"}}\n'
            f'{{"question_id": 2, "sql": "SELECT 1", "predictor": "p", "dialect": "{dialect}"}}\n',
            encoding="utf-8",
        )
        message = _refused(path, dialect)
        assert message is not None, case
        _require_one_short_line(message, case)
        assert "lines.jsonl" in message, case

"""Tables that the tests make up, with names that every format has to bear."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dialects.enums import Dialect
from harness.data.outcomes import Outcome, PairResult
from harness.data.questions import Difficulty, Question
from harness.data.set_manifest import PUBLISHED
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    Document,
    TableColumn,
    TableModel,
    TableRow,
)
from harness.runs.folder import RunFolder
from harness.runs.summary import Score, summarize
from tests.harness.run_folders import pair
from tests.reasons import Reason, skip

HOSTILE = (
    "a|b",
    "[link](https://example.org) ![x](y)",
    "*bold* _it_ `code` ~~gone~~ $x^2$",
    "<script>alert(1)</script> &amp; @somebody #1",
    "two\nlines\rand a\ttab",
    "\x1b[31mred\x1b[0m \x07",
    "[bold red]markup[/bold red] [/nothing]",
    "\\end{tabular}\\input{/etc/passwd} 100% a&b #_~^{}",
    "[2pt] * -- ``quoted'' \"x\"",
    "=1+1,\"quoted\";'x'",
    "\u202eright to left\u200b",
    "été 模型 😀",
    "half a character \ud83d",
)


def result(
    question: int, predictor: str = "p", dialect: Dialect = Dialect.SQLITE, **scores: float
) -> PairResult:
    return replace(pair(question, predictor, dialect, **scores), db_id=("shop", "zoo")[question % 2])


def results(
    predictors: Sequence[str] = ("p",), dialects: Sequence[Dialect] = tuple(PUBLISHED), questions: int = 12
) -> list[PairResult]:
    """Every third answer is wrong; some of it is worth a part of Soft-F1."""
    return [
        replace(
            result(
                number,
                predictor,
                dialect,
                ex=float(number % 3 != 1),
                soft_f1=1.0 if number % 3 != 1 else number / 17,
            ),
            outcome=Outcome.MATCH if number % 3 != 1 else Outcome.PREDICTION_ERROR,
        )
        for predictor in predictors
        for dialect in dialects
        for number in range(questions)
    ]


def scores(predictors: Sequence[str] = ("p",), dialects: Sequence[Dialect] = tuple(PUBLISHED)) -> list[Score]:
    return summarize(results(predictors, dialects), ["ex", "soft_f1"])


def question(number: int, sql: str = "SELECT 1") -> Question:
    difficulty = list(Difficulty)[number % 3]
    db_id = ("shop", "zoo")[number % 2]
    return Question(str(number), number, db_id, "Why?", "", difficulty, {Dialect.SQLITE: sql})


MANIFEST = {
    "set": "sample",
    "questions": 12,
    "profile": "official",
    "metrics": ["ex", "soft_f1"],
    "extract": "none",
    "limits": {"seconds": 30.0},
    "engines": {"sqlite": {"version": "3.50 | _x_", "settings": {}}},
    "predictions": [{"predictor": "p"}],
    "left_out": [],
}


def write_run(
    parent: Path, of: Sequence[PairResult], questions: Sequence[Question] = (), **manifest: object
) -> Path:
    """A finished run with these results."""
    asked = questions or [question(number) for number in range(12)]
    with RunFolder(parent, MANIFEST | manifest, ["ex", "soft_f1"], asked) as folder:
        for one in of:
            folder.add(one)
        folder.finish()
    return folder.path


EX = TableColumn("total", "ex", "difficulty", "total", short="tot", is_total=True, has_interval=True)
ROWS = TableColumn("EX", "ex", "database", has_questions=True)


def document(grid: TableModel) -> Document:
    return Document("r1", ("sample: 3 questions",), (grid,))


def grid(*names: str) -> TableModel:
    """Two engines; the second has nothing of the first predictor, and no figure of the others."""
    simple = TableColumn("simple", "ex", "difficulty", "simple", short="simp")
    return TableModel(
        "EX (%)",
        ("predictor",),
        (
            ColumnGroup("SQLite", (simple, EX), Dialect.SQLITE),
            ColumnGroup("MySQL", (EX,), Dialect.MYSQL),
        ),
        tuple(
            TableRow(
                (name,),
                (
                    Cell(50.0, questions=2),
                    Cell(100 / 3, (6.149, 79.2345), 3),
                    None if number == 0 else Cell(None, None, 0),
                ),
                name,
            )
            for number, name in enumerate(names)
        ),
        ("note:", "  1: a | b"),
    )


COUNTS = TableModel(
    "Outcomes (pairs)",
    ("predictor", "engine"),
    (
        ColumnGroup(
            "", (TableColumn("prediction error", "pairs", "outcome", "prediction_error", CellKind.COUNT),)
        ),
    ),
    (TableRow(("p", "SQLite"), (Cell(7),), "p", Dialect.SQLITE),),
)

DIFFERENCES = TableModel(
    "Difference",
    ("predictor",),
    (
        ColumnGroup(
            "SQLite", (TableColumn("EX", "ex", "difference", "total", CellKind.DIFFERENCE),), Dialect.SQLITE
        ),
    ),
    tuple(
        TableRow((name,), (Cell(value),), name) for name, value in (("a", 1.234), ("b", -1.5), ("c", -1e-9))
    ),
)


def compile_latex(folder: Path, paper_class: str, *parts: str) -> None:
    """Make a page of tables for a paper, which nothing may stick out of."""
    compiler = shutil.which("pdflatex") or shutil.which("tectonic")
    if compiler is None:
        skip(Reason.NO_TEX, "apt-get install texlive-latex-recommended")
    packages = r"\usepackage[T1]{fontenc}\usepackage{booktabs,textcomp,graphicx}"
    text = "\n".join([rf"\documentclass{paper_class}{packages}\begin{{document}}", *parts, r"\end{document}"])
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    options = (
        ["-interaction=nonstopmode", "-halt-on-error"] if compiler.endswith("latex") else ["--keep-logs"]
    )
    command = [compiler, *options, "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert not re.search(r"Overfull \\hbox|Float too large", log)

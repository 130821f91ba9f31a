"""What each format makes of a table, and that nobody's name is markup, a command or a second line."""

import csv
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.data.set_manifest import PUBLISHED
from harness.report.console import console_text, print_grids
from harness.report.overview import overview
from harness.report.table_model import Document
from harness.report.texts import COLUMNS, csv_text, json_text, latex, markdown
from loaders.base.files import one_line
from tests.harness.report.tables import COUNTS, DIFFERENCES, HOSTILE, document, grid, scores

TEXTS: dict[str, Callable[[Document], str]] = {
    "console": lambda of: console_text(of.grids),
    "markdown": lambda of: markdown(of, "Run r1"),
    "latex": lambda of: latex(of, "Run r1"),
    "csv": csv_text,
    "json": json_text,
}

EXPECTED = {
    ("console", "grid"): """\
EX (%)
             SQLite                      MySQL
 predictor     simp     tot       95 %     tot   95 %
 \u2500\u2500\u2500
 p            50.00   33.33   6.1\u201379.2
 q            50.00   33.33   6.1\u201379.2       -      -
note:
  1: a | b
""",
    ("markdown", "grid"): """\
# Run r1

- sample: 3 questions

## EX (%)

| predictor | SQLite simple | SQLite total | SQLite 95 % | MySQL total | MySQL 95 % |
|---|--:|--:|--:|--:|--:|
| p | 50.00 | 33.33 | 6.1\u201379.2 |  |  |
| q | 50.00 | 33.33 | 6.1\u201379.2 | - | - |

- note:
  - 1: a \\| b
""",
    ("latex", "grid"): r"""% Run r1
% sample: 3 questions
% \usepackage[T1]{fontenc}, \usepackage{booktabs} and \usepackage{textcomp} in the preamble

\begin{table}[tp]
\centering
\small
\setlength{\tabcolsep}{3pt}
\caption{EX (\%)}
\begin{tabular}{lrrrrr}
\toprule
 & \multicolumn{3}{c}{SQLite} & \multicolumn{2}{c}{MySQL} \\
\cmidrule(lr){2-4} \cmidrule(lr){5-6}
predictor & simple & total & 95 \% & total & 95 \% \\
\midrule
p & 50.00 & 33.33 & 6.1--79.2 &  &  \\
q & 50.00 & 33.33 & 6.1--79.2 & {-} & {-} \\
\bottomrule
\end{tabular}
\par\footnotesize note:
\par\footnotesize 1: a \textbar{} b
\end{table}
""",
    ("csv", "grid"): """\
predictor,engine,metric,by,level,value,low,high,questions,planned,completed
p,sqlite,ex,difficulty,simple,50.0,,,2,,
p,sqlite,ex,difficulty,total,33.333333333333336,6.149,79.2345,3,,
q,sqlite,ex,difficulty,simple,50.0,,,2,,
q,sqlite,ex,difficulty,total,33.333333333333336,6.149,79.2345,3,,
q,mysql,ex,difficulty,total,,,,0,,
""",
    ("console", "counts"): """\
Outcomes (pairs)
                      prediction
 predictor   engine        error
 \u2500\u2500\u2500
 p           SQLite            7
""",
    ("markdown", "counts"): """\
# Run r1

- sample: 3 questions

## Outcomes (pairs)

| predictor | engine | prediction error |
|---|---|--:|
| p | SQLite | 7 |
""",
    ("csv", "counts"): """\
predictor,engine,metric,by,level,value,low,high,questions,planned,completed
p,sqlite,pairs,outcome,prediction_error,7,,,,,
""",
    ("console", "differences"): """\
Difference
             SQLite
 predictor       EX
 \u2500\u2500\u2500
 a            +1.23
 b            \u22121.50
 c             0.00
""",
    ("latex", "differences"): r"""% Run r1
% sample: 3 questions
% \usepackage[T1]{fontenc}, \usepackage{booktabs} and \usepackage{textcomp} in the preamble

\begin{table}[tp]
\centering
\small
\setlength{\tabcolsep}{3pt}
\caption{Difference}
\begin{tabular}{lr}
\toprule
 & \multicolumn{1}{c}{SQLite} \\
\cmidrule(lr){2-2}
predictor & EX \\
\midrule
a & +1.23 \\
b & $-$1.50 \\
c & 0.00 \\
\bottomrule
\end{tabular}
\end{table}
""",
}
GRIDS = {"grid": grid("p", "q"), "counts": COUNTS, "differences": DIFFERENCES}


@pytest.mark.parametrize(("form", "name"), list(EXPECTED))
def test_a_table_is_written_as_expected(form: str, name: str) -> None:
    text = re.sub("\u2500+", "\u2500" * 3, TEXTS[form](document(GRIDS[name])))
    shown = "".join(f"{line}\n" for line in text.splitlines() if line or form != "console")
    assert shown == EXPECTED[form, name]


def test_json_has_the_figures_of_the_csv_by_table_with_the_notes() -> None:
    content = json.loads(json_text(document(GRIDS["grid"])))
    assert (content["schema_version"], content["run_id"]) == (1, "r1")
    (table,) = content["tables"]
    assert (table["title"], table["notes"]) == ("EX (%)", ["note:", "  1: a | b"])
    rows = list(csv.DictReader(StringIO(csv_text(document(GRIDS["grid"])))))
    plain = [
        {name: "" if value is None else str(value) for name, value in figure.items()}
        for figure in table["figures"]
    ]
    assert plain == rows
    assert list(rows[0]) == list(COLUMNS)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", ["console", "markdown", "latex"])
def test_a_hostile_name_adds_no_line_no_column_and_no_control_character(form: str, name: str) -> None:
    text, harmless = (TEXTS[form](document(grid("p", each))) for each in (name, "harmless"))
    assert all(character.isprintable() or character == "\n" for character in text)
    if form == "console":
        assert len(text.splitlines()) <= len(harmless.splitlines()) + 2, "a long name folds"
        return
    assert len(text.splitlines()) == len(harmless.splitlines())
    separator = r"(?<!\\)\|" if form == "markdown" else r"(?<!\\)&"
    counts = [[len(re.findall(separator, line)) for line in each.splitlines()] for each in (text, harmless)]
    assert counts[0] == counts[1]


def names_in(text: str) -> set[str]:
    """The predictors of a file, as docs/how-to/reports.md says that they are read."""
    return {row["predictor"].removeprefix("'") for row in csv.DictReader(StringIO(text, newline=""))}


FORMULAS = (
    "=1+1",
    "+1",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\N{FULLWIDTH EQUALS SIGN}1",
    "'=1",
    "a;=1+1",
    'a";=1',
)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_no_cell_is_a_formula_and_numbers_stay_numbers(name: str, delimiter: str) -> None:
    text = csv_text(document(replace(DIFFERENCES, rows=(replace(DIFFERENCES.rows[1], predictor=name),))))
    cells = [cell for row in csv.reader(StringIO(text), delimiter=delimiter) for cell in row]
    assert [
        cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "\r", "\N{FULLWIDTH EQUALS SIGN}"))
    ] == []
    (row,) = csv.DictReader(StringIO(text))
    assert (row["predictor"].removeprefix("'"), float(row["value"])) == (one_line(name), -1.5)
    assert [cell for cell in cells if cell.startswith("-")] == ["-1.5"] * (delimiter == ",")


@pytest.mark.parametrize("name", HOSTILE)
def test_programs_read_a_hostile_name_as_it_is(name: str) -> None:
    of = document(grid("p", name))
    assert names_in(csv_text(of)) == {"p", one_line(name)}
    figures = json.loads(json_text(of))["tables"][0]["figures"]
    assert {figure["predictor"] for figure in figures} == {"p", name}
    assert csv_text(of).encode()
    assert json_text(of).encode()


@given(st.text(st.characters(exclude_categories=[]), min_size=1))
def test_any_name_is_read_back_and_leaves_the_shape_of_every_format(name: str) -> None:
    of = document(grid("p", name))
    assert names_in(csv_text(of)) == {"p", one_line(name)}
    for form, write in TEXTS.items():
        assert all(each.isprintable() or each == "\n" for each in write(of)), form
    assert {figure["predictor"] for figure in json.loads(json_text(of))["tables"][0]["figures"]} == {
        "p",
        name,
    }
    for form, separator in (("markdown", "|"), ("latex", "&")):
        text, harmless = (TEXTS[form](document(grid("p", each))) for each in (name, "harmless"))
        shape, expected = (
            [len(re.findall(rf"(?<!\\)(?:\\\\)*\{separator}", line)) for line in each.splitlines()]
            for each in (text, harmless)
        )
        assert shape == expected


MARKDOWN = {
    "a|b": r"a\|b",
    "[x](y)": r"\[x\](y)",
    "<b>&": "&lt;b&gt;&amp;",
    "a\nb": r"a\\nb",
    "@x": "&#64;x",
    "gpt-4_turbo.v1": r"gpt-4\_turbo.v1",
    "\\|": r"\\\|",
    "https://x.org www.x.org": "https&#58;//x.org www&#46;x.org",
}


@pytest.mark.parametrize(("name", "expected"), list(MARKDOWN.items()))
def test_markdown_escapes(name: str, expected: str) -> None:
    assert f"| {expected} |" in TEXTS["markdown"](document(grid("p", name)))


@pytest.mark.parametrize(("note", "expected"), [("- x", r"\- x"), ("1. x", r"1\. x"), ("1.5 s", "1.5 s")])
def test_a_note_begins_no_list_of_its_own(note: str, expected: str) -> None:
    assert f"\n- {expected}\n" in TEXTS["markdown"](document(replace(COUNTS, notes=(note,))))


LATEX = {
    "50%_of & #1": r"50\%\_of \& \#1",
    "\\x{y}$": r"\textbackslash{}x\{y\}\$",
    "[2pt]*": "{[}2pt{]}{*}",
    "a--b": "a{-}{-}b",
    "~^<>|": r"\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}\textbar{}",
    "a\nb": r"a\textbackslash{}nb",
    "a,,b": "a,{},b",
}


@pytest.mark.parametrize(("name", "expected"), list(LATEX.items()))
def test_latex_escapes(name: str, expected: str) -> None:
    assert f"\n{expected} & " in TEXTS["latex"](document(grid("p", name)))


def test_latex_has_as_many_cells_in_every_row_as_columns_and_compiles_where_tex_is(tmp_path: Path) -> None:
    names = [name for name in HOSTILE if name.isascii()]
    text = latex(
        Document("r", (), tuple(overview(scores(names), ["ex", "soft_f1"]))), "Run r\n\\input{nothing}"
    )
    commented, *tables = text.split(r"\begin{tabular}")
    assert all(line.startswith("%") or line[:1] in {"", "\\"} for line in commented.splitlines())
    assert len(tables) == 3
    for table in tables:
        columns = re.match(r"\{([lr]+)\}", table)
        assert columns
        body = table.split(r"\midrule")[1].split(r"\bottomrule")[0]
        assert body.count(r"\\" + "\n") == len(names) * (
            1 if "rrrrr" in columns[1] and columns[1][1] == "r" else 3
        )
        for line in body.strip().splitlines():
            assert len(re.findall(r"(?<!\\)&", line)) == len(columns[1]) - 1
            plain = re.sub(r"\\[{}]", "", line)
            assert plain.count("{") == plain.count("}")
    compiler = shutil.which("pdflatex")
    if compiler:
        (tmp_path / "tables.tex").write_text(text, encoding="utf-8")
        preamble = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs,textcomp}"
        paper = preamble + r"\begin{document}\input{tables}\end{document}"
        (tmp_path / "paper.tex").write_text(paper, encoding="utf-8")
        command = [compiler, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("width", [80, 100, 200])
def test_tables_are_as_wide_as_the_terminal_and_no_figure_is_cut_or_folded(width: int) -> None:
    found = scores(["a-model-with-a-name-that-is-longer-than-others", "b"])
    output = StringIO()
    print_grids(
        overview(found, ["ex", "soft_f1"]),
        Console(file=output, width=width, force_terminal=True, no_color=True),
    )
    text = re.sub(r"\x1b\[[\d;]*m", "", output.getvalue())
    assert max(map(len, text.splitlines())) <= width
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    # 12 questions, of each level 4: all of the first and last, none of the second right.
    rows = [line.split() for line in text.splitlines() if line.startswith(" b ")]
    engines = len(PUBLISHED) if width < 200 else 1
    assert sum(row[1:5] == ["100.00", "0.00", "100.00", "66.67"] for row in rows) == engines
    assert all(f"EX (%)\n{'':13}" in text or name in text for name in ("SQLite", "MySQL", "PostgreSQL"))


@pytest.mark.parametrize("width", [50, 80])
def test_many_columns_are_cut_into_parts_that_fit_and_no_figure_is_lost(width: int) -> None:
    columns = tuple(f"a_class_of_errors_{number}" for number in range(12))
    wide = COUNTS.groups[0].columns[0]
    group = replace(COUNTS.groups[0], columns=tuple(replace(wide, head=name, level=name) for name in columns))
    row = replace(COUNTS.rows[0], cells=COUNTS.rows[0].cells * 12)
    output = StringIO()
    print_grids(
        [replace(COUNTS, groups=(group,), rows=(row,))],
        Console(file=output, width=width, force_terminal=True, no_color=True),
    )
    text = re.sub(r"\x1b\[[\d;]*m", "", output.getvalue())
    assert [name for name in columns if name not in text.split()] == []
    assert max(map(len, text.splitlines())) <= width
    assert text.split().count("7") == 12


def test_nothing_is_coloured_and_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    def codes() -> set[str]:
        output = StringIO()
        console = Console(
            file=output, width=80, force_terminal=True, color_system="truecolor", _environ=os.environ
        )
        print_grids(overview(scores(), ["ex"]), console)
        return {
            code for found in re.findall(r"\x1b\[([\d;]*)m", output.getvalue()) for code in found.split(";")
        }

    plain = {"0", "1", "2", "3", ""}
    assert codes() <= plain, "bold, dim and italic alone"
    monkeypatch.setenv("NO_COLOR", "1")
    assert codes() <= plain

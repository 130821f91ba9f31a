"""Tables as texts: Markdown, LaTeX, and for programs CSV and JSON. Nobody's name is markup or a command."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from io import StringIO
from itertools import repeat
from typing import Any

from harness.report.table_model import (
    DAGGER,
    DASH,
    MINUS,
    Document,
    NamedCell,
    TableModel,
    emphasised,
    figures,
    heads,
    names,
    printable,
    texts,
    width,
)
from loaders.base.files import printable_json

_ACTIVE = re.compile(r"([\\`*_\[\]~|$#])")
_LISTED = re.compile(r"^(\s*\d*)([-+.)=])(?=\s|$)")
"""What begins a list, or underlines a heading, where it stands first in a line."""
_LINKED = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
"""What makes a link of an address: https://github.github.com/gfm/#autolinks-extension-."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}


def markdown(document: Document, title: str) -> str:
    """A page as GitHub shows it: what the tables are of, then each with its notes.

    https://github.github.com/gfm/#tables-extension-

    Args:
        document: the tables.
        title: heads the page.
    """
    lines = [f"# {escaped_markdown(title)}", "", *(f"- {_markdown_item(fact)}" for fact in document.facts)]
    for grid in document.grids:
        lines += [
            "",
            f"## {escaped_markdown(grid.title)}",
            "",
            *markdown_table(grid),
            *_markdown_notes(grid.notes),
        ]
    return "\n".join(lines) + "\n"


def escaped_markdown(text: str) -> str:
    """A text of anybody's that shows as it is, in a table or outside."""
    plain = _ACTIVE.sub(r"\\\1", printable(text))
    plain = "".join(_ENTITIES.get(character, character) for character in plain)
    return _LINKED.sub(lambda found: f"&#{ord(found[0])};", plain)


def _markdown_item(text: str) -> str:
    return _LISTED.sub(r"\1\\\2", escaped_markdown(text))


def markdown_table(grid: TableModel) -> Iterator[str]:
    """The lines of a table, without its title and notes."""
    columns = names(grid)
    yield markdown_line([*map(escaped_markdown, grid.labels), *map(escaped_markdown, columns)])
    yield "|---" * len(grid.labels) + "|--:" * len(columns) + "|"
    for row in grid.rows:
        cells = map(escaped_markdown, texts(grid, row))
        shown = (
            f"**{cell}**" if is_best else cell
            for cell, is_best in zip(cells, emphasised(grid, row), strict=True)
        )
        yield markdown_line([*map(escaped_markdown, row.labels), *shown])


def markdown_line(cells: Iterable[str]) -> str:
    """A row of a table, of cells that are Markdown already."""
    return f"| {' | '.join(cells)} |"


def _markdown_notes(notes: Sequence[str]) -> Iterator[str]:
    if notes:
        yield ""
    for note in notes:
        indent = "  " if note.startswith("  ") else ""
        yield f"{indent}- {_markdown_item(note.strip())}"


_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    # Behind the end of a row [ and * would be arguments of it, and two hyphens would be a dash.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "-": "{-}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    MINUS: "$-$",
    DASH: "--",
    # Beside the column, so that digits stay below digits.
    DAGGER: r"\makebox[0pt][l]{\textsuperscript{\textdagger}}",
    "\N{DOUBLE DAGGER}": r"\textdaggerdbl{}",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
}


def latex(document: Document, title: str) -> str:
    r"""A table environment for each table, in the manner of booktabs: https://ctan.org/pkg/booktabs.

    The text is made to be read by `\input` in a document that uses `booktabs`; one in Unicode beyond Latin
    needs XeLaTeX or LuaLaTeX.

    Args:
        document: the tables.
        title: a comment at the top.
    """
    lines = [f"% {printable(title)}", *(f"% {printable(fact)}" for fact in document.facts)]
    needed = ["booktabs", "textcomp", *(["graphicx"] if any(grid.anchor for grid in document.grids) else [])]
    packages = ", ".join([r"\usepackage[T1]{fontenc}", *(rf"\usepackage{{{name}}}" for name in needed[:-1])])
    lines.append(rf"% {packages} and \usepackage{{{needed[-1]}}} in the preamble")
    for grid in document.grids:
        lines += ["", *(_latex_paper(grid) if grid.anchor else _latex_table(grid))]
    return "\n".join(lines) + "\n"


def escaped_latex(text: str) -> str:
    """A text of anybody's that prints as it is."""
    plain = "".join(_ESCAPES.get(character, character) for character in printable(text))
    # Two commas would be a quotation mark of the font.
    return plain.replace(",,", ",{},")


def _latex_table(grid: TableModel) -> Iterator[str]:
    yield from (
        r"\begin{table}[tp]", r"\centering", r"\small", r"\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{escaped_latex(grid.title)}}}",
    )  # fmt: skip
    yield from _latex_tabular(grid)
    for note in grid.notes:
        yield rf"\par\footnotesize {escaped_latex(note.strip())}"
    yield r"\end{table}"


_ROWS_OF_A_PAGE = 40
_COLUMNS_OF_A_COLUMN = 4
"""With more columns of figures a table spans both columns of a page, where there are two."""


def _latex_paper(grid: TableModel) -> Iterator[str]:
    """A table as it stands in a paper: its notes are its caption, and no page is too narrow or too short."""
    parts = [
        replace(grid, rows=grid.rows[first : first + _ROWS_OF_A_PAGE])
        for first in range(0, len(grid.rows), _ROWS_OF_A_PAGE)
    ]
    environment = "table" if sum(map(width, grid.groups)) <= _COLUMNS_OF_A_COLUMN else "table*"
    for number, part in enumerate(parts, start=1):
        title = grid.title if number == 1 else f"{grid.title}, continued ({number} of {len(parts)})"
        notes = " ".join(note.strip() for note in grid.notes) if number == 1 else ""
        yield from (rf"\begin{{{environment}}}[tp]", r"\centering", r"\small", r"\setlength{\tabcolsep}{4pt}")
        yield r"\setlength{\belowcaptionskip}{6pt}"
        yield rf"\caption[{_caption(title)}]{{{_caption(f'{title}. {notes}'.rstrip())}}}"
        if number == 1:
            yield rf"\label{{{grid.anchor}}}"
        # No wider than the text: \width is what the table would take.
        yield r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
        yield from _latex_tabular(part)
        yield from ("}", rf"\end{{{environment}}}")


def _caption(text: str) -> str:
    """A text for a caption, where a dagger stands in its line."""
    return escaped_latex(text).replace(_ESCAPES[DAGGER], r"\textdagger{}")


def _latex_tabular(grid: TableModel) -> Iterator[str]:
    yield rf"\begin{{tabular}}{{{_latex_columns(grid)}}}"
    yield r"\toprule"
    yield from _latex_groups(grid)
    names = [head for group in grid.groups for column in group.columns for head in heads(column)]
    yield _latex_row([*grid.labels, *names])
    yield r"\midrule"
    for row in grid.rows:
        yield _latex_row(
            [*row.labels, *texts(grid, row)], [False] * len(row.labels) + [*emphasised(grid, row)]
        )
    yield from (r"\bottomrule", r"\end{tabular}")


def _latex_columns(grid: TableModel) -> str:
    return "l" * len(grid.labels) + "".join("r" * width(group) for group in grid.groups)


def _latex_groups(grid: TableModel) -> Iterator[str]:
    """A head over the columns of each group, and a rule as wide as they are."""
    if not any(group.head for group in grid.groups):
        return
    cells, rules, first = [""] * len(grid.labels), [], len(grid.labels) + 1
    for group in grid.groups:
        last = first + width(group) - 1
        cells.append(rf"\multicolumn{{{width(group)}}}{{c}}{{{escaped_latex(group.head)}}}")
        if group.head:
            rules.append(rf"\cmidrule(lr){{{first}-{last}}}")
        first = last + 1
    yield f"{' & '.join(cells)} \\\\"
    yield " ".join(rules)


def _latex_row(texts_: Sequence[str], best: Iterable[bool] = repeat(False)) -> str:
    cells = (
        rf"\textbf{{{escaped_latex(text)}}}" if is_best else escaped_latex(text)
        for text, is_best in zip(texts_, best, strict=False)
    )
    return f"{' & '.join(cells)} \\\\"


SCHEMA_VERSION = 1
"""Version of `tables.json` and `reproduce.json`; docs/how-to/reports.md describes them."""

COLUMNS = tuple(field.name for field in fields(NamedCell) if field.name != "mark")
"""Of every CSV; one whose table holds its figures against each other has `mark`, too."""


def csv_text(document: Document) -> str:
    """One line a figure, with all that names it and every digit; empty where there is no value.

    As RFC 4180 has it, but lines end with a line feed.

    To a spreadsheet a text that begins as a formula does is one, wherever it came from: it has an apostrophe
    before it (https://owasp.org/www-community/attacks/CSV_Injection). So has one that begins with an
    apostrophe, so that readers can take one off. What does not print stands as its escape.
    """
    found = [figure for grid in document.grids for figure in figures(grid, document.extent)]
    columns = (*COLUMNS, "mark") if any(figure.mark for figure in found) else COLUMNS
    rows = ([figure.to_json().get(name) for name in columns] for figure in found)
    return "".join(map(_csv_line, (columns, *rows)))


def json_text(document: Document, **more: Any) -> str:
    """The same, a list for each table, with its notes; `more` stands before the tables."""
    content = {
        "schema_version": SCHEMA_VERSION,
        "run_id": document.run_id,
        **more,
        "tables": [
            {
                "title": grid.title,
                "figures": [figure.to_json() for figure in figures(grid, document.extent)],
                "notes": list(grid.notes),
            }
            for grid in document.grids
        ],
    }
    return f"{printable_json(content)}\n"


def _csv_line(values: Iterable[Any]) -> str:
    cells = [_harmless(printable(value)) if isinstance(value, str) else value for value in values]
    # In many countries a semicolon ends a cell, and what follows could be a formula.
    is_split = any(isinstance(cell, str) and ";" in cell for cell in cells)
    text = StringIO()
    csv.writer(
        text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if is_split else csv.QUOTE_MINIMAL
    ).writerow(cells)
    return text.getvalue()


_FORMULA = ("=", "+", "-", "@", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH PLUS SIGN}",
            "\N{FULLWIDTH HYPHEN-MINUS}", "\N{FULLWIDTH COMMERCIAL AT}")  # fmt: skip


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith((*_FORMULA, "'")) else text

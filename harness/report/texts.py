"""Render tables as Markdown, LaTeX, CSV and JSON; names are escaped, never markup or commands."""

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
    OPTIONAL,
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
"""Characters at the start of a line that begin a list or underline a heading."""
_LINKED = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
"""Characters that turn an address into a link: https://github.github.com/gfm/#autolinks-extension-."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}


def markdown(document: Document, title: str) -> str:
    """Return a Markdown page for GitHub: the facts, then each table with its notes.

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
    """Escape foreign text so that Markdown shows it unchanged, in a table or outside."""
    plain = _ACTIVE.sub(r"\\\1", printable(text))
    plain = "".join(_ENTITIES.get(character, character) for character in plain)
    return _LINKED.sub(lambda found: f"&#{ord(found[0])};", plain)


def _markdown_item(text: str) -> str:
    return _LISTED.sub(r"\1\\\2", escaped_markdown(text))


def markdown_table(grid: TableModel) -> Iterator[str]:
    """Yield the lines of a table, without its title and notes."""
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
    # After the end of a row, [ and * would be its arguments, and two hyphens would be a dash.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "-": "{-}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    MINUS: "$-$",
    DASH: "--",
    # Outside of the column's width, so that digits stay aligned.
    DAGGER: r"\makebox[0pt][l]{\textsuperscript{\textdagger}}",
    "\N{DOUBLE DAGGER}": r"\textdaggerdbl{}",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
}


def latex(document: Document, title: str) -> str:
    r"""Return a table environment for each table, in booktabs style: https://ctan.org/pkg/booktabs.

    Read the text with `\input` in a document that uses `booktabs`; scripts other than Latin need XeLaTeX or
    LuaLaTeX.

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
    """Escape foreign text so that LaTeX prints it unchanged."""
    plain = "".join(_ESCAPES.get(character, character) for character in printable(text))
    # Two commas would become a quotation mark in the font.
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
"""Maximum columns of figures of a table in one column of a two-column page."""
_COLUMNS_OF_A_PAGE = 12
"""Maximum columns of figures with the usual space between them."""


def _latex_paper(grid: TableModel) -> Iterator[str]:
    """Yield a table for a paper: its notes are its caption, and it is fitted to the page."""
    parts = [
        replace(grid, rows=grid.rows[first : first + _ROWS_OF_A_PAGE])
        for first in range(0, len(grid.rows), _ROWS_OF_A_PAGE)
    ]
    environment = "table" if sum(map(width, grid.groups)) <= _COLUMNS_OF_A_COLUMN else "table*"
    for number, part in enumerate(parts, start=1):
        title = grid.title if number == 1 else f"{grid.title}, continued ({number} of {len(parts)})"
        notes = " ".join(note.strip() for note in grid.notes) if number == 1 else ""
        space = 4 if sum(map(width, grid.groups)) <= _COLUMNS_OF_A_PAGE else 3
        yield from (rf"\begin{{{environment}}}[tp]", r"\centering", r"\small")
        yield rf"\setlength{{\tabcolsep}}{{{space}pt}}"
        yield r"\setlength{\belowcaptionskip}{6pt}"
        yield rf"\caption[{_caption(title)}]{{{_caption(f'{title}. {notes}'.rstrip())}}}"
        if number == 1:
            yield rf"\label{{{grid.anchor}}}"
        # No wider than the text: \width is the natural width of the table.
        yield r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
        yield from _latex_tabular(part)
        yield from ("}", rf"\end{{{environment}}}")


def _caption(text: str) -> str:
    """Return a text for a caption, with daggers in line."""
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
    # Room for a dagger behind the last column of a group.
    between = r"@{\hskip 10pt}" if grid.anchor else ""
    return between.join(["l" * len(grid.labels), *("r" * width(group) for group in grid.groups)])


def _latex_groups(grid: TableModel) -> Iterator[str]:
    """Yield a heading over the columns of each group, and a rule of the same width."""
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
"""Version of `tables.json` and `reproduce.json`, documented in docs/how-to/reports.md."""

COLUMNS = tuple(field.name for field in fields(NamedCell) if field.name not in OPTIONAL)
"""Columns of every CSV; those of `OPTIONAL` follow if a figure has them."""


def csv_text(document: Document) -> str:
    """Return one line per figure, with its full name and every digit; empty for a missing value.

    The format is RFC 4180, but lines end with a line feed.

    A spreadsheet runs any text that begins like a formula, so such a text gets an apostrophe in front
    (https://owasp.org/www-community/attacks/CSV_Injection). So does one that begins with an apostrophe, so
    that readers can always remove one. Unprintable characters are escaped.
    """
    found = [figure.to_json() for grid in document.grids for figure in figures(grid, document.extent)]
    columns = (*COLUMNS, *(name for name in OPTIONAL if any(name in figure for figure in found)))
    rows = ([figure.get(name) for name in columns] for figure in found)
    return "".join(map(_csv_line, (columns, *rows)))


def json_text(document: Document, **more: Any) -> str:
    """Return the same as JSON, a list for each table, with its notes; `more` comes before the tables."""
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
    # In many locales a semicolon ends a cell, and a formula could follow.
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

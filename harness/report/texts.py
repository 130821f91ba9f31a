"""Tables as texts: Markdown, LaTeX, and for programs CSV and JSON. Nobody's name is markup or a command."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from io import StringIO
from typing import Any

from harness.report.formatting import DASH, MINUS, heads, printable, printable_json, texts, width
from harness.report.table_model import Document, NamedCell, TableModel, figures

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
            *_markdown_table(grid),
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


def _markdown_table(grid: TableModel) -> Iterator[str]:
    names = [
        f"{group.head} {head}".strip()
        for group in grid.groups
        for each in group.columns
        for head in heads(each)
    ]
    yield _markdown_line([*map(escaped_markdown, grid.labels), *map(escaped_markdown, names)])
    yield "|---" * len(grid.labels) + "|--:" * len(names) + "|"
    for row in grid.rows:
        yield _markdown_line([*map(escaped_markdown, row.labels), *map(escaped_markdown, texts(grid, row))])


def _markdown_line(cells: Sequence[str]) -> str:
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
    lines.append(
        r"% \usepackage[T1]{fontenc}, \usepackage{booktabs} and \usepackage{textcomp} in the preamble"
    )
    for grid in document.grids:
        lines += ["", *_latex_table(grid)]
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
    yield rf"\begin{{tabular}}{{{_latex_columns(grid)}}}"
    yield r"\toprule"
    yield from _latex_groups(grid)
    names = [head for group in grid.groups for column in group.columns for head in heads(column)]
    yield _latex_row([*grid.labels, *names])
    yield r"\midrule"
    for row in grid.rows:
        yield _latex_row([*row.labels, *texts(grid, row)])
    yield from (r"\bottomrule", r"\end{tabular}")
    for note in grid.notes:
        yield rf"\par\footnotesize {escaped_latex(note.strip())}"
    yield r"\end{table}"


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


def _latex_row(texts_: Sequence[str]) -> str:
    return f"{' & '.join(map(escaped_latex, texts_))} \\\\"


SCHEMA_VERSION = 1
"""Version of `tables.json` and `reproduce.json`; docs/reports.md describes them."""

COLUMNS = tuple(field.name for field in fields(NamedCell))


def csv_text(document: Document) -> str:
    """One line a figure, with all that names it and every digit; empty where there is no value.

    As RFC 4180 has it, but lines end with a line feed.

    To a spreadsheet a text that begins as a formula does is one, wherever it came from: it has an apostrophe
    before it (https://owasp.org/www-community/attacks/CSV_Injection). So has one that begins with an
    apostrophe, so that readers can take one off. What does not print stands as its escape.
    """
    rows = (figure.to_json().values() for grid in document.grids for figure in figures(grid, document.extent))
    return "".join(map(_csv_line, (COLUMNS, *rows)))


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

r"""Tables for papers, in the manner of booktabs: https://ctan.org/pkg/booktabs. Nobody's name is a command.

The text is made to be read by `\input` in a document that uses `booktabs`; one in Unicode beyond Latin needs
XeLaTeX or LuaLaTeX.
"""

from collections.abc import Iterator, Sequence

from harness.report.formatting import DASH, MINUS, heads, printable, texts, width
from harness.report.table_model import Document, TableModel

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
    """A table environment for each table.

    Args:
        document: the tables.
        title: a comment at the top.
    """
    lines = [f"% {printable(title)}", *(f"% {printable(fact)}" for fact in document.facts)]
    lines.append(
        r"% \usepackage[T1]{fontenc}, \usepackage{booktabs} and \usepackage{textcomp} in the preamble"
    )
    for grid in document.grids:
        lines += ["", *_environment(grid)]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """A text of anybody's that prints as it is."""
    plain = "".join(_ESCAPES.get(character, character) for character in printable(text))
    # Two commas would be a quotation mark of the font.
    return plain.replace(",,", ",{},")


def _environment(grid: TableModel) -> Iterator[str]:
    yield from (
        r"\begin{table}[tp]", r"\centering", r"\small", r"\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{escaped(grid.title)}}}",
    )  # fmt: skip
    yield rf"\begin{{tabular}}{{{_columns(grid)}}}"
    yield r"\toprule"
    yield from _groups(grid)
    names = [head for group in grid.groups for column in group.columns for head in heads(column)]
    yield _row([*grid.labels, *names])
    yield r"\midrule"
    for row in grid.rows:
        yield _row([*row.labels, *texts(grid, row)])
    yield from (r"\bottomrule", r"\end{tabular}")
    for note in grid.notes:
        yield rf"\par\footnotesize {escaped(note.strip())}"
    yield r"\end{table}"


def _columns(grid: TableModel) -> str:
    return "l" * len(grid.labels) + "".join("r" * width(group) for group in grid.groups)


def _groups(grid: TableModel) -> Iterator[str]:
    """A head over the columns of each group, and a rule as wide as they are."""
    if not any(group.head for group in grid.groups):
        return
    cells, rules, first = [""] * len(grid.labels), [], len(grid.labels) + 1
    for group in grid.groups:
        last = first + width(group) - 1
        cells.append(rf"\multicolumn{{{width(group)}}}{{c}}{{{escaped(group.head)}}}")
        if group.head:
            rules.append(rf"\cmidrule(lr){{{first}-{last}}}")
        first = last + 1
    yield f"{' & '.join(cells)} \\\\"
    yield " ".join(rules)


def _row(texts_: Sequence[str]) -> str:
    return f"{' & '.join(map(escaped, texts_))} \\\\"

"""Tables for programs: a figure a row, with all that names it and every digit."""

import csv
from collections.abc import Iterable
from dataclasses import fields
from io import StringIO
from typing import Any

from harness.report.formatting import printable, printable_json
from harness.report.table_model import Document, NamedCell, figures

SCHEMA_VERSION = 1
"""Version of `tables.json` and `reproduce.json`; docs/reports.md describes them."""

COLUMNS = tuple(field.name for field in fields(NamedCell))


def csv_text(document: Document) -> str:
    """One line a figure (RFC 4180, but lines end with a line feed); empty where there is no value.

    To a spreadsheet a text that begins as a formula does is one, wherever it came from: it has an apostrophe
    before it (https://owasp.org/www-community/attacks/CSV_Injection). So has one that begins with an
    apostrophe, so that readers can take one off. What does not print stands as its escape.
    """
    rows = (figure.to_json().values() for grid in document.grids for figure in figures(grid, document.extent))
    return "".join(map(_line, (COLUMNS, *rows)))


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


def _line(values: Iterable[Any]) -> str:
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

"""Tables for programs: a figure a row, with all that names it and every digit."""

import csv
import json
from collections.abc import Iterable
from dataclasses import fields
from io import StringIO
from typing import Any

from harness.report.grids import Document, Figure, figures

SCHEMA_VERSION = 1
"""Version of `tables.json` and `reproduce.json`; docs/reports.md describes them."""

COLUMNS = tuple(field.name for field in fields(Figure))


def csv_text(document: Document) -> str:
    """One line a figure (RFC 4180, but lines end with a line feed); empty where there is no value."""
    rows = (figure.to_json().values() for grid in document.grids for figure in figures(grid, document.extent))
    return _encodable("".join(map(_line, (COLUMNS, *rows))))


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
    # Half of a surrogate pair, which UTF-8 cannot hold, is an escape to JSON.
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return (text if _encodable(text) == text else json.dumps(content, indent=2)) + "\n"


def _line(values: Iterable[Any]) -> str:
    text = StringIO()
    # With another line end than this, Python before 3.13 leaves a carriage return in a text unquoted.
    csv.writer(text, lineterminator="\r\n").writerow(values)
    return text.getvalue().removesuffix("\r\n") + "\n"


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")

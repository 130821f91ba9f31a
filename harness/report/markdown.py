"""Tables as GitHub shows them: https://github.github.com/gfm/#tables-extension-. Nobody's name is markup."""

import re
from collections.abc import Iterator, Sequence

from harness.report.formatting import heads, printable, texts
from harness.report.table_model import Document, TableModel

_ACTIVE = re.compile(r"([\\`*_\[\]~|$#])")
_LISTED = re.compile(r"^(\s*\d*)([-+.)=])(?=\s|$)")
"""What begins a list, or underlines a heading, where it stands first in a line."""
_LINKED = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
"""What makes a link of an address: https://github.github.com/gfm/#autolinks-extension-."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}


def markdown(document: Document, title: str) -> str:
    """A page: what the tables are of, then each with its notes.

    Args:
        document: the tables.
        title: heads the page.
    """
    lines = [f"# {escaped(title)}", "", *(f"- {_item(fact)}" for fact in document.facts)]
    for grid in document.grids:
        lines += ["", f"## {escaped(grid.title)}", "", *_table(grid), *_notes(grid.notes)]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """A text of anybody's that shows as it is, in a table or outside."""
    plain = _ACTIVE.sub(r"\\\1", printable(text))
    plain = "".join(_ENTITIES.get(character, character) for character in plain)
    return _LINKED.sub(lambda found: f"&#{ord(found[0])};", plain)


def _item(text: str) -> str:
    return _LISTED.sub(r"\1\\\2", escaped(text))


def _table(grid: TableModel) -> Iterator[str]:
    names = [
        f"{group.head} {head}".strip()
        for group in grid.groups
        for each in group.columns
        for head in heads(each)
    ]
    yield _line([*map(escaped, grid.labels), *map(escaped, names)])
    yield "|---" * len(grid.labels) + "|--:" * len(names) + "|"
    for row in grid.rows:
        yield _line([*map(escaped, row.labels), *map(escaped, texts(grid, row))])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _notes(notes: Sequence[str]) -> Iterator[str]:
    if notes:
        yield ""
    for note in notes:
        indent = "  " if note.startswith("  ") else ""
        yield f"{indent}- {_item(note.strip())}"

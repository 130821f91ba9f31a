"""The sections of docs/efficiency.md that a study renews, one a part."""

from collections.abc import Sequence
from pathlib import Path

from dialects.errors import BadInput
from harness.report.table_model import Document
from harness.report.texts import markdown
from loaders.base.files import replace_section

PAGE = Path(__file__).parents[3] / "docs" / "efficiency.md"

MOST_ROWS = 45
"""Of a table on the page; longer ones are in the folder of the study."""


def section(document: Document, part: str, command: str) -> str:
    """The shorter tables of a part, as Markdown, below the command that makes them.

    Raises:
        BadInput: the study did not run the part.
    """
    head = f"{part.upper()}: "
    tables = [grid for grid in document.grids if grid.title.startswith(head)]
    if not tables:
        raise BadInput(f"--update: {part} was not run, so its section stays; name it with --part")
    shown = tuple(grid for grid in tables if len(grid.rows) <= MOST_ROWS)
    text = markdown(Document(document.run_id, document.facts, shown), "").partition("\n")[2].strip()
    longer = [grid.title for grid in tables if grid not in shown]
    more = f"\n\nIn the folder of the study, too: {'; '.join(longer)}." if longer else ""
    return f"`{command}`:\n\n{text.replace(chr(10) + '## ', chr(10) + '#### ')}{more}\n"


def update_page(document: Document, parts: Sequence[str], command: Sequence[str], page: Path = PAGE) -> None:
    """Renew the sections of parts; paths in the command stand there by their last names.

    Raises:
        BadInput: a part has no section there, or the page cannot be written.
    """
    words = [f"{option}{equals}{Path(value).name}" for option, equals, value in map(_halves, command)]
    for part in parts:
        replace_section(page, part, section(document, part, " ".join(words)))


def _halves(word: str) -> tuple[str, str, str]:
    return word.partition("=")

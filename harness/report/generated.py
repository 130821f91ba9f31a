"""Sections of the documentation that a command writes, between two comments with the section's name."""

from pathlib import Path

from dialects.errors import BadInput


def replace_section(path: Path, name: str, text: str) -> None:
    """Write the section of that name anew; the rest of the page stays.

    Raises:
        BadInput: the page is not there, or has no such section.
    """
    first, last = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    try:
        page = path.read_text(encoding="utf-8")
        before, found, rest = page.partition(first)
        _, closed, after = rest.partition(last)
        if not (found and closed):
            raise BadInput(
                f"{path}: has no section '{first} ... {last}'; add it where the figures are to stand"
            )
        path.write_text(f"{before}{first}\n{text}{last}{after}", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}); --update needs a checkout") from error

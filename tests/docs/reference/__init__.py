"""The reference pages, written from the code. `python -m tests.docs.reference` renews `docs/reference`."""

import sys
from collections.abc import Iterable, Mapping

from tests.docs.blocks import ROOT
from tests.docs.reference.api import api
from tests.docs.reference.command_line import cli, make
from tests.docs.reference.extraction import extraction
from tests.docs.reference.functions import on_other_engines
from tests.docs.reference.plugin import plugin
from tests.docs.reference.records import file_formats, rewrites
from tests.docs.reference.vocabularies import errors, vocabularies
from tests.docs.reference.written import COMMAND, WRITTEN

HOME = ROOT / "docs" / "reference"


def pages() -> Mapping[str, str]:
    """The text of each page that is written from the code, wholly or in part, by its file name."""
    return {
        "cli.md": f"{cli()}\n{make()}\n{plugin()}",
        "api.md": api(),
        "extraction.md": extraction(),
        "words.md": f"{vocabularies()}\n{errors()}",
        "file-formats.md": file_formats(HOME / "file-formats.md"),
        "rewrites.md": rewrites(on_other_engines(HOME / "rewrites.md")),
    }


def stale() -> list[str]:
    """Names of pages that are not what the code says now, or that nothing writes."""
    wanted = pages()
    texts = {path.name: path.read_text(encoding="utf-8") for path in HOME.glob("*.md")}
    there = {name: text for name, text in texts.items() if name in wanted or text.startswith(WRITTEN)}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def main(arguments: Iterable[str]) -> int:
    """Write the pages, or with `--check` only say which are stale; 1 where any is."""
    if "--check" in arguments:
        old = stale()
        if old:
            sys.stderr.write(f"docs/reference: {', '.join(old)} not as the code has it; run `{COMMAND}`\n")
        return 1 if old else 0
    HOME.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for path in HOME.glob("*.md"):
        if path.name not in wanted and path.read_text(encoding="utf-8").startswith(WRITTEN):
            path.unlink()
    for name, text in wanted.items():
        (HOME / name).write_text(text, encoding="utf-8")
    return 0

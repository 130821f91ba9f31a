"""The tables of pages that are otherwise written by hand: keys of prediction files' records, lowerings."""

from pathlib import Path

from dialects.lowerings import EXAMPLE, LOWERINGS, MEASURED, Lowering
from dialects.targets import TARGETS
from harness.data.answer_records import FIELDS, RecordField
from tests.docs.reference.markdown import cell

_BEGIN = "| field of `--keys` | keys | value |\n"


def file_formats(page: Path) -> str:
    """The page with its table as the code has it."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    return "".join(
        (before, begin, "|---|---|---|\n", *map(_row, FIELDS.values()), rest[rest.index("\n\n") + 1 :])
    )


def _row(each: RecordField) -> str:
    weak = f"; if none of them is there, {_listed(each.weak)}" if each.weak else ""
    return f"| `{each.option}` | {_listed(each.keys)}{weak} | {cell(each.value)} |\n"


def _listed(keys: tuple[str, ...]) -> str:
    return ", ".join(f"`{key}`" for key in keys)


_LOWERINGS = "## Lowerings\n"

_ABOUT = """What a target cannot do, or does otherwise than SQLite, has a name in
`dialects/<name>/lowerings.py`. A test runs each query with and without its lowering: without it, the query
fails or has other rows. The test fails for a lowering that the server's version no longer needs. Give it that
version as `until`, and remove it with its change, or with the code that asks for it, once no supported
version needs it. The queries read this database:
"""

_LONGEST = 150
"""Characters of a query that is shown whole."""


def rewrites(page: str) -> str:
    """The page's text with its last section as the code has it."""
    before, heading, _ = page.partition(_LOWERINGS)
    return before + heading + lowerings()


def lowerings() -> str:
    """The text of a section: what each target cannot do, or does otherwise, and what is written instead."""
    parts = [f"\n{_ABOUT}\n```sql\n{EXAMPLE.strip()}\n```\n"]
    for target, found in LOWERINGS.items():
        rows = "".join(map(_lowering, sorted(found, key=lambda each: each.name)))
        heading = f"### {TARGETS[target].title}\n\n| lowering | why | query | instead |\n|---|---|---|---|\n"
        parts.append(f"\n{heading}{rows}")
    return "".join(parts)


def _lowering(each: Lowering) -> str:
    source = "measured" if each.source == MEASURED else f"[source]({each.source})"
    versions = "".join(
        f", {word} {version}" for word, version in (("since", each.since), ("until", each.until)) if version
    )
    query = each.query if len(each.query) <= _LONGEST else f"{each.query[:_LONGEST].rsplit(' ', 1)[0]} ..."
    why = f"{each.why} ({source}{versions})"
    return f"| {each.name} | {cell(why)} | `{cell(query)}` | {cell(each.instead or 'Refused.')} |\n"

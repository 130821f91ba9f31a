"""The table of a page that is otherwise written by hand: the keys of prediction files' records."""

from pathlib import Path

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

"""What `bird-harness census` says about SQLite files: a line a column, and all that stops a load."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.report.formatting import printable_json
from loaders.inventory import ColumnInventory, Inventory, Range, Stop


def census_lines(found: Inventory) -> Iterator[str]:
    """One file for a person."""
    yield f"{found.path}: {found.encoding}, {_counted(len(found.tables), 'table')}"
    for table in found.tables:
        yield f"  {table.name}: {_counted(table.rows, 'row')}"
        names = max((len(column.column) for column in table.columns), default=0)
        for column in table.columns:
            type_ = column.type or "none"
            yield f"    {column.column:{names}}  {column.declared or '-'} -> {type_}: {_holds(column)}"
            for stop in column.stops:
                yield f"      stops a load: {_stop(stop)}"
    for note in found.notes:
        yield f"  note: {note}"


def census_json(found: Sequence[Inventory]) -> str:
    """All files as a JSON array; an infinite number is a text."""
    return printable_json([_plain(asdict(one)) for one in found])


def _holds(column: ColumnInventory) -> str:
    """What stands in a column, class by class."""
    facts: dict[str, Sequence[str]] = {
        "integer": [_range(column.integers, "")],
        "real": [_range(column.reals, "")],
        "text": [
            _range(column.characters, " characters"),
            _range(column.text_bytes, " bytes"),
            f"{column.with_nul:,} with NUL" if column.with_nul else "",
            f"{column.not_text:,} with bytes that are no characters" if column.not_text else "",
            *(f"{count:,} {form}" for form, count in column.dates.items()),
        ],
        "blob": [_range(column.blob_bytes, " bytes")],
    }
    parts = [
        f"{count:,} {kind}{_bracketed([fact for fact in facts.get(kind, ()) if fact])}"
        for kind, count in column.classes.items()
    ]
    return ", ".join(parts) or "nothing"


def _bracketed(facts: Sequence[str]) -> str:
    return f" ({'; '.join(facts)})" if facts else ""


def _range(ends: Range | None, unit: str) -> str:
    if ends is None:
        return ""
    least, greatest = ends
    return f"{least}{unit}" if least == greatest else f"{least} to {greatest}{unit}"


def _stop(stop: Stop) -> str:
    profiles: dict[str, list[str]] = {}
    for dialect, profile in stop.on:
        profiles.setdefault(dialect, []).append(profile)
    on = [f"{dialect} ({', '.join(names)})" for dialect, names in profiles.items()]
    return f"{_counted(stop.values, 'value')}, the first in {stop.where}: {stop.what}; on {' and '.join(on)}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if value is None or (isinstance(value, int | float) and abs(value) != float("inf")):
        return value
    return str(value)

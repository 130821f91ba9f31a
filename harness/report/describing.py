"""Tables of what question sets consist of, one set beside the other: for every form from one model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.data.sets.describing import Description, Spread, Use
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    Document,
    TableColumn,
    TableModel,
    TableRow,
    printable_json,
)
from harness.sqltree.constructs import CATEGORIES, NGRAM
from loaders.inventory import ColumnInventory, Inventory, Range, Stop

MOST_FUNCTIONS = 15
"""How many functions are listed."""
_MEGABYTE = 1_000_000
_KINDS = ("text", "integer", "real", "date", "datetime", "blob")
_MOST_JOINS = 5
"""From so many JOINs on, golds are counted together."""


def described(sets: Sequence[Description]) -> Document:
    """Every table of one or several sets, with what is left out."""
    left_out = [line for one in sets for line in one.left_out]
    tables = (
        _overview(sets),
        _levels(sets),
        _databases(sets),
        _values(sets),
        _sql(sets),
        _joins(sets),
        _categories(sets),
        _keywords(sets),
        _functions(sets),
    )
    # A table in which nothing stands would only say so.
    return Document(
        ", ".join(one.name for one in sets), tuple(left_out), tuple(one for one in tables if one.rows)
    )


def _column(head: str, metric: str, kind: CellKind = CellKind.COUNT, *, by: str = "set") -> TableColumn:
    # In a line, where the console would break the words that belong together.
    short = head if head.startswith(("%", "/")) else ""
    return TableColumn(head, metric, by, kind=kind, short=short)


def _overview(sets: Sequence[Description]) -> TableModel:
    columns = (
        _column("examples", "examples"),
        _column("databases", "databases"),
        _column("domains", "domains"),
        _column("tables / database", "tables", CellKind.MEAN),
        _column("columns / database", "columns", CellKind.MEAN),
        _column("rows / database", "rows", CellKind.MEAN),
        _column("size MB", "megabytes", CellKind.PERCENT),
        _column("function %", "function_percent", CellKind.PERCENT),
        _column("knowledge %", "knowledge_percent", CellKind.PERCENT),
    )
    rows = []
    for one in sets:
        domains = {each.domain for each in one.databases.values() if each.domain}
        sizes = one.sizes
        cells = (
            one.questions,
            len(one.databases),
            len(domains) or None,
            one.per_database(lambda size: size.tables),
            one.per_database(lambda size: size.columns),
            one.per_database(lambda size: size.rows),
            sum(size.file_bytes for size in sizes) / _MEGABYTE if sizes else None,
            _percent(one.golds.with_function, one.golds.counted),
            _percent(one.with_knowledge, one.questions),
        )
        rows.append(TableRow((one.name,), tuple(map(Cell, cells)), one.name))
    notes = (
        "function: golds that call an SQL function; knowledge: questions with evidence.",
        "size: the files of all databases together.",
    )
    return TableModel("Overview", ("set",), (ColumnGroup("", columns),), tuple(rows), notes)


def _levels(sets: Sequence[Description]) -> TableModel:
    return _shares(
        "Questions by difficulty", "difficulty", "questions", sets,
        lambda one: one.levels, lambda one: one.questions,
    )  # fmt: skip


def _joins(sets: Sequence[Description]) -> TableModel:
    def counted(one: Description) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for joins, golds in one.golds.joins.items():
            name = f"{_MOST_JOINS} or more" if joins >= _MOST_JOINS else str(joins)
            found[name] = found.get(name, 0) + golds
        return found

    return _shares(
        "Golds by number of JOINs", "JOINs", "golds", sets,
        counted, lambda one: one.golds.counted, in_order=True,
    )  # fmt: skip


def _shares(  # noqa: PLR0913, PLR0917 - what a table of shares is made of
    title: str,
    label: str,
    unit: str,
    sets: Sequence[Description],
    counts: Callable[[Description], Mapping[str, int]],
    total: Callable[[Description], int],
    *,
    in_order: bool = False,
) -> TableModel:
    """A row a group, and for each set how many there are and in percent of all."""
    found = [counts(one) for one in sets]
    names = list(dict.fromkeys(name for one in found for name in one))
    if in_order:
        names.sort()
    by = label.lower()
    columns = (_column(unit, unit, by=by), _column("%", f"{unit}_percent", CellKind.PERCENT, by=by))
    rows = []
    for name in names:
        cells: list[Cell | None] = []
        for one, held in zip(sets, found, strict=True):
            has = name in held
            cells += [Cell(held[name]), Cell(_percent(held[name], total(one)))] if has else [None, None]
        rows.append(TableRow((name,), tuple(cells), "", level=name))
    return TableModel(title, (label,), _groups(sets, columns), tuple(rows))


def _groups(sets: Sequence[Description], columns: tuple[TableColumn, ...]) -> tuple[ColumnGroup, ...]:
    return tuple(ColumnGroup(one.name if len(sets) > 1 else "", columns) for one in sets)


def _databases(sets: Sequence[Description]) -> TableModel:
    columns = (
        _column("questions", "questions", by="database"),
        _column("%", "questions_percent", CellKind.PERCENT, by="database"),
        _column("tables", "tables", by="database"),
        _column("columns", "columns", by="database"),
        _column("rows", "rows", by="database"),
        _column("size MB", "megabytes", CellKind.PERCENT, by="database"),
    )
    rows = []
    for one in sets:
        for db_id, about in one.databases.items():
            size = about.size
            held: tuple[float | None, ...] = (None,) * 4
            if size is not None:
                held = (size.tables, size.columns, size.rows, size.file_bytes / _MEGABYTE)
            cells = (about.questions, _percent(about.questions, one.questions), *held)
            labels = (one.name, db_id, about.domain or "")
            rows.append(TableRow(labels, tuple(map(Cell, cells)), one.name, level=db_id))
    return TableModel("Databases", ("set", "database", "domain"), (ColumnGroup("", columns),), tuple(rows))


def _values(sets: Sequence[Description]) -> TableModel:
    columns = tuple(_column(kind, "values_percent", CellKind.PERCENT, by=kind) for kind in _KINDS)
    rows = []
    for one in sets:
        values, total = one.values, sum(one.values.values())
        if total:
            cells = tuple(Cell(_percent(values.get(kind, 0), total), questions=total) for kind in _KINDS)
            rows.append(TableRow((one.name,), cells, one.name))
    notes = ("Of all stored values but NULL. Texts that are the date of a day or a moment count as such.",)
    return TableModel("Value types (%)", ("set",), (ColumnGroup("", columns),), tuple(rows), notes)


def _sql(sets: Sequence[Description]) -> TableModel:
    measures: Mapping[str, Callable[[Description], Spread | None]] = {
        "tokens": lambda one: one.golds.tokens,
        "JOINs": lambda one: one.golds.joins_each,
        "keywords": lambda one: one.golds.keywords_each,
        f"{NGRAM}-grams": lambda one: one.golds.ngrams,
    }
    columns = (
        _column("mean", "mean", CellKind.PERCENT, by="sql"),
        _column("median", "median", CellKind.MEAN, by="sql"),
        _column("most", "most", by="sql"),
    )
    rows = []
    for name, of in measures.items():
        cells: list[Cell] = []
        for one in sets:
            found = of(one)
            cells += map(Cell, (found.mean, found.median, found.greatest) if found else (None,) * 3)
        rows.append(TableRow((f"{name} / SQL",), tuple(cells), "", level=name))
    notes = (
        "tokens: words, names, literals and signs. keywords: occurrences of those of the seven categories.",
        f"{NGRAM}-grams: different sequences of {NGRAM} tokens.",
    )
    return TableModel("SQL", ("measure",), _groups(sets, columns), tuple(rows), notes)


def _categories(sets: Sequence[Description]) -> TableModel:
    columns = (
        _column("occurrences", "occurrences", by="category"),
        _column("/ SQL", "each", CellKind.PERCENT, by="category"),
    )
    rows = []
    for category, words in CATEGORIES.items():
        cells: list[Cell] = []
        for one in sets:
            found = sum(one.golds.keywords[word].occurrences for word in words)
            cells += [Cell(found), Cell(found / one.golds.counted if one.golds.counted else None)]
        rows.append(TableRow((category,), tuple(cells), "", level=category))
    return TableModel("Keywords by category", ("category",), _groups(sets, columns), tuple(rows))


def _uses(
    title: str,
    labels: tuple[str, ...],
    sets: Sequence[Description],
    found: Sequence[tuple[tuple[str, ...], Sequence[Use]]],
    notes: tuple[str, ...] = (),
) -> TableModel:
    """A row for each of `found`, which has its labels and its use in every set."""
    by = labels[-1]
    columns = (
        _column("occurrences", "occurrences", by=by),
        _column("golds", "golds", by=by),
        _column("% of golds", "golds_percent", CellKind.PERCENT, by=by),
    )
    rows = []
    for names, uses in found:
        cells: list[Cell] = []
        for one, use in zip(sets, uses, strict=True):
            cells += [Cell(use.occurrences), Cell(use.golds), Cell(_percent(use.golds, one.golds.counted))]
        rows.append(TableRow(names, tuple(cells), "", level=names[-1]))
    return TableModel(title, labels, _groups(sets, columns), tuple(rows), notes)


def _keywords(sets: Sequence[Description]) -> TableModel:
    found = [
        ((category, word), [one.golds.keywords[word] for one in sets])
        for category, words in CATEGORIES.items()
        for word in words
    ]
    return _uses("Keywords", ("category", "keyword"), sets, found)


def _functions(sets: Sequence[Description]) -> TableModel:
    names = list(dict.fromkeys(name for one in sets for name in _first(one)))
    found = [((name,), [one.golds.functions.get(name, Use(0, 0)) for one in sets]) for name in names]
    most = max((len(one.golds.functions) for one in sets), default=0)
    notes = (f"The {MOST_FUNCTIONS} most frequent of each set.",) if most > MOST_FUNCTIONS else ()
    return _uses("Functions", ("function",), sets, found, notes)


def _first(one: Description) -> Iterator[str]:
    yield from list(one.golds.functions)[:MOST_FUNCTIONS]


def _percent(part: float, whole: float) -> float | None:
    return 100 * part / whole if whole else None


# What `bird-harness census` says about SQLite files: a line a column, and all that stops a load.


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

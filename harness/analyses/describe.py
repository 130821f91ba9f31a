"""Figures of question sets and SQLite files: those that BIRD's paper prints of sets, and the census.

docs/how-to/question-set.md says what each figure counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.descriptions import MARKED, WINDOWS, description_folder, read_descriptions
from harness.data.published_scores import birds_paper
from harness.data.questions import Question, QuestionSet, cached_types
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    Document,
    TableColumn,
    TableModel,
    TableRow,
    columns,
    row,
    table,
)
from harness.sqltree.constructs import (
    CATEGORIES,
    FUNCTIONS,
    KEYWORDS,
    NGRAM,
    OF_EVIDENCE,
    WINDOW,
    SqlCounts,
    count,
    function_kinds,
)
from loaders.base.files import one_line, printable_json
from loaders.inventory import ColumnInventory, Inventory, Range, Size, Stop, size
from loaders.source import declarations, opened


@dataclass(frozen=True)
class Spread:
    """A figure of many texts."""

    mean: float
    median: float
    greatest: int


@dataclass(frozen=True)
class Use:
    """How often something occurs in the golds, and in how many of them."""

    occurrences: int
    golds: int


@dataclass(frozen=True)
class DescriptionFiles:
    """The description files of a database, checked against it.

    `described` of the database's `columns` have a meaning or values described. `encodings` counts the files
    of each; `faults` has a line for each description that belongs to nothing, and each table without a file.
    """

    described: int
    columns: int
    encodings: Mapping[str, int]
    faults: Sequence[str]


@dataclass(frozen=True)
class DatabaseDescription:
    """One database: how many questions are about it, and how much it holds; None where it is not there.

    `files` are those that describe its columns; None if it has none.
    """

    questions: int
    domain: str | None
    size: Size | None
    files: DescriptionFiles | None = None


@dataclass(frozen=True)
class CountedGolds:
    """The golds of one dialect.

    `counted` of them could be cut into words; everything else is of these. `joins` has how many golds have
    so many JOINs, `kinds` how many call a function of each kind, `with_function` how many one of any kind.
    """

    dialect: Dialect
    counted: int
    tokens: Spread | None
    joins_each: Spread | None
    keywords_each: Spread | None
    ngrams: Spread | None
    joins: Mapping[int, int]
    keywords: Mapping[str, Use]
    functions: Mapping[str, Use]
    kinds: Mapping[str, int]
    with_function: int


@dataclass(frozen=True)
class Description:
    """One question set.

    `levels` has the questions of each level of difficulty, in the set's order, `types` those of each type
    that can be decided, which are the set's own if `has_own_types`, and `with_knowledge` how many have
    evidence. `left_out` says in sentences what could not be counted.
    """

    name: str
    title: str
    questions: int
    with_knowledge: int
    dialects: Sequence[Dialect]
    levels: Mapping[str, int]
    types: Mapping[str, int]
    has_own_types: bool
    databases: Mapping[str, DatabaseDescription]
    golds: CountedGolds
    left_out: Sequence[str]

    @property
    def sizes(self) -> list[Size]:
        """Those of the databases that are there."""
        return [one.size for one in self.databases.values() if one.size is not None]

    @property
    def values(self) -> Mapping[str, int]:
        """How many stored values there are of each kind, without NULL."""
        total: Counter[str] = Counter()
        for each in self.sizes:
            total.update(each.values)
        return {kind: found for kind, found in total.items() if kind != "null"}

    def per_database(self, figure: Callable[[Size], int]) -> float | None:
        """Return the mean over the databases that are there; None if none is."""
        sizes = self.sizes
        return sum(map(figure, sizes)) / len(sizes) if sizes else None


def describe(questions: QuestionSet, asked: Dialect | None = None) -> Description:
    """Count what a set consists of.

    Args:
        questions: the set, or what was chosen of it; files of databases may be missing.
        asked: whose golds are counted; None: SQLite's, or those of the server that has the databases.

    Raises:
        BadInput: there are no golds in the dialect.
    """
    dialect = asked or questions.reference
    golds = [one.gold[dialect] for one in questions.questions if dialect in one.gold]
    if not golds:
        held = ", ".join(_dialects(questions))
        raise BadInput(f"--dialect {dialect}: {questions.name} has no gold in it; it has gold in {held}")
    left_out: list[str] = []
    about = Counter(question.db_id for question in questions.questions)
    databases = {
        db_id: DatabaseDescription(
            about[db_id],
            questions.domains.get(db_id),
            _size(questions, db_id, left_out),
            description_files(questions, db_id, left_out),
        )
        for db_id in questions.db_ids
    }
    absent = [db_id for db_id, one in databases.items() if one.size is None]
    if questions.server is not None:
        left_out.append(
            f"{questions.name}: its databases stand on a {dialect} server, so their tables, rows and values"
            " are left out"
        )
    elif absent:
        left_out.insert(
            0,
            f"{questions.name}: {len(absent)} of {len(databases)} databases are not there or cannot be"
            f" read, so their tables, rows and values are left out ({', '.join(absent)})",
        )
    if not any(one.domain for one in databases.values()):
        left_out.append(f"{questions.name}: no domains are named for its databases, so none are shown")
    figures = _golds(golds, dialect)
    if figures.counted < len(golds):
        left_out.append(
            f"{questions.name}: {len(golds) - figures.counted} of {len(golds)} golds cannot be cut into words"
        )
    levels = Counter(str(question.difficulty) for question in questions.questions)
    types = Counter(each for one in cached_types(questions.questions).values() for each in one)
    with_knowledge = sum(bool(question.evidence.strip()) for question in questions.questions)
    # Without evidence nothing decides them: unknown, not 0.
    undecided = () if with_knowledge or questions.own_types else OF_EVIDENCE
    return Description(
        name=questions.name,
        title=questions.title,
        questions=len(questions.questions),
        with_knowledge=with_knowledge,
        dialects=_dialects(questions),
        levels={each: levels[each] for each in questions.levels},
        types={each: types[each] for each in questions.types if each not in undecided},
        has_own_types=bool(questions.own_types),
        databases=databases,
        golds=figures,
        left_out=left_out,
    )


def _dialects(questions: QuestionSet) -> list[Dialect]:
    first: Question = questions.questions[0]
    return [dialect for dialect in Dialect if dialect in first.gold]


def _size(questions: QuestionSet, db_id: str, left_out: list[str]) -> Size | None:
    path = questions.database(db_id).sqlite_path
    if not path.is_file():
        return None
    try:
        return size(path)
    except BadInput as error:
        left_out.append(str(error))
        return None


def description_files(questions: QuestionSet, db_id: str, left_out: list[str]) -> DescriptionFiles | None:
    """Check the description files of a database against it; None if there are none.

    Args:
        questions: the set.
        db_id: the database.
        left_out: gets a line if a file cannot be read.
    """
    path = questions.database(db_id).sqlite_path
    folder = description_folder(questions.databases, db_id)
    if not (path.is_file() and folder.is_dir()):
        return None
    try:
        with opened(path) as connection:
            tables = {
                table.name: [column.name for column in table.columns]
                for table in declarations(connection).tables
            }
        found = read_descriptions(folder, db_id, tables)
    except BadInput as error:
        left_out.append(str(error))
        return None
    columns = sum(map(len, tables.values()))
    return DescriptionFiles(found.described, columns, dict(Counter(found.encodings.values())), found.faults)


def _golds(golds: Sequence[str], dialect: Dialect) -> CountedGolds:
    counts = [found for sql in golds if (found := count(sql, dialect)) is not None]
    return CountedGolds(
        dialect=dialect,
        counted=len(counts),
        tokens=_spread(one.tokens for one in counts),
        joins_each=_spread(one.joins for one in counts),
        keywords_each=_spread(sum(one.keywords.values()) for one in counts),
        ngrams=_spread(one.ngrams for one in counts),
        joins=dict(sorted(Counter(one.joins for one in counts).items())),
        keywords={word: _use(word, counts, lambda one: one.keywords) for word in KEYWORDS},
        functions=_called(counts),
        kinds={
            kind: sum(kind in each for each in map(function_kinds, counts)) for kind in (WINDOW, *FUNCTIONS)
        },
        with_function=sum(map(bool, map(function_kinds, counts))),
    )


def _spread(values: Iterable[int]) -> Spread | None:
    found = list(values)
    return Spread(sum(found) / len(found), float(median(found)), max(found)) if found else None


def _use(name: str, counts: Sequence[SqlCounts], of: Callable[[SqlCounts], Mapping[str, int]]) -> Use:
    found = [of(one).get(name, 0) for one in counts]
    return Use(sum(found), sum(map(bool, found)))


def _called(counts: Sequence[SqlCounts]) -> dict[str, Use]:
    """Return the functions that are called, the most frequent first."""
    occurrences, golds = Counter[str](), Counter[str]()
    for one in counts:
        occurrences.update(one.functions)
        golds.update(one.functions.keys())
    return {
        name: Use(occurrences[name], golds[name])
        for name in sorted(occurrences, key=lambda name: (-golds[name], -occurrences[name], name))
    }


# Tables of sets, side by side.

MOST_FUNCTIONS = 15
"""How many functions are listed."""
_MEGABYTE = 1_000_000
_KINDS = ("text", "integer", "real", "date", "datetime", "blob")
_MOST_JOINS = 5
"""From so many JOINs on, golds are counted together."""

_COUNT, _MEAN, _PERCENT = CellKind.COUNT, CellKind.MEAN, CellKind.PERCENT

_Value = float | None


def described(sets: Sequence[Description]) -> Document:
    """Return every table of one or several sets, with the remarks."""
    left_out = [line for one in sets for line in one.left_out]
    tables = (
        _overview(sets),
        _shares(
            "Questions by difficulty", "difficulty", "questions", sets,
            [(one.levels, one.questions) for one in sets],
        ),
        _types(sets),
        _databases(sets),
        _files(sets),
        _values(sets),
        _sql(sets),
        _shares(
            "Golds by number of JOINs", "JOINs", "golds", sets,
            [(_joins(one), one.golds.counted) for one in sets], in_order=True,
        ),
        _categories(sets),
        _uses("Keywords", ("category", "keyword"), sets, [
            ((category, word), [one.golds.keywords[word] for one in sets])
            for category, words in CATEGORIES.items()
            for word in words
        ]),
        _shares(
            "Golds by kind of function", "kind", "golds", sets,
            [(one.golds.kinds, one.golds.counted) for one in sets],
        ),
        _functions(sets),
    )  # fmt: skip
    # An empty table would only say so.
    return Document(
        ", ".join(one.name for one in sets), tuple(left_out), tuple(one for one in tables if one.rows)
    )


def _columns(by: str, *heads: tuple[str, str, CellKind]) -> tuple[TableColumn, ...]:
    # In a line, where the console would break the words that belong together.
    return tuple(
        replace(one, short=one.head) if one.head.startswith(("%", "/")) else one
        for one in columns(by, *heads)
    )


def _beside(sets: Sequence[Description], one_set: TableModel) -> TableModel:
    """Return a table whose columns are those of one set, once for each set; the rows are of all."""
    [own] = one_set.groups
    groups = (replace(own, head=one.name if len(sets) > 1 else "") for one in sets)
    return replace(one_set, groups=tuple(groups))


def _overview(sets: Sequence[Description]) -> TableModel:
    heads = _columns(
        "set",
        ("examples", "examples", _COUNT),
        ("databases", "databases", _COUNT),
        ("domains", "domains", _COUNT),
        ("tables / database", "tables", _MEAN),
        ("columns / database", "columns", _MEAN),
        ("rows / database", "rows", _MEAN),
        ("size MB", "megabytes", _PERCENT),
        ("function %", "function_percent", _PERCENT),
        ("knowledge %", "knowledge_percent", _PERCENT),
    )
    rows = []
    for one in sets:
        domains = {each.domain for each in one.databases.values() if each.domain}
        sizes = one.sizes
        values = (
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
        rows.append(row([one.name], values, predictor=one.name))
    notes = (
        "function: golds that call a window, date, conversion, math or string function; aggregates are none.",
        "knowledge: questions with evidence.",
        "size: the files of all databases together.",
    )
    return table("Overview", ["set"], heads, rows, *notes)


def _joins(one: Description) -> Mapping[str, int]:
    found: Counter[str] = Counter()
    for joins, golds in one.golds.joins.items():
        found[f"{_MOST_JOINS} or more" if joins >= _MOST_JOINS else str(joins)] += golds
    return found


def _shares(  # noqa: PLR0913 - what a table of shares is made of
    title: str,
    label: str,
    unit: str,
    sets: Sequence[Description],
    found: Sequence[tuple[Mapping[str, int], int]],
    *,
    in_order: bool = False,
) -> TableModel:
    """Return a row for each group: for each set the number of questions and their share in percent."""
    names = list(dict.fromkeys(name for counts, _ in found for name in counts))
    if in_order:
        names.sort()
    own = _columns(label.lower(), (unit, unit, _COUNT), ("%", f"{unit}_percent", _PERCENT))
    rows = []
    for name in names:
        cells = [
            Cell(value) if name in counts else None
            for counts, total in found
            for value in (counts.get(name), _percent(counts.get(name, 0), total))
        ]
        rows.append(TableRow((name,), tuple(cells), "", level=name))
    return _beside(sets, table(title, [label], own, rows))


def _types(sets: Sequence[Description]) -> TableModel:
    """Tabulate how many questions are of each type, with the paper's shares where its types are shown."""
    found = [(one.types, one.questions) for one in sets]
    shares = _shares("Questions by type", "type", "questions", sets, found)
    shares = replace(shares, notes=("A question may be of several types.",))
    if any(one.has_own_types for one in sets):
        return shares
    paper = ColumnGroup("BIRD's paper", _columns("type", ("%", "paper_percent", _PERCENT)))
    printed = {str(one.type): one.share for one in birds_paper().types}
    rows = (replace(each, cells=(*each.cells, Cell(printed[each.level]))) for each in shares.rows)
    return replace(shares, groups=(*shares.groups, paper), rows=tuple(rows))


def _databases(sets: Sequence[Description]) -> TableModel:
    heads = _columns(
        "database",
        ("questions", "questions", _COUNT),
        ("%", "questions_percent", _PERCENT),
        ("tables", "tables", _COUNT),
        ("columns", "columns", _COUNT),
        ("rows", "rows", _COUNT),
        ("size MB", "megabytes", _PERCENT),
    )
    rows = []
    for one in sets:
        for db_id, about in one.databases.items():
            size = about.size
            held: tuple[_Value, ...] = (None,) * 4
            if size is not None:
                held = (size.tables, size.columns, size.rows, size.file_bytes / _MEGABYTE)
            values = (about.questions, _percent(about.questions, one.questions), *held)
            rows.append(row([one.name, db_id, about.domain or ""], values, db_id, predictor=one.name))
    return table("Databases", ["set", "database", "domain"], heads, rows)


def _files(sets: Sequence[Description]) -> TableModel:
    """Tabulate the description files of each database that has some; the notes name what fits nothing."""
    heads = _columns(
        "database",
        ("files", "files", _COUNT),
        ("columns", "columns", _COUNT),
        ("described", "described", _COUNT),
        ("%", "described_percent", _PERCENT),
        ("strays", "strays", _COUNT),
        ("byte order mark", "marked", _COUNT),
        (WINDOWS, "windows_1252", _COUNT),
    )
    rows = []
    faults: list[str] = []
    for one in sets:
        for db_id, about in one.databases.items():
            if about.files is None or about.size is None:
                continue
            files = about.files
            values = (
                sum(files.encodings.values()),
                about.size.columns,
                files.described,
                _percent(files.described, about.size.columns),
                len(files.faults),
                files.encodings.get(MARKED, 0),
                files.encodings.get(WINDOWS, 0),
            )
            rows.append(row([one.name, db_id], values, db_id, predictor=one.name))
            faults += files.faults
    notes = (
        "described: columns whose meaning or values a file describes.",
        "strays: descriptions of no table or column, and tables without a file.",
        *map(one_line, faults),
    )
    return table("Description files", ["set", "database"], heads, rows, *notes)


def _values(sets: Sequence[Description]) -> TableModel:
    heads = tuple(TableColumn(kind, "values_percent", kind) for kind in _KINDS)
    rows = []
    for one in sets:
        values, total = one.values, sum(one.values.values())
        if total:
            cells = [Cell(_percent(values.get(kind, 0), total), questions=total) for kind in _KINDS]
            rows.append(row([one.name], cells, predictor=one.name))
    note = "Of all stored values but NULL. Texts that are the date of a day or a moment count as such."
    return table("Value types (%)", ["set"], heads, rows, note)


def _sql(sets: Sequence[Description]) -> TableModel:
    measures: Mapping[str, Callable[[CountedGolds], Spread | None]] = {
        "tokens": lambda golds: golds.tokens,
        "JOINs": lambda golds: golds.joins_each,
        "keywords": lambda golds: golds.keywords_each,
        f"{NGRAM}-grams": lambda golds: golds.ngrams,
    }
    own = _columns("sql", ("mean", "mean", _PERCENT), ("median", "median", _MEAN), ("most", "most", _COUNT))
    rows = []
    for name, of in measures.items():
        values: list[_Value] = []
        for one in sets:
            found = of(one.golds)
            values += (found.mean, found.median, found.greatest) if found else (None,) * 3
        rows.append(row([f"{name} / SQL"], values, name))
    notes = (
        "tokens: words, names, literals and signs. keywords: occurrences of those of the seven categories.",
        f"{NGRAM}-grams: different sequences of {NGRAM} tokens.",
    )
    return _beside(sets, table("SQL", ["measure"], own, rows, *notes))


def _categories(sets: Sequence[Description]) -> TableModel:
    own = _columns("category", ("occurrences", "occurrences", _COUNT), ("/ SQL", "each", _PERCENT))
    rows = []
    for category, words in CATEGORIES.items():
        values: list[_Value] = []
        for one in sets:
            found = sum(one.golds.keywords[word].occurrences for word in words)
            values += [found, found / one.golds.counted if one.golds.counted else None]
        rows.append(row([category], values, category))
    return _beside(sets, table("Keywords by category", ["category"], own, rows))


def _uses(
    title: str,
    labels: tuple[str, ...],
    sets: Sequence[Description],
    found: Sequence[tuple[tuple[str, ...], Sequence[Use]]],
    notes: tuple[str, ...] = (),
) -> TableModel:
    """Return a row for each of `found`, which has its labels and its use in every set."""
    own = _columns(
        labels[-1],
        ("occurrences", "occurrences", _COUNT),
        ("golds", "golds", _COUNT),
        ("% of golds", "golds_percent", _PERCENT),
    )
    rows = []
    for names, uses in found:
        values: list[_Value] = []
        for one, use in zip(sets, uses, strict=True):
            values += [use.occurrences, use.golds, _percent(use.golds, one.golds.counted)]
        rows.append(row(names, values, names[-1]))
    return _beside(sets, table(title, labels, own, rows, *notes))


def _functions(sets: Sequence[Description]) -> TableModel:
    names = list(dict.fromkeys(name for one in sets for name in list(one.golds.functions)[:MOST_FUNCTIONS]))
    found = [((name,), [one.golds.functions.get(name, Use(0, 0)) for one in sets]) for name in names]
    most = max((len(one.golds.functions) for one in sets), default=0)
    notes = (f"The {MOST_FUNCTIONS} most frequent of each set.",) if most > MOST_FUNCTIONS else ()
    return _uses("Functions", ("function",), sets, found, notes)


def _percent(part: float, whole: float) -> float | None:
    return 100 * part / whole if whole else None


# What `bird-harness describe --columns` says about SQLite files: a line a column, and all that stops a load.


def census_lines(found: Inventory) -> Iterator[str]:
    """Yield one file for a person."""
    yield f"{found.path}: {found.encoding}, {_counted(len(found.tables), 'table')}; types: profile official"
    for each in found.tables:
        yield f"  {each.name}: {_counted(each.rows, 'row')}"
        names = max((len(column.column) for column in each.columns), default=0)
        for column in each.columns:
            type_ = column.type or "none"
            yield f"    {column.column:{names}}  {column.declared or '-'} -> {type_}: {_holds(column)}"
            for stop in column.stops:
                yield f"      stops a load: {_stop(stop)}"
    for note in found.notes:
        yield f"  note: {note}"


def census_json(found: Sequence[Inventory]) -> str:
    """Return all files as a JSON array; an infinite number is a text."""
    return printable_json([_plain(asdict(one)) for one in found])


def _holds(column: ColumnInventory) -> str:
    """Describe the values of a column, class by class."""
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

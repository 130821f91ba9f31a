"""The plain form of a gold: what a person would write for a target, proven before it replaces the exact form.

The exact form is right for all data like the file's, and sometimes long. The plain form is SQLite's text in
the target's words: its own LIKE, a part of a text for a part of a date, no installed functions. It is right
only where nothing occurs that the engines treat differently, so it is proven on the loaded database, and on
small databases from the search for counter-examples: none of their tables has rows, conditions just miss,
values repeat or are NULL. Their values are stored ones: nothing is proven for data of other kinds.
"""

import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Self

import sqlglot
from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.identifiers import FUNCTIONS_NAMESPACE, ascii_lower, column_name, table_name
from dialects.plain_names import is_plain_word
from dialects.schema import PortableType, Schema
from dialects.targets import SQLGLOT, TARGETS
from dialects.translation import Translation
from harness.analyses.bench import Bench
from harness.analyses.coverage.answers import DifferenceReason
from harness.analyses.coverage.comparison import Reference
from harness.engines.execution import Ending, Execution
from harness.scoring.chance.search import Data, stored, unlike_databases
from harness.scoring.chance.shape import Shape, of_file
from harness.scoring.chance.witness import ExecutionPlace, place_of, standing
from harness.sqltree.parser import statements
from loaders import index_copies
from loaders.base.processes import Memo
from loaders.namespace import Database
from loaders.server import Server


class Style(StrEnum):
    """How golds are translated."""

    EXACT = "exact"
    """SQLite's rows for all data like the file's."""
    PLAIN = "plain"
    """As a person would write it where that is proven, else exact."""


_LONG = 1.1
"""Times the source's length: an exact form up to this, without an installed function, counts as plain."""
_WITNESSES = 5
"""Most small databases for a gold."""
_BARE = "bare-column"
"""Rewrites of columns that SQLite takes from one row of a group; the targets refuse them, or take any row."""


@dataclass(frozen=True)
class PlainForm:
    """A plain form with SQLite's rows on the loaded database and on `witnesses` small ones."""

    sql: str
    witnesses: int


class PlainForms:
    """Finds and proves plain forms of a set's golds; thread-safe. Made by `opened`."""

    def __init__(self, bench: Bench, places: Mapping[Dialect, ExecutionPlace]) -> None:
        self._bench = bench
        self._places = places
        self._reference = Reference(bench.limits)
        self._shapes, self._found = Memo(), Memo()

    @classmethod
    @contextmanager
    def opened(cls, bench: Bench, servers: Mapping[Dialect, Server]) -> Iterator[Self]:
        """Yield the plain forms; meanwhile no other process has small databases on the servers.

        Raises:
            EngineUnavailable: a server does not answer, or another process has small databases there.
        """
        with ExitStack() as stack:
            yield cls(
                bench,
                {
                    target: stack.enter_context(place_of(target, server, bench.limits))
                    for target, server in servers.items()
                },
            )

    def of(self, db_id: str, gold: str, exact: Translation, expected: Execution) -> PlainForm | None:
        """Return the shortest plain form that is proven; None if there is none, or the exact form is plain.

        Args:
            db_id: the database of the gold.
            gold: SQLite's text.
            exact: its exact translation.
            expected: SQLite's rows on the loaded database.

        Raises:
            EngineLost: a server broke.
            EngineUnavailable: a server cannot hold the small databases.
        """
        target, database = exact.target, self._bench.database(db_id)
        place = self._places.get(target)
        if place is None or _is_plain(exact.sql, gold) or any(rule.startswith(_BARE) for rule in exact.rules):
            return None
        engine = self._bench.engines[target]
        candidates = [
            translation
            for text in plain_texts(gold, self._bench.schema(db_id, target), target)
            if (FUNCTIONS_NAMESPACE in exact.sql or len(text) < len(exact.sql))
            and self._reference.compare(
                database, gold, expected, engine, translation := Translation(text, target)
            ).reason
            is None
        ]
        small = self._small(db_id, gold) if candidates else []
        if not small:
            return None
        with _written(small) as databases, standing(databases, place) as there:
            for translation in candidates:
                proven = [
                    self._reference.compare(one, gold, rows, there, translation).reason
                    in {None, DifferenceReason.TIE}
                    for one in databases
                    if (rows := self._reference.run(one, gold)).ending is Ending.ROWS
                ]
                if proven and all(proven):
                    return PlainForm(translation.sql, len(proven))
        return None

    def _small(self, db_id: str, gold: str) -> Sequence[tuple[Shape, Data]]:
        """Return small databases on which a gold has different rows; none if the search cannot read it."""
        path = self._bench.database(db_id).sqlite_path
        with suppress(BadInput):
            shape: Shape = self._shapes(db_id, lambda: of_file(path))
            found: Sequence[tuple[Shape, Data]] = self._found(
                (db_id, gold), lambda: list(unlike_databases(shape, gold, _WITNESSES))
            )
            return found
        return []


@contextmanager
def _written(small: Sequence[tuple[Shape, Data]]) -> Iterator[list[Database]]:
    """Yield small databases as files, to be loaded as copies."""
    collection, databases = index_copies.copy_collection(), list[Database]()
    with tempfile.TemporaryDirectory(prefix="plain-") as folder:
        for number, (shape, data) in enumerate(small):
            path = Path(folder) / f"{number}.sqlite"
            with closing(sqlite3.connect(path)) as connection:
                stored(connection, shape, data)
                connection.commit()
            databases.append(Database(collection, f"small_{number}", path, Profile.FAITHFUL))
        yield databases


def _is_plain(exact: str, gold: str) -> bool:
    return FUNCTIONS_NAMESPACE not in exact and _length(exact) <= _LONG * _length(gold)


def _length(text: str) -> int:
    return len(" ".join(text.split()))


# The texts.

_PARTS = {
    "%Y": (1, 4), "%m": (6, 2), "%d": (9, 2), "%Y-%m": (1, 7), "%Y-%m-%d": (1, 10),
    "%H": (12, 2), "%M": (15, 2), "%S": (18, 2),
}  # fmt: skip
"""Where YYYY-MM-DD HH:MM:SS has what a format of strftime() shows: the first character, and how many."""

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div)
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


@dataclass(frozen=True)
class _Wording:
    """Choices in which plain forms differ: each is tried both ways, the shorter text first."""

    ignores_case: bool
    """LIKE becomes ILIKE."""
    guards_divisors: bool
    """A divisor of 0 is NULL, by NULLIF where the target needs that."""
    averages_doubles: bool
    """AVG of integers is of double precision, not decimal."""
    rounds_decimals: bool
    """ROUND to places rounds a decimal number: not all targets round doubles."""
    has_integer_division: bool
    """`/` of integers is one, as in SQLite; if not, the target has another operator."""


def plain_texts(gold: str, schema: Schema, target: Dialect) -> list[str]:
    """Return plain forms of a gold, the shortest first; they may be wrong, or not run at all.

    Args:
        gold: SQLite's text.
        schema: what its database holds.
        target: the dialect.
    """
    texts, has_integer_division = set(), sqlglot.Dialect.get_or_raise(SQLGLOT[target]).TYPED_DIVISION
    either = (False, True)
    for choices in product(either, either, either, either, (has_integer_division,)):
        wording = _Wording(*choices)
        # What sqlglot raises for texts that nobody foresaw is of many kinds, and so is what trees look like.
        with suppress(SqlglotError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
            [tree] = statements(gold, Dialect.SQLITE)
            names = _Names(tree, schema)
            for node in reversed(list(tree.dfs())):
                if (worded := _worded(node, names, wording)) is not node:
                    node.replace(worded)
            for node in list(tree.find_all(exp.Substring)):
                places = [node.this, node.args.get("start"), node.args.get("length")]
                node.replace(exp.Anonymous(this="SUBSTR", expressions=[each for each in places if each]))
            _spell_names(tree, names, target)
            texts.add(tree.sql(SQLGLOT[target], comments=False, unsupported_level=ErrorLevel.RAISE))
    return sorted(texts, key=lambda text: (len(text), text))


class _Names:
    """What the names of a text mean, as far as one look tells: a name of two meanings has none."""

    def __init__(self, tree: exp.Expr, schema: Schema) -> None:
        stored_tables = {ascii_lower(table.name): table for table in schema.tables}
        self.made = {ascii_lower(cte.alias) for cte in tree.find_all(exp.CTE)}
        self.tables, self._types = {}, dict[tuple[str, str], set[PortableType]]()
        self.columns = dict[str, str]()
        for node in tree.find_all(exp.Table):
            name = ascii_lower(node.name)
            if name in self.made or name not in stored_tables:
                continue
            table = self.tables[name] = stored_tables[name]
            for column in table.columns:
                own = ascii_lower(column.name)
                self.columns[own] = column.name
                for qualifier in ("", ascii_lower(node.alias_or_name)):
                    self._types.setdefault((qualifier, own), set()).add(column.type)

    def type(self, node: exp.Expr | None) -> PortableType | None:
        """Return the type of a column of a table; None for anything else."""
        if not isinstance(node, exp.Column):
            return None
        types = self._types.get((ascii_lower(node.table), ascii_lower(node.name)), set())
        return next(iter(types)) if len(types) == 1 else None

    def is_text(self, node: exp.Expr | None) -> bool:
        """True if it is a column of texts."""
        return self.type(node) in {PortableType.TEXT, PortableType.DATE, PortableType.DATETIME}

    def is_integer(self, node: exp.Expr) -> bool:
        """True if it is surely an integer, or NULL."""
        if isinstance(node, exp.Column):
            return self.type(node) is PortableType.INTEGER
        if isinstance(node, exp.Literal | exp.Count | exp.Length):
            return node.is_int or not isinstance(node, exp.Literal)
        if isinstance(node, exp.Paren | exp.Neg | exp.Sum | exp.Max | exp.Min):
            return self.is_integer(node.this)
        if isinstance(node, _ARITHMETIC):
            return self.is_integer(node.left) and self.is_integer(node.right)
        if isinstance(node, exp.Case | exp.If):
            return all(map(self.is_integer, _branches(node)))
        return isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.INTEGER_TYPES)


def _branches(node: exp.Expr) -> list[exp.Expr]:
    """Return the values that CASE or IIF chooses between."""
    ifs = node.args["ifs"] if isinstance(node, exp.Case) else [node]
    last = node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false")
    return [*(one.args["true"] for one in ifs), *([] if last is None else [last])]


def _worded(node: exp.Expr, names: _Names, wording: _Wording) -> exp.Expr:
    """Return one node in the words of the targets; called for each, from the bottom up."""
    if isinstance(node, exp.Like) and wording.ignores_case:
        return exp.ILike(this=node.this, expression=node.expression)
    if isinstance(node, exp.TimeToStr | exp.Date):
        return _part_of_date(node, names) or node
    if isinstance(node, exp.Cast) and node.to.is_type(exp.DType.FLOAT, exp.DType.DOUBLE):
        return exp.cast(node.this, exp.DType.DOUBLE)
    if isinstance(node, (*_COMPARED, exp.In, exp.Between)):
        _compare_as_text(node, names)
        return node
    return _calculated(node, names, wording)


def _calculated(node: exp.Expr, names: _Names, wording: _Wording) -> exp.Expr:
    """Return one node that computes numbers; any other as it is."""
    if isinstance(node, _ARITHMETIC):
        for side in ("this", "expression"):
            _as_number(node.args[side], names)
        if isinstance(node, exp.Div):
            return _quotient(node, names, wording)
    elif isinstance(node, exp.Round) and node.args.get("decimals") and wording.rounds_decimals:
        node.set("this", exp.cast(node.this, exp.DType.DECIMAL))
        return exp.cast(node, exp.DType.DOUBLE, copy=True)
    elif isinstance(node, exp.Sum | exp.Avg):
        _as_number(node.this, names)
        if isinstance(node, exp.Avg) and wording.averages_doubles and names.is_integer(node.this):
            node.set("this", exp.cast(node.this, exp.DType.DOUBLE))
    return node


def _part_of_date(node: exp.TimeToStr | exp.Date, names: _Names) -> exp.Expr | None:
    """Return a part of the text that a date is stored as; None where its text is not known to have it."""
    value = node.this
    while isinstance(value, exp.TsOrDsToTimestamp | exp.Date):
        value = value.this
    form = node.args["format"].name if isinstance(node, exp.TimeToStr) else "%Y-%m-%d"
    if form not in _PARTS or not (names.is_text(value) or isinstance(value, exp.Substring)):
        return None
    start, length = map(exp.Literal.number, _PARTS[form])
    is_cut = isinstance(value, exp.Substring) and all(
        str(value.args.get(name)) == str(each) for name, each in (("start", start), ("length", length))
    )
    return value if is_cut else exp.Substring(this=value, start=start, length=length)


def _compare_as_text(node: exp.Expr, names: _Names) -> None:
    """Write numbers that a column of texts is compared with as texts: SQLite compares them so."""
    sides = [node.this, node.args.get("expression"), node.args.get("low"), node.args.get("high")]
    sides += node.args.get("expressions") or []
    if any(map(names.is_text, sides)):
        for side in sides:
            if isinstance(side, exp.Literal) and not side.is_string:
                side.replace(exp.Literal.string(side.name))


def _as_number(node: exp.Expr, names: _Names) -> None:
    """Cast columns of texts to numbers where their values are counted with."""
    if isinstance(node, exp.Case | exp.If):
        for branch in _branches(node):
            _as_number(branch, names)
    elif isinstance(node, exp.Paren):
        _as_number(node.this, names)
    elif names.is_text(node):
        node.replace(exp.cast(node.copy(), exp.DType.DOUBLE))


def _quotient(node: exp.Div, names: _Names, wording: _Wording) -> exp.Expr:
    """Return a quotient: of integers without its fraction, and NULL for a divisor of 0 if that is wanted."""
    if not wording.has_integer_division and names.is_integer(node.left) and names.is_integer(node.right):
        return exp.IntDiv(this=node.left, expression=node.right)
    node.set("safe", wording.guards_divisors)
    return node


def _spell_names(tree: exp.Expr, names: _Names, target: Dialect) -> None:
    """Spell tables and columns as the target does, and quote what needs it."""
    for node in tree.find_all(exp.Identifier):
        own = ascii_lower(node.name)
        if isinstance(node.parent, exp.Table) and own in names.tables:
            node.set("this", table_name(names.tables[own].name, target))
        elif isinstance(node.parent, exp.Column) and node.arg_key == "this" and own in names.columns:
            node.set("this", column_name(names.columns[own], target))
        elif not TARGETS[target].aliases_keep_case and (
            isinstance(node.parent, exp.TableAlias) or node.arg_key == "table"
        ):
            node.set("this", own)
        node.set("quoted", not is_plain_word(node.name))

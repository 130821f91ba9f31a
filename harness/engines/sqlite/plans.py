"""SQLite's plans as EXPLAIN QUERY PLAN tells them, and its work: the steps that its virtual machine counts.

A plan has lines of text, each below another, and says neither what it expects nor what came; sources at one
level are loops in one another, in their order, as SQLite knows no other join. https://www.sqlite.org/eqp.html

Python's `sqlite3` does not say the counts. So the same library, the one that this Python has loaded, is
called through its C interface, on a connection of its own, to which nothing can be written. What a statement
may do is decided before, by Python's connection (`harness.engines.sqlite.engine`), which explains it: the
library calls nothing of Python's here. Of an error in a function that it calls by `ctypes` it would not hear:
what it is told then is undefined. The package `apsw` brings another release of SQLite along, whose plans are
others. https://www.sqlite.org/c3ref/c_stmtstatus_counter.html,
https://www.sqlite.org/c3ref/c_dbstatus_options.html
"""

import _sqlite3
import contextlib
import ctypes
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from ctypes import POINTER, byref, c_char_p, c_int, c_void_p
from fractions import Fraction
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from harness.engines.base import CannotCount, EngineLost
from harness.engines.plans import Operator, PlanNode, operators

_SOURCE = re.compile(
    r"""(?P<way>SCAN|SEARCH)\ (?:TABLE\ |SUBQUERY\ )?(?P<table>.+?)(?:\ AS\ (?P<alias>.+?))?
    (?:\ VIRTUAL\ TABLE\ INDEX\ (?P<virtual>\S*)
     |\ USING\ (?P<made>AUTOMATIC\ )?(?:PARTIAL\ )?(?P<covering>COVERING\ )?INDEX(?:\ (?P<index>(?!\().+?))?
     |\ USING\ (?P<key>(?:INTEGER\ )?PRIMARY\ KEY)
    )?
    (?:\ (?P<condition>\(.*\)))?
    (?:\ (?:LEFT-JOIN|EXISTS))?""",
    re.VERBOSE | re.DOTALL,
)
"""A table, a subquery or a virtual table and how its rows are found."""

_CONSTANT = re.compile(r"SCAN (?:CONSTANT ROW|\d+ CONSTANT ROWS|\d+-ROW VALUES CLAUSE)")

_STARTS = operators(
    {
        Operator.QUERY: "QUERY PLAN",
        Operator.INDEX_MERGE: "MULTI-INDEX OR",
        Operator.PIPELINE: "INDEX |CO-ROUTINE |LEFT-MOST SUBQUERY|LEFT|RIGHT",
        Operator.AGGREGATE: "USE TEMP B-TREE FOR GROUP BY",
        Operator.DISTINCT: "USE TEMP B-TREE FOR DISTINCT",
        Operator.SORT: (
            "USE TEMP B-TREE FOR ORDER BY|USE TEMP B-TREE FOR LAST "
            "|USE TEMP B-TREE FOR RIGHT PART OF ORDER BY"
        ),
        Operator.MATERIALIZE: "MATERIALIZE |CREATE AUTOMATIC INDEX",
        Operator.SUBQUERY: "SCALAR SUBQUERY |LIST SUBQUERY |SUBQUERY |REUSE |EXECUTE ",
        Operator.CORRELATED_SUBQUERY: "CORRELATED |EXECUTE CORRELATED ",
        Operator.HASH: "BLOOM FILTER ON |CREATE BLOOM FILTER",
        Operator.NESTED_LOOP: "RIGHT-JOIN ",
        Operator.SET_OPERATION: "COMPOUND QUERY|COMPOUND SUBQUERIES ",
        Operator.UNION: "UNION|MERGE (UNION",
        Operator.INTERSECT: "INTERSECT|MERGE (INTERSECT",
        Operator.EXCEPT: "EXCEPT|MERGE (EXCEPT",
        Operator.RECURSION: "SETUP|RECURSIVE STEP",
    }
)
"""What a line is by how it begins: the longest that fits."""

_OF_AN_AGGREGATE = re.compile(r"USE TEMP B-TREE FOR \w+\((?P<what>DISTINCT|ORDER BY)\)")
"""The rows of an aggregate function are made distinct, or sorted."""


def read_plan(lines: Iterable[tuple[Any, ...]], rows: int | None = None) -> PlanNode:
    """Return the tree of what EXPLAIN QUERY PLAN returns.

    Args:
        lines: id, parent's id, a number without meaning, text.
        rows: how many rows the statement has returned; None if it was not run.
    """
    children: dict[int, list[tuple[int, str]]] = {}
    for place, parent, _, text in lines:
        children.setdefault(parent, []).append((place, text))
    return PlanNode(
        Operator.QUERY,
        "QUERY PLAN",
        real_rows=rows,
        loops=None if rows is None else 1,
        children=_below(0, children),
    )


def _below(parent: int, children: Mapping[int, list[tuple[int, str]]]) -> tuple[PlanNode, ...]:
    return tuple(_node(text, _below(place, children)) for place, text in children.get(parent, ()))


def _node(text: str, below: tuple[PlanNode, ...]) -> PlanNode:
    if _CONSTANT.fullmatch(text):
        return PlanNode(Operator.VALUES, text, children=below)
    if found := _SOURCE.fullmatch(text):
        return _source(found, below)
    if found := _OF_AN_AGGREGATE.fullmatch(text):
        operator = Operator.DISTINCT if found["what"] == "DISTINCT" else Operator.SORT
        return PlanNode(operator, text, children=below)
    begun = max((start for start in _STARTS if text.startswith(start)), key=len, default="")
    operator = _STARTS.get(begun, Operator.UNKNOWN)
    return PlanNode(operator, text, children=below)


def _source(found: re.Match[str], below: tuple[PlanNode, ...]) -> PlanNode:
    is_search, is_covering = found["way"] == "SEARCH", bool(found["covering"])
    if found["virtual"] is not None:
        operator = Operator.FUNCTION
    elif found["made"]:
        operator = Operator.TEMPORARY_INDEX
    elif is_search:
        # A search that names no index finds a row by its number, or at once, as MIN and MAX may.
        operator = Operator.COVERING_SEARCH if is_covering else Operator.INDEX_SEARCH
    elif is_covering:
        operator = Operator.COVERING_SCAN
    else:
        operator = Operator.INDEX_SCAN if found["index"] else Operator.SCAN
    return PlanNode(
        operator,
        found[0],
        table=found["table"],
        alias=found["alias"],
        index=found["index"] or found["key"],
        condition=found["condition"],
        children=below,
    )


_OPEN_READONLY_URI = 0x01 | 0x40
_STATEMENT = {"scan_step": 1, "sort": 2, "auto_index": 3, "vm_step": 4}
"""SQLITE_STMTSTATUS_FULLSCAN_STEP, _SORT, _AUTOINDEX, _VM_STEP."""
_PAGES = {"page": 7, "read": 8}
"""SQLITE_DBSTATUS_CACHE_HIT and _MISS: pages that were in the cache, and others."""
_KEPT_PAGES = 450
"""So many fit into the cache of a connection, 2,000 KiB: what is read anew every time a text runs is more."""

_KINDS: Mapping[str, frozenset[str]] = {
    "function_step": frozenset({"Function", "PureFunc", "Cast"}),
    "column_step": frozenset({"Column"}),
    "compare_step": frozenset({"Eq", "Ne", "Lt", "Le", "Gt", "Ge", "Compare", "ElseEq", "ElseNotEq"}),
    "seek_step": frozenset({
        "SeekRowid", "NotExists", "SeekGE", "SeekGT", "SeekLE", "SeekLT", "Found", "NotFound", "NoConflict",
        "DeferredSeek", "FinishSeek", "Filter", "FilterAdd",
    }),
    "write_step": frozenset({"IdxInsert", "Insert", "SorterInsert", "MakeRecord", "SorterData", "RowData"}),
    "sort_step": frozenset({"SorterNext"}),
    "aggregate_step": frozenset({"AggStep", "AggStep1", "AggFinal", "AggValue"}),
    "index_step": frozenset({"IdxRowid", "IdxGT", "IdxGE", "IdxLT", "IdxLE"}),
}  # fmt: skip
"""Steps of the virtual machine that take other times than most, https://www.sqlite.org/opcode.html."""
_AGAIN = frozenset({"Next", "Prev", "SorterNext", "VNext"})
"""Steps that begin a loop anew."""
_TIMES = 30
"""How often a loop is taken to run each time that the one around it does."""
_ROW, _DONE = 100, 101

_FUNCTIONS: Mapping[str, tuple[Any, list[Any]]] = {
    "sqlite3_open_v2": (c_int, [c_char_p, POINTER(c_void_p), c_int, c_char_p]),
    "sqlite3_close_v2": (c_int, [c_void_p]),
    "sqlite3_exec": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, c_void_p]),
    "sqlite3_limit": (c_int, [c_void_p, c_int, c_int]),
    "sqlite3_prepare_v2": (c_int, [c_void_p, c_char_p, c_int, POINTER(c_void_p), c_void_p]),
    "sqlite3_step": (c_int, [c_void_p]),
    "sqlite3_column_count": (c_int, [c_void_p]),
    "sqlite3_finalize": (c_int, [c_void_p]),
    "sqlite3_stmt_status": (c_int, [c_void_p, c_int, c_int]),
    "sqlite3_db_status": (c_int, [c_void_p, c_int, POINTER(c_int), POINTER(c_int), c_int]),
    "sqlite3_interrupt": (None, [c_void_p]),
    "sqlite3_extended_errcode": (c_int, [c_void_p]),
    "sqlite3_errmsg": (c_char_p, [c_void_p]),
}


@cache
def _library() -> ctypes.CDLL:
    """Return the SQLite library that Python's module uses.

    Raises:
        CannotCount: it cannot be called, as where it is built into Python without its names.
    """
    try:
        library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise CannotCount(
            "this Python's SQLite library cannot be asked for its counters;"
            " use a Python that links SQLite as a shared library"
        ) from error
    return library


_NAMES = {
    getattr(sqlite3, name): name
    for name in (
        "SQLITE_INTERRUPT", "SQLITE_TOOBIG", "SQLITE_NOMEM", "SQLITE_IOERR", "SQLITE_IOERR_NOMEM",
        "SQLITE_FULL", "SQLITE_CANTOPEN", "SQLITE_CORRUPT", "SQLITE_NOTADB",
    )
}  # fmt: skip
"""The library's result codes that are distinguished."""
_PRIMARY = 0xFF
"""The bits of an extended result code that are its primary one."""


def _shares(program: Sequence[tuple[int, str, int]]) -> dict[str, Fraction]:
    """Return the share of each kind of step in a program, where each loop runs `_TIMES` times."""
    loops = [(target, place) for place, name, target in program if name in _AGAIN and target < place]
    weights = Counter[str]()
    for place, name, _ in program:
        weights[name] += _TIMES ** sum(first <= place <= last for first, last in loops)
    total = max(1, weights.total())
    return {kind: Fraction(sum(weights[name] for name in names), total) for kind, names in _KINDS.items()}


class Failed(sqlite3.Error):
    """The library's error for a statement, with the attributes of `sqlite3.Error`."""


class CountingConnection(AbstractContextManager["CountingConnection"]):
    """One connection to a database file, for one statement.

    Args:
        path: the file.
        address: its URI, which opens it for reading alone.
        settings: statements to run first.
        limits: by `sqlite3_limit`'s categories. That of the process's memory must be set.

    Raises:
        CannotCount: the library cannot be called.
        EngineLost: the file cannot be opened.
    """

    def __init__(self, path: Path, address: str, settings: Iterable[str], limits: Mapping[int, int]) -> None:
        self._library = _library()
        self._lock = Lock()
        self._database: c_void_p | None = c_void_p()
        opened = self._library.sqlite3_open_v2(
            address.encode(), byref(self._database), _OPEN_READONLY_URI, None
        )
        if opened != sqlite3.SQLITE_OK:
            words = str(self._failed())
            self.close()
            raise EngineLost(f"SQLite cannot open {path}: {words}")
        for setting in settings:
            self._library.sqlite3_exec(self._database, setting.encode(), None, None, None)
        for category, limit in limits.items():
            self._library.sqlite3_limit(self._database, category, limit)

    def counted(self, sql: str, program: Sequence[tuple[int, str, int]]) -> Mapping[str, int]:
        """See `Session.counted`.

        Args:
            sql: a single statement that a connection with all limits has been given before: what it may do
                is not looked at here.
            program: its steps: the place of each, its name, and where it may go on.

        Raises:
            Failed: the library refused the statement, or failed while it ran.
        """
        with self._prepared(sql) as statement:
            return self._run(statement, _shares(program)) if statement.value else {}

    @contextlib.contextmanager
    def _prepared(self, sql: str) -> Iterator[c_void_p]:
        text, statement = sql.encode(), c_void_p()
        prepared = self._library.sqlite3_prepare_v2(self._database, text, -1, byref(statement), None)
        if prepared != sqlite3.SQLITE_OK:
            raise self._failed()
        try:
            yield statement
        finally:
            self._library.sqlite3_finalize(statement)

    def _run(self, statement: c_void_p, shares: Mapping[str, Fraction]) -> Mapping[str, int]:
        before = self._pages()
        rows = 0
        step = self._library.sqlite3_step
        while (ended := step(statement)) == _ROW:
            rows += 1
        if ended != _DONE:
            raise self._failed()
        status = self._library.sqlite3_stmt_status
        counted = {name: status(statement, number, 0) for name, number in _STATEMENT.items()}
        pages = self._pages()
        pages.subtract(before)
        if pages["read"] <= _KEPT_PAGES:
            # A connection that is used again has them.
            pages = Counter(page=pages.total(), read=0)
        steps = {name: round(counted["vm_step"] * share) for name, share in shares.items()}
        return {
            "statement": 1,
            "row": rows,
            "value": rows * self._library.sqlite3_column_count(statement),
            **pages,
            **counted,
            **steps,
        }

    def _pages(self) -> "Counter[str]":
        """How many pages have been asked for up to now."""
        found, highest = c_int(), c_int()
        pages = Counter[str]()
        for name, number in _PAGES.items():
            self._library.sqlite3_db_status(self._database, number, byref(found), byref(highest), 0)
            pages[name] = found.value
        return pages

    def _failed(self) -> Failed:
        code = self._library.sqlite3_extended_errcode(self._database)
        error = Failed(self._library.sqlite3_errmsg(self._database).decode(errors="replace"))
        name = _NAMES.get(code) or _NAMES.get(code & _PRIMARY, "SQLITE_ERROR")
        error.sqlite_errorcode, error.sqlite_errorname = code, name
        return error

    def interrupt(self) -> None:
        """Stop what runs; from any thread."""
        with self._lock:
            if self._database is not None:
                self._library.sqlite3_interrupt(self._database)

    def close(self) -> None:
        """Close it."""
        with self._lock:
            if self._database is not None:
                self._library.sqlite3_close_v2(self._database)
                self._database = None

    def __exit__(self, *_: object) -> None:
        self.close()

"""Load a published dump: afterwards each database is that of the dump, or unchanged.

The dump fills a staging under an account that can do nothing else. Only after it has run to its end and
filled every table of every database are they put in place, one database after the other.
"""

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.identifiers import quoted
from loaders.base.digests import digests, read_sha256
from loaders.namespace import STAGING, Database, Marker, key, namespace, refuse_collisions, refuse_place
from loaders.server import Server, sessions
from loaders.source import opened
from loaders.target import target

Advance = Callable[[int, int], None]
"""Called with the number of bytes sent so far, and the total."""


@dataclass(frozen=True)
class DumpLoaded:
    """The result of loading a dump."""

    sha256: str
    tables: int
    rows: int
    notes: tuple[str, ...]
    """The tables whose number of rows differs from the SQLite file's, a sentence each."""


def load_dump(dump: Path, databases: Sequence[Database], server: Server, advance: Advance) -> DumpLoaded:
    """Load the dump of a collection's databases, in profile official, and let the reading role read them.

    From then on they count as loaded from their SQLite files; their markers record that they come from a
    dump, and its SHA-256. Loads into the same server wait for each other.

    Args:
        dump: output of `mysqldump`, or of `pg_dump` as plain text, for one database with all their tables.
        databases: all databases in it, of one collection.
        server: MySQL or PostgreSQL, with an account that may create databases and roles.
        advance: called with the progress.

    Raises:
        BadInput: the dump cannot be read, fails, or has other tables than the SQLite files; or a table would
            replace one of another owner.
        EngineUnavailable: the server cannot be reached or broke.
    """
    if {database.profile for database in databases} != {Profile.OFFICIAL}:
        raise BadInput(f"{dump}: a dump is loaded in profile official; omit --profile faithful")
    engine = target(server.dialect)
    digest, total = read_sha256(dump), dump.stat().st_size
    files = digests(database.sqlite_path for database in databases)
    declared = {database: _declared(database.sqlite_path) for database in databases}
    for database in databases:
        refuse_place(database, server.dialect)
    sent = 0

    def report(more: int) -> None:
        nonlocal sent
        sent = min(sent + more, total)
        advance(sent, total)

    with engine.exclusive(server), ExitStack() as stack:
        engine.tidy(server, databases)
        engine.admit_reader(server)
        token = secrets.token_hex(4)

        def staged(database: Database, number: int) -> str:
            staging = f"{STAGING}_{token}_d{number}"
            engine.prepare(server, database, staging)
            stack.callback(engine.discard, server, database, staging)
            return staging

        whole = staged(databases[0], 0)
        engine.run_dump(server, databases[0], whole, dump, report)
        found = _counts(server, databases[0], whole)
        tables = _shared_out(dump, found, declared)
        markers = engine.markers(server, databases)
        present = {database: engine.present(server, database) for database in databases}
        refuse_collisions(tables, markers, present, server.dialect)
        notes: list[str] = []
        stagings = []
        for number, database in enumerate(databases, start=1):
            stagings.append(staged(database, number))
            engine.take_over(server, database, whole, stagings[-1], tables[database])
        for database, staging in zip(databases, stagings, strict=True):
            rows = {name: found[name] for name in tables[database]}
            fresh = [f"from the dump {dump.name}, sha256 {digest}", *_differences(rows, declared[database])]
            marker = Marker.now(files[database.sqlite_path], rows, fresh)
            earlier = markers.get(key(database))
            engine.put_in_place(server, database, staging, tuple(earlier.tables) if earlier else (), marker)
            notes += [f"{database.db_id}: {note}" for note in fresh[1:]]
    return DumpLoaded(digest, len(found), sum(found.values()), tuple(notes))


def _counts(server: Server, database: Database, staging: str) -> dict[str, int]:
    engine = sessions(server.dialect)
    with engine.connected(server, namespace(database, server.dialect)[0]) as connection:
        names = engine.ask(
            connection,
            "SELECT table_name FROM information_schema.tables"
            " WHERE table_schema = %s AND table_type = 'BASE TABLE'",
            [staging],
        )
        count = f"SELECT count(*) FROM {staging}.{{}}"  # noqa: S608 - a name of our own
        return {name: engine.ask(connection, count.format(quoted(name)))[0][0] for (name,) in names}


def _declared(path: Path) -> dict[str, int]:
    with opened(path) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        ).fetchall()
        found = {}
        for (name,) in names:
            spelled = name.replace('"', '""')
            [found[name]] = connection.execute(f'SELECT count(*) FROM "{spelled}"').fetchone()  # noqa: S608 - quoted
        return found


def _shared_out(
    dump: Path, found: Mapping[str, int], declared: Mapping[Database, Mapping[str, int]]
) -> dict[Database, list[str]]:
    """Assign the dump's tables to the databases.

    Raises:
        BadInput: they are not the tables of the SQLite files.
    """
    there = {name.casefold(): name for name in found}
    wanted = [(database, name) for database, names in declared.items() for name in names]
    missing = [f"{database.db_id}.{name}" for database, name in wanted if name.casefold() not in there]
    extra = sorted(there.keys() - {name.casefold() for _, name in wanted})
    if missing or extra or len(there) != len(wanted):
        faults = [f"has no {', '.join(missing)}"] if missing else []
        faults += [f"has {', '.join(extra)}, which no database of the set has"] if extra else []
        raise BadInput(f"{dump}: {' and '.join(faults) or 'has tables twice'}; is it the dump of this set?")
    return {database: [there[name.casefold()] for name in names] for database, names in declared.items()}


def _differences(rows: Mapping[str, int], declared: Mapping[str, int]) -> list[str]:
    expected = {name.casefold(): count for name, count in declared.items()}
    return [
        f"table {name}: {count} rows in the dump, {expected[name.casefold()]} in the SQLite file"
        for name, count in rows.items()
        if count != expected[name.casefold()]
    ]


_ESCAPING = re.compile(rb"(?:[^'\"`\\]++|\\.)*+(['\"`])", re.DOTALL)
_AT_ONCE = re.compile(
    rb"(?:[^'\"`;#/-]++|'(?:[^'\\]++|\\.)*+'|\"(?:[^\"\\]++|\\.)*+\"|`[^`]*+`|-(?!-)|/(?!\*))++", re.DOTALL
)
"""As much of a MySQL statement as can be read at once, for speed."""

_COPY = re.compile(rb"COPY .* FROM stdin;\s*$", re.DOTALL)
_ENDS_OF_ROWS = frozenset({b"\\.\n", b"\\.\r\n", b"\\."})
_ROWS_BYTES = 1 << 18
_QUIET = re.compile(rb"\\(?:un)?restrict \w+$")
"""Commands for `psql` that newer versions of `pg_dump` write. https://www.postgresql.org/docs/current/app-psql.html"""


@dataclass(frozen=True)
class _Syntax:
    outside: re.Pattern[bytes]
    """Matches tokens that end a statement or begin a quote or comment."""
    escaping: frozenset[bytes]
    """The quotes inside which a backslash escapes."""
    is_taken_at_once: bool = False
    """True if `_AT_ONCE` applies to its statements."""
    copies: bool = False
    """True if it has COPY statements followed by rows, and commands for the client."""


_SYNTAX: Mapping[Dialect, _Syntax] = {
    Dialect.MYSQL: _Syntax(
        outside=re.compile(rb"['\"`;]|--(?=\s)|#|/\*"),
        escaping=frozenset({b"'", b'"'}),
        is_taken_at_once=True,
    ),
    Dialect.POSTGRESQL: _Syntax(
        outside=re.compile(rb"[eE]?'|[\";]|--|/\*|\$(?:[A-Za-z_]\w*)?\$"),
        escaping=frozenset({b"e'", b"E'"}),
        copies=True,
    ),
}
"""https://dev.mysql.com/doc/refman/9.7/en/comments.html
https://www.postgresql.org/docs/current/sql-syntax-lexical.html
"""


@dataclass(frozen=True)
class DumpStatement:
    """One statement, or some rows of the COPY statement before it, with the number of its first line."""

    line: int
    text: bytes
    is_rows: bool = False


class _Reader:
    def __init__(self, path: Path, dialect: Dialect, public: bytes) -> None:
        self._path, self._syntax, self._public = path, _SYNTAX[dialect], public
        self._quote: bytes | None = None
        """The end of the quoted text or comment being read; None outside of one."""
        self._parts: list[bytes] = []
        self._begin = 0

    def statements(self) -> Iterator[DumpStatement]:
        with self._path.open("rb") as file:
            lines = enumerate(file, start=1)
            for number, line in lines:
                if not self._parts:
                    self._begin = number
                    if line.startswith(b"\\") and self._syntax.copies:
                        self._check_command(number, line.strip())
                        continue
                for text in self._ended(line):
                    yield DumpStatement(self._begin, text)
                    if self._syntax.copies and _COPY.match(text):
                        yield from self._rows(lines)
                    self._begin = number
        if b"".join(self._parts).strip():
            self._refuse_end()

    def _rows(self, lines: Iterator[tuple[int, bytes]]) -> Iterator[DumpStatement]:
        rows: list[bytes] = []
        held = 0
        for number, line in lines:
            is_end = line in _ENDS_OF_ROWS
            if rows and (is_end or held > _ROWS_BYTES):
                yield DumpStatement(number - len(rows), b"".join(rows), is_rows=True)
                rows, held = [], 0
            if is_end:
                return
            rows.append(line)
            held += len(line)
        self._refuse_end()

    def _refuse_end(self) -> NoReturn:
        raise BadInput(f"{self._path}: ends within the statement of line {self._begin}; fetch it again")

    def _check_command(self, number: int, command: bytes) -> None:
        if not _QUIET.match(command):
            raise BadInput(
                f"{self._path}: line {number}: {command.decode(errors='replace')!r} is a command for psql;"
                " only plain dumps of one database are loaded"
            )

    def _ended(self, line: bytes) -> Iterator[bytes]:
        """Yield the statements that end in this line."""
        at = 0
        while at < len(line):
            if self._quote is not None:
                at = self._quoted(line, at)
                continue
            found = self._plain(line, at)
            if found is None:
                return
            token, at = found[0], found.end()
            if token in {b"--", b"#"}:
                self._parts += [b"\n"] if self._parts else []
                return
            self._parts.append(token)
            if token == b";":
                text = b"".join(self._parts).strip()
                self._parts.clear()
                if text != b";":
                    yield text
            else:
                self._quote = b"*/" if token == b"/*" else token

    def _plain(self, line: bytes, at: int) -> re.Match[bytes] | None:
        """Read text that is not quoted, and return the token that follows it in this line."""
        start = at
        if self._syntax.is_taken_at_once and (taken := _AT_ONCE.match(line, at)):
            at = taken.end()
        found = self._syntax.outside.search(line, at)
        plain = line[start : found.start() if found else len(line)]
        if self._public:
            plain = re.sub(rb"\bpublic\.", self._public, plain)
        if plain.strip() or self._parts:
            self._parts.append(plain)
        return found

    def _quoted(self, line: bytes, at: int) -> int:
        """Read quoted text, and return its end in this line."""
        quote = self._quote or b""
        escapes = quote in self._syntax.escaping
        if escapes:
            pattern, end = _ESCAPING, at
            while found := pattern.match(line, end):
                end = found.end()
                if found[1] == quote[-1:]:
                    break
            stop = end if found else -1
        else:
            where = line.find(quote, at)
            stop = where + len(quote) if where >= 0 else -1
        if stop < 0:
            self._parts.append(line[at:])
            return len(line)
        self._parts.append(line[at:stop])
        self._quote = None
        return stop


def statements(path: Path, dialect: Dialect, public: bytes = b"") -> Iterator[DumpStatement]:
    """Yield the statements of a dump in order, with only one in memory at a time.

    Args:
        path: the dump.
        dialect: whose dump it is: mysql or postgresql.
        public: the replacement for `public.` outside quotes; empty for none.

    Raises:
        BadInput: it ends within a statement, or has commands for the client.
    """
    return _Reader(path, dialect, public).statements()

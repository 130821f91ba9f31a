"""Load question sets: those that come with bird-harness, and a user's own.

Promises: a question keeps its identity even if ids repeat; gold is what the official scripts run; a set whose
files do not fit together is refused. Layout of the published packages: https://github.com/bird-bench/mini_dev
"""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.versions import mismatch
from harness.data.hardness import hardnesses
from harness.data.published_sets import place_of, repair
from harness.data.published_sets import sets_by_name as published_sets
from harness.data.questions import (
    SPIDER_LEVELS,
    DialectQuestions,
    Entry,
    Level,
    Question,
    QuestionSet,
    read_gold,
    read_questions,
    subset,
)
from harness.data.set_families import Own, databases_in, find_databases, find_own
from harness.data.set_manifest import CORRECT, LAYOUTS, MANIFEST, Layout, find
from harness.lab import lab_of_set
from harness.sqltree import DatabaseSchema, SchemaColumn
from loaders.base.digests import digests
from loaders.base.errors import command
from loaders.base.files import (
    Faults,
    TextFile,
    is_text,
    most_bytes,
    one_line,
    read_json,
    read_json_lines,
    read_text,
    refuse,
    unwritten,
)
from loaders.source import declarations, opened

_SQLITE_HEADER = b"SQLite format 3\x00"
"""https://www.sqlite.org/fileformat.html#magic_header_string"""


def load_set(
    name: str, bird_home: Path | None = None, *, questions_alone: bool = False, on_server: bool = False
) -> QuestionSet:
    """Read a question set and check that its files fit together.

    Args:
        name: sample, mini_dev, mini_dev_2025 or dev; or the path of a folder, a manifest or a question file.
        bird_home: the folder of the unpacked published packages; default: the environment's BIRD_HOME, else
            `./data`. The sample and a user's own sets need none.
        questions_alone: allow missing databases, for uses that need only questions.
        on_server: allow databases that are already on a server, and not in files.

    Raises:
        BadInput: the name is unknown, a file is missing or wrong, or the files contradict each other.
    """
    layout = LAYOUTS.get(name)
    if layout is None:
        own = _load_own(_own(name, bird_home), questions_alone=questions_alone)
        if own.server is not None and not (on_server or questions_alone):
            raise BadInput(
                f"--set {own.name}: its databases are on a {own.server.dialect} server and not in SQLite"
                " files, which are needed here; eval and describe take it as it is"
            )
        return own
    home = _sample_home() if name == "sample" else _home(bird_home)
    folder = find(name, home, layout.folders, layout.questions[Dialect.SQLITE][0])
    try:
        databases = find(name, home, layout.databases_in, layout.databases) / layout.databases
    except BadInput:
        if not questions_alone:
            raise
        databases = folder / layout.databases
    files = _Files(folder)
    published = _published(layout, files)
    tables = databases.parent / (layout.tables or "")
    schemas = files.schemas(tables) if tables.is_file() else {}
    db_ids = {entry.db_id for entry in published[Dialect.SQLITE].entries}
    remedies = "unpack the published databases there", "fetch it again"
    paths = {db_id: databases / db_id / f"{db_id}.sqlite" for db_id in db_ids}
    faulty = _faulty_databases(databases, paths, remedies, may_miss=questions_alone)
    _check_schemas(tables, db_ids, schemas)
    questions = _join(published)
    return QuestionSet(
        name=name,
        title=layout.title,
        collection=_collection(layout, questions),
        questions=questions,
        order=_order(published),
        databases=databases,
        schemas=schemas,
        files=files.digests,
        path=folder / layout.questions[Dialect.SQLITE][0],
        domains=layout.domains,
        tables=tables if schemas else None,
        faulty=faulty,
    )


def load_databases(place: Path) -> QuestionSet:
    """Load a set of databases without questions: a folder with SQLite files, or one file.

    Raises:
        BadInput: there is none, or a file is not a database.
    """
    place = place.resolve()
    found = databases_in(place)
    paths = {_spelled(db_id, path): path for db_id, path in found.items()}
    faulty = _faulty_databases(place, paths, ("name the folder that they are in", "leave it out"))
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", place.stem).lstrip("_.-")[:40] or "databases"
    layout = Layout(name=name, title=name, questions={})
    return QuestionSet(
        name=name,
        title=name,
        # There are no questions: folders of the same name are distinguished by their content.
        collection=_collection(layout, (), tuple(sorted(paths))),
        questions=(),
        order={},
        databases=place,
        schemas={},
        files={},
        paths=paths,
        path=place,
        own=True,
        unasked=tuple(sorted(paths)),
        faulty=faulty,
    )


def _home(bird_home: Path | None) -> Path:
    return bird_home or Path(os.environ.get("BIRD_HOME") or "data")


def _by_name() -> list[str]:
    """List the published sets that are read as a user's own."""
    return [name for name, entry in published_sets().items() if entry.own]


def name_of(name: str) -> str:
    """Return the name of the set that a user names, possibly by a path.

    Raises:
        BadInput: there is no such set, or its manifest is wrong.
    """
    return name if name in LAYOUTS else _own(name).layout.name


def _own(name: str, bird_home: Path | None = None) -> Own:
    """Find a user's own set, or a published one that is read as such, which is below `bird_home`.

    Raises:
        BadInput: there is none; the message lists the choices.
    """
    path = Path(name)
    place = None if path.exists() else place_of(name, _home(bird_home))
    if place is not None:
        folder, split = place
        if not folder.is_dir():
            raise BadInput(one_line(f"--set {name}: is not at {folder}; {command('data', set=name)}"))
        return find_own(folder / split, tuple(LAYOUTS))
    if (lab := lab_of_set(name)) is not None and not path.exists():
        evaluating = command("eval", set=name)
        raise BadInput(
            f"--set {name}: is a set of lab {lab} with databases of its own, which `{evaluating}`"
            f" and `serve` judge; name a question set here, such as {' or '.join([*LAYOUTS][:2])}"
        )
    if path.name == name and not path.exists():
        raise BadInput(
            one_line(
                f"question set {name!r} is not known; choose one of {', '.join([*LAYOUTS, *_by_name()])}, or"
                f" name a folder with a set, its {MANIFEST} or its question file"
            )
        )
    return find_own(path, tuple(LAYOUTS))


def _load_own(own: Own, *, questions_alone: bool = False) -> QuestionSet:
    layout = own.layout
    files = _Files(own.folder)
    if own.manifest is not None:
        # It decides what is read, so that a different manifest makes a different set.
        files.text(own.manifest)
    only = own.folder / layout.databases if layout.databases else None
    database = only.stem if only is not None and only.is_file() else None
    if layout.server is not None:
        database = layout.name
    published = _published(layout, files, partial(_knowledge, own), database)
    entries = published[layout.reference].entries
    named = sorted({entry.db_id for entry in entries})
    databases, found = own.folder, dict[str, Path]()
    if layout.server is None:
        databases, found = find_databases(own, named, may_miss=questions_alone)
    spelled = {db_id: _spelled(db_id, found.get(db_id)) for db_id in named}
    published = {
        dialect: replace(asked, entries=[replace(one, db_id=spelled[one.db_id]) for one in asked.entries])
        for dialect, asked in published.items()
    }
    paths = {spelled[db_id]: found.get(db_id, databases / db_id / f"{db_id}.sqlite") for db_id in named}
    there = "there"
    if own.published is not None and own.published.databases:
        there = f"there or at {os.path.normpath(own.folder / own.published.databases)}"
    remedies = f"put it {there}, or name their folder in {MANIFEST}", CORRECT
    may_miss = questions_alone or layout.server is not None
    faulty = _faulty_databases(databases, paths, remedies, may_miss=may_miss)
    schemas: Mapping[str, DatabaseSchema] = {}
    notes = [*own.notes, *files.notes, *_notes(own, published)]
    if layout.tables:
        schemas = _spelled_schemas(files.schemas(own.folder / layout.tables), paths)
    questions = _join(published)
    if entries[0].difficulty is None:
        rated = hardnesses(
            [(one.gold[layout.reference], paths[one.db_id], schemas.get(one.db_id)) for one in questions]
        )
        hard = [each or SPIDER_LEVELS[-1] for each in rated]
        unread = rated.count(None)
        questions = tuple(
            replace(one, difficulty=Level(each, SPIDER_LEVELS))
            for one, each in zip(questions, hard, strict=True)
        )
        notes.append(
            f"{layout.name}: no difficulties, so Spider's hardness of the golds"
            + (f"; {unread} that its measures cannot read count as {SPIDER_LEVELS[-1]}" if unread else "")
        )
    if other := mismatch(layout.sqlite):
        notes.append(f"{layout.name}: {other}")
    _check_digests(own.manifest or own.folder, layout, files, own.folder)
    return QuestionSet(
        name=layout.name,
        title=layout.title,
        collection=_collection(layout, questions),
        questions=questions,
        order=_order(published),
        databases=databases,
        schemas=schemas,
        files=files.digests,
        paths=paths,
        path=own.folder / layout.questions[layout.reference][0],
        notes=tuple(notes),
        own=True,
        published=own.published,
        profile=layout.profile,
        domains=layout.domains,
        server=layout.server,
        own_types=layout.types,
        questions_of=layout.questions_of,
        sqlite=layout.sqlite,
        tables=own.folder / layout.tables if layout.tables else None,
        digests={own.folder / name: sha256 for name, sha256 in layout.digests.items()},
        faulty=faulty,
    )


class _Files:
    """Reads the files of a set, each once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[Path, TextFile] = {}
        self._most = most_bytes()
        self.notes: list[str] = []

    def text(self, path: Path) -> TextFile:
        """Return the file of a path."""
        if path not in self._read:
            self._read[path] = read_text(path, self._most)
        return self._read[path]

    def schemas(self, path: Path) -> Mapping[str, DatabaseSchema]:
        """Return the schemas in a file of Spider's format."""
        return read_schemas(self.text(path))

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 by name; by path below the set's folder where a file is in another."""
        return {self._name(path): file.sha256 for path, file in self._read.items()}

    def _name(self, path: Path) -> str:
        if path.parent == self.folder or not path.is_relative_to(self.folder):
            return path.name
        return path.relative_to(self.folder).as_posix()


def _published(
    layout: Layout, files: _Files, knowledge: Any = None, only_database: str | None = None
) -> dict[Dialect, DialectQuestions]:
    """Read the questions of each dialect that has gold."""
    folder = files.folder
    published: dict[Dialect, DialectQuestions] = {}
    for dialect in Dialect:
        if dialect not in layout.questions and dialect not in layout.gold:
            continue
        names = layout.questions.get(dialect)
        if names is None:
            asked, named = published[layout.reference], layout.questions[layout.reference]
        else:
            texts = [files.text(folder / name) for name in names]
            asked, named = read_questions(texts, layout, dialect, knowledge, only_database), names
        asked = _with_gold(asked, folder, layout, dialect, files=files, named=named[0])
        published[dialect] = asked
        _compare(folder / named[0], asked.entries, published[layout.reference].entries, layout)
    return published


def _with_gold(  # noqa: PLR0913 - what gold is read by
    asked: DialectQuestions, folder: Path, layout: Layout, dialect: Dialect, *, files: _Files, named: str
) -> DialectQuestions:
    """Return the questions with the gold of a separate file, if there is one."""
    gold = folder / layout.gold[dialect] if dialect in layout.gold else None
    has_manifest = layout.is_own and layout.databases
    if gold is None or not (has_manifest or gold.exists()):
        return asked
    try:
        return replace(asked, entries=read_gold(files.text(gold), asked.entries, named))
    except BadInput as error:
        if not layout.is_own or has_manifest:
            raise
        # Questions that have gold in their records do not need a file that does not fit them.
        files.notes.append(f"not used: {error}")
        return asked


def _notes(own: Own, published: Mapping[Dialect, DialectQuestions]) -> list[str]:
    """List surprises for the user: skipped records, and golds that no engine runs as one text."""
    asked = published[own.layout.reference]
    notes = []
    if asked.left_out:
        total = len(asked.entries) + sum(asked.left_out.values())
        reasons = ", ".join(f"{count} {why}" for why, count in sorted(asked.left_out.items()))
        notes.append(
            f"{own.layout.name}: {len(asked.entries)} of {total} entries are scored; left out: {reasons}"
        )
    several = Faults(own.folder / own.layout.questions[own.layout.reference][0], "question")
    for entry in asked.entries:
        if entry.is_several:
            several.add(entry.key, "gold of several statements, which no engine runs as one", CORRECT)
    try:
        several.stop()
    except BadInput as error:
        notes.append(str(error))
    return notes


def _knowledge(own: Own, db_id: str, ids: Sequence[Any]) -> str:
    """Return LiveSQLBench's knowledge: the entries of `<db>_kb.jsonl` with these ids, one per line."""
    folder, found = find_databases(own, [db_id])
    path = found.get(db_id, folder / db_id / "x").parent / f"{db_id}_kb.jsonl"
    try:
        records = read_json_lines(read_text(path))
        known = {record["id"]: f"{record['knowledge']}: {record['definition']}" for _, record in records}
    except (BadInput, KeyError, TypeError):
        return ""
    return "\n".join(known[one] for one in ids if one in known)


def _spelled(db_id: str, path: Path | None) -> str:
    """Return a database's name in the spelling of its folder or file, if they differ only in case."""
    names = (path.parent.name, path.stem) if path else ()
    return next((name for name in names if name.casefold() == db_id.casefold()), db_id)


def _spelled_schemas(
    schemas: Mapping[str, DatabaseSchema], paths: Mapping[str, Path]
) -> Mapping[str, DatabaseSchema]:
    names = {db_id.casefold(): db_id for db_id in paths}
    return {names.get(db_id.casefold(), db_id): schema for db_id, schema in schemas.items()}


def _order(published: Mapping[Dialect, DialectQuestions]) -> dict[Dialect, tuple[str, ...]]:
    first = next(iter(published.values()))
    order = {dialect: published.get(dialect, first) for dialect in Dialect}
    return {dialect: tuple(entry.key for entry in asked.entries) for dialect, asked in order.items()}


_IDENTITY = 8
"""Hexadecimal digits in the name of a collection; names on servers are short."""
_LONGEST = 20
"""Characters of a set's own name in that of its collection."""


def _collection(layout: Layout, questions: Sequence[Question], unasked: Sequence[str] = ()) -> str:
    """Return the namespace of the set's databases on servers: the published one, or its own.

    It depends on the databases that the questions are about: BIRD's eleven, or others. Other sets are
    distinguished by name and questions, wherever their files are; corrected golds and rows do not change it.
    """
    db_ids = {question.db_id for question in questions}
    if layout.collection is not None and (layout.published is None or db_ids == layout.published):
        return layout.collection
    asked: Any = sorted({(question.db_id, question.text) for question in questions}) or list(unasked)
    if layout.collection is not None:
        name = layout.collection
    else:
        asked = layout.name, asked
        name = re.sub(r"[^a-z0-9]+", "_", layout.name.lower())[:_LONGEST].strip("_")
    digest = hashlib.sha256(repr(asked).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name}_{digest[:_IDENTITY]}"


def _sample_home() -> Path:
    from loaders.sample import sample_folder  # noqa: PLC0415 - only the sample needs it

    return sample_folder()


def _compare(path: Path, entries: list[Entry], reference: list[Entry], layout: Layout) -> None:
    """Reject a dialect whose questions are not SQLite's, or are about other databases."""
    source = layout.questions[layout.reference][0]
    remedy = f"take all files of {layout.name} from one package: {layout.title}"
    if layout.is_own:
        remedy = "let the files of all dialects have the same questions"
    faults = Faults(path, "question")
    expected = {entry.key: entry for entry in reference}
    found = {entry.key: entry for entry in entries}
    for key in expected:
        if key not in found:
            faults.add(key, f"in {source} but not here", remedy)
    for key, entry in found.items():
        if key not in expected:
            faults.add(key, f"not in {source}", remedy)
        elif entry.db_id != expected[key].db_id:
            faults.add(f"{key} (db_id {entry.db_id})", f"of another database in {source}", remedy)
    if layout.ids_repeat and len({entry.question_id for entry in reference}) < len(reference):
        for position, (entry, other) in enumerate(zip(entries, reference, strict=False)):
            if entry.key != other.key:
                faults.add(f"{entry.key} (entry {position})", f"not at the same position in {source}", remedy)
    faults.stop()


def _join(published: Mapping[Dialect, DialectQuestions]) -> tuple[Question, ...]:
    gold = {
        dialect: {entry.key: entry.sql for entry in asked.entries} for dialect, asked in published.items()
    }
    return tuple(
        Question(
            key=entry.key,
            question_id=entry.question_id,
            db_id=entry.db_id,
            text=entry.text,
            evidence=entry.evidence,
            difficulty=entry.difficulty or "",
            gold={dialect: sql[entry.key] for dialect, sql in gold.items()},
            own_types=entry.types,
        )
        for entry in next(iter(published.values())).entries
    )


def _faulty_databases(
    folder: Path, paths: Mapping[str, Path], remedies: tuple[str, str], *, may_miss: bool = False
) -> dict[str, tuple[str, str]]:
    """Return the databases that are missing or not SQLite files, with the fault of each and its remedy.

    Args:
        folder: their folder.
        paths: their files.
        remedies: what to do about a missing one, and about a file that is not a database.
        may_miss: allow missing databases.

    Raises:
        BadInput: all are faulty, or two cannot be distinguished on a server.
    """
    faulty: dict[str, tuple[str, str]] = {}
    alike = Faults(folder, "database")
    spelled: dict[str, str] = {}
    for db_id, path in sorted(paths.items()):
        if not path.is_file():
            if not may_miss:
                faulty[db_id] = "no file <database>/<database>.sqlite", remedies[0]
            continue
        if fault := _fault_of(path):
            faulty[db_id] = fault, remedies[1]
        elif journal := unwritten(path):
            fault, _, remedy = journal.partition("; ")
            faulty[db_id] = fault, remedy
        other = spelled.setdefault(db_id.lower(), db_id)
        if other != db_id:
            fault = "the name of another but for case, so that both have one place on servers"
            alike.add(f"{db_id} ({other})", fault, "rename one")
    alike.stop()
    if faulty and len(faulty) == len(paths):
        faults = Faults(folder, "database")
        for db_id, each in faulty.items():
            faults.add(db_id, *each)
        faults.stop()
    return faulty


def _fault_of(path: Path) -> str | None:
    """Return what is wrong with a file that should be a SQLite database, from its first bytes."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_SQLITE_HEADER))
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if not start:
        return "an empty file"
    if start != _SQLITE_HEADER:
        return "not an SQLite file, perhaps cut off or a pointer to one"
    return None


def with_readable_databases(questions: QuestionSet, say: Callable[[str], None]) -> QuestionSet:
    """Return a set without the questions whose databases cannot be read; log each such database.

    For commands that do their work for each database; an evaluation must not lose questions
    (`QuestionSet.require_databases`).

    Raises:
        BadInput: none can be read.
    """
    broken: dict[str, str] = {}
    for db_id in questions.db_ids:
        if db_id in questions.faulty:
            fault, remedy = questions.faulty[db_id]
            broken[db_id] = f"{questions.databases}: {fault}; {remedy}"
            continue
        path = questions.database(db_id).sqlite_path
        try:
            with opened(path) as connection:
                if not declarations(connection).tables:
                    broken[db_id] = f"{path}: has no table; give a SQLite file with tables"
        except BadInput as error:
            broken[db_id] = str(error)
    if not broken or questions.server is not None:
        return questions
    if len(broken) == len(questions.db_ids):
        raise BadInput(next(iter(broken.values())))
    for db_id, why in broken.items():
        count = sum(one.db_id == db_id for one in questions.questions)
        noun = "question" if count == 1 else "questions"
        say(one_line(f"database {db_id}: skipped, with {count} {noun}: {why}"))
    kept = subset(questions, [one for one in questions.questions if one.db_id not in broken])
    return replace(kept, unasked=tuple(one for one in kept.unasked if one not in broken))


def _check_schemas(tables: Path, db_ids: set[str], schemas: Mapping[str, DatabaseSchema]) -> None:
    """Reject a file of schemas that lacks a database."""
    if schemas:
        undescribed = Faults(tables, "database")
        for db_id in sorted(db_ids - schemas.keys()):
            undescribed.add(db_id, "no schema in this file", "add it, or remove the file")
        undescribed.stop()


def _check_digests(manifest: Path, layout: Layout, files: _Files, folder: Path) -> None:
    """Reject files other than those that the manifest was written for."""
    faults = Faults(manifest, "digest of")
    known = files.digests
    for name, digest in layout.digests.items():
        path = folder / name
        if not path.is_file():
            faults.add(name, "a file that does not exist", CORRECT)
            continue
        found = known.get(name) or digests([path])[path]
        if found != digest:
            faults.add(
                f"{name} (its sha256 is {found})",
                "not the file's",
                "use the intended file, or correct the digest",
            )
    faults.stop()


def read_schemas(file: TextFile) -> Mapping[str, DatabaseSchema]:
    """Read a file of schemas in Spider's format (`dev_tables.json`), keyed by db_id.

    https://github.com/taoyds/spider

    Raises:
        BadInput: the file is not in Spider's format, or names a database twice.
    """
    records = read_json(file, repair(file))
    if not isinstance(records, list) or not records:
        refuse(file.path, "is not a JSON array of schemas in Spider's format", repair(file))
    faults = Faults(file.path, "entry")
    schemas: dict[str, DatabaseSchema] = {}
    for position, record in enumerate(records):
        try:
            schema = _schema(record)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            detail = f"{position} ({type(error).__name__}: {error})"
            faults.add(detail, "not a schema in Spider's format", repair(file))
            continue
        if schema.db_id in schemas:
            faults.add(f"{position} ({schema.db_id})", "a second schema of the same database", "remove one")
        schemas[schema.db_id] = schema
    faults.stop()
    return schemas


def _schema(record: Any) -> DatabaseSchema:
    if not is_text(record["db_id"]):
        raise TypeError("db_id is not a string")
    tables = tuple(record["table_names_original"])
    # Column 0 is "*", of no table: column indexes count it, too.
    described = list(zip(record["column_names_original"], record["column_types"], strict=True))[1:]
    columns = tuple(SchemaColumn(tables[table], name, kind) for (table, name), kind in described)
    by_index = dict(enumerate(columns, start=1))
    return DatabaseSchema(
        db_id=record["db_id"],
        tables=tables,
        columns=columns,
        primary_keys=tuple(
            tuple(by_index[i] for i in (key if isinstance(key, list) else [key]))
            for key in record["primary_keys"]
        ),
        foreign_keys=tuple(
            (by_index[referring], by_index[referred]) for referring, referred in record["foreign_keys"]
        ),
    )

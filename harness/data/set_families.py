"""Find a question set by its path: by its manifest, or in the layout of a published family.

A folder is recognised by the content of its files: the keys of their first records determine the family
(`layouts/families.toml`), their names the split and dialect.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.published_sets import Published, set_in_spider_layout
from harness.data.set_manifest import MANIFEST, Layout, read_manifest
from loaders.base.files import one_line, visible

_FAMILIES = Path(__file__).with_name("layouts") / "families.toml"
_DOCS = "docs/how-to/question-set.md"

_HEAD = 2**20
"""Bytes of a file that are searched for its first record."""
_ENDS = (".json", ".jsonl")
_INSIDE = ("", "examples", "data")
"""Folders of a set that may hold questions."""
_PART = re.compile(r"-\d+-of-\d+$")
_TOGETHER = {"train_spider": "train", "train_others": "train"}
"""Files that are one split."""
_FIRST = ("dev", "examples")
"""Preferred splits of a folder with several."""


@dataclass(frozen=True)
class Own:
    """A user's set: its layout, the folder of its paths, and notes on how it was found.

    `manifest` is None where there is none; `published` is what it was recognised as, if it was.
    """

    layout: Layout
    folder: Path
    manifest: Path | None = None
    notes: tuple[str, ...] = ()
    published: Published | None = None


@dataclass(frozen=True)
class _Family:
    title: str
    marks: tuple[str, ...]
    keys: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refusal: str = ""
    """Why its files cannot be scored, and what can instead."""
    note: str = ""
    """What a user of its files should know."""


@cache
def _families() -> Mapping[str, _Family]:
    return {
        name: _Family(
            about["title"],
            tuple(about["marks"]),
            about.get("keys", {}),
            {key: tuple(values) for key, values in about.get("only", {}).items()},
            about.get("refusal", ""),
            about.get("note", ""),
        )
        for name, about in _content().items()
        if name != "dialects"
    }


@cache
def _content() -> dict[str, dict[str, Any]]:
    return tomllib.loads(_FAMILIES.read_text(encoding="utf-8"))


@cache
def _spelled_dialects() -> Mapping[str, Dialect]:
    """Return the dialects by their spellings in file names, from their names and the table of families."""
    others = {spelled: Dialect(name) for spelled, name in _content()["dialects"].items()}
    return {**{str(dialect): dialect for dialect in Dialect}, **others}


@dataclass
class _Split:
    """Files of questions that belong together, by dialect, and their family."""

    family: str
    files: dict[Dialect, list[Path]] = field(default_factory=dict)


def find_own(path: Path, reserved: Sequence[str]) -> Own:
    """Find the set that a path names: a folder, a manifest, a question file, or FOLDER/SPLIT.

    Args:
        path: as the user gave it.
        reserved: the names of the sets that come with bird-harness.

    Raises:
        BadInput: it does not exist, or its layout is unknown.
    """
    there = path.resolve()
    if there.suffix == ".toml":
        return Own(read_manifest(there, reserved=reserved), there.parent, there)
    if (there / MANIFEST).exists():
        return Own(read_manifest(there / MANIFEST, reserved=reserved), there, there / MANIFEST)
    if there.is_dir():
        return _recognised(there, None, reserved)
    folder = there.parent.parent if there.parent.name in _INSIDE else there.parent
    if there.suffix in _ENDS or (folder.is_dir() and folder != there):
        return _recognised(folder, there, reserved)
    raise BadInput(one_line(f"--set {path}: there is no such file or folder; check the path"))


def _recognised(folder: Path, asked: Path | None, reserved: Sequence[str]) -> Own:
    if asked is not None and asked.suffix in _ENDS:
        if not asked.is_file():
            raise BadInput(one_line(f"--set {asked}: there is no such file; check the path"))
        family = _family_of(asked)
        if family is None:
            _refuse(asked, "the layout of its first record is unknown")
        return _own(folder, asked.stem, _Split(family, {Dialect.SQLITE: [asked]}), reserved, ())
    splits = _splits(folder)
    if not splits and asked is not None:
        raise BadInput(one_line(f"--set {asked}: there is no such file or folder; check the path"))
    if not splits:
        _refuse(folder, f"no {MANIFEST}, and no file of questions in a known layout")
    names = list(splits)
    if asked is not None:
        if asked.name not in splits:
            held = f"{folder} holds {', '.join(names)}"
            raise BadInput(one_line(f"--set {asked}: there is no such file, folder or split; {held}"))
        return _own(folder, asked.name, splits[asked.name], reserved, ())
    if len(names) == 1:
        return _own(folder, "", splits[names[0]], reserved, ())
    chosen = next((name for name in _FIRST if name in splits), None)
    if chosen is None:
        choice = " or ".join(f"--set {folder}/{name}" for name in names)
        raise BadInput(one_line(f"--set {folder}: several sets of questions; choose one by {choice}"))
    others = ", ".join(f"{folder}/{name}" for name in names if name != chosen)
    return _own(folder, "", splits[chosen], reserved, (f"{folder}: {chosen} is read; others are {others}",))


def _refuse(path: Path, fault: str) -> NoReturn:
    known = (one for one in _families().values() if not one.refusal)
    marks = "; ".join(f"{one.title}: {', '.join(one.marks)}" for one in known)
    remedy = f"known are records with these keys ({marks}); for others, write a {MANIFEST} ({_DOCS})"
    raise BadInput(one_line(f"--set {path}: {fault}; {remedy}"))


def _splits(folder: Path) -> dict[str, _Split]:
    """Return the question files of a folder by split, in the order of their names."""
    splits: dict[str, _Split] = {}
    for path in _candidates(folder):
        family = _family_of(path)
        if family is None:
            continue
        split, dialect = _named(path)
        found = splits.setdefault(split, _Split(family))
        if found.family == family:
            found.files.setdefault(dialect, []).append(path)
    return {name: split for name, split in splits.items() if Dialect.SQLITE in split.files}


def _candidates(folder: Path) -> Iterator[Path]:
    for inside in _INSIDE:
        place = folder / inside
        if place.is_dir():
            yield from (path for path in visible(place) if path.suffix in _ENDS and path.is_file())


def _named(path: Path) -> tuple[str, Dialect]:
    """Return the split and the dialect in a file's name."""
    stem = _PART.sub("", path.stem)
    if path.parent.name == "examples":
        # KaggleDBQA has a file for each database, and parts of them by suffix.
        ending = re.search(r"_(test|fewshot|train|dev)$", stem)
        return (ending[1] if ending else "examples"), Dialect.SQLITE
    for spelled, dialect in _spelled_dialects().items():
        split = stem[: -len(spelled) - 1]
        if split and stem.lower().endswith((f"_{spelled}", f"-{spelled}")):
            return split, dialect
    return _TOGETHER.get(stem, stem), Dialect.SQLITE


def _family_of(path: Path) -> str | None:
    """Return the family whose marks the first record of a file has; None if there is none."""
    record = _first_record(path)
    return next(
        (name for name, family in _families().items() if all(mark in record for mark in family.marks)), None
    )


def _first_record(path: Path) -> Mapping[str, Any]:
    """Return the first record of a file of questions, empty if there is none."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).decode("utf-8-sig", errors="ignore").lstrip()
    except OSError:
        return {}
    start = head.lstrip("[").lstrip()
    if len(head) - len(head.lstrip("[")) > 1 or not start.startswith("{"):
        return {}
    try:
        record: Mapping[str, Any] = json.JSONDecoder().raw_decode(start)[0]
    except (ValueError, RecursionError):
        return {}
    return record


def _own(folder: Path, split: str, of: _Split, reserved: Sequence[str], notes: tuple[str, ...]) -> Own:
    family, first = _families()[of.family], of.files[Dialect.SQLITE][0]
    if family.refusal:
        raise BadInput(one_line(f"--set {first}: is in {family.title}, which {family.refusal}"))
    stem = split or _named(first)[0]
    base = re.sub(r"[^A-Za-z0-9_.-]+", "_", folder.name).lstrip("_.-")[:40] or "set"
    name = f"{base}_{re.sub(r'[^A-Za-z0-9_.-]+', '_', split)}"[:60] if split and split != base else base
    if name.casefold() in {one.casefold() for one in reserved}:
        name = f"{name}_own"
    below = {
        dialect: tuple(path.relative_to(folder).as_posix() for path in files)
        for dialect, files in of.files.items()
    }
    layout = Layout(
        name=name,
        title=f"{name}, in {family.title}",
        questions=below,
        gold=_gold(folder, stem, below),
        tables=_tables(folder, stem),
        keys={key: value for key, value in family.keys.items() if key != "SQL"},
        sql_keys=dict.fromkeys(Dialect, family.keys["SQL"]) if "SQL" in family.keys else {},
        required=("SQL", *(mark for mark in ("db_id",) if family.keys.get(mark, mark) in family.marks)),
        only=family.only,
        # As in Mini-Dev's first revision.
        ids_repeat=len(below) > 1,
    )
    notes = (*notes, f"{name}: {family.note}") if family.note else notes
    published = set_in_spider_layout(_first_record(first), folder.name, first.stem)
    if published is not None:
        notes = (*notes, f"{name}: {published.title}, published at {published.page}")
    return Own(layout, folder, notes=notes, published=published)


def _gold(folder: Path, stem: str, questions: Mapping[Dialect, tuple[str, ...]]) -> dict[Dialect, str]:
    """Find the files `*_gold.sql` next to the questions, which the official scripts run."""
    names: dict[Dialect, tuple[str, ...]] = {
        dialect: (f"{stem}_{dialect}_gold.sql",) for dialect in questions
    }
    names[Dialect.SQLITE] = (*names[Dialect.SQLITE], f"{stem}.sql", f"{stem}_gold.sql")
    found = {
        dialect: next((name for name in some if (folder / name).is_file()), None)
        for dialect, some in names.items()
    }
    return {dialect: name for dialect, name in found.items() if name is not None}


def _tables(folder: Path, stem: str) -> str | None:
    """Find the file of schemas in Spider's format."""
    for name in (f"{stem}_tables.json", "tables.json", "dev_tables.json"):
        if (folder / name).is_file():
            return name
    found = [path.name for path in visible(folder) if path.name.endswith("tables.json")]
    return found[0] if len(found) == 1 else None


DATABASE_SUFFIXES = (".sqlite", ".db", ".sqlite3", ".db3")
"""Suffixes of SQLite files; the first wins."""

_SHAPES = (
    *(f"{{0}}/{{0}}{suffix}" for suffix in DATABASE_SUFFIXES),
    *(f"{{0}}{suffix}" for suffix in DATABASE_SUFFIXES),
    "{0}/{0}_template.sqlite",
)


def find_databases(
    own: Own, db_ids: Sequence[str], *, may_miss: bool = False
) -> tuple[Path, dict[str, Path]]:
    """Find the folder with the databases of a set, and the file of each one present.

    Databases keep their spelling on disk: questions may differ in case.

    Args:
        own: the set.
        db_ids: names in the questions.
        may_miss: allow that there are none.

    Raises:
        BadInput: the manifest names a path that does not exist.
    """
    if own.layout.databases:
        place = own.folder / own.layout.databases
        if not place.exists() and not may_miss:
            raise BadInput(one_line(f"{own.manifest}: databases: there is no {place}; correct the file"))
        if place.is_file():
            return place.parent, dict.fromkeys(db_ids, place)
        return place, database_files(place, db_ids)
    found = [(place, database_files(place, db_ids)) for place in _places(own)]
    folder, files = max(found, key=lambda one: len(one[1]))
    if own.published is not None and own.published.databases:
        # Some may be the set's own. The first place wins.
        files = {db_id: path for _, some in reversed(found) for db_id, path in some.items()}
    return (folder if files else own.folder), files


def databases_in(place: Path) -> dict[str, Path]:
    """Find the databases of a folder by name, as published sets lay them out; a file is a single one.

    Raises:
        BadInput: there is none.
    """
    if place.is_file():
        return {place.stem: place}
    inside = visible(place) if place.is_dir() else ()
    found = database_files(place, sorted({path.stem if path.is_file() else path.name for path in inside}))
    if not found:
        shapes = f"NAME/NAME.sqlite, NAME.sqlite; also {', '.join(DATABASE_SUFFIXES[1:])}"
        raise BadInput(one_line(f"databases {place}: no SQLite files there ({shapes}); check the path"))
    return found


def _places(own: Own) -> Iterator[Path]:
    """Yield where the databases of a set may be, likely places first."""
    stem = Path(own.layout.questions[Dialect.SQLITE][0]).stem.partition("_")[0]
    likely = (f"{stem}_databases", f"{stem}_database", "databases", "database", "dev_databases")
    for around in (own.folder, own.folder.parent):
        others = sorted(path.name for path in around.glob("*database*") if path.is_dir())
        for name in dict.fromkeys((*likely, *others)):
            yield around / name
            yield around / name / name
    yield own.folder
    if own.published is not None and own.published.databases:
        for around in (own.folder, own.folder.parent):
            yield around / own.published.databases


def database_files(place: Path, db_ids: Sequence[str]) -> dict[str, Path]:
    """Find the files of these databases in a folder, by the name in the questions."""
    if not place.is_dir():
        return {}
    inside: dict[str, list[Path]] = {}
    for path in sorted(place.iterdir()):
        inside.setdefault(path.name.casefold(), []).append(path)
    found = {}
    for db_id in db_ids:
        for shape in _SHAPES:
            head, _, tail = shape.format(db_id).partition("/")
            # In exactly this spelling, if that exists.
            paths = sorted(inside.get(head.casefold(), ()), key=lambda path: path.name != head)
            file = next((one for one in (_file(each, tail) for each in paths) if one), None)
            if file is not None:
                found[db_id] = file
                break
    return found


def _file(path: Path, tail: str) -> Path | None:
    if not tail:
        return path if path.is_file() else None
    if not path.is_dir():
        return None
    wanted = path / tail
    if wanted.is_file():
        return wanted
    return next((each for each in sorted(path.iterdir()) if each.name.casefold() == tail.casefold()), None)

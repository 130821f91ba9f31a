"""Read `benchmark.toml`, the manifest of a question set, built-in or a user's own.

`layouts/` has the built-in manifests; `set_families` has the layouts of others. Every fault is one sentence
with the file, the key and the remedy; docs/reference/file-formats.md lists the keys.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from loaders.base.errors import brief
from loaders.base.files import one_line, read_text, refuse

MANIFEST = "benchmark.toml"

FIELDS = ("question_id", "db_id", "question", "evidence", "SQL", "difficulty")
"""Fields of a question's record, by BIRD's names."""

TYPES = "types"
"""The field with the types of a question, in sets that list types of their own."""

CORRECT = "correct the file"
TOTAL = "total"
NO_TYPE = "none"
"""The group of questions that are of no type."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
_RELEASE = re.compile(r"3\.[0-9]{1,3}(?:\.[0-9]{1,3})?")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class SetServer:
    """A server that already has the databases of a set; nothing is loaded.

    The address is `dsn`, or the value of the environment variable `variable`. It names a database;
    `databases` are the databases on the server by the names in the questions, if they differ.
    """

    dialect: Dialect
    dsn: str = field(default="", repr=False)
    variable: str = ""
    schema: str = "public"
    databases: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """Where a set's files are, and the keys of their records.

    `questions` and `gold` are paths below the set's folder by dialect, several files one after the other.
    `databases` is the folder of the databases, or the only one. `keys` maps `FIELDS` to the keys of the
    records if they differ, `sql_keys` the dialects whose gold is in the records; `required` are the fields
    that every record must have. `levels` are those of difficulty in their order; empty if they are taken from
    the records. `types` are the set's own types of questions; empty if rules decide. `only` keeps the records
    with these values, the rest is counted. `ids_repeat`: ids may repeat, and every dialect then has the same
    questions at the same positions; otherwise dialects are joined by id. `profile` is the one in which the
    golds for servers are right, None if the user decides. `digests` are SHA-256 by path, `domains` the
    subjects of databases. `server` has the databases if they are not in files. `questions_of` names the set
    whose questions these are, with other golds: prediction files that are named for it are accepted. `sqlite`
    is the release of SQLite whose answers the golds were written for, if it is named.

    The rest applies to sets that come with bird-harness: the namespace on servers, the paths below BIRD_HOME
    in order of preference, the folders that hold `databases`, and the databases of the published set, which
    others may replace.
    """

    name: str
    title: str
    questions: Mapping[Dialect, tuple[str, ...]]
    gold: Mapping[Dialect, str] = field(default_factory=dict)
    databases: str = ""
    tables: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    sql_keys: Mapping[Dialect, str] = field(default_factory=dict)
    required: tuple[str, ...] = FIELDS
    levels: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ids_repeat: bool = False
    profile: Profile | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    domains: Mapping[str, str] = field(default_factory=dict)
    server: SetServer | None = None
    questions_of: str = ""
    sqlite: str = ""
    collection: str | None = None
    folders: tuple[str, ...] = ("",)
    databases_in: tuple[str, ...] = ("",)
    published: frozenset[str] | None = None

    @property
    def reference(self) -> Dialect:
        """The dialect whose questions the others must agree with: SQLite, or that of the set's server."""
        return Dialect.SQLITE if self.server is None else self.server.dialect

    @property
    def is_own(self) -> bool:
        """True if it is a user's set, rather than one that comes with bird-harness."""
        return self.collection is None

    def key(self, name: str, dialect: Dialect = Dialect.SQLITE) -> str:
        """Return the key of a field in records."""
        own = self.sql_keys.get(dialect) if name == "SQL" else None
        return own or self.keys.get(name, name)


def read_manifest(path: Path, *, built_in: bool = False, reserved: Sequence[str] = ()) -> Layout:
    """Read a manifest.

    Args:
        path: `benchmark.toml`, or a file of that kind.
        built_in: it is one of the project's own, which may have more keys.
        reserved: names that a set cannot have.

    Raises:
        BadInput: the file cannot be read, is not TOML, or has a key or value that is not allowed.
    """
    text = read_text(path, remedy="write it as docs/how-to/question-set.md says").text
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        refuse(path, f"is not valid TOML ({error})", CORRECT)
    return _Manifest(path, content, built_in=built_in).layout(reserved)


_KEYS = (
    "name",
    "title",
    "questions",
    "gold",
    "databases",
    "tables",
    "keys",
    "levels",
    "types",
    "only",
    "ids_repeat",
    "profile",
    "sqlite",
    "digests",
    "domains",
    "server",
    "questions_of",
)
_BUILT_IN = ("collection", "folders", "databases_in", "db_ids")


class _Manifest:
    """A parsed manifest, checked key by key."""

    def __init__(self, path: Path, content: Mapping[str, Any], *, built_in: bool) -> None:
        self._path = path
        self._content = content
        self._built_in = built_in
        self._reference = Dialect.SQLITE
        self._allow("", content, (*_KEYS, *(_BUILT_IN if built_in else ())))

    def layout(self, reserved: Sequence[str]) -> Layout:
        name = self._name(reserved)
        keys, sql_keys = self._keys()
        server = self._server()
        if server is not None:
            self._reference = server.dialect
        questions = self._by_dialect("questions", self._paths)
        if self._reference not in questions:
            fault = f"has no file for {self._reference}, whose gold is the reference for every other"
            self._refuse("questions", fault, "name one")
        if server is not None and (others := [str(one) for one in questions if one != self._reference]):
            fault = f"names files for {', '.join(others)}, but the databases are on {self._reference} only"
            self._refuse("questions", fault, "remove them")
        gold = self._by_dialect("gold", self._path_text)
        self._golds_in_records(questions, gold)
        built_in = self._content if self._built_in else {}
        return Layout(
            name=name,
            title=self._text("title", name),
            questions=questions,
            gold=gold,
            databases="" if server else self._path_text("databases", self._get("databases")),
            server=server,
            questions_of=self._text("questions_of", ""),
            tables=self._text("tables", None),
            keys=keys,
            sql_keys=sql_keys,
            required=FIELDS if self._built_in else ("SQL", *self._named()),
            levels=self._names("levels", {TOTAL: "which tables call all levels together"}),
            types=self._types(),
            only=self._only(),
            ids_repeat=self._flag("ids_repeat"),
            profile=self._profile(),
            sqlite=self._release(),
            digests=self._digests(),
            domains=self._domains(),
            collection=built_in.get("collection"),
            folders=tuple(built_in.get("folders", ("",))),
            databases_in=tuple(built_in.get("databases_in", built_in.get("folders", ("",)))),
            published=frozenset(built_in["db_ids"]) if "db_ids" in built_in else None,
        )

    def _refuse(self, key: str, fault: str, remedy: str = CORRECT) -> NoReturn:
        refuse(self._path, f"{key} {fault}", remedy)

    def _allow(self, table: str, content: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in content:
            if key not in known:
                near = get_close_matches(key, known, 1)
                remedy = f"write {near[0]}" if near else f"remove it, or write one of {', '.join(known)}"
                where = f" in [{table}]" if table else ""
                self._refuse(brief(repr(key)), f"is not a key of a manifest{where}", remedy)

    def _get(self, key: str) -> Any:
        if key not in self._content:
            refuse(self._path, f"has no {key}", f"add it, as in {_EXAMPLES[key]}")
        return self._content[key]

    def _text(self, key: str, otherwise: Any) -> Any:
        return self._path_text(key, self._content[key]) if key in self._content else otherwise

    def _path_text(self, key: str, value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            self._refuse(
                key, f"is {brief(repr(value))}, not a text", f"write it as {_EXAMPLES.get(key, 'a text')}"
            )
        return str(value)

    def _flag(self, key: str) -> bool:
        value = self._content.get(key, False)
        if not isinstance(value, bool):
            self._refuse(key, f"is {brief(repr(value))}", "write true or false")
        return bool(value)

    def _release(self) -> str:
        value = self._content.get("sqlite", "")
        if value != "" and not (isinstance(value, str) and _RELEASE.fullmatch(value)):
            self._refuse("sqlite", f"is {brief(repr(value))}, no release of SQLite", 'write it as "3.40"')
        return str(value)

    def _profile(self) -> Profile | None:
        value = self._content.get("profile")
        if value is None:
            return None
        if value not in list(Profile):
            self._refuse("profile", f"is {brief(repr(value))}", f"write one of {', '.join(Profile)}")
        return Profile(value)

    def _name(self, reserved: Sequence[str]) -> str:
        name = self._get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            remedy = "use up to 60 letters, digits, _ . and -, a letter or digit first"
            self._refuse("name", f"{brief(repr(name))} cannot be a set's name", remedy)
        if not self._built_in and name.casefold() in {one.casefold() for one in reserved}:
            self._refuse("name", f"{name!r} is a set that comes with bird-harness", "choose another")
        return str(name)

    def _table(self, key: str) -> dict[str, Any]:
        table = self._content.get(key, {})
        if not isinstance(table, dict):
            self._refuse(key, f"is {brief(repr(table))}, not a table", f"write [{key}] and its keys below")
        return dict(table)

    def _by_dialect(self, key: str, read: Callable[[str, Any], Any]) -> dict[Dialect, Any]:
        value = self._content.get(key, {}) if key == "gold" else self._get(key)
        table = {str(self._reference): value} if isinstance(value, str | list) else self._table(key)
        self._allow(key, table, list(Dialect))
        return {dialect: read(f"{key}.{dialect}", table[dialect]) for dialect in Dialect if dialect in table}

    def _paths(self, key: str, value: Any) -> tuple[str, ...]:
        paths = value if isinstance(value, list) else [value]
        if not paths:
            self._refuse(key, "names no file", "name one or several")
        return tuple(self._path_text(key, each) for each in paths)

    def _keys(self) -> tuple[dict[str, str], dict[Dialect, str]]:
        table = self._table("keys")
        self._allow("keys", table, (*FIELDS, TYPES))
        of_dialects = table.pop("SQL", {})
        if isinstance(of_dialects, str):
            of_dialects = {str(dialect): of_dialects for dialect in Dialect}
        elif isinstance(of_dialects, dict):
            self._allow("keys.SQL", of_dialects, list(Dialect))
        else:
            self._refuse("keys.SQL", f"is {brief(repr(of_dialects))}", "write a key, or one for each dialect")
        return (
            {name: self._path_text(f"keys.{name}", value) for name, value in table.items()},
            {
                Dialect(name): self._path_text(f"keys.SQL.{name}", value)
                for name, value in of_dialects.items()
            },
        )

    def _named(self) -> list[str]:
        """Return the fields whose keys are named, so that every record must have them."""
        return [name for name in FIELDS if name in self._table("keys") and name != "SQL"]

    def _golds_in_records(self, questions: dict[Dialect, Any], gold: Mapping[Dialect, str]) -> None:
        """Read a dialect's questions from SQLite's records if its gold is there, under its own key."""
        named = self._table("keys").get("SQL")
        for dialect in map(Dialect, named if isinstance(named, dict) else ()):
            if dialect in gold:
                self._refuse(f"keys.SQL.{dialect}", "and a file of gold name the same gold", "remove one")
            questions.setdefault(dialect, questions[self._reference])

    def _names(self, key: str, taken: Mapping[str, str]) -> tuple[str, ...]:
        """Return a list of names, in the order of the tables; `taken` says why some cannot be used."""
        names = self._content.get(key, [])
        if not isinstance(names, list):
            self._refuse(key, f"is {brief(repr(names))}", f'write a list, as in {key} = ["easy", "hard"]')
        for name in names:
            self._path_text(key, name)
            if name in taken:
                self._refuse(key, f"has {name!r}, {taken[name]}", "rename it")
        if len(set(names)) < len(names):
            self._refuse(key, f"has a {key[:-1]} twice", "write each once, in the order of the tables")
        return tuple(names)

    def _types(self) -> tuple[str, ...]:
        types = self._names(TYPES, {NO_TYPE: "which tables call questions of no type"})
        if not types and TYPES in self._table("keys"):
            self._refuse(
                "keys.types", "names a key, but the set lists no types", 'add types = ["...", "..."]'
            )
        return types

    def _only(self) -> dict[str, tuple[str, ...]]:
        found = {}
        for key, value in self._table("only").items():
            values = value if isinstance(value, list) else [value]
            found[key] = tuple(self._path_text(f"only.{key}", each) for each in values)
        return found

    def _server(self) -> SetServer | None:
        if "server" not in self._content:
            return None
        if "databases" in self._content:
            self._refuse("databases", "and [server] both say where the databases are", "remove one")
        table = self._table("server")
        self._allow("server", table, ("dialect", "dsn", "variable", "schema", "databases"))
        dialect = table.get("dialect")
        served = [str(each) for each in Dialect if each is not Dialect.SQLITE]
        if dialect not in served:
            self._refuse("server.dialect", f"is {brief(repr(dialect))}", f"write one of {', '.join(served)}")
        if ("dsn" in table) == ("variable" in table):
            remedy = "write dsn, or variable with the name of an environment variable that has it"
            self._refuse("server", "must have exactly one address", remedy)
        databases = table.get("databases", {})
        if not isinstance(databases, dict):
            remedy = "write [server.databases], and a line for each"
            self._refuse("server.databases", f"is {brief(repr(databases))}", remedy)
        texts = {
            key: self._path_text(f"server.{key}", table[key])
            for key in ("variable", "schema")
            if key in table
        }
        dsn = table.get("dsn", "")
        if "dsn" in table and not (isinstance(dsn, str) and dsn.strip()):
            # Its value is not shown: it may contain a password.
            self._refuse("server.dsn", "is not an address", "write one, or name a variable")
        return SetServer(
            dialect=Dialect(dialect),
            dsn=dsn,
            databases={
                key: self._path_text(f"server.databases.{key}", value) for key, value in databases.items()
            },
            **texts,
        )

    def _domains(self) -> dict[str, str]:
        domains = self._table("domains")
        return {key: self._path_text(f"domains.{key}", value) for key, value in domains.items()}

    def _digests(self) -> dict[str, str]:
        digests = self._table("digests")
        for path, digest in digests.items():
            if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
                shown = brief(repr(digest))
                self._refuse(f"digests of {path!r}", f"is {shown}", "write the SHA-256, 64 digits of 0-9 a-f")
        return dict(digests)


_EXAMPLES = {
    "name": 'name = "shop"',
    "questions": 'questions = "questions.json"',
    "databases": 'databases = "databases"',
}


PUBLISHED = (Dialect.SQLITE, Dialect.MYSQL, Dialect.POSTGRESQL)
"""The dialects in which question sets and figures of predictors are published."""

_FOLDER = Path(__file__).with_name("layouts")

LAYOUTS: Mapping[str, Layout] = {
    name: read_manifest(_FOLDER / f"{name}.toml", built_in=True)
    for name in ("sample", "mini_dev", "mini_dev_2025", "dev")
}
"""By name, in the order shown to users."""


def find(name: str, home: Path, folders: tuple[str, ...], holds: str) -> Path:
    """Return the first of `folders` below `home` that contains the file or folder `holds`.

    Raises:
        BadInput: none does; the message lists where question set `name` was searched for.
    """
    places = [home / folder for folder in folders]
    for place in places:
        if (place / holds).exists():
            return place
    looked = " or ".join(map(str, places))
    remedy = f"set BIRD_HOME, now {home}, to the folder with the unpacked published package"
    raise BadInput(one_line(f"question set {name}: no {holds} in {looked}; {remedy}"))

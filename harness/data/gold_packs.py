"""Gold packs: replacement golds for questions of a set, and excluded questions, each with its reason.

A pack is a JSON object, in a file or as `pack.json` in a folder: `name`, `version`, `set`, `source`, and
`golds`, a list of objects:

    {"question_id": 137, "dialect": "sqlite", "sql": "SELECT ...", "reason": "...", "source": "...",
     "origin": "...", "replaces": "<sha256 of the gold>"}
    {"question_id": 12, "status": "excluded", "reason": "..."}

`sql` may be a list, of which any counts; `status` may also be `ambiguous`, which excludes the question unless
the entry has SQL. Corrections as others publish them are also accepted: a list or lines of such objects,
under various keys for the SQL, or a whole revised set: its changes are the pack.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.overrides import digest
from harness.data.questions import PackUse, Question, QuestionSet, subset
from loaders.base.errors import brief
from loaders.base.files import (
    Faults,
    TextFile,
    is_text,
    json_type,
    read_json,
    read_json_lines,
    read_text,
    refuse,
)

PUBLISHED = "published"
"""Name of the set's own golds where packs are named."""

FILE = "pack.json"
"""The file of a pack that is a folder."""

_CORRECT = "correct the file"
_SQL = ("sql", "SQL", "corrected_sql", "corrected_SQL", "correct_sql", "new_sql", "gold_sql", "gold", "query")
"""Keys of SQL in corrections."""
_LONGEST = 100
_SHA256 = re.compile("[0-9a-fA-F]{64}")


class Status(StrEnum):
    """What an entry changes about a question."""

    GOLD = "gold"
    """It has other golds."""
    EXCLUDED = "excluded"
    """No answer can be judged: it is excluded."""
    AMBIGUOUS = "ambiguous"
    """It can be understood in several ways: excluded, unless the entry has the golds of them."""


@dataclass(frozen=True)
class PackEntry:
    """The entry of one question in one dialect.

    `question` is an id or a key. `golds` is empty if the question is excluded. `replaces` is the sha256 of
    the replaced gold, in hexadecimal; None if the pack does not name it.
    """

    question: int | str
    dialect: Dialect
    golds: tuple[str, ...]
    status: Status = Status.GOLD
    origin: str = ""
    reason: str = ""
    source: str = ""
    replaces: str | None = None
    db_id: str | None = None

    @property
    def leaves_out(self) -> bool:
        """True if the question is excluded."""
        return not self.golds


@dataclass(frozen=True)
class GoldPack:
    """A gold pack as read.

    `of_set` is the set that it names. `in_order`: an id may occur several times, for the questions that share
    it.
    """

    name: str
    version: str
    path: Path
    sha256: str
    entries: tuple[PackEntry, ...]
    of_set: str | None = None
    source: str = ""
    in_order: bool = False


def read_pack(path: Path) -> GoldPack:
    """Read a pack, or corrections as others publish them.

    Raises:
        BadInput: it is not a gold pack; one message for all faults.
    """
    file = read_text(path / FILE if path.is_dir() else path, remedy=_CORRECT)
    start = file.text.lstrip()[:1]
    content = read_json(file, _CORRECT) if start == "[" or _is_one(file) else None
    if content is None:
        records: Sequence[Any] = [record for _, record in read_json_lines(file)]
        return _listed(file, records, {})
    if isinstance(content, list):
        return _listed(file, content, {})
    if not isinstance(content, dict) or not isinstance(content.get("golds"), list):
        refuse(file.path, 'not a gold pack: a JSON object with a list "golds", or a list', _CORRECT)
    return _listed(file, content["golds"], content)


def _is_one(file: TextFile) -> bool:
    """True if a file is one object, rather than one per line."""
    try:
        read_json(file)
    except BadInput:
        return False
    return True


def _listed(file: TextFile, records: Sequence[Any], about: Mapping[str, Any]) -> GoldPack:
    faults = Faults(file.path, "entry")
    for name in ("name", "version", "set", "source"):
        if name in about and not _is_word(about[name], 2_000 if name == "source" else _LONGEST):
            refuse(
                file.path, f"{name} {brief(repr(about[name]))}: must be a short text of one line", _CORRECT
            )
    entries = []
    for place, record in enumerate(records, start=1):
        problem = next(_problems(record), None)
        if problem is None:
            entries.append(_entry(record))
        else:
            faults.add(place, problem, _CORRECT)
    faults.stop()
    if not entries:
        refuse(file.path, "has no golds", _CORRECT)
    stem = file.path.parent.name if file.path.name == FILE else file.path.stem
    return GoldPack(
        str(about.get("name", stem))[:_LONGEST],
        str(about.get("version", file.sha256[:12])),
        file.path,
        file.sha256,
        tuple(entries),
        about.get("set"),
        str(about.get("source", "")),
        in_order=not about,
    )


def _is_word(value: Any, most: int) -> bool:
    return is_text(value) and 0 < len(value.strip()) <= most and value.isprintable()


def _problems(record: Any) -> Iterator[str]:
    """Yield the faults of an entry."""
    if not isinstance(record, dict):
        yield f"{json_type(record)} instead of an object"
        return
    question = record.get("question_id")
    if isinstance(question, bool) or not (isinstance(question, int) or (is_text(question) and question)):
        yield "no question_id"
    for name, words in (("dialect", Dialect), ("status", Status)):
        if name in record and record[name] not in list(words):
            yield f"{name} {brief(repr(record[name]))}: choose from {', '.join(words)}"
    for name in ("origin", "reason", "source", "db_id"):
        if record.get(name) is not None and not is_text(record[name]):
            yield f"{name} is not a text"
    replaced = record.get("replaces")
    if replaced is not None and not (is_text(replaced) and _SHA256.fullmatch(replaced)):
        yield "replaces is not a sha256 in hexadecimal"
    yield from _problems_of_gold(_texts(record), record.get("status", Status.GOLD), record.get("reason"))


def _problems_of_gold(texts: Sequence[Any], status: str, reason: object) -> Iterator[str]:
    """Yield the faults of an entry's SQL, or of its presence or absence."""
    if any(not is_text(text) or not text.strip() for text in texts):
        yield "SQL that is not a text, or empty"
    elif len({text.strip() for text in texts}) < len(texts):
        yield "the same SQL twice"
    if status == Status.GOLD and not texts:
        yield f"no SQL: none of {', '.join(_SQL)}"
    if status == Status.EXCLUDED and texts:
        yield "excluded, but has SQL"
    if status != Status.GOLD and not reason:
        yield f"{status} without a reason"


def _texts(record: Mapping[str, Any]) -> list[Any]:
    found: Any = next((record[name] for name in _SQL if record.get(name) is not None), [])
    return found if isinstance(found, list) else [found]


def _entry(record: Mapping[str, Any]) -> PackEntry:
    replaced = record.get("replaces")
    return PackEntry(
        question=record["question_id"],
        dialect=Dialect(record.get("dialect", Dialect.SQLITE)),
        golds=tuple(text.strip() for text in _texts(record)),
        status=Status(record.get("status", Status.GOLD)),
        origin=record.get("origin") or "",
        reason=record.get("reason") or "",
        source=record.get("source") or "",
        replaces=replaced.lower() if replaced else None,
        db_id=record.get("db_id"),
    )


def apply_pack(pack: GoldPack, questions: QuestionSet) -> QuestionSet:
    """Return the set with the golds of a pack, without the questions that it excludes.

    A question with a new gold for SQLite has no right gold in the dialects that the pack lacks. There the
    rows of SQLite's gold count, unless the set has no gold in that dialect: then SQLite's is translated, as
    before.

    Raises:
        BadInput: the pack is for another set or another revision of it, or leaves nothing; one message for
            all faults.
    """
    if pack.of_set is not None and pack.of_set != questions.name:
        refuse(pack.path, f"it is for question set {pack.of_set}, not {questions.name}", "name another pack")
    entries = _by_question(pack, questions)
    use = Counter[str]()
    kept = []
    for question in questions.questions:
        found = entries.get(question.key)
        if not found:
            kept.append(question)
            continue
        statuses = {each.status for each in found.values() if each.leaves_out}
        if statuses:
            use[Status.EXCLUDED if Status.EXCLUDED in statuses else Status.AMBIGUOUS] += 1
            continue
        fresh = _corrected(question, found)
        use["corrected"] += 1
        use["several"] += bool(fresh.more_gold)
        use["by_rows"] += bool(fresh.by_rows)
        use["unchecked"] += any(each.replaces is None for each in found.values())
        kept.append(fresh)
    if not kept:
        refuse(pack.path, f"it excludes every question of {questions.name}", "name another pack")
    used = PackUse(pack.name, pack.version, pack.sha256, **use)
    by_key = {question.key: question for question in kept}
    everything = replace(
        questions, questions=tuple(by_key.get(one.key, one) for one in questions.questions), pack=used
    )
    return subset(everything, kept)


def _corrected(question: Question, entries: Mapping[Dialect, PackEntry]) -> Question:
    gold, more = dict(question.gold), dict(question.more_gold)
    for dialect, entry in entries.items():
        gold[dialect] = entry.golds[0]
        more.pop(dialect, None)
        if len(entry.golds) > 1:
            more[dialect] = entry.golds[1:]
    left = set(question.gold) - set(entries) if Dialect.SQLITE in entries else set()
    for dialect in left:
        del gold[dialect]
        more.pop(dialect, None)
    return replace(
        question,
        gold=gold,
        more_gold=more,
        corrected=question.corrected | entries.keys(),
        by_rows=question.by_rows | left,
    )


def _by_question(pack: GoldPack, questions: QuestionSet) -> dict[str, dict[Dialect, PackEntry]]:
    """Return the entries that change something, by question key and dialect.

    Raises:
        BadInput: they do not fit the set.
    """
    faults = Faults(pack.path, "question")
    seen: Counter[tuple[int | str, Dialect]] = Counter()
    found: dict[str, dict[Dialect, PackEntry]] = {}
    told: set[tuple[str, Dialect]] = set()
    for entry in pack.entries:
        place = seen[entry.question, entry.dialect]
        seen[entry.question, entry.dialect] += 1
        key = _key(entry, place, pack, questions)
        if key is None:
            faults.add(entry.question, f"not one of {questions.name}", "name its id or key, such as 137#2")
            continue
        question = questions.by_key[key]
        there = question.gold.get(entry.dialect)
        if (key, entry.dialect) in told:
            faults.add(entry.question, f"occurs twice for {entry.dialect}", "put several golds into one list")
        elif questions.server is not None and entry.dialect != questions.server.dialect:
            faults.add(
                entry.question,
                f"has gold for {entry.dialect}, but {questions.name} is on {questions.server.dialect} only",
                "correct the dialect",
            )
        elif entry.db_id is not None and entry.db_id != question.db_id:
            faults.add(
                entry.question, f"is about the database {question.db_id} in {questions.name}", _CORRECT
            )
        elif entry.replaces is not None and (there is None or digest(there) != entry.replaces):
            faults.add(
                entry.question,
                f"replaces a gold other than that of {questions.name} for {entry.dialect}",
                "use the pack for this revision of the set",
            )
        elif entry.status is not Status.GOLD or there is None or entry.golds != (there.strip(),):
            found.setdefault(key, {})[entry.dialect] = entry
        told.add((key, entry.dialect))
    faults.stop()
    if not found:
        refuse(pack.path, f"it changes no gold of {questions.name}", "name another pack")
    return found


def _key(entry: PackEntry, place: int, pack: GoldPack, questions: QuestionSet) -> str | None:
    """Return the key of an entry's question; None if there is none.

    In corrections without keys, an id that several questions share is assigned to them in order.
    """
    if pack.in_order and isinstance(entry.question, int):
        keys = questions.keys_of(entry.question)
        return keys[place] if place < len(keys) else None
    try:
        return questions.key_of(entry.question)
    except BadInput:
        return None


def with_golds(questions: QuestionSet, gold: str | None) -> QuestionSet:
    """Return the set with its own golds (`published` or None), or those of the pack at a path.

    Raises:
        BadInput: there is no such pack, it cannot be read, or is not for this set.
    """
    return questions if gold in {None, PUBLISHED} else apply_pack(read_pack(Path(str(gold))), questions)


def use_sqlite_reference(questions: QuestionSet) -> QuestionSet:
    """Return the set with the rows of SQLite's golds as the reference on every server, compared by value.

    Raises:
        BadInput: the set has no gold for SQLite.
    """
    if any(Dialect.SQLITE not in one.gold for one in questions.questions):
        raise BadInput(f"--reference sqlite: {questions.name} has no gold for SQLite; omit the option")
    servers = frozenset(Dialect) - {Dialect.SQLITE}
    return replace(
        questions, questions=tuple(replace(one, by_rows=servers) for one in questions.questions), by_rows=True
    )

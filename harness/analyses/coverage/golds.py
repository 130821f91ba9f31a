"""Translations for export: of a query, of a predictor's answers, and of a set's golds with certificates.

The files of golds are a question set again.
"""

import hashlib
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dialects
from dialects.enums import Dialect, ParamStyle, Profile
from dialects.errors import BadInput
from dialects.functions import NEEDS_EXTENSION
from dialects.overrides import digest
from dialects.parameters import numbered
from dialects.schema import Schema
from dialects.source import refuse_statements
from dialects.translation import Translation, Untranslatable, translate
from harness.analyses.bench import Bench, in_threads, sqlite_digests
from harness.analyses.coverage import expectations
from harness.analyses.coverage.answers import DifferenceReason
from harness.analyses.coverage.plain import PlainForms, Style
from harness.analyses.coverage.proof import GoldProver
from harness.data.gold_packs import FILE as PACK
from harness.data.outcomes import GoldOrigin
from harness.data.predictions import PredictionFile
from harness.data.questions import Question, QuestionSet
from harness.data.set_manifest import MANIFEST, read_manifest
from harness.engines.execution import Limits
from harness.scoring.golds import Golds, NoGold
from loaders.base.files import as_json, ascii_json, is_text, one_line
from loaders.bulk_load import Progress
from loaders.file_census import census
from loaders.server import Server
from loaders.source import opened

# SQLite's SQL in another dialect, for export: one text, or the answers of predictors.


@dataclass(frozen=True)
class TextTranslator:
    """Translates queries for a database.

    Args:
        path: the SQLite file.
        schema: what its columns hold.
        target: the dialect.
        samples: values of parameters by name, which tell their types; those of other queries are left out.
        style: how parameters are written; None as the target's common driver takes them.
    """

    path: Path
    schema: Schema
    target: Dialect
    samples: Mapping[str, object] = field(default_factory=dict)
    style: ParamStyle | None = None

    def translate(self, sql: str) -> Translation:
        """Translate one query.

        Raises:
            BadInput: SQLite itself does not take the text.
            Untranslatable: there is no exact translation, or the text is no query.
        """
        refuse_statements(sql)
        if why := _refused(sql, self.path):
            raise BadInput(one_line(f"SQLite does not take the text: {why}; {_remedy(why, self.schema)}"))
        names = numbered(sql, {})[1].names
        samples = {name: value for name, value in self.samples.items() if name in names}
        return translate(sql, self.schema, self.target, samples=samples, style=self.style)


_NO_TABLE = "no such table: "


def _remedy(why: str, schema: Schema) -> str:
    """Return what to do about a text that SQLite refuses: its table may have blanks or signs in its name."""

    def plain(name: str) -> str:
        return "".join(filter(str.isalnum, name)).casefold()

    wanted = plain(why.removeprefix(_NO_TABLE)) if why.startswith(_NO_TABLE) else ""
    near = next((table.name for table in schema.tables if wanted and plain(table.name) == wanted), None)
    return f'write "{near}", if that table is meant' if near else "correct it"


def translate_answers(
    file: PredictionFile, questions: QuestionSet, target: Dialect
) -> Iterator[dict[str, Any]]:
    """Translate the answers of a predictor from SQLite's dialect: yield lines of a prediction file.

    The predictor is called `<name>-translated`, and each line says what it is translated from, and what the
    answer took. What has no exact translation, or no readable database, is missing, with the reason.

    Args:
        file: the answers.
        questions: the whole set.
        target: the dialect of a server.
    """
    schemas: dict[str, Schema | str] = {}
    for question in questions.questions:
        sql, reason = file.predictions[question.key], file.reasons.get(question.key)
        if sql is not None:
            path = questions.database(question.db_id).sqlite_path
            if question.db_id not in schemas:
                schemas[question.db_id] = _schema(path)
            schema = schemas[question.db_id]
            sql, reason = (None, schema) if isinstance(schema, str) else _answer(sql, path, schema, target)
        elif reason is None:
            continue
        usage = file.usage.get(question.key)
        yield {
            "question_id": question.key,
            "dialect": target,
            "predictor": f"{file.predictor}-translated",
            "translated_from": file.dialect,
            "sql": sql,
            **({"reason": reason} if sql is None else {}),
            **(usage.to_json() if usage else {}),
        }


def _schema(path: Path) -> Schema | str:
    """Return the census of a database, or why it cannot be read."""
    try:
        return census(path)
    except BadInput as error:
        return one_line(str(error))


def _answer(sql: str, path: Path, schema: Schema, target: Dialect) -> tuple[str | None, str | None]:
    """Return an answer's translation, or why there is none."""
    try:
        refuse_statements(sql)
        if why := _refused(sql, path):
            return None, one_line(f"SQLite does not take the answer: {why}")
        return translate(sql, schema, target, as_json=False).sql, None
    except Untranslatable as error:
        return None, one_line(f"no translation: {error}")


def _refused(sql: str, path: Path) -> str | None:
    """Return SQLite's objection to a text, which is prepared and not run."""
    if not is_text(sql) or "\0" in sql:
        return "it has characters that no text has"
    with opened(path) as connection:
        try:
            connection.execute(f"EXPLAIN {sql}")
        except sqlite3.OperationalError as error:
            is_regexp = str(error).casefold() == "no such function: regexp"
            return f"{error} ({NEEDS_EXTENSION})" if is_regexp else str(error)
        except (sqlite3.ProgrammingError, sqlite3.Warning) as error:
            # In Python 3.11 a warning. Parameters without a value are nothing to SQLite's reader.
            if "one statement" in str(error):
                return "it holds several statements; give one"
    return None


_NO_GOLD = "UNTRANSLATABLE"
"""The beginning of the text in place of a gold without translation: every engine refuses it."""


class TranslationProof(StrEnum):
    """How far a gold's translation is proven."""

    PROVEN = "proven"
    """It was run, and its rows are SQLite's, or proven to be another valid answer: a tie."""
    EXPECTED = "expected"
    """It was not run; it is the very text whose rows are SQLite's in the project's own coverage."""
    UNPROVEN = "unproven"
    """It was not run, or its rows are not SQLite's; `reason` and `detail` say why."""
    UNTRANSLATABLE = "untranslatable"
    """There is no translation; `detail` says why."""


@dataclass(frozen=True)
class Certificate:
    """The proof of one gold in one dialect.

    The digests are SHA-256: of SQLite's gold, of its translation (None without one), of the database's file,
    and of the translator's code. `engine` is the version that the text was run on.
    """

    question: str
    db_id: str
    dialect: Dialect
    origin: GoldOrigin
    proof: TranslationProof
    reason: DifferenceReason | None
    detail: str | None
    engine: str | None
    warnings: tuple[str, ...]
    gold_sha256: str
    sql_sha256: str | None
    database_sha256: str
    translator_sha256: str
    sqlglot: str
    gold_index: int = 0
    """The place of the gold among its question's, from 0."""
    style: Style = Style.EXACT
    """PLAIN where the text is a plain form; then `exact` is the exact form, which is proven as well."""
    exact: str | None = None
    witnesses: int | None = None
    """The small databases on which a plain form has SQLite's rows, too."""

    @property
    def is_fault(self) -> bool:
        """True if it needs a review: there is no translation, or it was run and is not proven."""
        return self.proof is TranslationProof.UNTRANSLATABLE or (
            self.proof is TranslationProof.UNPROVEN and self.reason is not None
        )

    def __str__(self) -> str:
        why = ": ".join(filter(None, (self.reason, self.detail, *self.warnings)))
        return f"{self.dialect} {self.question}: {self.proof}: {why}"


@dataclass(frozen=True)
class Certified:
    """The text of a gold that others may read, with its certificate."""

    question: Question
    sql: str
    certificate: Certificate


class GoldTranslator:
    """Translates the golds of a set, and proves them on the servers that are there; thread-safe.

    Args:
        questions: the set; golds that it publishes for servers are left aside.
        targets: the dialects.
        servers: one of some of the dialects; the databases are loaded where they are not there.
        limits: what one text may use.
        progress: see `loaders.load`.
        style: PLAIN to replace exact forms by proven plain ones, on the servers that are there.

    Raises:
        BadInput: a file is wrong.
        EngineUnavailable: a server broke.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what translations depend on
        self,
        questions: QuestionSet,
        targets: Sequence[Dialect],
        servers: Mapping[Dialect, Server],
        limits: Limits,
        progress: Progress | None = None,
        style: Style = Style.EXACT,
    ) -> None:
        self._questions = questions
        self._servers, self._style = servers, style
        self._bench = Bench.open(questions, servers, Profile.FAITHFUL, limits, progress=progress)
        self._versions = {name: engine.version() for name, engine in self._bench.engines.items()}
        self._golds = Golds(questions, targets, limits, escaped=self._bench.escaped)
        self._expected = {} if questions.own else expectations.read(questions.name)
        self._digests = sqlite_digests(questions)

    def golds(self, target: Dialect, workers: int) -> Iterator[Certified]:
        """Yield the golds in a dialect, in the order of the set, those of a question together.

        Raises:
            EngineUnavailable: a server broke, or another process has small databases there.
        """
        golds = [
            (replace(alone, gold={Dialect.SQLITE: alone.gold[Dialect.SQLITE]}, by_rows=frozenset()), place)
            for question in self._questions.questions
            for place, alone in enumerate(question.each(Dialect.SQLITE))
        ]
        is_plain = self._style is Style.PLAIN and target in self._servers
        with PlainForms.opened(self._bench, {target: self._servers[target]} if is_plain else {}) as plain:
            prover = GoldProver(self._bench, plain)
            yield from in_threads(workers, lambda one: self._gold(*one, target, prover), golds)

    def _gold(self, question: Question, place: int, target: Dialect, prover: GoldProver) -> Certified:
        blank = Certificate(
            question=question.key,
            db_id=question.db_id,
            dialect=target,
            origin=self._golds.origin(question, target),
            proof=TranslationProof.UNTRANSLATABLE,
            reason=None,
            detail=None,
            engine=None,
            warnings=(),
            gold_sha256=digest(question.gold[Dialect.SQLITE]),
            sql_sha256=None,
            database_sha256=self._digests[question.db_id],
            translator_sha256=_translator(),
            sqlglot=version("sqlglot"),
            gold_index=place,
        )
        try:
            translation = self._golds.translation(question, target)
        except NoGold as error:
            why = one_line(str(error))
            return Certified(question, f"{_NO_GOLD}: {why}", replace(blank, detail=why))
        known = replace(blank, warnings=translation.warnings, sql_sha256=digest(translation.sql))
        if target in self._bench.engines:
            return self._run(question, translation, known, prover)
        before = self._expected.get(target, {}).get(question.key)
        if before == expectations.Expected(expectations.COVERED, known.sql_sha256):
            known = replace(known, proof=TranslationProof.EXPECTED)
        else:
            known = replace(known, proof=TranslationProof.UNPROVEN, detail="no server was up")
        return Certified(question, translation.sql, known)

    def _run(
        self, question: Question, translation: Translation, known: Certificate, prover: GoldProver
    ) -> Certified:
        reference = prover.reference(question)
        answer = prover.blank(question, translation.target, known.origin, reference)
        if answer.reason is None:
            answer = prover.translated(question, answer, translation, reference)
            known = replace(known, engine=self._versions[translation.target])
        sql = answer.sql or translation.sql
        certificate = replace(
            known,
            proof=TranslationProof.PROVEN if answer.covered else TranslationProof.UNPROVEN,
            reason=answer.reason,
            detail=answer.detail,
            sql_sha256=digest(sql),
            style=Style.EXACT if answer.exact is None else Style.PLAIN,
            exact=answer.exact,
            witnesses=answer.witnesses,
        )
        return Certified(question, sql, certificate)


@cache
def _translator() -> str:
    """Return the digest of the translator's code, and of the overrides."""
    home = Path(dialects.__file__).parent
    found = hashlib.sha256()
    for path in sorted(home.rglob("*")):
        if path.suffix in {".py", ".sql"}:
            content = path.read_bytes()
            found.update(f"{path.relative_to(home).as_posix()}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def name_of_translated(questions: QuestionSet) -> str:
    """Return the name of the set with the translated golds."""
    return f"{questions.name[:_LONGEST]}_translated"


_LONGEST = 49
"""Characters of a set's name in that of its translation."""


def refuse_other_sets(questions: QuestionSet, folder: Path) -> None:
    """Refuse a folder that holds anything but golds of this set from an earlier call.

    Raises:
        BadInput: there is something else.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    manifest = folder / MANIFEST
    if manifest.is_file() and read_manifest(manifest).name == name_of_translated(questions):
        return
    raise BadInput(f"--out {folder}: holds something else; name a folder that is empty or not there yet")


def write_golds(
    questions: QuestionSet, golds: Mapping[Dialect, Sequence[Certified]], folder: Path
) -> Sequence[str]:
    """Write golds as the published files are written, with certificates and a manifest.

    The files have the first gold of each question. Several golds of a question are in a gold pack there.

    Returns:
        What a reader of the files has to know, a sentence each.

    Raises:
        BadInput: the folder cannot be written.
    """
    notes: list[str] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(
            folder / f"{questions.name}_sqlite.json",
            _records((one, one.gold[Dialect.SQLITE]) for one in questions.questions),
        )
        for dialect, some in golds.items():
            stem = f"{questions.name}_{dialect}"
            first = [one for one in some if not one.certificate.gold_index]
            _write(folder / f"{stem}.json", _records((one.question, one.sql) for one in first))
            _write(folder / f"{stem}_gold.sql", "".join(_line(one, stem, notes) for one in first))
            certificates = (ascii_json(asdict(one.certificate)) for one in some)
            _write(folder / f"{stem}_certificates.jsonl", "".join(f"{one}\n" for one in certificates))
        if entries := list(_several(questions, golds)):
            _write_pack(questions, entries, folder)
            notes.append(f"{len(entries)} lists of several golds are in {folder / PACK}: --gold {folder}")
        _write(folder / MANIFEST, _manifest(questions, folder))
    except OSError as error:
        raise BadInput(
            f"--out {folder}: cannot be written ({error.strerror}); choose another folder"
        ) from error
    return notes


def _several(
    questions: QuestionSet, golds: Mapping[Dialect, Sequence[Certified]]
) -> Iterator[dict[str, Any]]:
    """Yield the entries of a gold pack for the translated questions with several golds."""
    for question in questions.questions:
        several = [one.gold[Dialect.SQLITE] for one in question.each(Dialect.SQLITE)]
        if len(several) == 1:
            continue
        texts = {Dialect.SQLITE: several}
        for dialect, some in golds.items():
            texts[dialect] = [
                one.sql
                for one in some
                if one.question.key == question.key and one.certificate.sql_sha256 is not None
            ]
        for dialect, found in texts.items():
            # Two texts may have one translation.
            if distinct := list(dict.fromkeys(text.strip() for text in found)):
                yield {"question_id": question.key, "dialect": dialect, "sql": distinct}


def _write_pack(questions: QuestionSet, entries: Sequence[Mapping[str, Any]], folder: Path) -> None:
    pack = {
        "name": questions.name if questions.pack is None else questions.pack.name,
        "version": "1" if questions.pack is None else questions.pack.version,
        "set": name_of_translated(questions),
        "golds": entries,
    }
    _write(folder / PACK, as_json(pack, indent=2))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _records(golds: Iterator[tuple[Question, str]] | Any) -> str:
    return as_json(
        [
            {
                "question_id": one.question_id,
                "db_id": one.db_id,
                "question": one.text,
                "evidence": one.evidence,
                "SQL": sql,
                "difficulty": one.difficulty,
                **({} if one.own_types is None else {"types": one.own_types}),
            }
            for one, sql in golds
        ],
        indent=2,
    )


def _line(one: Certified, stem: str, notes: list[str]) -> str:
    """Return `SQL<TAB>db_id`; a remark keeps the place of a text that holds a line break or a tab."""
    sql = one.sql
    if any(character in sql for character in "\t\n\r"):
        why = f"it holds a line break or a tab, so it stands in {stem}.json alone"
        notes.append(f"{stem}_gold.sql: question {one.question.key}: {why}")
        sql = f"{_NO_GOLD}: {why}"
    return f"{sql}\t{one.question.db_id}\n"


def _manifest(questions: QuestionSet, folder: Path) -> str:
    paths = {questions.database(db_id).sqlite_path.resolve() for db_id in questions.db_ids}
    only = next(iter(paths)) if len(paths) == 1 else questions.databases.resolve()
    digests = {
        path: sha256
        for path, sha256 in questions.digests.items()
        if path == questions.tables or path.resolve().is_relative_to(questions.databases.resolve())
    }

    def place(path: Path) -> str:
        # Relative, so that the folder can be published beside the databases.
        return _toml(Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix())

    ids = [one.question_id for one in questions.questions]
    files = {one: f"{questions.name}_{one}.json" for one in Dialect}
    lines = [
        f"name = {_toml(name_of_translated(questions))}",
        f"questions_of = {_toml(questions.name)}",
        f"title = {_toml(f'{questions.title}: golds translated')}",
        f"databases = {place(only)}",
        *([] if questions.tables is None else [f"tables = {place(questions.tables)}"]),
        f"levels = {_toml(list(questions.levels))}",
        *([f"types = {_toml(list(questions.own_types))}"] if questions.own_types else []),
        f"ids_repeat = {_toml(len(set(ids)) < len(ids))}",
        *([f"sqlite = {_toml(questions.sqlite)}"] if questions.sqlite else []),
        "# Where the translations are exact.",
        f"profile = {_toml(Profile.FAITHFUL)}",
        "",
        "[questions]",
        *(f"{one} = {_toml(name)}" for one, name in files.items() if (folder / name).is_file()),
        *(["", "[domains]"] if questions.domains else []),
        *(f"{_toml(db_id)} = {_toml(domain)}" for db_id, domain in questions.domains.items()),
        *(["", "[digests]"] if digests else []),
        *(f"{place(path)} = {_toml(sha256)}" for path, sha256 in digests.items()),
    ]
    return "".join(f"{one}\n" for one in lines)


def _toml(value: Any) -> str:
    return as_json(value)


def counted(golds: Sequence[Certified], target: Dialect) -> str:
    """Count the golds of a dialect by proof, in a line."""
    counts = Counter(one.certificate.proof for one in golds)
    engines = {one.certificate.engine for one in golds} - {None}
    plain = sum(one.certificate.style is Style.PLAIN for one in golds)
    on = f" (on {', '.join(sorted(map(str, engines)))})" if engines else ""
    proofs = ", ".join(f"{counts[one]} {one}" for one in TranslationProof)
    return f"{target}: {len(golds)} golds: {proofs}{f', {plain} as plain forms' if plain else ''}{on}"

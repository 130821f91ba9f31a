"""From what a user asks of `audit` to findings."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.overrides import digest
from dialects.translation import Translation
from harness.analyses.bench import Bench, provenance_of, sqlite_digests, synthetic_databases
from harness.analyses.coverage.comparison import Reference, RowsComparison
from harness.analyses.describe import DescriptionFiles, description_files
from harness.analyses.units import Folders, Progress, Say
from harness.data.gold_packs import PUBLISHED, Status, with_golds
from harness.data.published_sets import Provenance
from harness.data.questions import Question, QuestionSet
from harness.data.sets.loader import load_set, with_readable_databases
from harness.engines.execution import Execution, Limits, execute
from harness.engines.retry import execute_patiently
from harness.engines.sqlite.engine import SQLiteEngine
from harness.labs.audit.gold import AuditedGold, Finding, FindingBasis, FoundIn, Keys
from harness.labs.audit.probes import PROBES, Probe
from harness.sqltree import DatabaseSchema
from loaders.base.paths import FIGURES
from loaders.base.processes import processors
from loaders.base.records import read_record, to_plain, to_record
from loaders.bulk_load import Progress as Loading
from loaders.server import Server

LIMITS = Limits(seconds=10, rows=200_000, bytes=64 * 2**20)
"""Limits of one text of a probe."""


# What reading has said about findings: entries with question, dialect, probe, the sha256 of the gold,
# whether the finding is right about a fault, and why in a line. An entry counts in every set that has it.

PATH = FIGURES / "judged" / "audit.json"
"""The project's own, of published golds."""


@dataclass(frozen=True)
class JudgedFinding:
    """A judged finding; `right` if it points out a fault."""

    question: int | str
    dialect: str
    probe: str
    sha256: str
    right: bool
    why: str


@dataclass(frozen=True)
class Precision:
    """How many findings are judged, and how many of these are right."""

    judged: int = 0
    right: int = 0

    def __str__(self) -> str:
        return (
            f"{100 * self.right / self.judged:.0f} % ({self.right} of {self.judged})" if self.judged else "-"
        )


def read_judged(path: Path | None = None) -> tuple[JudgedFinding, ...]:
    """Read the judgements of a file; by default the project's own, in a checkout.

    Raises:
        BadInput: the file is no such list.
    """
    if path is None and not PATH.exists():
        return ()
    return read_record(path or PATH, _judged_findings, "see docs/how-to/gold.md")


def _judged_findings(content: Any) -> tuple[JudgedFinding, ...]:
    try:
        return tuple(to_record(JudgedFinding, entry) for entry in to_record(list[Any], content))
    except ValueError as fault:
        raise ValueError(f"is not a list of judged findings ({fault})") from fault


FOLDERS = Folders(
    "audit",
    "journal.json",
    ("set", "questions", "set_files", "databases", "dialects", "probes", "gold", "limits", "engines"),
)


@dataclass(frozen=True)
class AuditRequest:
    """What to audit: the golds of a set in these dialects, with these probes."""

    set_name: str = "sample"
    dialects: Sequence[Dialect] = (Dialect.SQLITE,)
    probes: Sequence[Probe] = tuple(PROBES.values())
    limit: int | None = None
    gold: str | None = None
    """A pack whose golds are read instead of the published ones."""
    workers: int = field(default_factory=processors)
    judged: Path | None = None
    """A file of judgements; None is the checkout's."""
    out: Path | None = None
    """Parent of a new folder for the findings; None for none."""
    resume: Path | None = None
    """The folder of an interrupted audit, which is continued."""

    @property
    def command(self) -> list[str]:
        """The words of the command that asks for the same."""
        set_name = str(Path(self.set_name).absolute()) if os.sep in self.set_name else self.set_name
        given = {
            "set": set_name,
            "dialect": ",".join(self.dialects),
            "probe": ",".join(one.name for one in self.probes),
            "gold": None if self.gold in {None, PUBLISHED} else str(Path(self.gold or "").absolute()),
            "limit": self.limit,
            "judged": None if self.judged is None else self.judged.absolute(),
        }
        return [
            "bird-harness",
            "lab",
            "audit",
            *(f"--{name}={one}" for name, one in given.items() if one),
        ]


@dataclass(frozen=True)
class Audited:
    """The findings, in the order of the questions.

    `golds` counts the golds of each dialect that were read; `unread` are those that no probe of texts can
    read. `notes` say how the set was read and what could not be loaded. `provenance` says of each database
    whether it is the published one. `probes` are those that read the golds. `folder` keeps it, if one does.
    """

    questions: QuestionSet
    golds: Mapping[Dialect, int]
    findings: Sequence[FoundIn]
    unread: Sequence[tuple[Dialect, str]]
    provenance: Mapping[str, Provenance]
    notes: Sequence[str] = ()
    judged: Sequence[JudgedFinding] = ()
    """The judgements of findings."""
    probes: Sequence[Probe] = tuple(PROBES.values())
    folder: Path | None = None
    descriptions: Mapping[str, DescriptionFiles] = field(default_factory=dict)
    """The description files of the databases that have any, checked against them."""


def audit(
    request: AuditRequest,
    servers: Mapping[Dialect, Server] | None = None,
    loading: Loading | None = None,
    *,
    console: Console | None = None,
    say: Say = lambda _line: None,
) -> Audited:
    """Let the probes read the golds.

    Args:
        request: what to look at; a dialect without a gold is passed over.
        servers: one of each server dialect in the request; the databases are loaded, in the profile that
            published golds are written for, where they are not there.
        loading: see `loaders.load`.
        console: shows how far it is.
        say: takes one line at a time.

    Raises:
        BadInput: a file is wrong, the set publishes no gold for any of the dialects, or the folder that is
            resumed is of another audit.
        EngineUnavailable: a server broke.
    """
    FOLDERS.check(request.resume)
    judged = read_judged(request.judged)
    everything = with_golds(load_set(request.set_name), request.gold)
    questions = everything if request.limit is None else everything.limit(request.limit)
    questions = with_readable_databases(questions, say)
    wanted = [
        (replace(question, gold={**question.gold, dialect: sql}), dialect)
        for question in questions.questions
        for dialect in request.dialects
        if dialect in question.gold
        for sql in (question.gold[dialect], *question.more_gold.get(dialect, ()))
    ]
    if not wanted:
        raise BadInput(f"--dialect {','.join(request.dialects)}: {questions.name} publishes no gold for it")
    dialects = dict.fromkeys(dialect for _, dialect in wanted)
    there = {dialect: server for dialect in dialects if (server := (servers or {}).get(dialect))}
    bench = AuditBench(opened(questions, there, request.workers, loading), request.probes)
    unread = bench.unread(say)
    asked = [(one, at) for one, at in wanted if bench.has(one, at) and one.db_id not in unread]
    golds = Counter(dialect for _, dialect in asked)
    databases = sqlite_digests(questions)
    manifest = {
        "command": request.command,
        "set": questions.name,
        "questions": len(questions.questions),
        "set_files": questions.files,
        "databases": databases,
        "dialects": list(golds),
        "probes": [one.name for one in request.probes],
        "gold": asdict(everything.pack) if everything.pack else None,
        "limits": asdict(LIMITS),
        "engines": {name: bench.bench.engines[name].version() for name in golds},
    }
    progress = Progress(console)
    with FOLDERS.units(manifest, request.out, request.resume, progress, say) as units:
        keyed = [((at, one.key, digest(one.gold[at])), (one, at)) for one, at in asked]
        stage = units.stage("audit", "reading golds")
        found = stage.all(keyed, lambda gold: bench.read(*gold), request.workers)
    unreadable: list[str] = []
    checked = {db_id: description_files(questions, db_id, unreadable) for db_id in questions.db_ids}
    for line in unreadable:
        say(line)
    provenance = provenance_of(questions, databases)
    synthetic = synthetic_databases(provenance)
    return Audited(
        questions,
        {dialect: golds[dialect] for dialect in (Dialect.SQLITE, *there) if golds[dialect]},
        [
            _found(question, at, to_record(Finding, one), synthetic)
            for (question, at), value in found
            for one in value["findings"]
        ],
        [(at, question.key) for (question, at), value in found if not value["readable"]],
        provenance,
        [
            *everything.notes,
            *(
                f"{at} {db_id}: is not loaded: {why}"
                for (at, db_id), why in bench.bench.missing_databases.items()
            ),
        ],
        judged,
        request.probes,
        units.folder,
        {db_id: files for db_id, files in checked.items() if files is not None},
    )


def _found(question: Question, dialect: Dialect, finding: Finding, synthetic: Collection[str]) -> FoundIn:
    return FoundIn(
        question=question.key,
        question_id=question.question_id,
        db_id=question.db_id,
        dialect=dialect,
        text=question.text,
        knowledge=question.evidence,
        sql=question.gold[dialect],
        replaces=digest(question.gold[dialect]),
        synthetic=finding.basis is FindingBasis.ROWS and question.db_id in synthetic,
        finding=finding,
    )


def opened(
    questions: QuestionSet, servers: Mapping[Dialect, Server], workers: int, loading: Loading | None
) -> Bench:
    """SQLite and servers, with the databases of a set.

    Raises:
        BadInput: a file is wrong.
        EngineUnavailable: a server broke.
    """
    bench = Bench.open(questions, servers, Profile.OFFICIAL, LIMITS, workers=workers, progress=loading)
    return replace(bench, engines={Dialect.SQLITE: SQLiteEngine(pooled=True), **bench.engines})


def runner(bench: Bench, question: Question, dialect: Dialect) -> Callable[[str], Execution]:
    """Runs a text on an engine, in the database of a question."""
    engine, database = bench.engines[dialect], bench.database(question.db_id)
    execute_on = execute if dialect is Dialect.SQLITE else execute_patiently
    return lambda text: execute_on(engine, database, text, LIMITS)


class AuditBench:
    """The engines, and what all questions share; thread-safe."""

    def __init__(self, bench: Bench, probes: Sequence[Probe]) -> None:
        self.bench = bench
        self._probes = probes
        self._reference = Reference(LIMITS)
        self._declared = {db_id: declared_keys(schema) for db_id, schema in bench.questions.schemas.items()}

    def has(self, question: Question, dialect: Dialect) -> bool:
        """True if the database of a question is on an engine."""
        return dialect in self.bench.engines and (dialect, question.db_id) not in self.bench.missing_databases

    def unread(self, say: Callable[[str], None]) -> frozenset[str]:
        """Return the databases that cannot be read to their end; log each in a line."""

        def fault(db_id: str) -> str | None:
            try:
                self.bench.schema(db_id, Dialect.SQLITE)
            except BadInput as error:
                return str(error)
            return None

        db_ids = self.bench.questions.db_ids
        found = dict(zip(db_ids, self.bench.each(fault, db_ids), strict=True))
        faults = {db_id: why for db_id, why in found.items() if why is not None}
        if len(faults) == len(db_ids):
            raise BadInput(next(iter(faults.values())))
        for db_id, why in faults.items():
            say(f"database {db_id}: skipped: {why}")
        return frozenset(faults)

    def read(self, question: Question, dialect: Dialect) -> dict[str, Any]:
        """Return the findings of the probes in one gold, and whether its text can be read; plain values."""
        gold = AuditedGold(
            question,
            dialect,
            self.bench.schema(question.db_id, dialect),
            runner(self.bench, question, dialect),
            self._declared.get(question.db_id),
        )
        if dialect is not Dialect.SQLITE:
            gold.comparison = lambda: self._comparison(question, dialect)
        found = [finding for probe in self._probes for finding in probe.read(gold)]
        return {"findings": to_plain(found), "readable": gold.is_readable}

    def _comparison(self, question: Question, dialect: Dialect) -> RowsComparison:
        database, sqlite = self.bench.database(question.db_id), question.gold[Dialect.SQLITE]
        expected = self._reference.run(database, sqlite)
        translation = Translation(question.gold[dialect], dialect)
        return self._reference.compare(database, sqlite, expected, self.bench.engines[dialect], translation)


def declared_keys(schema: DatabaseSchema) -> Keys:
    """Return the keys of a published schema: primary keys, and the columns that others refer to."""
    found: dict[str, list[frozenset[str]]] = {}
    for key in schema.primary_keys:
        if key:
            found.setdefault(key[0].table.lower(), []).append(frozenset(one.name.lower() for one in key))
    for _, referred in schema.foreign_keys:
        found.setdefault(referred.table.lower(), []).append(frozenset({referred.name.lower()}))
    return found


def precision(findings: Sequence[FoundIn], known: Sequence[JudgedFinding]) -> Precision:
    """Count the judged and the right findings; judgements of golds that have changed do not count."""
    right = {(one.dialect, one.probe, one.sha256): one.right for one in known}
    keys = dict.fromkeys((one.dialect, one.finding.probe, one.replaces) for one in findings)
    read = [right[key] for key in keys if key in right]
    return Precision(len(read), sum(read))


def pack_of(name: str, findings: Sequence[FoundIn], known: Sequence[JudgedFinding]) -> dict[str, Any]:
    """Build a gold pack of the findings judged right; it decides nothing about others.

    A question with one such finding gets its suggestion as gold, if there is one; else it is left out.

    Args:
        name: of the question set.
        findings: what the probes have found.
        known: what reading has said.
    """
    right = {(one.dialect, one.probe, one.sha256): one.why for one in known if one.right}
    of_gold: dict[tuple[str, str, str], list[FoundIn]] = {}
    for one in findings:
        if (one.dialect, one.finding.probe, one.replaces) in right:
            of_gold.setdefault((one.question, one.dialect, one.replaces), []).append(one)
    entries: list[dict[str, Any]] = []
    for (question, dialect, replaces), some in of_gold.items():
        probes = [one.finding.probe for one in some]
        whys = (f"{probe}: {right[dialect, probe, replaces]}" for probe in dict.fromkeys(probes))
        suggestion = some[0].finding.suggestion if len(some) == 1 else None
        entries.append(
            {
                "question_id": question,
                "dialect": str(dialect),
                **({"status": Status.EXCLUDED} if suggestion is None else {"sql": suggestion}),
                "origin": "audit",
                "reason": "; ".join(whys),
                "replaces": replaces,
            }
        )
    return {"name": f"audit-{name}", "version": "1", "set": name, "golds": entries}

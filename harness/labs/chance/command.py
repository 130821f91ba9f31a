"""From a run to its answers that are right by chance: a folder of witnesses, tables, and every unit."""

import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from dialects.errors import BadInput
from harness.analyses.bench import provenance_of, sqlite_digests
from harness.analyses.units import Folders, Progress, Say, Units
from harness.data.outcomes import Difference, Outcome, Verdict
from harness.data.published_sets import is_unproven, provenance_counts
from harness.data.witnesses import WITNESSES, Witness, file_of, load, save
from harness.engines import TITLES, EngineName, dialect_of
from harness.engines.execution import Limits
from harness.report.console import loading_bar
from harness.report.files import write_document
from harness.report.gold_ranks import ranks
from harness.report.html.page import write_tables_html
from harness.report.table_model import (
    Cell,
    CellKind,
    Document,
    TableModel,
    TableRow,
    columns,
    row,
    share_cell,
    table,
    with_intervals,
)
from harness.report.texts import json_text
from harness.runs.reader import Selection, read_questions, select
from harness.scoring.chance.search import PairToRefute
from harness.scoring.chance.shape import Shape, of_file
from harness.scoring.chance.witness import ExecutionPlace, broken, judged, place_of, replay
from harness.scoring.tasks import Setup
from harness.session.request import Request
from harness.session.run_texts import PairOfTexts, pairs_of_run
from loaders.base.processes import Memo

PAGE = "chance.html"
TABLES = "tables"
"""Stem of the files of tables."""
_SMALL = 6
"""Most rows of a small witness."""
_SUMMARIES = 4
"""Tables before the list of witnesses."""

FOLDERS = Folders("chance", "chance.json", ("run", "questions", "databases", "seconds", "limits", "engines"))


@dataclass(frozen=True)
class ChanceRequest:
    """A request to search witnesses.

    `run` is a run folder or a part of it (`harness.runs.reader`); `request` has the limit of a text,
    and which questions; `seconds` are for one answer, of processor time; `workers` are threads. `known`
    are folders of earlier searches, whose witnesses are tried first, with those of the run itself. `out` is
    the parent of a new folder, None for the run's own.
    """

    run: str
    request: Request
    seconds: float
    workers: int
    known: Sequence[Path] = ()
    out: Path | None = None
    resume: Path | None = None

    @property
    def command(self) -> list[str]:
        """The words of the command that asks for the same."""
        words = ["bird-harness", "lab", "chance", self.run, f"--seconds={self.seconds:g}"]
        words += [f"--timeout={self.request.seconds:g}", f"--workers={self.workers}"]
        words += [f"--known={folder.absolute()}" for folder in self.known]
        return [*words, *(f"--question={key}" for key in self.request.keys)]


@dataclass(frozen=True)
class Searched:
    """A finished search: its folder and its tables."""

    folder: Path
    document: Document


@dataclass(frozen=True)
class RightAnswer:
    """A right answer with another text than gold's, and all golds of its question."""

    pair: PairOfTexts
    golds: Sequence[str]

    @property
    def key(self) -> tuple[str, str, str]:
        """The name under which its unit is stored."""
        return self.pair.dialect, self.pair.name or "", self.pair.question or ""


Measured = tuple[RightAnswer, dict[str, Any]]
"""An answer, and what was measured of it."""


def search_run(asked: ChanceRequest, console: Console, say: Say) -> Searched:
    """Search witnesses against the right answers of a run, and write them and tables to a folder.

    Raises:
        BadInput: there is no such run, it has no answer to search for, or the folder cannot be written.
        EngineUnavailable: no engine of the run is up, or one broke; what was measured is kept.
    """
    FOLDERS.check(asked.resume)
    selection = select(asked.run)
    with loading_bar(console, before="reading the run") as loading:
        setup, pairs = pairs_of_run(asked.run, asked.request, say=say, progress=loading)
    answers = _answers(selection, pairs)
    databases = sqlite_digests(setup.questions)
    manifest = {
        "command": asked.command,
        "run": str(selection.run.manifest.get("run_id")),
        "part": asked.run,
        "questions": list(asked.request.keys),
        "databases": databases,
        "seconds": asked.seconds,
        "limits": {"seconds": asked.request.seconds, "rows": Limits.rows, "bytes": Limits.bytes},
        "engines": {name: engine.version() for name, engine in setup.engines(0).items()},
    }
    parent = asked.out or selection.run.folder
    with FOLDERS.units(manifest, parent, asked.resume, Progress(console, say), say) as units:
        assert units.folder is not None  # noqa: S101 - it has a parent
        with _places(setup) as places:
            shapes = Memo()

            def shape_of(answer: RightAnswer) -> Shape:
                path = setup.database(answer.pair.db_id, answer.pair.dialect).sqlite_path
                shape: Shape = shapes(path, lambda: of_file(path))
                return shape

            stage = units.stage("chance", "Right by chance")
            measured = _measured(asked, selection, setup, answers, places, shape_of, stage)
            stage = units.stage("replay", "Replay of the witnesses")
            checked = _checked(measured, units.folder, places, shape_of, stage, asked.workers)
        facts = [
            f"Run {manifest['run']}; {asked.seconds:g} s of processor time for an answer.",
            "An answer without a witness is not refuted. That is no proof that it equals gold.",
        ]
        if is_unproven(provenance := provenance_of(setup.questions, databases)):
            facts.append(f"{provenance_counts(provenance)}: EX on them may be of synthetic rows.")
        with_all = not asked.request.keys
        grids = (
            *_tables(selection, measured, with_all=with_all),
            *_by_engine(selection, measured, checked, units.folder, with_all=with_all),
            *_listed(measured),
        )
        document = Document(units.folder.name, tuple(facts), grids)
        witnesses = [
            dict(zip(("engine", "predictor", "question"), answer.key, strict=True)) | value
            for answer, value in measured
            if "file" in value
        ]
        title = f"Right by chance in {manifest['run']}"
        as_json = json_text(document, witnesses=witnesses)
        write_document(units.folder, TABLES, document, title, as_json=as_json)
        details = tuple(each for answer, value in measured for each in _details(answer, value, units.folder))
        write_tables_html(
            replace(document, grids=(*grids[:_SUMMARIES], *details)), title, units.folder / PAGE
        )
    return Searched(units.folder, document)


def _answers(selection: Selection, pairs: Sequence[PairOfTexts]) -> list[RightAnswer]:
    """Return the right answers among the pairs, each text with every gold of its question."""
    right = {
        (one.dialect, one.predictor, one.question)
        for some in selection.results.values()
        for one in some
        if one.outcome is Outcome.MATCH
    }
    questions = read_questions(selection.run.folder)
    found = []
    for pair in pairs:
        if pair.gold is None or (pair.dialect, pair.name, pair.question) not in right:
            continue
        language = dialect_of(pair.dialect)
        each = questions[pair.question].each(language) if pair.question in questions else ()
        others = [one.gold[language] for one in each if language in one.gold]
        found.append(RightAnswer(pair, list(dict.fromkeys([pair.gold, *others]))))
    if not found:
        raise BadInput(f"{selection.text}: no right answer has another text than gold; name another run")
    return found


@contextmanager
def _places(setup: Setup) -> Iterator[Mapping[EngineName, ExecutionPlace]]:
    """Yield where the witnesses of each engine are executed."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(place_of(name, servers[0] if servers else None, setup.limits))
            for name, servers in setup.servers.items()
        }


def _measured(  # noqa: PLR0913, PLR0917 - what a search needs
    asked: ChanceRequest,
    selection: Selection,
    setup: Setup,
    answers: Sequence[RightAnswer],
    places: Mapping[EngineName, ExecutionPlace],
    shape_of: Callable[[RightAnswer], Shape],
    units: Units,
) -> list[Measured]:
    # What refutes one answer to a question is tried on the others; it is known by its gold.
    known: defaultdict[tuple[str, ...], list[Witness]] = defaultdict(list)
    folders = [*asked.known, selection.run.folder, *([units.folder] if units.folder else [])]
    for path in (path for folder in folders for path in sorted((folder / WITNESSES).glob("*.json"))):
        known[(found := load(path)).about].append(found)

    def measure(answer: RightAnswer) -> dict[str, Any]:
        database = setup.database(answer.pair.db_id, answer.pair.dialect)
        shape = shape_of(answer)
        texts = PairToRefute(answer.pair.prediction or "", answer.golds, answer.pair.dialect)
        about = known[answer.pair.dialect, shape.db_id, answer.golds[0]]
        began = time.thread_time()
        place = places[answer.pair.dialect]
        verdict, found = judged(shape, texts, place, database.profile, asked.seconds, about[:])
        if not texts.trees or verdict is Verdict.EQUAL:
            return {"searched": False, "equal": verdict is Verdict.EQUAL}
        value: dict[str, Any] = {
            "searched": True,
            "equal": False,
            "seconds": round(time.thread_time() - began, 3),
        }
        if found is not None and units.folder is not None:
            name = file_of(*answer.key)
            save(found, units.folder / name)
            about.append(found)
            facts = {"difference": found.difference, "rows": found.rows, "plausible": found.plausible}
            value |= {**facts, "file": name}
        return value

    return units.all(((each.key, each) for each in answers), measure, asked.workers)


def _checked(  # noqa: PLR0913, PLR0917 - what a search needs
    measured: Sequence[Measured],
    folder: Path,
    places: Mapping[EngineName, ExecutionPlace],
    shape_of: Callable[[RightAnswer], Shape],
    units: Units,
    workers: int,
) -> list[Measured]:
    """Execute each witness again, from its file, and check its rows against the declared keys."""

    def check(refuted: Measured) -> dict[str, Any]:
        answer, value = refuted
        witness = load(folder / value["file"])
        try:
            is_refuted = replay(witness, places[witness.dialect]).is_refuted
        except BadInput:
            is_refuted = False
        return {"replays": is_refuted, "broken": broken(witness, shape_of(answer))}

    found = [one for one in measured if "file" in one[1]]
    return [
        (answer, value)
        for (answer, _), value in units.all(((one[0].key, one) for one in found), check, workers)
    ]


def _tables(selection: Selection, measured: Sequence[Measured], *, with_all: bool) -> Iterator[TableModel]:
    """Show how many answers are refuted, and why; `with_all`: all right ones were searched."""
    refuted = [(answer, value) for answer, value in measured if "difference" in value]
    heads = columns(
        "predictor",
        *([("EX", "ex"), ("EX tested", "ex_tested")] if with_all else []),
        *(_RANKS if with_all else ()),
        ("right", "right", CellKind.COUNT),
        ("equal", "equal", CellKind.COUNT),
        ("searched", "searched", CellKind.COUNT),
        ("refuted", "refuted", CellKind.COUNT),
        ("plausibly", "plausible", CellKind.COUNT),
    )
    yield table(
        "Right answers that a small database refutes",
        ["engine", "predictor"],
        with_intervals(heads),
        _by_predictor(selection, measured, with_all=with_all),
        *(["The rank is by EX tested; a change of +1 is one place better than by EX."] if with_all else []),
        "Equal are the right answers that are proven to be: they have gold's text, or another one that stands"
        " for the same rows on every database. Searched are the others, unless a text depends on the clock or"
        " cannot be read.",
    )
    why = Counter((answer.pair.dialect, value["difference"]) for answer, value in refuted)
    could_be = Counter(
        (answer.pair.dialect, value["difference"]) for answer, value in refuted if value["plausible"]
    )
    counts = columns(
        "difference", ("witnesses", "witnesses", CellKind.COUNT), ("plausible", "plausible", CellKind.COUNT)
    )
    yield table(
        "Why they differ",
        ["engine", "difference"],
        counts,
        [
            row([TITLES[name], one], [why[name, one], could_be[name, one]], one, dialect=name)
            for name in dict.fromkeys(name for name, _ in why)
            for one in Difference
            if why[name, one]
        ],
    )


def _by_engine(
    selection: Selection,
    measured: Sequence[Measured],
    checked: Sequence[Measured],
    folder: Path,
    *,
    with_all: bool,
) -> Iterator[TableModel]:
    """Show the verdicts of each engine, and how small, quick and sound its witnesses are."""
    verdicts, sizes = [], []
    for name in dict.fromkeys(answer.pair.dialect for answer, _ in measured):
        own = [value for answer, value in measured if answer.pair.dialect == name]
        bad = [value for value in own if "difference" in value]
        right = len(own)
        if with_all:
            right = sum(
                one.outcome is Outcome.MATCH
                for (_, dialect), results in selection.results.items()
                if dialect == name
                for one in results
            )
        searched = [value["seconds"] for value in own if value["searched"]]
        equal = right - len(own) + sum(value["equal"] for value in own)
        counts = [right, equal, share_cell(len(bad), right), len(bad)]
        counts += [sum(value["plausible"] for value in bad), len(searched) - len(bad)]
        verdicts.append(row([TITLES[name]], [*counts, right - equal - len(searched)], dialect=name))
        if not bad:
            continue
        again = [value for answer, value in checked if answer.pair.dialect == name]
        small = sum(value["rows"] <= _SMALL for value in bad)
        sizes.append(
            row(
                [TITLES[name]],
                [
                    statistics.median(value["rows"] for value in bad), 100 * small / len(bad),
                    statistics.median(searched), statistics.median(value["seconds"] for value in bad),
                    sum(searched),
                    Cell(sum(value["replays"] for value in again), questions=len(again)),
                    sum(bool(value["broken"]) for value in again),
                    sum((folder / value["file"]).stat().st_size for value in bad) / 1e6,
                ],
                dialect=name,
            )
        )  # fmt: skip
    heads = columns(
        "engine",
        ("right", "right", CellKind.COUNT),
        ("equal", "equal", CellKind.COUNT),
        ("refuted, %", "refuted_share"),
        ("refuted", "refuted", CellKind.COUNT),
        ("plausibly", "plausible", CellKind.COUNT),
        ("not decided", "undecided", CellKind.COUNT),
        ("not searched", "unsearched", CellKind.COUNT),
    )
    yield table(
        "Verdicts by engine",
        ["engine"],
        with_intervals(heads),
        verdicts,
        "Not decided are those that were searched without a witness.",
    )
    yield table(
        "Size and time",
        ["engine"],
        columns(
            "engine",
            ("median rows", "rows", CellKind.MEAN),
            (f"at most {_SMALL} rows, %", "small"),
            ("median s", "seconds", CellKind.SECONDS),
            ("of a refuted one", "seconds_refuted", CellKind.SECONDS),
            ("s in all", "seconds_all", CellKind.SECONDS),
            ("replay", "replayed", CellKind.OF),
            ("break a key", "broken", CellKind.COUNT),
            ("MB", "megabytes", CellKind.MEAN),
        ),
        sizes,
        "Seconds are of processor time in this process, for a searched answer, refuted or not. Each witness"
        " was executed again from its file; a key is a declared key, reference, NOT NULL or CHECK.",
    )


def _listed(measured: Sequence[Measured]) -> Iterator[TableModel]:
    """List the file of each witness."""
    if refuted := [(answer, value) for answer, value in measured if "difference" in value]:
        yield table(
            "Witnesses",
            ["engine", "predictor", "question", "difference", "plausible", "file"],
            (),
            [
                row(
                    [
                        TITLES[answer.pair.dialect], *answer.key[1:], value["difference"],
                        "yes" if value["plausible"] else "no", value["file"],
                    ],
                    [], answer.key[2], dialect=answer.pair.dialect, predictor=answer.key[1],
                )
                for answer, value in refuted
            ],
        )  # fmt: skip


def _details(answer: RightAnswer, value: Mapping[str, Any], folder: Path) -> Iterator[TableModel]:
    """Yield the tables of a witness; the last one has both texts and their rows for notes."""
    if "file" not in value:
        return
    found = load(folder / value["file"])
    dialect, predictor, question = answer.key
    shown = found.relevant_tables
    for one in shown:
        notes = []
        if one is shown[-1] and found.preview is not None:
            for name, sql, side in (
                ("Prediction", found.sql, found.preview.predicted),
                ("Gold", found.golds[0], found.preview.gold),
            ):
                rows = "; ".join(", ".join(map(str, row)) for row in side.rows) if side else ""
                notes.append(f"{name}: {' '.join(sql.split())}")
                notes.append(f"  returns {side.count if side else 0} rows: {rows}")
        yield table(
            f"{predictor}, {TITLES[dialect]}, question {question}, {value['difference']}: {one.name}",
            one.columns,
            (),
            [row([str(value) for value in values], ()) for values in one.rows],
            *notes,
        )


def _by_predictor(
    selection: Selection, measured: Sequence[Measured], *, with_all: bool
) -> Iterator[TableRow]:
    before, after = _placed(selection, measured)
    for (predictor, dialect), results in selection.results.items():
        own = [value for answer, value in measured if answer.key[:2] == (dialect, predictor)]
        if not own:
            continue
        bad = [value for value in own if "difference" in value]
        right, whole = sum(one.outcome is Outcome.MATCH for one in results), len(results)
        right = right if with_all else len(own)
        shares = [share_cell(count, whole) for count in (right, right - len(bad)) if with_all]
        if with_all:
            rank, moved = after[dialect][predictor], before[dialect][predictor] - after[dialect][predictor]
            shares += [Cell(rank), Cell(moved)]
        # Those with gold's text have no unit.
        equal = right - len(own) + sum(value["equal"] for value in own)
        counts = [right, equal, sum(value["searched"] for value in own), len(bad)]
        plausible = sum(value["plausible"] for value in bad)
        yield row(
            [TITLES[dialect], predictor], [*shares, *counts, plausible], dialect=dialect, predictor=predictor
        )


_RANKS = (("rank", "rank", CellKind.COUNT), ("change", "rank_change", CellKind.CHANGE))
"""Among the predictors on the engine by EX tested; +1 is one place better than by EX."""


def _placed(selection: Selection, measured: Sequence[Measured]) -> list[dict[EngineName, dict[str, int]]]:
    """Return the ranks of the predictors on each engine, by EX and by EX tested."""
    refuted = Counter(answer.key[:2] for answer, value in measured if "difference" in value)
    totals: list[defaultdict[EngineName, dict[str, float]]] = [defaultdict(dict), defaultdict(dict)]
    for (predictor, dialect), results in selection.results.items():
        right = sum(one.outcome is Outcome.MATCH for one in results)
        for total, lost in zip(totals, (0, refuted[dialect, predictor]), strict=True):
            total[dialect][predictor] = (right - lost) / len(results)
    return [{dialect: ranks(some) for dialect, some in total.items()} for total in totals]

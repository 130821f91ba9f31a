"""From what a user asks of `study` to a folder of tables, charts and every measured unit."""

import contextlib
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from dialects.errors import BadInput
from harness.analyses.study.journal import Journal, StudyProgress
from harness.analyses.study.part import Bar, BarChart, Part, StudyContext, StudyOutput
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.published import Provenance, origins
from harness.data.questions import QuestionSet
from harness.data.sets.loading import load_set
from harness.engines import EngineName, kind_of, kinds_by_name
from harness.engines.base import Engine
from harness.engines.execution import Limits
from harness.metrics.work import weights_digest
from harness.report.html.descriptions import Chart, bar_chart, write_tables_html
from harness.report.table_model import Document, TableModel
from harness.report.texts import csv_text, json_text, latex, markdown
from harness.report.writing import write
from harness.runs.folder import here, require_same
from harness.scoring.tasks import Setup
from harness.session.evaluation import Evaluation
from harness.session.plan import equip, open_judging
from harness.session.request import Request, check
from loaders.base.digests import digests
from loaders.base.errors import command
from loaders.base.files import read_json, read_text, write_json
from loaders.load import Progress
from loaders.sample import PREDICTIONS

# The page of a study: its tables with their charts, in the manner of a description; needs no script.


def write_study_html(
    document: Document, charts: Sequence[Sequence[BarChart]], title: str, path: Path
) -> None:
    """Write the page, whole or not at all.

    Args:
        document: the tables.
        charts: those of each table.
        title: heads the page.
        path: the file.

    Raises:
        BadInput: it cannot be written.
    """
    write_tables_html(document, title, path, [[_drawn(one) for one in some] for some in charts])


def _drawn(chart: BarChart) -> Chart:
    return bar_chart(
        chart.title,
        [(bar.name, bar.value, bar.figure, _interval(bar)) for bar in chart.bars],
        chart.reference,
    )


def _interval(bar: Bar) -> tuple[float, float] | None:
    return None if bar.low is None or bar.high is None else (bar.low, bar.high)


MANIFEST = "study.json"
"""What was studied with what: `command`, sets, databases, engines, predictions."""
PAGE = "study.html"

_SAME = (
    "set", "questions", "choice", "set_files", "databases", "scales", "profile", "limits", "extract",
    "predictions", "engines", "times", "weights",
)  # fmt: skip
"""What decides the units of a study, of all that its manifest says."""


@dataclass(frozen=True)
class StudyRequest:
    """What to study: the request of an evaluation, the parts, and the set at other scales.

    `request` has the set, the predictions, the engines and what chooses questions; `more_sets` are paths of
    the same set over other databases; `parts` empty is all of them. `with_times`: whether times are taken
    where counted work would do.
    """

    request: Request
    parts: Sequence[Part]
    more_sets: Sequence[str] = ()
    named_parts: bool = False
    with_times: bool = False

    @property
    def command(self) -> list[str]:
        """The words of the command that asks for the same, whatever folder it is called in."""
        words = ["bird-harness", "study"]
        sets = (self.request.set_name, *self.more_sets)
        words += [f"--set={Path(one).absolute() if os.sep in one else one}" for one in sets]
        # It has no option for metrics: EX alone says which answers are right.
        words += [word for word in self.request.command[2:] if not word.startswith(("--set=", "--metrics="))]
        words += [f"--part={part.name}" for part in self.parts if self.named_parts]
        return [*words, "--times"] if self.with_times else words


@dataclass(frozen=True)
class Studied:
    """A study that is done: its folder and what it came to, by part."""

    folder: Path
    document: Document


@dataclass(frozen=True)
class PreparedStudy:
    """A study with all it needs found, read and loaded; `close` it."""

    asked: StudyRequest
    parts: Sequence[Part]
    sets: Sequence[QuestionSet]
    whole: Sequence[QuestionSet]
    setup: Setup
    evaluation: Evaluation
    engines: Mapping[EngineName, Engine]
    files: Sequence[PredictionFile]

    def run(self, console: Console, say: Callable[[str], None]) -> Studied:
        """Run the parts and write the folder.

        Args:
            console: where the bar is shown.
            say: takes one line at a time.

        Raises:
            BadInput: the folder cannot be written, or the one that is resumed is of another study.
            EngineUnavailable: an engine broke; what was measured is kept.
        """
        known = _digests(self.sets)
        synthetic = _synthetic(self.sets[0], known[0])
        manifest = self._manifest(known)
        folder, journal = _opened(self.asked.request, manifest)
        context = StudyContext(
            part="",
            sets=self.sets,
            whole=self.whole,
            setup=self.setup,
            engines=self.engines,
            servers={name: servers[0] for name, servers in self.setup.servers.items() if servers},
            files=self.files,
            evaluation=self.evaluation,
            synthetic=synthetic,
            journal=journal,
            progress=StudyProgress(console, say),
            folder=folder,
            say=say,
            with_times=self.asked.with_times,
        )
        with contextlib.closing(journal), context.progress:
            made = _run(self.parts, context, say)
        return _written(self.asked, folder, manifest, synthetic, made)

    def _manifest(self, known: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        request, questions = self.asked.request, self.sets[0]
        return {
            "command": self.asked.command,
            "parts": [part.name for part in self.parts],
            "set": questions.name,
            "questions": len(questions.questions),
            "choice": str(request.choice),
            "set_files": questions.files,
            "databases": dict(known[0]),
            "scales": [
                {"set": one.name, "databases": dict(found)}
                for one, found in zip(self.sets[1:], known[1:], strict=True)
            ],
            "profile": self.setup.profile,
            "limits": {"seconds": request.seconds, "rows": Limits.rows, "bytes": Limits.bytes},
            "extract": request.extract,
            "predictions": [
                {
                    "file": file.path.name,
                    "sha256": file.sha256,
                    "predictor": file.predictor,
                    "dialect": file.dialect,
                }
                for file in self.files
            ],
            "times": self.asked.with_times,
            "engines": {name: engine.version() for name, engine in self.engines.items()},
            # Advice is measured in units, so that a journal is of one set of weights.
            "weights": weights_digest(),
        }

    def close(self) -> None:
        """Stop the workers and close the store."""
        self.evaluation.close()


def prepare_study(
    asked: StudyRequest, say: Callable[[str], None], progress: Progress | None = None
) -> PreparedStudy:
    """Find, read and load what a study needs.

    Args:
        asked: what to study, and which folder to go on with.
        say: takes one line at a time.
        progress: see `loaders.load.load`.

    Raises:
        BadInput: an option or a file is wrong.
        EngineUnavailable: an engine that was asked for is not there, or broke.
    """
    request = asked.request
    check(request)
    if request.resume is not None and not (request.resume / MANIFEST).is_file():
        raise BadInput(f"--resume {request.resume}: is no folder of a study; name one that has {MANIFEST}")
    whole = [load_set(name, request.bird_home) for name in (request.set_name, *asked.more_sets)]
    for note in whole[0].notes:
        say(note)
    sets = [request.choice.of(whole[0]), *whole[1:]]
    _check_scales(sets)
    files = _predictions(request, whole[0], say)
    parts = _possible(asked, files, say)
    dialects = request.dialects or list(kinds_by_name())
    equipped = equip(request, sets[0], dialects, say=say, progress=progress)
    setup = equipped.setup
    files = [file for file in files if file.dialect in setup.servers]
    engines = {
        name: kind_of(name).make(servers[0] if servers else None, pooled=True)
        for name, servers in setup.servers.items()
    }
    evaluation = Evaluation(setup, files, open_judging(equipped.request, setup, say))
    return PreparedStudy(asked, parts, sets, whole, setup, evaluation, engines, files)


@dataclass(frozen=True)
class _Made:
    """What a part has come to: its tables, each with the charts after it."""

    part: Part
    tables: list[tuple[TableModel, list[BarChart]]] = field(default_factory=list)

    def add(self, output: StudyOutput) -> None:
        """Take what the part yields next."""
        if isinstance(output, BarChart):
            self.tables[-1][1].append(output)
        else:
            titled = replace(output, title=f"{self.part.name.upper()}: {output.title}")
            self.tables.append((titled, []))


def _run(parts: Sequence[Part], context: StudyContext, say: Callable[[str], None]) -> list[_Made]:
    """What each part comes to; says how the study goes on where it is broken off."""
    made = []
    try:
        for part in parts:
            context.progress.begin(part.name, part.title)
            one = _Made(part)
            for output in part.run(replace(context, part=part.name)):
                one.add(output)
            context.progress.end()
            made.append(one)
    except BaseException:
        progress = context.progress
        progress.__exit__(None, None, None)
        say(f"broken off {progress.far}; what was measured is in {context.folder}")
        say(f"`{command('study', resume=str(context.folder))}` goes on")
        raise
    return made


def _written(
    asked: StudyRequest,
    folder: Path,
    manifest: Mapping[str, Any],
    synthetic: frozenset[str],
    made: Sequence[_Made],
) -> Studied:
    engines = ", ".join(f"{kind_of(name).title} {version}" for name, version in manifest["engines"].items())
    facts = [f"Set {manifest['set']}, {manifest['questions']} questions; {engines}."]
    facts += [f"At another scale: {Path(name).name}." for name in asked.more_sets]
    if synthetic:
        facts.append(
            f"{len(synthetic)} of {len(manifest['databases'])} databases are not the published ones:"
            " findings on them are of synthetic rows."
        )
    tables = [each for one in made for each in one.tables]
    document = Document(folder.name, tuple(facts), tuple(grid for grid, _ in tables))
    title = f"Efficiency of {manifest['set']}"
    texts = {
        "tables.md": markdown(document, title),
        "tables.csv": csv_text(document),
        "tables.tex": latex(document, title),
        "tables.json": json_text(document),
    }
    for name, text in texts.items():
        write(folder / name, text)
    write_study_html(document, [charts for _, charts in tables], title, folder / PAGE)
    return Studied(folder, document)


def _check_scales(sets: Sequence[QuestionSet]) -> None:
    """Refuse a further set that asks about other databases than the first."""
    for one in sets[1:]:
        if missing := sorted(set(sets[0].db_ids) - set(one.db_ids)):
            raise BadInput(
                f"--set {one.name}: has no database {missing[0]}, which {sets[0].name} has; a further set is"
                " the same databases at another scale"
            )


def _predictions(request: Request, whole: QuestionSet, say: Callable[[str], None]) -> list[PredictionFile]:
    paths = request.predictions or ([PREDICTIONS] if request.set_name == "sample" else [])
    if not paths:
        return []
    return read_predictions(
        paths,
        whole,
        predictor=request.predictor,
        extract=request.extract,
        allow_missing=request.allow_missing,
        dialects=request.dialects,
        say=say,
    )


def _possible(asked: StudyRequest, files: Sequence[PredictionFile], say: Callable[[str], None]) -> list[Part]:
    """The parts that can be run: one that is named has to be among them."""
    without = [part for part in asked.parts if part.needs_predictions and not files]
    if without and asked.named_parts:
        raise BadInput(f"--part {without[0].name}: needs predictions; name them with --predictions")
    for part in without:
        say(f"{part.name}: needs predictions and is left out; name them with --predictions")
    parts = [part for part in asked.parts if part not in without]
    if timed := [part.name for part in parts if part.needs_quiet or asked.with_times]:
        names = ", ".join(timed)
        say(f"{names}: takes times, so nothing else should run on this machine meanwhile")
    return parts


def _digests(sets: Sequence[QuestionSet]) -> list[dict[str, str]]:
    """The digests of the SQLite files of each set, by database."""
    found = []
    for one in sets:
        paths = {db_id: one.database(db_id).sqlite_path for db_id in one.db_ids}
        known = digests(paths.values())
        found.append({db_id: known[path] for db_id, path in paths.items()})
    return found


def _synthetic(questions: QuestionSet, known: Mapping[str, str]) -> frozenset[str]:
    found = origins(questions.name, known) or {}
    others = Provenance.OTHER in found.values()
    return frozenset(db_id for db_id, each in found.items() if others and each is not Provenance.PUBLISHED)


def _opened(request: Request, manifest: Mapping[str, Any]) -> tuple[Path, Journal]:
    """A new folder with its journal, or that of the study that is resumed.

    Raises:
        BadInput: it cannot be written, or is of another study.
    """
    started = datetime.now(UTC)
    begun = {"schema_version": 1, "started": started.isoformat(), **here(), **manifest}
    try:
        if request.resume is not None:
            folder = request.resume.resolve()
            path = folder / MANIFEST
            there = read_json(read_text(path))
            require_same(path, there, manifest, _SAME, "study")
            begun |= {
                "started": there.get("started"),
                "resumed": [*there.get("resumed", ()), started.isoformat()],
            }
        else:
            folder = request.out / f"study-{started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
            folder.mkdir(parents=True)
        journal = Journal(folder)
        write_json(folder / MANIFEST, begun)
    except OSError as error:
        raise BadInput(
            f"{error.filename or request.out}: cannot be written ({error.strerror}); choose another folder"
            " with --out"
        ) from error
    return folder, journal

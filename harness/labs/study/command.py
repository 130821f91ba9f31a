"""From what a user asks of `study` to a folder of tables, charts and every measured unit."""

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from dialects.errors import BadInput
from harness.analyses.bench import provenance_of, sqlite_digests
from harness.analyses.units import Folders, Progress, Say
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.published_sets import is_unproven, provenance_counts
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.engines import EngineName, kind_of, kinds_by_name
from harness.engines.execution import Limits
from harness.labs.study.base import Analysis, BarChart, StudyContext
from harness.labs.study.parts import parts_by_name
from harness.metrics.work import weights_digest
from harness.report.console import loading_bar
from harness.report.files import write_document
from harness.report.html.page import bar_chart, write_tables_html
from harness.report.table_model import Document, TableModel
from harness.session.evaluation import Evaluation
from harness.session.plan import Plan, equip, open_scheduler, pairs_of
from harness.session.request import Request, check
from loaders.sample import PREDICTIONS

PAGE = "study.html"
TABLES = "tables.json"

FOLDERS = Folders(
    "study",
    "study.json",
    (
        "set", "questions", "choice", "set_files", "databases", "scales", "profile", "limits", "extract",
        "keys", "predictions", "engines", "times", "weights",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class StudyRequest:
    """A request to study: that of an evaluation, the parts, and the set at other scales.

    `request` has the set, the predictions, the engines and what chooses questions; `more_sets` are paths of
    the same set over other databases; `named_parts` are the words that named the parts, if any did.
    `with_times`: whether times are taken where counted work would do.
    """

    request: Request
    parts: Sequence[Analysis]
    more_sets: Sequence[str] = ()
    named_parts: Sequence[str] = ()
    with_times: bool = False

    @property
    def command(self) -> list[str]:
        """The words of the command that asks for the same, whatever folder it is called in."""
        words = ["bird-harness", "lab", "study"]
        sets = (self.request.set_name, *self.more_sets)
        words += [f"--set={Path(one).absolute() if os.sep in one else one}" for one in sets]
        # It has no option for metrics: EX alone says which answers are right.
        words += [word for word in self.request.command[2:] if not word.startswith(("--set=", "--metrics="))]
        words += [f"--part={name}" for name in self.named_parts]
        return [*words, "--times"] if self.with_times else words


@dataclass(frozen=True)
class Studied:
    """A finished study: its folder, its parts, and its document."""

    folder: Path
    parts: Sequence[Analysis]
    document: Document


def study(asked: StudyRequest, console: Console, say: Say) -> Studied:
    """Find, read and load what a study needs, run its parts, and write its folder.

    Args:
        asked: what to study, and which folder to continue.
        console: where bars are shown.
        say: takes one line at a time.

    Raises:
        BadInput: an option or a file is wrong, or the folder that is resumed is of another study.
        EngineUnavailable: an engine that was asked for is not there, or broke; what was measured is kept.
    """
    request = asked.request
    check(request)
    FOLDERS.check(request.resume)
    with loading_bar(console, before="reading questions and predictions") as loading:
        whole = [load_set(name, request.bird_home) for name in (request.set_name, *asked.more_sets)]
        for note in whole[0].notes:
            say(note)
        sets = [request.choice.of(whole[0]), *whole[1:]]
        _check_scales(sets)
        files = _predictions(request, whole[0], say)
        parts = _possible(asked, files, say)
        dialects = _studied(request)
        equipped = equip(request, sets[0], dialects, say=say, progress=loading)
    setup = equipped.setup
    files = [file for file in files if file.dialect in setup.servers]
    known = [sqlite_digests(one) for one in sets]
    scheduler = open_scheduler(equipped.request, setup, say)
    # The folder to resume is a study's, which keeps the results itself.
    plan = Plan(
        replace(equipped.request, resume=None), setup, scheduler, files, pairs_of(setup.questions, files)
    )
    with plan, closing(Evaluation(plan)) as evaluation:
        engines = setup.engines(0)
        manifest = {
            "command": asked.command,
            "parts": [part.name for part in parts],
            "set": sets[0].name,
            "questions": len(sets[0].questions),
            "choice": str(request.choice),
            "set_files": sets[0].files,
            "databases": known[0],
            "scales": [
                {"set": one.name, "databases": found} for one, found in zip(sets[1:], known[1:], strict=True)
            ],
            "profile": setup.profile,
            "limits": {"seconds": request.seconds, "rows": Limits.rows, "bytes": Limits.bytes},
            "extract": request.extract,
            **({"keys": list(request.answer_keys)} if request.answer_keys else {}),
            "predictions": [
                {
                    "file": file.path.name,
                    "sha256": file.sha256,
                    "predictor": file.predictor,
                    "dialect": file.dialect,
                }
                for file in files
            ],
            "times": asked.with_times,
            "engines": {name: engine.version() for name, engine in engines.items()},
            # Advice is measured in units, so that a journal is of one set of weights.
            "weights": weights_digest(),
        }
        progress = Progress(console, say)
        with FOLDERS.units(manifest, request.out, request.resume, progress, say) as units:
            context = StudyContext(
                sets[0],
                engines,
                setup.profile,
                setup.limits,
                request.processes,
                setup.missing_databases,
                setup.escaped,
                sets=sets,
                whole=whole,
                setup=setup,
                servers={name: servers[0] for name, servers in setup.servers.items() if servers},
                files=files,
                evaluation=evaluation,
                provenance=provenance_of(sets[0], known[0]),
                with_times=asked.with_times,
                **vars(units),
            )
            tables = _run(parts, context)
    return Studied(context.folder, parts, _written(asked, parts, context, manifest, tables))


def _run(parts: Sequence[Analysis], context: StudyContext) -> list[tuple[TableModel, list[BarChart]]]:
    """Return every table, each with the charts after it."""
    tables: list[tuple[TableModel, list[BarChart]]] = []
    for part in parts:
        for output in part.run(context.stage(part.name, part.title)):
            if isinstance(output, BarChart):
                tables[-1][1].append(output)
            else:
                tables.append((replace(output, title=f"{part.name.upper()}: {output.title}"), []))
        context.progress.end()
    return tables


def _written(
    asked: StudyRequest,
    parts: Sequence[Analysis],
    context: StudyContext,
    manifest: Mapping[str, Any],
    tables: Sequence[tuple[TableModel, list[BarChart]]],
) -> Document:
    folder = context.folder
    engines = ", ".join(f"{kind_of(name).title} {version}" for name, version in manifest["engines"].items())
    facts = [f"Set {manifest['set']}, {manifest['questions']} questions; {engines}."]
    facts += [f"At another scale: {Path(name).name}." for name in asked.more_sets]
    if is_unproven(context.provenance):
        facts.append(f"{provenance_counts(context.provenance)}: findings on them may be of synthetic rows.")
    document = Document(folder.name, tuple(facts), tuple(grid for grid, _ in tables))
    own = any(part in parts_by_name().values() for part in parts)
    what = "Efficiency" if own else " and ".join(part.title for part in parts)
    title = f"{what} of {manifest['set']}"
    write_document(folder, "tables", document, title, is_paper=True)
    drawn = [[bar_chart(one.title, one.bars, one.reference) for one in charts] for _, charts in tables]
    write_tables_html(document, title, folder / PAGE, drawn)
    return document


def _studied(request: Request) -> list[EngineName]:
    """Return the engines of a study: those whose indexes can be changed and whose work is counted.

    Raises:
        BadInput: another one is asked for.
    """
    asked = request.dialects or list(kinds_by_name())
    known = [name for name in asked if kind_of(name).embedded is None]
    if request.dialects and (others := [name for name in asked if name not in known]):
        raise BadInput(f"--dialect {others[0]}: its indexes and work cannot be studied yet; leave it out")
    return known


def _check_scales(sets: Sequence[QuestionSet]) -> None:
    """Refuse a further set that asks about other databases than the first."""
    for one in sets[1:]:
        if missing := sorted(set(sets[0].db_ids) - set(one.db_ids)):
            raise BadInput(
                f"--set {one.name}: has no database {missing[0]}, which {sets[0].name} has; each further set"
                " must have the same databases at another scale"
            )


def _predictions(request: Request, whole: QuestionSet, say: Say) -> list[PredictionFile]:
    paths = request.predictions or ([PREDICTIONS] if request.set_name == "sample" else [])
    if not paths:
        return []
    return read_predictions(
        paths,
        whole,
        predictor=request.predictor,
        extract=request.extract,
        keys=request.answer_keys,
        allow_missing=request.allow_missing,
        dialects=request.dialects,
        say=say,
    )


def _possible(asked: StudyRequest, files: Sequence[PredictionFile], say: Say) -> list[Analysis]:
    """Return the parts that can be run; a part that is named must be among them."""
    without = [part for part in asked.parts if part.needs_predictions and not files]
    if without and asked.named_parts:
        raise BadInput(f"--part {without[0].name}: needs predictions; name them with --predictions")
    for part in without:
        say(f"{part.name}: needs predictions and is left out; name them with --predictions")
    parts = [part for part in asked.parts if part not in without]
    if timed := [part.name for part in parts if part.needs_quiet or asked.with_times]:
        names = ", ".join(timed)
        say(f"{names}: measures times, so nothing else should run on this machine meanwhile")
    return parts

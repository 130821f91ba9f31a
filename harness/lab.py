"""Labs: tools above the harness that no evaluation needs, a record each.

Everything that the core knows of a lab is its record `Lab`, which has names and the modules that keep them:
a module is imported when its command is called, or its metric, section or option is asked for. The labs of
the project are the folders of `harness/labs` that `OWN` names; without its folder a lab is not there, and
nothing else changes. An installed package brings one by an entry point of the group `bird_harness.labs`
(docs/how-to/lab.md).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from dialects.errors import BadInput

OWN = (
    "audit", "bundles", "chance", "conformance", "explain", "gap", "log", "matrix", "mcp", "predict", "ray",
    "reproduce", "study", "tasks", "twins",
)  # fmt: skip
"""The labs of the project."""

_FOLDER = "harness.labs"

GROUP = "bird_harness.labs"
"""Entry points by which an installed package brings labs: each names a record."""


@dataclass(frozen=True)
class LabCommand:
    """A command of a lab.

    `module` registers it with `app` of `harness.cli.commands`; `summary` is the first sentence of its help,
    without the full stop; `example` is a call of it, without `bird-harness`.
    """

    module: str
    summary: str
    example: str


@dataclass(frozen=True, kw_only=True)
class Lab:
    """What a lab adds. A place is `module:attribute`, imported when it is asked for.

    `commands` are those of `bird-harness lab`, by name. `metrics` are places of `harness.metrics.Metric`, by
    name. `sets` are places of functions that evaluate a question set of the lab's own, by the set's name:
    they take a `harness.session.request.Request` and `as_json`, and return the exit code. `evaluators` are
    places of functions that make an evaluator of such a set: they take what `harness.Evaluator` does, and
    return a `harness.session.batches.BatchEvaluator`. `sections` are
    places of functions that take a `harness.runs.reader.Run` and return the tables (`TableModel`) that a
    report has after its own. `reports` are places of functions that take such a run, write again the files of
    the lab's own that its folder has, and return their paths. `options` are places of what carries an option
    of an evaluation or of `serve` out, by the option's name.

    `prompts` is the place of a function that makes the prompts of its sets: it takes the name, `dialects` or
    None for all, and, for a file that one of its options makes a set, `family` and `databases`; it returns
    pairs of a `harness.predictors.base.Problem` and a text.

    `answers` and `again` are for runs that the lab judges by verdicts of its own, its metrics. `answers` is
    the place of a function that takes such a run and returns the statements of each answer by the key of its
    pair, `harness.runs.summary.Key`, None for a missing one. `again` is that of one which judges them again:
    it takes a `harness.session.request.Request`, the folder of the set's databases or None, the entries of
    the run's manifest that `facts` names, such answers, and whether they are of the whole set; it returns the
    manifest and the results.
    """

    name: str
    commands: Mapping[str, LabCommand] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, str] = field(default_factory=dict)
    evaluators: Mapping[str, str] = field(default_factory=dict)
    sections: Sequence[str] = ()
    reports: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    prompts: str | None = None
    answers: str | None = None
    again: str | None = None
    facts: Sequence[str] = ()


@cache
def labs() -> Mapping[str, Lab]:
    """Return every lab that is there, by name: the project's own, then those of installed packages.

    Raises:
        BadInput: an installed package brings one that cannot be used.
    """
    found = {lab.name: lab for lab in _own()}
    for point in entry_points(group=GROUP):
        lab = _brought(point)
        if lab.name in {*OWN, *found}:
            raise BadInput(f"{_whose(point)}: lab {lab.name!r} already exists; choose another name")
        taken = {name for other in found.values() for name in (*other.commands, *other.metrics)}
        if again := sorted(taken & {*lab.commands, *lab.metrics}):
            raise BadInput(f"{_whose(point)}: {again[0]!r} already exists; choose another name")
        found[lab.name] = lab
    return found


def _own() -> Iterator[Lab]:
    for name in OWN:
        try:
            yield import_module(f"{_FOLDER}.{name}").LAB
        except ModuleNotFoundError as error:
            # Without its folder a lab is not there; anything else that is missing is a fault.
            if error.name not in {_FOLDER, f"{_FOLDER}.{name}"}:
                raise


def _brought(point: EntryPoint) -> Lab:
    """Load the record that an entry point names.

    Raises:
        BadInput: there is none.
    """
    try:
        lab = point.load()
    except Exception as error:
        words = f"cannot be imported ({type(error).__name__}: {error})"
        raise BadInput(f"{_whose(point)}: {words}; repair or uninstall it") from error
    if not isinstance(lab, Lab):
        raise BadInput(f"{_whose(point)}: not a Lab; name a record of that class")
    return lab


def _whose(point: EntryPoint) -> str:
    """Return the name of an entry point for messages."""
    package = f" of package {point.dist.name}" if point.dist is not None else ""
    return f"lab {point.value}{package}"


def absent() -> list[str]:
    """Return the names of the project's own labs that are not there."""
    return [name for name in OWN if name not in labs()]


def lab_commands() -> Mapping[str, LabCommand]:
    """Return the commands of all labs by name, in alphabetical order."""
    found = {name: each for lab in labs().values() for name, each in lab.commands.items()}
    return dict(sorted(found.items()))


def metrics_of_labs(kind: type, own: Collection[str]) -> Mapping[str, Any]:
    """Return the metrics of all labs, by name.

    Args:
        kind: their class, `harness.metrics.Metric`.
        own: the names of the project's metrics.

    Raises:
        BadInput: an installed package brings one that cannot be used.
    """
    found: dict[str, Any] = {}
    for lab in labs().values():
        for name, place in lab.metrics.items():
            metric = at(place)
            if not isinstance(metric, kind) or getattr(metric, "name", None) != name or name in own:
                raise BadInput(f"lab {lab.name}: {place!r} is no new Metric {name!r}; correct its record")
            found[name] = metric
    return found


def evaluation_of_set(name: str) -> Any:
    """Return what evaluates a question set of a lab; None if no lab has it."""
    place = next((lab.sets[name] for lab in labs().values() if name in lab.sets), None)
    return None if place is None else at(place)


def evaluator_of_set(name: str) -> Any:
    """Return what makes an evaluator of a question set of a lab; None if no lab does."""
    place = next((lab.evaluators[name] for lab in labs().values() if name in lab.evaluators), None)
    return None if place is None else at(place)


def prompts_of_set(name: str, option: str | None = None) -> Any:
    """Return what makes the prompts of a lab's set, or of a file that an option makes one; None without."""
    able = (lab for lab in labs().values() if lab.prompts is not None)
    place = next((lab.prompts for lab in able if name in lab.sets or option in lab.options), None)
    return None if place is None else at(place)


def lab_of_set(name: str) -> str | None:
    """Return the name of the lab that has a question set; None if no lab has it."""
    return next((lab.name for lab in labs().values() if name in lab.sets), None)


def lab_judging(metrics: Collection[str]) -> Lab | None:
    """Return the lab that judges runs with these metrics, and can do so again; None for runs of questions."""
    able = (lab for lab in labs().values() if lab.answers is not None and lab.again is not None)
    return next((lab for lab in able if metrics and lab.metrics.keys() >= {*metrics}), None)


def sections(run: Any) -> list[Any]:
    """Return the tables that labs add to a report.

    Args:
        run: a `harness.runs.reader.Run`.

    Returns:
        Models of the class `harness.report.table_model.TableModel`.
    """
    return [table for lab in labs().values() for place in lab.sections for table in at(place)(run)]


def reports_of_labs(run: Any) -> list[Any]:
    """Write again what files of labs the folder of a run has; return their paths.

    Args:
        run: a `harness.runs.reader.Run`.

    Raises:
        BadInput: one cannot be written, or what it is made of cannot be read.
    """
    return [path for lab in labs().values() for place in lab.reports for path in at(place)(run)]


def deciding_packages(metrics: Collection[str]) -> list[str]:
    """Return the packages, or single modules, whose code decides the scores of some metrics of labs."""
    places = {
        place.partition(":")[0]
        for lab in labs().values()
        for name, place in lab.metrics.items()
        if name in metrics
    }
    return sorted({module.rpartition(".")[0] or module for module in places})


def option_of_lab(name: str, lab: str) -> Any:
    """Return what carries an option out.

    Args:
        name: the option, a key of `Lab.options`.
        lab: the lab that carries it out.

    Raises:
        BadInput: the lab is not there.
    """
    place = next((lab.options[name] for lab in labs().values() if name in lab.options), None)
    if place is None:
        raise BadInput(f"--{name}: lab {lab} is not installed here; leave the option out, or install it")
    return at(place)


def at(place: str) -> Any:
    """Return the object at a place.

    Raises:
        BadInput: it is not there; only the record of an installed package can be wrong.
    """
    module, _, attribute = place.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadInput(f"lab: {place!r} cannot be imported ({error}); correct its record") from error

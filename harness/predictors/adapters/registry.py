"""From what a user writes (`--predictor openai:MODEL`) to a predictor that can be asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.questions import QuestionSet
from harness.engines import EngineName
from harness.predictors.adapters import callables, commands, endpoints
from harness.predictors.adapters.callables import CallablePredictor
from harness.predictors.adapters.commands import CommandPredictor
from harness.predictors.adapters.common import Settings
from harness.predictors.adapters.endpoints import EndpointPredictor, Service
from harness.predictors.base import Ask, Predictor, Reply, RequestFailed
from harness.predictors.budget import Meter


class FilePredictor:
    """`file:PATH`: answers that are there already, in a prediction file or a folder of them.

    They are read as `bird-harness eval` reads them; nothing is asked, and nothing is spent.

    Raises:
        BadInput: a file is wrong, a dialect that is asked for is in none, or in those of several predictors.
    """

    def __init__(
        self, path: Path, settings: Settings, questions: QuestionSet, dialects: Sequence[EngineName]
    ) -> None:
        self._files: dict[EngineName, PredictionFile] = {}
        read = read_predictions(
            [path],
            questions,
            predictor=settings.predictor,
            allow_missing=settings.allow_missing,
            dialects=dialects,
        )
        for file in read:
            other = self._files.setdefault(file.dialect, file)
            if other is not file:
                both = f"{other.predictor} and {file.predictor}"
                raise BadInput(
                    f"{path}: answers in {file.dialect} of two predictors ({both}); name the files of one"
                )
        if absent := [dialect for dialect in dialects if dialect not in self._files]:
            raise BadInput(
                f"{path}: no answers in {', '.join(absent)}; leave these dialects out, or name more files"
            )

    @property
    def identity(self) -> Mapping[str, Any]:
        """The digests of the files."""
        return {"kind": "file", "sha256": {dialect: file.sha256 for dialect, file in self._files.items()}}

    def ask(self, ask: Ask) -> Reply:
        """The answer as it is in the file."""
        problem = ask.problem
        file = self._files.get(problem.dialect)
        text = None if file is None else file.predictions.get(problem.question)
        if text is None:
            place = "the files" if file is None else str(file.path)
            raise RequestFailed(f"{place} have no answer to question {problem.question} in {problem.dialect}")
        return Reply(text)

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True)
class Opening:
    """What a kind of predictor is opened with; `questions` and `dialects` are those that will be asked."""

    name: str
    """What stands behind the kind: a model, a function, words, a path."""
    settings: Settings
    meter: Meter
    questions: QuestionSet
    dialects: Sequence[EngineName]


@dataclass(frozen=True)
class PredictorKind:
    """A kind of predictor: how it is written, and what opens one."""

    example: str
    open: Callable[[Opening], Predictor]


def _command(opening: Opening) -> Predictor:
    return CommandPredictor(opening.name, opening.settings, opening.meter)


def _file(opening: Opening) -> Predictor:
    return FilePredictor(Path(opening.name), opening.settings, opening.questions, opening.dialects)


def _endpoint(service: Service) -> Callable[[Opening], Predictor]:
    return lambda opening: EndpointPredictor(service, opening.name, opening.settings, opening.meter)


def _python(opening: Opening) -> Predictor:
    return CallablePredictor(opening.name, opening.settings, opening.meter)


def _offline(_: Opening) -> Predictor:
    from harness.predictors.offline import open_offline  # noqa: PLC0415 - it has sqlglot to import

    return open_offline()


KINDS: Mapping[str, PredictorKind] = {
    "openai": PredictorKind(endpoints.EXAMPLE, _endpoint(Service.OPENAI)),
    "azure": PredictorKind(endpoints.EXAMPLE_AZURE, _endpoint(Service.AZURE)),
    "command": PredictorKind(commands.EXAMPLE, _command),
    "python": PredictorKind(callables.EXAMPLE, _python),
    "file": PredictorKind("file:predictions/", _file),
    "offline": PredictorKind("offline", _offline),
}
"""Every kind by the word before the colon."""


def open_predictor(
    spec: str,
    settings: Settings,
    meter: Meter,
    *,
    questions: QuestionSet,
    dialects: Sequence[EngineName],
) -> Predictor:
    """Open the predictor that a user names. Whoever opens it closes it.

    Args:
        spec: KIND:NAME, as `openai:gpt-5-mini`.
        settings: the options.
        meter: what may be spent; the predictor tells it what it spends.
        questions: the set whose questions will be asked.
        dialects: those that will be asked for.

    Raises:
        BadInput: there is no such kind, or what it needs is missing or wrong. Nothing has been asked.
    """
    kind, _, name = spec.partition(":")
    if kind not in KINDS:
        ways = ", ".join(known.example for known in KINDS.values())
        raise BadInput(f"predictor {spec}: there is no kind {kind!r}; write it as one of {ways}")
    return KINDS[kind].open(Opening(name, settings, meter, questions, dialects))

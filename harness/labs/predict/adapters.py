"""Open the predictor that `--predictor KIND:NAME` names, as `openai:MODEL`.

Python functions and ready-made files are here; `commands`, `endpoints` and `offline` have the other kinds.
"""

import hashlib
import importlib
import inspect
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence, Sized
from operator import attrgetter
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.questions import QuestionSet
from harness.engines import EngineName
from harness.labs.predict import commands
from harness.labs.predict.budget import Meter
from harness.labs.predict.settings import Settings, secrets_by_name
from harness.predictors.base import (
    Ask,
    BudgetSpent,
    Predictor,
    PredictorBroken,
    Reply,
    RequestFailed,
    Usage,
    shortened,
)
from harness.predictors.prompts import ESTIMATE, Tokens

_TRIED = "SELECT 1"

EXAMPLES: Mapping[str, str] = {
    "openai": "openai:gpt-5-mini",
    "azure": "azure:my-deployment",
    "command": commands.EXAMPLE,
    "python": "python:my_package.my_module:my_function",
    "file": "file:predictions/",
    "offline": "offline",
}
"""An example of each kind of predictor, by the word before the colon."""


def open_predictor(
    spec: str,
    settings: Settings,
    meter: Meter,
    *,
    questions: QuestionSet | None,
    dialects: Sequence[EngineName],
) -> Predictor:
    """Open the predictor that a user names. The caller closes it.

    Args:
        spec: KIND:NAME, as `openai:gpt-5-mini`.
        settings: the options.
        meter: limits what may be spent; the predictor reports its spending to it.
        questions: the set whose questions will be asked; None for tasks.
        dialects: the dialects that will be requested.

    Raises:
        BadInput: the kind is unknown, or something it needs is missing or wrong. Nothing has been sent.
    """
    kind, _, name = spec.partition(":")
    match kind:
        case "openai" | "azure":
            try:
                from harness.labs.predict.endpoints import EndpointPredictor  # noqa: PLC0415 - slow to import
            except ImportError as error:
                remedy = "pip install 'bird-harness[models]'"
                raise BadInput(f"{spec}: the client is not installed ({error}); {remedy}") from None
            return EndpointPredictor(kind, name, settings, meter)
        case "command":
            return commands.CommandPredictor(name, settings, meter)
        case "python":
            return CallablePredictor(name, meter)
        case "file":
            if questions is None:
                raise BadInput(
                    f"{spec}: is asked questions alone; give answers to tasks to `eval --predictions`"
                )
            return FilePredictor(Path(name), settings, questions, dialects)
        case "offline":
            from harness.labs.predict.offline import open_offline  # noqa: PLC0415 - it has sqlglot to import

            return open_offline()
    ways = ", ".join(EXAMPLES.values())
    raise BadInput(f"predictor {spec}: unknown kind {kind!r}; use one of {ways}")


class FilePredictor:
    """`file:PATH`: ready-made answers, in a prediction file or a folder of them.

    They are read as `bird-harness eval` reads them; nothing is sent, and nothing is spent.

    Raises:
        BadInput: a file is wrong, or a requested dialect is in no file or in those of several predictors.
    """

    def __init__(
        self, path: Path, settings: Settings, questions: QuestionSet, dialects: Sequence[EngineName]
    ) -> None:
        self._files: dict[EngineName, PredictionFile] = {}
        read = read_predictions(
            [path],
            questions,
            predictor=settings.predictor,
            keys=settings.answer_keys,
            allow_missing=settings.allow_missing,
            dialects=dialects,
        )
        for file in read:
            other = self._files.setdefault(file.dialect, file)
            if other is not file:
                both = f"{other.predictor} and {file.predictor}"
                raise BadInput(
                    f"{path}: two predictors have answers in {file.dialect} ({both}); name the files of one"
                )
        if absent := [dialect for dialect in dialects if dialect not in self._files]:
            raise BadInput(
                f"{path}: no answers in {', '.join(absent)}; omit these dialects, or name more files"
            )

    @property
    def identity(self) -> Mapping[str, Any]:
        """The digests of the files."""
        return {"kind": "file", "sha256": {dialect: file.sha256 for dialect, file in self._files.items()}}

    def ask(self, ask: Ask) -> Reply:
        """Return the answer as it is in the file."""
        problem = ask.problem
        file = self._files.get(problem.dialect)
        text = None if file is None else file.predictions.get(problem.question)
        if text is None:
            place = "the files" if file is None else str(file.path)
            raise RequestFailed(f"{place}: no answer to question {problem.question} in {problem.dialect}")
        return Reply(text, is_ready=True)

    def close(self) -> None:
        """Do nothing: no file is open."""


class CallablePredictor:
    """`python:MODULE:FUNCTION`: a user's Python function writes the SQL.

    It is called with the `Ask`, mostly for `ask.messages` (each with `role` and `content`) or
    `ask.problem` (`text`, `evidence`, `dialect`, `database.db_id`, `database.tables` with `create`,
    `columns`, `rows`); `ask.stage`, `ask.sample` and `ask.identity` tell apart several asks for a problem. It
    returns the text of the answer, a `Reply` if it knows its usage, or None for no answer. Several threads
    call it at once. An exception fails this ask only, unless it is `PredictorBroken`. There is no time limit,
    since a function cannot be stopped.

    Raises:
        BadInput: it cannot be imported or called; `target` is MODULE:FUNCTION.
    """

    def __init__(self, target: str, meter: Meter) -> None:
        self._target = target
        self._function, source = _imported(target)
        self._source = hashlib.sha256(source).hexdigest() if source is not None else None
        self._meter = meter
        self._secrets = secrets_by_name(os.environ)
        self._closed = threading.Event()

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return the function's name, and the digest of its file."""
        return {"kind": "python", "function": self._target, "sha256": self._source}

    def ask(self, ask: Ask) -> Reply:
        """Call the function."""
        with self._meter.paying(ask, self._closed) as bill:
            try:
                answer = self._function(ask)
            except RequestFailed as failed:
                bill.usage = failed.usage
                raise
            except (PredictorBroken, BudgetSpent):
                raise
            except (Exception, SystemExit) as error:
                said = shortened(self._secrets.hidden(f"{type(error).__name__}: {error}"))
                raise RequestFailed(f"{self._target}: {said}", Usage(1)) from error
            if isinstance(answer, str):
                answer = Reply(answer)
            if isinstance(answer, Reply):
                return bill.answered(answer)
            kind = type(answer).__name__
            gave = "no answer (None)" if answer is None else f"{kind} instead of str, Reply or None"
            raise RequestFailed(f"{self._target} gave {gave}", Usage(1))

    def close(self) -> None:
        """Make no more calls; running calls cannot be stopped."""
        self._closed.set()


def _imported(target: str) -> tuple[Callable[[Ask], object], bytes | None]:
    function, path = find_function("python:", target, EXAMPLES["python"])
    called = function if inspect.isroutine(function) or inspect.isclass(function) else type(function).__call__
    if (
        inspect.iscoroutinefunction(called)
        or inspect.isasyncgenfunction(called)
        or inspect.isgeneratorfunction(called)
    ):
        remedy = "name a plain function that returns the text, such as one that calls asyncio.run"
        raise BadInput(f"python:{target}: the function is asynchronous or a generator; {remedy}")
    return function, path.read_bytes() if path is not None and path.is_file() else None


# Functions of a user: predictors, and counters of tokens.


def find_function(option: str, target: str, example: str) -> tuple[Callable[[Any], object], Path | None]:
    """Import a user's function, also from the current directory; return it and the file of its module.

    Args:
        option: prefix of the name in messages.
        target: MODULE:FUNCTION.
        example: an example of such a name.

    Raises:
        BadInput: it cannot be imported or called.
    """
    name, _, attribute = target.partition(":")
    if not name or not attribute:
        raise BadInput(f"{option}{target}: not a function; write it as {example}")
    # At the end of the path, so that no file of the current directory shadows another module.
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        said = shortened(f"{type(error).__name__}: {error}")
        remedy = "modules are also searched in the current directory; set PYTHONPATH for other places"
        raise BadInput(f"{option}{target}: {name} cannot be imported ({said}); {remedy}") from error
    file = getattr(module, "__file__", None)
    try:
        function = attrgetter(attribute)(module)
    except AttributeError:
        place = file or "a module without a file"
        raise BadInput(f"{option}{target}: {place} has no {attribute}; name a function of it") from None
    if not callable(function):
        raise BadInput(f"{option}{target}: {type(function).__name__} cannot be called; name a function")
    return function, Path(file) if file else None


def token_counter(named: str | None) -> Tokens:
    """Return the requested counter.

    Args:
        named: `module:function` of a function that takes a text and returns the number of its tokens, or the
        tokens themselves, as `encode` of tiktoken and transformers does; the current directory is also
        searched. None for the estimate.

    Raises:
        BadInput: there is no such function, or it does not count.
    """
    if named is None:
        return ESTIMATE
    function, _ = find_function("--tokenizer ", named, "my_tokens:count")

    def count(text: str) -> int:
        try:
            counted = function(text)
        except Exception as error:
            raise BadInput(f"--tokenizer {named}: {type(error).__name__}: {error}; correct it") from error
        number = len(counted) if isinstance(counted, Sized) else counted
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise BadInput(
                f"--tokenizer {named}: returned {type(counted).__name__} {counted!r:.40}; it must return"
                " how many tokens a text has, or a list of them"
            )
        return number

    count(_TRIED)
    return Tokens(named, count, estimated=False)

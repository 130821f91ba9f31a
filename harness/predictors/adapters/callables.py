"""`python:MODULE:FUNCTION`: a Python function of the user's writes the SQL.

It is called with the `Ask`, of which it needs mostly `ask.messages` (each with `role` and `content`) or
`ask.problem` (`text`, `evidence`, `dialect`, `database.db_id`, `database.tables` with `create`, `columns`,
`rows`); `ask.stage`, `ask.sample` and `ask.identity` say which of several asks it is. It gives back the
text of the answer, or a `Reply` if it knows what that took, or None for no answer. Several threads call it
at once, as many as `Settings.concurrency` says. An exception fails the ask and no other, unless it is
`PredictorBroken`. Nothing can stop a function, so there is no time limit.
"""

import hashlib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from dialects.errors import BadInput
from harness.predictors.adapters.common import Settings, Slots, Till, secrets_by_name, shortened
from harness.predictors.base import Ask, BudgetSpent, PredictorBroken, Reply, RequestFailed, Usage
from harness.predictors.budget import Meter, Pace

EXAMPLE = "python:my_package.my_module:my_function"


class CallablePredictor:
    """Asks a function.

    Raises:
        BadInput: it cannot be imported, or is none that can be called; `target` is MODULE:FUNCTION.
    """

    def __init__(self, target: str, settings: Settings, meter: Meter) -> None:
        self._target = target
        self._function, source = _imported(target)
        self._source = hashlib.sha256(source).hexdigest() if source is not None else None
        self._till = Till(meter, Pace(settings.requests_per_minute, settings.tokens_per_minute))
        self._secrets = secrets_by_name(os.environ)
        self._slots = Slots(range(settings.concurrency))

    @property
    def identity(self) -> Mapping[str, Any]:
        """The function's name, and the digest of the file that it is in."""
        return {"kind": "python", "function": self._target, "sha256": self._source}

    def ask(self, ask: Ask) -> Reply:
        """Call the function."""
        with self._slots.one(), self._till.paying(ask) as bill:
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
            gave = (
                "no answer (None)"
                if answer is None
                else f"{type(answer).__name__} instead of str, Reply or None"
            )
            raise RequestFailed(f"{self._target} gave {gave}", Usage(1))

    def close(self) -> None:
        """Call it no more; calls under way cannot be stopped."""
        self._slots.close()
        self._till.close()


def _imported(target: str) -> tuple[Callable[[Ask], object], bytes | None]:
    name, _, attribute = target.partition(":")
    if not name or not attribute:
        raise BadInput(f"python:{target}: names no function; write it as {EXAMPLE}")
    module = _module(name, target)
    place = getattr(module, "__file__", None) or "a module without a file"
    try:
        function = attrgetter(attribute)(module)
    except AttributeError:
        raise BadInput(f"python:{target}: {place} has no {attribute}; name a function of it") from None
    if not callable(function):
        raise BadInput(f"python:{target}: {type(function).__name__} cannot be called; name a function")
    called = function if inspect.isroutine(function) or inspect.isclass(function) else type(function).__call__
    if (
        inspect.iscoroutinefunction(called)
        or inspect.isasyncgenfunction(called)
        or inspect.isgeneratorfunction(called)
    ):
        remedy = "name a plain function that returns the text, as one that calls asyncio.run"
        raise BadInput(f"python:{target}: is asynchronous or a generator; {remedy}")
    path = Path(place)
    return function, path.read_bytes() if path.is_file() else None


def _module(name: str, target: str) -> ModuleType:
    # At the end of the path, so that a file of the current directory hides no other module.
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        said = shortened(f"{type(error).__name__}: {error}")
        remedy = "modules are looked for in the current directory, too; set PYTHONPATH for other places"
        raise BadInput(f"python:{target}: {name} cannot be imported ({said}); {remedy}") from error

"""The page of what programs may import."""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

from harness import Answer, Evaluator, Run, Triple
from harness.adapters.rewards import (
    RewardOptions,
    skyrl_environment,
    trl_reward,
    verl_batch_reward,
    verl_reward,
)
from harness.data.outcomes import Judgement, PairResult
from harness.engines.execution import Execution
from harness.serve.client import AsyncScoreClient, ScoreClient, reward
from harness.session.batches import Prepared, Statistics
from harness.session.evaluation import score
from harness.session.plan import Plan, prepare
from harness.session.request import Request
from tests.docs.reference.markdown import docstring
from tests.docs.reference.written import WRITTEN

_WIDTH = 80


_EXAMPLE = """\
```python
from harness import Answer, Evaluator

with Evaluator("sample", dialects=["sqlite"], workers=2) as evaluator:
    [judgement] = evaluator.score([Answer("1", "SELECT 1")])
print(judgement.outcome, judgement.scores)
```
"""


def api() -> str:
    parts = [
        WRITTEN,
        "# Python library\n",
        "Score SQL from your own program. Everything that is not on this page may change without notice.\n",
        _EXAMPLE,
        *_class(
            Evaluator,
            "harness",
            (
                "score",
                "as_completed",
                "prepare",
                "ascore",
                "known",
                "astream",
                "execute",
                "aexecute",
                "close",
            ),
        ),
        *_class(Prepared, "harness.session.batches", fields=False),
        *_class(Execution, "harness"),
        *_class(Answer, "harness"),
        *_class(Triple, "harness"),
        *_class(Statistics, "harness"),
        *_class(Judgement, "harness"),
        *_class(Run, "harness", ("load", "to_pandas"), fields=False),
        "## Client of the reward server\n",
        *_class(ScoreClient, "harness", ("score", "stream", "is_ready"), fields=False, level="###"),
        *_class(
            AsyncScoreClient,
            "harness",
            ("score", "stream", "is_ready"),
            fields=False,
            level="###",
        ),
        *_function(reward, "harness"),
        "## Reward functions\n",
        *_class(RewardOptions, "harness.adapters.rewards", fields=False, level="###"),
        *(
            line
            for each in (trl_reward, verl_reward, verl_batch_reward, skyrl_environment)
            for line in _function(each, "harness.adapters.rewards")
        ),
        "## Prediction files as a whole\n",
        *_class(Request, "harness", level="###"),
        *_function(prepare, "harness"),
        *_class(Plan, "harness.session.plan", fields=False, level="###"),
        *_function(score, "harness"),
        *_class(PairResult, "harness", level="###"),
    ]
    return "\n".join(parts)


def _class(
    kind: type, module: str, methods: Sequence[str] = (), *, fields: bool = True, level: str = "##"
) -> Iterator[str]:
    yield f"{level} {kind.__name__}\n"
    yield f"`from {module} import {kind.__name__}`\n"
    yield f"{docstring(kind)}\n"
    if kind in {Evaluator, ScoreClient}:
        yield _signature(kind.__name__, inspect.signature(kind))
    found = inspect.signature(kind).parameters.values() if hasattr(kind, "__dataclass_fields__") else ()
    if fields and found:
        yield "| field | type | default |\n|---|---|---|"
        yield from (f"| `{each.name}` | `{_type(each.annotation)}` | {_of_field(each)} |" for each in found)
        yield ""
    for name in methods:
        method = getattr(kind, name)
        yield f"{level}# {name}\n"
        of_class = inspect.ismethod(method)
        called = f"{kind.__name__ if of_class else kind.__name__.lower()}.{name}"
        yield _signature(called, inspect.signature(method), skip=0 if of_class else 1)
        yield f"{docstring(method)}\n"


def _function(function: Callable[..., Any], module: str) -> Iterator[str]:
    yield f"### {function.__name__}\n"
    yield f"`from {module} import {function.__name__}`\n"
    yield _signature(function.__name__, inspect.signature(function))
    yield f"{docstring(function)}\n"


def _signature(name: str, signature: inspect.Signature, skip: int = 0) -> str:
    parameters, starred = [], False
    for each in list(signature.parameters.values())[skip:]:
        if each.kind is each.KEYWORD_ONLY and not starred:
            parameters.append("*")
            starred = True
        if each.kind is each.VAR_KEYWORD:
            (kind,) = get_args(each.annotation)
            parameters.append(f"**{each.name}: {kind.__name__}")
            continue
        parameters.append(
            f"{each.name}: {_type(each.annotation)}" + (f" = {_literal(each)}" if _has(each) else "")
        )
    inner = ", ".join(parameters)
    if len(inner) > _WIDTH:
        inner = "\n    " + ",\n    ".join(parameters) + ",\n"
    result = (
        ""
        if signature.return_annotation in {signature.empty, None}
        else f" -> {_type(signature.return_annotation)}"
    )
    return f"```text\n{name}({inner}){result}\n```\n"


def _has(parameter: inspect.Parameter) -> bool:
    return parameter.default is not parameter.empty


def _literal(parameter: inspect.Parameter) -> str:
    default = parameter.default
    if inspect.isfunction(default):
        return "..."
    if isinstance(default, tuple):
        return repr(tuple(str(each) if isinstance(each, str) else each for each in default))
    return repr(str(default)) if isinstance(default, str | Path) else str(default)


def _of_field(parameter: inspect.Parameter) -> str:
    if not _has(parameter):
        return "required"
    literal = _literal(parameter)
    return "made anew" if "factory" in literal else f"`{literal}`"


def _type(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"[a-z_][\w.]*\.(?=[A-Z])", "", text).replace("|", "or")

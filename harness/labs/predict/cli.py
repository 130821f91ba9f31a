"""The command that asks predictors for SQL."""

import re
from collections.abc import Mapping
from dataclasses import replace
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import CHOICE, asks, messages, say, takes
from harness.data.sets.loader import name_of
from harness.lab import prompts_of_set
from harness.labs.predict.budget import Budget
from harness.labs.predict.own_prompts import PromptsOfSet, judging, own_prompts, predict_tasks, score_tasks
from harness.labs.predict.predict import PredictRequest, score_predicted
from harness.labs.predict.predict import predict as ask
from harness.labs.predict.predict import show_prompt as prompt_of
from harness.labs.predict.settings import Settings, parsed
from harness.predictors.prompts import PromptOptions
from harness.report.console import loading_bar
from harness.session.request import Request

_NAME = re.compile(r"\w[\w.+() -]*", flags=re.ASCII)


_OF = {
    "": PredictRequest,
    "request": Request,
    "settings": Settings,
    "budget": Budget,
    "options": PromptOptions,
}
"""The classes whose fields are options, by their names in `PredictRequest`."""


def _option(
    field: str, text: str, flag: str = "", kind: Any = None, default: Any = None, **more: Any
) -> tuple[str, Parameter]:
    """Return an option by the field that it sets, such as `settings.timeout`.

    Args:
        field: which one, of `PredictRequest` or of what it has; or another name, with its `kind`.
        text: what it means, a sentence.
        flag: what it is called, if not as the field.
        kind: the type of what is given, where it is not the field's, and with it the `default`.
        default: what it is without the option.
        more: for `typer.Option`.
    """
    whose, _, name = field.rpartition(".")
    flag = flag or name.replace("_", "-")
    if kind is None:
        kind, default = get_type_hints(_OF[whose])[name], getattr(_OF[whose], name)
    # What is a field can be on by default, and has an opposite.
    names = f"--{flag}/--no-{flag}" if kind is bool and whose else f"--{flag}"
    annotation = Annotated[kind, typer.Option(names, help=text, **more)]
    name = flag.replace("-", "_")
    return field, Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


_OPTIONS = dict((
    _option("request.seed", "Seed of --sample.", "sample-seed", metavar="N"),
    _option(
        "family", "--set is a file of tasks, for these scripts, as of `lab tasks`.", kind=str | None
    ),
    _option(
        "databases", "With --family: folder of the databases of the tasks.", kind=Path | None, metavar="PATH"
    ),
    _option("name", "Name of the predictor. Default: derived from who answers.", kind=str | None),
    _option("out", "Folder to write the answers to. Default: predictions/<set>/<name>.", kind=Path | None),
    _option("method", "Prompting method: direct, ta-sql, paper (the BIRD paper's) or mini-dev (Mini-Dev's)."),
    _option("options.knowledge", "Put the evidence of the question into the prompt."),
    _option(
        "options.evidence", "Evidence of each question, instead of the set's: JSON, JSON lines or CSV.",
        metavar="FILE",
    ),
    _option("options.chain_of_thought", "Ask for chain-of-thought steps, with an example.", "cot"),
    _option("options.descriptions", "Put the published column descriptions into the prompt."),
    _option("options.rows", "Number of sample rows of each table in the prompt.", min=0, max=100),
    _option("options.max_prompt_tokens", "Shorten prompts to this number of tokens.", min=1),
    _option(
        "tokens", "Function that counts tokens. Default: bytes divided by 4.", "tokenizer",
        metavar="MODULE:FUNCTION",
    ),
    _option("options.templates", "Folder of prompt templates, instead of the built-in ones."),
    _option(
        "show_prompt", "Print the prompt for a question and send nothing.", kind=str | None,
        metavar="QUESTION",
    ),
    _option(
        "extract",
        "How SQL is taken out of answers. Default: answer-1 for models, else none.",
    ),
    _option("samples", "Answers to each question, for pass@k and the majority vote."),
    _option("corrections", "Rounds in which a failing answer is sent back with the engine's error."),
    _option("settings.concurrency", "Requests in flight at once."),
    _option("settings.timeout", "Time limit in seconds for one answer.", "answer-timeout"),
    _option("settings.start_timeout", "For commands: additional seconds for the first answer."),
    _option("settings.retries", "Attempts after the first, with growing pauses."),
    _option("settings.requests_per_minute", "Requests per minute.", "rpm"),
    _option("settings.tokens_per_minute", "Tokens per minute.", "tpm"),
    _option("budget.requests", "Budget: requests, failed ones included.", "max-requests"),
    _option("budget.tokens", "Budget: tokens of prompts and answers.", "max-tokens-total"),
    _option("budget.money", "Budget: money, in the currency of the prices.", "max-cost"),
    _option("budget.prompt_price", "Price per million prompt tokens."),
    _option("budget.completion_price", "Price per million answer tokens."),
    _option("settings.base_url", "URL of the endpoint. Default: OPENAI_BASE_URL, or the client's."),
    _option(
        "settings.key_variable", "Environment variable that holds the key. Default: OPENAI_API_KEY.",
        metavar="NAME",
    ),
    _option("settings.api", "API of the endpoint."),
    _option("settings.temperature", "Sampling temperature. Default: 0, where the model takes it."),
    _option("settings.top_p", "Nucleus sampling. Default: the endpoint's."),
    _option("settings.max_tokens", "Tokens per answer. Default: the endpoint's."),
    _option("settings.max_tokens_field", "Name of that limit in the request."),
    _option("settings.seed", "Seed sent to the endpoint. Default: none."),
    _option("settings.stop", "Text that ends an answer; repeatable.", kind=list[str] | None),
    _option(
        "settings.extra_body", "Object to merge into every request.", kind=str | None, metavar="JSON"
    ),
    _option("evaluate", "Score the answers on every engine of --dialect.", "eval", kind=bool, default=False),
    _option(
        "request.seconds", "For --eval: time limit in seconds for a prediction and its gold together.",
        "timeout",
    ),
    _option("request.out", "For --eval: folder to create the run folder in.", "results"),
))  # fmt: skip
"""The options except those that select questions, in the order of the help."""


def _given(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the values of options, by what they are fields of."""
    found: dict[str, dict[str, Any]] = {whose: {} for whose in _OF}
    for field, value in values.items():
        whose, _, name = field.rpartition(".")
        found[whose][name] = value
    return found


@app.command()
@asks(*CHOICE, "dialects", "answer_keys", "metrics", "workers", "cache")
@takes(_OPTIONS, _given, "given")
def predict(
    request: Request,
    given: dict[str, dict[str, Any]],
    predictor: Annotated[
        str,
        typer.Argument(
            help="Who answers: offline, openai:MODEL, azure:DEPLOYMENT, python:MODULE:FUNCTION,"
            " command:WORDS or file:PATH."
        ),
    ],
) -> None:
    """Ask a model for SQL and write prediction files; with --eval, score them.

    The same command continues after an interruption. Keys come from the environment alone.
    """
    own, settings, options = given[""], given["settings"], given["options"]
    show_prompt, evaluate, name, out = (own.pop(each) for each in ("show_prompt", "evaluate", "name", "out"))
    family = own["family"]
    prompts = prompts_of_set(request.set_name, None if family is None else "family")
    if family is not None and prompts is None:
        raise BadInput("--family: lab tasks is not installed here; leave the option out, or install it")
    called = name or default_name(
        predictor,
        own["method"],
        chain_of_thought=options["chain_of_thought"],
        knowledge=options["knowledge"],
    )
    if not _NAME.fullmatch(called):
        raise BadInput(f"--name {called!r}: is not a file name; use letters, digits, and . _ + - ( ) inside")
    settings |= {
        "stop": tuple(settings["stop"] or ()),
        "extra_body": _object(settings["extra_body"]),
        "predictor": name,
        "answer_keys": request.answer_keys,
    }
    folder = name_of(request.set_name) if prompts is None else Path(request.set_name).stem
    asked = PredictRequest(
        request=replace(request, **given["request"]),
        predictor=predictor,
        name=called,
        out=out or Path("predictions") / folder / called,
        settings=Settings(**settings),
        budget=Budget(**given["budget"]),
        options=PromptOptions(**options),
        **own,
    )
    if prompts is not None:
        raise typer.Exit(_tasks(asked, prompts, show_prompt, evaluate=evaluate))
    with loading_bar(messages) as progress:
        if show_prompt is not None:
            typer.echo(prompt_of(asked, show_prompt, say), nl=False)
            return
        predicted = ask(asked, say, messages, progress)
    if evaluate and predicted.code == 0:
        raise typer.Exit(score_predicted(asked, predicted, say, messages))
    if evaluate:
        say(
            "not scored, because not every question was asked;"
            " `bird-harness eval --allow-missing` scores what is there"
        )
    raise typer.Exit(predicted.code)


def _tasks(asked: PredictRequest, prompts: PromptsOfSet, shown: str | None, *, evaluate: bool) -> int:
    """Ask for the tasks of a lab, or show the prompts of one; return the exit code."""
    if shown is not None:
        found = [text for problem, text in own_prompts(asked, prompts).items() if problem.question == shown]
        if not found:
            raise BadInput(
                f"--show-prompt {shown}: is no task of {asked.request.set_name}; give the id of one"
            )
        typer.echo("\n".join(found), nl=False)
        return 0
    if evaluate and asked.family is not None:
        raise BadInput("--eval: judges no file of tasks; give the answers to `bird-harness lab tasks`")
    predicted = predict_tasks(asked, prompts, say, messages)
    if predicted.code == 0 and evaluate:
        return score_tasks(asked)
    if predicted.code == 0:
        say(f"judge them with {judging(asked)}")
    return predicted.code


def default_name(spec: str, method: str, *, chain_of_thought: bool, knowledge: bool) -> str:
    """Return the default name of a predictor, derived from what answers and how it is asked."""
    kind, _, rest = spec.partition(":")
    if kind in ("command", "file"):
        last = Path((rest.split() or [""])[0]).stem
    else:
        last = rest.rsplit(":" if kind == "python" else "/", 1)[-1]
    plain = re.sub(r"[^\w.+-]+", "-", last or kind, flags=re.ASCII).strip("-._+")
    parts = [plain or kind, *([method] if method != "direct" else []), *(["cot"] if chain_of_thought else [])]
    return "-".join([*parts, *([] if knowledge else ["no-knowledge"])])


def _object(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        found = parsed(text)
    except ValueError as error:
        raise BadInput(
            f"--extra-body {text}: is not JSON ({error}); give an object, such as '{{\"top_k\": 1}}'"
        ) from error
    if not isinstance(found, dict):
        raise BadInput(f"--extra-body {text}: is not a JSON object; give one, such as '{{\"top_k\": 1}}'")
    return found

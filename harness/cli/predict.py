"""The command that asks predictors for SQL."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import CHOICE, asks, messages, say
from harness.data.sets.loader import name_of
from harness.engines.execution import Limits
from harness.predictors.budget import Budget
from harness.predictors.common import Api, MaxTokensField, Settings
from harness.predictors.extraction import Taking
from harness.predictors.predict import PredictRequest, score_predicted
from harness.predictors.predict import predict as ask
from harness.predictors.predict import show_prompt as prompt_of
from harness.predictors.prompts import PromptOptions
from harness.report.console import loading_bar
from harness.session.request import Request

_NAME = re.compile(r"\w[\w.+() -]*", flags=re.ASCII)


@app.command()
@asks(*CHOICE, "dialects", "metrics", "workers", "cache")
def predict(  # noqa: PLR0913 - one parameter an option
    request: Request,
    predictor: Annotated[
        str,
        typer.Argument(
            help="Who answers: offline, openai:MODEL, azure:DEPLOYMENT, python:MODULE:FUNCTION,"
            " command:WORDS or file:PATH."
        ),
    ],
    *,
    sample_seed: Annotated[
        int, typer.Option(metavar="N", help="What decides which questions --sample draws.")
    ] = Request.seed,
    name: Annotated[
        str | None, typer.Option(help="What the predictor is called. Default: from who answers.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the answers. Default: predictions/<set>/<name>.")
    ] = None,
    method: Annotated[str, typer.Option(help="How it is asked: direct or ta-sql.")] = "direct",
    knowledge: Annotated[
        bool, typer.Option("--knowledge/--no-knowledge", help="Tell the evidence that comes with a question.")
    ] = True,
    chain_of_thought: Annotated[
        bool, typer.Option("--cot/--no-cot", help="Ask for the steps, too, with an example.")
    ] = False,
    descriptions: Annotated[
        bool,
        typer.Option("--descriptions/--no-descriptions", help="Tell the published descriptions of columns."),
    ] = False,
    rows: Annotated[int, typer.Option(min=0, max=100, help="Tell so many rows of each table.")] = 0,
    max_prompt_tokens: Annotated[
        int | None, typer.Option(min=1, help="Shorten prompts to so many tokens.")
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION", help="Counts tokens. Default: an estimate, bytes divided by 4."
        ),
    ] = None,
    templates: Annotated[
        Path | None, typer.Option(help="Folder of templates that take the place of ours.")
    ] = None,
    show_prompt: Annotated[
        str | None, typer.Option(metavar="QUESTION", help="Print the prompt for a question, and ask nobody.")
    ] = None,
    extract: Annotated[
        Taking | None,
        typer.Option(
            help="Take the query out of an answer, or run it as it is. Default: answer for models, else none."
        ),
    ] = None,
    samples: Annotated[int, typer.Option(help="Answers to each question: for pass@k and the majority.")] = 1,
    corrections: Annotated[
        int, typer.Option(help="So many times, show an answer that does not run its engine's error.")
    ] = 0,
    concurrency: Annotated[int, typer.Option(help="Asks at once.")] = Settings.concurrency,
    answer_timeout: Annotated[float, typer.Option(help="Seconds for one answer.")] = Settings.timeout,
    start_timeout: Annotated[
        float, typer.Option(help="For commands: so many seconds more for the first answer.")
    ] = Settings.start_timeout,
    retries: Annotated[
        int, typer.Option(help="Attempts after the first, further and further apart.")
    ] = Settings.retries,
    rpm: Annotated[int | None, typer.Option(help="Requests a minute.")] = None,
    tpm: Annotated[int | None, typer.Option(help="Tokens a minute.")] = None,
    max_requests: Annotated[int | None, typer.Option(help="Budget: requests, with those that fail.")] = None,
    max_tokens_total: Annotated[
        int | None, typer.Option(help="Budget: tokens of prompts and answers.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Budget: money, in the currency of the prices.")
    ] = None,
    prompt_price: Annotated[float | None, typer.Option(help="Price of a million tokens of prompts.")] = None,
    completion_price: Annotated[
        float | None, typer.Option(help="Price of a million tokens of answers.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Of the endpoint. Default: OPENAI_BASE_URL, or the client's.")
    ] = None,
    key_variable: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Environment variable that has the key. Default: OPENAI_API_KEY."),
    ] = None,
    api: Annotated[Api, typer.Option(help="Which API of the endpoint.")] = Api.CHAT,
    temperature: Annotated[float | None, typer.Option(help="Default: the endpoint's.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Default: the endpoint's.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Tokens of one answer. Default: the endpoint's.")
    ] = None,
    max_tokens_field: Annotated[
        MaxTokensField, typer.Option(help="What the endpoint calls that limit.")
    ] = MaxTokensField.AUTO,
    seed: Annotated[int | None, typer.Option(help="Default: none.")] = None,
    stop: Annotated[list[str] | None, typer.Option(help="Text that ends an answer; repeatable.")] = None,
    extra_body: Annotated[
        str | None, typer.Option(metavar="JSON", help="Object that is merged into every request.")
    ] = None,
    evaluate: Annotated[
        bool, typer.Option("--eval", help="Score the answers on every engine asked for.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(help="For --eval: seconds for a prediction and its gold together.")
    ] = Limits.seconds,
    results: Annotated[Path, typer.Option(help="For --eval: parent of the run's folder.")] = Path("results"),
) -> None:
    """Ask a model for SQL and write prediction files; with --eval, score them.

    The same command goes on with what was broken off. Keys come from the environment alone.
    """
    called = name or default_name(predictor, method, chain_of_thought=chain_of_thought)
    if not _NAME.fullmatch(called):
        raise BadInput(
            f"--name {called!r}: is no name for a file; use letters, digits, and . _ + - ( ) within"
        )
    asked = PredictRequest(
        request=replace(request, seed=sample_seed, seconds=timeout, out=results),
        predictor=predictor,
        name=called,
        out=out or Path("predictions") / name_of(request.set_name) / called,
        settings=Settings(
            concurrency=concurrency,
            timeout=answer_timeout,
            start_timeout=start_timeout,
            retries=retries,
            requests_per_minute=rpm,
            tokens_per_minute=tpm,
            base_url=base_url,
            key_variable=key_variable,
            api=api,
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            max_tokens_field=max_tokens_field,
            seed=seed,
            stop=tuple(stop or ()),
            extra_body=_object(extra_body),
            predictor=name,
        ),
        budget=Budget(
            requests=max_requests,
            tokens=max_tokens_total,
            money=max_cost,
            prompt_price=prompt_price,
            completion_price=completion_price,
        ),
        method=method,
        options=PromptOptions(
            knowledge=knowledge,
            chain_of_thought=chain_of_thought,
            descriptions=descriptions,
            rows=rows,
            max_prompt_tokens=max_prompt_tokens,
            templates=templates,
        ),
        tokens=tokenizer,
        taking=extract,
        samples=samples,
        corrections=corrections,
    )
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


def default_name(spec: str, method: str, *, chain_of_thought: bool) -> str:
    """What a predictor is called where nobody says: after what answers, and how it is asked."""
    kind, _, rest = spec.partition(":")
    if kind in ("command", "file"):
        last = Path((rest.split() or [""])[0]).stem
    else:
        last = rest.rsplit(":" if kind == "python" else "/", 1)[-1]
    plain = re.sub(r"[^\w.+-]+", "-", last or kind, flags=re.ASCII).strip("-._+")
    parts = [plain or kind, *([method] if method != "direct" else []), *(["cot"] if chain_of_thought else [])]
    return "-".join(parts)


def _object(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise BadInput(
            f"--extra-body {text}: is not JSON ({error}); give an object, such as '{{\"top_k\": 1}}'"
        ) from error
    if not isinstance(found, dict):
        raise BadInput(f"--extra-body {text}: is no JSON object; give one, such as '{{\"top_k\": 1}}'")
    return found

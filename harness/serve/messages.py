"""What is sent to a server and what it returns, read strictly; and both as OpenAPI 3.1 and as a page."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import jinja2
import msgspec

import harness
from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.outcomes import Judgement
from harness.serve.counters import STATUSES
from harness.serve.nemo_gym import NemoGymMetrics, NemoGymReward, NemoGymRow, Policy
from harness.session.resolver import Answer, Triple
from loaders.base.records import to_object, to_record

NDJSON = "application/x-ndjson"
_DOCS = Path(__file__).with_name("docs.html.jinja")


@dataclass(frozen=True)
class SentAnswer:
    """An answer: to a `question` of the set, or to be compared with `gold` on a `database`.

    The members are those of `harness.Answer` and `harness.Triple`. In a set of tasks `question` is a task,
    and `sql` its statements, or one text.
    """

    sql: str | list[str]
    question: int | str | None = None
    database: str | None = None
    gold: str | None = None
    dialect: str | None = None
    gold_dialect: str | None = None

    def to_answer(self) -> Answer | Triple:
        """Return it as the evaluator takes it.

        Raises:
            BadInput: it is neither an answer to a question nor one with its own gold.
        """
        own = self.database, self.gold
        if self.question is not None and own == (None, None) and self.gold_dialect is None:
            return Answer(self.question, self.sql, self.dialect)
        if self.question is None and self.database is not None and self.gold is not None:
            if not isinstance(self.sql, str):
                raise BadInput("sql: is a list; only tasks have answers of several statements; give a text")
            return Triple(self.database, self.gold, self.sql, self.dialect, self.gold_dialect)
        raise BadInput("an answer has either a question, or a database and gold; give one of the two")


@dataclass(frozen=True, kw_only=True)
class SentOptions:
    """What holds for all answers of a request.

    `set` names one of the server's sets, and is needed if it has several; `metrics` selects some of its
    metrics; `deadline` is in seconds; `extract` is how the SQL is taken out of the answers, if not as the
    server does.
    """

    set: str | None = None
    metrics: list[str] | None = None
    extract: Policy | None = None
    deadline: Annotated[float, msgspec.Meta(gt=0)] | None = None


@dataclass(frozen=True)
class SentSingle(SentOptions, SentAnswer):
    """A single answer with what holds for it."""


@dataclass(frozen=True)
class SentBatch(SentOptions):
    """Answers with what holds for all of them."""

    answers: list[SentAnswer]


@dataclass(frozen=True, kw_only=True)
class ScoredAnswer(Judgement):
    """A judgement as in `results.jsonl`; if `is_predictors` is false, its scores mean nothing.

    `extract` is the policy that took the SQL out of the answer, and `sql` what it took, null if it found
    none; `sql` is null for the policy `none`, too.
    """

    is_predictors: bool
    extract: str = Extract.NONE
    sql: str | None = None


@dataclass(frozen=True)
class ScoredBatch:
    """The judgements of a batch, in the order of its answers."""

    answers: list[ScoredAnswer]


@dataclass(frozen=True)
class StreamedAnswer:
    """One line of a streamed batch: the place of the answer in the batch, and its judgement."""

    place: int
    answer: ScoredAnswer


@dataclass(frozen=True)
class Failure:
    """Why a request has no scores: what is wrong, where, and what to do about it."""

    error: str


@dataclass(frozen=True)
class Health:
    """`status` is "ok", or "stopping" once the server takes no new batches.

    `extract` is how the server takes the SQL out of answers, unless a request says otherwise.
    """

    status: str
    version: str
    extract: str


def parse_request(sent: Any) -> SentSingle | SentBatch:
    """Read a request from JSON values.

    Raises:
        ValueError: it is not such a request.
    """
    content = to_object(sent)
    if "answers" not in content:
        return to_record(SentSingle, content)
    answers = []
    for place, each in enumerate(to_record(list, content["answers"])):
        try:
            answers.append(to_record(SentAnswer, each))
        except ValueError as fault:
            raise ValueError(f"answers[{place}]: {fault}") from None
    return replace(to_record(SentBatch, {**content, "answers": []}), answers=answers)


def scored(
    judgement: Judgement,
    metrics: Sequence[str] | None,
    policy: str = Extract.NONE,
    sql: str | None = None,
) -> ScoredAnswer:
    """Return what is sent for a judgement.

    Args:
        judgement: of the answer.
        metrics: the names of the scores to send; None for all.
        policy: what took the SQL out of the answer.
        sql: what it took.
    """
    plain = vars(judgement)
    if metrics is not None:
        scores = {name: score for name, score in judgement.scores.items() if name in metrics}
        plain = {**plain, "scores": scores}
    return ScoredAnswer(**plain, is_predictors=judgement.outcome.is_predictors, extract=policy, sql=sql)


_SAYS: Mapping[int, str] = {
    400: "The body is not JSON, or was not sent completely.",
    401: "The bearer token is missing or wrong.",
    403: "The server has no token, and the host or origin of the request is none of its names.",
    408: "The body took too long.",
    413: "The body is too large, or the batch has too many answers.",
    415: "The body is not declared as application/json.",
    422: "A member is wrong: a question, database, engine or metric is unknown.",
    429: "Too many answers are waiting, or bytes of bodies: try again after `Retry-After` seconds.",
    503: "The server is stopping: try again after `Retry-After` seconds.",
}


@cache
def openapi() -> dict[str, Any]:
    """Return the description of the interface, made from the types that it is read with.

    https://spec.openapis.org/oas/v3.1.1.html
    """
    scores = (SentAnswer, SentSingle, SentBatch, ScoredAnswer, ScoredBatch, StreamedAnswer, Failure, Health)
    kinds = (*scores, NemoGymRow, NemoGymReward, NemoGymMetrics)
    _, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")

    def content(*names: str, media: str = "application/json") -> dict[str, Any]:
        refs = [{"$ref": f"#/components/schemas/{name}"} for name in names]
        return {media: {"schema": refs[0] if len(refs) == 1 else {"anyOf": refs}}}

    def answered(says: str, media: Mapping[str, Any]) -> dict[str, Any]:
        return {"description": says, "content": dict(media)}

    text = {"text/plain": {"schema": {"type": "string"}}}
    failures = {str(code): answered(_SAYS[code], content("Failure")) for code in STATUSES if code in _SAYS}
    judged = answered(
        "Scores; with `Accept: application/x-ndjson` one line for each answer, as it is judged.",
        content("ScoredAnswer", "ScoredBatch") | content("StreamedAnswer", media=NDJSON),
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "bird-harness", "version": harness.__version__},
        "paths": {
            "/score": {
                "post": {
                    "summary": "Score one answer or a batch by execution",
                    "requestBody": {"required": True, "content": content("SentSingle", "SentBatch")},
                    "responses": {"200": judged, **failures},
                }
            },
            "/verify": {
                "post": {
                    "summary": "NeMo Gym: return a row with the reward of its response",
                    "requestBody": {"required": True, "content": content("NemoGymRow")},
                    "responses": {
                        "200": answered("The row too.", content("NemoGymReward")),
                        **failures,
                    },
                }
            },
            "/aggregate_metrics": {
                "post": {
                    "summary": "NeMo Gym: the mean reward of what /verify returned",
                    "responses": {"200": answered("Means.", content("NemoGymMetrics")), **failures},
                }
            },
            "/health": {
                "get": {
                    "summary": "Tell whether the server takes batches; needs no token",
                    "responses": {
                        "200": answered("It does.", content("Health")),
                        "503": answered("It is stopping.", content("Health")),
                    },
                }
            },
            "/metrics": {
                "get": {
                    "summary": "Counts in Prometheus' text format, over all processes of the server",
                    "responses": {"200": answered("The counts.", text), "401": failures["401"]},
                }
            },
        },
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


@cache
def docs_page() -> tuple[str, str]:
    """Return the same description as a page for people, and its content security policy."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.ChainableUndefined)
    text = environment.from_string(_DOCS.read_text(encoding="utf-8")).render(openapi(), names=_names)
    style = text.partition("<style>")[2].partition("</style>")[0]
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'"
    )
    return text, policy


def _names(media: Mapping[str, Any]) -> str:
    """Return the media types of a body with the schemas of each."""

    def named(schema: Mapping[str, Any]) -> str:
        refs = [each["$ref"].rpartition("/")[2] for each in schema.get("anyOf", [schema]) if "$ref" in each]
        return " or ".join(refs) or "text"

    return "; ".join(f"{kind}: {named(about['schema'])}" for kind, about in media.items())

"""What an OpenAI-compatible endpoint sent back, read without trust: a reply, or why there is none.

The fields are those of https://platform.openai.com/docs/api-reference (chat completions and responses); a
server that leaves out what is not needed here is as good as one that sends all.
"""

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from harness.predictors.adapters.common import Api, shortened, writable
from harness.predictors.base import Reply, RequestFailed, Usage

_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"})
_EVERY_ASK = frozenset(
    {
        "invalid_api_key",
        "invalid_model",
        "model_not_found",
        "DeploymentNotFound",
        "unknown_parameter",
        "unsupported_parameter",
        "unsupported_value",
    }
)
"""Codes of HTTP 400 that no other question would change."""

_REMEDIES = {
    HTTPStatus.UNAUTHORIZED: "the key was refused; check the environment variable that has it",
    HTTPStatus.PAYMENT_REQUIRED: "the account has no credit; see to it and resume",
    HTTPStatus.FORBIDDEN: "the key may not do this; check its rights and the model's name",
    HTTPStatus.NOT_FOUND: "no such model or address; check the model's name and the base URL",
    HTTPStatus.METHOD_NOT_ALLOWED: "this is no such endpoint; check the base URL, which mostly ends with /v1",
}


@dataclass(frozen=True)
class EndpointRefusal:
    """What an answer of HTTP status 300 or more comes to; `final` where every other ask would get it, too."""

    reason: str
    final: bool


def usage_of(body: bytes) -> Usage:
    """The tokens that an answer tells, by either interface; None where it doesn't."""
    answer = _parsed(body)
    told = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(told, dict):
        return Usage(1)
    prompt = _count(told.get("prompt_tokens", told.get("input_tokens")))
    completion = _count(told.get("completion_tokens", told.get("output_tokens")))
    return Usage(1, prompt, completion)


def reply_of(body: bytes, api: Api, usage: Usage) -> Reply:
    """The reply that the body of a successful answer holds.

    Raises:
        RequestFailed: it holds none. The reason may have what the server sent in it.
    """
    answer = _parsed(body)
    if not isinstance(answer, dict):
        raise RequestFailed(f"the answer is {_kind(body)} instead of a JSON object: {_shown(body)}", usage)
    if answer.get("error"):
        raise RequestFailed(f"the answer is an error: {_error(answer)[1]}", usage)
    try:
        text, finish = _chat(answer) if api is Api.CHAT else _responses(answer)
    except _NoText as none:
        raise RequestFailed(f"{none}", usage) from None
    return Reply(writable(text), usage, finish, _text(answer.get("model")))


def refusal_of(status: int, body: bytes) -> EndpointRefusal:
    """What an answer with an error status means."""
    code, message = _error(_parsed(body), body)
    said = f"HTTP {status}" + (f": {message}" if message else "")
    if status < HTTPStatus.BAD_REQUEST:
        return EndpointRefusal(
            f"{said} (the address redirects elsewhere; give the right base URL)", final=True
        )
    if status == HTTPStatus.TOO_MANY_REQUESTS and code in _QUOTA:
        return EndpointRefusal(f"{said} (the account's quota is used up; see to it and resume)", final=True)
    if status == HTTPStatus.BAD_REQUEST and code in _EVERY_ASK:
        return EndpointRefusal(f"{said} (leave out or change the option that is refused)", final=True)
    remedy = _REMEDIES.get(HTTPStatus(status)) if status in _REMEDIES else None
    return EndpointRefusal(f"{said} ({remedy})", final=True) if remedy else EndpointRefusal(said, final=False)


class _NoText(Exception):
    """An answer without a text. The message says why."""


def _chat(answer: dict[str, Any]) -> tuple[str, str | None]:
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise _NoText("the answer has no choices")
    finish = _text(choices[0].get("finish_reason"))
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise _NoText("the answer's choice has no message")
    text = _content(message.get("content"), "text")
    if text is None and isinstance(message.get("refusal"), str):
        raise _NoText(f"the model refused: {shortened(message['refusal'])}")
    if text is None:
        raise _NoText(_without_content(finish))
    return text, finish


def _responses(answer: dict[str, Any]) -> tuple[str, str | None]:
    output = answer.get("output")
    if not isinstance(output, list):
        raise _NoText("the answer has no output")
    details = answer.get("incomplete_details")
    finish = _text(details.get("reason")) if isinstance(details, dict) else None
    finish = {None: _finished(answer), "max_output_tokens": "length"}.get(finish, finish)
    messages = [item for item in output if isinstance(item, dict) and item.get("type") == "message"]
    texts = [text for item in messages if (text := _content(item.get("content"), "output_text")) is not None]
    if texts:
        return "".join(texts), finish
    parts = [part for item in messages for part in item.get("content") or () if isinstance(part, dict)]
    refusals = [part["refusal"] for part in parts if isinstance(part.get("refusal"), str)]
    if refusals:
        raise _NoText(f"the model refused: {shortened(refusals[0])}")
    raise _NoText(_without_content(finish))


def _finished(answer: dict[str, Any]) -> str | None:
    status = _text(answer.get("status"))
    return "stop" if status == "completed" else status


def _without_content(finish: str | None) -> str:
    if finish == "length":
        return "the answer has no text: all its tokens went into reasoning (allow more tokens)"
    return f"the answer has no text (finished by {shortened(finish)})" if finish else "the answer has no text"


def _content(content: object, kind: str) -> str | None:
    """A text, or the texts of a list of parts joined; None where there is neither."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    found = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == kind]
    texts = [text for text in found if isinstance(text, str)]
    return "".join(texts) if texts else None


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def _error(answer: object, body: bytes = b"") -> tuple[str | None, str]:
    """The code of an error, and what there is to say of it in one line."""
    first = answer[0] if isinstance(answer, list) and answer else answer
    if not isinstance(first, dict):
        return None, _shown(body)
    error = first.get("error", first)
    if not isinstance(error, dict):
        return None, shortened(error if isinstance(error, str) else json.dumps(error))
    code = _text(error.get("code")) or _text(error.get("type"))
    message = error.get("message", error.get("detail"))
    said = message if isinstance(message, str) else json.dumps(error)
    return code, shortened(said if code is None or code in said else f"{code}: {said}")


def _kind(body: bytes) -> str:
    if not body.strip():
        return "empty"
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return "not UTF-8"
    return "HTML" if text.lstrip().lower().startswith(("<!doctype", "<html")) else "something else"


def _shown(body: bytes) -> str:
    return shortened(body[:2000].decode("utf-8", "replace"), 120)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _text(value: object) -> str | None:
    return writable(value) if isinstance(value, str) else None

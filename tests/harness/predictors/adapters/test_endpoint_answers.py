"""Bodies of answers -> a reply, or why there is none."""

import json
from typing import Any

import pytest

from harness.predictors.adapters.common import Api
from harness.predictors.adapters.endpoint_answers import refusal_of, reply_of, usage_of
from harness.predictors.base import RequestFailed, Usage


def chat(message: object, finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": finish}], **more}


def output(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"output": [{"type": "reasoning"}, {"type": "message", "content": list(parts)}], **more}


TEXT = {"type": "output_text", "text": "SELECT 1"}
CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


@pytest.mark.parametrize(
    ("api", "answer", "expected"),
    [
        (Api.CHAT, chat({"content": "SELECT 1"}, model="m-1"), ("SELECT 1", "stop", "m-1")),
        (Api.CHAT, chat({"content": "SELECT"}, "length"), ("SELECT", "length", None)),
        (Api.CHAT, chat({"content": ""}), ("", "stop", None)),
        (Api.CHAT, chat({"content": "x"}, None), ("x", None, None)),
        (
            Api.CHAT,
            chat({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            ("ab", "stop", None),
        ),
        (
            Api.CHAT,
            chat({"content": [{"type": "thinking"}, {"type": "text", "text": "a"}]}),
            ("a", "stop", None),
        ),
        (Api.CHAT, chat({"content": "half \ud83d"}), ("half \ufffd", "stop", None)),
        (Api.CHAT, chat({"content": "a"}, model=7), ("a", "stop", None)),
        (Api.RESPONSES, output(TEXT, status="completed", model="m"), ("SELECT 1", "stop", "m")),
        (Api.RESPONSES, output(TEXT, TEXT), ("SELECT 1SELECT 1", None, None)),
        (Api.RESPONSES, output(TEXT, **CUT), ("SELECT 1", "length", None)),
    ],
)
def test_a_text_is_given_as_it_came(
    api: Api, answer: dict[str, Any], expected: tuple[str, str | None, str | None]
) -> None:
    reply = reply_of(json.dumps(answer).encode(), api, Usage(1))
    assert (reply.text, reply.finish, reply.model) == expected


@pytest.mark.parametrize(
    ("api", "body", "reason"),
    [
        (Api.CHAT, b"", "the answer is empty instead of a JSON object"),
        (Api.CHAT, b"<!DOCTYPE html><html>Log in</html>", "the answer is HTML instead of a JSON object"),
        (Api.CHAT, b'{"choices": [{"message": {"content": "caf\xe9"}}]}', "the answer is not UTF-8"),
        (Api.CHAT, b'{"choices": [', "the answer is something else instead of a JSON object"),
        (Api.CHAT, b"[]", "the answer is something else instead of a JSON object"),
        (Api.CHAT, b"[" * 100_000, "the answer is something else instead of a JSON object"),
        (Api.CHAT, b"{}", "the answer has no choices"),
        (Api.CHAT, b'{"choices": []}', "the answer has no choices"),
        (Api.CHAT, b'{"choices": "none"}', "the answer has no choices"),
        (Api.CHAT, b'{"choices": [1]}', "the answer has no choices"),
        (Api.CHAT, b'{"choices": [{}]}', "the answer's choice has no message"),
        (Api.CHAT, json.dumps(chat({"content": None})).encode(), "the answer has no text (finished by stop)"),
        (Api.CHAT, json.dumps(chat({"content": 1}, None)).encode(), "the answer has no text"),
        (
            Api.CHAT,
            json.dumps(chat({"content": None}, "length")).encode(),
            "all its tokens went into reasoning",
        ),
        (
            Api.CHAT,
            json.dumps(chat({"content": None}, "content_filter")).encode(),
            "finished by content_filter",
        ),
        (
            Api.CHAT,
            json.dumps(chat({"content": None, "refusal": "No,\nthanks"})).encode(),
            "refused: No, thanks",
        ),
        (
            Api.CHAT,
            b'{"error": {"message": "out of memory", "code": "oom"}}',
            "is an error: oom: out of memory",
        ),
        (Api.CHAT, b'{"error": "out of memory"}', "is an error: out of memory"),
        (Api.RESPONSES, b"{}", "the answer has no output"),
        (Api.RESPONSES, b'{"output": []}', "the answer has no text"),
        (
            Api.RESPONSES,
            json.dumps(output({"type": "refusal", "refusal": "No"})).encode(),
            "the model refused: No",
        ),
        (Api.RESPONSES, json.dumps({"output": [], **CUT}).encode(), "all its tokens went into reasoning"),
        (
            Api.RESPONSES,
            b'{"status": "failed", "error": {"code": "server_error", "message": "x"}}',
            "server_error: x",
        ),
    ],
)
def test_an_answer_without_a_text_fails_with_its_reason(api: Api, body: bytes, reason: str) -> None:
    with pytest.raises(RequestFailed) as raised:
        reply_of(body, api, Usage(1, 2, 3))
    assert reason in raised.value.reason
    assert "\n" not in raised.value.reason
    assert raised.value.usage == Usage(1, 2, 3)


@pytest.mark.parametrize(
    ("body", "usage"),
    [
        (b'{"usage": {"prompt_tokens": 3, "completion_tokens": 4}}', Usage(1, 3, 4)),
        (b'{"usage": {"input_tokens": 3, "output_tokens": 4}}', Usage(1, 3, 4)),
        (b'{"usage": {"prompt_tokens": 3}}', Usage(1, 3, None)),
        (b'{"usage": {"prompt_tokens": -3, "completion_tokens": "4"}}', Usage(1, None, None)),
        (b'{"usage": {"prompt_tokens": true, "completion_tokens": 1.5}}', Usage(1, None, None)),
        (b'{"usage": null}', Usage(1)),
        (b"no JSON", Usage(1)),
    ],
)
def test_usage_is_what_the_endpoint_tells(body: bytes, usage: Usage) -> None:
    assert usage_of(body) == usage


@pytest.mark.parametrize(
    ("status", "error", "final"),
    [
        (401, {"code": "invalid_api_key", "message": "wrong"}, True),
        (402, {"message": "no credit"}, True),
        (403, {"message": "not yours"}, True),
        (404, {"code": "model_not_found", "message": "no such model"}, True),
        (405, {"message": "POST?"}, True),
        (307, {}, True),
        (429, {"code": "insufficient_quota", "message": "pay"}, True),
        (429, {"type": "insufficient_quota", "message": "pay"}, True),
        (429, {"code": "rate_limit_exceeded", "message": "slow down"}, False),
        (400, {"code": "unsupported_parameter", "message": "max_tokens"}, True),
        (400, {"code": "context_length_exceeded", "message": "too long"}, False),
        (400, {"code": "content_filter", "message": "no"}, False),
        (413, {"message": "too large"}, False),
        (422, {"message": "no"}, False),
        (500, {"message": "oops"}, False),
        (503, {"message": "busy"}, False),
        (529, {"message": "busy"}, False),
    ],
)
def test_what_every_ask_would_be_refused_is_final(status: int, error: dict[str, str], final: bool) -> None:  # noqa: FBT001
    refusal = refusal_of(status, json.dumps({"error": error}).encode())
    assert refusal.final is final
    assert refusal.reason.startswith(f"HTTP {status}")
    assert error.get("message", "") in refusal.reason


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "HTTP 500"),
        (b"<html>\n<h1>Bad Gateway</h1>", "HTTP 500: <html> <h1>Bad Gateway</h1>"),
        (b'{"detail": "wrong path"}', "HTTP 500: wrong path"),
        (b'{"error": "wrong path"}', "HTTP 500: wrong path"),
        (b'[{"error": {"code": 7, "message": "listed"}}]', "HTTP 500: listed"),
        (b'{"error": {"message": ["a"]}}', 'HTTP 500: {"message": ["a"]}'),
        (b"\xff\xfe", "HTTP 500: \ufffd\ufffd"),
    ],
)
def test_an_error_is_told_in_the_words_of_the_endpoint(body: bytes, said: str) -> None:
    assert refusal_of(500, body).reason == said

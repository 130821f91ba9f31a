"""The text in a model's response, in the forms in which interfaces of models return it and write it to files.

Responses are untrusted: a member of another type counts as absent.

- Chat completions, completions and Responses of OpenAI's interface, and of servers that offer it:
  https://platform.openai.com/docs/api-reference
- Messages of Anthropic's: https://docs.anthropic.com/en/api/messages
- `generateContent` of Google's: https://ai.google.dev/api/generate-content
- vLLM's `RequestOutput`, and the texts of pipelines: https://docs.vllm.ai/en/latest/api/vllm/outputs.html
- A line of a batch, which wraps one of these or an error.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from loaders.base.errors import brief
from loaders.base.files import one_line

_SHOWN = 200
"""Maximum characters of the words of a server or a model in a reason."""


class SeveralAnswers(ValueError):
    """A response has several texts that differ; the message says how many."""


@dataclass(frozen=True)
class Response:
    """A model's response: its text, why it ended, and why there is no text, if the response shows that."""

    text: str | None
    finish: str | None = None
    fault: str | None = None


def member(value: Any, *path: str | int) -> Any:
    """Return the value at a path; None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


def content_text(content: object, *kinds: str | None) -> str | None:
    """Return a text, or the joined texts of a list of parts of these types; None if there is neither.

    A part without a type is of the type None.
    """
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [member(part, "text") for part in parts if member(part, "type") in kinds]
    found = [text for text in texts if isinstance(text, str)]
    return "".join(found) if found else None


def chat_response(answer: Mapping[str, Any], place: int = 0) -> Response:
    """Read a chat completion: the choice at this place."""
    choice = member(answer, "choices", place)
    message = member(choice, "message")
    if not isinstance(choice, dict):
        return Response(None, None, "the answer has no choices")
    finish = _text(choice.get("finish_reason"))
    if not isinstance(message, dict):
        return Response(None, finish, "the answer's choice has no message")
    return Response(content_text(message.get("content"), "text"), finish, _refused(message.get("refusal")))


def responses_response(answer: Mapping[str, Any]) -> Response:
    """Read an object of the interface Responses."""
    output = answer.get("output")
    if not isinstance(output, list):
        return Response(None, None, "the answer has no output")
    status = _text(answer.get("status"))
    finish = _text(member(answer, "incomplete_details", "reason"))
    finish = {None: "stop" if status == "completed" else status, "max_output_tokens": "length"}.get(
        finish, finish
    )
    contents = [member(item, "content") for item in output if member(item, "type") == "message"]
    texts = [text for content in contents if (text := content_text(content, "output_text")) is not None]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    refusals = [said for part in parts if (said := _refused(member(part, "refusal"))) is not None]
    return Response("".join(texts) if texts else None, finish, next(iter(refusals), None))


def read_response(value: Any) -> Response | None:
    """Return the response that a value of a file is, in any of the forms; None if it is none of them.

    Raises:
        SeveralAnswers: it has several texts, and they differ.
    """
    return _only(list(_read(value)))


def read_member(record: Mapping[str, Any], name: str) -> Response | None:
    """Return the response that a member of a record makes of it, a name of `ENVELOPES`; else as above."""
    return _only(list(_FORMS[name](record, record.get(name))))


def error_of(record: Mapping[str, Any]) -> str | None:
    """Return why a line of a batch has no response; None if it does not say."""
    error, kind = record.get("error"), record.get("type")
    if isinstance(error, dict | str) and error:
        said = member(error, "message") or member(error, "error", "message") or error
        return f"the response is an error: {_brief(said if isinstance(said, str) else str(said))}"
    if kind in {"errored", "canceled", "expired"}:
        return f"the request {kind}" if kind == "expired" else f"the request was {kind}"
    return None


def _only(found: list[Response]) -> Response | None:
    if len({each.text for each in found}) > 1:
        raise SeveralAnswers(f"{len(found)} answers that differ")
    return found[0] if found else None


def _read(value: Any) -> Iterator[Response]:
    """Yield a response for each answer in a value."""
    if isinstance(value, list):
        yield from _list(value)
    elif isinstance(value, dict):
        error = error_of(value)
        if error is not None:
            yield Response(None, None, error)
            return
        readings = (list(form(value, value.get(name))) for name, form in _FORMS.items())
        yield from next(filter(None, readings), ())


def _list(value: list[Any]) -> Iterator[Response]:
    if all(isinstance(member(each, "role"), str) for each in value):
        # A conversation is an answer if the model has the last word.
        if value and value[-1]["role"] == "assistant":
            yield from _read(value[-1])
    elif all(isinstance(member(each, "generated_text"), str | list) for each in value):
        for each in value:
            yield from _read(each)
    elif any(member(each, "type") == "message" for each in value):
        yield from _output({}, value)
    else:
        yield from (found for found in _content({}, value) if found.text is not None)


def _choices(record: Mapping[str, Any], choices: Any) -> Iterator[Response]:
    for place, choice in enumerate(choices if isinstance(choices, list) else ()):
        text = member(choice, "text")
        found = Response(text) if isinstance(text, str) else chat_response(record, place)
        yield _without_text(found.finish) if found.text is None and found.fault is None else found


def _output(record: Mapping[str, Any], output: Any) -> Iterator[Response]:
    if isinstance(output, list):
        found = responses_response({**record, "output": output})
        yield found if found.text is not None or found.fault is not None else _without_text(found.finish)
    else:
        yield from _whole(record, output)


def _content(record: Mapping[str, Any], content: Any) -> Iterator[Response]:
    """Yield the text of a message: a text, or a list of parts."""
    parts = content if isinstance(content, list) else ()
    if all(isinstance(part, dict) and not {"type", "text"}.isdisjoint(part) for part in parts):
        text = content_text(content, "text", "output_text", None)
        finish = _text(record.get("stop_reason"))
        if text is not None:
            yield Response(text, finish)
        elif isinstance(content, list):
            yield _without_text(finish)


def _candidates(record: Mapping[str, Any], candidates: Any) -> Iterator[Response]:
    del record
    for candidate in candidates if isinstance(candidates, list) else ():
        parts = member(candidate, "content", "parts")
        said = [part for part in parts if not member(part, "thought")] if isinstance(parts, list) else []
        text, finish = content_text(said, None), _text(member(candidate, "finishReason"))
        yield _without_text(finish) if text is None else Response(text, finish)


def _outputs(record: Mapping[str, Any], outputs: Any) -> Iterator[Response]:
    del record
    for output in outputs if isinstance(outputs, list) else ():
        text = member(output, "text")
        if isinstance(text, str):
            yield Response(text, _text(member(output, "finish_reason")))


def _generated(record: Mapping[str, Any], text: Any) -> Iterator[Response]:
    del record
    if isinstance(text, str):
        yield Response(text)
    elif isinstance(text, list):
        yield from _list(text)


def _messages(record: Mapping[str, Any], messages: Any) -> Iterator[Response]:
    del record
    if isinstance(messages, list):
        yield from _list(messages)


_SHAREGPT = frozenset({"gpt", "assistant", "model", "chatgpt", "bot"})


def _conversations(record: Mapping[str, Any], turns: Any) -> Iterator[Response]:
    """Yield the last turn of a conversation as ShareGPT writes it, if it is the model's."""
    if not (isinstance(turns, list) and turns):
        return
    if all(isinstance(member(turn, "from"), str) for turn in turns):
        text = member(turns[-1], "value")
        if turns[-1]["from"] in _SHAREGPT and isinstance(text, str):
            yield Response(text)
    else:
        yield from _messages(record, turns)


def _whole(record: Mapping[str, Any], response: Any) -> Iterator[Response]:
    """Yield what a member holds that wraps a whole response."""
    del record
    if isinstance(response, dict):
        yield from _read(response)


_FORMS: Mapping[str, Callable[[Mapping[str, Any], Any], Iterator[Response]]] = {
    "choices": _choices,
    "output": _output,
    "content": _content,
    "candidates": _candidates,
    "outputs": _outputs,
    "generated_text": _generated,
    "messages": _messages,
    "conversations": _conversations,
    "conversation": _conversations,
    "message": _whole,
    "response": _whole,
    "result": _whole,
    "body": _whole,
    "modelOutput": _whole,
}
"""Readers of the members by which a record is recognised as a response; the first that yields counts."""

ENVELOPES = tuple(_FORMS)


def _without_text(finish: str | None) -> Response:
    ended = f" (finished by {_brief(finish)})" if finish else ""
    return Response(None, finish, f"the response has no text{ended}")


def _refused(said: object) -> str | None:
    return f"the model refused: {_brief(said)}" if isinstance(said, str) else None


def _brief(words: str) -> str:
    return brief(one_line(" ".join(words[: 10 * _SHOWN].split())), _SHOWN)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None

"""Queries in JSON, and in what models write for it: Python's literals, trailing commas, unescaped quotes."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.data.answers.statements import begin, continues

_DECODER = json.JSONDecoder(strict=False)
_MOST_DEPTH = 12
_MOST_UNESCAPED = 4_000
_PAIR = re.compile(
    r"(?P<quote>[\"'])(?P<key>[\w -]{1,40}+)(?P=quote)[ \t]*+:[ \t\r\n]*+(?P<list>\[[ \t\r\n]*+)?+"
)
_TEXT = re.compile(
    r"\"\"\"(?P<long>(?:[^\"\\]++|\\.|\"(?!\"\"))*+)\"\"\"|\"(?P<double>(?:[^\"\\]++|\\.)*+)\"|"
    r"'(?P<single>(?:[^'\\]++|\\.)*+)'",
    flags=re.DOTALL,
)
_STRINGS = re.compile(
    r"\[\s*+(?:(?:\"(?:[^\"\\]++|\\.)++\"|'(?:[^'\\]++|\\.)++')\s*+(?:,\s*+|(?=\])))++\]", flags=re.DOTALL
)
_FROM = re.compile(r"\bFROM\b", flags=re.IGNORECASE)
_AFTER = re.compile(r"\s*+(?:[,}\])]|\Z)")
_LAST = re.compile(r"\"\s*+(?:,\s*+[\"'}]|[}\]]|\Z)")
_ESCAPE = re.compile(r"\\(?P<one>u[0-9a-fA-F]{4}|.)", flags=re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""}
_WORD = re.compile(r"[^a-z0-9]++")
_DRAFTS = re.compile(
    r"draft|initial|previous|old|wrong|incorrect|original|example|alternative|candidate|sub|intermediate|step|"
    r"input|other|gold|attempt|history|reason|thought|explanation|question|schema|plan|rejected"
)
_FINALS = re.compile(r"final|correct|revised|refined|fixed|best|improved|optimi[sz]ed|new|chosen|selected")
_OF_ANSWERS = frozenset({
    "answer", "code", "output", "response", "statement", "result", "solution", "prediction", "pred",
    "completion", "content", "text", "command", "final", "value", "message", "predicted", "generated",
    "reply", "arguments", "parameters", "input", "args", "kwargs", "generation", "data", "outputtext",
})  # fmt: skip


def weight(key: str) -> int | None:
    """Return how much a key says that its value is the answer's query; None if it does not say so at all."""
    name = _WORD.sub("", key.lower())
    if "sql" in name or "query" in name or "queries" in name:
        if _DRAFTS.search(name):
            return 0
        return 5 if _FINALS.search(name) else 4 if "sql" in name else 3
    if _FINALS.search(name) and ("answer" in name or "solution" in name or "code" in name):
        return 2
    return 1 if name in _OF_ANSWERS or "answer" in name else None


@dataclass(frozen=True)
class Value:
    """A text in a document; `weight` is that of its key, `depth` how many documents and keys it is in."""

    text: str
    weight: int
    depth: int = 0


def values(document: Any, key: str = "sql", depth: int = 0, *, is_draft: bool = False) -> Iterator[Value]:
    """Yield the texts of a parsed document at keys of queries, in its order."""
    if depth > _MOST_DEPTH:
        return
    worth = weight(key)
    if isinstance(document, str):
        if worth is not None:
            yield Value(document, 0 if is_draft else worth, depth)
    elif isinstance(document, list):
        if worth is not None and _are_lines(document):
            document = ["\n".join(document)]
        for each in document:
            yield from values(each, key, depth, is_draft=is_draft)
    elif isinstance(document, dict):
        name = _WORD.sub("", key.lower())
        drafts = is_draft or (depth > 0 and bool(_DRAFTS.search(name)))
        for inner, value in document.items():
            yield from values(value, str(inner), depth + 1, is_draft=drafts)


def _are_lines(document: list[Any]) -> bool:
    """True if a list's texts are the lines of one query."""
    return (
        len(document) > 1
        and all(isinstance(each, str) for each in document)
        and begin(document[0]) is not None
        and all(begin(each) is None for each in document[1:])
        and (_FROM.search(document[0]) is None or all(continues(each) for each in document[1:]))
    )


def unquote(text: str) -> str | None:
    """Return what a text that is a JSON string as a whole stands for; None if it is none."""
    found = decode(text, len(text) - len(text.lstrip())) if text.lstrip().startswith('"') else None
    return found[0] if found and isinstance(found[0], str) and not text[found[1] :].strip() else None


def decode(text: str, at: int = 0) -> tuple[Any, int] | None:
    """Return the JSON document, or Python's list of texts, that begins there, and where it ends."""
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return strings(text, at)


def strings(text: str, at: int) -> tuple[list[str], int] | None:
    """Return the list of quoted texts that begins there, and where it ends; None if none does."""
    found = _STRINGS.match(text, at)
    if found is None:
        return None
    quoted = _TEXT.finditer(text, at, found.end())
    return [unescape(one[one.lastgroup or 0]) for one in quoted], found.end()


@dataclass(frozen=True)
class KeyValue:
    """A key with a text, in a document that cannot be parsed; it ends at `end`.

    `is_unescaped`: the text has quotes that were not escaped.
    """

    value: Value
    end: int
    is_unescaped: bool = False


def pair(text: str, at: int, *, is_repaired: bool = True) -> KeyValue | None:
    """Return the key and text that begin there; None if none do. Other keys weigh less than 0.

    `is_repaired`: look for the end of a text with quotes that were not escaped.
    """
    key = _PAIR.match(text, at)
    texts = strings(text, key.start("list")) if key and key["list"] else None
    if key is not None and texts is not None:
        worth = weight(key["key"])
        queries = [one for one in texts[0] if begin(one) is not None] or texts[0]
        content = "\n".join(texts[0]) if _are_lines(texts[0]) else queries[-1]
        return KeyValue(Value(content, -1 if worth is None else worth), texts[1])
    value = _TEXT.match(text, key.end()) if key else None
    if key is None or value is None:
        return None
    worth = weight(key["key"])
    worth = -1 if worth is None else worth
    end, content = value.end(), value[value.lastgroup or 0]
    is_unescaped = value.lastgroup == "double" and not _AFTER.match(text, end)
    if is_unescaped and is_repaired:
        last = _LAST.search(text, end, end + _MOST_UNESCAPED)
        if last is not None and "\n\n" not in text[end : last.start()]:
            return KeyValue(Value(text[key.end() + 1 : last.start()], worth), last.start() + 1, is_unescaped)
    content = unescape(content, is_json=value.lastgroup == "double")
    return KeyValue(Value(content, worth), end, is_unescaped)


def is_cut_off(text: str, at: int) -> bool:
    """True if a key with a text begins there that does not end: of a query, no one knows what is missing."""
    key = _PAIR.match(text, at)
    return key is not None and text.startswith('"', key.end()) and _TEXT.match(text, key.end()) is None


def unescape(content: str, *, is_json: bool = False) -> str:
    """Return what a quoted text stands for."""
    if "\\" not in content:
        return content
    if is_json:
        try:
            text: str = json.loads(f'"{content}"', strict=False)
        except ValueError:
            pass
        else:
            return text
    return _ESCAPE.sub(_character, content)


def _character(escape: re.Match[str]) -> str:
    one = escape["one"]
    return chr(int(one[1:], 16)) if len(one) > 1 else _ESCAPES.get(one, one)

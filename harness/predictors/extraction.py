"""Taking the SQL out of a model's answer: fences, reasoning, prose around it.

The answer is kept beside what was taken out of it. What has no query in it has no SQL: none is ever made up.
"""

import json
import re
from enum import StrEnum

_NAME = r"(?:\w+|\"[^\"\n]+\"|`[^`\n]+`|\[[^\]\n]+\])"
_WITH = rf"WITH\s+(?:RECURSIVE\s+)?{_NAME}\s*(?:\([^)]*\)\s*)?AS\b"
_STATEMENT = rf"(?:SELECT\b|{_WITH})"
_FENCED = re.compile(
    r"^[ \t]*(?P<fence>```+|~~~+)[ \t]*[\w+-]*[ \t]*$\n?(?P<block>.*?)(?:^[ \t]*(?P=fence)|\Z)",
    flags=re.MULTILINE | re.DOTALL,
)
_INLINE = re.compile(
    r"```+[ \t]*(?:[a-z]+[ \t]+)?(?P<block>[^`]+?)```+|`(?P<one>[^`\n]+)`", flags=re.IGNORECASE
)
_STARTS = re.compile(rf"[\s(]*{_STATEMENT}", flags=re.IGNORECASE)
_SELECT = r"(?:SELECT|select)\b|Select\b(?=[^;]*?\b[Ff][Rr][Oo][Mm]\b)"
"""In prose: a sentence may begin with the word, too."""
_QUERY = rf"\(*(?:{_SELECT}|(?i:{_WITH}))"
_IS_QUERY = re.compile(_QUERY)
_IN_PROSE = re.compile(rf"(?:^|[:>])[ \t*]*(?P<sql>{_QUERY})", flags=re.MULTILINE)
_REASONING = re.compile(r"<(?P<tag>think|thinking|reasoning)>.*?</(?P=tag)>", flags=re.IGNORECASE | re.DOTALL)
_OPEN_REASONING = re.compile(r"<(?:think|thinking|reasoning)>", flags=re.IGNORECASE)
_CLOSED_REASONING = re.compile(r"</(?:think|thinking|reasoning)>", flags=re.IGNORECASE)
_LABELS = ("sql", "query")

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|(?P<end>;)|(?P<gap>\n[ \t]*\n)|.",
    flags=re.DOTALL,
)
_CONTINUES = re.compile(
    r"\s*(?:SELECT|FROM|WHERE|GROUP|ORDER|HAVING|LIMIT|OFFSET|UNION|EXCEPT|INTERSECT|JOIN|INNER|LEFT|RIGHT|FULL|CROSS|"
    r"NATURAL|ON|USING|AND|OR|WINDOW|VALUES|WITH|AS|CASE|WHEN|THEN|ELSE|END|FETCH|[(),'\"`+*/<>=-]|\w+\s*(?:\(|,|\.|AS\b))",
    flags=re.IGNORECASE,
)


class Taking(StrEnum):
    """What is taken out of an answer."""

    NONE = "none"
    """Nothing: the answer is the SQL."""
    ANSWER = "answer"
    """The query that it has (`take_sql`)."""


def take_sql(answer: str) -> str | None:
    """The SQL query of a model's answer; None where it has none.

    - Reasoning between `<think>` tags is left out; an answer that was cut off within it has no SQL.
    - An answer that is a query, or a JSON object with a query at the key `sql` or `query`, is that query.
    - Of several code blocks with queries it is the last one: models come to their answer at the end.
    - Else it is the last query that begins a line or follows a colon, up to its semicolon or to the prose
      after it.
    """
    text = _without_reasoning(answer).strip()
    labelled = _labelled(text)
    if labelled is not None:
        return labelled
    if not _IS_QUERY.match(text) or "```" in text:
        blocks = [match["block"] for match in _FENCED.finditer(text)]
        inline = [match["block"] or match["one"] for match in _INLINE.finditer(_FENCED.sub("", text))]
        for found in (blocks, inline if not blocks else []):
            queries = [block.strip() for block in found if _STARTS.match(block)]
            if queries:
                return queries[-1]
    if _IS_QUERY.match(text):
        return _up_to_its_end(text)
    starts = [match.start("sql") for match in _IN_PROSE.finditer(text)]
    return _up_to_its_end(text[_last_whole(text, starts) :]) if starts else None


def _without_reasoning(answer: str) -> str:
    text = _REASONING.sub("", answer)
    closed = list(_CLOSED_REASONING.finditer(text))
    if closed:  # the opening tag was part of the prompt
        text = text[closed[-1].end() :]
    opened = _OPEN_REASONING.search(text)
    return text if opened is None else text[: opened.start()]


def _labelled(text: str) -> str | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    values = {str(name).lower(): value for name, value in document.items()}
    for label in _LABELS:
        value = values.get(label)
        if isinstance(value, str) and _STARTS.match(value):
            return value.strip()
    return None


def _last_whole(text: str, starts: list[int]) -> int:
    """Where the last query begins that is not a part of the one before it."""
    begins = starts[0]
    for start in starts[1:]:
        if begins + len(_up_to_its_end(text[begins:])) <= start:
            begins = start
    return begins


def _up_to_its_end(text: str) -> str:
    """A query without the prose behind it: up to its semicolon, a fence, or a paragraph that is no SQL."""
    text = text.split("```", 1)[0]
    for token in _TOKEN.finditer(text):
        if token["end"]:
            return text[: token.end()].strip()
        if token["gap"] and not _CONTINUES.match(text, token.end()):
            return text[: token.start()].strip()
    return text.strip()

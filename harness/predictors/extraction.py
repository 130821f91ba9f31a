"""Taking the SQL out of a model's answer: fences, reasoning, prose around it.

The answer is kept beside what was taken out of it. What has no query in it has no SQL: none is ever made up.
"""

import json
import re
from enum import StrEnum

# None of these tries again what it has read: an answer is as long as a model makes it.
_NAME = r"(?:\w++|\"[^\"\n]++\"|`[^`\n]++`|\[[^\[\]\n]++\])"
_WITH = rf"WITH\s++(?:RECURSIVE\s++)?{_NAME}\s*+(?:\([^()]*+\)\s*+)?AS\b"
_STATEMENT = rf"(?:SELECT\b|{_WITH})"
_FENCED = re.compile(
    r"^[ \t]*+(?P<fence>```++|~~~++)[ \t]*+[\w+-]*+[ \t]*+$\n?(?P<block>.*?)(?:^[ \t]*+(?P=fence)|\Z)",
    flags=re.MULTILINE | re.DOTALL,
)
_INLINE = re.compile(
    r"(?<!`)```++[ \t]*+(?:[a-z]++[ \t]++)?(?P<block>[^`]*+)```++|`(?P<one>[^`\n]++)`", flags=re.IGNORECASE
)
_STARTS = re.compile(rf"[\s(]*+{_STATEMENT}", flags=re.IGNORECASE)
_SELECT = r"(?:SELECT|select)\b|Select\b(?=[^;]{0,300}?\b[Ff][Rr][Oo][Mm]\b)"
"""In prose: a sentence may begin with the word, too."""
_QUERY = rf"\(*+(?:{_SELECT}|(?i:{_WITH}))"
_IS_QUERY = re.compile(_QUERY)
_IN_PROSE = re.compile(rf"(?:^|[:>])[ \t*]*+(?P<sql>{_QUERY})", flags=re.MULTILINE)
_REASONING = re.compile(r"<(?P<closing>/?)(?P<tag>think|thinking|reasoning)>", flags=re.IGNORECASE)
_FENCE = "```"
_LABELS = ("sql", "query")

_TOKEN = re.compile(
    r"'(?:[^']++|'')*+'|\"(?:[^\"]++|\"\")*+\"|`[^`]*+`|--[^\n]*+|/\*(?:.*?\*/|.*+)|"
    r"(?P<end>;)|(?P<gap>\n[ \t]*+\n\s*+)|.",
    flags=re.DOTALL,
)
_CONTINUES = re.compile(
    r"(?:SELECT|FROM|WHERE|GROUP|ORDER|HAVING|LIMIT|OFFSET|UNION|EXCEPT|INTERSECT|JOIN|INNER|LEFT|RIGHT|FULL|CROSS|"
    r"NATURAL|ON|USING|AND|OR|WINDOW|VALUES|WITH|AS|CASE|WHEN|THEN|ELSE|END|FETCH|[(),'\"`+*/<>=-]|\w++\s*+(?:\(|,|\.|AS\b))",
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
        inline = [match["block"] or match["one"] or "" for match in _INLINE.finditer(_FENCED.sub("", text))]
        for found in (blocks, inline if not blocks else []):
            queries = [block.strip() for block in found if _STARTS.match(block)]
            if queries:
                return queries[-1]
    if _IS_QUERY.match(text):
        return text[: _end(text, 0, _next_fence(text, 0))].strip()
    starts = [match.start("sql") for match in _IN_PROSE.finditer(text)]
    return _last_whole(text, starts) if starts else None


def _without_reasoning(answer: str) -> str:
    """What is left without pairs of tags, from the last closing tag on, up to the first opening one."""
    tags = list(_REASONING.finditer(answer))
    closes: dict[str, int] = {}
    closed_at: dict[int, int] = {}
    for tag in reversed(tags):
        name = tag["tag"].lower()
        if tag["closing"]:
            closes[name] = tag.end()
        elif name in closes:
            closed_at[tag.start()] = closes[name]
    kept: list[str] = []
    at, is_cut_off = 0, False
    for tag in tags:
        if tag.start() < at:
            continue
        if tag["closing"]:  # the opening tag was part of the prompt
            kept, at, is_cut_off = [], tag.end(), False
            continue
        if not is_cut_off:
            kept.append(answer[at : tag.start()])
        at = closed_at.get(tag.start(), tag.end())
        is_cut_off = is_cut_off or tag.start() not in closed_at
    return "".join(kept if is_cut_off else [*kept, answer[at:]])


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


def _last_whole(text: str, starts: list[int]) -> str:
    """The last query of those that begin at `starts` that is not a part of the one before it."""
    begins, fence = starts[0], _next_fence(text, starts[0])
    query = text[begins : _end(text, begins, fence)].strip()
    for start in starts[1:]:
        if start >= begins + len(query):
            if fence < start:
                fence = _next_fence(text, start)
            begins, query = start, text[start : _end(text, start, fence)].strip()
    return query


def _next_fence(text: str, start: int) -> int:
    found = text.find(_FENCE, start)
    return len(text) if found < 0 else found


def _end(text: str, start: int, fence: int) -> int:
    """Where a query ends, prose behind it left out: its semicolon, a fence, or a paragraph that is no SQL."""
    for token in _TOKEN.finditer(text, start, fence):
        if token["end"]:
            return token.end()
        if token["gap"] and not _CONTINUES.match(text, token.end(), fence):
            return token.start()
    return fence

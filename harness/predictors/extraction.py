"""Extract the SQL from a model's answer: from tags, fences, JSON, reasoning and prose.

The answer is kept with the SQL extracted from it. An answer without a query has no SQL: none is ever made up.
"""

import html
import re
from enum import StrEnum

from harness.predictors.common import parsed

# None of these patterns backtracks: answers can be long.
_NAME = r"(?:\w++|\"[^\"\n]++\"|`[^`\n]++`|\[[^\[\]\n]++\])"
_WITH = rf"WITH\s++(?:RECURSIVE\s++)?{_NAME}\s*+(?:\([^()]*+\)\s*+)?AS\b"
_STATEMENT = rf"(?:SELECT\b|{_WITH})"
_FENCE_LINE = r"(?P<fence>```++|~~~++)[ \t]*+[\w+-]*+[ \t]*+$\n?"
_BLOCK = r"(?P<block>.*?)(?:^[ \t]*+(?P=fence)|\Z)"
_FENCED_QUERY = re.compile(
    rf"{_FENCE_LINE}(?=[\s(]*+(?i:{_STATEMENT})){_BLOCK}", flags=re.MULTILINE | re.DOTALL
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
_LABEL = r"(?i:(?:final[_ -]?)?(?:sql[_-]?query|answer|sql|query))"
_TAG = re.compile(rf"</?{_LABEL}>")
_CDATA = re.compile(r"\s*+<!\[CDATA\[")
_VALUE = rf'"(?P<key>{_LABEL})"\s*+:\s*+(?P<value>"(?:[^"\\]++|\\.)*+")'
_INNER = re.compile(rf"(?P<tag><{_LABEL}>)|{_VALUE}", flags=re.DOTALL)
_MARK = re.compile(
    rf"^[ \t]*+{_FENCE_LINE}{_BLOCK}|{_INNER.pattern}|(?:^|[:>])[ \t*]*+(?P<sql>{_QUERY})",
    flags=re.MULTILINE | re.DOTALL,
)
"""What may enclose a query, or its beginning in prose."""
_REASONING = re.compile(r"<(?P<closing>/?)(?P<tag>think|thinking|reasoning)>", flags=re.IGNORECASE)
_FENCE = "```"
_LABELS = ("sql", "query", "sql_query", "final_sql", "final_query", "final_answer", "answer")

_TOKEN = re.compile(
    r"'(?:[^']++|'')*+'|\"(?:[^\"]++|\"\")*+\"|`[^`]*+`|--[^\n]*+|/\*(?:.*?\*/|.*+)|"
    r"(?P<entity>&(?:lt|gt|amp|quot|apos|\#39);)|"
    rf"(?P<end>;)|(?P<gap>\n[ \t]*+\n\s*+)|(?P<close></{_LABEL}>|^[ \t]*+<{_LABEL}>|\*\*(?!\*))|.",
    flags=re.DOTALL | re.MULTILINE,
)
_CONTINUES = re.compile(
    r"(?:SELECT|FROM|WHERE|GROUP|ORDER|HAVING|LIMIT|OFFSET|UNION|EXCEPT|INTERSECT|JOIN|INNER|LEFT|RIGHT|FULL|CROSS|"
    r"NATURAL|ON|USING|AND|OR|WINDOW|VALUES|WITH|AS|CASE|WHEN|THEN|ELSE|END|FETCH|[(),'\"`+*/<>=-]|\w++\s*+(?:\(|,|\.|AS\b))",
    flags=re.IGNORECASE,
)


class Taking(StrEnum):
    """What is extracted from an answer."""

    NONE = "none"
    """Nothing: the whole answer is the SQL."""
    ANSWER = "answer"
    """The query in it (`take_sql`)."""


def take_sql(answer: str) -> str | None:
    """Extract the SQL query from a model's answer; None if it has none.

    - Reasoning between `<think>` tags is ignored; an answer that was cut off within it has no SQL.
    - In a JSON object the query is at the key `sql`, else `query`, else `answer` or the like.
    - Of several queries in tags (`<answer>`, `<sql>`, `<query>`, `<final_answer>`) the last one counts:
      models
      give their answer at the end.
    - Else the last of those in code blocks and at such keys of JSON within a text, else in backticks.
    - Else the last query that begins a line or follows a colon, up to its semicolon, a closing tag or the
      prose after it.

    A tag, key or semicolon within a text, name or comment of a query is a part of it. A query with `&lt;` and
    the like outside of these was escaped, and is unescaped.
    """
    sql = _taken(_without_reasoning(answer).strip())
    escaped = sql is not None and "&" in sql and any(token["entity"] for token in _TOKEN.finditer(sql))
    return html.unescape(sql) if sql is not None and escaped else sql


def _taken(text: str) -> str | None:
    marked = _labelled(text) or _marked(text, _MARK)
    if marked is not None:
        return marked
    if not _IS_QUERY.match(text) or _FENCE in text:
        inline = (match["block"] or match["one"] or "" for match in _INLINE.finditer(text))
        if queries := [code.strip() for code in inline if _STARTS.match(code)]:
            return queries[-1]
    if _IS_QUERY.match(text):
        return text[: _end(text, 0, _next_fence(text, 0))].strip()
    starts = [match.start("sql") for match in _IN_PROSE.finditer(text)]
    return _last_whole(text, starts) if starts else None


def _marked(text: str, marks: re.Pattern[str]) -> str | None:
    """Return the last query in tags, else the last one in a code block or at a key of JSON.

    Queries in prose are skipped, so that nothing in their literals counts as a mark.
    """
    tagged = block = None
    at = fence = 0
    while mark := marks.search(text, at):
        groups = mark.groupdict()
        at = mark.end()
        if groups.get("block") is not None:
            block = _of_block(groups["block"]) or block
        elif groups["tag"]:
            found, at = _of_tag(text, mark.end())
            tagged = found or tagged
        elif groups["value"]:
            block = _of_value(groups["value"]) or block
        else:
            at = mark.start("sql")
            fence = fence if fence > at else _next_fence(text, at)
            at = _end(text, at, fence)
    return tagged or block


def _of_block(block: str) -> str | None:
    return block.strip() if _STARTS.match(block) else _labelled(block) or _marked(block, _INNER)


def _of_value(value: str) -> str | None:
    try:
        text = parsed(value, strict=False)
    except ValueError:
        return None
    return text.strip() if _STARTS.match(text) else None


def _of_tag(text: str, start: int) -> tuple[str | None, int]:
    """Return the query after an opening tag, and where to read on."""
    if cdata := _CDATA.match(text, start):
        if not _STARTS.match(text, cdata.end()):
            return None, cdata.end()
        end = text.find("]]>", cdata.end())
        end = len(text) if end < 0 else end
        return text[cdata.end() : end].strip(), end
    while start < len(text) and text[start].isspace():
        start += 1
    if _IS_QUERY.match(text, start):
        end = _end(text, start, _next_fence(text, start))
        return text[start:end].strip(), end
    if fenced := _FENCED_QUERY.match(text, start):
        return fenced["block"].strip(), fenced.end()
    tag = _TAG.search(text, start)
    end = len(text) if tag is None else tag.start()
    return _taken(text[start:end].strip()), end


def _without_reasoning(answer: str) -> str:
    """Remove pairs of tags, all up to the last closing tag, and all from the first opening one."""
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
        document = parsed(text)
    except ValueError:
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
    """Return the last query beginning at one of `starts` that is not part of the one before it."""
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
    """Find where a query ends: at its semicolon, a fence, a tag, the end of bold, or a paragraph of prose."""
    for token in _TOKEN.finditer(text, start, fence):
        if token["end"]:
            return token.end()
        if token["close"]:
            return token.start()
        if token["gap"] and (_TAG.match(text, token.end()) or not _CONTINUES.match(text, token.end(), fence)):
            return token.start()
    return fence

"""Taking the SQL out of an answer in Markdown: an option of the reader, never done unasked, always recorded.

About a tenth of the published answers of some models are wrapped in fences or followed by one and prose, and
fail as they are, while the published scores were made after such a clean-up.
"""

import re

_LANGUAGES = r"(?:sql|sqlite3?|mysql|postgres(?:ql)?|pgsql)"
_OPENING = re.compile(
    rf"^[ \t]*+```+(?:[ \t]*{_LANGUAGES}\b;?|[^\s`]*+(?=\s*$))", flags=re.IGNORECASE | re.MULTILINE
)
_CLOSING = re.compile(r"^[ \t]*+```|(?<!`)```++[ \t]*+$", flags=re.MULTILINE)
_STATEMENT = re.compile(r"[\s(]*+(?:SELECT|WITH)\b", flags=re.IGNORECASE)


def unfenced(answer: str) -> str:
    """The SQL of an answer's first Markdown code block, or the answer as it is when there is none.

    The block reaches from the first fence (three backticks or more at the start of a line, with or without a
    language) to the next one, or to the end when the answer was cut off. Where a statement stands before the
    first fence, the prompt had opened the block: the fence closes it, and the SQL is what stands before it.
    """
    fence = _OPENING.search(answer)
    if fence is None:
        return answer
    before = answer[: fence.start()]
    if _STATEMENT.match(before):
        return before.strip()
    block = _CLOSING.split(answer[fence.end() :], maxsplit=1)[0].strip()
    return block or answer

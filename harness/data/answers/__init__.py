"""Take the SQL out of an answer: one policy, named and versioned, for whoever reads answers.

An answer without a query has no SQL: none is ever made up, and the whole text never replaces it.
"""

import html
import re
from dataclasses import dataclass
from enum import StrEnum

from dialects.enums import Dialect
from harness.data.answers.candidates import CandidateKind, Reader, best
from harness.data.answers.reply import visible
from harness.data.answers.statements import ParseBudget, begin, has_entity
from harness.engines import EngineName

NO_SQL = "the answer has no SQL in it"
"""Why an answer is missing from which a policy takes nothing."""
LONGEST = 10_000
"""Characters at the end of an answer that are read."""


class Extract(StrEnum):
    """What is taken out of an answer before it runs; a name never changes its meaning."""

    NONE = "none"
    """Nothing: the answer runs as it is, as the official scripts do."""
    FENCES = "fences"
    """The first Markdown code block, or the whole answer if there is none (`first_code_block`)."""
    ANSWER_1 = "answer-1"
    """The answer's query by the rules of the reference, version 1."""


@dataclass(frozen=True)
class Extracted:
    """What a policy takes out of an answer.

    `sql` is None if there is none. `rule` names the rule that found it, `candidates` counts the distinct
    queries among which it was chosen, `is_surrounded` tells whether the answer says anything besides.
    """

    sql: str | None
    rule: str = ""
    candidates: int = 0
    is_surrounded: bool = False


def extract(text: str, policy: Extract, dialect: EngineName = Dialect.SQLITE) -> Extracted:
    """Take the SQL out of an answer.

    Args:
        text: what a model returned.
        policy: the rules.
        dialect: the engine of the answer; where candidates compete, one that parses in it wins.
    """
    if policy is Extract.NONE:
        return Extracted(text, "whole", 1)
    if policy is Extract.FENCES:
        sql = first_code_block(text)
        return Extracted(sql, "whole" if sql == text else "fences", 1, sql != text)
    return _answer_1(text, dialect)


def _answer_1(text: str, dialect: EngineName) -> Extracted:
    reply = _tail(visible(_tail(text)))
    budget = ParseBudget(dialect)
    reader = Reader(budget)
    found = reader.read(reply)
    if reader.is_refused and all(one.kind is not CandidateKind.ANSWER for one in found):
        found = []
    if not found:
        return Extracted(None, is_surrounded=bool(text.strip()))
    chosen = best(found, reply, budget)
    sql = html.unescape(chosen.sql) if has_entity(chosen.sql, dialect) else chosen.sql
    distinct = {" ".join(one.sql.rstrip("; \n").split()) for one in found}
    return Extracted(sql.strip(), chosen.rule, len(distinct), _is_surrounded(text, chosen.sql))


def _tail(text: str) -> str:
    """Return the end of a text, where the answer is, if it is long."""
    if len(text) <= LONGEST:
        return text
    for closing in ("</think>", "</thinking>", "</reasoning>", "<|channel|>"):
        at = text.rfind(closing)
        if at >= 0:
            text = text[at:]
    if len(text) <= LONGEST:
        return text
    if text[:200].lstrip().lower().startswith(("<think", "<reason")):
        return "<think>"
    if begin(text[:2_000]) is not None:
        return text[:LONGEST]
    at = text.find("\n", len(text) - LONGEST)
    return text[at + 1 :] if at >= 0 else text[-LONGEST:]


_LABEL = r"[A-Z]\w{0,20}+:"
_SAID = re.compile(
    r"```[\w+-]*+|~~~[\w+-]*+|</?[\w|\uff5c▁]++[^<>\n]{0,40}+>|<[|\uff5c][^<>\n]{0,40}+[|\uff5c]>|"
    rf"\[/?\w++\]|\"\w++\"|{_LABEL}|(?P<said>\w(?!{_LABEL})\w)"
)
"""Markup, or the beginning of a word."""
_MOST_AROUND = 100_000
"""Characters around the SQL that are looked at."""


def _is_surrounded(text: str, sql: str) -> bool:
    """True if an answer has words besides its SQL and its markup."""
    at = text.find(sql)
    if at < 0:
        return False
    after = at + len(sql)
    rest = f"{text[: min(at, _MOST_AROUND)]} {text[after : after + _MOST_AROUND]}"[:_MOST_AROUND]
    return any(part["said"] for part in _SAID.finditer(rest))


# Policy `fences`.
#
# About a tenth of the published answers of some models are wrapped in fences or followed by one and prose,
# and fail as they are, while the published scores were computed after such a clean-up.

_LANGUAGES = r"(?:sql|sqlite3?|mysql|postgres(?:ql)?|pgsql)"
_OPENING = re.compile(
    rf"^[ \t]*+```+(?:[ \t]*{_LANGUAGES}\b;?|[^\s`]*+(?=\s*$))", flags=re.IGNORECASE | re.MULTILINE
)
_CLOSING_FENCE = re.compile(r"^[ \t]*+```|(?<!`)```++[ \t]*+$", flags=re.MULTILINE)
_STATEMENT = re.compile(r"[\s(]*+(?:SELECT|WITH)\b", flags=re.IGNORECASE)


def first_code_block(answer: str) -> str:
    """Return the SQL of an answer's first Markdown code block, or the answer as it is if there is none.

    The block reaches from the first fence (three backticks or more at the start of a line, with or without a
    language) to the next one, or to the end when the answer was cut off. If a statement precedes the first
    fence, the prompt had opened the block: the fence closes it, and the SQL is the text before it.
    """
    fence = _OPENING.search(answer)
    if fence is None:
        return answer
    before = answer[: fence.start()]
    if _STATEMENT.match(before):
        return before.strip()
    block = _CLOSING_FENCE.split(answer[fence.end() :], maxsplit=1)[0].strip()
    return block or answer

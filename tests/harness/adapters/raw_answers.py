"""Raw answers to the sample's questions, as models write them, with the SQL that each is made of."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.extraction import FORMS
from dialects.enums import Dialect
from harness.data.answers.statements import ParseBudget
from harness.data.predictions import read_predictions
from harness.data.sets.loader import load_set
from loaders.sample import PREDICTIONS

_WRAPPED: dict[str, Callable[[str], str]] = {
    **FORMS,
    "bare": lambda sql: sql,
    "tag": lambda sql: f"<sql>{sql}</sql>",
    "solution": lambda sql: f"<think>Which one?</think><solution>{sql}</solution>",
    "answer": lambda sql: f"<reasoning>SELECT 0?</reasoning>\n<answer>\n```sql\n{sql}\n```\n</answer>",
    "draft": lambda sql: f"```sql\nSELECT 0\n```\nWait, that is wrong. Corrected:\n```sql\n{sql}\n```",
    "template": lambda sql: f"<|im_start|>assistant\n{sql}<|im_end|>",
    "tildes": lambda sql: f"1. The query:\n\n~~~sql\n{sql}\n~~~",
    "quoted": lambda sql: "> ```sql\n" + "".join(f"> {line}\n" for line in sql.splitlines()) + "> ```",
    "comment": lambda sql: f"```sql\n-- the rows asked for\n{sql}\n```",
}
_WITHOUT: dict[str, Callable[[str], str]] = {
    "cut off": lambda sql: f"<think>Perhaps this:\n{sql}\nBut then",
    "refusal": lambda _sql: "I cannot answer that from these tables.",
    "empty": lambda _sql: "",
}
COUNT = 600
FEW = 4 * len((*_WRAPPED, *_WITHOUT))
"""As many as each framework is given: every form four times. The library, which takes SQL out, gets all."""


@dataclass(frozen=True)
class RawAnswer:
    """A text in answer to a question, and the SQL that it is made of; None if it holds no answer."""

    question: str
    text: str
    sql: str | None


def raw_answers(seed: int = 1, count: int = COUNT) -> Sequence[RawAnswer]:
    """Return raw answers, made of the sample's golds and predictions for SQLite; the same for a seed."""
    benchmark = load_set("sample")
    files = read_predictions([PREDICTIONS], benchmark, dialects=[Dialect.SQLITE], allow_missing=True)
    known = {(each.key, each.gold[Dialect.SQLITE]) for each in benchmark.questions}
    known |= {(key, sql) for file in files for key, sql in file.predictions.items() if sql is not None}
    # Where a query is no statement, a draft that is one comes before it, by the rules.
    plain = sorted((key, sql) for key, sql in known if ParseBudget(Dialect.SQLITE).is_statement(sql))
    drawn = random.Random(seed)  # noqa: S311 - a seeded order
    names = [*_WRAPPED, *_WITHOUT]
    found = []
    for place in range(count):
        name, (key, sql) = names[place % len(names)], drawn.choice(plain)
        if name in _WRAPPED:
            text = f"-- the rows asked for\n{sql}" if name == "comment" else sql
            found.append(RawAnswer(key, _WRAPPED[name](sql), text.strip()))
        else:
            found.append(RawAnswer(key, _WITHOUT[name](sql), None))
    return found


def rounds(answers: Iterable[RawAnswer]) -> Sequence[dict[str, RawAnswer]]:
    """Return answers as predictors give them: in each round one at most to a question, by its key."""
    found: list[dict[str, RawAnswer]] = []
    for answer in answers:
        open_round = next((one for one in found if answer.question not in one), None)
        if open_round is None:
            found.append(open_round := {})
        open_round[answer.question] = answer
    return found

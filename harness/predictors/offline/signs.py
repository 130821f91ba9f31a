"""Words that compare."""

from sqlglot import exp

from harness.predictors.offline.lexicon import BEHIND, COMPARISONS
from harness.predictors.offline.reading import Reading

TREES: dict[str, type[exp.Binary]] = {
    ">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE, "=": exp.EQ,
}  # fmt: skip


def sign_of(reading: Reading, start: int, end: int) -> str | None:
    """How what stands there is compared, by the words before or behind it."""
    for words, sign in COMPARISONS:
        if words[0] in BEHIND:
            if tuple(reading.word(end + offset) for offset in range(len(words))) == words:
                return sign
        elif tuple(reading.word(start - len(words) + offset) for offset in range(len(words))) == words:
            return sign
    return None

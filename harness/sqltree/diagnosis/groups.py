"""The group of a failed answer in the BIRD paper's error analysis (docs/reference/error-classes.md)."""

import re
from collections.abc import Callable, Iterator

from harness.engines.errors import ErrorClass
from harness.sqltree.constructs import FUNCTIONS
from harness.sqltree.diagnosis import ErrorGroup
from harness.sqltree.diagnosis.differences import Equated, Reading, reads_otherwise
from harness.sqltree.question_types import FORMULA, normal

_OF_NAMES = (ErrorClass.UNKNOWN_TABLE, ErrorClass.UNKNOWN_COLUMN, ErrorClass.TYPE_ERROR)
_OF_TWO = {"ambiguous", "unique", "once"}
"""Words of errors about a name that means two things."""
_FUNCTIONS = frozenset().union(*FUNCTIONS.values())
_CALLED = re.compile(r"\b(\w+)\(")
_WORD = re.compile(r"\w+")


def error_group(  # noqa: PLR0913 - everything that is known of an answer
    error_class: ErrorClass,
    error: str | None,
    *,
    question: str,
    evidence: str,
    prediction: Reading | None,
    gold: Reading | None,
    holds: Callable[[Equated], bool | None],
) -> ErrorGroup:
    """Return the group of an answer that does not match.

    Args:
        error_class: its class.
        error: the engine's message, if there was an error.
        question: the text of the question.
        evidence: the knowledge that comes with it.
        prediction: the reading of the answer; None if it cannot be read.
        gold: that of its gold.
        holds: returns whether a row of the database has such a value; None if that is not known.
    """
    said = {word.lower() for word in _WORD.findall(error or "")}
    if error_class is ErrorClass.SYNTAX:
        # A function of another dialect, such as YEAR, is wrong syntax, also if evidence happens to call it.
        copied = {name.upper() for name in _CALLED.findall(evidence) if name.lower() in said}
        is_copied = not copied <= _FUNCTIONS
        return ErrorGroup.KNOWLEDGE_EVIDENCE if is_copied else ErrorGroup.SYNTAX
    if error_class in _OF_NAMES:
        return ErrorGroup.DATABASE_CONTENT if said.isdisjoint(_OF_TWO) else ErrorGroup.SYNTAX
    if prediction is None or gold is None:
        return ErrorGroup.UNASSIGNED
    if any(holds(one) is False for one in _wrong_values(prediction, gold)):
        return ErrorGroup.DATABASE_CONTENT
    told, asked = (f" {normal(text)} " for text in (evidence, question))
    needed = (f" {normal(text)} " for text in _explained(error_class, prediction, gold))
    is_formula = error_class is ErrorClass.WRONG_AGGREGATION and FORMULA.search(evidence)
    if is_formula or any(text in told and text not in asked for text in needed if text.strip()):
        return ErrorGroup.KNOWLEDGE_EVIDENCE
    return ErrorGroup.SCHEMA_LINKING if reads_otherwise(prediction, gold) else ErrorGroup.UNASSIGNED


def _wrong_values(prediction: Reading, gold: Reading) -> Iterator[Equated]:
    """Yield the literals with their columns that gold has neither so nor with another column."""
    others: dict[str, set[str]] = {}
    for condition in gold.conditions:
        for text in condition.values:
            others.setdefault(text.casefold(), set()).update(condition.subject)
    for one in prediction.equated - gold.equated:
        columns = others.get(one.text.strip("%").casefold())
        if columns is None or one.column in columns:
            yield one


def _explained(error_class: ErrorClass, prediction: Reading, gold: Reading) -> set[str]:
    """Return what evidence may explain of a difference: gold's missing literals, and what it sorts by."""
    of_gold, of_prediction = (
        {text for condition in reading.conditions for text in condition.values}
        for reading in (gold, prediction)
    )
    missing = of_gold - of_prediction
    if error_class is ErrorClass.WRONG_ORDER:
        keys = {name for cut in gold.cuts for key in cut.keys for name in key.of}
        missing |= {name.rpartition(".")[2] for name in keys}
    return missing

"""External knowledge as definitions: what a phrase of the question means in terms of the schema.

BIRD writes it as statements such as `adults refers to age >= 18; rate = DIVIDE(SUM(a), COUNT(b))`
(https://arxiv.org/abs/2305.03111, section 3.2).
"""

import re
from dataclasses import dataclass, field

from sqlglot import exp

from harness.predictors.offline.bodies import read, trimmed
from harness.predictors.offline.catalog import Catalog
from harness.predictors.offline.lexicon import FALLING, RISING, VACANT
from harness.predictors.offline.masking import Masked
from harness.predictors.offline.operations import Tree, aggregates, is_predicate
from harness.predictors.offline.tokens import LONGEST, stem, tokens

_SHORTEST = 3
_SPLIT = re.compile(r"\s*(?:\||\n|(?<=[\w)_])\.\s+(?=[A-Z])|;)\s*")
_REFERS = re.compile(r"^(?P<phrase>.{1,160}?)\s*\brefers?\s+to\b\s*(?P<body>.+)$", re.IGNORECASE | re.DOTALL)
_FORMULA = re.compile(r"[A-Z]{3,}\s*\(.*\)")
_VERB = re.compile(
    r"^(?P<phrase>.{1,160}?)\s*(?:\b(?:is|are|can be)\s+(?:calculated|computed|defined)\s+(?:as|by)\b"
    r"|\bmeans?\b(?:\s+that\b)?|\bstands?\s+for\b|\brepresents?\b|\bindicates?\b|(?<![<>!=])=(?!=)|\bis\b|\bare\b)\s*"
    r"(?P<body>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_WHERE = re.compile(r"^((?:[^()]|\((?:[^()]|\([^()]*\))*\))*?)\s+where\s+(.+)$", re.IGNORECASE | re.DOTALL)
_LIST = re.compile(r"c\d+_(?:\s*(?:,|\band\b|&|\+)+\s*c\d+_)*", re.IGNORECASE)
_EXTREME = re.compile(
    rf"\b({'|'.join((*FALLING, *RISING))})\b"
    r"(?:\s+(?:value|values|number|amount))?(?:\s+of|\s+in)?(?:\s+the)?\s+(c\d+_)",
    re.IGNORECASE,
)
_INSIDE = re.compile(r"(s\d+_)\s+(?:stands\s+|appears\s+|is\s+)?in\s+(?:the\s+)?(c\d+_)$", re.IGNORECASE)
_HOLDS = re.compile(r"(c\d+_)\s+(?:contains?|includes?|has|holds?)\s+(s\d+_)$", re.IGNORECASE)
_SIGN = re.compile(r"\bsign\s+(\S+)\s+in\s+(c\d+_)$", re.IGNORECASE)
_BEGINS = re.compile(r"(c\d+_)\s+(starts?|begins?|ends?)\s+with\s+(s\d+_)$", re.IGNORECASE)
_SPELLED = re.compile(r"\bspell|\bupper and lower case\b|\bcase\b", re.IGNORECASE)


@dataclass(frozen=True)
class Definition:
    """What a phrase means; at least one of the others is there.

    `stems` are those words of the phrase that say something; `value` is a formula, `columns` are plain names,
    `extreme` is what is greatest (True) or least (False).
    """

    phrase: str
    stems: tuple[str, ...]
    condition: Tree | None = None
    value: Tree | None = None
    columns: tuple[exp.Column, ...] = ()
    extreme: tuple[Tree, bool] | None = None


@dataclass
class Knowledge:
    """All of the external knowledge. `folded` are columns whose values are spelled in several ways."""

    definitions: list[Definition] = field(default_factory=list)
    folded: set[str] = field(default_factory=set)


def knowledge(evidence: str, catalog: Catalog) -> Knowledge:
    """What external knowledge says; what can't be read is left out."""
    found = Knowledge()
    masked = Masked(evidence[:LONGEST], catalog)
    pieces: list[tuple[str, str]] = []
    for statement in _SPLIT.split(masked.text):
        halves = _REFERS.match(statement)
        bare = halves is None
        halves = halves or _VERB.match(statement)
        bare = bare and (halves is None or halves["phrase"].startswith("c"))
        plain = read(masked, statement, {}) if bare else None
        if (plain is not None and is_predicate(plain) and not _defines(plain)) or _FORMULA.fullmatch(
            statement
        ):
            pieces.append(("", statement))
        elif halves is not None:
            pieces.append((_unmasked(halves["phrase"], masked), halves["body"]))
        if _SPELLED.search(statement):
            found.folded.update(
                masked.columns[int(place)].name for place in re.findall(r"c(\d+)_", statement)
            )
    bodies = {phrase.lower(): trimmed(body) for phrase, body in pieces if len(phrase) >= _SHORTEST}
    for phrase, body in pieces:
        others = {other: text for other, text in bodies.items() if other != phrase.lower()}
        definition = _definition(phrase, body, masked, others) or _turned(phrase, body, masked)
        if definition is not None:
            found.definitions.append(definition)
    return found


def _defines(tree: Tree) -> bool:
    """Whether an equation says how a column's namesake is computed, and doesn't test it."""
    if isinstance(tree, exp.EQ) and aggregates(tree.this) and aggregates(tree.expression):
        return True
    return (
        isinstance(tree, exp.EQ)
        and isinstance(tree.this, exp.Column)
        and not isinstance(tree.expression, exp.Column | exp.Max | exp.Min)
        and tree.expression.find(exp.Column) is not None
    )


def _turned(phrase: str, body: str, masked: Masked) -> Definition | None:
    """A statement the other way round: `age >= 18 means adults`."""
    again = Masked(phrase, masked.catalog)
    tree = read(again, again.text, {})
    if tree is None or not is_predicate(tree):
        return None
    words = _unmasked(body, masked)
    return Definition(words, stems_of(words), tree)


def _unmasked(phrase: str, masked: Masked) -> str:
    def written(found: re.Match[str]) -> str:
        place = int(found[2])
        if found[1] == "s":
            return masked.strings[place] if place < len(masked.strings) else ""
        return masked.columns[place].name if place < len(masked.columns) else ""

    return re.sub(r"\b([cs])(\d+)_", written, phrase).strip(" `\"'")


def stems_of(phrase: str) -> tuple[str, ...]:
    """The stems of those words of a phrase that say something."""
    stems = tuple(
        token.stem or stem(token.text) for token in tokens(phrase) if any(map(str.isalnum, token.text))
    )
    return tuple(one for one in stems if one not in VACANT) or stems


def _definition(  # noqa: PLR0911 - one case for each kind of body
    phrase: str, body: str, masked: Masked, others: dict[str, str]
) -> Definition | None:
    stems = stems_of(phrase)
    whole = bool({"full", "whole"} & set(phrase.lower().split()))
    condition: Tree | None = None
    if halves := _WHERE.match(body):
        body, condition = halves[1], read(masked, halves[2], others)
        if condition is not None and not is_predicate(condition):
            condition = None
    text = body.strip(" .")
    if _LIST.fullmatch(text):
        columns = tuple(masked.columns[int(place)] for place in re.findall(r"c(\d+)_", text))
        return Definition(phrase, stems, condition, columns=columns)
    if (special := _special(text, masked)) is not None:
        return Definition(phrase, stems, special)
    tree = read(masked, text, others, whole=whole)
    if tree is not None and is_predicate(tree):
        extreme = _equals_extreme(tree)
        if extreme is not None:
            return Definition(phrase, stems, condition, extreme=extreme)
        return Definition(phrase, stems, tree if condition is None else exp.and_(tree, condition))
    if tree is not None and isinstance(tree, exp.Max | exp.Min):
        return Definition(phrase, stems, condition, extreme=(tree.this, isinstance(tree, exp.Max)))
    if tree is not None and not isinstance(tree, exp.Literal):
        return Definition(phrase, stems, condition, value=tree)
    if found := _EXTREME.search(text):
        of = masked.columns[int(found[2][1:-1])]
        return Definition(phrase, stems, condition, extreme=(of, found[1].lower() in FALLING))
    return Definition(phrase, stems, condition) if condition is not None else None


def _equals_extreme(tree: Tree) -> tuple[Tree, bool] | None:
    if isinstance(tree, exp.EQ) and isinstance(tree.expression, exp.Max | exp.Min):
        return tree.expression.this, isinstance(tree.expression, exp.Max)
    return None


def _special(text: str, masked: Masked) -> Tree | None:
    """A condition that is put in words."""
    if found := _INSIDE.search(text):
        return _like(masked, found[2], masked.strings[int(found[1][1:-1])], "%{}%")
    if found := _HOLDS.search(text):
        return _like(masked, found[1], masked.strings[int(found[2][1:-1])], "%{}%")
    if found := _SIGN.search(text):
        return _like(masked, found[2], found[1], "%{}%")
    if found := _BEGINS.search(text):
        form = "%{}" if found[2].lower().startswith("end") else "{}%"
        return _like(masked, found[1], masked.strings[int(found[3][1:-1])], form)
    return None


def _like(masked: Masked, column: str, value: str, form: str) -> Tree:
    of = masked.columns[int(column[1:-1])].copy()
    return exp.Like(this=of, expression=exp.Literal.string(form.format(value)))

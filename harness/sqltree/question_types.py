"""Types of questions: the nine into which BIRD's paper divides questions.

Li et al., "Can LLM Already Serve as A Database Interface?", 2023 (https://arxiv.org/abs/2305.03111),
name the types and give an example of each, but no rule. The rules here are read off the gold's tree, the
question and the evidence. docs/how-to/reports.md states each rule, docs/measurements/question-types.md how
well it agrees with reading.
"""

import re
from collections.abc import Iterator

from sqlglot import exp

from dialects.enums import Dialect
from harness.sqltree.constructs import QuestionType
from harness.sqltree.parser import read_query

_EQUALS = (exp.EQ, exp.NEQ, exp.Like, exp.ILike, exp.Glob)
_COMPARES = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.DateDiff, exp.TimestampDiff)
_TRUTHS = (*_EQUALS, *_COMPARES, exp.In, exp.Is, exp.And, exp.Or, exp.Not)
_TEXT_POSITIONS = frozenset({"SUBSTR", "SUBSTRING", "INSTR", "LEFT", "RIGHT", "STR_POSITION", "STRPOS"})
"""Functions in whose arguments arithmetic counts characters."""

FORMULA = re.compile(
    r"\b(?:DIVIDE|SUBTRACT|MULTIPLY|ADD)\s*\(|[\w`\")\]]\s+[-/*+]\s+[\w`\"(\[]", re.IGNORECASE
)
"""A formula of evidence."""
_THRESHOLD = re.compile(
    r"(?:[<>]=?|\bbetween\b|\bnot in\b)\s*'?(-?\d+(?:\.\d+)?)|(?<![\d.])(\d+(?:\.\d+)?)\s*[<>]=?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CLAUSE = re.compile(r"[;\n]")
_MEANS = re.compile(
    r" (?:refers? to|means|stands for|(?P<equals>=)|(?:can be found|appears?) in) (?:column )?", re.IGNORECASE
)
"""What a clause explains by, between words with single blanks; the column comes first or last."""
_COLUMN = re.compile(r"[\w.`\"' ]+")
"""A name, and no condition or formula."""
_AND = re.compile(r",|\band\b|\bor\b")
_UNTELLING = frozenset({
    "a", "all", "an", "and", "are", "as", "at", "be", "by", "for", "from", "give", "had", "has", "have", "in",
    "is", "its", "list", "of", "on", "or", "that", "the", "their", "this", "to", "was", "were", "which",
    "who", "with",
})  # fmt: skip
"""Words that two phrases may share without meaning the same."""
_STEM = 4
"""How many letters two words must share to count as the same."""


def question_types(question: str, evidence: str, gold: str, dialect: Dialect) -> tuple[QuestionType, ...]:
    """Return the types of a question, in the order of `QuestionType`; a question may have several or none.

    Args:
        question: its text.
        evidence: the knowledge that comes with it, empty if there is none.
        gold: its gold SQL; if it cannot be parsed, only the evidence decides.
        dialect: the dialect of the gold.
    """
    tree = read_query(gold, dialect)
    found = set() if tree is None else {*_of_nodes(tree), *_of_answer(tree)}
    found |= set(_of_evidence(question, evidence, tree))
    return tuple(each for each in QuestionType if each in found)


# What the gold's tree says.


def _of_nodes(tree: exp.Query) -> Iterator[QuestionType]:
    # `_ranks` tells of a rank that is compared with a number.
    ranks = {window.parent.alias for window in tree.find_all(exp.Window) if window.parent is not None}
    for node in tree.walk():
        if _matches(node, ranks):
            yield QuestionType.MATCH
        if isinstance(node, _COMPARES) and not _is_of_ranks(node, ranks):
            yield QuestionType.COMPARISON
        if _ranks(node):
            yield QuestionType.RANKING
        if isinstance(node, _ARITHMETIC) and node.find(exp.Column, exp.Star) and not _counts_characters(node):
            yield QuestionType.NUMERIC_COMPUTATION
        if _name(node) in {"SUM", "AVG", "TOTAL"} and not _is_truth(_operand(node)):
            yield QuestionType.AGGREGATION


def _of_answer(tree: exp.Query) -> Iterator[QuestionType]:
    """Yield the types that the columns of the answer decide."""
    for select in _sides(tree):
        for result in select.expressions:
            for node in result.walk():
                name = _name(node)
                if name in {"MIN", "MAX"} and node.find_ancestor(exp.Select) is select:
                    yield QuestionType.AGGREGATION
                counts = name == "COUNT" or (name == "SUM" and _is_truth(_operand(node)))
                if counts and not _is_part_of_ratio(node, select):
                    yield QuestionType.COUNTING


def _matches(node: exp.Expr, ranks: set[str]) -> bool:
    """True if a column is compared for equality, by a pattern, or with a list of constants."""
    if isinstance(node, exp.In):
        return bool(node.expressions) and all(map(_is_constant, node.expressions))
    if not isinstance(node, _EQUALS):
        return False
    sides = node.this, node.expression
    return (
        any(map(_is_constant, sides))
        and any(side.find(exp.Column) for side in sides)
        and not any(_name(part) == "COUNT" for side in sides for part in side.walk())
        and not _is_of_ranks(node, ranks)
    )


def _is_of_ranks(node: exp.Expr, ranks: set[str]) -> bool:
    """True for a comparison that has no other columns."""
    names = {column.name for column in node.find_all(exp.Column)}
    return bool(names) and names <= ranks


def _ranks(node: exp.Expr) -> bool:
    """True where an order decides which rows are the answer's: of a cut, a window, or a MIN or MAX."""
    if isinstance(node, exp.Order):
        around = node.parent
        if isinstance(around, exp.Window):
            return True
        distinct = around.args.get("distinct") if around is not None else None
        first = distinct is not None and distinct.args.get("on") is not None
        return first or (around is not None and around.args.get("limit") is not None)
    if not isinstance(node, exp.Select):
        return False
    results = [result.unalias() for result in node.expressions]
    if not any(_name(result) in {"MIN", "MAX"} for result in results):
        return False
    # SQLite's bare columns are those of the row with the extreme.
    group = node.args.get("group")
    grouped = {term.sql() for term in group.expressions} if group else set()
    bare = any(isinstance(result, exp.Column) and result.sql() not in grouped for result in results)
    return bare or (isinstance(node.parent, exp.Subquery) and isinstance(node.parent.parent, exp.EQ | exp.In))


def _sides(tree: exp.Expr) -> Iterator[exp.Select]:
    """Yield the SELECTs whose results are the answer's: one, or those of a set operation."""
    if isinstance(tree, exp.SetOperation):
        yield from _sides(tree.this)
        yield from _sides(tree.expression)
    elif isinstance(tree, exp.Subquery):
        yield from _sides(tree.this)
    elif isinstance(tree, exp.Select):
        yield tree


def _name(node: exp.Expr) -> str:
    """Return the function that a node calls, in upper case; empty for others and scalar MIN and MAX."""
    if isinstance(node, exp.Anonymous):
        name, several = node.name.upper(), len(node.expressions) > 1
    elif isinstance(node, exp.Func):
        name, several = node.sql_name().upper(), bool(node.expressions)
    else:
        return ""
    return "" if name in {"MIN", "MAX"} and several else name


def _operand(call: exp.Expr) -> exp.Expr | None:
    found = call.expressions[:1] if isinstance(call, exp.Anonymous) else [call.this]
    return found[0] if found else None


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren | exp.Neg | exp.Cast | exp.Collate):
        node = node.this
    return node


def _is_constant(node: exp.Expr) -> bool:
    return isinstance(_bare(node), exp.Literal | exp.Boolean)


def _is_truth(node: exp.Expr | None) -> bool:
    """True if an operand is 1 or 0 a row, so that its sum is a count."""
    if node is None:
        return False
    node = _bare(node)
    if isinstance(node, _TRUTHS):
        return True
    if isinstance(node, exp.Case):
        values = [*(branch.args.get("true") for branch in node.args["ifs"]), node.args.get("default")]
    elif isinstance(node, exp.If):
        values = [node.args.get("true"), node.args.get("false")]
    elif _name(node) in {"IIF", "IF"}:
        values = node.expressions[1:]
    else:
        return False
    return all(value is None or _bare(value).sql() in {"0", "1", "0.0", "1.0", "NULL"} for value in values)


def _counts_characters(node: exp.Expr) -> bool:
    """True for arithmetic that says which part of a text is meant."""
    around = node.parent
    while around is not None and not isinstance(around, exp.Select):
        if _name(around) in _TEXT_POSITIONS:
            return True
        around = around.parent
    return False


def _is_part_of_ratio(node: exp.Expr, select: exp.Select) -> bool:
    """True within a quotient or product: a share of rows is not a count of rows."""
    around = node.parent
    while around is not None and around is not select:
        if isinstance(around, exp.Div | exp.Mul):
            return True
        around = around.parent
    return False


# What the evidence says.


def _of_evidence(question: str, evidence: str, tree: exp.Query | None) -> Iterator[QuestionType]:
    numbers = set(_NUMBER.findall(question))
    thresholds = {one or other for one, other in _THRESHOLD.findall(evidence)}
    if thresholds - numbers or FORMULA.search(evidence):
        yield QuestionType.DOMAIN_KNOWLEDGE
    if tree is None:
        return
    columns = {column.name.lower() for column in tree.find_all(exp.Column)}
    if any(
        _is_synonym(phrase, column, question, columns)
        for clause in _CLAUSE.split(evidence)
        for phrase, column in _readings(clause)
    ):
        yield QuestionType.SYNONYM
    told = f" {normal(evidence)} "
    if any(f" {value} " in told for value in map(normal, _values(tree)) if value):
        yield QuestionType.VALUE_ILLUSTRATION


def _readings(clause: str) -> Iterator[tuple[str, str]]:
    """Yield a clause that explains as phrase and column; after an equals sign the column is last."""
    clause = " ".join(clause.split())
    if (verb := _MEANS.search(clause)) is not None:
        before, after = clause[: verb.start()], clause[verb.end() :]
        yield before, after
        if verb["equals"] is None:
            yield after, before


def _values(tree: exp.Query) -> Iterator[str]:
    """Yield the constants that stored columns are compared with for equality or by a pattern."""
    for node in tree.find_all(exp.In, *_EQUALS):
        sides = [node.this, *(node.expressions if isinstance(node, exp.In) else [node.expression])]
        if any(isinstance(_bare(side), exp.Column) for side in sides):
            yield from (side.this for side in map(_bare, sides) if isinstance(side, exp.Literal))


def _is_synonym(phrase: str, meaning: str, question: str, columns: set[str]) -> bool:
    """True if words of the question mean columns of the gold whose names share no word with them."""
    parts = _AND.split(meaning.strip(" ."))
    if not all(map(_COLUMN.fullmatch, parts)):
        return False
    names = [part.strip("`\"' ").lower() for part in parts]
    said = _stems(phrase)
    return (
        bool(said & _stems(question))
        and any(name.rpartition(".")[2] in columns for name in names)
        and not any(stem in name for stem in said for name in names)
    )


def _stems(text: str) -> set[str]:
    """Return the beginnings of a text's words."""
    return {word[:_STEM] for word in re.findall(r"[a-z]+", text.lower()) if word not in _UNTELLING}


def normal(text: str) -> str:
    """Return a text's letters, digits and signs, with single blanks between."""
    return " ".join(re.findall(r"[a-z0-9]+|[+-]", text.lower()))

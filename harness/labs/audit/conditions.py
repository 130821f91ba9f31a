"""The probe of conditions that decide nothing, and of aggregates that do not do what they look like."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlglot import exp

from dialects.clauses import where_of
from harness.labs.audit.gold import AuditedGold, Evidence, Finding, FindingBasis, Severity
from harness.metrics.comparison import compare
from harness.sqltree.parser import aggregates, arguments, called, is_constant, is_distinct


def constant(gold: AuditedGold) -> Iterator[Finding]:
    """Find a condition that is always or never true, and an aggregate that does not do what it looks like."""
    for select in gold.selects:
        yield from _counts_else(gold, select)
        yield from _adds_keys(gold, select)
        yield from _links_nothing(gold, select)
        yield from _contradicts(gold, select)
    yield from _alone(gold)
    for node in gold.tree.find_all(*_COMPARISONS):
        sides = [side.unnest() for side in (node.this, node.expression)]
        if all(map(is_constant, sides)) and sides[0] != sides[1] and any(_is_text(side) for side in sides):
            yield _constant(f"{gold.text(node)} compares two constants.")
    for node in gold.tree.find_all(exp.EQ, exp.NEQ):
        if any(isinstance(side.unnest(), exp.Null) for side in (node.this, node.expression)):
            yield _constant(f"{gold.text(node)} is never true: nothing equals NULL, and IS NULL was meant.")
        elif isinstance(node.this, exp.Column) and node.this == node.expression:
            yield _constant(f"{gold.text(node)} compares a column with itself.")
    for between in gold.tree.find_all(exp.Between):
        low, high = (_literal(between.args[end]) for end in ("low", "high"))
        if low is not None and high is not None and type(low) is type(high) and low > high:  # type: ignore[operator]  # of one type
            yield _constant(f"{gold.text(between)} is never true: its lower end is the greater.")


_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like)


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _constant(says: str, suggestion: str | None = None) -> Finding:
    return Finding(says, (), suggestion, basis=FindingBasis.TEXT)


def _counts_else(gold: AuditedGold, select: exp.Select) -> Iterator[Finding]:
    """Find COUNT of a value that is never NULL although it looks like a condition."""
    for call in aggregates(select):
        if called(call) != "COUNT" or len(arguments(call)) != 1:
            continue
        [argument] = arguments(call)
        [written, *others] = argument.expressions if isinstance(argument, exp.Distinct) else [argument]
        value = written.unnest()
        choice = _choice_of(value)
        shown = gold.text(call)
        if others:
            continue
        if choice is not None and choice.default is not None:
            if is_distinct(call) and not any(then.find(exp.Column) for then in choice.values):
                continue  # it counts categories
            text = gold.with_change(written, choice.without_else)
            rows = gold.asked(text)
            says = (
                f"{shown} counts one value more: ELSE {gold.text(choice.default)} is a value like any other."
                if is_distinct(call)
                else f"{shown} counts every row: COUNT passes over NULL alone, and ELSE is not NULL."
            )
            yield _constant(
                says, text if rows is not None and not compare(rows, gold.rows).same_bag else None
            )
        elif isinstance(value, exp.Predicate) and not isinstance(value, exp.Exists | exp.If):
            yield _constant(f"{shown} counts true and false alike: COUNT passes over NULL alone.")


class _CaseValue(NamedTuple):
    """CASE, IIF or IF: the values it chooses from, a constant of ELSE, and itself without ELSE."""

    values: Sequence[exp.Expr]
    default: exp.Expr | None
    without_else: exp.Expr


def _choice_of(node: exp.Expr) -> _CaseValue | None:
    default: exp.Expr | None
    if isinstance(node, exp.Case):
        values, default, without = (
            [one.args["true"] for one in node.args["ifs"]],
            node.args.get("default"),
            node.copy(),
        )
        without.set("default", None)
    elif isinstance(node, exp.If) or (called(node) in {"IIF", "IF"} and len(arguments(node)) > 1):
        parts = (
            [node.args.get(name) for name in ("this", "true", "false")]
            if isinstance(node, exp.If)
            else arguments(node)
        )
        condition, value, default = [*parts, None][:3]
        if condition is None or value is None:
            return None
        values, without = [value], exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])
    else:
        return None
    known = default is not None and (
        is_constant(default.unnest()) or isinstance(default.unnest(), exp.Boolean)
    )
    return _CaseValue(values, default if known else None, without)


def _adds_keys(gold: AuditedGold, select: exp.Select) -> Iterator[Finding]:
    """Find a sum of the values of a key, which only distinguishes rows."""
    for call in aggregates(select):
        if called(call) not in {"SUM", "TOTAL", "AVG"} or is_distinct(call) or not arguments(call):
            continue
        value = arguments(call)[0]
        choice = _choice_of(value.unnest())
        [column, *others] = (
            [one.unnest() for one in choice.values] if choice is not None else [value.unnest()]
        )
        stored = gold.stored(column)
        if others or stored is None or tuple(stored.table.primary_key) != (stored.column.name,):
            continue
        counted = exp.Count(this=(choice.without_else if choice is not None else column).copy())
        text = gold.with_change(call, counted)
        yield _constant(
            f"{gold.text(call)} adds the values of {stored.title}, the key of its table: COUNT counts rows.",
            text if called(call) != "AVG" and gold.asked(text) is not None else None,
        )


def _alone(gold: AuditedGold) -> Iterator[Finding]:
    """Find a constant, or a column of other values than 0 and 1, where a condition is wanted."""
    for node in gold.tree.walk():
        if isinstance(node, exp.And | exp.Or):
            if _around(node).__class__ is not type(node):
                yield from _alone_in(gold, node, list(node.flatten()))
        else:
            for one in _conditions(node):
                if not isinstance(one.unnest(), exp.And | exp.Or):
                    yield from _alone_in(gold, one, [one])
    for select in gold.selects:
        for source in gold.query.sources(select):
            if len(source.on) == 1 and not isinstance(source.on[0].unnest(), exp.Or):
                yield from _alone_in(gold, source.on[0], source.on)


def _around(node: exp.Expr) -> exp.Expr | None:
    around = node.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    return around


def _conditions(node: exp.Expr) -> list[exp.Expr]:
    """Return the conditions that a node decides by."""
    if isinstance(node, exp.Where | exp.Having | exp.Not):
        return [node.this]
    if isinstance(node, exp.Case) and node.this is None:
        return [one.this for one in node.args["ifs"]]
    is_choice = called(node) in {"IIF", "IF"} and not isinstance(node.parent, exp.Case)
    return (
        [node.this if isinstance(node, exp.If) else arguments(node)[0]]
        if is_choice and arguments(node)
        else []
    )


def _alone_in(gold: AuditedGold, whole: exp.Expr, operands: Sequence[exp.Expr]) -> Iterator[Finding]:
    """Find what is alone among the operands of AND or OR, or as a whole condition."""
    is_or = isinstance(whole, exp.Or)
    constants = []
    for operand in operands:
        node = operand.unnest()
        if (truth := _truth(node)) is not None:
            # What does not change AND, or OR, is written on purpose: WHERE 1 AND ...
            if node.sql().lower() not in ({"0", "false"} if is_or else {"1", "true"}):
                constants.append((operand, truth))
        elif (says := _as_condition(gold, node)) is not None:
            yield says
    if not constants:
        return
    operand, truth = next((one for one in constants if one[1] is is_or), constants[0])
    how = "always true" if truth else "never true"
    effect = (
        f"and so is {gold.text(whole)}" if truth is is_or and len(operands) > 1 else "and decides nothing"
    )
    if len(operands) == 1:
        effect = "whatever is stored"
    text = _compared_each(gold, operands, constants) if is_or else None
    yield _constant(f"{gold.text(operand)} stands alone as a condition: it is {how}, {effect}.", text)


def _truth(node: exp.Expr) -> bool | None:
    """Return whether a constant is true as a condition, as SQLite and MySQL read it; None if it is none."""
    if isinstance(node, exp.Null):
        return False
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    number = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(number, exp.Literal):
        return None
    found = _LEADING_NUMBER.match(number.name)
    return found is not None and float(found[0]) != 0


_LEADING_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def _as_condition(gold: AuditedGold, node: exp.Expr) -> Finding | None:
    """Describe a column as a condition; None if it holds truth values, or is none."""
    stored = gold.stored(node) if isinstance(node, exp.Column) else None
    values = [] if stored is None else gold.values(stored, 3)
    if stored is None or all(value in {0, 1} for value in values if not isinstance(value, bytearray)):
        return None
    is_text = any(isinstance(value, str) for value in values)
    means = "where its text begins with a number other than 0" if is_text else "for every number but 0"
    return Finding(
        f"{gold.text(node)} stands alone as a condition: it is true {means}.",
        (Evidence.of(f"values of {stored.title}", [(value,) for value in values]),),
        hint=not is_text,
        severity=Severity.HIGH if is_text else Severity.MEDIUM,
    )


def _compared_each(
    gold: AuditedGold, operands: Sequence[exp.Expr], constants: Sequence[tuple[exp.Expr, bool]]
) -> str | None:
    """Return the gold with each constant compared as the first operand is; None if that changes nothing."""
    first = next(
        (
            one.unnest()
            for one in operands
            if isinstance(one.unnest(), exp.EQ | exp.Like) and is_constant(one.unnest().expression)
        ),
        None,
    )
    if first is None:
        return None
    changes: dict[int, exp.Expr] = {}
    for constant, _ in constants:
        compared = first.copy()
        compared.set("expression", constant.unnest().copy())
        changes[id(constant)] = compared
    text = gold.with_changes(changes)
    rows = gold.asked(text)
    return None if rows is None or compare(rows, gold.rows).same_bag else text


def _links_nothing(gold: AuditedGold, select: exp.Select) -> Iterator[Finding]:
    """Find a join without a condition that links its source to an earlier one."""
    sources = gold.query.sources(select)
    general = [*where_of(select), *(one for source in sources for one in source.on)]
    names = [source.alias for source in sources]
    linked = {names[0]} if names else set()
    waiting = set(names) - linked
    pairs = [_aliases(gold, one) for one in general]
    if any(source.is_merged for source in sources):
        return
    changed = True
    while changed and waiting:
        changed = False
        for pair in pairs:
            if len(pair) > 1 and pair & linked and pair & waiting:
                linked |= pair
                waiting -= pair
                changed = True
    for source in sources:
        on = source.join.args.get("on") if source.join is not None else None
        if source.alias in waiting and source.table is not None and on is not None:
            lost = f"{source.node.name} with the others ({gold.text(on)})"
            yield _constant(f"Nothing links {lost}: every row meets every row.")


def _aliases(gold: AuditedGold, condition: exp.Expr) -> set[str]:
    """Return the tables of FROM that a condition names."""
    own = {column.table.lower() for column in condition.find_all(exp.Column) if column.table}
    bare = [gold.stored(column) for column in condition.find_all(exp.Column) if not column.table]
    return own | {stored.alias for stored in bare if stored is not None}


def _contradicts(gold: AuditedGold, select: exp.Select) -> Iterator[Finding]:
    """Find a column that must equal two different texts at once."""
    wanted: dict[str, exp.Expr] = {}
    for one in where_of(select):
        if (
            isinstance(one, exp.EQ)
            and isinstance(one.this, exp.Column)
            and isinstance(one.expression, exp.Literal)
        ):
            before = wanted.setdefault(gold.text(one.this).lower(), one.expression)
            if before != one.expression:
                yield _constant(f"{gold.text(one)} is never true where the same is {gold.text(before)}.")


def _literal(node: exp.Expr) -> float | str | None:
    if not isinstance(node, exp.Literal):
        return None
    try:
        return node.name if node.is_string else float(node.name)
    except ValueError:
        return None

"""Removals: a join that neither adds nor drops rows, DISTINCT where no row comes twice."""

from collections.abc import Iterator
from functools import partial

from sqlglot import exp

from dialects.clauses import drop_first, drop_joins, where_of
from harness.labs.study.rewriting.statement import (
    Attempt,
    RewrittenQuery,
    about,
    has_star,
    set_where,
)
from harness.sqltree.parser import aggregates, arguments, called, is_distinct, is_grouped, with_argument
from harness.sqltree.query import Fact, Named, QuerySource, Refused

Pair = tuple[exp.Column, exp.Column]
"""The columns of an equality: of the source that may go, and of another one."""


def join_elimination(statement: RewrittenQuery) -> Iterator[Attempt]:
    """See the rule join-elimination."""
    for select in statement.selects():
        for source in statement.sources(select) if statement.joined(select) else ():
            yield partial(about, source.alias, partial(_remove, statement, select, source))


def _remove(statement: RewrittenQuery, select: exp.Select, source: QuerySource) -> list[Fact]:
    if any(
        one.is_listed or one.is_merged or one.side not in {"", "LEFT"} for one in statement.sources(select)
    ):
        raise Refused("joins by commas, RIGHT, FULL, USING and NATURAL are not looked through")
    if source.table is None:
        raise Refused("it is no stored table")
    if has_star(select) or any(source in statement.starred(select, one) for one in _stars(select)):
        raise Refused("* shows its columns")
    if source.side == "LEFT":
        return _remove_left(statement, select, source)
    return _remove_inner(statement, select, source)


def _stars(select: exp.Select) -> list[exp.Expr]:
    return [node for node in select.find_all(exp.Column) if node.is_star]


def _uses(
    statement: RewrittenQuery, select: exp.Select, source: QuerySource
) -> list[tuple[exp.Column, Named]]:
    return [
        (node, named)
        for node, named in statement.uses(select)
        if named.select is select and named.source is source
    ]


def _within(node: exp.Expr, around: exp.Expr | None) -> bool:
    while node.parent is not None and node is not around:
        node = node.parent
    return node is around


def _pairs(
    statement: RewrittenQuery, source: QuerySource, conditions: list[exp.Expr]
) -> dict[str, tuple[Named, Named, Pair]]:
    """Return the equalities of columns of a source with those of others, by its own column."""
    found: dict[str, tuple[Named, Named, Pair]] = {}
    for one in conditions:
        if not isinstance(one, exp.EQ):
            continue
        nodes = [one.this.unnest(), one.expression.unnest()]
        for own, other in (nodes, nodes[::-1]):
            mine, theirs = statement.named(own), statement.named(other)
            if mine is None or theirs is None or mine.source is not source or theirs.source is source:
                continue
            try:
                statement.comparable(mine, theirs)
            except Refused:
                continue
            found.setdefault(mine.name, (mine, theirs, (own, other)))
    return found


def _remove_left(statement: RewrittenQuery, select: exp.Select, source: QuerySource) -> list[Fact]:
    assert source.join is not None and source.table is not None  # noqa: S101, PT018 - what calls this
    if any(not _within(node, source.join) for node, _ in _uses(statement, select, source)):
        raise Refused("its columns are used")
    if source.join.find(exp.Query):
        raise Refused("its ON has a subquery")
    pairs = _pairs(statement, source, source.on)
    for key in statement.keys(source.table):
        if all(name in pairs for name in key.columns):
            drop_joins(select, [source.join])
            return [key.fact]
    raise Refused("it is not joined by a key, so that it may repeat rows")


def _remove_inner(statement: RewrittenQuery, select: exp.Select, source: QuerySource) -> list[Fact]:
    table = source.table
    assert table is not None  # noqa: S101 - what calls this
    conditions = [one for other in statement.joined(select) if not other.side for one in other.on]
    pairs = _pairs(statement, source, conditions)
    reference, parent, facts = _reference(statement, source, pairs)
    by_name = {pairs[name][0].name: pairs[name] for name in parent}
    joining = {id(node) for _, _, pair in by_name.values() for node in pair}
    others = [(node, named) for node, named in _uses(statement, select, source) if id(node) not in joining]
    replaced: list[tuple[exp.Column, exp.Column]] = []
    for node, named in others:
        if named.name not in by_name:
            raise Refused("its columns are used")
        theirs, (_, other) = by_name[named.name][1], by_name[named.name][2]
        if named.stored is None or not statement.engine.is_exact(named.stored, statement.profile):
            raise Refused("its key is shown, and unlike values can be equal to it")
        if node.find_ancestor(exp.Select) is not select or theirs.select is not select:
            raise Refused("its key is used in a subquery")
        replaced.append((node, other))
    kept, nulls = [], []
    for name in parent:
        theirs, other = by_name[name][1], by_name[name][2][1]
        try:
            kept.append(statement.not_null(theirs))
        except Refused:
            nulls.append(exp.Not(this=exp.Is(this=other.copy(), expression=exp.Null())))
    equalities = [by_name[name][2][0].parent for name in parent]
    while any(isinstance(one, exp.Paren) for one in equalities):
        equalities = [one.parent if isinstance(one, exp.Paren) else one for one in equalities]
    dropped = [one for one in equalities if one is not None]
    _in_sight(statement, select, source, dropped, {id(node): other for node, other in replaced})
    for node, other in replaced:
        _replace_keeping_name(select, node, other)
    _drop(statement, select, source, dropped)
    set_where(select, [*where_of(select), *nulls])
    return [reference, *facts, *kept]


def _replace_keeping_name(select: exp.Select, node: exp.Column, other: exp.Column) -> None:
    """Require that a result keeps the name that a query around it may use."""
    if node.parent is select and node.arg_key == "expressions":
        node.replace(exp.alias_(other.copy(), node.this.copy()))
    else:
        node.replace(other.copy())


def _reference(
    statement: RewrittenQuery, source: QuerySource, pairs: dict[str, tuple[Named, Named, Pair]]
) -> tuple[Fact, tuple[str, ...], list[Fact]]:
    """Return the foreign key of another source to a whole source: each row finds one."""
    assert source.table is not None  # noqa: S101 - what calls this
    candidates = {id(theirs.source): theirs.source for _, theirs, _ in pairs.values()}
    keys = statement.keys(source.table)
    for child in candidates.values():
        for reference in child.table.foreign_keys if child.table is not None else ():
            if reference.parent != source.table.name or child.table is None:
                continue
            own = [statement.engine.column(child.table.column(name)) for name in reference.columns]
            there = tuple(
                statement.engine.column(source.table.column(name)) for name in reference.parent_columns
            )
            matched = all(
                name in pairs and pairs[name][1].source is child and pairs[name][1].name == mine
                for name, mine in zip(there, own, strict=True)
            )
            unique = [key.fact for key in keys if set(key.columns) <= set(there)]
            if matched and unique:
                words = f"{child.table.name} ({', '.join(reference.columns)}) refers to {source.table.name}"
                enforced = statement.engine.enforces
                said = Fact(words if enforced else f"{words}, and every loaded row does", declared=enforced)
                return said, there, unique[:1]
    raise Refused("no foreign key says that each row finds one row of it")


def _drop(
    statement: RewrittenQuery, select: exp.Select, source: QuerySource, equalities: list[exp.Expr]
) -> None:
    """Take a source and the equalities that join it out of FROM."""
    gone = {id(one) for one in equalities}
    joined = statement.joined(select)
    taken = joined[0] if source.join is None else source
    rest = [one for one in taken.on if id(one) not in gone]
    for other in joined:
        if other is not taken and other.join is not None and not other.side:
            left = [one for one in other.on if id(one) not in gone]
            other.join.set("on", exp.and_(*[one.copy() for one in left]) if left else exp.true())
    if source.join is None:
        drop_first(select)
    else:
        drop_joins(select, [source.join])
    set_where(select, [*where_of(select), *rest])


def _in_sight(
    statement: RewrittenQuery,
    select: exp.Select,
    source: QuerySource,
    equalities: list[exp.Expr],
    instead: dict[int, exp.Column],
) -> None:
    """Require that each ON names only earlier sources once a source is gone.

    Raises:
        Refused: one would not.
    """
    gone = {id(one) for one in equalities}
    if source.join is None and statement.joined(select)[0].side:
        raise Refused("an outer join stands behind it")
    seen: set[str] = set()
    for one in statement.sources(select):
        if one is source:
            continue
        # ON of the first source left, and of the one that goes, become conditions of WHERE.
        is_first = not seen
        seen.add(one.alias)
        if one.join is None or is_first:
            continue
        for condition in one.on:
            for node in condition.find_all(exp.Column) if id(condition) not in gone else ():
                named = statement.named(instead.get(id(node), node))
                if named is None or (named.select is select and named.source.alias not in seen):
                    raise Refused("another join names what comes behind it then")


# DISTINCT.


def distinct_elimination(statement: RewrittenQuery) -> Iterator[Attempt]:
    """See the rule distinct-elimination."""
    for select in statement.selects():
        if select.args.get("distinct") is not None:
            yield partial(_without_distinct, statement, select)
            continue
        for call in list(aggregates(select)):
            if is_distinct(call) and called(call) in {"COUNT", "SUM", "AVG", "TOTAL"}:
                yield partial(_each_once, statement, select, call)
                break


def _without_distinct(statement: RewrittenQuery, select: exp.Select) -> list[Fact]:
    facts = _once(statement, select)
    select.set("distinct", None)
    return facts


def _once(statement: RewrittenQuery, select: exp.Select) -> list[Fact]:
    if is_grouped(select):
        group = select.args.get("group")
        if group is None:
            return []
        places = {
            named.place for output in select.expressions if (named := statement.named(output.unalias()))
        }
        keys = [statement.named(key) for key in group.expressions]
        if all(key is not None and key.place in places for key in keys):
            return []
        raise Refused("not all that is grouped by is shown")
    shown: list[Named] = []
    for output in select.expressions:
        if output.is_star:
            shown += [
                Named(select, source, statement.engine.column(column), column)
                for source in statement.starred(select, output)
                if source.table is not None
                for column in source.table.columns
            ]
        elif (named := statement.named(output.unalias())) is not None:
            shown.append(named)
    return statement.determined(select, shown)


def _each_once(statement: RewrittenQuery, select: exp.Select, call: exp.Expr) -> list[Fact]:
    """Require a key of a table whose rows come once: it is never counted twice."""
    [value] = arguments(call)[:1]
    columns = value.expressions if isinstance(value, exp.Distinct) else []
    named = statement.named(columns[0]) if len(columns) == 1 else None
    if named is None:
        raise Refused("DISTINCT is of several values, or of what is no column")
    if select.args.get("group") is not None and named.select is not select:
        raise Refused("DISTINCT is of a column of a query around it")
    facts = statement.determined(select, [named])
    call.replace(with_argument(call, columns[0].copy()))
    return facts

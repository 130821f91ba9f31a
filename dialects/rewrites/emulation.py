"""Emulate clauses that a target lacks: FULL JOIN, and on MySQL some frames and the row of an extreme."""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet

from sqlglot import exp

from dialects.clauses import conjuncts, from_items
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.nodes import (
    AGGREGATES,
    Bigint,
    FirstOf,
    Framed,
    Listed,
    Picked,
    aliased,
    case,
    column_of,
    every,
    grouped,
    identifier,
    number,
    numbering,
    select,
    some,
    subquery,
)  # fmt: skip
from dialects.rewrites.functions import size
from dialects.rewrites.group_by import Groups, reached
from dialects.scope import new_name
from dialects.trees import find_all, has


def emulate(c: Compiler, tree: exp.Select, groups: Groups | None) -> None:
    """Change a compiled SELECT into one that the target takes."""
    _full_joins(c, tree, [*groups.nodes, *groups.first] if groups else [])
    if "window-frame" in c.rules and any(has(part, Framed) for part in _parts(tree, "expressions", "order")):
        if groups:
            raise Untranslatable(
                "GROUPS, EXCLUDE or a list in a frame", f"{c.target.title} has none of groups"
            )
        _frames(c, tree)
    if (
        groups
        and groups.first
        and (_repeats(tree, groups) if not c.lowers("ordered-picks") else has(tree, FirstOf))
    ):
        _first_rows(c, tree, groups)
    if c.lowers("subquery-keys") and groups:
        # An expression without columns is not a key of the rows: its minimum would belong to the subquery.
        keys = [node for node in groups.nodes if not isinstance(node.unnest(), exp.Column) and reached(node)]
        queries = [
            query for part in _parts(tree, "expressions", "having", "order") for query in _queries(part)
        ]
        for query in queries if keys else ():
            _least_keys(query, keys, set())
        if c.lowers("having-keys"):
            # A column of a derived table is of another row in a subquery of HAVING.
            columns = [node for node in groups.nodes if isinstance(node.unnest(), exp.Column)]
            for query in (query for part in _parts(tree, "having") for query in _queries(part)):
                _least_keys(query, columns, set())
    if c.lowers("having-keys") and tree.args.get("having") is not None:
        _refuse_outer_having(c, tree)
    if c.lowers("outer-aggregates") and groups and not groups.nodes:
        _outward(c, tree)


def _full_joins(c: Compiler, tree: exp.Select, more: list[exp.Expr]) -> None:
    """Emulate the FULL JOINs that the target lacks; `more` as in `_full_join`."""
    joins = tree.args.get("joins") or []
    for join in joins:
        if isinstance(join.this, exp.Paren) and any(_lacks(c, inner) for inner in _inside(join.this)):
            _derive(c, tree, join, more)
    done = 0
    for at in [at for at, join in enumerate(joins) if _lacks(c, join)]:
        c.applies("full-join")
        # From here on, the joins up to this one are in FROM.
        _full_join(c, tree, at - done, more)
        done = at + 1


def _inside(nest: exp.Paren) -> Iterator[exp.Join]:
    """Yield the joins in parentheses, at any depth."""
    for join in nest.this.args["joins"]:
        yield join
        if isinstance(join.this, exp.Paren):
            yield from _inside(join.this)


def _derive(c: Compiler, tree: exp.Select, nest: exp.Join, more: list[exp.Expr]) -> None:
    """Turn joins in parentheses into a derived table, in which a FULL JOIN can be emulated."""
    alias = c.name("full")
    start, aliases = nest.this.this, _names(nest.this)
    joins = start.args.pop("joins")
    seen: dict[str, exp.Column] = {}
    others = [join for join in tree.args["joins"] if join is not nest]
    outside = [*_parts(tree, "expressions", "where", "group", "having", "order"), *others]
    on = nest.args.get("on")
    _remap(c, [*outside, *more, *([on] if on is not None else [])], aliases, alias, seen)
    c.joined.add(alias)
    inside = exp.Select(expressions=_items(seen), from_=exp.From(this=start), joins=joins)
    _full_joins(c, inside, [])
    nest.set("this", subquery(inside, alias))


def _items(seen: dict[str, exp.Column]) -> list[exp.Expr]:
    """Return the result columns of a derived table, by name."""
    items: list[exp.Expr] = [aliased(column.copy(), name) for name, column in seen.items()]
    return items or [aliased(number(1), "_")]


def _lacks(c: Compiler, join: exp.Join) -> bool:
    """True for a FULL JOIN that the target cannot run: MySQL runs none, PostgreSQL equalities of columns."""
    if join.side != "FULL":
        return False
    if not c.lowers("full-join-conditions"):
        return c.lowers("full-join")
    right = _names(join.this)
    return not all(
        isinstance(part, exp.EQ)
        and isinstance(part.this, exp.Column)
        and isinstance(part.expression, exp.Column)
        and (part.this.table in right) != (part.expression.table in right)
        for part in conjuncts(join.args["on"])
    )


def _remap(
    c: Compiler, trees: list[exp.Expr], aliases: set[str], target: str, seen: dict[str, exp.Column]
) -> None:
    """Redirect every column of some sources to one derived table."""
    for tree in trees:
        # A row value has one column at several places.
        for column in {id(each): each for each in _own_columns(tree, aliases)}.values():
            name = next((known for known, each in seen.items() if each == column), None)
            if name is None:
                # A column of such a table has its name already.
                name = column.name if column.table in c.joined else f"{column.table}.{column.name}"
                name = new_name(name, set(seen))
                seen[name] = column.copy()
            column.set("this", identifier(name))
            column.set("table", identifier(target))


def _own_columns(node: exp.Expr, aliases: AbstractSet[str]) -> Iterator[exp.Column]:
    """Yield the columns of some sources; a derived table may have sources of the same names."""
    if isinstance(node, exp.Select):
        aliases = aliases - _source_names(node)
    if isinstance(node, exp.Column) and node.table in aliases:
        yield node
    for part in node.iter_expressions():
        yield from _own_columns(part, aliases)


def _parts(tree: exp.Select, *names: str) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for name in names:
        part = tree.args.get(name)
        found += part if isinstance(part, list) else [part] if part is not None else []
    return found


def _full_join(c: Compiler, tree: exp.Select, at: int, more: list[exp.Expr]) -> None:
    """Emulate FULL JOIN number `at`; expressions in `more`, outside the tree, are updated like it."""
    joins = tree.args["joins"]
    full, before, after = joins[at], joins[:at], joins[at + 1 :]
    left_aliases = {name for part in (tree.args["from_"], *before) for name in _names(part.this)}
    right_aliases = _names(full.this)
    if len({*left_aliases, *right_aliases}) != len(left_aliases) + len(right_aliases):
        raise Untranslatable("FULL JOIN", "its two sides share a name")
    alias = c.name("full")
    seen: dict[str, exp.Column] = {}
    # Every column gets its position before the tree is changed: ON stays unchanged inside.
    _remap(
        c,
        [*_parts(tree, "expressions", "where", "group", "having", "order"), *after, *more],
        left_aliases | right_aliases,
        alias,
        seen,
    )
    c.joined.add(alias)
    on = full.args["on"]
    items = _items(seen)
    left = exp.Select(
        expressions=items,
        from_=tree.args["from_"].copy(),
        joins=[*(join.copy() for join in before), exp.Join(this=full.this.copy(), side="LEFT", on=on.copy())],
    )
    partner = exp.Select(
        expressions=[number(1)], from_=tree.args["from_"].copy(), joins=[join.copy() for join in before],
        where=exp.Where(this=on.copy()),
    )  # fmt: skip
    shown = [
        item.copy() if not isinstance(item.this, exp.Column) or item.this.table in right_aliases
        else exp.Alias(this=exp.Null(), alias=item.args["alias"].copy())
        for item in items
    ]  # fmt: skip
    alone = select(shown, full.this.copy(), exp.Not(this=exp.Exists(this=partner)))
    union = exp.Union(this=left, expression=alone, distinct=False)
    tree.set("from_", exp.From(this=subquery(union, alias)))
    tree.set("joins", after)


def _names(item: exp.Expr) -> set[str]:
    inner = item.this if isinstance(item, exp.Paren) else item
    joins = inner.args.get("joins") or [] if inner is not item else []
    return {inner.alias or inner.name}.union(*(_names(join.this) for join in joins))


def _source_names(select: exp.Select) -> set[str]:
    return {name for item in from_items(select) for name in _names(item.node)}


def _separate(tree: exp.Select, *names: str) -> None:
    """Copy some clauses: a node that is used twice would be replaced only once."""
    for name in names:
        part = tree.args.get(name)
        tree.set(name, [item.copy() for item in part] if isinstance(part, list) else part and part.copy())


_MOST_TERMS = 2000
"""How many nodes the terms of picked rows may have together, where each pick has its own."""


def _repeats(tree: exp.Select, groups: Groups) -> bool:
    """Whether picks would repeat long terms, as of values of several types; not where they have blobs."""
    terms = sum(size(term) for term in groups.first)
    return not groups.picks_blobs and terms * sum(1 for _ in find_all(tree, FirstOf)) > _MOST_TERMS


def _first_rows(c: Compiler, tree: exp.Select, groups: Groups) -> None:
    """Find each group's row with the extreme value by ROW_NUMBER, and pick its columns by CASE."""
    alias, place = c.name("rows"), "_place"
    own = _source_names(tree)
    numbered = numbering("ROW_NUMBER", groups.nodes, groups.first)
    _separate(tree, "expressions", "group", "having", "order")
    outer = _parts(tree, "expressions", "group", "having", "order")
    for part in outer:
        for picked in find_all(part, FirstOf):
            picked.set("expressions", None)
    seen: dict[str, exp.Column] = {}
    _remap(c, outer, own, alias, seen)
    place = new_name(place, set(seen))
    first = exp.EQ(this=column_of(place, alias), expression=number(1))
    _replace(outer, lambda picked: exp.Max(this=case((first.copy(), picked))))
    items = [*(aliased(column, name) for name, column in seen.items()), aliased(numbered, place)]
    tree.set("from_", exp.From(this=subquery(_moved_inside(tree, items), alias)))


def _moved_inside(tree: exp.Select, items: list[exp.Alias]) -> exp.Select:
    """Take FROM and WHERE out of a SELECT, and return the query of `items` that has them."""
    clauses = ("from_", "joins", "where")
    inner = exp.Select(expressions=items, **{name: tree.args.get(name) for name in clauses})
    for name in clauses:
        tree.set(name, None)
    return inner


def _refuse_outer_having(c: Compiler, tree: exp.Select) -> None:
    """Reject outer columns in the HAVING of a subquery of HAVING: MySQL 9.7 does not find them."""
    own = _source_names(tree)
    for inner in find_all(tree.args["having"], exp.Select):
        having = inner.args.get("having")
        if having is not None and any(column.table in own for column in find_all(having, exp.Column)):
            raise Untranslatable("HAVING", f"{c.target.title} finds no outer column in one of its subqueries")


def _queries(node: exp.Expr) -> Iterator[exp.Query]:
    """Yield the outermost subqueries of an expression that read groups: one in an aggregate reads rows."""
    if isinstance(node, exp.Query):
        yield node
        return
    if isinstance(node, (*AGGREGATES, exp.Filter)) and not isinstance(node.parent, exp.Window):
        return
    for part in node.iter_expressions():
        yield from _queries(part)


def _least_keys(node: exp.Expr, keys: list[exp.Expr], hidden: set[str]) -> None:
    """Write a key used in a subquery as its own minimum: PostgreSQL accepts only columns as keys there."""
    if isinstance(node, exp.Select):
        hidden = hidden | _source_names(node)
    elif isinstance(node, AGGREGATES) and not reached(node) & hidden:
        return
    for key in keys:
        if type(node) is type(key) and node == key and not reached(key) & hidden:
            node.replace(exp.Min(this=node.copy()))
            return
    for part in list(node.iter_expressions()):
        _least_keys(part, keys, hidden)


def _outward(c: Compiler, tree: exp.Select) -> None:
    """Move aggregates used by a subquery into FROM: without rows, MySQL makes such a subquery NULL."""
    own = {
        name for part in (tree.args.get("from_"), *(tree.args.get("joins") or [])) if part
        for name in _names(part.this)
    }  # fmt: skip
    outer = _parts(tree, "expressions", "having", "order")
    found = [pair for part in outer for pair in _aggregates(part, own)]
    if not any(nested for _, nested in found):
        return
    if any(has(part, exp.Window) for part in outer):
        raise Untranslatable("an aggregate in a subquery", "with a window function")
    alias = c.name("all")
    items: list[exp.Alias] = []
    for at, (call, _) in enumerate(found):
        items.append(aliased(call.copy(), str(at)))
        call.replace(column_of(str(at), alias))
    tree.set("from_", exp.From(this=subquery(_moved_inside(tree, items), alias)))
    having = tree.args.get("having")
    tree.set("where", None if having is None else exp.Where(this=having.this))
    tree.set("having", None)


def _aggregates(node: exp.Expr, own: set[str], *, nested: bool = False) -> Iterator[tuple[exp.Expr, bool]]:
    """Yield the aggregates of a SELECT with these sources, and whether each is in a subquery."""
    if isinstance(node, AGGREGATES):
        names = reached(node)
        if not nested or (names and names <= own):
            yield node, nested
            return
    if isinstance(node, exp.Select):
        own = own - _source_names(node)
    for part in node.iter_expressions():
        yield from _aggregates(part, own, nested=nested or isinstance(node, exp.Query))


def _frames(c: Compiler, tree: exp.Select) -> None:
    """Number the rows of each window's partitions, and compute over those whose numbers are in the frame."""
    _separate(tree, "expressions", "order")
    outer = _parts(tree, "expressions", "order")
    framed = [node for part in outer for node in find_all(part, Framed)]
    alias, again = c.name("rows"), c.name("frame")
    numbers: list[exp.Alias] = []
    places: list[tuple[list[str], str, str]] = []
    for window in framed:
        keys, place, peers = [key.copy() for key in window.args["partition_by"]], c.name("n"), c.name("g")
        order = window.args.get("order")
        terms = [] if order is None else [term.copy() for term in order.expressions]
        named = [c.name("k") for _ in keys]
        numbers += [aliased(key.copy(), name) for key, name in zip(keys, named, strict=True)]
        numbers += [
            aliased(numbering("ROW_NUMBER", keys, [*terms, *window.args["ties"]]), place),
            aliased(numbering("DENSE_RANK", keys, terms), peers),
        ]
        places.append((named, place, peers))
        for part in ("partition_by", "order", "ties"):
            window.set(part, None)
    sources = [part.this for part in (tree.args.get("from_"), *(tree.args.get("joins") or [])) if part]
    seen: dict[str, exp.Column] = {}
    _remap(c, outer, {name for source in sources for name in _names(source)}, alias, seen)
    columns = [aliased(column, name) for name, column in seen.items()]
    inner = _moved_inside(tree, [*columns, *numbers])

    def derived(name: str) -> exp.Subquery:
        return subquery(inner.copy(), name)

    for window, (keys, place, peers) in zip(framed, places, strict=True):
        own, other = (_columns_of(side, [*keys, place, peers]) for side in (alias, again))
        conditions: list[exp.Expr] = [exp.NullSafeEQ(this=other[key], expression=own[key]) for key in keys]
        call = window.this.copy()
        if isinstance(call, Picked):
            conditions += _picked(call, window.args.get("spec"), own, other, place, peers)
            shown, _, *default = call.expressions
            for column in find_all(shown, exp.Column):
                if column.table == alias:
                    column.set("table", identifier(again))
            found = select([shown], derived(again), every(conditions))
            node: exp.Expr = exp.Subquery(this=found)
            if default:
                node = case((exp.Exists(this=found.copy()), node), default=default[0])
            window.replace(node)
            continue
        conditions += _within(window.args.get("spec"), (own[place], other[place]), (own[peers], other[peers]))
        for column in find_all(call, exp.Column):
            if column.table == alias:
                column.set("table", identifier(again))
        window.replace(exp.Subquery(this=_over_rows(call, other[place], derived(again), conditions)))
    tree.set("from_", exp.From(this=derived(alias)))


def _picked(
    call: exp.Expr, frame: exp.Expr | None, own: dict[str, exp.Expr], other: dict[str, exp.Expr],
    place: str, peers: str,
) -> list[exp.Expr]:  # fmt: skip
    """Return conditions for the row at a distance in the partition or in the frame that starts with it."""
    rows = grouped(call.expressions[1].copy())
    if call.name == "nth_value":
        number_of = exp.EQ(this=Bigint(this=other[place].copy()), expression=rows)
        return [*_within(frame, (own[place], other[place]), (own[peers], other[peers])), number_of]
    here, there = (Bigint(this=side[place].copy()) for side in (own, other))
    if call.name == "lag":
        here, there = there, here
    return [exp.EQ(this=there, expression=exp.Add(this=here, expression=rows))]


def _columns_of(source: str, names: list[str]) -> dict[str, exp.Expr]:
    return {name: column_of(name, source) for name in names}


_Pair = tuple[exp.Expr, exp.Expr]
"""The numbers of the row itself and of a row that may be in its frame. They are unsigned on MySQL."""


def _within(frame: exp.Expr | None, place: _Pair, peers: _Pair) -> list[exp.Expr]:
    """Return conditions for the rows of the partition that are in the frame."""
    args = {} if frame is None else frame.args
    own, other = place if args.get("kind") == "ROWS" else peers
    result: list[exp.Expr] = []
    for side, operator in (("start", exp.GTE), ("end", exp.LTE)):
        bound = args.get(side) or ("UNBOUNDED" if side == "start" else "CURRENT ROW")
        if bound == "UNBOUNDED":
            continue
        left, right = other, own
        if isinstance(bound, exp.Expr):
            back = args.get(f"{side}_side") == "PRECEDING"
            left = exp.Add(this=other, expression=bound.copy()) if back else other
            right = own if back else exp.Add(this=own, expression=bound.copy())
        result.append(operator(this=left.copy(), expression=right.copy()))
    apart = exp.NEQ(this=peers[1], expression=peers[0])
    match str(args.get("exclude") or "").upper():
        case "CURRENT ROW":
            result.append(exp.NEQ(this=place[1], expression=place[0]))
        case "GROUP":
            result.append(apart)
        case "TIES":
            result.append(some([apart, exp.EQ(this=place[1], expression=place[0])]))
    return [condition.copy() for condition in result]


def _over_rows(call: exp.Expr, place: exp.Expr, rows: exp.Subquery, conditions: list[exp.Expr]) -> exp.Select:
    """Return an aggregate, or one row's value, over the rows of a frame."""
    result = select([call], rows, every(conditions) if conditions else None)
    if isinstance(call, Listed):
        call.set("order", exp.Order(expressions=[exp.Ordered(this=place.copy())]))
    if not isinstance(call, exp.Anonymous):
        return result
    shown, *count = call.expressions
    result.set("expressions", [shown])
    last = call.name == "LAST_VALUE"
    result.set("order", exp.Order(expressions=[exp.Ordered(this=place.copy(), desc=last)]))
    result.set("limit", exp.Limit(expression=number(1)))
    if count:
        result.set("offset", exp.Offset(expression=number(int(count[0].name) - 1)))
    return result


def _replace(trees: list[exp.Expr], pick: Callable[[exp.Expr], exp.Expr]) -> None:
    for tree in trees:
        for node in list(find_all(tree, FirstOf)):
            node.replace(pick(node.this.copy()))

"""What a target has no clause for: FULL JOIN, and on MySQL the row that has a group's extreme value."""

from collections.abc import Callable

from sqlglot import exp

from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.nodes import FirstOf, case, number
from dialects.rewrites.determined import conjuncts
from dialects.rewrites.grouping import Groups


def emulate(c: Compiler, tree: exp.Select, groups: Groups | None) -> None:
    """Change a compiled SELECT into one that the target takes."""
    joins = tree.args.get("joins") or []
    full = [at for at, join in enumerate(joins) if join.side == "FULL" and not takes_full_join(c, join)]
    if len(full) > 1:
        raise Untranslatable("FULL JOIN", "there are several that the target does not take")
    if full:
        c.applies("full-join")
        _full_join(c, tree, full[0], [*groups.nodes, *groups.first] if groups else [])
    if not c.target.has_ordered_picks and groups and groups.first and any(tree.find_all(FirstOf)):
        _first_rows(c, tree, groups)


def takes_full_join(c: Compiler, join: exp.Join) -> bool:
    """Whether the target has such a FULL JOIN: PostgreSQL with equalities between columns of both sides."""
    right = _names(join.this)
    return c.target.has_full_join and all(
        isinstance(part, exp.EQ)
        and isinstance(part.this, exp.Column)
        and isinstance(part.expression, exp.Column)
        and (part.this.table in right) != (part.expression.table in right)
        for part in conjuncts(join.args["on"])
    )


def _remap(trees: list[exp.Expr], aliases: set[str], target: str, seen: dict[str, exp.Column]) -> None:
    """Let every column of some sources come from one derived table."""
    for tree in trees:
        for column in list(tree.find_all(exp.Column)):
            if column.table in aliases:
                name = f"{column.table}.{column.name}"
                seen.setdefault(name, column.copy())
                column.set("this", exp.to_identifier(name, quoted=True))
                column.set("table", exp.to_identifier(target, quoted=True))


def _parts(tree: exp.Select, *names: str) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for name in names:
        part = tree.args.get(name)
        found += part if isinstance(part, list) else [part] if part is not None else []
    return found


def _full_join(c: Compiler, tree: exp.Select, at: int, more: list[exp.Expr]) -> None:
    """Emulate FULL JOIN number `at`; `more` is kept besides the tree in terms of the same columns."""
    joins = tree.args["joins"]
    full, before, after = joins[at], joins[:at], joins[at + 1 :]
    left_aliases = {name for part in (tree.args["from_"], *before) for name in _names(part.this)}
    right_aliases = _names(full.this)
    if len({*left_aliases, *right_aliases}) != len(left_aliases) + len(right_aliases):
        raise Untranslatable("FULL JOIN", "its two sides share a name")
    alias = c.name("full")
    seen: dict[str, exp.Column] = {}
    # Every column gets its place before the tree is changed: ON stays as it is inside.
    _remap(
        [*_parts(tree, "expressions", "where", "group", "having", "order"), *after, *more],
        left_aliases | right_aliases,
        alias,
        seen,
    )
    on = full.args["on"]
    items = [
        exp.Alias(this=column.copy(), alias=exp.to_identifier(name, quoted=True))
        for name, column in seen.items()
    ]
    items = items or [exp.Alias(this=number(1), alias=exp.to_identifier("_", quoted=True))]
    left = exp.Select(
        expressions=items,
        from_=tree.args["from_"].copy(),
        joins=[*(join.copy() for join in before), exp.Join(this=full.this.copy(), side="LEFT", on=on.copy())],
    )
    partner = exp.Select(
        expressions=[number(1)], from_=tree.args["from_"].copy(), joins=[join.copy() for join in before],
        where=exp.Where(this=on.copy()),
    )  # fmt: skip
    alone = exp.Select(
        expressions=[
            item.copy() if not isinstance(item.this, exp.Column) or item.this.table in right_aliases
            else exp.Alias(this=exp.Null(), alias=item.args["alias"].copy())
            for item in items
        ],
        from_=exp.From(this=full.this.copy()),
        where=exp.Where(this=exp.Not(this=exp.Exists(this=partner))),
    )  # fmt: skip
    union = exp.Union(this=left, expression=alone, distinct=False)
    tree.set(
        "from_",
        exp.From(
            this=exp.Subquery(this=union, alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
        ),
    )
    tree.set("joins", after)


def _names(item: exp.Expr) -> set[str]:
    if isinstance(item, exp.Paren):
        inner = item.this
        return _names_of(inner) | {
            name for join in inner.args.get("joins") or [] for name in _names(join.this)
        }
    return _names_of(item)


def _names_of(item: exp.Expr) -> set[str]:
    return {item.alias or item.name}


def _first_rows(c: Compiler, tree: exp.Select, groups: Groups) -> None:
    """ROW_NUMBER tells which row of each group has the extreme value; its columns are picked by CASE."""
    alias, place = c.name("rows"), "_place"
    own = {
        name for part in (tree.args["from_"], *(tree.args.get("joins") or [])) for name in _names(part.this)
    }
    numbered = exp.Window(
        this=exp.Anonymous(this="ROW_NUMBER"),
        partition_by=[node.copy() for node in groups.nodes],
        order=exp.Order(expressions=[term.copy() for term in groups.first]),
        over="OVER",
    )
    for name in ("expressions", "group", "having", "order"):
        # One node can stand in two places, and would be replaced in one of them.
        part = tree.args.get(name)
        tree.set(name, [item.copy() for item in part] if isinstance(part, list) else part and part.copy())
    outer = _parts(tree, "expressions", "group", "having", "order")
    for part in outer:
        for picked in part.find_all(FirstOf):
            picked.set("expressions", None)
    seen: dict[str, exp.Column] = {}
    _remap(outer, own, alias, seen)
    first = exp.EQ(
        this=exp.column(exp.to_identifier(place, quoted=True), table=exp.to_identifier(alias, quoted=True)),
        expression=number(1),
    )
    _replace(outer, lambda picked: exp.Max(this=case((first.copy(), picked))))
    inner = exp.Select(
        expressions=[
            *(
                exp.Alias(this=column, alias=exp.to_identifier(name, quoted=True))
                for name, column in seen.items()
            ),
            exp.Alias(this=numbered, alias=exp.to_identifier(place, quoted=True)),
        ],
        from_=tree.args["from_"],
        joins=tree.args.get("joins"),
        where=tree.args.get("where"),
    )
    tree.set(
        "from_",
        exp.From(
            this=exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
        ),
    )
    tree.set("joins", None)
    tree.set("where", None)


def _replace(trees: list[exp.Expr], pick: Callable[[exp.Expr], exp.Expr]) -> None:
    for tree in trees:
        for node in list(tree.find_all(FirstOf)):
            node.replace(pick(node.this.copy()))

"""Conditions of a WHERE taken out and put in."""

from sqlglot import exp

from harness.sqltree.calls import conjuncts


def where_of(select: exp.Select) -> list[exp.Expr]:
    """The conditions of WHERE that all have to hold."""
    where = select.args.get("where")
    return list(conjuncts(where.this if where is not None else None))


def set_where(select: exp.Select, conditions: list[exp.Expr]) -> None:
    """Put other conditions in the place of those of WHERE."""
    if not conditions:
        select.set("where", None)
        return
    copies = [exp.paren(one.copy()) if isinstance(one, exp.Or) else one.copy() for one in conditions]
    select.set("where", exp.Where(this=exp.and_(*copies, copy=False) if len(copies) > 1 else copies[0]))


def equals(left: exp.Expr, right: exp.Expr) -> exp.EQ:
    """Left = right, of copies."""
    return exp.EQ(this=left.copy(), expression=right.copy())


def column(alias: str, name: str) -> exp.Column:
    """A column of a source whose names are made here."""
    return exp.column(name, table=alias)


def is_joined_by_commas(select: exp.Select) -> bool:
    """Whether a source stands behind a comma: JOIN binds tighter, and sees nothing before the comma."""
    return any(
        not (join.side or join.args.get("on") or join.args.get("using") or join.method)
        for join in select.args.get("joins") or ()
    )


def has_star(select: exp.Select) -> bool:
    """Whether a SELECT shows all columns of all sources."""
    return any(isinstance(output, exp.Star) for output in select.expressions)


def append_join(select: exp.Select, source: exp.Expr, on: exp.Expr, *, side: str | None = None) -> None:
    """Join one more source behind the others; where those stand behind commas, by a condition of WHERE."""
    joins = list(select.args.get("joins") or ())
    if side is None and is_joined_by_commas(select):
        select.set("joins", [*joins, exp.Join(this=source)])
        set_where(select, [*where_of(select), on])
        return
    join = exp.Join(this=source, on=on, side=side, kind=None if side else "INNER")
    select.set("joins", [*joins, join])

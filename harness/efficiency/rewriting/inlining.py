"""A common table expression that is used once, put where it is used."""

from sqlglot import exp

from harness.efficiency.rewriting.statement import Fact, Refused, Statement


def cte_inline(statement: Statement) -> list[Fact] | None:
    """See the rule cte-inline."""
    for cte in list(statement.tree.find_all(exp.CTE)):
        try:
            _inline(statement, cte)
        except Refused as why:
            statement.refused.append(f"{cte.alias}: {why}")
            continue
        return []
    return None


def _inline(statement: Statement, cte: exp.CTE) -> None:  # noqa: C901 - what stands in the way, one by one
    held = cte.parent
    if not isinstance(held, exp.With) or held.args.get("recursive"):
        raise Refused("it may be recursive")
    if cte.args["alias"].columns:
        raise Refused("it names its columns apart")
    names = [statement.engine.fold(one.args["alias"].this) for one in statement.tree.find_all(exp.CTE)]
    if len(set(names)) != len(names):
        raise Refused("two common table expressions have one name")
    if not isinstance(cte.this, exp.Query) or cte.this.args.get("with_"):
        raise Refused("it has a WITH of its own")
    if statement.outer_uses(cte.this):
        raise Refused("it is correlated")
    name = statement.engine.fold(cte.args["alias"].this)
    uses = [table for table in statement.tree.find_all(exp.Table) if statement.cte(table) is cte]
    if len(uses) != 1:
        raise Refused(f"it is used {len(uses)} times")
    [use] = uses
    node: exp.Expr | None = use
    while node is not None:
        if node is cte:
            raise Refused("it may be recursive")
        node = node.parent
    if {key for key, value in use.args.items() if value} - {"this", "alias"}:
        raise Refused("it is used with joins or hints of its own")
    stored = {statement.engine.fold(one.this) for one in cte.this.find_all(exp.Table) if one.name}
    if name in stored:
        raise Refused("it reads a table of its own name")
    alias = use.args.get("alias")
    table_alias = alias.copy() if alias is not None else exp.TableAlias(this=use.this.copy())
    use.replace(exp.Subquery(this=cte.this.copy(), alias=table_alias))
    rest = [one for one in held.expressions if one is not cte]
    holder = held.parent
    if rest:
        held.set("expressions", rest)
    elif holder is not None:
        holder.set("with_", None)

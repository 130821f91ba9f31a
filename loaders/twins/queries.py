"""A query as a problem: which rows of which tables have to be there so that it answers.

Every table that a query reads becomes a row variable, every column of it that the query mentions a cell.
Subqueries that a row has to be found in (`IN`, `EXISTS`, scalar ones) are read the same way and joined. What
remains are conditions on cells, which SQLite itself can try on values. What can't be said by one row of each
table (NOT IN, sums, windows) is left out or approximated; whether the query then answers is checked by
running it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from dialects.clauses import conjuncts, from_items, joins_of, on_of, where_of
from loaders.twins.problem import Opaque, RowProblem, cells_in
from loaders.twins.shape import Shape, TableName, folded

_MOST_COPIES = 12
_DEEPEST = 12
_AGGREGATES = (exp.Sum, exp.Avg, exp.Min, exp.Max)


@dataclass
class _Scope:
    """The sources of a SELECT by alias: a row variable, or the columns of a derived table."""

    sources: dict[str, int | dict[str, exp.Expr | None]] = field(default_factory=dict)
    names: dict[str, exp.Expr] = field(default_factory=dict)


class _Reader:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.problem = RowProblem()
        self.read: set[int] = set()
        self.depth = 0
        self.naming: list[str] = []

    def query(
        self, node: exp.Expr, outer: tuple[_Scope, ...], ctes: Mapping[str, exp.Expr]
    ) -> list[tuple[str, exp.Expr | None]]:
        """Add a query's rows and conditions; its columns, None for those that a row does not have."""
        self.read.add(id(node))
        if isinstance(node, exp.Subquery):
            return self.query(node.this, outer, ctes)
        with_ = node.args.get("with_")
        if with_ is not None:
            ctes = {**ctes, **{folded(cte.alias): cte.this for cte in with_.expressions}}
        if isinstance(node, exp.SetOperation):
            left = self.query(node.this, outer, ctes)
            if isinstance(node, exp.Intersect):
                right = self.query(node.expression, outer, ctes)
                for (_, a), (_, b) in zip(left, right, strict=False):
                    if a is not None and b is not None:
                        self.demand(exp.EQ(this=a.copy(), expression=b.copy()))
            return left
        if not isinstance(node, exp.Select) or self.depth > _DEEPEST:
            raise Opaque
        self.depth += 1
        try:
            return self.select(node, outer, ctes)
        finally:
            self.depth -= 1

    def select(
        self, node: exp.Select, outer: tuple[_Scope, ...], ctes: Mapping[str, exp.Expr]
    ) -> list[tuple[str, exp.Expr | None]]:
        scope = _Scope()
        scopes = (scope, *outer)
        for item, _ in from_items(node):
            self.source(item, scope, outer, ctes)
        for join in joins_of(node):
            self.using(join, scope)
            for conjunct in on_of(join):
                self.condition(conjunct, scopes, ctes)
        for item in node.expressions:
            if item.alias:
                scope.names[folded(item.alias)] = item.unalias()
        for conjunct in where_of(node):
            self.condition(conjunct, scopes, ctes)
        columns = [
            (folded(item.alias_or_name), self.tolerant(item.unalias(), scopes, ctes))
            for item in node.expressions
        ]
        if any(item.is_star for item in node.expressions):
            columns = [*columns, *self.everything(scope)]
        group = node.args.get("group")
        grouped = [self.tolerant(item, scopes, ctes) for item in (group.expressions if group else [])]
        having = node.args.get("having")
        for conjunct in conjuncts(having.this if having else None):
            self.having(conjunct, scopes, ctes)
        if not outer and self.depth == 1:
            self.show(node, columns, scopes, ctes)
        self.problem.grouped += [cell for item in grouped if item is not None for cell in cells_in(item)]
        self.order(node, scopes, ctes)
        return columns

    def show(
        self,
        node: exp.Select,
        columns: list[tuple[str, exp.Expr | None]],
        scopes: tuple[_Scope, ...],
        ctes: Mapping[str, exp.Expr],
    ) -> None:
        """Note what the outermost query returns."""
        for _, column in columns:
            self.problem.shown += cells_in(column) if column is not None else []
        for item in node.expressions:
            self.counted(item, scopes, ctes)

    def source(
        self,
        item: exp.Expr,
        scope: _Scope,
        outer: tuple[_Scope, ...],
        ctes: Mapping[str, exp.Expr],
    ) -> None:
        name = folded(item.alias_or_name) or f"#{len(scope.sources)}"
        if isinstance(item, exp.Table):
            inner = ctes.get(folded(item.name))
            if inner is not None:
                less = {key: value for key, value in ctes.items() if key != folded(item.name)}
                scope.sources[name] = dict(self.query(inner, outer, less))
                return
            table = self.shape.by_key.get(TableName(folded(item.name)))
            if table is None:
                raise Opaque
            self.problem.tables.append(table.key)
            scope.sources[name] = len(self.problem.tables) - 1
        elif isinstance(item, exp.Subquery):
            scope.sources[name] = dict(self.query(item.this, outer, ctes))
        else:
            raise Opaque

    def using(self, join: exp.Join, scope: _Scope) -> None:
        for column in join.args.get("using") or []:
            found = [self.within(source, folded(column.name)) for source in scope.sources.values()]
            known = [each for each in found if each is not None]
            for other in known[1:]:
                self.demand(exp.EQ(this=known[0].copy(), expression=other.copy()))

    def everything(self, scope: _Scope) -> list[tuple[str, exp.Expr | None]]:
        found: list[tuple[str, exp.Expr | None]] = []
        for source in scope.sources.values():
            if isinstance(source, int):
                table = self.shape.by_key[self.problem.tables[source]]
                found += [(column, self.within(source, column)) for column in table.by_key]
            else:
                found += list(source.items())
        return found

    def within(self, source: int | dict[str, exp.Expr | None], column: str) -> exp.Expr | None:
        if isinstance(source, dict):
            found = source.get(column)
            return None if found is None else found.copy()
        if column not in self.shape.by_key[self.problem.tables[source]].by_key:
            return None
        return exp.column(f"k{self.problem.cell(source, column)}")

    def column(self, node: exp.Column, scopes: tuple[_Scope, ...], ctes: Mapping[str, exp.Expr]) -> exp.Expr:
        name, qualifier = folded(node.name), folded(node.table)
        for scope in scopes:
            for alias, source in scope.sources.items():
                if qualifier and qualifier != alias:
                    continue
                found = self.within(source, name)
                if found is not None:
                    return found
                if isinstance(source, dict) and name in source:
                    raise Opaque
        if not qualifier and name in scopes[0].names:
            inner = scopes[0].names[name]
            # An alias may lead to itself by way of another one.
            if name not in self.naming and not any(each is node for each in inner.walk()):
                self.naming.append(name)
                try:
                    return self.lower(inner, scopes, ctes)
                finally:
                    self.naming.pop()
        if not qualifier and node.this.args.get("quoted"):
            return exp.Literal.string(node.name)
        raise Opaque

    def lower(
        self,
        node: exp.Expr,
        scopes: tuple[_Scope, ...],
        ctes: Mapping[str, exp.Expr],
        *,
        loose: bool = False,
    ) -> exp.Expr:
        """The expression over cells.

        Args:
            node: an expression of the query.
            scopes: where its names are looked up.
            ctes: the common table expressions that subqueries see.
            loose: whether what a count or a window is over stands for it.

        Raises:
            Opaque: one row of each table does not decide it.
        """
        if isinstance(node, exp.Column):
            return self.column(node, scopes, ctes)
        found = self.subquery(node, scopes, ctes)
        if found is None:
            found = self.aggregate(node, scopes, ctes, loose=loose)
        if found is not None:
            return found
        # Built anew, not copied and changed: a copy is deep.
        args: dict[str, object] = {}
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                args[key] = self.lower(value, scopes, ctes, loose=loose)
            elif isinstance(value, list):
                args[key] = [
                    self.lower(each, scopes, ctes, loose=loose) if isinstance(each, exp.Expr) else each
                    for each in value
                ]
            else:
                args[key] = value
        return type(node)(**args)

    def subquery(
        self, node: exp.Expr, scopes: tuple[_Scope, ...], ctes: Mapping[str, exp.Expr]
    ) -> exp.Expr | None:
        """A condition on a subquery, with its rows joined; None for any other."""
        if isinstance(node, exp.Exists):
            self.query(node.this, scopes, ctes)
            return exp.true()
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            inner = self.single(node.args["query"], scopes, ctes)
            return exp.EQ(this=self.lower(node.this, scopes, ctes), expression=inner)
        if isinstance(node, exp.Subquery | exp.Select):
            return exp.Paren(this=self.single(node, scopes, ctes))
        if isinstance(node, exp.Not) and any(True for _ in node.find_all(exp.Query)):
            raise Opaque
        return None

    def aggregate(
        self, node: exp.Expr, scopes: tuple[_Scope, ...], ctes: Mapping[str, exp.Expr], *, loose: bool
    ) -> exp.Expr | None:
        """What an aggregate is over; None for anything else."""
        if isinstance(node, exp.Count | exp.Window | exp.GroupConcat):
            if not loose or isinstance(node.this, exp.Star):
                raise Opaque
            return self.lower(node.this, scopes, ctes, loose=loose)
        if isinstance(node, exp.Distinct) and node.expressions:
            return self.lower(node.expressions[0], scopes, ctes, loose=loose)
        if isinstance(node, _AGGREGATES):
            inner = self.lower(node.this, scopes, ctes, loose=loose)
            if isinstance(node, exp.Min | exp.Max) and cells_in(inner):
                self.problem.ordered.append((inner.copy(), isinstance(node, exp.Max)))
            return inner
        if isinstance(node, exp.AggFunc | exp.Star):
            raise Opaque
        return None

    def single(self, node: exp.Expr, scopes: tuple[_Scope, ...], ctes: Mapping[str, exp.Expr]) -> exp.Expr:
        columns = self.query(node, scopes, ctes)
        if not columns or columns[0][1] is None:
            raise Opaque
        return columns[0][1].copy()

    def tolerant(
        self, node: exp.Expr, scopes: tuple[_Scope, ...], ctes: Mapping[str, exp.Expr]
    ) -> exp.Expr | None:
        if any(True for _ in node.find_all(exp.Query)):
            return None
        try:
            return self.lower(node, scopes, ctes, loose=True)
        except Opaque:
            return None

    def demand(self, condition: exp.Expr) -> None:
        a, b = condition.this, condition.args.get("expression")
        while isinstance(a, exp.Paren):
            a = a.this
        while isinstance(b, exp.Paren):
            b = b.this
        if isinstance(condition, exp.EQ) and isinstance(a, exp.Column) and isinstance(b, exp.Column):
            self.problem.equal.append((int(a.name[1:]), int(b.name[1:])))
        elif cells_in(condition):
            self.problem.conjuncts.append(condition)

    def condition(self, node: exp.Expr, scopes: tuple[_Scope, ...], ctes: Mapping[str, exp.Expr]) -> None:
        try:
            self.demand(self.lower(node, scopes, ctes))
        except Opaque:
            return
        # More than the average: the farther away the better.
        if isinstance(node, exp.GT | exp.GTE | exp.LT | exp.LTE) and node.find(exp.Avg):
            lowered = self.problem.conjuncts[-1] if self.problem.conjuncts else None
            if lowered is not None and lowered.find(exp.Column):
                mine = node.this if node.expression.find(exp.Avg) else node.expression
                upward = isinstance(node, exp.GT | exp.GTE) == (mine is node.this)
                found = self.tolerant(mine, scopes, ctes)
                if found is not None and cells_in(found):
                    self.problem.ordered.append((found, upward))

    def having(self, node: exp.Expr, scopes: tuple[_Scope, ...], ctes: Mapping[str, exp.Expr]) -> None:
        number = node.args.get("expression")
        if isinstance(node, exp.Binary) and node.this.find(exp.Count) and isinstance(number, exp.Literal):
            wanted = 1 if number.is_string else _count(number.this)
            if isinstance(node, exp.GT | exp.NEQ):
                wanted += 1
            if isinstance(node, exp.GT | exp.GTE | exp.EQ | exp.NEQ):
                self.problem.copies = max(self.problem.copies, min(wanted, 4 * _MOST_COPIES))
            return
        self.condition(node, scopes, ctes)

    def order(self, node: exp.Select, scopes: tuple[_Scope, ...], ctes: Mapping[str, exp.Expr]) -> None:
        order, limit, offset = (node.args.get(part) for part in ("order", "limit", "offset"))
        wanted = sum(
            _count(part.expression.this)
            for part in (limit, offset)
            if part is not None and isinstance(part.expression, exp.Literal)
        )
        if offset is not None or wanted > 1:
            self.problem.copies = max(self.problem.copies, min(wanted, _MOST_COPIES))
        if order is None:
            return
        for item in order.expressions:
            if limit is not None and item.find(exp.Count):
                self.problem.counts = True
            lowered = self.tolerant(item.this, scopes, ctes)
            if limit is not None and lowered is not None and cells_in(lowered):
                self.problem.ordered.append((lowered, bool(item.args.get("desc"))))

    def counted(self, node: exp.Expr, scopes: tuple[_Scope, ...], ctes: Mapping[str, exp.Expr]) -> None:
        """Note the conditions that decide what a shown expression counts."""
        for each in node.find_all(exp.Predicate, exp.If):
            condition = each.this if isinstance(each, exp.If) else each
            if isinstance(each.parent, exp.Case) and each.parent.this is not None:
                condition = exp.EQ(this=each.parent.this.copy(), expression=each.this.copy())
            if isinstance(each, exp.If) and each.args["true"].find(exp.Column):
                amount = exp.NEQ(
                    this=exp.Paren(this=each.args["true"].copy()), expression=exp.Literal.number(0)
                )
                condition = exp.And(this=exp.Paren(this=condition.copy()), expression=amount)
            lowered = self.tolerant(condition, scopes, ctes)
            if lowered is not None and cells_in(lowered) and lowered not in self.problem.conditions:
                self.problem.conditions.append(lowered)


def _count(text: str) -> int:
    """A number of rows as it is written, as far as anybody can want so many."""
    try:
        return int(min(float(text), _MOST_ROWS))
    except ValueError:
        return 1


_MOST_ROWS = 10**6


def problems(tree: exp.Expr, shape: Shape, *, first: bool = False) -> list[RowProblem]:
    """The problems of a query: one for it, and one for each query within it that the first leaves aside.

    Args:
        tree: of `parse`.
        shape: the tables.
        first: whether to leave it at the first.
    """
    found: list[RowProblem] = []
    read: set[int] = set()
    tree = _without_absent(tree)
    for node in tree.find_all(exp.Select):
        if id(node) in read:
            continue
        reader = _Reader(shape)
        try:
            reader.query(tree if not found and not read else node, (), _visible(node))
        except Opaque:
            read |= {id(node)}
            continue
        read |= reader.read | {id(node)}
        if reader.problem.tables:
            found.append(reader.problem)
            if first:
                break
    return found


def _without_absent(tree: exp.Expr) -> exp.Expr:
    """The query without outer joins that must find nothing: `LEFT JOIN b ... WHERE b.id IS NULL`."""
    copy = tree.copy()
    for select in copy.find_all(exp.Select):
        missing = {
            folded(each.this.table)
            for each in where_of(select)
            if isinstance(each, exp.Is)
            and isinstance(each.expression, exp.Null)
            and isinstance(each.this, exp.Column)
        }
        joins = joins_of(select)
        gone = {folded(join.this.alias_or_name) for join in joins if join.side == "LEFT"} & missing
        if gone:
            kept = [
                each.copy()
                for each in where_of(select)
                if not any(folded(column.table) in gone for column in each.find_all(exp.Column))
            ]
            select.set("joins", [join for join in joins if folded(join.this.alias_or_name) not in gone])
            select.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
    return copy


def _visible(node: exp.Expr) -> dict[str, exp.Expr]:
    """The common table expressions that a query within another can see."""
    found: dict[str, exp.Expr] = {}
    above = node.parent
    while above is not None:
        with_ = above.args.get("with_")
        for cte in with_.expressions if with_ is not None else []:
            if not any(each is node for each in cte.walk()):
                found.setdefault(folded(cte.alias), cte.this)
        above = above.parent
    return found

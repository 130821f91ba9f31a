"""Write a compiled tree as SQL for MariaDB 11.8 and later: as for MySQL, with the differences."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from dialects import identifiers, nodes
from dialects.clauses import sources_of
from dialects.errors import Untranslatable
from dialects.mysql.generator import SHAPES, WORDS, MySQL


def _is_constant(node: exp.Expr, select: exp.Select) -> bool:
    """Whether a value is the same in every row: it has no column, or those of derived tables that are."""
    sources = [select.args.get("from_"), *(select.args.get("joins") or [])]
    derived = {
        each.this.alias: each.this.this for each in sources if each and isinstance(each.this, exp.Subquery)
    }

    def is_constant(column: exp.Column) -> bool:
        inner = derived.get(column.table)
        return isinstance(inner, exp.Select) and any(
            each.alias_or_name == column.name and _is_constant(each, inner) for each in inner.expressions
        )

    return all(is_constant(column) for column in node.find_all(exp.Column))


class MariaDB(MySQL):
    """For sessions as `MySQL`."""

    def __init__(self) -> None:
        super().__init__(_WORDS, _SHAPES)

    def row(self, node: exp.Expr) -> str:
        """See `TargetGenerator.row`. https://mariadb.com/kb/en/table-value-constructors/."""
        return self.sql(node)

    def fits(self, node: nodes.Fits) -> str:
        """Match case-sensitively, whatever the collation. https://mariadb.com/kb/en/pcre/."""
        pattern = self.quoted(f"(?-i)^({node.expression.this})\\z")
        return f"({self.sql(node.this)} REGEXP {pattern})"

    def over(self, node: exp.Window) -> str:
        """Write a rank with an order, which MariaDB demands, and a default of lag(), which it does not have.

        A row that lag() of a value that is never NULL has none for is one that the default is for.
        https://mariadb.com/kb/en/lag/
        """
        name, arguments = node.this.name.lower(), node.this.expressions
        inner = [each for each in node.find_all(exp.Window) if each is not node]
        if any(each.args.get("spec") or each.parent_select is node.parent_select for each in inner):
            raise Untranslatable("a window in a window", "MariaDB does not allow it")
        if name in _RANKS | _SHIFTS and not (node.args.get("order") or node.args.get("alias")):
            node.set("order", exp.Order(expressions=[exp.null()]))
        if name in _SHIFTS and len(arguments) > len(("value", "offset")):
            there, found = node.copy(), node.copy()
            is_null = exp.Is(this=arguments[0].copy(), expression=exp.null())
            there.this.set("expressions", [is_null, arguments[1].copy()])
            found.this.set("expressions", [one.copy() for one in arguments[:2]])
            otherwise = "" if isinstance(arguments[0], exp.Null) else f" ELSE {self.sql(found)}"
            return f"CASE WHEN {self.sql(there)} IS NULL THEN {self.sql(arguments[2])}{otherwise} END"
        if name in {"percent_rank", "cume_dist"}:  # it sends these with ten decimals
            return f"({self.window_sql(node)} + 0e0)"
        picks = isinstance(node.this, exp.Min | exp.Max) or name in _PICKS
        if picks and not isinstance(node.parent, exp.Alias | exp.Select):
            # After another sort, a function around it would see an empty text.
            return f"COALESCE({self.window_sql(node)}, NULL)"
        return self.window_sql(node)

    def connective(self, node: exp.And | exp.Or) -> str:
        """Compare rows where MariaDB would compute a window's condition too early, as NULL.

        It does so for AND or OR within another one, unless that one is the whole column. The sum keeps it
        from taking the comparison for one that is never NULL.
        """
        if isinstance(node.parent, type(node) | exp.Alias | exp.Select) or not node.find(exp.Window):
            return self.operator(node)
        parts = list(node.flatten())
        inner = [each for part in parts for each in part.find_all(exp.And, exp.Or)]
        if not any(each.find(exp.Window) for each in inner):
            return self.operator(node)
        sign, same = ("0 +", "1") if isinstance(node, exp.And) else ("1 -", "0")
        row = ", ".join(f"({self.sql(part)}) <> 0" for part in parts)
        return f"({sign} NULLIF(({row}) = ({', '.join([same] * len(parts))}), 2))"

    def called(self, node: exp.Anonymous) -> str:
        """Guard REPLACE: with NULL for a part, MariaDB returns a text without the part as it is."""
        found = self.anonymous_sql(node)
        if node.name.lower() != "replace" or isinstance(node.expressions[2], exp.Literal):
            return found
        return f"CASE WHEN {self.sql(node.expressions[2])} IS NOT NULL THEN {found} END"

    def selected(self, node: exp.Select) -> str:
        """Refuse to skip one constant row, which MariaDB does not, and have it sort for each of many windows.

        Of three windows it can compute one in the order of another one. Nothing else that is the same in
        every row makes orders different: it removes constants.
        """
        is_one = node.args.get("distinct") and all(_is_constant(each, node) for each in node.expressions)
        if node.args.get("offset") and (is_one or not node.args.get("from_")):
            raise Untranslatable("OFFSET of a constant row", "MariaDB ignores it")
        windows = [
            one
            for one in node.find_all(exp.Window)
            if one.find_ancestor(exp.Select) is node and not one.args.get("alias")
        ]
        if len(windows) < _MANY_WINDOWS:
            return self.select_sql(node)
        parts = [one.args.get("partition_by") or [] for one in windows]
        for place, (window, part) in enumerate(zip(windows, parts, strict=True)):
            apart = exp.LT(this=exp.Anonymous(this="RAND"), expression=exp.Neg(this=nodes.number(place)))
            window.set("partition_by", [apart, *part])
        written = self.select_sql(node)
        for window, part in zip(windows, parts, strict=True):
            window.set("partition_by", part)
        return written

    def joining(self, node: exp.Join) -> str:
        """Hide from outer joins a condition on outer rows alone, and a key next to a fraction.

        MariaDB drops that condition in a subquery, and looks for the fraction rounded to an integer.
        """
        on, select = node.args.get("on"), node.parent_select
        if on and select and any(join.side for join in select.find_all(exp.Join)):
            for compared in on.find_all(exp.EQ, exp.In):
                sides = [side for side in compared.iter_expressions() if isinstance(side, exp.Column)]
                numbers = [each for each in compared.find_all(exp.Literal) if not each.is_string]
                if len(sides) == 1 and any(float(each.this) % 1 for each in numbers):
                    sides[0].replace(exp.Add(this=sides[0].copy(), expression=nodes.number(0)))
            own = {item.node.alias_or_name for item in sources_of(select)}
            for part in list(on.flatten()) if isinstance(on, exp.And) else [on]:
                inner = {each.alias_or_name for each in part.find_all(exp.Table, exp.Subquery)}
                read = {column.table for column in part.find_all(exp.Column)} - inner
                calls = {call.name for call in part.find_all(exp.Anonymous)}
                if read and not read & own and "RAND" not in calls:
                    never = exp.LT(this=exp.Anonymous(this="RAND"), expression=nodes.number(0))
                    part.replace(exp.Paren(this=exp.Or(this=part.copy(), expression=never)))
        return super().joining(node)

    def derived(self, node: exp.Subquery) -> str:
        """Refuse a derived table that reads the query around it, which MariaDB does not allow.

        A set operation in another one is also one for MariaDB.
        """
        if isinstance(node.parent, exp.From | exp.Join | exp.SetOperation) and nodes.reads_outer_rows(node):
            raise Untranslatable("a subquery in FROM that reads an outer row", "MariaDB has no LATERAL")
        return self.subquery_sql(node)

    def order_term(self, node: exp.Ordered) -> str:
        """Write NULL for NOT of a constant, which MariaDB would take for the number of a column."""
        written = super().order_term(node)
        is_constant = not node.find(exp.Column, exp.Query, exp.Anonymous)
        return "NULL" if is_constant and written.startswith("NOT ") else written

    def membership(self, node: exp.In, words: str = "IN") -> str:
        """Hide an aggregate IN a subquery of HAVING, which MariaDB looks up before it has been computed.

        A row with a subquery of a table or a union IN another one is refused: https://mariadb.com/kb/en/subquery-limitations/.
        """
        value, query = node.this, node.args.get("query")
        if query and isinstance(value, exp.Tuple) and value.find(exp.Table, exp.SetOperation):
            raise Untranslatable("a row with a subquery IN a subquery", "MariaDB does not have it")
        if not (query and isinstance(value, _AGGREGATES) and node.find_ancestor(exp.Having)):
            return super().membership(node, words)
        node.set("this", exp.Coalesce(this=value.copy(), expressions=[exp.null()]))
        written = super().membership(node, words)
        node.set("this", value)
        return written

    def exists(self, node: exp.Exists) -> str:
        """Refuse several set operations: MariaDB takes the columns of the first ones for constants there."""
        if isinstance(node.this, exp.SetOperation) and isinstance(node.this.this.unnest(), exp.SetOperation):
            raise Untranslatable("EXISTS of several set operations", "MariaDB compares other values")
        return self.exists_sql(node)

    def cte(self, node: exp.CTE) -> str:
        """Refuse a limit on recursion, and one that reads the query around it.

        https://mariadb.com/kb/en/recursive-common-table-expressions-overview/
        """
        if nodes.reads_outer_rows(node.this):
            raise Untranslatable("WITH that reads an outer row", "MariaDB does not allow it")
        reads_itself = any(table.name == node.alias for table in node.this.find_all(exp.Table))
        if reads_itself and node.this.args.get("limit"):
            raise Untranslatable("LIMIT of a recursive query", "MariaDB does not support it yet")
        return super().cte(node)

    def lateral(self, node: exp.Lateral) -> str:
        """Refuse: there is none."""
        del node
        raise Untranslatable("a subquery in FROM that reads an outer row", "MariaDB has no LATERAL")

    def text_as_json(self, node: nodes.JSONString) -> str:
        """Call a stored function where JSON_QUOTE would write capital hexadecimal digits."""
        text = self.sql(node.this)
        call = f"{identifiers.FUNCTIONS_NAMESPACE}.json_quoted({text})"
        if not isinstance(node.this, exp.Column):
            return call
        has_any = f"{text} REGEXP '[\\\\x0b\\\\x0e\\\\x0f\\\\x1a-\\\\x1f]'"
        return f"CASE WHEN {has_any} THEN {call} ELSE JSON_QUOTE({text}) COLLATE utf8mb4_0900_bin END"

    def matches(self, node: nodes.Matches) -> str:
        """Write an escape character where there is a backslash: without one, that is it."""
        pattern = node.expression
        is_plain = isinstance(pattern, exp.Literal) and "\\" not in pattern.this
        if is_plain or node.args.get("escape") is not None:
            return self.comparison(node, "LIKE")
        mark, double = exp.Literal.string("|"), exp.Literal.string("||")
        doubled: exp.Expr = exp.Anonymous(this="REPLACE", expressions=[pattern, mark, double])
        if isinstance(pattern, exp.Literal):
            doubled = exp.Literal.string(pattern.this.replace("|", "||"))
        return self.comparison(nodes.Matches(this=node.this, expression=doubled, escape=mark), "LIKE")

    def number_as_json(self, node: nodes.JSONNumber) -> str:
        """MariaDB's JSON is text, and a number is written as JSON in an array only."""
        array = f"JSON_ARRAY({self.sql(node.this)})"
        bare = f"TRIM(TRAILING ']' FROM TRIM(LEADING '[' FROM {array}))"
        return f"NULLIF({bare}, 'null') COLLATE utf8mb4_0900_bin"


_AGGREGATES = (exp.AggFunc, nodes.AnyOf)
_MANY_WINDOWS = 3
_PICKS = frozenset({"first_value", "last_value", "nth_value", "lag", "lead"})
_RANKS = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist", "ntile"})
_SHIFTS = frozenset({"lag", "lead"})

_SHAPES = {
    name: re.sub(r"REGEXP_LIKE\(\{text\}, ('[^']*')\)", r"({text} REGEXP \1)", shape)
    for name, shape in SHAPES.items()
}
_WORDS: Mapping[type[exp.Expr], Callable[[Any, Any], str]] = {
    **WORDS,
    exp.And: MariaDB.connective,
    exp.Anonymous: MariaDB.called,
    exp.CTE: MariaDB.cte,
    exp.Exists: MariaDB.exists,
    exp.Or: MariaDB.connective,
    exp.Lateral: MariaDB.lateral,
    exp.Select: MariaDB.selected,
    exp.Subquery: MariaDB.derived,
    exp.Window: MariaDB.over,
    nodes.Fits: MariaDB.fits,
    nodes.JSONString: MariaDB.text_as_json,
    nodes.Matches: MariaDB.matches,
    nodes.ServerCall: MariaDB.server_call,
    nodes.Whichever: lambda self, e: self.sql(e.this),
    nodes.JSONNumber: MariaDB.number_as_json,
}

GENERATOR = MariaDB()

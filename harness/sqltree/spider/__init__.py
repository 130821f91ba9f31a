"""Spider's measures of a SQLite prediction: hardness, Exact Matching and partial matching, without values.

Definitions: "Partial Matching without Values" and "Exact Matching without Values" of
https://github.com/taoyds/spider/tree/master/evaluation_examples, and Yu et al. 2018, "Spider",
https://arxiv.org/abs/1809.08887, as Spider's official script `evaluation.py` computes them,
https://github.com/taoyds/test-suite-sql-eval. docs/reference/spider.md lists where the two differ.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property


class Hardness(StrEnum):
    """Spider's four levels of a gold query, in the order that every table shows them."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"
    EXTRA = "extra"


class SpiderPart(StrEnum):
    """Spider's ten components of a query, in the order of its tables; names: docs/reference/spider.md."""

    SELECT = "select"
    SELECT_NO_AGGREGATE = "select_no_aggregate"
    WHERE = "where"
    WHERE_NO_OPERATOR = "where_no_operator"
    GROUP_BY = "group_by"
    GROUP_BY_HAVING = "group_by_having"
    ORDER_BY = "order_by"
    AND_OR = "and_or"
    SET_OPERATIONS = "set_operations"
    KEYWORDS = "keywords"


@dataclass(frozen=True)
class Match:
    """One component of a pair: how many elements the prediction has, the gold has, and both have."""

    predicted: int
    gold: int
    matched: int

    @property
    def is_right(self) -> bool:
        """Spider's score of a component, all or nothing: the same elements, or none on either side."""
        return self.predicted == self.gold == self.matched


@dataclass(frozen=True)
class Structure:
    """One pair: `hardness` of its gold, `exact` matching without values, and every component.

    `parsed` says whether the prediction could be read; one that could not counts as an empty query.
    """

    hardness: Hardness
    exact: bool
    parsed: bool
    parts: Mapping[SpiderPart, Match]


@dataclass(frozen=True)
class Total:
    """One component over many pairs, each figure in [0, 1], None where no pair has what it counts over.

    `accuracy` is the share of right ones over the pairs whose prediction has the component, `recall` over the
    pairs whose gold has it, `f1` the harmonic mean of the two: 0 where both are, for which the script
    prints 1.
    """

    accuracy: float | None
    recall: float | None
    f1: float | None

    @property
    def precision(self) -> float | None:
        """Spider's accuracy: it counts over the predicted parts."""
        return self.accuracy


def totals(structures: Iterable[Structure]) -> Mapping[SpiderPart, Total]:
    """Return every component over these pairs.

    Definition: what the script prints as partial matching accuracy, recall and F1,
    https://github.com/taoyds/test-suite-sql-eval; each component of a pair is right or wrong as a whole.
    """
    known = list(structures)
    return {part: _total([structure.parts[part] for structure in known]) for part in SpiderPart}


def _total(matches: list[Match]) -> Total:
    accuracy = _share([match.is_right for match in matches if match.predicted])
    recall = _share([match.is_right for match in matches if match.gold])
    both = (accuracy or 0.0) + (recall or 0.0)
    if accuracy is None and recall is None:
        return Total(None, None, None)
    return Total(accuracy, recall, 2 * (accuracy or 0.0) * (recall or 0.0) / both if both else 0.0)


def _share(right: list[bool]) -> float | None:
    return sum(right) / len(right) if right else None


# A query as Spider compares it: clause by clause, names resolved, values left out. Every text in here is
# in one canonical spelling, so that equal texts mean the same to these measures. Names fold to lower
# case. A column is written `[table.column]`, whatever the query calls its table.


@dataclass(frozen=True)
class Item:
    """One column of SELECT: the aggregate around it, empty for none, and its operand."""

    aggregate: str
    text: str


@dataclass(frozen=True)
class GroupTerm:
    """One term of GROUP BY; `bare` is the column without its table where the term is a column."""

    text: str
    bare: str


@dataclass(frozen=True)
class SpiderCondition:
    """One condition: `left operator right`, or a group in parentheses that cannot do without them.

    `right` has no value in it: "" stands for whatever Spider takes for one. The `members` of a group are
    joined by its operator, "and" or "or", and sorted.
    """

    negated: bool
    operator: str
    left: str
    right: tuple[str, ...] = ()
    members: tuple["SpiderCondition", ...] = ()

    def leaves(self) -> Iterator["SpiderCondition"]:
        """Return the conditions that are not groups: itself, or those within it."""
        if not self.members:
            yield self
        for member in self.members:
            yield from member.leaves()

    def connectors(self) -> Iterator[str]:
        """Yield every AND and OR within it."""
        yield from [self.operator] * (len(self.members) - 1)
        for member in self.members:
            yield from member.connectors()


@dataclass(frozen=True)
class Conditions:
    """WHERE, HAVING or ON: its conditions and the words between them, both as written."""

    units: tuple[SpiderCondition, ...] = ()
    between: tuple[str, ...] = ()

    def leaves(self) -> list[SpiderCondition]:
        """Return the conditions, those within groups instead of the groups."""
        return [leaf for unit in self.units for leaf in unit.leaves()]

    def connectors(self) -> list[str]:
        """Return every AND and OR, those within groups too."""
        return [*self.between, *(one for unit in self.units for one in unit.connectors())]


@dataclass(frozen=True)
class SpiderQuery:
    """One SELECT with the set operation that follows it.

    `joins` has the conditions of every ON. `direction` is the last ASC or DESC that ORDER BY spells out,
    "asc" if none does. `distinct` is noted for queries inside another alone. `following` is a set operation
    with the rest of the query. `aggregates` and `nested` are what hardness counts: aggregates of SELECT,
    GROUP BY and ORDER BY, and queries inside this one that no set operation adds.
    """

    distinct: bool = False
    select: tuple[Item, ...] = ()
    tables: tuple[str, ...] = ()
    joins: Conditions = Conditions()
    where: Conditions = Conditions()
    group: tuple[GroupTerm, ...] = ()
    having: Conditions = Conditions()
    order: tuple[str, ...] = ()
    direction: str = "asc"
    limit: bool = False
    offset: bool = False
    following: "tuple[str, SpiderQuery] | None" = None
    aggregates: int = field(default=0, repr=False, compare=False)
    nested: int = field(default=0, repr=False, compare=False)


class UnreadableQuery(Exception):
    """The text is not a query, or names something outside the schema."""


@dataclass(frozen=True)
class SpiderSchema:
    """A database as far as these measures need it, names spelled as you like.

    `tables` maps each table to its columns, both in the order of the schema; `foreign_keys` has pairs of a
    referring and a referred column, each as `table.column`.
    """

    tables: Mapping[str, Sequence[str]]
    foreign_keys: Sequence[tuple[str, str]] = ()

    @cached_property
    def columns(self) -> Mapping[str, frozenset[str]]:
        """Each table's columns, in lower case."""
        return {
            table.lower(): frozenset(column.lower() for column in columns)
            for table, columns in self.tables.items()
        }

    @cached_property
    def _keys(self) -> Mapping[str, Mapping[str, str]]:
        """Table to its columns that belong to a foreign key, each with the column that stands for all.

        A pair joins the first group that has one of its two columns, and groups never merge: so Spider does.
        """
        every = [f"{table}.{column}".lower() for table, columns in self.tables.items() for column in columns]
        places = {column: place for place, column in enumerate(every)}
        groups: list[set[str]] = []
        for pair in self.foreign_keys:
            both = {column.lower() for column in pair} & places.keys()
            group = next((group for group in groups if group & both), None)
            if group is None:
                groups.append(group := set())
            group |= both
        keys: dict[str, dict[str, str]] = {}
        for group in groups:
            for column in group:
                table = column.partition(".")[0]
                keys.setdefault(table, {})[f"[{column}]"] = f"[{min(group, key=places.__getitem__)}]"
        return keys

    def unified(self, tables: Sequence[str]) -> Mapping[str, str]:
        """Return the columns of these tables that a foreign key equates, each with the other one."""
        return {column: same for table in tables for column, same in self._keys.get(table, {}).items()}


_EMPTY = SpiderQuery()


def structure(prediction: str, gold: str, schema: SpiderSchema) -> Structure:
    """Compare the text of a prediction with its gold's.

    A prediction that cannot be read counts as an empty query, as in Spider's script.

    Raises:
        ValueError: the gold cannot be read.
    """
    expected = read(gold, schema)
    if expected is None:
        raise ValueError(f"the gold query is no SELECT over the schema: {gold}")
    return compare(read(prediction, schema), expected)


def compare(prediction: SpiderQuery | None, gold: SpiderQuery) -> Structure:
    """Compare a prediction that was read, None if it could not be, with its gold."""
    found = prediction or _EMPTY
    parts = _parts(found, gold)
    return Structure(
        hardness=hardness(gold),
        exact=_all_right(parts) and _same_tables(found, gold),
        parsed=prediction is not None,
        parts=parts,
    )


def _is_exact(prediction: SpiderQuery, gold: SpiderQuery) -> bool:
    return _same_tables(prediction, gold) and _all_right(_parts(prediction, gold))


def _all_right(parts: Mapping[SpiderPart, Match]) -> bool:
    return all(match.is_right for match in parts.values())


def _same_tables(prediction: SpiderQuery, gold: SpiderQuery) -> bool:
    return sorted(prediction.tables) == sorted(gold.tables)


def _parts(prediction: SpiderQuery, gold: SpiderQuery) -> dict[SpiderPart, Match]:
    both = (prediction, gold)
    return {
        SpiderPart.SELECT: _overlap(*(query.select for query in both)),
        SpiderPart.SELECT_NO_AGGREGATE: _overlap(*([item.text for item in query.select] for query in both)),
        SpiderPart.WHERE: _overlap(*(query.where.units for query in both)),
        SpiderPart.WHERE_NO_OPERATOR: _overlap(
            *([unit.left for unit in query.where.units] for query in both)
        ),
        SpiderPart.GROUP_BY: _overlap(*([term.bare for term in query.group] for query in both)),
        SpiderPart.GROUP_BY_HAVING: _whole(*(_group_and_having(query) for query in both)),
        SpiderPart.ORDER_BY: _whole(*(_order(query) for query in both)),
        SpiderPart.AND_OR: _and_or(prediction, gold),
        SpiderPart.SET_OPERATIONS: _set_operations(prediction, gold),
        SpiderPart.KEYWORDS: _overlap(*(_keywords(query) for query in both)),
    }


def _overlap(predicted: Iterable[Hashable], gold: Iterable[Hashable]) -> Match:
    ours, theirs = Counter(predicted), Counter(gold)
    return Match(ours.total(), theirs.total(), (ours & theirs).total())


def _whole(predicted: object, gold: object) -> Match:
    """Return a component that counts as one, or not at all where it is None."""
    has = predicted is not None, gold is not None
    return Match(int(has[0]), int(has[1]), int(all(has) and predicted == gold))


def _group_and_having(query: SpiderQuery) -> object:
    """HAVING counts only behind a GROUP BY, and the order of the terms does count here."""
    return ([term.text for term in query.group], query.having) if query.group else None


def _order(query: SpiderQuery) -> object:
    """Compare the direction, one for all terms; of LIMIT and OFFSET only the presence counts."""
    if not query.order:
        return None
    return (query.direction, query.order, query.limit, query.offset)


def _and_or(prediction: SpiderQuery, gold: SpiderQuery) -> Match:
    """Compare which of AND and OR occur in WHERE; the same on both sides counts as present, even none.

    Where they differ, the script exchanges the counts of the two sides, which decides whether a pair enters
    accuracy or recall; so it is here.
    """
    ours, theirs = set(prediction.where.connectors()), set(gold.where.connectors())
    return Match(1, 1, 1) if ours == theirs else Match(len(theirs), len(ours), 0)


def _set_operations(prediction: SpiderQuery, gold: SpiderQuery) -> Match:
    ours, theirs = prediction.following, gold.following
    matched = (
        ours is not None and theirs is not None and ours[0] == theirs[0] and _is_exact(ours[1], theirs[1])
    )
    return Match(int(ours is not None), int(theirs is not None), int(matched))


def _keywords(query: SpiderQuery) -> set[str]:
    clauses = (query.joins, query.where, query.having)
    leaves = [leaf for clause in clauses for leaf in clause.leaves()]
    present = {
        "where": query.where.units,
        "group": query.group,
        "having": query.having.units,
        "order": query.order,
        query.direction: query.order,
        "limit": query.limit,
        "offset": query.offset,
        "or": any("or" in clause.connectors() for clause in clauses),
        "not": any(leaf.negated for leaf in leaves),
        "in": any(leaf.operator == "in" for leaf in leaves),
        "like": any(leaf.operator == "like" for leaf in leaves),
    }
    words = {word for word, is_there in present.items() if is_there}
    return words | ({query.following[0]} if query.following is not None else set())


def hardness(query: SpiderQuery) -> Hardness:
    """Return the level of a query, how hard it is, of Spider's four.

    Criteria: "SQL Hardness Criteria" of https://github.com/taoyds/spider/tree/master/evaluation_examples;
    where the script counts otherwise than this says, as the script does (docs/reference/spider.md).
    """
    clauses, queries, others = _clauses(query), _nested_queries(query), _others(query)
    if queries:
        is_hard = clauses <= 1 and others == 0 and queries == 1
        return Hardness.HARD if is_hard else Hardness.EXTRA
    if clauses <= 1 and others == 0:
        return Hardness.EASY
    if (clauses <= 1 and others <= 2) or (clauses == 2 and others <= 1):  # noqa: PLR2004 - Spider's figures
        return Hardness.MEDIUM
    if (clauses <= 2 and others > 2) or (clauses == 3 and others <= 2):  # noqa: PLR2004
        return Hardness.HARD
    return Hardness.EXTRA


def _clauses(query: SpiderQuery) -> int:
    """Count components 1: WHERE, GROUP BY, ORDER BY, LIMIT, every JOIN, every OR, every LIKE."""
    present = (query.where.units, query.group, query.order, query.limit)
    every = (query.joins, query.where, query.having)
    return (
        sum(map(bool, present))
        + max(0, len(query.tables) - 1)
        + sum(clause.connectors().count("or") for clause in every)
        + sum(leaf.operator == "like" for clause in every for leaf in clause.leaves())
    )


def _nested_queries(query: SpiderQuery) -> int:
    """Count components 2: the set operation, and every nested query."""
    return query.nested + (query.following is not None)


def _others(query: SpiderQuery) -> int:
    """Count others: more than one aggregate, column of SELECT, condition of WHERE, term of GROUP BY.

    Of WHERE and HAVING the script takes every NOT for an aggregate, and every AND or OR of HAVING, but none
    of their aggregates.
    """
    where, having = query.where.leaves(), query.having.leaves()
    mistaken = sum(leaf.negated for leaf in (*where, *having)) + len(query.having.connectors())
    counts = (query.aggregates + mistaken, len(query.select), len(where), len(query.group))
    return sum(count > 1 for count in counts)


LONGEST = 20_000
"""Characters of a text that is read."""


def read(sql: str, schema: SpiderSchema) -> SpiderQuery | None:
    """Read one SELECT or compound SELECT of SQLite's dialect.

    Returns:
        Its clauses, or None where the text is nothing of the kind, names what `schema` does not have, is
        longer than `LONGEST`, or is nested too deeply.
    """
    if len(sql) > LONGEST:
        return None
    from harness.sqltree.spider.trees import query_of  # noqa: PLC0415 - sqlglot takes as long as 500 pairs

    return query_of(sql, schema)

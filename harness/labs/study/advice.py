"""Selection of indexes: the candidates that the optimizer uses and that reduce the work.

All candidates are made at once, and the optimizer chooses among them for every text. What no plan uses goes.
Then the workload is counted with what is left, and each index answers for the texts whose plans use it: where
these do no less work together than without any, it goes, and what is left is counted again. In the end the
whole workload does less work than without the indexes, or there are none.

It is the classic choice of what-if tools (S. Chaudhuri, V. Narasayya, VLDB 1997), but nothing is estimated:
indexes are really there, and work is counted (`harness.engines.execution`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dialects.clauses import sources_of
from dialects.enums import Dialect
from dialects.schema import Schema, Table
from harness.labs.study.copies import DatabaseCopy, Index, Made
from harness.sqltree.parser import TooMuch, statements

# Which indexes could serve a text: read from its comparisons, joins and orders.
#
# Per SELECT and table: columns that are held equal to a value, columns that are joined, columns in a range,
# and the columns of ORDER BY and GROUP BY or of a single MIN or MAX. An index serves the first before the
# later ones: equality, then join, then range or order (R. Ramakrishnan, J. Gehrke, Database Management
# Systems, 3rd edition, 20.2). A column inside a call serves nothing. Whether an optimizer wants any of them
# is measured (`harness.labs.study.advice`).

MOST_COLUMNS = 3
"""Most columns of one index."""

MOST_INDEXES = 24
"""Most indexes of one table: those that could serve most texts. Each is built before its use is known."""

_EQUAL = (exp.EQ, exp.NullSafeEQ, exp.Is, exp.In)
_QUERIES = (exp.Select, exp.SetOperation)
_RANGE = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.Like)


@dataclass
class _Uses:
    """The uses of one table's columns in one SELECT: names, each once, in the order met."""

    equal: dict[str, None] = field(default_factory=dict)
    joined: dict[str, None] = field(default_factory=dict)
    ranged: dict[str, None] = field(default_factory=dict)
    ordered: dict[str, None] = field(default_factory=dict)


def candidates(texts: Iterable[str], dialect: Dialect, schema: Schema) -> list[Index]:
    """Return the indexes that could serve some texts, most texts first, except those of primary keys.

    Args:
        texts: in one dialect; what cannot be parsed is passed over.
        dialect: theirs.
        schema: the database's; the names of indexes are its own.
    """
    found: Counter[Index] = Counter()
    tables = {table.name.lower(): table for table in schema.tables}
    for text in texts:
        wanted = {
            index: None
            for select in _selects(text, dialect)
            for table, uses in _uses(select, tables).items()
            for index in _indexes(tables[table], uses)
        }
        found.update(wanted.keys())
    # The sort is stable: of equals the one that was met first.
    kept: Counter[str] = Counter()
    most = []
    for index, _ in found.most_common():
        kept[index.table] += 1
        if kept[index.table] <= MOST_INDEXES:
            most.append(index)
    return most


def _selects(text: str, dialect: Dialect) -> list[exp.Select]:
    """Return the SELECTs of a text, each behind those within it; none where it cannot be read."""
    try:
        [tree] = statements(text, dialect)
        return list(_inside_out(tree))
    except (SqlglotError, TooMuch, RecursionError, ValueError):
        return []


def _inside_out(tree: exp.Expr) -> Iterator[exp.Select]:
    for node in _own(tree):
        if isinstance(node, _QUERIES) and node is not tree:
            yield from _inside_out(node)
    if isinstance(tree, exp.Select):
        yield tree


def _own(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the nodes of a query without those of the queries within it."""
    return tree.dfs(prune=lambda node: isinstance(node, _QUERIES) and node is not tree)


def _indexes(table: Table, uses: _Uses) -> Iterator[Index]:
    """Yield the indexes that serve one SELECT's uses of a table."""
    equal, joined, ranged, ordered = map(list, (uses.equal, uses.joined, uses.ranged, uses.ordered))
    wanted: list[tuple[str, ...]] = [(one,) for one in (*equal, *joined, *ranged, *ordered[:1])]
    wanted.append(tuple(equal))
    for join in joined:
        wanted += [(*equal, join), (join, *equal)]
    wanted += [(*equal, one) for one in ranged]
    wanted += [(*equal, *ordered), tuple(ordered)]
    for columns in wanted:
        once, key = tuple(dict.fromkeys(columns))[:MOST_COLUMNS], table.primary_key
        # What begins the key is found by it, and behind a whole key there is nothing left to find.
        shared = min(len(once), len(key))
        if once and not (shared and once[:shared] == key[:shared]):
            yield Index(table.name, once)


def _uses(select: exp.Select, tables: Mapping[str, Table]) -> dict[str, _Uses]:
    """Return the uses of each base table in a SELECT, by the table's name in lower case."""
    sources = [
        (item.name.lower(), item.table.lower())
        for item in sources_of(select)
        if item.table.lower() in tables and item.cte(str.lower) is None
    ]
    found: dict[str, _Uses] = {}

    def place(node: exp.Expr | None) -> tuple[_Uses, str] | None:
        """Return where a bare column is noted, and its name in the schema."""
        while isinstance(node, exp.Paren | exp.Ordered):
            node = node.this
        if not isinstance(node, exp.Column):
            return None
        name, qualifier = node.name.lower(), node.table.lower()
        wanted = [table for alias, table in sources if qualifier in {"", alias}]
        owners = {
            (table, column.name)
            for table in (wanted[:1] if qualifier else wanted)
            for column in tables[table].columns
            if column.name.lower() == name
        }
        if len(owners) != 1:
            return None
        [(table, column)] = owners
        return found.setdefault(table, _Uses()), column

    for node in _own(select):
        if not isinstance(node, (*_EQUAL, *_RANGE, exp.Order, exp.Group, exp.Min, exp.Max)):
            continue
        if isinstance(node, _EQUAL + _RANGE):
            sides = [place(node.this), place(node.args.get("expression"))]
            kind = "joined" if all(sides) else "equal" if isinstance(node, _EQUAL) else "ranged"
        else:
            sides = [place(one) for one in node.expressions or [node.this]]
            kind = "ordered"
        for uses, column in filter(None, sides):
            getattr(uses, kind)[column] = None
    return found


MOST_ROUNDS = 6
"""How often the remaining indexes are counted: each round but the last drops at least one."""

Count = Callable[[str], float | None]
"""Returns the work of the engine on one text of the workload, in units; None where the text does not
finish."""

Used = Callable[[str], frozenset[str]]
"""The names of the indexes in the plan of a text."""


@dataclass(frozen=True)
class Advice:
    """The advice for a workload.

    `kept` are the indexes that are there at the end, in the order of the candidates; `made` says of every
    candidate how making it ended. `before` and `after` are the work of the whole workload without and with
    what is kept, of the texts that come to their end without.
    """

    kept: tuple[Index, ...]
    made: Mapping[Index, Made]
    used: frozenset[Index]
    before: float
    after: float


def advise(  # noqa: PLR0913, PLR0917 - a workload, and how it is looked at
    copy: DatabaseCopy,
    candidates: Sequence[Index],
    texts: Sequence[str],
    before: Mapping[str, float | None],
    count: Count,
    used: Used,
) -> Advice:
    """Choose among candidates, and leave those chosen in a copy.

    Args:
        copy: has none of the candidates.
        candidates: what could serve the texts.
        texts: the workload; a text that is there twice counts twice.
        before: the work of each text without any of them.
        count: counts the work of a text in the copy.
        used: reads the plan of a text there.

    Raises:
        EngineUnavailable: the engine broke.
    """
    made = {index: copy.add(index) for index in candidates}
    there = {index.name: index for index, one in made.items() if one.refused is None}
    plans = {text: used(text) & there.keys() for text in dict.fromkeys(texts)}
    ever = frozenset(there[name] for name in frozenset().union(*plans.values()))
    total = sum(before[text] or 0.0 for text in texts)
    _remove(copy, there, [name for name in there if there[name] not in ever])
    after = total
    for round_ in range(MOST_ROUNDS):
        if not there:
            after = total
            break
        plans = {text: used(text) & there.keys() for text in dict.fromkeys(texts)}
        gains: dict[str, float] = dict.fromkeys(there, 0.0)
        after = 0.0
        # Of all texts: the optimizer knows more of a column that has an index, whether it uses that or not.
        works = {text: count(text) for text in plans}
        for text in texts:
            old, new = before[text], works[text]
            if old is None:
                continue
            # A text that no longer finishes has lost more than it had.
            gain = old - new if new is not None else -total
            after += old - gain
            for name in plans[text]:
                gains[name] += gain
        useless = [name for name, gain in gains.items() if gain <= 0]
        if not useless and after <= total:
            break
        is_last = round_ == MOST_ROUNDS - 1
        _remove(copy, there, list(there) if is_last or not useless else useless)
        if is_last:
            after = total
    kept = tuple(index for index in candidates if index.name in there)
    return Advice(kept, made, ever, total, after)


def _remove(copy: DatabaseCopy, there: dict[str, Index], names: Sequence[str]) -> None:
    for name in names:
        copy.remove(there.pop(name))

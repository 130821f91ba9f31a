"""A long run: many queries, counted by construct, with every fault made small.

Query number N of a seed is always the same, so that a fault can be looked at again by its number.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from dialects.enums import Dialect
from harness.engines.base import EngineLost
from harness.engines.execution import Ending, Execution, Limits
from harness.labs.conformance.comparison import Checked, Checker, QueryVerdict, without_names
from harness.provision import native
from loaders.base import paths
from loaders.base.errors import EngineUnavailable
from tests.fuzz.catalog import Catalog
from tests.fuzz.grammar.statements import is_ordered, statement
from tests.fuzz.shrinking import shrink
from tests.fuzz.tree import Node

MOST_UNTRANSLATABLE = 0.08
LIMITS = Limits(seconds=3.0, rows=20_000, bytes=2**24)
_ODD_FIRST = 0.7
"""How often a query is over the first database."""
_MOST_SHRUNK_ALIKE = 3
LOST = "the server is gone"
_DRAWS = 3
"""A third of all draws return no row, which shows little; of three draws, one in thirty return none."""


@dataclass(frozen=True)
class Fault:
    """A query that is not the same elsewhere, as small as it got."""

    number: int
    db_id: str
    target: Dialect
    sql: str
    checked: Checked
    tags: frozenset[str]

    @property
    def group(self) -> str:
        """Faults of one group probably have one cause."""
        if self.checked.verdict is QueryVerdict.SILENT:
            return f"{self.target} silent: {', '.join(sorted(self.tags)) or 'no construct'}"
        return f"{self.target} {self.checked.verdict}: {without_names(self.checked.detail)}"


@dataclass
class Result:
    """The counts of a run."""

    queries: int = 0
    invalid: Counter[str] = field(default_factory=Counter)
    """Queries that SQLite refused, by its words."""
    empty: int = 0
    generated: Counter[str] = field(default_factory=Counter)
    """Valid queries by construct."""
    verdicts: Counter[tuple[Dialect, QueryVerdict]] = field(default_factory=Counter)
    by_tag: Counter[tuple[str, QueryVerdict]] = field(default_factory=Counter)
    reasons: Counter[tuple[Dialect, str]] = field(default_factory=Counter)
    """Why there was no translation."""
    faults: list[Fault] = field(default_factory=list)

    @property
    def valid(self) -> int:
        """Queries that SQLite answered."""
        return self.queries - sum(self.invalid.values())

    @property
    def share_with_rows(self) -> float:
        """The share of valid queries that return rows."""
        return 1 - self.empty / max(1, self.valid)

    def untranslatable(self, target: Dialect) -> float:
        """The share of valid queries without translation."""
        return self.verdicts[target, QueryVerdict.UNTRANSLATABLE] / max(1, self.valid)

    @property
    def passed(self) -> bool:
        """Whether the promise held."""
        targets = {target for target, _ in self.verdicts}
        return not self.faults and all(
            self.untranslatable(target) <= MOST_UNTRANSLATABLE for target in targets
        )


def query(
    seed: int, number: int, catalogs: Sequence[Catalog], *, even: bool = False, draw: int = 0
) -> tuple[Node, Catalog]:
    """Query `number` of `seed`; `even` gives all constructs the same weight, `draw` counts its texts."""
    random = Random(f"{seed}:{number}" + (f":{draw}" if draw else ""))  # noqa: S311 - not for secrets
    odd = len(catalogs) == 1 or random.random() < _ODD_FIRST
    catalog = catalogs[0] if odd else catalogs[1 + random.randrange(len(catalogs) - 1)]
    return statement(random, catalog, even=even), catalog


def run(  # noqa: PLR0913 - what is run, and how
    checker: Checker,
    catalogs: Sequence[Catalog],
    seed: int,
    numbers: range,
    say: Callable[[Result], None],
    *,
    even: bool = False,
) -> Result:
    """Check the queries of a seed.

    Args:
        checker: the engines.
        catalogs: the databases, the one to use most first.
        seed: chooses the queries.
        numbers: which of them.
        say: is told after each.
        even: whether all constructs have the same weight.
    """
    result = Result()
    alike: Counter[str] = Counter()
    with suppress(KeyboardInterrupt):  # what was found until then is reported
        for number in numbers:
            node, catalog = with_rows(checker, seed, number, catalogs, even=even)
            result.queries += 1
            small = node
            for fault in _one(checker, catalog, node, number, result):
                is_new = alike[fault.group] < _MOST_SHRUNK_ALIKE
                is_lost = fault.checked.detail.startswith(LOST)
                if (fault.checked.verdict is QueryVerdict.SILENT or is_new) and not is_lost:
                    # What shows a fault of one target mostly shows one of the other.
                    fault, small = _shrunk(checker, catalog, (small, node), fault)  # noqa: PLW2901
                alike[fault.group] += 1
                result.faults.append(fault)
            say(result)
    return result


def with_rows(
    checker: Checker, seed: int, number: int, catalogs: Sequence[Catalog], *, even: bool = False
) -> tuple[Node, Catalog]:
    """The first draw of a query that returns rows on SQLite, or the last."""
    for draw in range(_DRAWS):
        node, catalog = query(seed, number, catalogs, even=even, draw=draw)
        if checker.expect(str(node), catalog).rows:
            break
    return node, catalog


def _one(checker: Checker, catalog: Catalog, node: Node, number: int, result: Result) -> Iterator[Fault]:
    sql, tags = str(node), node.tags
    expected = checker.expect(sql, catalog)
    if expected.ending is not Ending.ROWS:
        result.invalid[f"{expected.ending}: {without_names(expected.error or '')}"] += 1
        return
    result.generated.update(tags)
    result.empty += not expected.rows
    worst: set[QueryVerdict] = set()
    for target, checked in _on_all(checker, sql, catalog, expected, ordered=is_ordered(node)):
        result.verdicts[target, checked.verdict] += 1
        worst.add(checked.verdict)
        if checked.verdict is QueryVerdict.UNTRANSLATABLE:
            result.reasons[target, without_names(checked.detail)] += 1
        if checked.verdict.is_fault:
            yield Fault(number, catalog.database.db_id, target, sql, checked, tags)
    for verdict in worst:
        result.by_tag.update((tag, verdict) for tag in tags)


def _on_all(
    checker: Checker, sql: str, catalog: Catalog, expected: Execution, *, ordered: bool
) -> list[tuple[Dialect, Checked]]:
    """`check` for every target, at the same time; a server that the query has ended is started again."""

    def check(target: Dialect) -> tuple[Dialect, Checked]:
        try:
            return target, checker.check(sql, catalog, expected, target, ordered=ordered)
        except EngineLost as error:
            with suppress(EngineUnavailable):
                native.revive(target, home=paths.state() / target)
            return target, Checked(QueryVerdict.ERROR, f"{LOST}: {error}")

    with ThreadPoolExecutor(len(checker.engines)) as pool:
        return list(pool.map(check, checker.engines))


def _shrunk(checker: Checker, catalog: Catalog, starts: Sequence[Node], fault: Fault) -> tuple[Fault, Node]:
    """A smaller query that shows the same fault, from the first of `starts` that does; the last one does."""
    found = fault

    def shows_it(variant: Node) -> bool:
        nonlocal found
        sql = str(variant)
        expected = checker.expect(sql, catalog)
        if expected.ending is not Ending.ROWS:
            return False
        checked = checker.check(sql, catalog, expected, fault.target, ordered=is_ordered(variant))
        smaller = Fault(fault.number, fault.db_id, fault.target, sql, checked, variant.tags)
        if checked.verdict is not fault.checked.verdict or (
            checked.verdict is not QueryVerdict.SILENT and smaller.group != fault.group
        ):
            return False
        found = smaller
        return True

    start = next((start for start in starts[:-1] if shows_it(start)), starts[-1])
    small = shrink(start, shows_it)
    return found, small

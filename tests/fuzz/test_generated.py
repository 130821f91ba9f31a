"""No silent difference: what is generated from the grammar answers the same, warns, or has no translation."""

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dialects.enums import Dialect
from harness.engines.execution import Ending
from harness.labs.conformance.comparison import Checker, QueryVerdict
from tests.every_engine import LOADED
from tests.fuzz.catalog import Catalog
from tests.fuzz.grammar.statements import is_ordered, statement
from tests.fuzz.regressions import REGRESSIONS, Regression
from tests.fuzz.shrinking import shrink
from tests.fuzz.tree import Node


def _fault(checker: Checker, catalog: Catalog, node: Node, target: Dialect) -> str | None:
    """What is wrong with a target's answer, if SQLite has one."""
    expected = checker.expect(str(node), catalog)
    if expected.ending is not Ending.ROWS:
        return None
    checked = checker.check(str(node), catalog, expected, target, ordered=is_ordered(node))
    return f"{target} {checked.verdict}: {checked.detail}" if checked.verdict.is_fault else None


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize("target", LOADED)
def test_generated_queries_answer_the_same(
    checker: Checker, catalogs: list[Catalog], target: Dialect
) -> None:
    # Faults are made smaller by `shrink`, which knows what keeps an answer unique.
    @settings(max_examples=40, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.sampled_from([catalogs[0], catalogs[0], *catalogs]), st.randoms(use_true_random=False))
    def holds(catalog: Catalog, random: Random) -> None:
        node = statement(random, catalog)
        fault = _fault(checker, catalog, node, target)
        if fault is not None:
            node = shrink(node, lambda variant: _fault(checker, catalog, variant, target) is not None)
            pytest.fail(f"{catalog.database.db_id}: {node}\n{_fault(checker, catalog, node, target)}")

    holds()


@pytest.mark.engine
@pytest.mark.parametrize("target", LOADED)
@pytest.mark.parametrize("row", REGRESSIONS, ids=lambda row: row.name)
def test_a_difference_once_found_stays_away(
    checker: Checker, catalogs: list[Catalog], row: Regression, target: Dialect
) -> None:
    catalog = next(found for found in catalogs if found.database.db_id == row.db_id)
    expected = checker.expect(row.sql, catalog)
    assert expected.ending is Ending.ROWS, expected.error
    checked = checker.check(row.sql, catalog, expected, target, ordered=row.ordered)
    assert not checked.verdict.is_fault, f"{checked.verdict}: {checked.detail}\n{checked.translation}"
    assert (checked.verdict is QueryVerdict.UNTRANSLATABLE) == (target in row.untranslatable), checked.detail

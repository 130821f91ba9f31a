"""Plans held against each other: what both have stands side by side, whatever names and costs it has."""

from hypothesis import given
from hypothesis import strategies as st

from harness.engines.plans import Operator, PlanNode, StepMark, compare_plans, steps_of
from loaders.base.records import to_record


def scan(table: str, cost: float | None = None, operator: Operator = Operator.SCAN) -> PlanNode:
    return PlanNode(operator, f"Seq Scan on {table}", table=table, cost=cost, real_rows=cost, loops=1)


def node(operator: Operator, *children: PlanNode) -> PlanNode:
    return PlanNode(operator, operator.value, children=children)


def marks(gold: PlanNode, prediction: PlanNode) -> list[str]:
    return [each.mark.value for each in compare_plans(gold, prediction).steps]


def test_costs_rows_names_and_conditions_make_no_other_plan() -> None:
    one = node(Operator.SORT, scan("Book", 1.0))
    other = node(
        Operator.SORT, PlanNode(Operator.SCAN, "?", table="book", alias="b", condition="x", cost=9.0)
    )
    assert compare_plans(one, other).is_same
    assert marks(one, other) == ["same", "same"]


def test_what_only_one_has_stands_alone() -> None:
    gold = node(Operator.AGGREGATE, scan("book"))
    prediction = node(Operator.AGGREGATE, node(Operator.SORT, scan("book")))
    found = compare_plans(gold, prediction)
    assert not found.is_same
    assert [each.mark for each in found.steps] == [StepMark.SAME, StepMark.ALONE, StepMark.SAME]
    assert found.steps[1].gold is None


def test_another_way_to_the_same_table_stands_beside_it() -> None:
    gold = node(Operator.HASH_JOIN, scan("book"), scan("author"))
    prediction = node(Operator.NESTED_LOOP, scan("book"), scan("author", operator=Operator.INDEX_SEARCH))
    assert marks(gold, prediction) == ["other", "same", "other"]


def test_another_index_is_another_way() -> None:
    one = PlanNode(Operator.INDEX_SEARCH, "?", table="book", index="by_author")
    other = PlanNode(Operator.INDEX_SEARCH, "?", table="book", index="by_pages")
    assert marks(one, other) == ["other"]


def test_steps_on_other_tables_never_stand_beside_each_other() -> None:
    assert marks(scan("book"), scan("author")) == ["alone", "alone"]


def test_the_same_steps_in_another_tree_are_another_plan() -> None:
    flat = node(Operator.UNION, node(Operator.LIMIT), scan("book"))
    nested = node(Operator.UNION, node(Operator.LIMIT, scan("book")))
    assert not compare_plans(flat, nested).is_same


def test_unknown_operators_are_told_apart_by_the_engines_words() -> None:
    one, other = (PlanNode(Operator.UNKNOWN, words) for words in ("Warp", "Weft"))
    assert compare_plans(one, one).is_same
    assert not compare_plans(one, other).is_same


TABLES = st.sampled_from(["a", "b", "c", None])
TREES = st.recursive(
    st.builds(PlanNode, st.sampled_from(list(Operator)), st.just("?"), TABLES),
    lambda below: st.builds(
        lambda operator, table, children: PlanNode(operator, "?", table, children=tuple(children)),
        st.sampled_from(list(Operator)), TABLES, st.lists(below, max_size=3),
    ),
    max_leaves=8,
)  # fmt: skip


@given(TREES, TREES)
def test_every_step_of_both_is_there_once_and_in_its_order(gold: PlanNode, prediction: PlanNode) -> None:
    found = compare_plans(gold, prediction)
    assert [each.gold for each in found.steps if each.gold] == steps_of(gold)
    assert [each.prediction for each in found.steps if each.prediction] == steps_of(prediction)
    assert found.is_same == (
        all(each.mark is StepMark.SAME for each in found.steps)
        and all(
            each.gold and each.prediction and each.gold.depth == each.prediction.depth for each in found.steps
        )
    )
    assert compare_plans(gold, gold).is_same


@given(TREES)
def test_a_plan_is_read_back_as_it_was_written(plan: PlanNode) -> None:
    assert to_record(PlanNode, plan.to_json()) == plan

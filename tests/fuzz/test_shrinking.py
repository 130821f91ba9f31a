from tests.fuzz.shrinking import shrink, smaller
from tests.fuzz.tree import Node, Role, apart, expression, frozen, listed, optional, plain


def _query() -> Node:
    inner = expression("ROUND(", expression("price"), ", 2)")
    return plain(
        Node(
            Role.SELECT, ("SELECT ", listed([plain(expression("a")), plain(expression("ABS(", inner, ")"))]))
        ),
        optional(" WHERE ", expression("(", expression("x"), " = ", expression("y"), ")")),
        optional(" ORDER BY ", frozen("1, 2"), optional(" LIMIT 3")),
    )


def test_a_query_shrinks_to_what_is_interesting() -> None:
    shrunk = shrink(_query(), lambda node: "ROUND" in str(node))
    assert str(shrunk) == "SELECT ROUND(1, 2)"


def test_what_makes_an_answer_unique_goes_as_a_whole_or_stays() -> None:
    shrunk = shrink(_query(), lambda node: "LIMIT" in str(node))
    assert str(shrunk) == "SELECT a ORDER BY 1, 2 LIMIT 3"


def test_what_belongs_where_it_is_does_not_leave() -> None:
    call = expression(apart("MAX(", expression("ABS(", expression("x"), ")"), ")"))
    shrunk = shrink(plain("SELECT ", call), lambda node: "x" in str(node))
    assert str(shrunk) == "SELECT MAX(x)"


def test_variants_are_shorter_and_the_shortest_comes_first() -> None:
    sizes = [len(str(variant)) for variant in smaller(_query())]
    assert sizes == sorted(sizes)
    assert max(sizes) < len(str(_query()))


def test_no_more_variants_are_tried_than_allowed() -> None:
    tried: list[str] = []

    def never(variant: Node) -> bool:
        tried.append(str(variant))
        return False

    assert shrink(_query(), never, attempts=3) == _query()
    assert len(tried) == 3

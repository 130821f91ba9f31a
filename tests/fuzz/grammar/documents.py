"""JSON functions and operators. https://sqlite.org/json1.html."""

from tests.fuzz.catalog import Kind
from tests.fuzz.generator import Generator, rule
from tests.fuzz.leaves import literal, spelled
from tests.fuzz.tree import Node, expression

_PATHS = (
    "'$.a'",
    "'$.b[1]'",
    "'$[0]'",
    "'$.c.d'",
    "'$'",
    "'$.b'",
    "'$.name'",
    "'$[#-1]'",
    "'$.b[#-1]'",
    "'$.none'",
    "'$.id'",
)


def document(gen: Generator) -> Node:
    """A text that is JSON."""
    refs = gen.refs(Kind.JSON)
    return spelled(gen, gen.pick(refs)) if refs and gen.chance(0.8) else literal_document(gen)


def literal_document(gen: Generator) -> Node:
    """A literal of JSON that is never NULL."""
    while True:
        node = literal(gen, Kind.JSON)
        if str(node).startswith("'"):
            return node


@rule("json-extract", Kind.TEXT, Kind.INTEGER, Kind.REAL, weight=1)
def extract(gen: Generator, _: Kind) -> Node:
    return expression(gen.pick(("JSON_EXTRACT(", "json_extract(")), document(gen), f", {gen.pick(_PATHS)})")


@rule("json-arrow", Kind.TEXT, Kind.INTEGER, weight=1)
def arrow(gen: Generator, _: Kind) -> Node:
    operator = gen.pick((" -> ", " ->> ", " ->> "))
    right = gen.pick((*_PATHS, "'a'", "'b'", "'id'", "0", "1"))
    return expression("(", document(gen), f"{operator}{right})")


@rule("json-type", Kind.TEXT, weight=1)
def kind_of(gen: Generator, _: Kind) -> Node:
    path = gen.pick(("", f", {gen.pick(_PATHS)}"))
    return expression("JSON_TYPE(", document(gen), path, ")")


@rule("json-array-length", Kind.INTEGER, weight=1)
def array_length(gen: Generator, _: Kind) -> Node:
    path = gen.pick(("", f", {gen.pick(_PATHS)}"))
    return expression("JSON_ARRAY_LENGTH(", document(gen), path, ")")


@rule("json-valid", Kind.CONDITION, weight=1)
def valid(gen: Generator, _: Kind) -> Node:
    return expression("JSON_VALID(", gen.expr(Kind.JSON, Kind.TEXT), ")")


@rule("json-build", Kind.JSON, Kind.TEXT, weight=1)
def build(gen: Generator, _: Kind) -> Node:
    if gen.chance(0.5):
        return expression("JSON_ARRAY(", gen.expr(Kind.INTEGER), ", ", gen.expr(Kind.TEXT), ")")
    return expression("JSON_OBJECT('k', ", gen.expr(Kind.INTEGER, Kind.TEXT), ")")


@rule("json-minify", Kind.JSON, weight=1)
def minify(gen: Generator, _: Kind) -> Node:
    return expression("JSON(", document(gen), ")")

"""SQLite's functions on JSON: texts that are built; of texts that are read, constants alone.

https://sqlite.org/json1.html
"""

from collections.abc import Sequence

from sqlglot import exp

from dialects.coercions import as_text
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.nodes import Joined, JSONString, string
from dialects.rewrites.calls import folded, scalar
from dialects.rules import Context, Rule
from dialects.scope import Scope
from dialects.typed import Kind, Typed, text

RULES = (
    Rule(
        "json-text",
        "json_array(), json_object() and json_group_array() write values as JSON; only what another such"
        " function gives is JSON already.",
        "https://sqlite.org/json1.html#interface_overview",
        "The text put together; JSON_QUOTE() on MySQL and to_json() on PostgreSQL for texts.",
    ),
)

BUILDERS = frozenset({"json_array", "json_object"})
LIST = "json_group_array"
"""The aggregate."""

_DOCUMENTS = BUILDERS | {LIST}


def _of_constants(name: str, least: int = 1, most: int | None = 1) -> None:
    @scalar(name, least=least, most=most, strict=False)
    def refused(_c: Context, _arguments: list[Typed]) -> Typed:
        raise Untranslatable(f"{name}() of a column", "SQLite's parser says what is JSON, and of which type")


_of_constants("json_valid")
_of_constants("json_type", most=2)
_of_constants("json_array_length", most=2)
_of_constants("json_extract", least=2, most=None)


def build(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    """json_array(...) and json_object(...)."""
    name, arguments = node.name.lower(), node.expressions
    found = [c.expression(argument, scope) for argument in arguments]
    c.documents.append(scope)
    if name == "json_array":
        parts = [element(c, written, part, scope) for written, part in zip(arguments, found, strict=True)]
        return _written(c, "[", parts, "]")
    if len(arguments) % 2:
        raise Untranslatable("json_object()", "SQLite has no such function with an odd number of arguments")
    pairs = []
    for at in range(0, len(arguments), 2):
        if found[at].kind is not Kind.TEXT or found[at].nullable:
            raise Untranslatable("json_object()", "SQLite refuses labels that are no texts")
        label = _string(c, found[at])
        value = element(c, arguments[at + 1], found[at + 1], scope)
        pairs.append(Joined(expressions=[label, string(":"), value]))
    return _written(c, "{", pairs, "}")


def _written(c: Context, begin: str, parts: Sequence[exp.Expr], end: str) -> Typed:
    c.applies("json-text")
    if not parts:
        return text(string(begin + end), nullable=False)
    pieces = [string(begin)]
    for at, part in enumerate(parts):
        pieces += [string(",")] if at else []
        pieces += part.expressions if isinstance(part, Joined) else [part]
    return text(Joined(expressions=[*pieces, string(end)]), nullable=False)


def element(c: Compiler, written: exp.Expr, found: Typed, scope: Scope) -> exp.Expr:
    """A value as JSON: a TEXT that is never NULL."""
    if _is_document(written, scope):
        return found.node
    _refuse_hidden_documents(c, written, scope)
    return _element(c, found)


def _element(c: Context, t: Typed) -> exp.Expr:
    match t.kind:
        case Kind.NULL:
            return string("null")
        case Kind.BLOB:
            raise Untranslatable("JSON of a blob", "SQLite refuses it")
        case Kind.ANY if t.each is not None:
            return t.each(lambda part: text(_element(c, part), nullable=False)).node
        case Kind.TEXT:
            node = _string(c, t)
        case _:
            node = as_text(c, t).node
    return exp.Coalesce(this=node, expressions=[string("null")]) if t.nullable else node


def _string(c: Context, t: Typed) -> exp.Expr:
    quoted = folded(c, "json_quote", [t])
    return JSONString(this=t.node) if quoted is None else quoted.node


def _is_document(written: exp.Expr, scope: Scope) -> bool:
    """Whether SQLite takes an argument for JSON: the result of such a function, and no key of GROUP BY."""
    while isinstance(written, exp.Paren):
        written = written.this
    if not isinstance(written, exp.Anonymous) or written.name.lower() not in _DOCUMENTS:
        return False
    if scope.grouping is not None and any(_makes_json(key) for key, _ in scope.grouping.keys):
        raise Untranslatable("JSON in JSON", "SQLite may take a key of GROUP BY for a text or for JSON")
    return True


def _refuse_hidden_documents(c: Compiler, written: exp.Expr, scope: Scope) -> None:
    """Refuse what may be JSON to SQLite, or a text: what a function on JSON gives by a detour.

    Raises:
        Untranslatable: there is such a function in the argument, behind an alias or in a query inside FROM.
    """
    columns = list(written.find_all(exp.Column, exp.Identifier))
    outward = list(scope.outward())
    aliased = any(column.name.lower() in place.aliases for column in columns for place in outward)
    inside = any(all(found is not place for place in outward) for found in c.documents)
    if _makes_json(written) or (c.documents and aliased) or (columns and inside):
        raise Untranslatable("JSON in JSON", "SQLite may take the value for a text or for JSON")


def _makes_json(written: exp.Expr) -> bool:
    calls = written.find_all(exp.Anonymous, exp.JSONExtract, exp.JSONExtractScalar)
    return any(not isinstance(call, exp.Anonymous) or call.name.lower().startswith("json") for call in calls)

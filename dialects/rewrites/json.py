"""SQLite's JSON functions: those that build JSON, and those that read it by constant paths.

https://sqlite.org/json1.html
"""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing

from sqlglot import exp

from dialects.coercions import BIGGEST, as_text, literal, spread
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.functions import Function, rows_of
from dialects.nodes import (
    Alternatives,
    Fits,
    Joined,
    JSONRows,
    JSONString,
    JSONText,
    Slice,
    aliased,
    case,
    coalesced,
    column_of,
    every,
    identifier,
    is_not_null,
    number,
    select,
    server,
    string,
    subquery,
)
from dialects.rewrites.functions import folded
from dialects.scope import Scope
from dialects.trees import find_all, has
from dialects.value_types import (
    Context,
    Kind,
    NumberFacts,
    OneOf,
    TaggedValues,
    Typed,
    boolean,
    integer,
    real,
    text,
)
from dialects.versions import NULL_LABEL

_STEP = re.compile(
    r'\.(?:"(?P<quoted>[^"]*)"|(?P<label>[^."\[][^.\[]*))|\[(?P<end>#-)?(?P<at>\d{1,9})\]|(?P<behind>\[#\])'
)


_Steps = list[str | int | None]


def _path(t: Typed, *, short: bool = False) -> list[str | int]:
    """Return the labels and positions of a path; see `_steps`."""
    steps = _steps(t, short=short)
    known = [step for step in steps if step is not None]
    if len(known) < len(steps):
        raise Untranslatable("a path in JSON", "it points after the last element")
    return known


def _steps(t: Typed, *, short: bool = False) -> _Steps:
    """Return the labels and positions of a path: below 0 from the end, None for after the end.

    `short` for a path after an arrow.

    Raises:
        Untranslatable: it is not a constant, or not a valid path.
    """
    found = None if t.constant is None else t.constant.value
    if not isinstance(found, str | int):
        raise Untranslatable("a path in JSON", "it is not a constant")
    path = str(found)
    if short and not path.startswith("$"):
        path = f"$[{path}]" if path[:1].isdigit() else f"${path}" if path.startswith("[") else f"$.{path}"
    steps: _Steps = []
    place = 1
    while path.startswith("$") and (step := _STEP.match(path, place)):
        place = step.end()
        if step["behind"]:
            steps.append(None)
        elif step["at"] is not None:
            steps.append(-int(step["at"]) if step["end"] else int(step["at"]))
        else:
            steps.append(step["quoted"] if step["quoted"] is not None else step["label"])
    if not path.startswith("$") or place != len(path) or any(step == 0 and "#-0" in path for step in steps):
        raise Untranslatable("a path in JSON", "it is not one, or SQLite reads it in its own way")
    return steps


def _located(c: Context, document: Typed, steps: Sequence[str | int]) -> exp.Expr:
    """Return the JSON of a part of a document, without white space; NULL if there is none."""
    c.applies("json-part")
    node: exp.Expr = server("json_root", as_text(c, document).node)
    for step in steps:
        if isinstance(step, int):
            node = server("json_element", node, number(step))
        else:
            node = server("json_member", node, string(step))
    return node


def _at(c: Context, document: Typed, path: Typed, *, short: bool = False) -> exp.Expr:
    """Return the JSON of a part of a document; `short` if its path follows an arrow."""
    if path.constant is not None:
        return _located(c, document, _path(path, short=short))
    if path.kind is Kind.ANY:
        raise Untranslatable("a path in JSON", "it is a value of several types")
    return server("json_at", _located(c, document, []), as_text(c, path).node, number(int(short)))


def _first(raw: exp.Expr) -> exp.Expr:
    return Slice(this=raw.copy(), start=number(1), length=number(1))


def _is(raw: exp.Expr, *characters: str) -> exp.Expr:
    return exp.In(this=_first(raw), expressions=[string(character) for character in characters])


def _digits(raw: exp.Expr) -> exp.Expr:
    return Fits(this=raw.copy(), expression=string("-?[0-9]+"))


def _value(c: Context, raw: exp.Expr) -> Typed:
    """Return the value that SQLite extracts from JSON; a list or an object is a text."""
    branches = [
        (_is(raw, '"'), text(JSONText(this=raw.copy()))),
        (_is(raw, "[", "{"), text(raw.copy())),
        (_is(raw, "t", "f"), integer(case((_is(raw, "t"), number(1)), default=number(0)), 0, 1)),
        (_is(raw, "n"), literal(None)),
    ]
    double, whole = server("to_real", raw.copy()), server("is_integer", raw.copy())
    if c.long_numbers:
        exact = integer(server("to_integer", raw.copy()), -BIGGEST - 1, BIGGEST)
        branches.append((every([_digits(raw), whole]), exact))
        last = real(double)
    else:
        last = Typed(double, Kind.NUMBER, number=NumberFacts(integral=whole))
    # A JSON number that does not fit an INTEGER is a REAL.
    far = every([_digits(raw), exp.Not(this=server("is_integer", raw.copy()))])
    tagged = case(
        (_is(raw, "[", "{"), JSONString(this=raw.copy())),
        (_is(raw, "t"), string("1")),
        (_is(raw, "f"), string("0")),
        (_is(raw, "n"), exp.Null()),
        (far, Joined(expressions=[raw.copy(), string(".0")])),
        default=raw.copy(),
    )
    low, high = (-BIGGEST - 1, BIGGEST) if c.long_numbers else (None, None)
    known = TaggedValues(texts=True, integers=True, reals=True, low=low, high=high)
    return Typed(tagged, Kind.ANY, several=OneOf((*branches,), last, tagged=known))


def json_valid(c: Context, arguments: list[Typed]) -> Typed:
    """Return a condition that a text is JSON; NULL is not."""
    c.applies("json-part")
    valid = server("json_is_valid", as_text(c, arguments[0]).node)
    return boolean(coalesced(valid, exp.Boolean(this=False)), nullable=False)


def json(c: Context, arguments: list[Typed]) -> Typed:
    """Return a JSON text without white space."""
    return text(_located(c, arguments[0], []))


def json_extract(c: Context, arguments: list[Typed]) -> Typed:
    """Return the value at a path."""
    if len(arguments) > 2:  # noqa: PLR2004 - a document and a path
        return _array(c, arguments[0], arguments[1:])
    return _value(c, _at(c, *arguments))


def _array(c: Context, document: Typed, paths: Sequence[Typed]) -> Typed:
    """Return the parts at several paths as an array, with null for missing ones."""
    pieces: list[exp.Expr] = []
    for path in paths:
        part = _located(c, document, _path(path))
        pieces += [string("," if pieces else "["), coalesced(part, string("null"))]
    there = is_not_null(as_text(c, document).node)
    return text(case((there, Joined(expressions=[*pieces, string("]")]))))


def _of_constants(operator: str, arguments: list[Typed]) -> Typed | None:
    """Return SQLite's result for two constants."""
    values = [argument.constant.value for argument in arguments if argument.constant is not None]
    if len(values) != len(arguments):
        return None
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            [(found,)] = connection.execute(f"SELECT ? {operator} ?", values)
        except (sqlite3.Error, OverflowError):
            return None
    return literal(found)


def arrow_value(c: Context, arguments: list[Typed]) -> Typed:
    """Return the value at a path, label or position."""
    return _of_constants("->>", arguments) or _value(c, _at(c, *arguments, short=True))


def arrow(c: Context, arguments: list[Typed]) -> Typed:
    """Return the JSON at a path, label or position."""
    return _of_constants("->", arguments) or text(_at(c, *arguments, short=True))


ROW = frozenset({"key", "value", "type", "atom", "id", "parent", "fullkey", "path", "json", "root"})
"""The columns of a table function."""

_PLAIN_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9]*")


_UNCOUNTED = ("id of json_each()", "SQLite counts from the beginning of the text, not of the path")


def rows(
    c: Context, name: str, arguments: list[Typed], alias: str
) -> tuple[exp.Select, list[tuple[str, Typed]]]:
    """Compile json_each(...) or json_tree(...) to a SELECT and its named columns.

    Raises:
        Untranslatable: its path is not known at compile time.
    """
    c.applies("json-rows")
    deep = name == "json_tree"
    steps = _path(arguments[1]) if len(arguments) > 1 else []
    labels = [step for step in steps if isinstance(step, str)]
    if deep and len(labels) < len(steps):
        raise Untranslatable("json_tree()", "SQLite 3.40 forgets the numbers in its path")
    known_path = arguments[1].constant.value if steps and arguments[1].constant else "$"
    base = "$" + "".join(_step(label) for label in labels[:-1]) if deep else str(known_path)
    label = f'"{labels[-1]}"' if deep and labels else ""
    listed = server(
        "json_rows", _located(c, arguments[0], steps), number(int(deep)), string(base), string(label)
    )

    def column(part: str) -> exp.Expr:
        return exp.column(exp.to_identifier(part), table=identifier(alias))

    key, raw = column("k"), column("v")
    inside = exp.Not(this=exp.Paren(this=_is(raw, "[", "{")))
    kinds = {"{": "object", "[": "array", '"': "text", "t": "true", "f": "false", "n": "null"}
    number_of = case((_digits(raw), string("integer")), default=string("real"))
    known = TaggedValues(texts=True, integers=True, low=0, high=2**31)
    found = [
        ("key", Typed(key, Kind.ANY, several=known)),
        ("value", _value(c, raw)),
        (
            "type",
            text(case(*((_is(raw, one), string(word)) for one, word in kinds.items()), default=number_of)),
        ),
        ("atom", _value(c, case((inside, raw.copy())))),
        ("id", integer(column("n"), 0)),
        ("parent", integer(column("p"), 0)),
        ("fullkey", text(column("f"))),
        ("path", text(column("q"))),
    ]
    unknown = frozenset({"id", "parent"}) if steps else frozenset()
    source: exp.Expr = JSONRows(this=listed, alias=identifier(alias))
    joins = []
    if c.lowers("rows-of-queries") and has(listed, exp.Query):
        joins = [exp.Join(this=source, kind="CROSS")]
        source = subquery(exp.Select(expressions=[aliased(listed.copy(), "of")]), f"{alias}_of")
        joins[0].this.set("this", column_of("of", f"{alias}_of"))
    tree = select([aliased(value.node, one) for one, value in found if one not in unknown], source)
    tree.set("joins", joins)
    exported = [
        (
            one,
            Typed(Alternatives(), Kind.ANY, several=OneOf(refused=_UNCOUNTED))
            if one in unknown
            else value.of(node=column_of(one), several=value.tagged),
        )
        for one, value in found
    ]
    return tree, exported


def _step(label: str) -> str:
    return f".{label}" if _PLAIN_LABEL.fullmatch(label) else f'."{label}"'


def json_array_length(c: Context, arguments: list[Typed]) -> Typed:
    """Return the number of elements at a path; 0 if it is not an array."""
    steps = _path(arguments[1]) if len(arguments) > 1 else []
    return integer(server("json_length", _located(c, arguments[0], steps)), 0)


def json_type(c: Context, arguments: list[Typed]) -> Typed:
    """Return the JSON type at a path."""
    raw = _located(c, arguments[0], _path(arguments[1]) if len(arguments) > 1 else [])
    words = {"{": "object", "[": "array", '"': "text", "t": "true", "f": "false", "n": "null"}
    number_of = case((_digits(raw), string("integer")), (is_not_null(raw), string("real")))
    return text(case(*((_is(raw, one), string(word)) for one, word in words.items()), default=number_of))


def build(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    """Compile json_array(...) or json_object(...)."""
    name, arguments = node.name.lower(), node.expressions
    found = [c.expression(argument, scope) for argument in arguments]
    c.documents.append(scope)
    if name in _EDITS:
        return _with_values(c, name.removeprefix("json_"), arguments, found, scope)
    if name == "json_array":
        parts = [element(c, written, part, scope) for written, part in zip(arguments, found, strict=True)]
        return _written(c, "[", parts, "]")
    if name == "json_quote" and len(arguments) == 1:
        c.applies("json-text")
        return text(element(c, arguments[0], found[0], scope), nullable=False)
    if name == "json_quote" or len(arguments) % 2:
        raise Untranslatable(f"{name}()", f"SQLite has no such function with {len(arguments)} arguments")
    pairs = []
    for at in range(0, len(arguments), 2):
        if found[at].kind is not Kind.TEXT or (found[at].nullable and found[at].constant is not None):
            raise Untranslatable("json_object()", "SQLite refuses labels that are not texts")
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
    """Return a value as JSON: a TEXT that is never NULL."""
    if _is_document(written, scope):
        return coalesced(found.node, string("null")) if found.nullable else found.node
    if (raw := _raw_part(c, written, scope)) is not None:
        return case((_is(raw, "[", "{"), raw.copy()), default=_element(c, found))
    _refuse_hidden_documents(c, written, scope)
    return _element(c, found)


def _element(c: Context, t: Typed) -> exp.Expr:
    match t.kind:
        case Kind.NULL:
            return string("null")
        case Kind.BLOB:
            raise Untranslatable("JSON of a blob", "SQLite refuses it")
        case Kind.ANY if t.is_split:
            return spread(c, t, lambda part: text(_element(c, part), nullable=False)).node
        case Kind.TEXT:
            node = _string(c, t)
        case _:
            node = as_text(c, t).node
    return coalesced(node, string("null")) if t.nullable else node


def label(c: Context, t: Typed) -> exp.Expr:
    """Return a label of json_group_object(): any value as a text; for NULL, SQLite writes only the colon."""
    if t.nullable:
        c.changed.add(NULL_LABEL)
    if t.kind is Kind.NULL:
        return string("")
    quoted = _string(c, as_text(c, t))
    return coalesced(quoted, string("")) if t.nullable else quoted


def _string(c: Context, t: Typed) -> exp.Expr:
    quoted = folded(c, "json_quote", [t])
    return JSONString(this=t.node) if quoted is None else quoted.node


def _is_document(written: exp.Expr, scope: Scope) -> bool:
    """True if SQLite treats an argument as JSON: the result of a JSON function, but not a GROUP BY key."""
    row = _json_function(written)
    several = _extracts(row) and len(written.unnest().expressions) > 2  # noqa: PLR2004 - paths
    if not several and (row is None or not row.is_json):
        return False
    _refuse_grouped(scope)
    return True


def _refuse_grouped(scope: Scope) -> None:
    if scope.grouping is not None and any(_makes_json(key) for key, _ in scope.grouping.keys):
        raise Untranslatable("JSON in JSON", "SQLite may take a key of GROUP BY for a text or for JSON")


def _json_function(written: exp.Expr) -> Function | None:
    """Return the JSON function or operator that an expression calls."""
    match written.unnest():
        case exp.JSONExtract() | exp.Lambda():
            rows = rows_of("->")
        case exp.JSONExtractScalar():
            rows = rows_of("->>")
        case exp.Anonymous() as call:
            rows = rows_of(call.name.lower())
        case _:
            rows = ()
    return next((row for row in rows if row.is_json_function), None)


def _extracts(row: Function | None) -> bool:
    return row is not None and row.rewrite == "json.json_extract"


def _raw_part(c: Compiler, written: exp.Expr, scope: Scope) -> exp.Expr | None:
    """Return the part that json_extract() reads, unchanged: SQLite treats an array or an object as JSON."""
    if not _extracts(_json_function(written)) or len(written.unnest().expressions) < 2:  # noqa: PLR2004 - a path
        return None
    _refuse_grouped(scope)
    document, path = written.unnest().expressions
    if _makes_json(document):
        return None
    read = c.expression(document, scope)
    if read.kind not in {Kind.TEXT, Kind.NULL}:
        return None
    return _at(c, read, c.expression(path, scope))


def _refuse_hidden_documents(c: Compiler, written: exp.Expr, scope: Scope) -> None:
    """Reject values that SQLite may treat as JSON or as text: indirect results of JSON functions.

    Raises:
        Untranslatable: the argument has a JSON function, also via an alias or a subquery in FROM.
    """
    columns = list(find_all(written, exp.Column, exp.Identifier))
    outward = list(scope.outward())
    aliased = any(column.name.lower() in place.aliases for column in columns for place in outward)
    inside = any(all(found is not place for place in outward) for found in c.documents)
    if _makes_json(written) or (c.documents and aliased) or (columns and inside):
        raise Untranslatable("JSON in JSON", "SQLite may take the value for a text or for JSON")


def _makes_json(written: exp.Expr) -> bool:
    stack = [written]
    while stack:
        part = stack.pop()
        row = _json_function(part)
        if row is not None and row.is_json is not False:
            return True
        if row is not None:
            continue
        stack += part.iter_expressions()
    return False


_EDITS = frozenset({"json_set", "json_insert", "json_replace"})


def _with_values(
    c: Compiler, mode: str, arguments: Sequence[exp.Expr], found: Sequence[Typed], scope: Scope
) -> Typed:
    """Compile json_set() and the like: a JSON text with other values at some paths."""
    if len(arguments) % 2 == 0:
        raise Untranslatable(f"json_{mode}()", "SQLite refuses an even number of arguments")
    values = [element(c, arguments[at], found[at], scope) for at in range(2, len(arguments), 2)]
    changes = list(zip(_apart(found[1::2]), values, strict=True))
    return _edited(c, found[0], mode, changes)


def _apart(paths: Sequence[Typed]) -> list[_Steps]:
    """Return the steps of paths that leave each other's meaning unchanged.

    Raises:
        Untranslatable: one does; SQLite finds all of them in the original text, with additions at its end.
    """
    found = [_steps(path) for path in paths]
    for path, steps in zip(paths, found, strict=True):
        text_of = str(path.constant.value) if path.constant else ""
        if not steps or re.search(r"[\\\x00-\x1f]|\[0\d", text_of):
            raise Untranslatable("a path in JSON", "it is the whole document, or not plain")
    places = [steps for steps in found if any(not isinstance(step, str) for step in steps)]
    nested = any(
        one is not other and other[: len(one)] == one for one in found for other in found
    )  # fmt: skip
    if len(found) > 1 and (len(places) > 1 or nested):
        raise Untranslatable("several paths in JSON", "one changes a part that another leads through")
    return found


def _edited(c: Context, document: Typed, mode: str, changes: Sequence[tuple[_Steps, exp.Expr]]) -> Typed:
    node = _located(c, document, [])
    for steps, part in changes:
        c.applies("json-edit")
        shown = ",".join("null" if step is None else _label(step) for step in steps)
        node = server("json_edited", node, string(f"[{shown}]"), part, string(mode))
    return text(node)


def _label(step: str | int) -> str:
    return str(step) if isinstance(step, int) else f'"{step}"'


def json_remove(c: Context, arguments: list[Typed]) -> Typed:
    """Return a JSON text without the parts at some paths."""
    changes = [(steps, string("")) for steps in _apart(arguments[1:])]
    return _edited(c, arguments[0], "remove", changes)


def json_patch(c: Context, arguments: list[Typed]) -> Typed:
    """Return a JSON text merged with a constant patch (RFC 7396)."""
    document, patch = arguments
    if patch.constant is None or "\\" in str(patch.constant.value):
        raise Untranslatable("json_patch()", "the patch is not a plain constant")
    c.applies("json-edit")
    merged = _patched(_located(c, document, []), str(patch.constant.value))
    return text(case((is_not_null(_located(c, document, [])), merged)))


def _patched(node: exp.Expr, patch: str) -> exp.Expr:
    """Apply a patch to a part of JSON; SQLite itself parses the patch."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            [(whole, alone)] = connection.execute("SELECT json(?1), json_patch('null', ?1)", [patch])
            found = connection.execute(
                """SELECT key, ?1 -> ('$."' || key || '"') FROM json_each(?1)""", [patch]
            ).fetchall()
        except sqlite3.Error as error:
            raise Untranslatable("json_patch()", "SQLite cannot read the patch") from error
    if not whole.startswith("{"):
        return string(whole)
    if len({label for label, _ in found}) < len(found):
        raise Untranslatable("json_patch()", "the patch has a label twice")
    merged = node.copy()
    for label, raw in found:
        steps = string(f'["{label}"]')
        if raw == "null":
            merged = server("json_edited", merged, steps, string(""), string("remove"))
            continue
        part: exp.Expr = string(raw)
        if raw.startswith("{"):
            part = _patched(server("json_member", node.copy(), string(label)), raw)
        merged = server("json_edited", merged, steps, part, string("set"))
    return case((_is(node, "{"), merged), default=string(alone))

"""LIKE and GLOB. https://sqlite.org/lang_expr.html#the_like_glob_regexp_match_and_extract_operators."""

from sqlglot import exp

from dialects.coercions import as_text, plain
from dialects.errors import Untranslatable
from dialects.nodes import Lower, Matches, grouped, is_not_null, server, string
from dialects.rewrites.calls import apart, folded
from dialects.rules import Context, Rule
from dialects.typed import Kind, Typed, boolean

RULES = (
    Rule(
        "like-ascii-case",
        "LIKE takes a-z for A-Z, and no other letters for each other.",
        "https://sqlite.org/lang_expr.html#like",
        "Both sides in lower case, ASCII letters only, where the pattern has such letters.",
    ),
    Rule(
        "like-escape",
        "LIKE has no escape character unless ESCAPE names one.",
        "https://sqlite.org/lang_expr.html#like",
        "ESCAPE '' or another way to write the same pattern.",
    ),
    Rule(
        "glob",
        "GLOB has the wildcards of file names, and case counts.",
        "https://sqlite.org/lang_expr.html#glob",
        "LIKE, or `bird_sqlite.glob_match` where the pattern has brackets or is no constant.",
    ),
)

_MARK = "|"
"""The escape character of the patterns that are written anew."""


class _Wildcard(str):
    """'%' or '_' that matches more than itself."""

    __slots__ = ()


def like(c: Context, matched: Typed, pattern: Typed, escape: Typed | None = None) -> Typed:
    """`matched` LIKE `pattern` [ESCAPE `escape`]."""
    operands = [plain(c, matched), plain(c, pattern)]
    mark = None if escape is None else _escape(escape)
    if Kind.NULL in {operand.kind for operand in operands}:
        return _unknown()
    asked = [operands[1], operands[0]] + ([] if escape is None else [escape])
    if (known := _folded(c, "like", asked)) is not None:
        return known
    return apart(operands, lambda each: _like(c, each[0], each[1], mark))


def glob(c: Context, matched: Typed, pattern: Typed) -> Typed:
    """`matched` GLOB `pattern`."""
    operands = [plain(c, matched), plain(c, pattern)]
    if Kind.NULL in {operand.kind for operand in operands}:
        return _unknown()
    if (known := _folded(c, "glob", [operands[1], operands[0]])) is not None:
        return known
    return apart(operands, lambda each: _glob(c, each[0], each[1]))


def _refuse_blobs(name: str, *operands: Typed) -> None:
    if Kind.BLOB in {operand.kind for operand in operands}:
        raise Untranslatable(f"{name} of a blob", "whether it matches depends on how SQLite was built")


def _like(c: Context, matched: Typed, pattern: Typed, mark: str | None) -> Typed:
    _refuse_blobs("LIKE", matched, pattern)
    nullable = matched.nullable or pattern.nullable
    shown, wanted = as_text(c, matched), as_text(c, pattern)
    if wanted.constant is None:
        if mark is not None:
            raise Untranslatable("LIKE with ESCAPE", "the pattern is no constant")
        c.applies("like-ascii-case")
        node = Matches(this=Lower(this=shown.node), expression=Lower(this=wanted.node))
        return boolean(node, nullable=nullable)
    parts = _parts(str(wanted.constant.value), mark)
    if parts is None:
        return _never(shown)
    return _matching(c, shown, parts, nullable=nullable, folds=matched.kind is not Kind.INTEGER)


def _glob(c: Context, matched: Typed, pattern: Typed) -> Typed:
    _refuse_blobs("GLOB", matched, pattern)
    nullable = matched.nullable or pattern.nullable
    shown, wanted = as_text(c, matched), as_text(c, pattern)
    c.applies("glob")
    found = None if wanted.constant is None else str(wanted.constant.value)
    if found is None or "[" in found:
        return boolean(server("glob_match", shown.node, wanted.node), nullable=nullable)
    wildcards = {"*": _Wildcard("%"), "?": _Wildcard("_")}
    return _matching(c, shown, [wildcards.get(each, each) for each in found], nullable=nullable, folds=False)


def _parts(pattern: str, mark: str | None) -> list[str] | None:
    """The characters of a pattern; None if it ends in the escape character, and so matches nothing."""
    parts: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == mark:
            escaped = next(characters, None)
            if escaped is None:
                return None
            parts.append(escaped)
        else:
            parts.append(_Wildcard(character) if character in "%_" else character)
    return parts


def _matching(c: Context, shown: Typed, parts: list[str], *, nullable: bool, folds: bool) -> Typed:
    """A text against the parts of a pattern."""
    node = shown.node
    letters = any(part.isascii() and part.isalpha() for part in parts)
    if folds and letters:
        c.applies("like-ascii-case")
        node = Lower(this=node)
        parts = [part.lower() if part.isascii() and part.isalpha() else part for part in parts]
    wild = [isinstance(part, _Wildcard) for part in parts]
    if not any(wild):
        return boolean(exp.EQ(this=grouped(node), expression=string("".join(parts))), nullable=nullable)
    c.applies("like-escape")
    if not any(part in "%_" for part, is_wild in zip(parts, wild, strict=True) if not is_wild):
        return boolean(Matches(this=node, expression=string("".join(parts))), nullable=nullable)
    written = [
        part if is_wild or part not in {"%", "_", _MARK} else _MARK + part
        for part, is_wild in zip(parts, wild, strict=True)
    ]
    return boolean(
        Matches(this=node, expression=string("".join(written)), escape=string(_MARK)), nullable=nullable
    )


def _escape(escape: Typed) -> str:
    found = None if escape.constant is None else escape.constant.value
    if not isinstance(found, str) or len(found) != 1:
        raise Untranslatable("ESCAPE", "it has to be a constant of one character")
    return found


def _folded(c: Context, name: str, operands: list[Typed]) -> Typed | None:
    found = folded(c, name, operands)
    if found is None or found.constant is None:
        return None
    return boolean(exp.Boolean(this=bool(found.constant.value)), nullable=False)


def _unknown() -> Typed:
    return boolean(exp.Cast(this=exp.Null(), to=exp.DataType.build("boolean")))


def _never(shown: Typed) -> Typed:
    """FALSE, or NULL where the text is."""
    if not shown.nullable:
        return boolean(exp.Boolean(this=False), nullable=False)
    missing = exp.Cast(this=exp.Null(), to=exp.DataType.build("boolean"))
    test = is_not_null(shown.node)
    return boolean(exp.Case(ifs=[exp.If(this=test, true=exp.Boolean(this=False))], default=missing))

"""Functions and operators of text. https://sqlite.org/lang_corefunc.html."""

from tests.fuzz.catalog import NUMBERS, Kind
from tests.fuzz.generator import Generator, rule
from tests.fuzz.grammar.items import separated
from tests.fuzz.tree import Node, expression, plain

_TEXT = (Kind.TEXT, Kind.TEXT, Kind.TEXT, Kind.DATE)
_PATTERNS = (
    "'%'", "'a%'", "'%A'", "'%n%'", "'_nna'", "'%ä%'", "'%É%'", "'___'", "'red%'", "'%2%'", "'2020%'", "''",
    "'%-01-%'", "'%b_x%'", "'B%'",
)  # fmt: skip
_GLOBS = (
    "'*'",
    "'a*'",
    "'*[A-C]*'",
    "'?nna'",
    "'[^a]*'",
    "'*ä*'",
    "'2020-*'",
    "'[0-9]*'",
    "'*[]]*'",
    "'*%*'",
    "''",
)


@rule("concatenation", Kind.TEXT, weight=6)
def concatenation(gen: Generator, _: Kind) -> Node:
    parts = [gen.expr(*_TEXT) for _ in range(gen.random.randint(2, 3))]
    return expression("(", *separated(parts, " || "), ")")


@rule("long-text", Kind.TEXT, weight=1)
def long_text(gen: Generator, _: Kind) -> Node:
    """Two such texts differ in their ends alone."""
    count = gen.pick(("512", "600", "8200"))
    return expression(f"(REPLACE(HEX(ZEROBLOB({count})), '0', 'k') || ", gen.expr(Kind.TEXT), ")")


@rule("concatenation-with-number", Kind.TEXT, weight=3)
def concatenation_with_number(gen: Generator, _: Kind) -> Node:
    parts = [gen.expr(*NUMBERS, Kind.CONDITION), gen.expr(*_TEXT, *NUMBERS)]
    gen.random.shuffle(parts)
    return expression("(", parts[0], " || ", parts[1], ")")


@rule("substr", Kind.TEXT, weight=7)
def substr(gen: Generator, _: Kind) -> Node:
    name = gen.pick(("SUBSTR", "substr", "SUBSTRING"))
    start = (
        gen.expr(Kind.INTEGER)
        if gen.chance(0.2)
        else expression(gen.pick(("1", "2", "-1", "-3", "0", "-20", "5", "6")))
    )
    if gen.chance(0.4):
        return expression(f"{name}(", gen.expr(*_TEXT), ", ", start, ")")
    size = (
        gen.expr(Kind.INTEGER)
        if gen.chance(0.2)
        else expression(gen.pick(("1", "2", "4", "0", "-1", "-2", "100")))
    )
    return expression(f"{name}(", gen.expr(*_TEXT), ", ", start, ", ", size, ")")


@rule("substr-of-number", Kind.TEXT, weight=1)
def substr_of_number(gen: Generator, _: Kind) -> Node:
    return expression("SUBSTR(", gen.expr(*NUMBERS), f", {gen.pick(('1', '2', '-2'))}, {gen.pick('123')})")


@rule("replace", Kind.TEXT, weight=4)
def replaced(gen: Generator, _: Kind) -> Node:
    old = (
        gen.expr(Kind.TEXT)
        if gen.chance(0.25)
        else expression(gen.pick(("'a'", "'-'", "''", "' '", "'A'", "'2'")))
    )
    new = gen.expr(Kind.TEXT) if gen.chance(0.25) else expression(gen.pick(("''", "'x'", "'é'", "'--'", "7")))
    return expression("REPLACE(", gen.expr(*_TEXT), ", ", old, ", ", new, ")")


@rule("trim", Kind.TEXT, weight=4)
def trim(gen: Generator, _: Kind) -> Node:
    name = gen.pick(("TRIM", "LTRIM", "RTRIM", "trim"))
    if gen.chance(0.5):
        return expression(f"{name}(", gen.expr(*_TEXT), ")")
    characters = (
        gen.expr(Kind.TEXT)
        if gen.chance(0.2)
        else expression(gen.pick(("'a'", "' '", "'an'", "'0-'", "''", "'ä'", "'x%'")))
    )
    return expression(f"{name}(", gen.expr(*_TEXT), ", ", characters, ")")


@rule("upper-lower", Kind.TEXT, weight=5)
def upper_lower(gen: Generator, _: Kind) -> Node:
    return expression(
        gen.pick(("UPPER(", "LOWER(", "lower(")),
        gen.expr(*_TEXT) if gen.chance(0.95) else gen.expr(*NUMBERS),
        ")",
    )


@rule("cast-text", Kind.TEXT, weight=4)
def cast_text(gen: Generator, _: Kind) -> Node:
    name = gen.pick(("TEXT", "VARCHAR(3)", "CHAR", "text", "VARCHAR"))
    inner = gen.expr(Kind.BLOB) if gen.chance(0.02) else gen.expr(*NUMBERS, Kind.CONDITION, Kind.DATE)
    return expression("CAST(", inner, f" AS {name})")


@rule("cast-blob", Kind.BLOB)
def cast_blob(gen: Generator, _: Kind) -> Node | None:
    if not gen.chance(0.3):
        return None
    return expression("CAST(", gen.expr(Kind.TEXT, Kind.INTEGER), " AS BLOB)")


@rule("like", Kind.CONDITION, weight=6)
def like(gen: Generator, _: Kind) -> Node:
    pattern = gen.expr(Kind.TEXT) if gen.chance(0.15) else expression(gen.pick(_PATTERNS))
    return expression("(", gen.expr(*_TEXT), gen.pick((" LIKE ", " NOT LIKE ", " like ")), pattern, ")")


@rule("like-of-number", Kind.CONDITION, weight=1)
def like_of_number(gen: Generator, _: Kind) -> Node:
    return expression(
        "(", gen.expr(*NUMBERS), " LIKE ", expression(gen.pick(("'1%'", "'%.5'", "12", "'%0'"))), ")"
    )


@rule("like-escape", Kind.CONDITION, weight=2)
def like_escape(gen: Generator, _: Kind) -> Node:
    pattern = gen.pick(
        (
            r"'%\%%' ESCAPE '\'",
            r"'%\_%' ESCAPE '\'",
            "'100!%' ESCAPE '!'",
            "'%a_b%' ESCAPE 'x'",
            r"'a\\%' ESCAPE '\'",
        )
    )
    return expression("(", gen.expr(Kind.TEXT), f" LIKE {pattern})")


@rule("like-function", Kind.CONDITION, weight=1)
def like_function(gen: Generator, _: Kind) -> Node:
    name, pattern = gen.pick((("LIKE", gen.pick(_PATTERNS)), ("GLOB", gen.pick(_GLOBS))))
    return expression(f"{name}({pattern}, ", gen.expr(Kind.TEXT), ")")


@rule("glob", Kind.CONDITION, weight=3)
def glob(gen: Generator, _: Kind) -> Node:
    pattern = gen.expr(Kind.TEXT) if gen.chance(0.1) else expression(gen.pick(_GLOBS))
    return expression("(", gen.expr(*_TEXT), gen.pick((" GLOB ", " NOT GLOB ")), pattern, ")")


@rule("hex", Kind.TEXT, weight=1)
def hexadecimal(gen: Generator, _: Kind) -> Node:
    return expression("HEX(", gen.expr(Kind.TEXT, Kind.BLOB, Kind.INTEGER), ")")


@rule("char", Kind.TEXT, weight=1)
def char(gen: Generator, _: Kind) -> Node:
    codes = ", ".join(
        gen.pick(("65", "97", "228", "8364", "32", "48")) for _ in range(gen.random.randint(1, 3))
    )
    return expression(f"CHAR({codes})")


@rule("typeof", Kind.TEXT, weight=2)
def typeof(gen: Generator, _: Kind) -> Node:
    return expression("TYPEOF(", gen.expr(*Kind), ")")


@rule("quote", Kind.TEXT, weight=1)
def quote(gen: Generator, _: Kind) -> Node:
    return expression(
        "QUOTE(", gen.expr(Kind.INTEGER, Kind.TEXT, *((Kind.REAL,) if gen.chance(0.3) else ())), ")"
    )


_INTEGERS = ("%d", "%5d|", "%05d", "%+d", "%-6d|", "%,d", "%x", "%i", "% d", "%03d!", "%-+5d|")
_REALS = ("%.2f", "%.0f", "%8.3f|", "%f", "%.1f%%", "%,.2f", "%d", "%s")
_TEXTS = ("%s", "%10s|", "%-10s|", "%d", "x%sx%s")
_PRINTS: tuple[tuple[str, tuple[Kind, ...]], ...] = (
    *((form, (Kind.INTEGER,)) for form in _INTEGERS),
    *((form, (Kind.REAL,)) for form in _REALS),
    *((form, (Kind.TEXT,)) for form in _TEXTS),
    ("%s-%s", (Kind.TEXT, Kind.INTEGER)),
    ("%d: %s", (Kind.INTEGER, Kind.TEXT)),
    ("%02d-%02d", (Kind.INTEGER, Kind.INTEGER)),
    ("plain", ()),
)
_ODD_PRINTS: tuple[tuple[str, tuple[Kind, ...]], ...] = (
    *((form, (Kind.REAL,)) for form in ("%e", "%g", "%.3g", "%+.1f", "%08.2f")),
    *((form, (Kind.TEXT,)) for form in ("%.3s", "%c", "%q", "%Q", "%5.2s|")),
    ("%X-%o", (Kind.INTEGER, Kind.INTEGER)),
    ("%*d|", (Kind.INTEGER, Kind.INTEGER)),
)


@rule("printf", Kind.TEXT, weight=4)
def printf(gen: Generator, _: Kind) -> Node:
    name = gen.pick(("PRINTF", "printf", "FORMAT"))
    form, kinds = gen.pick(_ODD_PRINTS if gen.chance(0.08) else _PRINTS)
    arguments = [plain(", ", gen.expr(kind)) for kind in kinds]
    return expression(f"{name}('{form}'", *arguments, ")")

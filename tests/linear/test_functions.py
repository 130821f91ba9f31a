"""What reads the texts of others by more than one pattern takes a time that grows with their length.

A rule of the house is that no test asserts a time, and none does: a text is eight times as long as another,
and what takes 64 times as long for it, again and again, does not grow as its length does.
"""

import time
from collections.abc import Callable
from functools import partial

import pytest

from dialects.enums import Dialect
from dialects.errors import Untranslatable
from dialects.source import parse
from dialects.volatility import is_volatile
from harness.data.answers import Extract, extract, first_code_block
from harness.engines import kind_of
from harness.engines.mysql.engine import reaching_out, refused
from harness.engines.postgresql.statements import statements
from harness.scoring.cache import lifetime
from harness.sqltree.diagnosis import is_query
from harness.sqltree.diagnosis.differences import canonical
from loaders.base.files import one_line

SHORT, LONG = 4_000, 32_000
MOST_GROWTH = 24
"""Between 8, which is linear, and 64, which is quadratic."""
TRIES = 3
WORTH = 0.05
"""Seconds that even the long text has to take to be looked at: less says nothing."""


def _refused_by_the_translator(text: str) -> None:
    # The rest is sqlglot's.
    with pytest.raises(Untranslatable):
        parse(f"{text} {{no query")


READERS: dict[str, Callable[[str], object]] = {
    "is_volatile": is_volatile,
    "lifetime": lifetime,
    "lasting today": lambda text: lifetime(f"select current_date {text}"),
    "mysql refused": refused,
    "mysql reaching out": partial(reaching_out, is_shared=True),
    "postgresql statements": statements,
    "first_code_block": first_code_block,
    "first_code_block block": lambda text: first_code_block(f"```sql\n{text}"),
    "extract": lambda text: extract(text, Extract.ANSWER_1),
    "extract prose": lambda text: extract(f"So:\nSELECT 1 {text}", Extract.ANSWER_1),
    "class_of_error sqlite": lambda text: kind_of("sqlite").class_of_error("SQLITE_ERROR", text),
    "class_of_error table": lambda text: kind_of("sqlite").class_of_error("SQLITE_ERROR", f"table {text}"),
    "class_of_error function": lambda text: kind_of("postgresql").class_of_error("42883", f"function {text}"),
    "canonical": canonical,
    "is_query": lambda text: is_query(text.ljust(SHORT * 3), Dialect.MYSQL),
    "translator": _refused_by_the_translator,
    "one_line": one_line,
}
PIECES = (
    "/**/", "/*", "/* x */", ";/*", ";--", "; ", "--\n", "#\n", "(", "()", "'", "''", "' ", '"', "`", "```",
    "```\n", "$$", "$a$", "\\", "*/", "** ", " ", "\n", "\n\n", "a", "a.", "1", "1.", "e'", "x'", "[", "{",
    "<sql>", "</sql>", "\n<sql>", "<sql>{", "<sql>```\n", "<sql><![CDATA[", '"sql": ', '"sql": "', "&lt;",
    "**", "~~~\n",
    "<think>", "</think>", "<think></think>", "SELECT 1\n", "SELECT 1;\n", "Select ", ": SELECT",
    "WITH a (", "WITH [", "with a as (", "set ", ";set ", "(set ", "\nset", "explain ", "date(", "date('",
    "time (", "strftime(", "age(", "age('a'", "age(a ", "now()::", "'%y' ", "cast(now(", "x'6e' ", "'n'||",
    "char(1", "begin;", "commit;", "table ", "\u2003", "\0", "é", "\U0001f600",
)  # fmt: skip


def _seconds(read: Callable[[str], object], text: str) -> float:
    begun = time.process_time()
    read(text)
    return time.process_time() - begun


def _growth(read: Callable[[str], object], piece: str, end: str) -> float:
    short, long = (piece * (size // len(piece)) + end for size in (SHORT, LONG))
    taken = _seconds(read, long)
    return taken / max(_seconds(read, short), 1e-4) if taken > WORTH else 0.0


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_reader_takes_a_time_that_grows_with_the_length(read: Callable[[str], object]) -> None:
    steep = [
        (piece, end) for piece in PIECES for end in ("", "!set") if _growth(read, piece, end) > MOST_GROWTH
    ]
    for _ in range(TRIES):
        steep = [(piece, end) for piece, end in steep if _growth(read, piece, end) > MOST_GROWTH]
    assert not steep


def test_what_is_quadratic_is_found() -> None:
    assert _growth(lambda text: [text[place:].upper() for place in range(len(text))], "a", "") > 0

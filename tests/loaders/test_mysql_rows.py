"""The text that LOAD DATA reads: what would end a field or a line is escaped, nothing else is touched."""

from collections.abc import Sequence

import pytest

from loaders.mysql_rows import encoded


@pytest.mark.parametrize(
    ("rows", "texts", "encoding"),
    [
        ([(1, "a")], (False, True), "1\ta\n"),
        ([("a",), ("b",)], (True,), "a\nb\n"),
        ([(None,), ("",)], (True,), "\\N\n\n"),
        ([("\\N",), ("N",), (None,)], (True,), "\\\\N\nN\n\\N\n"),
        ([("a\tb\nc\\",)], (True,), "a\\tb\\nc\\\\\n"),
        ([("\\t", "\t")], (True, True), "\\\\t\t\\t\n"),
        ([("\r\x1a\0'\"",)], (True,), "\r\x1a\0'\"\n"),
        ([("é😀",)], (True,), "é😀\n"),
        ([(0.1 + 0.2, -0.0, 5e-324, 1e308)], (False,) * 4, "0.30000000000000004\t-0.0\t5e-324\t1e+308\n"),
        ([(-(2**63), "\\N")], (False, False), "-9223372036854775808\t\\N\n"),
    ],
)
def test_encoding(rows: Sequence[Sequence[object]], texts: Sequence[bool], encoding: str) -> None:
    assert encoded(rows, texts) == encoding.encode()

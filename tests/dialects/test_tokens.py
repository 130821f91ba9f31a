"""The tokens that one pattern finds are those of sqlglot, which looks at each letter."""

from random import Random

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token

from dialects import source

PIECES = r"""
' '' " "" ` [ ] ]] -- /* */ - > -> ->> < = == <= >= <> != ! || | + % / * ; , . ( ) 1 12 1.5 .5 1e5 0x1F x'ab'
'it''s' "a" [b] `c` 'x' GROUP BY order Partition a b_1 é select replace SHOW begin PRIMARY KEY user INDEXED
USER-DEFINED char @ $ ? :p_0 : :: ~ & { } \ _ 7 is not
"""
SIMPLE = "- > < = == <= >= <> + % / * ; , . ( ) 1 1.5 'it''s' \"a\" [b] `c` GROUP BY order b_1 select REPLACE"


def read(tokens: list[Token]) -> list[tuple[object, str, int, int]]:
    return [(token.token_type, token.text, token.start, token.end) for token in tokens]


def test_simple_texts_have_the_tokens_of_sqlglot() -> None:
    random, compared = Random(0), 0  # noqa: S311 - the same texts each time
    for number in range(2000):
        pieces = (PIECES if number % 2 else SIMPLE).split()
        sql = "".join(random.choice(pieces) + random.choice(["", " ", " ", "\n"]) for _ in range(6))
        try:
            expected = source._DIALECT.tokenize(sql)
        except TokenError:
            continue
        found = source._tokens(sql)
        assert read(found) == read(expected), sql
        compared += all(token.comments is source._NONE for token in found)
    assert compared > 500

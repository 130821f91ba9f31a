"""SQLite's functions on JSON, of constants: what they give for a row's text has SQLite's own types.

https://sqlite.org/json1.html
"""

from dialects.errors import Untranslatable
from dialects.rewrites.calls import scalar
from dialects.rules import Context
from dialects.typed import Typed


def _of_constants(name: str, least: int = 1, most: int | None = 1) -> None:
    @scalar(name, least=least, most=most, strict=False)
    def refused(_c: Context, _arguments: list[Typed]) -> Typed:
        raise Untranslatable(f"{name}() of a column", "SQLite's parser says what is JSON, and of which type")


_of_constants("json_valid")
_of_constants("json_type", most=2)
_of_constants("json_array_length", most=2)
_of_constants("json_extract", least=2, most=None)

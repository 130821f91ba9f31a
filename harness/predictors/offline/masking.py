"""The text of external knowledge with placeholders for its strings and the schema's columns."""

import re
from functools import lru_cache

from sqlglot import exp

from harness.predictors.offline.catalog import Catalog

_STRING = re.compile(r"(?<!\w)'((?:[^']|''|(?<=\w)'(?=\w))*)'(?!\w)|“([^”]*)”|\"([^\"]*)\"")


# ruff: noqa: RUF001 - these signs are what people type
_SIGNS = str.maketrans({"≥": " >= ", "≤": " <= ", "≠": " <> ", "×": "*", "÷": "/", "−": "-"})


class Masked:
    """A text whose strings and columns are placeholders: `s0_` is a string, `c0_` a column."""

    def __init__(self, text: str, catalog: Catalog) -> None:
        self.strings: list[str] = []
        self.columns: list[exp.Column] = []
        self.catalog = catalog
        # What looks like a placeholder itself is not to be taken for one.
        text = re.sub(r"\b([csCS])(\d+)_", r"\1\2-", text.translate(_SIGNS))
        self.text = _STRING.sub(self._string, text)
        self.text = names(catalog).sub(self._column, self.text)

    def _string(self, found: re.Match[str]) -> str:
        value = next(group for group in found.groups() if group is not None)
        if found[3] is not None and value.lower() in self.catalog.by_name:
            return found[0]
        self.strings.append(value.replace("''", "'"))
        return f"s{len(self.strings) - 1}_"

    def _column(self, found: re.Match[str]) -> str:
        written = next(group for group in found.groups()[1:] if group)
        table = self.catalog.by_table.get((found[1] or "").strip('`"[] ').lower())
        fields = [
            one for one in self.catalog.by_name[written.lower()] if table is None or one.table == table.name
        ]
        if not fields:
            return found[0]
        known = fields[0].expression if len(fields) == 1 else exp.column(fields[0].name, quoted=True)
        self.columns.append(known)
        return f"c{len(self.columns) - 1}_"


@lru_cache(maxsize=64)
def _names(tables: tuple[str, ...], columns: tuple[str, ...]) -> re.Pattern[str]:
    def either(words: tuple[str, ...]) -> str:
        return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))

    quoted = either(columns)
    return re.compile(
        rf"(?:(?<!\w)([`\"\[]?(?:{either(tables)})[`\"\]]?)\s*\.\s*)?"
        rf"(?:`({quoted})`|\"({quoted})\"|\[({quoted})\]|(?<![\w'])({quoted})(?![\w']|\s*\())",
        re.IGNORECASE,
    )


def names(catalog: Catalog) -> re.Pattern[str]:
    """Where names of columns stand in a text, with or without quotes and their tables."""
    return _names(tuple(one.name for one in catalog.entities), tuple(catalog.by_name))

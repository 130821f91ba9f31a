"""The facts about each target: one record per dialect, and no other module of rewrites names a target.

A rewrite asks `c.target` for the one fact that it depends on. The record of a dialect is `TARGET` in its own
folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dialects.by_dialect import ByDialect
from dialects.enums import Dialect, ParamStyle


@dataclass(frozen=True, kw_only=True)
class TargetFacts:
    """The facts about one target that decide how a query is written for it."""

    dialect: Dialect
    title: str
    """The name as its makers write it."""

    styles: tuple[ParamStyle, ParamStyle]
    """How its common driver of Python takes parameters: by place, and by name."""

    # What it supports.
    has_boolean: bool
    """Conditions have their own type, so they cannot be used as numbers."""
    has_null_order: bool
    """It has NULLS FIRST and NULLS LAST; if not, NULL is the least value, as in SQLite."""
    row_number: str | None
    """The system column that numbers a table's rows in storage order. Without one, the loader adds a column
    with the rowid."""
    holds_infinity: bool
    """Its floating-point numbers can be infinite."""
    indexes_texts: bool
    """A key can have the type of unlimited texts; if not, the loader gives keys a type with a limit."""
    has_ilike: bool
    """It has ILIKE, which takes letters of ASCII alone for equal in either case."""
    natives: Mapping[str, str | None]
    """Its own name for a function where it is not the one in `dialects.functions`; None if it has none."""

    # How it writes things.
    aliases_keep_case: bool
    """Table aliases keep their case."""


TARGETS = ByDialect[TargetFacts]("dialects.{}", "TARGET")
"""The dialects that can be translated to."""

SQLGLOT = ByDialect[str]("dialects.{}", "SQLGLOT", with_sqlite=True)
"""sqlglot's name of each dialect."""

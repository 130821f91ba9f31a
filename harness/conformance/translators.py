"""Who translates: the project, and others to stand beside it on the same board."""

import importlib
import logging
from collections.abc import Callable, Mapping
from typing import Any

import sqlglot
from sqlglot.errors import ErrorLevel, SqlglotError

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.schema import Schema
from dialects.targets import SQLGLOT
from dialects.translate import Translation, Untranslatable, translate
from harness.conformance.checking import Translator

OURS = "bird"

# What sqlglot remarks on a text beside its answer is not for the terminal.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())


def _ours() -> Translator:
    return translate


def _sqlglot() -> Translator:
    """As `sqlglot.transpile(sql, read="sqlite", write=...)`; what it calls unsupported is a warning."""

    def transpiled(sql: str, schema: Schema, target: Dialect) -> Translation:
        del schema
        dialect = sqlglot.Dialect.get_or_raise(SQLGLOT[target])
        generator = dialect.generator(unsupported_level=ErrorLevel.IGNORE)
        try:
            [tree] = sqlglot.parse(sql, read=SQLGLOT[Dialect.SQLITE])
            text = generator.generate(tree, copy=False) if tree is not None else ""
        except (SqlglotError, ValueError, RecursionError) as error:
            raise Untranslatable("sqlglot", str(error).splitlines()[0]) from error
        return Translation(text, target, warnings=tuple(generator.unsupported_messages))

    return transpiled


def _polyglot() -> Translator:
    """Plain polyglot-sql, a library of others, where it is installed."""
    try:
        polyglot: Any = importlib.import_module("polyglot_sql")
    except ImportError as error:
        raise BadInput(
            "--translator polyglot: is not installed; `pip install polyglot-sql` brings it"
        ) from error

    def transpiled(sql: str, schema: Schema, target: Dialect) -> Translation:
        del schema
        try:
            [text] = polyglot.transpile(sql, read="sqlite", write=str(target))
        except (polyglot.PolyglotError, ValueError) as error:
            raise Untranslatable("polyglot-sql", str(error).splitlines()[0]) from error
        return Translation(text, target)

    return transpiled


_MAKERS: Mapping[str, Callable[[], Translator]] = {OURS: _ours, "sqlglot": _sqlglot, "polyglot": _polyglot}


def translators(names: str) -> Mapping[str, Translator]:
    """Translators by name, in the order of the table.

    Args:
        names: separated by commas.

    Raises:
        BadInput: a name is not a translator, or what it stands for is not installed.
    """
    wanted = [name.strip() for name in names.split(",")]
    unknown = [name for name in wanted if name not in _MAKERS]
    if unknown:
        raise BadInput(
            f"--translator {names}: {unknown[0]!r} is not a translator; choose from {', '.join(_MAKERS)}"
        )
    return {name: make() for name, make in _MAKERS.items() if name in wanted}

"""All that is known of SQLite: sessions, files as databases, what its messages say."""

from dialects.enums import Dialect
from harness.engines.base import Engine
from harness.engines.registry import EngineKind, SchemaReader
from harness.engines.repairs import Repairs
from harness.engines.sqlite.codes import class_of_error
from loaders.server import Server


def make(server: Server | None, *, pooled: bool) -> Engine:
    """See `MakeEngine`."""
    from harness.engines.sqlite.engine import SQLiteEngine  # noqa: PLC0415 - where it is used

    assert server is None  # noqa: S101 - it has none
    return SQLiteEngine(pooled=pooled)


def schema_reader() -> SchemaReader:
    """See `EngineKind.schema`."""
    from harness.engines.sqlite import schema  # noqa: PLC0415 - for predictors alone

    return schema


def _repairs() -> Repairs:
    from harness.engines.sqlite.repairs import REPAIRS  # noqa: PLC0415 - where a gap is explained alone

    return REPAIRS


KIND = EngineKind(
    name="sqlite",
    title="SQLite",
    dialect=Dialect.SQLITE,
    rank=10,
    has_server=False,
    make=make,
    schema=schema_reader,
    class_of_error=class_of_error,
    repairs=_repairs,
    idioms=("strftime(", "julianday(", "`"),
    today="SELECT date('now')",
    row_number="rowid",
    reads_quoted_names_as_texts=True,
)

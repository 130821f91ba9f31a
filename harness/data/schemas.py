"""The schemas that a question set publishes beside its databases (`dev_tables.json`, in Spider's format).

https://github.com/taoyds/spider
"""

from collections.abc import Mapping
from typing import Any

from harness.data.questions import Column, DatabaseSchema
from loaders.packages.manifest import repair
from loaders.textfiles import Faults, TextFile, is_text, read_json, refuse


def read_schemas(file: TextFile) -> Mapping[str, DatabaseSchema]:
    """Read a file of schemas, keyed by db_id.

    Raises:
        BadInput: the file is not in Spider's format, or names a database twice.
    """
    records = read_json(file, repair(file))
    if not isinstance(records, list) or not records:
        refuse(file.path, "is not a JSON array of schemas in Spider's format", repair(file))
    faults = Faults(file.path, "entry")
    schemas: dict[str, DatabaseSchema] = {}
    for position, record in enumerate(records):
        try:
            schema = _schema(record)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            detail = f"{position} ({type(error).__name__}: {error})"
            faults.add(detail, "not a schema in Spider's format", repair(file))
            continue
        if schema.db_id in schemas:
            faults.add(
                f"{position} ({schema.db_id})", "a second schema of the same database", "leave one out"
            )
        schemas[schema.db_id] = schema
    faults.stop()
    return schemas


def _schema(record: Any) -> DatabaseSchema:
    if not is_text(record["db_id"]):
        raise TypeError("db_id is not a string")
    tables = tuple(record["table_names_original"])
    # Column 0 is "*", of no table: indexes of columns count it, too.
    described = list(zip(record["column_names_original"], record["column_types"], strict=True))[1:]
    columns = tuple(Column(tables[table], name, kind) for (table, name), kind in described)
    by_index = dict(enumerate(columns, start=1))
    return DatabaseSchema(
        db_id=record["db_id"],
        tables=tables,
        columns=columns,
        primary_keys=tuple(
            tuple(by_index[i] for i in (key if isinstance(key, list) else [key]))
            for key in record["primary_keys"]
        ),
        foreign_keys=tuple(
            (by_index[referring], by_index[referred]) for referring, referred in record["foreign_keys"]
        ),
    )

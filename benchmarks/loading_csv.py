"""What people do without this harness to have an SQLite file in DuckDB, for `benchmarks.loading`.

DuckDB's own reader of SQLite files copies the tables, if that extension is installed here; it is not
downloaded. Else Python's sqlite3 writes each table as CSV, and `read_csv` takes its types from all rows.
"""

import csv
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import duckdb

from benchmarks.loading_statement import tables_of
from dialects.identifiers import quoted


def main() -> None:
    """Copy the tables of the first file into the second."""
    source, target = map(Path, sys.argv[1:])
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as connection,
        duckdb.connect(target) as into,
        tempfile.TemporaryDirectory() as folder,
    ):
        try:
            into.execute(f"LOAD sqlite; ATTACH '{source}' AS source (TYPE sqlite, READ_ONLY)")
            rows_of = "source.{table}"
        except duckdb.Error:
            rows_of = "read_csv('{path}', header = true, sample_size = -1)"
        for number, name in enumerate(tables_of(connection)):
            path = Path(folder, f"{number}.csv")
            if rows_of.startswith("read_csv"):
                found = connection.execute(f"SELECT * FROM {quoted(name)}")  # noqa: S608 - quoted
                with path.open("w", encoding="utf-8", newline="") as file:
                    writer = csv.writer(file)
                    writer.writerow(column for column, *_ in found.description)
                    writer.writerows(found)
            rows = rows_of.format(table=quoted(name), path=path)
            into.execute(f"CREATE TABLE {quoted(name)} AS SELECT * FROM {rows}")  # noqa: S608 - our own


if __name__ == "__main__":
    main()

"""Synthetic databases for a schema and its golds: real tables, generated rows, an answer to every gold.

For users without access to the real data, and for test-suite accuracy. `builder.make` is the entry point:

- `shape` reads the facts about a database into a `Shape`;
- `queries` turns a gold into `RowProblem`s: row variables, conditions on their cells, and shown cells; it
  also lists the gold's neighbours, queries that differ from it in one detail;
- `values` draws values for a column, `rows` keeps the rows and their keys, and runs golds on them;
- `answer_rows` finds values that meet a problem's conditions, and adds rows with them to the tables;
- `twin` combines these, and retries golds that have no answer yet.

Promises: the same inputs, scale, seed and version give the same bytes, whatever the number of processes; a
database is written completely or not at all; declared keys and references hold.
"""

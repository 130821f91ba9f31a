"""Synthetic databases for a schema and its golds: the real tables, made-up rows, every gold with an answer.

For those who can't have the real data, and for test-suite accuracy. `making.make` is the way in:

- `shape` reads what is known of a database into a `Shape`;
- `queries` turns a gold into `RowProblem`s: row variables, conditions on their cells, what is shown; it lists
  the queries beside a gold, each with one thing changed;
- `values` draws values for a column, `rows` keeps the rows and their keys, and runs golds on them;
- `planting` finds values that meet a problem's conditions, and puts rows with them into the tables;
- `twin` puts it together, and says how a gold can still be answered.

Promises: the same inputs, scale, seed and version give the same bytes, whatever the number of processes; a
database is there as a whole or not at all; declared keys and references hold.
"""

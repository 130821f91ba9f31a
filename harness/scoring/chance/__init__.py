"""Refute right answers: search a small database on which one differs from its golds, or prove it equal.

- `shape` reads the facts about a database that rows are made up by;
- `queries` turns a query into `RowProblem`s: row variables, conditions on their cells, and shown cells; it
  also lists the query's neighbours, which differ from it in one detail;
- `values` draws values for a column, `rows` keeps the rows and their keys, and runs queries on them;
- `answer_rows` finds values that meet a problem's conditions, and adds rows with them to the tables;
- `search` makes small databases of these on which two queries differ, `witness` has an engine confirm one;
- `equal` proves that there is none, and `tester` gives the verdict on an answer.
"""

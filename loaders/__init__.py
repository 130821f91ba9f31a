"""Load SQLite files into MySQL, PostgreSQL and DuckDB: every row and every value, completely or not at all.

`loaders.load.load` is the entry point; `loaders.census.census` describes a file.
"""

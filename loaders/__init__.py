"""Load SQLite files into MySQL, PostgreSQL, DuckDB and MariaDB: all rows and values, or nothing.

`loaders.load.load` is the entry point; `loaders.census.census` describes a file.
"""

"""Loading: SQLite files into MySQL and PostgreSQL, every row and every value, whole or not at all.

`loaders.load.load` is the way in; `loaders.census.census` says what a file holds.
"""

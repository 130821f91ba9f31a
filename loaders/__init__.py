"""Load SQLite files into the other engines: all rows and values, or nothing.

`loaders.load.load` is the entry point; `loaders.census.census` describes a file.
"""

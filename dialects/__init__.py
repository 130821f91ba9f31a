"""Translate SQLite SQL to MySQL, PostgreSQL and DuckDB such that it returns the same rows."""

"""Translate SQLite SQL to MySQL, PostgreSQL, DuckDB and MariaDB such that it returns the same rows."""

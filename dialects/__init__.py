"""Translate SQLite SQL to MySQL and PostgreSQL such that it returns the same rows."""

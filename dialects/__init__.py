"""Translate SQLite SQL to other dialects such that it returns the same rows."""

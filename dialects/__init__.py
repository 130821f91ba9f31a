"""SQLite SQL to the same question in another dialect, and the measurement of how often it is the same."""

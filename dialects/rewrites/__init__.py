"""The rewrites of SQLite's constructs for MySQL and PostgreSQL; docs/reference/rewrites.md lists them."""

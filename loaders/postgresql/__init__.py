"""All that loading knows of PostgreSQL, but for entries in tables of data; `target` is what a load asks."""

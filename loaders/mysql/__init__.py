"""All that loading knows of MySQL, but for entries in tables of data; `target` is what a load asks."""

"""Loading into PostgreSQL, except for its entries in tables of data; a load uses `target`."""

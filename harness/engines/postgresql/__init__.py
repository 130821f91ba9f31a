"""All that is known of PostgreSQL: sessions, connections, rows, the clock, which statements are queries."""

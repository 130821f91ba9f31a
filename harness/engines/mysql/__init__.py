"""All that is known of MySQL: sessions, connections, error codes, the clock, which statements are queries."""

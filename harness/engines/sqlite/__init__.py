"""All that is known of SQLite: sessions, and files as databases."""

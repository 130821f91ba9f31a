SELECT current_ka, strike_ms FROM lightning ORDER BY current_ka DESC, rowid LIMIT 1 OFFSET 1

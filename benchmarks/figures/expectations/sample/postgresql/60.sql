SELECT current_ka, strike_ms FROM lightning ORDER BY current_ka DESC NULLS LAST, ctid LIMIT 1 OFFSET 1

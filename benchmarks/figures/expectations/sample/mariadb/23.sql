SELECT name FROM ports ORDER BY population, port_id LIMIT 2

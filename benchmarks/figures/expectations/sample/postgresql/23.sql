SELECT name FROM ports ORDER BY population NULLS FIRST, ctid LIMIT 2

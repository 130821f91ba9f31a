SELECT name FROM ports ORDER BY population NULLS FIRST, rowid LIMIT 2
